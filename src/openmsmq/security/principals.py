"""Users and groups in words: `everyone`, `user:alice`, `gid:100`, `account:ada`, `S-1-5-...`."""

from typing import Final, Protocol

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.security.sid import (
    ANONYMOUS,
    AUTHENTICATED_USERS,
    BUILTIN_ADMINISTRATORS,
    BUILTIN_USERS,
    EVERYONE,
    OWNER_RIGHTS,
    SID,
)

from .caller import UNIX_USER, unix_group_sid, unix_id, unix_user_sid

WELL_KNOWN: Final = {
    "everyone": EVERYONE,
    "anonymous": ANONYMOUS,
    "authenticated-users": AUTHENTICATED_USERS,
    "administrators": BUILTIN_ADMINISTRATORS,
    "users": BUILTIN_USERS,
    "owner-rights": OWNER_RIGHTS,
}
WELL_KNOWN_NAMES: Final = {sid: name for name, sid in WELL_KNOWN.items()}
MAX_UNIX_ID: Final = 0xFFFFFFFE
FORMS: Final = (
    "everyone, anonymous, authenticated-users, administrators, user:NAME, uid:NUMBER, group:NAME, "
    "gid:NUMBER, account:NAME or a SID"
)


class Accounts(Protocol):
    """Users and groups of this machine and accounts for remote read; None for an unknown one.

    The process gives them.
    """

    def uid(self, name: str) -> int | None: ...

    def gid(self, name: str) -> int | None: ...

    def user_name(self, uid: int) -> str | None: ...

    def group_name(self, gid: int) -> str | None: ...

    def account(self, name: str) -> SID | None: ...

    def account_name(self, sid: SID) -> str | None: ...


def parse_principal(text: str, accounts: Accounts) -> SID:
    """The SID that the words mean.

    Raises:
        QueueError: they name no principal; the text says what is understood.
    """
    stripped = text.strip()
    known = WELL_KNOWN.get(stripped.lower().replace(" ", "-").removesuffix("-logon"))
    if known is not None:
        return known
    kind, colon, name = stripped.partition(":")
    if not colon:
        try:
            return SID.from_text(stripped)
        except ValueError as exc:
            sid = accounts.account(stripped)
            if sid is None:
                raise _wrong(f"{text!r} is not {FORMS}") from exc
            return sid
    if kind.lower() == "account":
        sid = accounts.account(name)
        if sid is None:
            raise _wrong(f"{text!r}: there is no account {name!r}; `user list` shows them")
        return sid
    return _account(kind.lower(), name, accounts, text)


def describe_principal(sid: SID, accounts: Accounts) -> str:
    """Words that `parse_principal` understands."""
    known = WELL_KNOWN_NAMES.get(sid)
    if known is not None:
        return known
    unix_account = unix_id(sid)
    if unix_account is None:
        account = accounts.account_name(sid)
        return str(sid) if account is None else f"account:{account}"
    kind, number = unix_account
    if kind == UNIX_USER:
        name = accounts.user_name(number)
        return f"uid:{number}" if name is None else f"user:{name}"
    name = accounts.group_name(number)
    return f"gid:{number}" if name is None else f"group:{name}"


def _account(kind: str, name: str, accounts: Accounts, text: str) -> SID:
    number: int | None
    if kind in ("uid", "gid"):
        number = int(name) if name.isascii() and name.isdigit() else -1
        if not 0 <= number <= MAX_UNIX_ID:
            raise _wrong(f"{text!r}: {name!r} is not a number from 0 on")
    elif kind == "user":
        number = accounts.uid(name)
    elif kind == "group":
        number = accounts.gid(name)
    else:
        raise _wrong(f"{text!r} is not {FORMS}")
    if number is None:
        raise _wrong(f"{text!r}: this machine has no {kind} {name!r}")
    return unix_user_sid(number) if kind in ("uid", "user") else unix_group_sid(number)


def _wrong(detail: str) -> QueueError:
    return QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, f"principal: {detail}")
