"""Why a caller has a right or has not: the access check, with the entries that decide."""

from collections.abc import Mapping
from dataclasses import dataclass

from openmsmq.wire.security.security_descriptor import Ace, SecurityDescriptor
from openmsmq.wire.security.sid import OWNER_RIGHTS

from .access_check import (
    ADMINISTRATOR_ALWAYS,
    DENIES,
    OWNER_ALWAYS,
    GenericMapping,
    applies,
    missing_rights,
)
from .caller import Caller
from .principals import Accounts, describe_principal


@dataclass(frozen=True, slots=True)
class AccessInfo:
    """Whether a principal has one right, and why.

    Attributes:
        right: in words.
        reason: a sentence that names the entries that decide.
    """

    right: str
    allowed: bool
    reason: str


def explain_rights(
    descriptor: SecurityDescriptor | None,
    caller: Caller,
    rights: Mapping[str, int],
    mapping: GenericMapping,
    accounts: Accounts,
) -> list[AccessInfo]:
    """Each right of an object, whether the caller has it, and why; None protects nothing."""
    answers = []
    for word, right in rights.items():
        desired = mapping.map(right)
        missing = 0
        if descriptor is not None:
            missing = missing_rights(descriptor, caller, desired, mapping)
        reason = _reason(descriptor, caller, missing or desired, mapping, accounts)
        answers.append(AccessInfo(word, not missing, reason))
    return answers


def _reason(
    descriptor: SecurityDescriptor | None,
    caller: Caller,
    bits: int,
    mapping: GenericMapping,
    accounts: Accounts,
) -> str:
    """Why these bits are granted, or are not: all of them are one or the other."""
    if descriptor is None or descriptor.dacl is None:
        return "Nothing is protected here."
    reasons = []
    entries = [ace for ace in descriptor.dacl.aces if isinstance(ace, Ace) and applies(ace)]
    if caller.is_local_admin and bits & ADMINISTRATOR_ALWAYS:
        reasons.append("Administrators of the queue manager always have it.")
        bits &= ~ADMINISTRATOR_ALWAYS
    owns = descriptor.owner is not None and caller.has(descriptor.owner)
    if owns and bits & OWNER_ALWAYS and all(ace.sid != OWNER_RIGHTS for ace in entries):
        reasons.append("The owner always has it.")
        bits &= ~OWNER_ALWAYS
    for ace in entries:
        speaks = caller.has(ace.sid) or (owns and ace.sid == OWNER_RIGHTS)
        mask = mapping.map(ace.mask) & bits
        if speaks and mask:
            verb = "denied" if ace.ace_type in DENIES else "granted"
            reasons.append(f"It is {verb} to {describe_principal(ace.sid, accounts)}.")
            bits &= ~mask
    if bits and not reasons:
        reasons.append("No entry grants it.")
    elif bits:
        reasons.append("No entry grants the rest of it.")
    return " ".join(reasons)
