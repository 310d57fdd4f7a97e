"""SRMP requests: an envelope with the message body as HTTP and PGM carry them ([MC-MQSRM] 2.2.2).

`cut_request` finds the parts of what came, `write_multipart` writes what goes out. A receipt is an
envelope alone, everything else a multipart message.
"""

import re
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket

from .content_type import ENVELOPE_TYPE, boundary_of, check_charset, parse_content_type
from .envelope import Envelope
from .formats import guid_text
from .reader import read_envelope

MAX_PARTS: Final = 64
MAX_PART_HEADER_SIZE: Final = 0x1000
MAX_CONTENT_LENGTH_DIGITS: Final = 10
_LINE_END: Final = b"\r\n"
_HEADER_END: Final = b"\r\n\r\n"
_BODY: Final = "body@"
_EXTENSION: Final = "extension@"
_BOUNDARY: Final = "MSMQ - SOAP boundary, "
# The headers of parts as Windows writes them; others are taken apart one by one.
ENVELOPE_HEAD: Final = re.compile(
    rb"\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: ([0-9]{1,10})\r\n\r\n"
)
BODY_HEAD: Final = re.compile(
    rb"\r\nContent-Type: application/octet-stream\r\nContent-Length: ([0-9]{1,10})\r\n"
    rb"Content-Id: body@[!-~]{1,100}\r\n\r\n"
)


class Request(NamedTuple):
    """One SRMP message as it came: the whole request, and where its parts are.

    Attributes:
        compound_message: request line, headers and content.
        content_offset: where the content begins, after the empty line that ends the headers.
        body_offset: 0 where there is no body part; its size is 0 then.
        extension: the content of the extension part.
    """

    compound_message: bytes
    content_offset: int
    envelope_offset: int
    envelope_size: int
    body_offset: int = 0
    body_size: int = 0
    extension: bytes = b""

    @property
    def envelope(self) -> bytes:
        """The bytes of the SOAP envelope."""
        start = self.envelope_offset
        return self.compound_message[start : start + self.envelope_size]

    @property
    def body(self) -> bytes:
        """The message body."""
        start = self.body_offset
        return self.compound_message[start : start + self.body_size]

    def read_envelope(self) -> Envelope:
        """What the envelope says.

        Raises:
            MalformedPacket: it is not an envelope.
        """
        return read_envelope(self.envelope)


class Content(NamedTuple):
    """What a request carries: the value of Content-Type, and the bytes."""

    content_type: str
    data: bytes


def cut_request(content_type: str, content: bytes, *, head: bytes = b"") -> Request:
    """Find envelope, body and extension in the content of a request.

    Args:
        content_type: the value of the header.
        content: everything after the headers.
        head: request line and headers, with the empty line after them; for the compound message.

    Raises:
        MalformedPacket: the content is not what `content_type` says, or parts do not fit.
    """
    boundary = boundary_of(content_type)
    offset = len(head)
    compound_message = head + content
    if boundary is None:
        return Request(compound_message, offset, offset, len(content))
    return _cut_parts(compound_message, offset, b"--" + boundary)


def write_multipart(
    envelope: bytes,
    body: bytes,
    *,
    sender: UUID,
    number: int,
    extension: bytes = b"",
) -> Content:
    """The content of a request with a message body, as Windows writes it.

    Args:
        sender: the sending queue manager.
        number: what makes the boundary differ from others; the lengths of the parts separate them.
    """
    delimiter = f"--{_BOUNDARY}{number}"
    parts = [
        f"{delimiter}\r\nContent-Type: text/xml; charset=UTF-8\r\n"
        f"Content-Length: {len(envelope)}\r\n\r\n".encode(),
        envelope,
        _part_head(delimiter, len(body), _BODY, sender),
        body,
    ]
    if extension:
        parts += (_part_head(delimiter, len(extension), _EXTENSION, sender), extension)
    parts.append(f"{delimiter}--\r\n".encode())
    content_type = f'multipart/related; boundary="{_BOUNDARY}{number}"; type=text/xml'
    return Content(content_type, b"".join(parts))


def envelope_alone(envelope: bytes) -> Content:
    """The content of a request without a message body: a receipt."""
    return Content(ENVELOPE_TYPE, envelope)


def _part_head(delimiter: str, size: int, content_id: str, sender: UUID) -> bytes:
    return (
        f"{delimiter}\r\nContent-Type: application/octet-stream\r\nContent-Length: {size}\r\n"
        f"Content-Id: {content_id}{guid_text(sender)}\r\n\r\n"
    ).encode()


def _cut_parts(data: bytes, offset: int, delimiter: bytes) -> Request:
    """Cut a multipart message whose first delimiter is at `offset`."""
    content_offset = offset
    # Other senders than Windows may have a line end before a delimiter, as in MIME.
    position = _skip_line_end(data, offset, delimiter)
    envelope: tuple[int, int] | None = None
    others: dict[str, tuple[int, int]] = {}
    count = 0
    while True:
        position = _delimiter_end(data, position, delimiter)
        if data.startswith(b"--", position):
            break
        count += 1
        if count > MAX_PARTS:
            raise MalformedPacket("Request", position, f"more than {MAX_PARTS} parts")
        role, start, size = _part(data, position, first=envelope is None)
        if start + size > len(data):
            raise MalformedPacket(
                "Content-Length", position, f"{size} bytes are more than {len(data) - start}"
            )
        if envelope is None:
            envelope = start, size
        else:
            _keep(others, role, (start, size), position)
        position = _skip_line_end(data, start + size, delimiter)
    if data[position:] not in (b"--", b"--\r\n"):
        raise MalformedPacket("Request", position, "something follows the closing delimiter")
    if envelope is None:
        raise MalformedPacket("Request", position, "there is no envelope")
    body_offset, body_size = others.get(_BODY, (0, 0))
    extension, extension_size = others.get(_EXTENSION, (0, 0))
    return Request(
        data,
        content_offset,
        envelope[0],
        envelope[1],
        body_offset,
        body_size,
        data[extension : extension + extension_size],
    )


def _skip_line_end(data: bytes, position: int, delimiter: bytes) -> int:
    if data.startswith(_LINE_END, position) and data.startswith(delimiter, position + 2):
        return position + 2
    return position


def _delimiter_end(data: bytes, position: int, delimiter: bytes) -> int:
    if not data.startswith(delimiter, position):
        raise MalformedPacket("Request", position, "the delimiter of a part is not here")
    return position + len(delimiter)


def _part(data: bytes, position: int, *, first: bool) -> tuple[str, int, int]:
    """What the part with headers at `position` is, where its content begins, and its size."""
    match = (ENVELOPE_HEAD if first else BODY_HEAD).match(data, position)
    if match is not None:
        return _BODY, match.end(), int(match[1])
    headers, start = _part_headers(data, position)
    size = _content_length(headers, position)
    if first:
        _check_envelope_type(headers, position)
    return _role(headers), start, size


def _part_headers(data: bytes, position: int) -> tuple[dict[str, str], int]:
    """The headers of a part by name in lower case, and where its content begins."""
    end = data.find(_HEADER_END, position, position + MAX_PART_HEADER_SIZE)
    if end < 0 or not data.startswith(_LINE_END, position):
        raise MalformedPacket("Request", position, "the headers of a part do not end")
    headers: dict[str, str] = {}
    for line in data[position + len(_LINE_END) : end].decode("latin-1").split("\r\n"):
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or name in headers:
            raise MalformedPacket("Request", position, "a header of a part that cannot be used")
        headers[name] = value.strip(" \t")
    return headers, end + len(_HEADER_END)


def _content_length(headers: dict[str, str], position: int) -> int:
    text = headers.get("content-length", "")
    digits = text.isascii() and text.isdigit()
    if not digits or len(text) > MAX_CONTENT_LENGTH_DIGITS:
        raise MalformedPacket(
            "Content-Length", position, f"{text[:60]!r} is not the size of a part"
        )
    return int(text)


def _check_envelope_type(headers: dict[str, str], position: int) -> None:
    media_type, parameters = parse_content_type(headers.get("content-type", ""))
    if media_type != ENVELOPE_TYPE:
        raise MalformedPacket("Content-Type", position, "the first part is not the envelope")
    check_charset(parameters)


def _role(headers: dict[str, str]) -> str:
    """What a part is, by its Content-Id: the body, the extension, or an attachment."""
    content_id = headers.get("content-id")
    # Choice: a part without a Content-Id is the body, for clients that do not write one.
    if content_id is None:
        return _BODY
    content_id = content_id.removeprefix("<").lower()
    for role in (_BODY, _EXTENSION):
        if content_id.startswith(role):
            return role
    return ""


def _keep(
    parts: dict[str, tuple[int, int]], role: str, place: tuple[int, int], position: int
) -> None:
    """Note where a part is; attachments of other kinds are only in the compound message."""
    if role in parts:
        raise MalformedPacket("Content-Id", position, f"{role} is there twice")
    if role:
        parts[role] = place
