"""Changing and showing what a security descriptor grants."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.security.security_descriptor import Ace, AceType, Acl, RawAce, SecurityDescriptor
from openmsmq.wire.security.sid import SID

from .access_check import DENIES, GenericMapping, applies
from .principals import Accounts, describe_principal


class PermissionChange(StrEnum):
    """Allow, deny, or say nothing about rights any more."""

    GRANT = "grant"
    DENY = "deny"
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True)
class Permission:
    """One entry, for people."""

    principal: str
    sid: str
    allow: bool
    rights: tuple[str, ...]


def grant(descriptor: SecurityDescriptor, sid: SID, mask: int) -> SecurityDescriptor:
    """Allow these rights; they are no longer denied to the same principal."""
    return _change(descriptor, sid, mask, AceType.ACCESS_ALLOWED)


def deny(descriptor: SecurityDescriptor, sid: SID, mask: int) -> SecurityDescriptor:
    """Deny these rights, whatever groups of the principal are allowed."""
    return _change(descriptor, sid, mask, AceType.ACCESS_DENIED)


def revoke(descriptor: SecurityDescriptor, sid: SID, mask: int) -> SecurityDescriptor:
    """Forget what is said about these rights of the principal, allowed or denied."""
    return _change(descriptor, sid, mask, None)


def _change(
    descriptor: SecurityDescriptor, sid: SID, mask: int, ace_type: AceType | None
) -> SecurityDescriptor:
    if descriptor.dacl is None:
        # An entry would turn "everybody may do everything" into "only this one may".
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR,
            "nothing is protected here; set a whole list instead",
        )
    aces = list(_without(descriptor.dacl.aces, sid, int(mask)))
    if ace_type is not None:
        aces = _with(aces, Ace(ace_type, int(mask), sid))
    return replace(descriptor, dacl=replace(descriptor.dacl, aces=_ordered(aces)))


def _without(aces: Iterable[Ace | RawAce], sid: SID, mask: int) -> Iterable[Ace | RawAce]:
    for ace in aces:
        if not isinstance(ace, Ace) or ace.sid != sid or not applies(ace):
            yield ace
        elif ace.mask & ~mask:
            yield replace(ace, mask=ace.mask & ~mask)


def _with(aces: list[Ace | RawAce], new: Ace) -> list[Ace | RawAce]:
    """Add the rights to the entry of the same principal and kind, or a new entry."""
    for index, ace in enumerate(aces):
        if isinstance(ace, Ace) and replace(ace, mask=new.mask) == new:
            return [*aces[:index], replace(ace, mask=ace.mask | new.mask), *aces[index + 1 :]]
    return [*aces, new]


def _ordered(aces: Iterable[Ace | RawAce]) -> tuple[Ace | RawAce, ...]:
    """Denials first, as Windows keeps its lists; otherwise the order stays."""
    return tuple(sorted(aces, key=lambda ace: ace.ace_type not in DENIES))


def conform(descriptor: SecurityDescriptor, mapping: GenericMapping) -> SecurityDescriptor:
    """A descriptor from outside, with generic rights replaced by those of the object.

    Raises:
        QueueError: an entry names rights that the object does not have.
    """
    dacl = None if descriptor.dacl is None else _conform(descriptor.dacl, mapping)
    sacl = None if descriptor.sacl is None else _conform(descriptor.sacl, mapping)
    return replace(descriptor, dacl=dacl, sacl=sacl)


def _conform(acl: Acl, mapping: GenericMapping) -> Acl:
    aces: list[Ace | RawAce] = []
    for ace in acl.aces:
        if isinstance(ace, Ace):
            mask = mapping.map(ace.mask)
            if mask & ~mapping.all_rights:
                foreign = mask & ~mapping.all_rights
                raise QueueError(
                    Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR,
                    f"the entry of {ace.sid} names unknown rights 0x{foreign:08X}",
                )
            aces.append(replace(ace, mask=mask))
        else:
            aces.append(ace)
    return replace(acl, aces=tuple(aces))


def describe(
    descriptor: SecurityDescriptor, accounts: Accounts, words: Callable[[int], list[str]]
) -> list[Permission]:
    """The entries of a descriptor in their order; `words` names the rights of the object."""
    aces = () if descriptor.dacl is None else descriptor.dacl.aces
    return [
        Permission(
            describe_principal(ace.sid, accounts),
            str(ace.sid),
            ace.ace_type not in DENIES,
            tuple(words(ace.mask)),
        )
        for ace in aces
        if isinstance(ace, Ace) and applies(ace)
    ]
