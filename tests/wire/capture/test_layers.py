"""From frames to TCP and UDP."""

import struct

import pytest
from tests.wire.capture import writer

from openmsmq.wire.capture.files import Frame
from openmsmq.wire.capture.layers import TCP, UDP, Layers, Transport
from openmsmq.wire.errors import MalformedPacket

PAYLOAD = writer.udp(b"payload")
IPV4 = writer.ipv4(PAYLOAD, protocol=17)
IPV6 = writer.ipv6(PAYLOAD, following=17)
MORE = 0x2000


def frame(data: bytes, link_type: int = 1) -> Frame:
    return Frame(1, 0, link_type, data, 0, 0)


def transport(data: bytes, link_type: int = 1) -> Transport | None:
    return Layers().transport(frame(data, link_type))


@pytest.mark.parametrize(
    ("data", "link_type"),
    [
        (writer.ethernet(IPV4), 1),
        (writer.ethernet(IPV6), 1),
        (writer.ethernet(IPV4, vlans=(0x8100,)), 1),
        (writer.ethernet(IPV6, vlans=(0x88A8, 0x8100)), 1),
        (writer.ethernet(IPV4) + b"padding of the card", 1),
        (struct.pack("<I", 2) + IPV4, 0),
        (struct.pack(">I", 2) + IPV4, 0),
        (struct.pack("<I", 30) + IPV6, 0),
        (struct.pack(">I", 24) + IPV6, 108),
        (IPV4, 12),
        (IPV4, 14),
        (IPV4, 101),
        (IPV6, 101),
        (IPV4, 228),
        (IPV6, 229),
        (bytes(14) + b"\x08\x00" + IPV4, 113),
        (bytes(14) + b"\x81\x00\x00\x07\x86\xdd" + IPV6, 113),
        (b"\x86\xdd" + bytes(18) + IPV6, 276),
    ],
)
def test_every_link_layer_gives_the_same_datagram(data: bytes, link_type: int) -> None:
    found = transport(data, link_type)
    assert found is not None
    assert (found.protocol, bytes(found.data), found.missing) == (UDP, PAYLOAD, 0)
    assert len(found.source) == len(found.destination) == (16 if IPV6 in data else 4)


@pytest.mark.parametrize(
    ("data", "link_type"),
    [
        (writer.ethernet(IPV4, kind=0x0806), 1),
        (struct.pack("<I", 7) + IPV4, 0),
        (bytes(16) + IPV4, 113),
        (bytes(20) + IPV4, 276),
    ],
)
def test_what_is_not_ip_is_passed_over(data: bytes, link_type: int) -> None:
    assert transport(data, link_type) is None


@pytest.mark.parametrize(
    ("data", "link_type", "field"),
    [
        (IPV4, 195, "Frame.LinkType"),
        (b"short", 1, "Ethernet"),
        (writer.ethernet(IPV4, vlans=(0x8100,))[:16], 1, "Vlan.Tag"),
        (b"\0", 0, "Loopback.Family"),
        (bytes(15), 113, "LinuxCooked"),
        (bytes(19), 276, "LinuxCooked2"),
        (b"", 101, "IP.Version"),
        (b"\x50" + IPV4[1:], 101, "IP.Version"),
        (IPV4[:19], 101, "IPv4"),
        (b"\x44" + IPV4[1:], 101, "IPv4.IHL"),
        (b"\x4f" + IPV4[1:], 101, "IPv4.Options"),
        (writer.ipv4(PAYLOAD, total=19), 101, "IPv4.TotalLength"),
        (IPV6[:39], 101, "IPv6"),
        (writer.ipv6(b"\x11\0\0", following=0), 101, "IPv6.ExtensionHeader"),
        (writer.ipv6(b"\x11\1\0\0\0\0\0\0", following=60), 101, "IPv6.ExtensionHeader"),
        (writer.ipv6(b"\x11\1\0\0", following=44), 101, "IPv6.FragmentHeader"),
        (writer.ipv4(PAYLOAD, total=99, fragment=MORE), 101, "IPv4.Fragment"),
        (writer.ipv6(bytes(8) + PAYLOAD, size=99, following=44), 101, "IPv6.Fragment"),
        (writer.ipv4(bytes(16), fragment=0x1FFF), 101, "IP.FragmentOffset"),
    ],
)
def test_headers_that_do_not_fit_are_named(data: bytes, link_type: int, field: str) -> None:
    with pytest.raises(MalformedPacket) as caught:
        transport(data, link_type)
    assert caught.value.field == field


def test_options_and_extension_headers_are_skipped() -> None:
    routing = b"\x33" + bytes(7)
    authentication = b"\x00\x01" + bytes(10)
    hop_by_hop = b"\x3c\x00" + bytes(6)
    options = b"\x06\x01" + bytes(14)
    chain = routing + authentication + hop_by_hop + options + writer.tcp(b"data")
    for data in (
        writer.ipv6(chain, following=43),
        writer.ipv4(writer.tcp(b"data"), options=bytes(8)),
    ):
        found = transport(data, 101)
        assert found is not None
        assert (found.protocol, bytes(found.data)) == (TCP, writer.tcp(b"data"))


def test_a_length_of_zero_reaches_to_the_end_of_the_frame() -> None:
    for data in (writer.ipv4(PAYLOAD, total=0), writer.ipv6(PAYLOAD, size=0)):
        found = transport(data, 101)
        assert found is not None
        assert bytes(found.data) == PAYLOAD


def test_bytes_that_were_not_captured_are_counted() -> None:
    for data in (writer.ipv4(PAYLOAD, total=20 + 40), writer.ipv6(PAYLOAD, size=40)):
        found = transport(data, 101)
        assert found is not None
        assert (bytes(found.data), found.missing) == (PAYLOAD, 40 - len(PAYLOAD))


BIG = writer.udp(bytes(range(256)) * 2)


def fragments_4(payload: bytes, step: int = 128) -> list[bytes]:
    return [
        writer.ipv4(
            payload[at : at + step],
            protocol=17,
            fragment=at // 8 | (MORE if at + step < len(payload) else 0),
        )
        for at in range(0, len(payload), step)
    ]


def fragments_6(payload: bytes, step: int = 128) -> list[bytes]:
    return [
        writer.ipv6(
            struct.pack(">BBHI", 17, 0, at | (at + step < len(payload)), 99)
            + payload[at : at + step],
            following=44,
        )
        for at in range(0, len(payload), step)
    ]


@pytest.mark.parametrize("pieces", [fragments_4(BIG), fragments_6(BIG)])
def test_fragments_in_any_order_make_the_datagram(pieces: list[bytes]) -> None:
    for order in (pieces, pieces[::-1], pieces[2:] + pieces[:2], [pieces[0], *pieces]):
        layers = Layers()
        found = [layers.transport(frame(piece, 101)) for piece in order]
        assert [item is not None for item in found] == [False] * (len(order) - 1) + [True]
        assert found[-1] is not None
        assert bytes(found[-1].data) == BIG
        assert (found[-1].protocol, layers.incomplete_datagrams) == (UDP, 0)


def test_overlapping_fragments_make_the_datagram() -> None:
    layers = Layers()
    for start, end, flag in ((0, 16, MORE), (8, 24, MORE), (8, 32, MORE)):
        piece = writer.ipv4(BIG[start:end], protocol=17, fragment=start // 8 | flag)
        assert layers.transport(frame(piece, 101)) is None
    found = layers.transport(frame(writer.ipv4(BIG[16:], protocol=17, fragment=2), 101))
    assert found is not None
    assert bytes(found.data) == BIG


def test_a_hole_between_overlapping_fragments_keeps_the_datagram_waiting() -> None:
    layers = Layers()
    for start, end, flag in ((0, 400, MORE), (8, 400, MORE), (512, 520, 0)):
        piece = writer.ipv4(BIG[start:end], protocol=17, fragment=start // 8 | flag)
        assert layers.transport(frame(piece, 101)) is None
    assert layers.incomplete_datagrams == 1


def test_an_end_that_moves_back_keeps_the_datagram_waiting() -> None:
    layers = Layers()
    for start, end, flag in ((0, 16, MORE), (0, 16, MORE), (8, 24, MORE), (64, 72, 0)):
        piece = writer.ipv4(bytes(end - start), protocol=17, fragment=start // 8 | flag)
        assert layers.transport(frame(piece, 101)) is None


def test_fragments_that_overlap_without_end_are_given_up() -> None:
    layers = Layers()
    for at in range(2):
        piece = writer.ipv4(bytes(60000), fragment=at | MORE)
        assert layers.transport(frame(piece, 101)) is None
    with pytest.raises(MalformedPacket, match="overlap too often"):
        layers.transport(frame(writer.ipv4(bytes(60000), fragment=2 | MORE), 101))
    assert layers.incomplete_datagrams == 0


def test_fragments_may_overlap_up_to_twice_a_datagram() -> None:
    layers = Layers()
    for at, size in enumerate((60000, 60000, 2 * 0x10000 - 120000)):
        piece = writer.ipv4(bytes(size), fragment=at | MORE)
        assert layers.transport(frame(piece, 101)) is None
    with pytest.raises(MalformedPacket, match="overlap too often"):
        layers.transport(frame(writer.ipv4(b"x", fragment=3 | MORE), 101))


def test_only_so_many_datagrams_may_wait_for_fragments() -> None:
    layers = Layers()
    for number in range(64):
        piece = writer.ipv4(bytes(8), identification=number, fragment=MORE)
        assert layers.transport(frame(piece, 101)) is None
    with pytest.raises(MalformedPacket, match="more than 64 datagrams lack fragments"):
        layers.transport(frame(writer.ipv4(bytes(8), identification=64, fragment=MORE), 101))
    assert layers.incomplete_datagrams == 64
