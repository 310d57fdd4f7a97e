"""Slows down addresses whose logons fail again and again."""

from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

# A failure is forgotten after this time; a few of them are everyday mistakes.
LEAK_SECONDS: Final = 60.0
FREE_FAILURES: Final = 5
FIRST_INTERVAL_SECONDS: Final = 0.5
MAX_INTERVAL_SECONDS: Final = 8.0
MAX_WAIT_SECONDS: Final = 30.0
MAX_ADDRESSES: Final = 10_000
# As many failures count at most, so that a fault that is repaired is forgotten within minutes.
MAX_FAILURES: Final = 20.0
IPV6_NETWORK_BITS: Final = 64


@dataclass(slots=True)
class Failures:
    """The failures of an address that are not forgotten, at a time, and when it may go on."""

    count: float
    at: float
    next_logon: float


class LogonLimiter:
    """Spaces out the logons of an address after failures; others are not affected.

    The first failures cost nothing. After each further one the time between two logons of the
    address doubles, up to a limit, and shrinks again with time. A success changes nothing: else an
    account of one's own would buy guesses at another.

    Args:
        max_addresses: how many are remembered; the one with the oldest failure gives way.
    """

    def __init__(self, *, max_addresses: int = MAX_ADDRESSES) -> None:
        self._max_addresses = max_addresses
        self._failures: OrderedDict[str, Failures] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def reserve(self, address: str, *, now: float) -> float | None:
        """Seconds to wait before the next logon of the address is examined.

        Logons that wait at the same time get one place each. None: too many of them wait, refuse
        this one.
        """
        failures = self._failures.get(source(address))
        if failures is None:
            return 0.0
        self._leak(failures, now)
        wait = max(failures.next_logon - now, 0.0)
        if wait > MAX_WAIT_SECONDS:
            return None
        failures.next_logon = now + wait + interval(failures.count)
        return wait

    def failed(self, address: str, *, now: float) -> int:
        """Count a failure; return how many are remembered of the address."""
        key = source(address)
        failures = self._failures.get(key)
        if failures is None:
            failures = self._failures[key] = Failures(0.0, now, now)
            if len(self._failures) > self._max_addresses:
                self._failures.popitem(last=False)
        self._leak(failures, now)
        failures.count = min(failures.count + 1, MAX_FAILURES)
        failures.next_logon = max(failures.next_logon, now + interval(failures.count))
        self._failures.move_to_end(key)
        return round(failures.count)

    def forget(self, *, now: float) -> None:
        """Drop addresses whose failures are all forgotten."""
        for key, failures in list(self._failures.items()):
            self._leak(failures, now)
            if not failures.count:
                del self._failures[key]

    def _leak(self, failures: Failures, now: float) -> None:
        failures.count = max(failures.count - (now - failures.at) / LEAK_SECONDS, 0.0)
        failures.at = now


def interval(failures: float) -> float:
    """The time between two logons of an address with so many failures."""
    excess = failures - FREE_FAILURES
    if excess < 0:
        return 0.0
    return float(min(FIRST_INTERVAL_SECONDS * 2.0**excess, MAX_INTERVAL_SECONDS))


def source(address: str) -> str:
    """What counts as one address: an IPv4 address, or the network of an IPv6 one."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    shift = 128 - IPV6_NETWORK_BITS
    return str(IPv6Address(int(parsed) >> shift << shift))
