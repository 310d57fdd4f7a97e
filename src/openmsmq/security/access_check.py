"""Who may do what: the access check of Windows over a security descriptor ([MS-DTYP] 2.5.3.2)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.security.security_descriptor import Ace, AceFlags, AceType, SecurityDescriptor
from openmsmq.wire.security.sid import OWNER_RIGHTS

from .caller import Caller

GENERIC_READ: Final = 0x80000000
GENERIC_WRITE: Final = 0x40000000
GENERIC_EXECUTE: Final = 0x20000000
GENERIC_ALL: Final = 0x10000000
GENERIC_RIGHTS: Final = GENERIC_READ | GENERIC_WRITE | GENERIC_EXECUTE | GENERIC_ALL

# The rights that mean the same on every kind of object.
DELETE: Final = 0x00010000
READ_CONTROL: Final = 0x00020000
WRITE_DAC: Final = 0x00040000
WRITE_OWNER: Final = 0x00080000

ALLOWS: Final = frozenset((AceType.ACCESS_ALLOWED, AceType.ACCESS_ALLOWED_OBJECT))
DENIES: Final = frozenset((AceType.ACCESS_DENIED, AceType.ACCESS_DENIED_OBJECT))

OWNER_ALWAYS: Final = READ_CONTROL | WRITE_DAC
# Choice: an administrator can always repair or remove an object, but reads the messages of others
# only after granting itself the right, as on Windows after taking ownership.
ADMINISTRATOR_ALWAYS: Final = DELETE | READ_CONTROL | WRITE_DAC | WRITE_OWNER


@dataclass(frozen=True, slots=True)
class GenericMapping:
    """What the generic rights mean on one kind of object; `all_rights` is every right it has."""

    read: int
    write: int
    all_rights: int

    def map(self, mask: int) -> int:
        """The mask with its generic rights replaced by those of the object."""
        mapped = int(mask) & ~GENERIC_RIGHTS
        if mask & GENERIC_READ:
            mapped |= self.read
        if mask & GENERIC_WRITE:
            mapped |= self.write
        if mask & GENERIC_ALL:
            mapped |= self.all_rights
        return mapped


# As plain numbers: the complement of an IntFlag would leave out the bits without a name.
QUEUE_MAPPING: Final = GenericMapping(
    int(QueueRight.QUEUE_GENERIC_READ),
    int(QueueRight.QUEUE_GENERIC_WRITE),
    int(QueueRight.QUEUE_GENERIC_ALL),
)
MACHINE_MAPPING: Final = GenericMapping(
    int(MachineRight.MACHINE_GENERIC_READ),
    int(MachineRight.MACHINE_GENERIC_WRITE),
    int(MachineRight.MACHINE_GENERIC_ALL),
)


@lru_cache(maxsize=1024)
def parse_descriptor(security: bytes) -> SecurityDescriptor:
    """A descriptor in self-relative form as a value; the same bytes are parsed once.

    Raises:
        MalformedPacket: the bytes are no security descriptor.
    """
    return SecurityDescriptor.parse(memoryview(security))[0]


@lru_cache(maxsize=1024)
def missing_in(security: bytes, caller: Caller, desired: int, mapping: GenericMapping) -> int:
    """The desired rights that a descriptor in self-relative form does not give to the caller.

    Many queues have the same descriptor, and a client opens many queues: each answer is found out
    once. The caller is part of the question, so that no answer is ever out of date.

    Raises:
        MalformedPacket: the bytes are no security descriptor.
    """
    return missing_rights(parse_descriptor(security), caller, desired, mapping)


def access_check(
    descriptor: SecurityDescriptor, caller: Caller, desired: int, mapping: GenericMapping
) -> bool:
    """Whether the caller has all desired rights."""
    return not missing_rights(descriptor, caller, desired, mapping)


def applies(ace: Ace) -> bool:
    """Whether an entry speaks of the object itself, not of its children or properties."""
    return (
        ace.ace_type in ALLOWS | DENIES
        and ace.object_type is None
        and not ace.ace_flags & AceFlags.INHERIT_ONLY_ACE
    )


def missing_rights(
    descriptor: SecurityDescriptor, caller: Caller, desired: int, mapping: GenericMapping
) -> int:
    """The desired rights that the caller does not have.

    The entries are taken in their order: for each right the first entry that names it decides.
    """
    # Without a list nothing is protected; an empty list grants nothing.
    if caller.is_system or descriptor.dacl is None:
        return 0
    remaining = mapping.map(desired)
    if caller.is_local_admin:
        remaining &= ~ADMINISTRATOR_ALWAYS
    entries = [ace for ace in descriptor.dacl.aces if isinstance(ace, Ace) and applies(ace)]
    owns = descriptor.owner is not None and caller.has(descriptor.owner)
    if owns and all(ace.sid != OWNER_RIGHTS for ace in entries):
        remaining &= ~OWNER_ALWAYS
    denied = 0
    for ace in entries:
        if not (caller.has(ace.sid) or (owns and ace.sid == OWNER_RIGHTS)):
            continue
        mask = mapping.map(ace.mask) & remaining
        if ace.ace_type in DENIES:
            denied |= mask
        remaining &= ~mask
    return remaining | denied
