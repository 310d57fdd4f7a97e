"""[MS-MQQB] 2.2.7."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.ping import Ping, PingFlags

GUID = UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
RAW = bytes.fromhex("0100 4855 04000000 0523741f5ebe7741bc77c4dd7719e474")
PACKET = Ping(PingFlags.RC, 4, GUID)


@pytest.mark.spec("MQQB-2.2-01", "MQQB-2.2.7-01")
def test_layout() -> None:
    assert PACKET.serialize() == RAW
    assert Ping.parse(RAW) == (PACKET, 24)


@given(
    st.integers(0, 3).map(PingFlags),
    st.integers(0, 0xFFFFFFFF),
    st.uuids(),
)
def test_parse_reverses_serialize(flags: PingFlags, cookie: int, qm_guid: UUID) -> None:
    packet = Ping(flags, cookie, qm_guid)
    assert Ping.parse(memoryview(b"?" + packet.serialize()), 1) == (packet, 25)


@pytest.mark.parametrize(("low", "flags"), [(1, PingFlags.RC), (2, PingFlags.RF)])
def test_flags_are_the_two_lowest_bits(low: int, flags: PingFlags) -> None:
    assert Ping.parse(bytes([low]) + RAW[1:])[0].flags == flags


@pytest.mark.spec("MQQB-2.2.7-06", "MQQB-2.2.7-07")
@pytest.mark.parametrize(("raw", "flags"), [("017d", PingFlags.RC), ("fcff", PingFlags(0))])
def test_the_other_flag_bits_are_ignored(raw: str, flags: PingFlags) -> None:
    assert Ping.parse(bytes.fromhex(raw) + RAW[2:])[0].flags == flags


def test_another_signature_is_malformed() -> None:
    with pytest.raises(MalformedPacket) as caught:
        Ping.parse(RAW[:2] + b"\x49\x55" + RAW[4:])
    assert (caught.value.field, caught.value.offset) == ("Ping.Signature", 2)


@pytest.mark.parametrize("size", range(24))
def test_a_short_datagram_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match=f"needs 24 bytes, {size} remain"):
        Ping.parse(RAW[:size])
