"""Permissions in definitions: words, masks and security descriptors."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from openmsmq.security import permissions
from openmsmq.security.access_check import DENIES, applies, parse_descriptor
from openmsmq.security.principals import Accounts, describe_principal, parse_principal
from openmsmq.wire.definitions.model import PermissionDefinition
from openmsmq.wire.security.security_descriptor import Ace, Acl, SecurityDescriptor
from openmsmq.wire.security.sid import SID

from .faults import at, refusal


class Masks(NamedTuple):
    """The rights of one principal."""

    allow: int = 0
    deny: int = 0


Entries = dict[SID, Masks]


def parse_entries(
    definitions: Iterable[PermissionDefinition],
    place: str,
    *,
    accounts: Accounts,
    rights: Callable[[Iterable[str]], int],
) -> Entries:
    """The rights that a definition grants and denies.

    Raises:
        QueueError: a word is invalid, or two entries contradict each other; the text names the
        place.
    """
    entries: Entries = {}
    for number, definition in enumerate(definitions):
        where = f"{place}[{number}]"
        with at(f"{where}.principal"):
            sid = parse_principal(definition.principal, accounts)
        if sid in entries:
            raise refusal(f"{where}.principal", f"{definition.principal} is named twice")
        with at(f"{where}.allow"):
            allow = rights(definition.allow) if definition.allow else 0
        with at(f"{where}.deny"):
            deny = rights(definition.deny) if definition.deny else 0
        if allow & deny:
            raise refusal(where, "the same right is allowed and denied")
        entries[sid] = Masks(allow, deny)
    # An entry without rights grants nothing.
    return {sid: masks for sid, masks in entries.items() if any(masks)}


def entries_of(security: bytes) -> Entries:
    """The rights that a descriptor grants and denies."""
    entries: Entries = {}
    dacl = parse_descriptor(security).dacl if security else None
    for ace in dacl.aces if dacl is not None else ():
        if isinstance(ace, Ace) and applies(ace):
            allow, deny = entries.get(ace.sid, Masks())
            if ace.ace_type in DENIES:
                entries[ace.sid] = Masks(allow, deny | ace.mask)
            else:
                entries[ace.sid] = Masks(allow | ace.mask, deny)
    return {sid: masks for sid, masks in entries.items() if any(masks)}


def with_entries(security: bytes, entries: Entries) -> bytes:
    """A descriptor with exactly these rights; owner and group stay."""
    descriptor = parse_descriptor(security) if security else SecurityDescriptor()
    descriptor = replace(descriptor, dacl=Acl(()))
    for sid, (allow, deny) in entries.items():
        if deny:
            descriptor = permissions.deny(descriptor, sid, deny)
        if allow:
            descriptor = permissions.grant(descriptor, sid, allow)
    return descriptor.serialize()


def describe_entries(
    entries: Entries, *, accounts: Accounts, words: Callable[[int], list[str]]
) -> tuple[PermissionDefinition, ...]:
    """The rights in words, in the order of the principals."""
    definitions = [
        PermissionDefinition(
            principal=describe_principal(sid, accounts),
            allow=tuple(words(allow)) if allow else (),
            deny=tuple(words(deny)) if deny else (),
        )
        for sid, (allow, deny) in entries.items()
    ]
    return tuple(sorted(definitions, key=lambda definition: definition.principal))


def entries_text(definitions: Iterable[PermissionDefinition]) -> str:
    """Permissions in one line, for a plan."""
    return "; ".join(
        f"{one.principal}: {', '.join([*one.allow, *(f'not {word}' for word in one.deny)])}"
        for one in definitions
    )
