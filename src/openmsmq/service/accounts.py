"""Users and groups of this machine, accounts for remote read, and the callers of clients."""

import grp
import os
import pwd
from pathlib import Path
from typing import Final

from openmsmq.security.caller import Caller, unix_caller
from openmsmq.security.passwords import upper
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.sid import SID

from .account_file import Account, AccountFile, Version


class UnixAccounts:
    """The accounts of the machine; None for an unknown one."""

    def uid(self, name: str) -> int | None:
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            return None

    def gid(self, name: str) -> int | None:
        try:
            return grp.getgrnam(name).gr_gid
        except KeyError:
            return None

    def user_name(self, uid: int) -> str | None:
        try:
            return pwd.getpwuid(uid).pw_name
        except KeyError:
            return None

    def group_name(self, gid: int) -> str | None:
        try:
            return grp.getgrgid(gid).gr_name
        except KeyError:
            return None

    def account(self, name: str) -> SID | None:  # noqa: ARG002 - a data directory has accounts
        return None

    def account_name(self, sid: SID) -> str | None:  # noqa: ARG002 - a data directory has accounts
        return None


class ServiceAccounts(UnixAccounts):
    """The accounts of the machine, and those for remote read in a data directory."""

    def __init__(self, data: Path) -> None:
        self._file: Final = AccountFile(data)
        self._version: Version | None = None
        self._known: dict[str, Account] = {}

    def account(self, name: str) -> SID | None:
        account = self._accounts().get(upper(name))
        return None if account is None else account.sid

    def account_name(self, sid: SID) -> str | None:
        return next(
            (account.name for account in self._accounts().values() if account.sid == sid), None
        )

    def _accounts(self) -> dict[str, Account]:
        """The current accounts of the file; empty if it cannot be used, which a logon reports."""
        version = self._file.version()
        if version != self._version:
            self._version = version
            try:
                self._known = self._file.read().accounts
            except ConfigError:
                self._known = {}
        return self._known


def caller_of(uid: int, gid: int) -> Caller:
    """The caller of a process on this machine, with all groups that the machine knows."""
    try:
        groups = os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        groups = [gid]
    return unix_caller(uid, groups, service_uid=os.geteuid())


def caller_of_user(uid: int) -> Caller:
    """The caller of a user of this machine; without an account it has no groups."""
    try:
        return caller_of(uid, pwd.getpwuid(uid).pw_gid)
    except KeyError:
        return unix_caller(uid, (), service_uid=os.geteuid())
