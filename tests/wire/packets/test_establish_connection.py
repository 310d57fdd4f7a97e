"""[MS-MQQB] 2.2.3."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags

CLIENT = UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
SERVER = UUID("3c3a6aeb-f567-4143-87d3-85cf4d68ceb4")
PACKET = EstablishConnection(
    CLIENT, SERVER, 501140046, OperatingSystemFlags.SE | OperatingSystemFlags.OS
)
# Frame 4 of [MS-MQQB] 4.1 without the reserved byte of its BaseHeader.
RAW = bytes.fromhex(
    "10000b004c494f523c020000ffffffff 00000200 0523741f5ebe7741bc77c4dd7719e474"
    "eb6a3a3c67f5434187d385cf4d68ceb4 4ecade1d 1003 0000" + 512 * "5a"
)

packets = st.builds(
    EstablishConnection,
    st.uuids(),
    st.uuids(),
    st.integers(0, 0xFFFFFFFF),
    st.integers(0, 7).map(lambda bits: OperatingSystemFlags(bits << 8)),
    st.booleans(),
)


@pytest.mark.spec("MQQB-2.2.3-01", "MQQB-2.2.3-02", "MQQB-2.2.3.1-16")
def test_layout() -> None:
    assert PACKET.serialize() == RAW
    assert len(RAW) == 572
    assert EstablishConnection.parse(RAW) == (PACKET, 572)


@pytest.mark.spec("MQQB-2.2.3.1-07", "MQQB-2.2.3.1-13", "MQQB-2.2.3.1-15")
@given(packets)
def test_parse_reverses_serialize(packet: EstablishConnection) -> None:
    raw = packet.serialize()
    assert EstablishConnection.parse(memoryview(b"?" + raw), 1) == (packet, 573)
    assert raw[56] == 0x10
    assert raw[57] & 0xF8 == 0
    assert raw[58:60] == b"\0\0"


@pytest.mark.spec("MQQB-2.2.3-02")
def test_refused_is_in_the_internal_header() -> None:
    packet = EstablishConnection(
        CLIENT, SERVER, 0, OperatingSystemFlags.SE, connection_refused=True
    )
    assert packet.serialize()[16:20].hex() == "00001200"


@pytest.mark.spec("MQQB-2.2.3.1-17")
@given(st.binary(min_size=512, max_size=512))
def test_padding_is_ignored(padding: bytes) -> None:
    assert EstablishConnection.parse(RAW[:60] + padding) == (PACKET, 572)


@pytest.mark.spec("MQQB-2.2.3.1-14", "MQQB-2.2.3.1-15")
def test_reserved_bits_are_ignored() -> None:
    raw = RAW[:57] + b"\xfb\xff\xff" + RAW[60:]
    assert EstablishConnection.parse(raw) == (PACKET, 572)


@pytest.mark.parametrize(
    ("bit", "flag"),
    [
        (0x01, OperatingSystemFlags.SE),
        (0x02, OperatingSystemFlags.OS),
        (0x04, OperatingSystemFlags.QS),
    ],
)
def test_operating_system_bits(bit: int, flag: OperatingSystemFlags) -> None:
    raw = RAW[:57] + bytes([bit]) + RAW[58:]
    assert EstablishConnection.parse(raw)[0].operating_system == flag


@pytest.mark.spec("MQQB-2.2.3.1-07")
def test_another_low_byte_of_the_operating_system_is_malformed() -> None:
    with pytest.raises(MalformedPacket) as caught:
        EstablishConnection.parse(RAW[:56] + b"\x03" + RAW[57:])
    assert caught.value.field == "EstablishConnectionHeader.OperatingSystem.RE"
    assert caught.value.offset == 56


@pytest.mark.spec("MQQB-2.2.3-01", "MQQB-2.2.3-02")
@pytest.mark.parametrize(
    ("position", "value", "field"),
    [
        (2, 0x03, "BaseHeader.Flags"),
        (8, 0x3B, "BaseHeader.PacketSize"),
        (18, 0x03, "InternalHeader.Flags.PT"),
    ],
)
def test_other_packets_are_malformed(position: int, value: int, field: str) -> None:
    damaged = bytearray(RAW)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        EstablishConnection.parse(memoryview(damaged))
    assert caught.value.field == field


@pytest.mark.parametrize("size", [0, 15, 16, 20, 59, 60, 571])
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        EstablishConnection.parse(RAW[:size])
