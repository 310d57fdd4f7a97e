"""[MS-MQQB] 2.2.6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader

RAW = bytes.fromhex(
    "10001b004c494f5224000000ffffffff 00000100 0102 0304 05060708 090a 0b0c 0d0e 0000"
)
PACKET = SessionAck(SessionHeader(0x0201, 0x0403, 0x08070605, 0x0A09, 0x0C0B, 0x0E0D))

u16 = st.integers(0, 0xFFFF)


@pytest.mark.spec("MQQB-2.2.6-01", "MQQB-2.2.6-02", "MQQB-2.2.6-03")
def test_layout() -> None:
    assert PACKET.serialize() == RAW
    assert SessionAck.parse(RAW) == (PACKET, 36)


@given(st.builds(SessionHeader, u16, u16, st.integers(0, 0xFFFFFFFF), u16, u16, u16, u16))
def test_parse_reverses_serialize(header: SessionHeader) -> None:
    packet = SessionAck(header)
    assert SessionAck.parse(memoryview(b"?" + packet.serialize()), 1) == (packet, 37)


@pytest.mark.spec("MQQB-2.2.6-01", "MQQB-2.2.6-02")
@pytest.mark.parametrize(
    ("position", "value", "field"),
    [
        (2, 0x0B, "BaseHeader.Flags"),
        (2, 0x13, "BaseHeader.Flags"),
        (8, 0x14, "BaseHeader.PacketSize"),
        (18, 0x02, "InternalHeader.Flags.PT"),
    ],
)
def test_other_packets_are_malformed(position: int, value: int, field: str) -> None:
    damaged = bytearray(RAW)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        SessionAck.parse(memoryview(damaged))
    assert caught.value.field == field


@pytest.mark.spec("MQQB-2.2.1-04")
def test_a_session_ack_never_refuses() -> None:
    assert PACKET.serialize()[18] & 0x10 == 0


@pytest.mark.parametrize("size", range(36))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SessionAck.parse(RAW[:size])
