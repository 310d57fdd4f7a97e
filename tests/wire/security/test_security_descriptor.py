"""[MS-DTYP] 2.4.4-2.4.6."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.security_descriptor import (
    Ace,
    AceFlags,
    AceType,
    Acl,
    RawAce,
    SecurityDescriptor,
    SecurityDescriptorControl,
)
from openmsmq.wire.security.sid import BUILTIN_ADMINISTRATORS, EVERYONE, LOCAL_SYSTEM, SID

GUID = UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
GUID_HEX = "0523741f5ebe7741bc77c4dd7719e474"
EVERYONE_HEX = "010100000000000100000000"
ALLOW = Ace(AceType.ACCESS_ALLOWED, 0x0024, EVERYONE)
DENY = Ace(AceType.ACCESS_DENIED, 0x10000000, EVERYONE, AceFlags.INHERITED_ACE)
RAW = bytes.fromhex(
    # Revision, Sbz1, Control (SR, PD, DP), offsets: owner 20, group 36, no SACL, DACL 48
    "01 00 0490 14000000 24000000 00000000 30000000"
    "01020000000000052000000020020000"
    "010100000000000512000000"
    # AclRevision 2, AclSize 48, AceCount 2
    "02 00 3000 0200 0000"
    f"01 10 1400 00000010 {EVERYONE_HEX}"
    f"00 00 1400 24000000 {EVERYONE_HEX}"
)
DESCRIPTOR = SecurityDescriptor(
    BUILTIN_ADMINISTRATORS,
    LOCAL_SYSTEM,
    dacl=Acl((DENY, ALLOW)),
    control=SecurityDescriptorControl.PD,
)

u8 = st.integers(0, 0xFF)
u32 = st.integers(0, 0xFFFFFFFF)
sids = st.builds(SID, st.integers(0, 5), st.lists(u32, max_size=15).map(tuple))
simple = st.builds(
    Ace,
    st.sampled_from([AceType.ACCESS_ALLOWED, AceType.ACCESS_DENIED, AceType.SYSTEM_AUDIT]),
    u32,
    sids,
    u8,
    application_data=st.binary(max_size=9),
)
objects = st.builds(
    Ace,
    st.sampled_from(
        [
            AceType.ACCESS_ALLOWED_OBJECT,
            AceType.ACCESS_DENIED_OBJECT,
            AceType.SYSTEM_AUDIT_OBJECT,
        ]
    ),
    u32,
    sids,
    u8,
    st.none() | st.uuids(),
    st.none() | st.uuids(),
    st.binary(max_size=9),
)
raws = st.builds(
    lambda ace_type, flags, content: RawAce(
        bytes([ace_type, flags]) + (4 + len(content)).to_bytes(2, "little") + content
    ),
    st.sampled_from([3, 4, *range(8, 256)]),
    u8,
    st.binary(min_size=12, max_size=40),
)
acls = st.builds(
    Acl, st.lists(simple | objects | raws, max_size=4).map(tuple), st.sampled_from([2, 4])
)
# SR, SP and DP follow from the rest.
controls = st.integers(0, 0x7FFF).map(lambda bits: bits & ~0x14)


def test_layout() -> None:
    assert SecurityDescriptor.parse(RAW) == (DESCRIPTOR, 96)
    assert DESCRIPTOR.serialize() == RAW


@given(
    st.builds(
        SecurityDescriptor,
        st.none() | sids,
        st.none() | sids,
        st.none() | acls,
        st.none() | acls,
        controls,
        u8,
    )
)
def test_parse_reverses_serialize(descriptor: SecurityDescriptor) -> None:
    raw = descriptor.serialize()
    assert SecurityDescriptor.parse(memoryview(b"?" + raw + b"?"), 1) == (
        descriptor,
        1 + len(raw),
    )


def test_the_parts_may_lie_in_any_order() -> None:
    raw = bytearray(RAW[:20] + RAW[48:] + RAW[20:48])
    raw[4] = 20 + 48
    raw[8] = 36 + 48
    raw[16] = 20
    assert SecurityDescriptor.parse(memoryview(raw)) == (DESCRIPTOR, 96)


def test_a_null_dacl_differs_from_none_and_from_an_empty_one() -> None:
    null = SecurityDescriptor(control=SecurityDescriptorControl.DP)
    none = SecurityDescriptor()
    empty = SecurityDescriptor(dacl=Acl(()))
    assert null.serialize()[2:4].hex() == "0480"
    assert none.serialize()[2:4].hex() == "0080"
    for descriptor in (null, none, empty):
        assert SecurityDescriptor.parse(descriptor.serialize())[0] == descriptor
    assert [found.dacl_present for found in (null, none, empty)] == [True, False, True]


def test_object_ace_layout() -> None:
    both = Ace(AceType.ACCESS_ALLOWED_OBJECT, 0x100, EVERYONE, 2, GUID, UUID(int=0))
    assert both.serialize() == bytes.fromhex(
        f"05 02 3800 00010000 03000000 {GUID_HEX} {'00' * 16} {EVERYONE_HEX}"
    )
    second = Ace(AceType.ACCESS_DENIED_OBJECT, 0x100, EVERYONE, 0, None, GUID)
    assert second.serialize() == bytes.fromhex(
        f"06 00 2800 00010000 02000000 {GUID_HEX} {EVERYONE_HEX}"
    )
    for ace in (both, second):
        assert Ace.parse(ace.serialize()) == (ace, len(ace.serialize()))


def test_an_unknown_ace_is_kept_as_it_is() -> None:
    raw = bytes.fromhex("11 00 1400 01000000") + SID(16, (8192,)).serialize()
    acl = Acl((RawAce(raw), ALLOW))
    assert Acl.parse(acl.serialize()) == (acl, 48)
    assert acl.aces[0].ace_type == 0x11


def test_an_acl_may_be_larger_than_its_entries() -> None:
    raw = bytearray(Acl((ALLOW,)).serialize() + b"free")
    raw[2] += 4
    assert Acl.parse(memoryview(raw)) == (Acl((ALLOW,)), 32)


def test_the_number_of_entries_has_a_limit() -> None:
    assert len(Acl.parse(Acl((ALLOW,) * 256).serialize())[0].aces) == 256
    with pytest.raises(MalformedPacket, match="257 is more than 256"):
        Acl.parse(Acl((ALLOW,) * 257).serialize())


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 2, "SECURITY_DESCRIPTOR.Revision", 0),
        (3, 0x10, "SECURITY_DESCRIPTOR.Control", 2),
        (2, 0x00, "SECURITY_DESCRIPTOR.OffsetDacl", 16),
        (12, 48, "SECURITY_DESCRIPTOR.OffsetSacl", 12),
        (4, 19, "SECURITY_DESCRIPTOR.OffsetOwner", 4),
        (8, 1, "SECURITY_DESCRIPTOR.OffsetGroup", 8),
        (4, 96, "SID", 96),
        (7, 255, "SID", 0xFF000014),
        (16, 90, "ACL", 90),
        (48, 3, "ACL.AclRevision", 48),
        (50, 7, "ACL.AclSize", 50),
        (50, 49, "ACL.AclSize", 48),
        (51, 255, "ACL.AclSize", 48),
        (52, 3, "ACL.AceCount", 52),
        (58, 37, "ACE_HEADER", 93),
        (53, 255, "ACL.AceCount", 52),
        (58, 15, "ACE_HEADER.AceSize", 58),
        (58, 16, "SID.SubAuthority", 72),
        (78, 21, "ACE_HEADER.AceSize", 76),
        (56, 5, "ACE.ObjectType", 68),
        (64, 2, "SID.Revision", 64),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(RAW)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        SecurityDescriptor.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize(
    ("flags", "size", "field"),
    [(1, 15, "ObjectType"), (2, 15, "InheritedObjectType"), (3, 31, "InheritedObjectType")],
)
def test_an_object_ace_too_short_for_its_guids_is_malformed(
    flags: int, size: int, field: str
) -> None:
    raw = bytes.fromhex("05 00 1400 00010000") + flags.to_bytes(4, "little") + bytes(size)
    with pytest.raises(MalformedPacket) as caught:
        Ace.parse(raw)
    assert caught.value.field == f"ACE.{field}"


@pytest.mark.parametrize("size", range(12))
def test_a_short_object_ace_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        Ace.parse(bytes.fromhex("05 00 1400 00010000 00000000")[:size])


@pytest.mark.parametrize("size", range(96))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SecurityDescriptor.parse(RAW[:size])
