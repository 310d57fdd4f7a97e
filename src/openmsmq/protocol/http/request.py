"""A request that was received."""

from typing import Final

# Fields about the transfer of a body; a request with a reassembled body has none of them.
_FRAMING: Final = frozenset((b"transfer-encoding", b"content-length", b"trailer"))


class HttpRequest:
    """A complete POST below /msmq that waits for an answer.

    Attributes:
        connection: the number of its connection.
        sequence: its index among the requests of that connection.
        address: the source address.
        secure: whether it arrived by HTTPS.
        target: the path and query of the request line.
        content_type: the value of Content-Type; empty without one.
        body: without the framing of chunks.
        head: request line, header fields and the empty line after them.
    """

    __slots__ = (
        "address",
        "body",
        "connection",
        "content_type",
        "head",
        "secure",
        "sequence",
        "target",
    )

    def __init__(self, target: bytes, content_type: bytes, body: bytes, head: bytes) -> None:
        self.connection = 0
        self.sequence = 0
        self.address = ""
        self.secure = False
        self.target = target
        self.content_type = content_type
        self.body = body
        self.head = head


def write_head(
    target: bytes, headers: list[tuple[bytes, bytes]], length: int, *, chunked: bool
) -> bytes:
    """The head of a request, for its compound message.

    The length of a chunked body is in Content-Length, as if the body had arrived in one piece.
    """
    if chunked:
        headers = [header for header in headers if header[0].lower() not in _FRAMING]
        headers.append((b"Content-Length", b"%d" % length))
    lines = [b"POST %b HTTP/1.1" % target]
    lines += [b"%b: %b" % header for header in headers]
    lines += [b"", b""]
    return b"\r\n".join(lines)
