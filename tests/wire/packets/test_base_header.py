"""[MS-MQMQ] 2.2.19.1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE, BaseHeader, BaseHeaderFlags

# The BaseHeader of frame 8 of [MS-MQQB] 4.1.
FRAME_8 = bytes.fromhex("10001b004c494f5224000000ffffffff")


def test_base_header_of_the_session_ack_example() -> None:
    header, end = BaseHeader.parse(memoryview(FRAME_8))
    assert end == 16
    assert header.flags == 3 | BaseHeaderFlags.IN | BaseHeaderFlags.SH
    assert header.priority == 3
    assert header.packet_size == 36
    assert header.serialize() == FRAME_8


@given(
    st.integers(0, 0xFFFF),
    st.integers(16, MAX_PACKET_SIZE),
    st.integers(0, 0xFFFFFFFF),
    st.integers(0, 0xFF),
)
def test_parse_reverses_serialize(flags: int, size: int, life: int, reserved: int) -> None:
    header = BaseHeader(flags, size, life, reserved)
    assert BaseHeader.parse(memoryview(header.serialize())) == (header, 16)


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 0x11, "BaseHeader.VersionNumber", 0),
        (4, 0x4D, "BaseHeader.Signature", 4),
        (8, 0x0F, "BaseHeader.PacketSize", 8),
        (11, 0x01, "BaseHeader.PacketSize", 8),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(FRAME_8)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        BaseHeader.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(16))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match=f"needs 16 bytes, {size} remain"):
        BaseHeader.parse(memoryview(FRAME_8)[:size])
