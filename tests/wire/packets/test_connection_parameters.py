"""[MS-MQQB] 2.2.2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.connection_parameters import ConnectionParameters

# Frame 5 of [MS-MQQB] 4.1 without the reserved byte of its BaseHeader.
RAW = bytes.fromhex("10000b004c494f5220000000ffffffff 00000300 d8050000 c0d40100 0000 4000")
PACKET = ConnectionParameters(1496, 120000, 64)

packets = st.builds(
    ConnectionParameters,
    st.integers(500, 120000),
    st.integers(20000, 120000),
    st.integers(0, 0xFFFF),
    st.booleans(),
)


@pytest.mark.spec("MQQB-2.2.2-01", "MQQB-2.2.2-02")
def test_layout() -> None:
    assert PACKET.serialize() == RAW
    assert ConnectionParameters.parse(RAW) == (PACKET, 32)


@pytest.mark.spec("MQQB-2.2.2.1-03", "MQQB-2.2.2.1-04")
@given(packets)
def test_parse_reverses_serialize(packet: ConnectionParameters) -> None:
    raw = packet.serialize()
    assert ConnectionParameters.parse(memoryview(b"?" + raw), 1) == (packet, 33)
    assert raw[28:30] == b"\0\0"
    assert int.from_bytes(raw[30:32], "little") == packet.window_size


@pytest.mark.spec("MQQB-2.2.2.1-03")
def test_reserved_is_ignored() -> None:
    assert ConnectionParameters.parse(RAW[:28] + b"\xff\xff" + RAW[30:]) == (PACKET, 32)


@pytest.mark.parametrize(
    ("position", "value", "field"),
    [
        pytest.param(20, 499, "RecoverableAckTimeout", marks=pytest.mark.spec("MQQB-2.2.2.1-01")),
        pytest.param(
            20, 120001, "RecoverableAckTimeout", marks=pytest.mark.spec("MQQB-2.2.2.1-01")
        ),
        pytest.param(24, 19999, "AckTimeout", marks=pytest.mark.spec("MQQB-2.2.2.1-02")),
        pytest.param(24, 120001, "AckTimeout", marks=pytest.mark.spec("MQQB-2.2.2.1-02")),
    ],
)
def test_timeouts_outside_their_range_are_malformed(position: int, value: int, field: str) -> None:
    damaged = bytearray(RAW)
    damaged[position : position + 4] = value.to_bytes(4, "little")
    with pytest.raises(MalformedPacket) as caught:
        ConnectionParameters.parse(memoryview(damaged))
    assert caught.value.field == f"ConnectionParametersHeader.{field}"
    assert caught.value.offset == position


@pytest.mark.spec("MQQB-2.2.2.1-01", "MQQB-2.2.2.1-02")
@pytest.mark.parametrize(("recoverable", "other"), [(500, 20000), (120000, 120000)])
def test_the_ends_of_the_ranges_are_inside(recoverable: int, other: int) -> None:
    packet = ConnectionParameters(recoverable, other, 0)
    assert ConnectionParameters.parse(packet.serialize())[0] == packet


@pytest.mark.spec("MQQB-2.2.2-01", "MQQB-2.2.2-02")
@pytest.mark.parametrize(
    ("position", "value", "field"),
    [
        (2, 0x03, "BaseHeader.Flags"),
        (8, 0x1F, "BaseHeader.PacketSize"),
        (18, 0x02, "InternalHeader.Flags.PT"),
    ],
)
def test_other_packets_are_malformed(position: int, value: int, field: str) -> None:
    damaged = bytearray(RAW)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        ConnectionParameters.parse(memoryview(damaged))
    assert caught.value.field == field


@pytest.mark.parametrize("size", range(32))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        ConnectionParameters.parse(RAW[:size])
