"""[MS-DTYP] 2.4.2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.sid import SID, WELL_KNOWN_SIDS

# The SecurityID of frame 7 of [MS-MQQB] 4.1.
FRAME_7 = bytes.fromhex("010500000000000515000000ad4a9ebd36d9fa3d63a656dae8030000")
FRAME_7_TEXT = "S-1-5-21-3181267629-1039849782-3663111779-1000"

sids = st.builds(
    SID,
    st.integers(0, 0xFFFFFFFFFFFF),
    st.lists(st.integers(0, 0xFFFFFFFF), max_size=15).map(tuple),
)


def test_sid_of_the_user_message_example() -> None:
    sid, end = SID.parse(memoryview(FRAME_7))
    assert end == 28
    assert sid == SID(5, (21, 3181267629, 1039849782, 3663111779, 1000))
    assert str(sid) == FRAME_7_TEXT
    assert sid.serialize() == FRAME_7
    assert SID.from_text(FRAME_7_TEXT) == sid


@given(sids)
def test_parse_reverses_serialize(sid: SID) -> None:
    raw = sid.serialize()
    assert SID.parse(memoryview(b"?" + raw), 1) == (sid, 1 + len(raw))


@given(sids)
def test_text_reads_back(sid: SID) -> None:
    assert SID.from_text(str(sid)) == sid
    assert SID.from_text(str(sid).lower()) == sid


def test_an_authority_beyond_32_bits_is_hexadecimal() -> None:
    assert str(SID(0x100000000, (1,))) == "S-1-0x000100000000-1"
    assert str(SID(0xFFFFFFFF, (1,))) == "S-1-4294967295-1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "S-1",
        "S-1-",
        "S-2-5-18",
        "S-1-5-",
        "S-1-05-18",
        "S-1-5-018",
        "S-1-5-18 ",
        "S-1-5--18",
        "S-1-5-4294967296",
        "S-1-4294967296-1",
        "S-1-0x5-1",
        "S-1-5-٣",
        "S-1-5" + "-1" * 16,
        "X S-1-5-18",
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="SID"):
        SID.from_text(text)


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 2, "SID.Revision", 0),
        (1, 16, "SID.SubAuthorityCount", 1),
        (1, 6, "SID.SubAuthority", 8),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(FRAME_7)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        SID.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(28))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SID.parse(memoryview(FRAME_7)[:size])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("S-1-0-0", "NULL"),
        ("S-1-1-0", "EVERYONE"),
        ("S-1-2-0", "LOCAL"),
        ("S-1-3-0", "CREATOR_OWNER"),
        ("S-1-3-1", "CREATOR_GROUP"),
        ("S-1-3-4", "OWNER_RIGHTS"),
        ("S-1-5-2", "NETWORK"),
        ("S-1-5-4", "INTERACTIVE"),
        ("S-1-5-6", "SERVICE"),
        ("S-1-5-7", "ANONYMOUS"),
        ("S-1-5-11", "AUTHENTICATED_USERS"),
        ("S-1-5-18", "LOCAL_SYSTEM"),
        ("S-1-5-19", "LOCAL_SERVICE"),
        ("S-1-5-20", "NETWORK_SERVICE"),
        ("S-1-5-32-544", "BUILTIN_ADMINISTRATORS"),
        ("S-1-5-32-545", "BUILTIN_USERS"),
        ("S-1-5-32-546", "BUILTIN_GUESTS"),
    ],
)
def test_well_known_sids(text: str, name: str) -> None:
    assert WELL_KNOWN_SIDS[SID.from_text(text)] == name


def test_there_are_no_other_well_known_sids() -> None:
    assert len(WELL_KNOWN_SIDS) == 17
