"""The file of accounts for remote read: their SIDs, NT hashes, Kerberos principals."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from openmsmq.security.caller import UNIX_USER, unix_id
from openmsmq.security.passwords import nt_hash, upper
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.sid import SID, WELL_KNOWN_SIDS

ACCOUNTS_FILE: Final = "accounts.json"
FORMAT_VERSION: Final = 1
FILE_MODE: Final = 0o600
DIRECTORY_MODE: Final = 0o700
OTHERS: Final = 0o077
MAX_FILE_BYTES: Final = 16 * 2**20
MAX_NAME: Final = 64
MAX_PASSWORD: Final = 256
HASH_SIZE: Final = 16
# [MS-SAMR] 3.1.1.6: characters that are invalid in a user name; @ would make it a principal name.
FORBIDDEN: Final = frozenset('"/\\[]:|<>+=;?,*@')
# [MS-DTYP] 2.4.2.4: smaller numbers are those of well-known accounts.
FIRST_RID: Final = 1000
BUILTIN_DOMAIN: Final = 32
# Distinguishes two versions of a file: time of change, size, inode.
Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Account:
    """One account; the hash is as secret as the password and is never shown.

    Attributes:
        nt_hash: empty for an account without a password, which logs on by Kerberos only.
        principal: `USER@REALM` whose tickets log on to the account; None for none.
    """

    name: str
    sid: SID
    nt_hash: bytes = field(repr=False)
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class AccountList:
    """The contents of the file.

    `domain` and `next_rid` make SIDs for accounts without one of their own; a number is never
    reused, so that a new account does not inherit the rights of a removed one.
    """

    accounts: dict[str, Account]
    domain: SID
    next_rid: int = FIRST_RID

    def of_principal(self, principal: str) -> Account | None:
        """The account to which the tickets of a Kerberos principal log on."""
        for account in self.accounts.values():
            if account.principal == principal:
                return account
        return None


class AccountFile:
    """The accounts in a data directory; every change replaces the file as a whole.

    Args:
        data: the data directory of the queue manager.
    """

    def __init__(self, data: Path) -> None:
        self.path = data / ACCOUNTS_FILE

    def read(self) -> AccountList:
        """All accounts, by their names in upper case; empty if there is no file.

        Raises:
            ConfigError: the file cannot be used, or users other than its owner may read it.
        """
        try:
            with self.path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                raw = file.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return AccountList({}, new_domain())
        except OSError as exc:
            raise self._unusable(exc.strerror or str(exc)) from exc
        if mode & OTHERS:
            raise ConfigError(
                f"accounts: {self.path}: others than its owner may read or change it",
                remedy=f"Run `chmod 600 {self.path}`, and change the passwords.",
            )
        if len(raw) > MAX_FILE_BYTES:
            raise self._unusable("larger than 16 MiB")
        try:
            return parse(json.loads(raw))
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            # No cause, which may quote a hash.
            raise self._unusable("not a file of accounts") from exc

    def version(self) -> Version | None:
        """A value that changes with the file; None without a file."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def add(
        self, name: str, password: str | None, sid: SID | None, principal: str | None = None
    ) -> Account:
        """Store a new account; without a SID one is assigned.

        Args:
            password: None for an account that logs on by Kerberos only.
            principal: `USER@REALM`, whose tickets log on to the account.

        Raises:
            ConfigError: the name, password or principal is invalid, or the account exists
            already.
        """
        check_name(name)
        hashed = b"" if password is None else hash_of(password)
        if principal is not None:
            check_kerberos_principal(principal)
        elif not hashed:
            raise ConfigError(f"the account {name!r} needs a password or a Kerberos principal")
        with self._changing() as before:
            if upper(name) in before.accounts:
                raise ConfigError(f"there is an account {name!r} already")
            owner = principal and before.of_principal(principal)
            if owner:
                raise ConfigError(f"{principal} belongs to the account {owner.name!r} already")
            next_rid = before.next_rid
            if sid is None:
                authority, numbers = before.domain.identifier_authority, before.domain.sub_authority
                sid = SID(authority, (*numbers, next_rid))
                next_rid += 1
            account = Account(name, sid, hashed, principal)
            accounts = before.accounts | {upper(name): account}
            self._write(AccountList(accounts, before.domain, next_rid))
        return account

    def set_password(self, name: str, password: str) -> Account:
        """Change the password of an account.

        Raises:
            ConfigError: there is no such account, or the password is invalid.
        """
        with self._changing() as before:
            old = self._find(before, name)
            account = Account(old.name, old.sid, hash_of(password), old.principal)
            accounts = before.accounts | {upper(name): account}
            self._write(AccountList(accounts, before.domain, before.next_rid))
        return account

    def remove(self, name: str) -> Account:
        """Remove an account.

        Raises:
            ConfigError: there is no such account.
        """
        with self._changing() as before:
            account = self._find(before, name)
            accounts = {
                key: account for key, account in before.accounts.items() if key != upper(name)
            }
            self._write(AccountList(accounts, before.domain, before.next_rid))
        return account

    def find(self, name: str) -> Account:
        """One account.

        Raises:
            ConfigError: there is no such account.
        """
        return self._find(self.read(), name)

    def _find(self, accounts: AccountList, name: str) -> Account:
        account = accounts.accounts.get(upper(name))
        if account is None:
            raise ConfigError(
                f"there is no account {name!r} in {self.path}",
                remedy="See `openmsmq user list`.",
            )
        return account

    @contextmanager
    def _changing(self) -> Iterator[AccountList]:
        """The accounts, locked against changes by other processes."""
        try:
            self.path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            directory = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as exc:
            raise self._unusable(exc.strerror or str(exc)) from exc
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield self.read()
            os.fsync(directory)
        except OSError as exc:
            raise self._unusable(exc.strerror or str(exc)) from exc
        finally:
            os.close(directory)

    def _write(self, accounts: AccountList) -> None:
        """Replace the file atomically, with the owner of the data directory."""
        new = self.path.with_suffix(".new")
        new.unlink(missing_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            owner = self.path.parent.stat()
            if os.geteuid() == 0:
                os.fchown(handle, owner.st_uid, owner.st_gid)
            file.write(render(accounts))
            file.flush()
            os.fsync(handle)
        new.replace(self.path)

    def _unusable(self, reason: str) -> ConfigError:
        return ConfigError(f"accounts: {self.path}: {reason}")


def check_name(name: str) -> None:
    """Refuse a name that clients cannot send.

    Raises:
        ConfigError: the text says what is wrong.
    """
    if not 0 < len(name) <= MAX_NAME:
        raise ConfigError(f"a user name has 1 to {MAX_NAME} characters, not {len(name)}")
    wrong = sorted(
        {character for character in name if character in FORBIDDEN or not character.isprintable()}
    )
    if wrong or name != name.strip() or name.strip(".") == "":
        raise ConfigError(
            f"the user name {name!r} cannot be used",
            remedy=f"Leave out {' '.join(sorted(FORBIDDEN))} and blanks at its ends.",
        )


def check_kerberos_principal(principal: str) -> None:
    """Refuse a text that is not `USER@REALM`.

    Raises:
        ConfigError: the text says what is wrong.
    """
    user, _, realm = principal.rpartition("@")
    named = all(user.split("/")) and realm and not set(realm) & set("@/")
    if not named or not principal.isprintable() or any(map(str.isspace, principal)):
        raise ConfigError(
            f"the Kerberos principal {principal!r} is not USER@REALM",
            remedy="Write it as `klist` prints it, with the realm in the same case.",
        )


def can_log_on(sid: SID) -> bool:
    """Whether an account may have the SID: it must not be that of a group or of a kind of users."""
    unix = unix_id(sid)
    if unix is not None:
        return unix[0] == UNIX_USER
    return sid not in WELL_KNOWN_SIDS and sid.sub_authority[:1] != (BUILTIN_DOMAIN,)


def hash_of(password: str) -> bytes:
    """The NT hash of a password.

    Raises:
        ConfigError: the password is empty, too long, or not text.
    """
    if not 0 < len(password) <= MAX_PASSWORD:
        raise ConfigError(f"a password has 1 to {MAX_PASSWORD} characters")
    try:
        return nt_hash(password)
    except UnicodeEncodeError as exc:
        raise ConfigError("the password is not text") from exc


def new_domain() -> SID:
    """The common part of the assigned SIDs of all accounts of a file."""
    return SID(5, (21, *(secrets.randbits(32) for _ in range(3))))


def render(accounts: AccountList) -> str:
    rows = [
        {"name": account.name, "sid": str(account.sid), "nt_hash": account.nt_hash.hex()}
        | ({} if account.principal is None else {"principal": account.principal})
        for account in accounts.accounts.values()
    ]
    content = {
        "version": FORMAT_VERSION,
        "domain": str(accounts.domain),
        "next_rid": accounts.next_rid,
        "accounts": rows,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def parse(content: Any) -> AccountList:
    """The accounts in the JSON of a file.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it has another form than that of `render`.
    """
    if content["version"] != FORMAT_VERSION:
        raise ValueError("another version")
    accounts = {}
    for row in content["accounts"]:
        hashed, principal = bytes.fromhex(row["nt_hash"]), row.get("principal")
        account = Account(row["name"], SID.from_text(row["sid"]), hashed, principal)
        sizes = (HASH_SIZE,) if principal is None else (0, HASH_SIZE)
        if len(hashed) not in sizes or upper(account.name) in accounts:
            raise ValueError("a hash of another size, or two accounts of one name")
        accounts[upper(account.name)] = account
    return AccountList(accounts, SID.from_text(content["domain"]), int(content["next_rid"]))
