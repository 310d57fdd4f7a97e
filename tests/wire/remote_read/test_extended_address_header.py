"""[MS-MQRR] 2.2.5.1, 2.2.5.5."""

from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.remote_read.extended_address_header import (
    AddressOverlay,
    ExtendedAddressHeader,
    HostAddressType,
)

LINK_LOCAL = IPv6Address("fe80::1:2").packed
IPV4 = ExtendedAddressHeader(HostAddressType.IP, bytes([127, 0, 0, 2]))
IPV6 = ExtendedAddressHeader(HostAddressType.IPV6, LINK_LOCAL, 7)
IPV4_RAW = bytes.fromhex("1c000000 0400 0100 00000000 7f000002") + bytes(12)
IPV6_RAW = bytes.fromhex("1c000000 1000 0600 07000000 fe800000000000000000000000010002")

u32 = st.integers(0, 0xFFFFFFFF)


@pytest.mark.spec("MQRR-2.2.5.5-01", "MQRR-2.2.5.5-02", "MQRR-2.2.5.5-04")
@pytest.mark.parametrize(("header", "raw"), [(IPV4, IPV4_RAW), (IPV6, IPV6_RAW)])
def test_layout(header: ExtendedAddressHeader, raw: bytes) -> None:
    assert ExtendedAddressHeader.parse(raw) == (header, 28)
    assert header.serialize() == raw


@pytest.mark.spec("MQRR-2.2.5.5-03")
def test_without_a_type_the_rest_is_ignored() -> None:
    raw = IPV6_RAW[:4] + b"\xff\xff\0\0" + IPV6_RAW[8:]
    assert ExtendedAddressHeader.parse(raw) == (ExtendedAddressHeader(), 28)
    assert ExtendedAddressHeader().serialize() == b"\x1c" + bytes(27)


addresses = st.one_of(
    st.just((HostAddressType.NONE, b"", 0)),
    st.tuples(st.just(HostAddressType.IP), st.binary(min_size=4, max_size=4), u32),
    st.tuples(st.just(HostAddressType.IPV6), st.binary(min_size=16, max_size=16), u32),
)


@given(addresses)
def test_parse_reverses_serialize(address: tuple[HostAddressType, bytes, int]) -> None:
    header = ExtendedAddressHeader(*address)
    assert ExtendedAddressHeader.parse(memoryview(b"?" + header.serialize()), 1) == (header, 29)
    overlay = AddressOverlay.of(header)
    assert AddressOverlay.parse(memoryview(b"?" + overlay.serialize()), 1) == (overlay, 17)


@pytest.mark.spec("MQRR-2.2.5.1-03", "MQRR-2.2.5.1-05", "MQRR-2.2.5.1-06")
@pytest.mark.parametrize(
    ("header", "raw"),
    [
        (IPV4, "0400 0100 00000000 7f000002 00000000"),
        (IPV6, "1000 0600 07000000 fe80000000000000"),
        (ExtendedAddressHeader(), "0000 0000 00000000 0000000000000000"),
    ],
)
def test_overlay_layout(header: ExtendedAddressHeader, raw: str) -> None:
    overlay = AddressOverlay.of(header)
    assert overlay.serialize() == bytes.fromhex(raw)
    assert AddressOverlay.parse(bytes.fromhex(raw)) == (overlay, 16)


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 27, "HeaderSize", 0),
        (4, 4, "AddressLength", 4),
        (5, 255, "AddressLength", 4),
        (6, 5, "AddressType", 6),
        (6, 1, "AddressLength", 4),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(IPV6_RAW)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        ExtendedAddressHeader.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (f"ExtendedAddressHeader.{field}", offset)


@pytest.mark.parametrize(
    ("raw", "field", "offset"),
    [
        ("1000 0200 07000000 fe80000000000000", "UserHeader.AddressType", 2),
        ("0400 0600 07000000 fe80000000000000", "UserHeader.AddressLength", 0),
    ],
)
def test_wrong_values_of_an_overlay_name_field_and_offset(
    raw: str, field: str, offset: int
) -> None:
    with pytest.raises(MalformedPacket) as caught:
        AddressOverlay.parse(bytes.fromhex(raw))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(28))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        ExtendedAddressHeader.parse(IPV6_RAW[:size])
    with pytest.raises(MalformedPacket):
        AddressOverlay.parse(bytes(min(size, 15)))
