"""The head of an HTTP request around an SRMP message: request line and headers.

HTTP itself is read elsewhere. This is for compound messages, and for messages over PGM, which
begin with a head that nothing but SRMP reads ([MC-MQSRM] 2.1.2, note 2).
"""

from typing import Final, NamedTuple

from openmsmq.wire.errors import MalformedPacket

from .request import Content, Request, cut_request

MAX_HEAD_SIZE: Final = 0x4000
MAX_CONTENT_SIZE: Final = 0x400000
_END: Final = b"\r\n\r\n"
_METHOD: Final = b"POST "
_MAX_DIGITS: Final = 10


class Head(NamedTuple):
    """What SRMP needs of a head: the size of the head itself, and two of its headers."""

    size: int
    content_type: str
    content_length: int


def cut_head(data: bytes) -> Head | None:
    """The head at the start of these bytes; None if it is not complete.

    Raises:
        MalformedPacket: it is not the head of a POST with Content-Type and Content-Length.
    """
    end = data.find(_END, 0, MAX_HEAD_SIZE)
    if end < 0:
        if len(data) >= MAX_HEAD_SIZE or not data.startswith(_METHOD[: len(data)]):
            raise MalformedPacket("Head", 0, "not the head of an HTTP request")
        return None
    if not data.startswith(_METHOD):
        raise MalformedPacket("Head", 0, "the method is not POST")
    headers: dict[str, str] = {}
    for line in data[:end].decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        # Of a header that is there twice the first counts for none: the sizes must be certain.
        name = name.strip(" \t").lower()
        if name in headers and name in ("content-length", "content-type"):
            raise MalformedPacket("Head", 0, f"{name} is there twice")
        headers[name] = value.strip(" \t")
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) <= _MAX_DIGITS):
        raise MalformedPacket("Content-Length", 0, f"{length[:60]!r} is not a size")
    if int(length) > MAX_CONTENT_SIZE:
        raise MalformedPacket("Content-Length", 0, f"{length} is more than {MAX_CONTENT_SIZE}")
    return Head(end + len(_END), headers.get("content-type", ""), int(length))


def cut_compound_message(data: bytes) -> Request:
    """Find the parts of a whole request: a compound message, or a message over PGM.

    Raises:
        MalformedPacket: it is not a request, or not exactly one.
    """
    head = cut_head(data)
    if head is None or head.size + head.content_length != len(data):
        raise MalformedPacket("Head", 0, "Content-Length is not the size of what follows the head")
    return cut_request(head.content_type, data[head.size :], head=data[: head.size])


def write_head(target: str, host: str, content: Content) -> bytes:
    """The head in the form of Windows ([MC-MQSRM] 1.3.12): these headers in this order."""
    return (
        f"POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {content.content_type}\r\n"
        f'Content-Length: {len(content.data)}\r\nSOAPAction: "MSMQMessage"\r\n'
        "Proxy-Accept: NonInteractiveClient\r\n\r\n"
    ).encode()
