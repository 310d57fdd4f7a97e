"""The addresses from which other machines may connect: allowed and denied networks."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network


class AddressRules:
    """Decides about addresses; a denied network has precedence over an allowed one.

    Args:
        allowed: networks in the notation 10.1.0.0/16; empty allows all addresses.
        denied: networks that are refused in any case.

    Raises:
        ValueError: one of them is not a network.
    """

    __slots__ = ("_allowed", "_denied")

    def __init__(self, allowed: Iterable[str] = (), denied: Iterable[str] = ()) -> None:
        self._allowed = list(map(parse_network, allowed))
        self._denied = list(map(parse_network, denied))

    def allow(self, address: str) -> bool:
        """Whether a machine with this address may connect; invalid text may not."""
        if not self._allowed and not self._denied:
            return True
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        if any(parsed in network for network in self._denied):
            return False
        return not self._allowed or any(parsed in network for network in self._allowed)


def parse_network(text: str) -> IPv4Network | IPv6Network:
    """A network or a single address.

    Raises:
        ValueError: it is neither.
    """
    return ip_network(text, strict=False)
