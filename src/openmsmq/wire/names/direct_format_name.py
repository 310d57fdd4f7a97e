r"""Direct format names: `DIRECT=TCP:10.0.0.1\private$\orders` ([MS-MQMQ] 2.1.2)."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote, unquote

from openmsmq.wire.codes.hresult import Hresult

from .path_name import PathName
from .queue_name import NameText, QueueName, QueueScope, parse_queue_name

_IPX_ADDRESS: Final = re.compile(r"([0-9A-Fa-f]{8})[:.]([0-9A-Fa-f]{12})")
_WEB_NAME: Final = re.compile(
    r"//(\[[0-9A-Fa-f:.]+\]|[^/\\:\[\]]*)(?::([0-9]{1,5}))?[/\\]msmq[/\\]", re.IGNORECASE
)
_PRIVATE: Final = re.compile(r"private\$[/\\]", re.IGNORECASE)
_MAX_PORT: Final = 0xFFFF
# Choice: a limit of our own for what follows the `?` of a URL.
_QUERY: Final = re.compile(r"[!-+\--~]{1,1024}")
# What the target of a request may hold as it is ([RFC3986] 3.3, 3.4).
_TARGET_CHARACTERS: Final = "/?:@!$&'()*+,;=-._~%"


class DirectProtocol(StrEnum):
    """How the computer of a direct name is reached, and so what its address is."""

    OS = "OS"
    TCP = "TCP"
    IPX = "IPX"
    SPX = "SPX"
    HTTP = "HTTP"
    HTTPS = "HTTPS"


DEFAULT_PORTS: Final = {DirectProtocol.HTTP: 80, DirectProtocol.HTTPS: 443}
_PROTOCOLS: Final[dict[str, DirectProtocol]] = {p.value: p for p in DirectProtocol}


@dataclass(frozen=True, slots=True)
class DirectFormatName:
    """A queue by the address of its computer; two names are equal without regard to case.

    `port` belongs to HTTP and HTTPS only and is 0 elsewhere.
    """

    protocol: DirectProtocol = field(compare=False)
    address: str = field(compare=False)
    queue_name: QueueName = field(compare=False)
    port: int = field(default=0, compare=False)
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.is_web and not self.port:
            object.__setattr__(self, "port", DEFAULT_PORTS[self.protocol])
        object.__setattr__(self, "key", str(self).lower())

    @property
    def is_web(self) -> bool:
        """Whether messages to it travel over HTTP or HTTPS."""
        return self.protocol in DEFAULT_PORTS

    @property
    def direct(self) -> str:
        """The name as packets carry it: without `DIRECT=`, a URL with its scheme in lower case."""
        if not self.is_web:
            return f"{self.protocol}:{self.address}\\{self.queue_name}"
        port = "" if self.port == DEFAULT_PORTS[self.protocol] else f":{self.port}"
        return f"{self.protocol.lower()}://{self.address}{port}/msmq/{self._web_path}"

    @property
    def request_target(self) -> str:
        """The path and query of a URL in the request line: lower case, as Windows writes it."""
        return quote(f"/msmq/{self._web_path}".lower(), safe=_TARGET_CHARACTERS)

    @property
    def _web_path(self) -> str:
        """What follows `/msmq/` in a URL."""
        name, mark, query = self.queue_name.with_separator("/").partition("?")
        return f"{name.replace('%', '%25')}{mark}{query}"

    @property
    def path_name(self) -> PathName | None:
        """The same queue as a path name with the address as computer; a URL has none."""
        return None if self.is_web else PathName(self.address, self.queue_name)

    def __str__(self) -> str:
        if self.is_web:
            scheme, colon, rest = self.direct.partition(":")
            return f"DIRECT={scheme.upper()}{colon}{rest}"
        return f"DIRECT={self.direct}"


def parse_direct(source: NameText, start: int, end: int) -> DirectFormatName:
    """Parse what follows `DIRECT=`."""
    colon = source.text.find(":", start, end)
    protocol = _PROTOCOLS.get(source.text[start:colon].upper()) if colon >= 0 else None
    if protocol is None:
        raise source.fault(start, "no OS:, TCP:, IPX:, SPX:, HTTP:// or HTTPS:// after DIRECT=")
    start = colon + 1
    if protocol in DEFAULT_PORTS:
        return _parse_web(source, start, end, protocol)
    backslash = source.text.find("\\", start, end)
    if backslash < 0:
        raise source.fault(end, "no queue name after the computer")
    address = _parse_address(source, start, backslash, protocol)
    queue_name = parse_queue_name(source, backslash + 1, end)
    _check_system(source, backslash + 1, queue_name)
    return DirectFormatName(protocol, address, queue_name)


def direct_name(computer: str, queue_name: QueueName) -> DirectFormatName:
    """The direct name of a queue by the name of its computer.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME, a direct name cannot mean this queue.
    """
    name = DirectFormatName(DirectProtocol.OS, computer, queue_name)
    source = NameText(str(name), Hresult.MQ_ERROR_ILLEGAL_FORMATNAME)
    _check_system(source, len("DIRECT=OS:\\") + len(computer), queue_name)
    return name


def _check_system(source: NameText, position: int, queue_name: QueueName) -> None:
    if queue_name.scope is QueueScope.SYSTEM and queue_name.name:
        reason = "system$ of a direct name takes ;JOURNAL, ;DEADLETTER or ;DEADXACT"
        raise source.fault(position, reason)


def _parse_address(source: NameText, start: int, end: int, protocol: DirectProtocol) -> str:
    text = source.computer(start, end)
    if protocol is DirectProtocol.OS:
        return text
    if protocol is DirectProtocol.TCP:
        try:
            return str(ip_address(text))
        except ValueError as exc:
            reason = "not an IP address; a computer name goes with OS:"
            raise source.fault(start, reason) from exc
    match = _IPX_ADDRESS.fullmatch(text)
    if match is None:
        raise source.fault(start, "not an IPX address of 8 and 12 hexadecimal digits")
    return f"{match[1]}:{match[2]}".upper()


def _parse_web(
    source: NameText, start: int, end: int, protocol: DirectProtocol
) -> DirectFormatName:
    match = _WEB_NAME.match(source.text, start, end)
    if match is None:
        raise source.fault(start, "not of the form //HOST/msmq/NAME or //HOST:PORT/msmq/NAME")
    host = source.computer(match.start(1), match.end(1))
    port = int(match[2]) if match[2] else DEFAULT_PORTS[protocol]
    if not 0 < port <= _MAX_PORT:
        raise source.fault(match.start(2), f"port {port} is not in 1..{_MAX_PORT}")
    return DirectFormatName(protocol, host, _parse_web_queue(source, match.end(), end), port)


def _parse_web_queue(source: NameText, start: int, end: int) -> QueueName:
    """The queue of a URL; its query is kept after the name, where a queue has no `?`."""
    mark = source.text.find("?", start, end)
    stop = end if mark < 0 else mark
    if mark >= 0 and _QUERY.fullmatch(source.text, mark + 1, end) is None:
        raise source.fault(mark, "not a query of up to 1024 printable characters")
    path = source
    if "%" in source.text[start:stop]:
        try:
            decoded = unquote(source.text[start:stop], errors="strict")
        except UnicodeDecodeError as exc:
            raise source.fault(start, "not the percent-encoded name of a queue") from exc
        if "?" in decoded:
            raise source.fault(start, "a queue with a ? in its name has no URL")
        path, start, stop = NameText(decoded, source.code), 0, len(decoded)
    private = _PRIVATE.match(path.text, start, stop)
    scope = QueueScope.PUBLIC if private is None else QueueScope.PRIVATE
    # A suffix or subqueue is refused here: messages can only be sent over HTTP.
    name = path.queue(start if private is None else private.end(), stop)
    return QueueName(scope, name if mark < 0 else name + source.text[mark:end])
