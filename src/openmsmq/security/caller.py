"""Who asks: the SIDs that an access check compares."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from openmsmq.wire.security.sid import (
    ANONYMOUS,
    AUTHENTICATED_USERS,
    BUILTIN_ADMINISTRATORS,
    BUILTIN_USERS,
    EVERYONE,
    LOCAL_SYSTEM,
    SID,
)

# Samba maps Unix users and groups below S-1-22.
UNIX_AUTHORITY: Final = 22
UNIX_USER: Final = 1
UNIX_GROUP: Final = 2
NT_AUTHORITY: Final = 5
DOMAIN: Final = 21
DOMAIN_SID_SIZE: Final = 5
DOMAIN_USER_RID_GUEST: Final = 501


@dataclass(frozen=True, slots=True)
class Caller:
    """A user with its groups.

    `is_local_admin` may always repair what others can no longer reach: read and change
    permissions, take ownership, delete. `is_system` is the queue manager at work for itself: it is
    not checked at all, and no input from outside ever makes one.
    """

    sid: SID
    groups: frozenset[SID] = frozenset()
    is_local_admin: bool = False
    is_system: bool = False
    sid_bytes: bytes = field(init=False, repr=False, compare=False)
    """`sid` as messages have it: every send compares it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sid_bytes", self.sid.serialize())

    def has(self, sid: SID) -> bool:
        """Whether an entry for this SID speaks of the caller."""
        return sid == self.sid or sid in self.groups


SYSTEM_CALLER: Final = Caller(
    LOCAL_SYSTEM, frozenset((EVERYONE, AUTHENTICATED_USERS, BUILTIN_ADMINISTRATORS)), True, True
)
ANONYMOUS_CALLER: Final = Caller(ANONYMOUS, frozenset((EVERYONE,)))
EVERYONE_CALLER: Final = Caller(EVERYONE)


def unix_user_sid(uid: int) -> SID:
    return SID(UNIX_AUTHORITY, (UNIX_USER, uid))


def unix_group_sid(gid: int) -> SID:
    return SID(UNIX_AUTHORITY, (UNIX_GROUP, gid))


def unix_id(sid: SID) -> tuple[int, int] | None:
    """(`UNIX_USER` or `UNIX_GROUP`, uid or gid) of the SID of a Unix user or group."""
    if sid.identifier_authority != UNIX_AUTHORITY or len(sid.sub_authority) != 2:
        return None
    kind, number = sid.sub_authority
    return (kind, number) if kind in (UNIX_USER, UNIX_GROUP) else None


def unix_caller(uid: int, gids: Iterable[int], *, service_uid: int) -> Caller:
    """A process on this machine, by the credentials of its socket.

    Root and the user that the queue manager runs as administer the queue manager.
    """
    is_local_admin = uid in (0, service_uid)
    groups = {EVERYONE, AUTHENTICATED_USERS, BUILTIN_USERS}
    groups.update(unix_group_sid(gid) for gid in gids)
    if is_local_admin:
        groups.add(BUILTIN_ADMINISTRATORS)
    return Caller(unix_user_sid(uid), frozenset(groups), is_local_admin)


def sender_caller(sid: SID | None, groups: frozenset[SID] = frozenset()) -> Caller:
    """The sender of a message from another machine, by the SID that the message names.

    Only a directory vouches for groups of a remote sender, and what is only claimed never makes
    an administrator.
    """
    if sid is None or sid == ANONYMOUS:
        return ANONYMOUS_CALLER
    # [MS-MQQB] 3.1.5.8.3: a queue manager as sender counts as Everyone.
    if sid == EVERYONE:
        return EVERYONE_CALLER
    return Caller(sid, frozenset((EVERYONE, AUTHENTICATED_USERS)) | groups)


def is_domain_user(sid: SID) -> bool:
    """Whether the SID stands for a user that other machines know; Unix users count as such."""
    unix_account = unix_id(sid)
    if unix_account is not None:
        return unix_account[0] == UNIX_USER
    return is_domain_account(sid)


def is_domain_account(sid: SID) -> bool:
    """Whether the SID is of the form S-1-5-21-x-y-z-rid."""
    return (
        sid.identifier_authority == NT_AUTHORITY
        and len(sid.sub_authority) == DOMAIN_SID_SIZE
        and sid.sub_authority[0] == DOMAIN
    )


def is_guest(sid: SID) -> bool:
    """Whether the SID is the guest account of a domain."""
    return is_domain_account(sid) and sid.sub_authority[-1] == DOMAIN_USER_RID_GUEST
