"""A faster reader of requests in the form of Windows; `RequestReader` reads all others.

Both return the same for the same bytes. A request has this form if its header has the fields of
[MC-MQSRM] 1.3.12 in their order, each in one line, and nothing else.
"""

import re
from typing import Final

from .request import HttpRequest
from .settings import HttpSettings

_FORM: Final = re.compile(
    rb"POST (/(?i:msmq)[/\\][A-Za-z0-9$_.\-/\\?=&%~]*) HTTP/1\.1\r\n"
    rb"Host: [A-Za-z0-9.\-_]+(?::[0-9]+)?\r\n"
    rb"Content-Type: ([!-~](?:[ -~]*[!-~])?)\r\n"
    rb"Content-Length: ([0-9]{1,9})\r\n"
    rb'SOAPAction: "MSMQMessage"\r\n'
    rb"(?:Proxy-Accept: NonInteractiveClient\r\n)?\r\n"
)
# The number at the end of a boundary.
_NUMBER: Final = re.compile(rb'([0-9]+)"')
# A longer header is left to the other reader.
_MAX_HEAD: Final = 1024
_TEXT: Final = rb"[ -~]*"


def _beginnings(text: str) -> bytes:
    """A pattern for every prefix of a text."""
    pattern = ""
    for character in reversed(text):
        pattern = f"(?:{re.escape(character)}{pattern})?"
    return pattern.encode("ascii")


def _line(start: str, whole: bytes, begun: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Patterns for a whole line, and for the beginning of one.

    Args:
        start: the beginning of the line.
        whole, begun: patterns of the rest, complete and incomplete.
    """
    raw = re.escape(start.encode("ascii"))
    return re.compile(raw + whole), re.compile(b"%b|%b%b" % (_beginnings(start), raw, begun))


_AGENT: Final = "Proxy-Accept: NonInteractiveClient"
# The lines of such a header, and the empty one after a header with all of them.
_LINES: Final = (
    _line("POST /", rb"[!-~]* HTTP/1\.1", b"[!-~]*(?: %b)?" % _beginnings("HTTP/1.1")),
    _line("Host: ", _TEXT, _TEXT),
    _line("Content-Type: ", _TEXT, _TEXT),
    _line("Content-Length: ", rb"[0-9]{1,9}", rb"[0-9]{0,9}"),
    _line('SOAPAction: "MSMQMessage"', b"", b""),
    # A header may end here.
    (re.compile(b"(?:%b)?" % _AGENT.encode("ascii")), re.compile(_beginnings(_AGENT))),
    (re.compile(b""), re.compile(b"")),
)


class _LastHead:
    """The last header, for comparison with the next ones: digits of the same size may differ.

    These are the end of the boundary and Content-Length, where the form has digits or any text.
    """

    __slots__ = (
        "_after_boundary",
        "_after_length",
        "_before_boundary",
        "_boundary",
        "_boundary_end",
        "_length",
        "_length_end",
        "size",
        "target",
        "type_end",
        "type_start",
    )

    def __init__(self, head_match: re.Match[bytes]) -> None:
        start = head_match.start()
        head = head_match[0]
        self.target = head_match[1]
        self.size = len(head)
        self.type_start, self.type_end = head_match.start(2) - start, head_match.end(2) - start
        self._length, self._length_end = head_match.start(3) - start, head_match.end(3) - start
        number = _NUMBER.search(head_match[2])
        self._boundary, self._boundary_end = self.type_end, self.type_end
        if number is not None:
            self._boundary = self.type_start + number.start(1)
            self._boundary_end = self.type_start + number.end(1)
        self._before_boundary = head[: self._boundary]
        self._after_boundary = head[self._boundary_end : self._length]
        self._after_length = head[self._length_end :]

    def length_of(self, data: bytes, at: int) -> int:
        """Content-Length of the header at this offset; -1 if it does not match this one."""
        length = data[at + self._length : at + self._length_end]
        if (
            not data.startswith(self._before_boundary, at)
            or not data[at + self._boundary : at + self._boundary_end].isdigit()
            or not data.startswith(self._after_boundary, at + self._boundary_end)
            or not length.isdigit()
            or not data.startswith(self._after_length, at + self._length_end)
        ):
            return -1
        return int(length)


class CompactRequests:
    """Requests of one connection in the form of Windows, in reads of any size.

    Attributes:
        in_request: whether an incomplete request has begun.
        in_body: whether its header is complete.
        body_bytes: the size of its body so far.
    """

    __slots__ = (
        "_begun",
        "_body",
        "_content_type",
        "_head",
        "_last",
        "_length",
        "_max_body_bytes",
        "_target",
        "body_bytes",
        "in_body",
        "in_request",
    )

    def __init__(self, settings: HttpSettings) -> None:
        self._max_body_bytes = settings.max_body_bytes
        self.in_request = False
        self.in_body = False
        self.body_bytes = 0
        self._last: _LastHead | None = None
        # The bytes of an incomplete header.
        self._begun = b""
        # The request whose body is incomplete.
        self._target = b""
        self._content_type = b""
        self._head = b""
        self._length = 0
        self._body = bytearray()

    def read(self, data: bytes, requests: list[HttpRequest | int]) -> bytes:
        """Add complete requests to a list; return the bytes that are not in this form."""
        position = 0
        if self.in_body:
            position = self._read_body(data, requests)
        elif self.in_request:
            data = self._begun + data
            self._begun = b""
        self.in_request = self.in_body
        size = len(data)
        while position < size:
            last = self._last
            length = last.length_of(data, position) if last is not None else -1
            if last is None or length < 0:
                head_match = _FORM.match(data, position)
                if head_match is None:
                    return self._keep(data, position)
                last = self._last = _LastHead(head_match)
                length = int(head_match[3])
            start = position + last.size
            if length > self._max_body_bytes or last.size > _MAX_HEAD:
                return data[position:]
            end = start + length
            head = data[position:start]
            content_type = head[last.type_start : last.type_end]
            if end > size:
                self._begin_body(last.target, content_type, head, data[start:], length)
                return b""
            requests.append(HttpRequest(last.target, content_type, data[start:end], head))
            position = end
        return b""

    def _keep(self, data: bytes, position: int) -> bytes:
        """Keep the beginning of a header, which may be in this form; return all other bytes."""
        rest = data[position:]
        if len(rest) > _MAX_HEAD or not may_begin_form(rest):
            return rest
        self._begun = rest
        self.in_request = True
        return b""

    def _begin_body(
        self, target: bytes, content_type: bytes, head: bytes, body: bytes, length: int
    ) -> None:
        self._target, self._content_type, self._head = target, content_type, head
        self._length = length
        self._body = bytearray(body)
        self.body_bytes = len(body)
        self.in_request = self.in_body = True

    def _read_body(self, data: bytes, requests: list[HttpRequest | int]) -> int:
        """Continue a body; return the offset of the next request."""
        missing = self._length - self.body_bytes
        piece = data[:missing] if len(data) > missing else data
        self._body += piece
        self.body_bytes += len(piece)
        if self.body_bytes == self._length:
            self.in_body = False
            body = bytes(self._body)
            self._body = bytearray()
            requests.append(HttpRequest(self._target, self._content_type, body, self._head))
        return len(piece)


def may_begin_form(data: bytes) -> bool:
    """Whether bytes may be the beginning of a header in the form of Windows."""
    *lines, last = data.split(b"\r\n")
    if len(lines) >= len(_LINES):
        return False
    for line, (whole, _) in zip(lines, _LINES, strict=False):
        if whole.fullmatch(line) is None:
            return False
    whole, begun = _LINES[len(lines)]
    if last.endswith(b"\r"):
        return whole.fullmatch(last, 0, len(last) - 1) is not None
    return begun.fullmatch(last) is not None
