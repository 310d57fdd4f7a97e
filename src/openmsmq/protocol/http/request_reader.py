"""Cuts the bytes of one connection into requests, within limits."""

from types import SimpleNamespace
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from .compact_requests import CompactRequests
from .request import HttpRequest, write_head
from .settings import HttpSettings

# The root of all queues' URLs ([MS-MQMQ] 2.1.2), in any case; a separator or the end follows.
_ROOT: Final = b"/msmq"
_AFTER_ROOT: Final = frozenset((b"", b"/", b"\\", b"?"))
# The framing bytes allowed per byte of a chunked body, besides the size of a header.
_FRAMING_PER_BYTE: Final = 8

_CONTENT_LENGTH: Final = 1
_CONTENT_TYPE: Final = 2
_TRANSFER_ENCODING: Final = 3
_EXPECT: Final = 4
_CONNECTION: Final = 5
_KINDS: Final = {
    b"content-length": _CONTENT_LENGTH,
    b"content-type": _CONTENT_TYPE,
    b"transfer-encoding": _TRANSFER_ENCODING,
    b"expect": _EXPECT,
    b"connection": _CONNECTION,
}
# The expectation of a client that delays its body.
_HOLDS_BODY: Final = b"100-continue"
# Fields that offer another protocol.
_UPGRADE: Final = frozenset((b"connection", b"upgrade"))


class Refusal(Exception):
    """A request that ends its connection: the bytes after it cannot be parsed."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class RequestReader:
    """The requests of one connection; httptools calls the methods with the prefix `_on_`.

    Attributes:
        entries: results since the last look, in order: a complete request, or the status of a
            refused one.
        finished: whether the last entry is the last request of the connection.
        keep: whether the client speaks HTTP/1.0 and wants to keep the connection.
        wants_continue: whether the sender of a body waits for 100 Continue before it sends it.
    """

    __slots__ = (
        "_body",
        "_body_bytes",
        "_chunked",
        "_compact",
        "_content_length",
        "_content_type",
        "_expect",
        "_fed",
        "_has_connection",
        "_header_bytes",
        "_header_count",
        "_headers",
        "_in_body",
        "_in_request",
        "_parser",
        "_settings",
        "_status",
        "_target",
        "_upgrading",
        "entries",
        "finished",
        "keep",
        "refusal",
        "wants_continue",
    )

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._parser: HttpRequestParser = self._make_parser()
        self._compact = CompactRequests(settings)
        self.entries: list[HttpRequest | int] = []
        self.refusal: Refusal | None = None
        self.finished = False
        self.keep = False
        self._begin()
        self._in_request = False

    def _make_parser(self) -> HttpRequestParser:
        return HttpRequestParser(
            SimpleNamespace(
                on_message_begin=self._begin,
                on_url=self._on_url,
                on_header=self._on_header,
                on_headers_complete=self._on_headers_complete,
                on_body=self._on_body,
                on_message_complete=self._on_message_complete,
            )
        )

    @property
    def in_request(self) -> bool:
        """Whether an incomplete request has begun."""
        return self._in_request or self._compact.in_request

    @property
    def in_body(self) -> bool:
        """Whether its header is complete."""
        return self._in_body if self._in_request else self._compact.in_body

    @property
    def body_bytes(self) -> int:
        """The size of its body so far."""
        if self._in_request:
            return self._body_bytes
        return self._compact.body_bytes if self._compact.in_body else 0

    def _begin(self) -> None:
        self._in_request = True
        self._in_body = False
        self.wants_continue = False
        self._body_bytes = 0
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._header_count = 0
        self._header_bytes = 0
        self._content_length = -1
        self._content_type = b""
        self._chunked = False
        self._expect = b""
        self._has_connection = False
        self._upgrading = False
        self._status = 0
        self._body: bytes | bytearray = b""
        # Bytes of this request, besides those of the read in which it began.
        self._fed = 0

    def feed(self, data: bytes) -> None:
        """Process bytes.

        Raises:
            Refusal: nothing more can be read; `entries` has the results before.
        """
        if not self._in_request:
            data = self._compact.read(data, self.entries)
        size = len(data)
        within = self._in_request
        count = len(self.entries)
        while data:
            data = self._parse(data)
        if within and count == len(self.entries):
            self._fed += size
            self._check_framing()

    def _parse(self, data: bytes) -> bytes:
        """Parse bytes; return those to be parsed again because their sender offers an upgrade."""
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            if not self._upgrading:
                return b""
            # httptools takes the following bytes for the other protocol, which is not supported:
            # RFC 9110 7.8 has the offer ignored, so the request is read again without it.
            head = self._head_without_upgrade()
            self._parser = self._make_parser()
            return head + data[upgrade.args[0] :]
        except HttpParserError as exc:
            # Bytes after the last request are ignored.
            if not self.finished or self._in_request:
                raise self.refusal or Refusal(400, str(exc)) from exc
        return b""

    def _head_without_upgrade(self) -> bytes:
        headers = [header for header in self._headers if header[0].lower() not in _UPGRADE]
        if self.finished:
            headers.append((b"Connection", b"close"))
        return write_head(self._target, headers, 0, chunked=False)

    def _check_framing(self) -> None:
        """Refuse a request that consists mostly of framing."""
        settings = self._settings
        if not self._in_body:
            if self._fed > settings.max_header_bytes + settings.max_target_bytes:
                raise Refusal(431, "the header does not end")
        elif self._chunked:
            most = settings.max_header_bytes + _FRAMING_PER_BYTE * self._body_bytes
            if self._fed - self._body_bytes > most:
                raise Refusal(400, "chunks have more framing than content")

    def _refuse(self, status: int, detail: str) -> None:
        self.refusal = Refusal(status, detail)
        raise self.refusal

    # Callbacks of httptools

    def _on_url(self, url: bytes) -> None:
        self._target += url
        if len(self._target) > self._settings.max_target_bytes:
            self._refuse(414, f"the target is longer than {self._settings.max_target_bytes} bytes")

    def _on_header(self, name: bytes, value: bytes) -> None:
        settings = self._settings
        self._header_count += 1
        self._header_bytes += len(name) + len(value) + 4
        if self._header_count > settings.max_headers:
            self._refuse(431, f"more than {settings.max_headers} header fields")
        if self._header_bytes > settings.max_header_bytes:
            self._refuse(431, f"the header is longer than {settings.max_header_bytes} bytes")
        if self._in_body:
            # A trailer is not part of the request.
            return
        self._headers.append((name, value))
        kind = _KINDS.get(name.lower(), 0)
        if kind == _CONTENT_LENGTH:
            self._content_length = int(value)
        elif kind == _CONTENT_TYPE:
            self._content_type = value
        elif kind == _TRANSFER_ENCODING:
            self._chunked = True
            if value.lower() != b"chunked":
                self._refuse(400, "a transfer coding other than chunked")
        elif kind == _EXPECT:
            self._expect = value.lower()
        elif kind == _CONNECTION:
            self._has_connection = True

    def _on_headers_complete(self) -> None:
        self._in_body = True
        limit = self._settings.max_body_bytes
        if self._content_length > limit:
            self._refuse(413, f"a body of {self._content_length} bytes; the limit is {limit}")
        parser = self._parser
        self.finished = not parser.should_keep_alive()
        version_10 = self._has_connection and parser.get_http_version() == "1.0"
        self.keep = version_10 and not self.finished
        method = parser.get_method()
        self._status = self._check_head(method)
        if parser.should_upgrade():
            self._upgrading = method == b"POST"
            self.finished = self.finished or not self._upgrading
        if self._expect == _HOLDS_BODY and parser.get_http_version() != "1.0":
            self.wants_continue = not self._status
            if self._status and (self._chunked or self._content_length > 0):
                # RFC 9110 10.1.1: the client delays its body until it has this status.
                self._refuse(self._status, "refused before its body")

    def _check_head(self, method: bytes) -> int:
        """The status of a request that its header alone refuses; 0 otherwise."""
        target = self._target = origin_form(self._target)
        if target[:5].lower() != _ROOT or target[5:6] not in _AFTER_ROOT:
            return 404
        if method != b"POST":
            return 405
        if self._content_length < 0 and not self._chunked:
            return 411
        return 417 if self._expect not in (b"", _HOLDS_BODY) else 0

    def _on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > self._settings.max_body_bytes:
            self._refuse(413, f"the body is longer than {self._settings.max_body_bytes} bytes")
        if self._status:
            return
        if not self._body:
            self._body = body
        else:
            if isinstance(self._body, bytes):
                self._body = bytearray(self._body)
            self._body += body

    def _on_message_complete(self) -> None:
        if self._upgrading:
            return
        self._in_request = False
        self.wants_continue = False
        if self._status:
            self.entries.append(self._status)
            return
        body = bytes(self._body)
        self._body = b""
        head = write_head(self._target, self._headers, len(body), chunked=self._chunked)
        self.entries.append(HttpRequest(self._target, self._content_type, body, head))


def origin_form(target: bytes) -> bytes:
    """The path and query of a target; the scheme and host of an absolute target are removed."""
    if target.startswith(b"/"):
        return target
    _, separator, rest = target.partition(b"://")
    return rest[rest.find(b"/") :] if separator and b"/" in rest else target
