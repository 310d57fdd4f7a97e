"""[MS-MQQB] 2.2.1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.internal_header import (
    InternalHeader,
    InternalPacketType,
    parse_internal_packet,
    serialize_internal_packet,
)

PACKET = bytes.fromhex("10000b004c494f5218000000ffffffff 00000300 61626364")


@pytest.mark.spec("MQQB-2.2.1-01", "MQQB-2.2.1-02")
@pytest.mark.parametrize(
    ("raw", "packet_type"),
    [
        ("00000100", InternalPacketType.SESSION_ACK),
        ("00000200", InternalPacketType.ESTABLISH_CONNECTION),
        ("00000300", InternalPacketType.CONNECTION_PARAMETERS),
    ],
)
def test_layout(raw: str, packet_type: InternalPacketType) -> None:
    header = InternalHeader(packet_type)
    assert InternalHeader.parse(bytes.fromhex(raw)) == (header, 4)
    assert header.serialize().hex() == raw


@pytest.mark.spec("MQQB-2.2.1-04")
def test_refused_is_bit_4() -> None:
    header = InternalHeader(InternalPacketType.ESTABLISH_CONNECTION, connection_refused=True)
    assert header.serialize().hex() == "00001200"
    assert InternalHeader.parse(header.serialize()) == (header, 4)


@pytest.mark.spec("MQQB-2.2.1-07")
@given(st.builds(InternalHeader, st.sampled_from(InternalPacketType), st.booleans()))
def test_parse_reverses_serialize(header: InternalHeader) -> None:
    assert InternalHeader.parse(b"?" + header.serialize(), 1) == (header, 5)
    assert int.from_bytes(header.serialize(), "little") & 0xFFE0FFFF == 0


@pytest.mark.spec("MQQB-2.2.1-01", "MQQB-2.2.1-08")
@given(st.binary(min_size=2, max_size=2), st.integers(0, 0x7FF))
def test_reserved_and_bits_5_to_15_are_ignored(reserved: bytes, bits: int) -> None:
    raw = reserved + (bits << 5 | 0x0003).to_bytes(2, "little")
    header = InternalHeader(InternalPacketType.CONNECTION_PARAMETERS)
    assert InternalHeader.parse(raw) == (header, 4)


@pytest.mark.spec("MQQB-2.2.1-02")
@pytest.mark.parametrize("packet_type", [0, *range(4, 16)])
def test_other_packet_types_are_malformed(packet_type: int) -> None:
    with pytest.raises(MalformedPacket) as caught:
        InternalHeader.parse(bytes([0, 0, packet_type, 0]))
    assert (caught.value.field, caught.value.offset) == ("InternalHeader.Flags.PT", 2)


@pytest.mark.parametrize("size", range(4))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match=f"needs 4 bytes, {size} remain"):
        InternalHeader.parse(bytes(size))


@pytest.mark.spec("MQQB-2.2-04")
def test_an_internal_packet_is_never_out_of_time() -> None:
    header = InternalHeader(InternalPacketType.CONNECTION_PARAMETERS)
    packet = serialize_internal_packet(header, b"abcd")
    assert packet == PACKET
    assert packet[12:16] == b"\xff\xff\xff\xff"


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (2, 0x03, "BaseHeader.Flags", 3),
        (8, 0x19, "BaseHeader.PacketSize", 9),
        (8, 0x17, "BaseHeader.PacketSize", 9),
        (18, 0x02, "InternalHeader.Flags.PT", 19),
    ],
)
def test_wrong_values_of_a_packet_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(b"?" + PACKET)
    damaged[1 + position] = value
    with pytest.raises(MalformedPacket) as caught:
        parse_internal_packet(memoryview(damaged), 1, InternalPacketType.CONNECTION_PARAMETERS, 24)
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(len(PACKET)))
def test_a_short_packet_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        parse_internal_packet(PACKET[:size], 0, InternalPacketType.CONNECTION_PARAMETERS, 24)
