"""From a captured frame to its TCP segment or UDP datagram: link layers, IPv4, IPv6, fragments.

Checksums are not verified: a capture taken on the sending machine often has them unset, because
the network card fills them in.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .files import Frame

TCP: Final = 6
UDP: Final = 17
PGM: Final = 113
ETHERNET: Final = 1
RAW_IP: Final = 101

_ETHERTYPE_IPV4: Final = 0x0800
_ETHERTYPE_IPV6: Final = 0x86DD
_ETHERTYPES_VLAN: Final = (0x8100, 0x88A8, 0x9100)
# The address family of IPv6 differs between systems: Linux, the BSDs, macOS.
_FAMILIES: Final = (2, 10, 24, 28, 30)

_HOP_BY_HOP: Final = 0
_ROUTING: Final = 43
_FRAGMENT: Final = 44
_AUTHENTICATION: Final = 51
_DESTINATION_OPTIONS: Final = 60

_MAX_DATAGRAM: Final = 0x10000
_MAX_PENDING_DATAGRAMS: Final = 64
_MAX_PENDING_BYTES: Final = 2 * _MAX_DATAGRAM


@dataclass(frozen=True, slots=True)
class Transport:
    """What an IP packet carries; `missing` bytes of it were not captured."""

    protocol: int
    source: bytes
    destination: bytes
    data: memoryview
    missing: int


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A piece of an IP datagram."""

    key: tuple[bytes, bytes, int, int]
    protocol: int
    position: int
    more: bool
    data: memoryview


class _Pending:
    """The pieces of one datagram so far."""

    __slots__ = ("end", "pieces", "size")

    def __init__(self) -> None:
        self.pieces: dict[int, bytes] = {}
        self.size = 0
        self.end: int | None = None

    def add(self, fragment: _Fragment) -> None:
        """Keep a piece; of two at the same position the first stays."""
        if fragment.position not in self.pieces:
            self.pieces[fragment.position] = bytes(fragment.data)
            self.size += len(fragment.data)
        if not fragment.more:
            self.end = fragment.position + len(fragment.data)

    def whole(self) -> bytes | None:
        """The datagram, once its pieces meet; where they overlap the earlier position wins."""
        if self.end is None or self.size < self.end:
            return None
        data = bytearray()
        for position in sorted(self.pieces):
            if position > len(data):
                return None
            data += self.pieces[position][len(data) - position :]
        return bytes(data[: self.end]) if len(data) >= self.end else None


class Layers:
    """Takes the layers off frames; keeps the fragments that wait for their rest."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending: OrderedDict[tuple[bytes, bytes, int, int], _Pending] = OrderedDict()

    @property
    def incomplete_datagrams(self) -> int:
        """How many datagrams still lack fragments."""
        return len(self._pending)

    def transport(self, frame: Frame) -> Transport | None:
        """What the frame carries, None if not IP or a fragment that does not complete a datagram.

        Raises:
            MalformedPacket: a header that does not fit; offsets count from the start of the frame.
        """
        buf = memoryview(frame.data)
        link = _LINKS.get(frame.link_type)
        if link is None:
            raise MalformedPacket(
                "Frame.LinkType", 0, f"{frame.link_type} is not a link type known here"
            )
        offset = link(buf)
        if offset is None:
            return None
        require(buf, offset, 1, "IP.Version")
        version = buf[offset] >> 4
        if version == 4:
            parsed = _ipv4(buf, offset)
        elif version == 6:
            parsed = _ipv6(buf, offset)
        else:
            raise MalformedPacket("IP.Version", offset, f"{version} is neither 4 nor 6")
        if isinstance(parsed, _Fragment):
            return self._join(parsed)
        return parsed

    def _join(self, fragment: _Fragment) -> Transport | None:
        if fragment.position + len(fragment.data) > _MAX_DATAGRAM:
            raise MalformedPacket(
                "IP.FragmentOffset",
                0,
                f"a fragment at {fragment.position} with {len(fragment.data)} bytes ends past "
                f"{_MAX_DATAGRAM}",
            )
        pending = self._pending.setdefault(fragment.key, _Pending())
        self._pending.move_to_end(fragment.key)
        pending.add(fragment)
        data = pending.whole()
        if data is not None:
            del self._pending[fragment.key]
            source, destination = fragment.key[0], fragment.key[1]
            return Transport(fragment.protocol, source, destination, memoryview(data), 0)
        if pending.size > _MAX_PENDING_BYTES:
            del self._pending[fragment.key]
            raise MalformedPacket(
                "IP.Fragments", 0, "the fragments of a datagram overlap too often"
            )
        if len(self._pending) > _MAX_PENDING_DATAGRAMS:
            self._pending.popitem(last=False)
            raise MalformedPacket(
                "IP.Fragments", 0, f"more than {_MAX_PENDING_DATAGRAMS} datagrams lack fragments"
            )
        return None


def _big(buf: memoryview, offset: int, size: int) -> int:
    return int.from_bytes(buf[offset : offset + size], "big")


def _behind(buf: memoryview, kind: int, end: int) -> int | None:
    """The start of the IP packet after an EtherType that ends at `end`; None if not IP."""
    while kind in _ETHERTYPES_VLAN:
        end = require(buf, end, 4, "Vlan.Tag")
        kind = _big(buf, end - 2, 2)
    return end if kind in (_ETHERTYPE_IPV4, _ETHERTYPE_IPV6) else None


def _ethernet(buf: memoryview) -> int | None:
    end = require(buf, 0, 14, "Ethernet")
    return _behind(buf, _big(buf, 12, 2), end)


def _linux_cooked(buf: memoryview) -> int | None:
    end = require(buf, 0, 16, "LinuxCooked")
    return _behind(buf, _big(buf, 14, 2), end)


def _linux_cooked_2(buf: memoryview) -> int | None:
    end = require(buf, 0, 20, "LinuxCooked2")
    return _behind(buf, _big(buf, 0, 2), end)


def _null(buf: memoryview) -> int | None:
    # The byte order is that of the machine which captured: the small numbers fit only one.
    end = require(buf, 0, 4, "Loopback.Family")
    little, big = int.from_bytes(buf[:4], "little"), int.from_bytes(buf[:4], "big")
    return end if min(little, big) in _FAMILIES else None


def _raw_ip(buf: memoryview) -> int | None:
    del buf
    return 0


# Numbers of the registry of link types; 12 and 14 are what old BSD tools wrote for raw IP.
_LINKS: Final[dict[int, Callable[[memoryview], int | None]]] = {
    0: _null,
    ETHERNET: _ethernet,
    12: _raw_ip,
    14: _raw_ip,
    RAW_IP: _raw_ip,
    108: _null,
    113: _linux_cooked,
    228: _raw_ip,
    229: _raw_ip,
    276: _linux_cooked_2,
}


def _payload(buf: memoryview, start: int, end: int) -> tuple[memoryview, int]:
    """The captured bytes of start..end, and how many were not captured."""
    return buf[start : min(end, len(buf))], max(end - len(buf), 0)


def _ipv4(buf: memoryview, offset: int) -> Transport | _Fragment:
    require(buf, offset, 20, "IPv4")
    header = (buf[offset] & 0x0F) * 4
    if header < 20:
        raise MalformedPacket("IPv4.IHL", offset, f"{header} bytes are less than 20")
    start = require(buf, offset, header, "IPv4.Options")
    # A length of 0 is what a capture shows when the network card cuts the segments.
    total = _big(buf, offset + 2, 2) or len(buf) - offset
    if total < header:
        raise MalformedPacket("IPv4.TotalLength", offset + 2, f"{total} is less than the header")
    data, missing = _payload(buf, start, offset + total)
    protocol = buf[offset + 9]
    source, destination = (
        bytes(buf[offset + 12 : offset + 16]),
        bytes(buf[offset + 16 : offset + 20]),
    )
    fragment = _big(buf, offset + 6, 2)
    if fragment & 0x3FFF == 0:
        return Transport(protocol, source, destination, data, missing)
    if missing:
        raise MalformedPacket("IPv4.Fragment", offset, f"{missing} bytes were not captured")
    key = (source, destination, protocol, _big(buf, offset + 4, 2))
    more = bool(fragment & 0x2000)
    return _Fragment(key, protocol, (fragment & 0x1FFF) * 8, more, data)


def _ipv6(buf: memoryview, offset: int) -> Transport | _Fragment:
    start = require(buf, offset, 40, "IPv6")
    # A length of 0 is a jumbogram, or segments that the network card cuts.
    size = _big(buf, offset + 4, 2) or len(buf) - start
    following = buf[offset + 6]
    source, destination = (
        bytes(buf[offset + 8 : offset + 24]),
        bytes(buf[offset + 24 : offset + 40]),
    )
    end = start + size
    while following in (_HOP_BY_HOP, _ROUTING, _AUTHENTICATION, _DESTINATION_OPTIONS):
        require(buf, start, 8, "IPv6.ExtensionHeader")
        units = (
            (buf[start + 1] + 2) * 4 if following == _AUTHENTICATION else (buf[start + 1] + 1) * 8
        )
        following = buf[start]
        start = require(buf, start, units, "IPv6.ExtensionHeader")
    if following != _FRAGMENT:
        data, missing = _payload(buf, start, end)
        return Transport(following, source, destination, data, missing)
    header = start
    start = require(buf, header, 8, "IPv6.FragmentHeader")
    data, missing = _payload(buf, start, end)
    if missing:
        raise MalformedPacket("IPv6.Fragment", offset, f"{missing} bytes were not captured")
    word = _big(buf, header + 2, 2)
    key = (source, destination, 0, _big(buf, header + 4, 4))
    return _Fragment(key, buf[header], word & 0xFFF8, bool(word & 1), data)
