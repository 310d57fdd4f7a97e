"""The names of the console that are valid in requests."""

import ipaddress
from collections.abc import Iterable


def host_of(header: str) -> str:
    """The host of a Host header or of an origin, without its port, in lower case."""
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


class Hosts:
    """The names and addresses of the console.

    All others are refused: a page of another site whose name was pointed at this machine
    (DNS rebinding) sends its own name.

    Args:
        bound: the address that the console listens on.
        names: further host names and addresses.
    """

    def __init__(self, bound: str, names: Iterable[str] = ()) -> None:
        self._names = {host_of(name) for name in names} | {"localhost"}
        try:
            address = ipaddress.ip_address(bound)
        except ValueError:
            self._names.add(host_of(bound))
            return
        if not address.is_unspecified:
            self._names.add(str(address))

    def allows(self, header: str | None) -> bool:
        """Whether a request with this Host header is for the console."""
        return header is not None and host_of(header).removesuffix(".") in self._names
