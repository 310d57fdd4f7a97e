"""Destinations of requests: a host and port, directly or through a proxy."""

from dataclasses import dataclass
from typing import Final, NamedTuple

HTTP_PORT: Final = 80
HTTPS_PORT: Final = 443


class Destination(NamedTuple):
    """A host that takes requests.

    Attributes:
        host: a name in lower case, or an address; IPv6 without brackets.
        secure: whether to use HTTPS.
    """

    host: str
    port: int
    secure: bool

    @property
    def authority(self) -> str:
        """The host as the field Host has it: without a default port."""
        default = HTTPS_PORT if self.secure else HTTP_PORT
        host = bracketed(self.host)
        return host if self.port == default else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Scheme and authority, as in a request to a proxy."""
        return f"{'https' if self.secure else 'http'}://{self.authority}"

    def __str__(self) -> str:
        return self.url


class Route(NamedTuple):
    """The route to a destination.

    Attributes:
        host, port: the address to connect to.
        tunnel: the request for a tunnel through the proxy; empty without one.
        prefix: the text of a request before its target.
    """

    host: str
    port: int
    tunnel: bytes
    prefix: str


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, and the destinations for which it is not used.

    Attributes:
        bypass: host names and addresses in lower case; `*` at the start matches any beginning, and
            `<local>` names without a dot.
    """

    host: str
    port: int
    bypass: tuple[str, ...] = ()

    def serves(self, host: str) -> bool:
        """Whether requests to a host go through the proxy."""
        return not any(self._matches(host, entry) for entry in self.bypass)

    @staticmethod
    def _matches(host: str, entry: str) -> bool:
        if entry == "<local>":
            return "." not in host and ":" not in host
        if entry.startswith("*"):
            return host.endswith(entry[1:])
        return host == entry


def route_to(destination: Destination, proxy: Proxy | None) -> Route:
    """The route to a destination."""
    if proxy is None or not proxy.serves(destination.host):
        return Route(destination.host, destination.port, b"", "")
    if not destination.secure:
        return Route(proxy.host, proxy.port, b"", destination.url)
    # RFC 9110 9.3.6: the target of CONNECT has its port always.
    where = f"{bracketed(destination.host)}:{destination.port}"
    tunnel = f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n\r\n".encode("ascii")
    return Route(proxy.host, proxy.port, tunnel, "")


def bracketed(host: str) -> str:
    """A host as in URLs."""
    return f"[{host}]" if ":" in host else host
