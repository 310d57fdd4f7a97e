"""Security descriptors in self-relative form ([MS-DTYP] 2.4.4-2.4.6)."""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import GUID_SIZE, guid

from .sid import SID

ACE_HEADER: Final = Struct("<BBH")
ACE_HEADER_SIZE: Final = 4
U32: Final = Struct("<I")
U32_SIZE: Final = 4
ACL: Final = Struct("<BBHHH")
ACL_SIZE: Final = 8
ACL_REVISION: Final = 2
ACL_REVISION_DS: Final = 4
SECURITY_DESCRIPTOR: Final = Struct("<BBHIIII")
SECURITY_DESCRIPTOR_SIZE: Final = 20
SECURITY_DESCRIPTOR_REVISION: Final = 1
# Header, mask and the shortest SID.
MIN_ACE_SIZE: Final = 16
# Flags of an object ACE: which of its GUIDs are present.
OBJECT_TYPE_PRESENT: Final = 0x1
INHERITED_OBJECT_TYPE_PRESENT: Final = 0x2
# Choice: a limit of our own, below the 4096 that fit, so that a descriptor costs little.
MAX_ACE_COUNT: Final = 256


class AceType(IntEnum):
    """ACE_HEADER.AceType of the entries that are decoded here; others are kept as bytes."""

    ACCESS_ALLOWED = 0x00
    ACCESS_DENIED = 0x01
    SYSTEM_AUDIT = 0x02
    ACCESS_ALLOWED_OBJECT = 0x05
    ACCESS_DENIED_OBJECT = 0x06
    SYSTEM_AUDIT_OBJECT = 0x07


KNOWN_ACE_TYPES: Final = frozenset(map(int, AceType))
OBJECT_ACE_TYPES: Final = frozenset({0x05, 0x06, 0x07})


class AceFlags(IntFlag):
    """ACE_HEADER.AceFlags."""

    OBJECT_INHERIT_ACE = 0x01
    CONTAINER_INHERIT_ACE = 0x02
    NO_PROPAGATE_INHERIT_ACE = 0x04
    INHERIT_ONLY_ACE = 0x08
    INHERITED_ACE = 0x10
    SUCCESSFUL_ACCESS_ACE_FLAG = 0x40
    FAILED_ACCESS_ACE_FLAG = 0x80


class SecurityDescriptorControl(IntFlag):
    """SECURITY_DESCRIPTOR.Control."""

    OD = 0x0001
    GD = 0x0002
    DP = 0x0004
    DD = 0x0008
    SP = 0x0010
    SD = 0x0020
    DT = 0x0040
    SS = 0x0080
    DC = 0x0100
    SC = 0x0200
    DI = 0x0400
    SI = 0x0800
    PD = 0x1000
    PS = 0x2000
    RM = 0x4000
    SR = 0x8000


# Plain numbers: an enum keeps every combination of flags that it has ever made.
SR: Final = int(SecurityDescriptorControl.SR)
SP: Final = int(SecurityDescriptorControl.SP)
DP: Final = int(SecurityDescriptorControl.DP)
OFFSET_NAMES: Final = ("OffsetOwner", "OffsetGroup", "OffsetSacl", "OffsetDacl")


@dataclass(frozen=True, slots=True)
class Ace:
    """An entry for one SID: allow, deny or audit the rights in `mask`.

    The GUIDs belong to object ACEs. `application_data` is what follows the SID.
    """

    ace_type: AceType
    mask: int
    sid: SID
    ace_flags: int = 0
    object_type: UUID | None = None
    inherited_object_type: UUID | None = None
    application_data: bytes = b""

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read an entry of a known type, whose end is the end of `buf`."""
        start = require(buf, offset, ACE_HEADER_SIZE, "ACE_HEADER")
        ace_type, ace_flags, _ = ACE_HEADER.unpack_from(buf, offset)
        position = require(buf, start, U32_SIZE, "ACE.Mask")
        (mask,) = U32.unpack_from(buf, start)
        object_type = inherited_object_type = None
        if ace_type in OBJECT_ACE_TYPES:
            object_type, inherited_object_type, position = _parse_object_types(buf, position)
        sid, end = SID.parse(buf, position)
        ace = cls(
            AceType(ace_type),
            mask,
            sid,
            ace_flags,
            object_type,
            inherited_object_type,
            bytes(buf[end:]),
        )
        return ace, len(buf)

    def serialize(self) -> bytes:
        content = U32.pack(self.mask)
        if self.ace_type in OBJECT_ACE_TYPES:
            content += _serialize_object_types(self.object_type, self.inherited_object_type)
        content += self.sid.serialize() + self.application_data
        size = ACE_HEADER_SIZE + len(content)
        return ACE_HEADER.pack(self.ace_type, self.ace_flags, size) + content


@dataclass(frozen=True, slots=True)
class RawAce:
    """An entry of a type that means nothing to a queue manager, kept as it is."""

    raw: bytes

    @property
    def ace_type(self) -> int:
        return self.raw[0]

    def serialize(self) -> bytes:
        return self.raw


@dataclass(frozen=True, slots=True)
class Acl:
    """An access control list; the order of the entries counts."""

    aces: tuple[Ace | RawAce, ...]
    acl_revision: int = ACL_REVISION

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        position = require(buf, offset, ACL_SIZE, "ACL")
        acl_revision, _, acl_size, ace_count, _ = ACL.unpack_from(buf, offset)
        if acl_revision not in (ACL_REVISION, ACL_REVISION_DS):
            raise MalformedPacket("ACL.AclRevision", offset, f"{acl_revision} is not 2 or 4")
        if acl_size < ACL_SIZE:
            raise MalformedPacket("ACL.AclSize", offset + 2, f"{acl_size} is less than 8")
        end = require(buf, offset, acl_size, "ACL.AclSize")
        if ace_count > min(MAX_ACE_COUNT, (acl_size - ACL_SIZE) // MIN_ACE_SIZE):
            raise MalformedPacket(
                "ACL.AceCount",
                offset + 4,
                f"{ace_count} is more than {MAX_ACE_COUNT} or than {acl_size} bytes hold",
            )
        window = memoryview(buf)[:end]
        aces = []
        for _ in range(ace_count):
            ace, position = _parse_ace(window, position)
            aces.append(ace)
        return cls(tuple(aces), acl_revision), end

    def serialize(self) -> bytes:
        aces = b"".join(ace.serialize() for ace in self.aces)
        return ACL.pack(self.acl_revision, 0, ACL_SIZE + len(aces), len(self.aces), 0) + aces


@dataclass(frozen=True, slots=True)
class SecurityDescriptor:
    """Owner, group and lists of an object.

    `control` is kept without SR, and without SP and DP for lists that are here. With DP in
    `control` the DACL is present but null, which lets everybody in.
    """

    owner: SID | None = None
    group: SID | None = None
    sacl: Acl | None = None
    dacl: Acl | None = None
    control: int = 0
    sbz1: int = 0

    @property
    def dacl_present(self) -> bool:
        return self.dacl is not None or self.control & DP != 0

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, SECURITY_DESCRIPTOR_SIZE, "SECURITY_DESCRIPTOR")
        revision, sbz1, control, *offsets = SECURITY_DESCRIPTOR.unpack_from(buf, offset)
        if revision != SECURITY_DESCRIPTOR_REVISION:
            raise MalformedPacket("SECURITY_DESCRIPTOR.Revision", offset, f"is {revision}, not 1")
        if not control & SR:
            raise MalformedPacket("SECURITY_DESCRIPTOR.Control", offset + 2, "SR is clear")
        _check_offsets(offsets, control, offset)
        # The offsets count from the start of the descriptor; the parts may lie in any order.
        owner_offset, group_offset, sacl_offset, dacl_offset = offsets
        ends = [end]
        owner = group = sacl = dacl = None
        if owner_offset:
            owner, end = SID.parse(buf, offset + owner_offset)
            ends.append(end)
        if group_offset:
            group, end = SID.parse(buf, offset + group_offset)
            ends.append(end)
        if sacl_offset:
            sacl, end = Acl.parse(buf, offset + sacl_offset)
            ends.append(end)
        if dacl_offset:
            dacl, end = Acl.parse(buf, offset + dacl_offset)
            ends.append(end)
        control &= ~_derived_control(sacl, dacl)
        return cls(owner, group, sacl, dacl, control, sbz1), max(ends)

    def serialize(self) -> bytes:
        offsets = []
        content = b""
        for part in (self.owner, self.group, self.sacl, self.dacl):
            offsets.append(0 if part is None else SECURITY_DESCRIPTOR_SIZE + len(content))
            content += b"" if part is None else part.serialize()
        control = self.control | _derived_control(self.sacl, self.dacl)
        return (
            SECURITY_DESCRIPTOR.pack(SECURITY_DESCRIPTOR_REVISION, self.sbz1, control, *offsets)
            + content
        )


def _derived_control(sacl: Acl | None, dacl: Acl | None) -> int:
    """The bits of Control that follow from the form and from the lists that are there."""
    return SR | (0 if sacl is None else SP) | (0 if dacl is None else DP)


def _check_offsets(offsets: list[int], control: int, offset: int) -> None:
    for index, value in enumerate(offsets):
        if 0 < value < SECURITY_DESCRIPTOR_SIZE:
            raise MalformedPacket(
                f"SECURITY_DESCRIPTOR.{OFFSET_NAMES[index]}",
                offset + 4 + 4 * index,
                f"{value} is inside the fixed part",
            )
    for index, name, flag in ((2, "SP", SP), (3, "DP", DP)):
        if offsets[index] and not control & flag:
            raise MalformedPacket(
                f"SECURITY_DESCRIPTOR.{OFFSET_NAMES[index]}",
                offset + 4 + 4 * index,
                f"there is a list, but {name} is clear",
            )


def _parse_ace(buf: memoryview, offset: int) -> tuple[Ace | RawAce, int]:
    require(buf, offset, ACE_HEADER_SIZE, "ACE_HEADER")
    ace_type, _, ace_size = ACE_HEADER.unpack_from(buf, offset)
    if ace_size < MIN_ACE_SIZE:
        raise MalformedPacket("ACE_HEADER.AceSize", offset + 2, f"{ace_size} is less than 16")
    end = require(buf, offset, ace_size, "ACE_HEADER.AceSize")
    if ace_type in KNOWN_ACE_TYPES:
        return Ace.parse(buf[:end], offset)
    return RawAce(bytes(buf[offset:end])), end


def _parse_object_types(
    buf: bytes | memoryview, offset: int
) -> tuple[UUID | None, UUID | None, int]:
    end = require(buf, offset, U32_SIZE, "ACE.Flags")
    (flags,) = U32.unpack_from(buf, offset)
    object_type = inherited = None
    if flags & OBJECT_TYPE_PRESENT:
        start, end = end, require(buf, end, GUID_SIZE, "ACE.ObjectType")
        object_type = guid(bytes(buf[start:end]))
    if flags & INHERITED_OBJECT_TYPE_PRESENT:
        start, end = end, require(buf, end, GUID_SIZE, "ACE.InheritedObjectType")
        inherited = guid(bytes(buf[start:end]))
    return object_type, inherited, end


def _serialize_object_types(object_type: UUID | None, inherited: UUID | None) -> bytes:
    flags = 0
    content = b""
    if object_type is not None:
        flags |= OBJECT_TYPE_PRESENT
        content += object_type.bytes_le
    if inherited is not None:
        flags |= INHERITED_OBJECT_TYPE_PRESENT
        content += inherited.bytes_le
    return U32.pack(flags) + content
