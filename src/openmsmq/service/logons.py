"""Logons from other machines: the accounts, their verification, and limits on guessing."""

import secrets
import time
from collections.abc import Callable
from pathlib import Path

from openmsmq.security.kerberos import KerberosAcceptor, KerberosAccount
from openmsmq.security.logon_limiter import LogonLimiter
from openmsmq.security.ntlm import MachineNames, NtlmAccount
from openmsmq.security.packages import Packages, acceptors
from openmsmq.security.passwords import upper
from openmsmq.wire.errors import ConfigError

from .account_file import AccountFile, AccountList, Version, new_domain
from .logs import LOGON_FAILED, LOGON_REFUSED, NOT_RELOADED, log_event
from .tokens import caller_of_sid


class Logons:
    """The users that may log on to this queue manager from other machines.

    The file of accounts is read again whenever it has changed, so that a new account can be used,
    and a removed one cannot, from the next logon on.

    Args:
        data: the data directory.
        computer_name: the name of this machine, as sent to clients.
        allow_anonymous: accept logons without user and password, as Anonymous Logon.
        keytab: the keys that decrypt Kerberos tickets; None accepts no tickets.
        now: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        data: Path,
        computer_name: str,
        *,
        allow_anonymous: bool = False,
        keytab: Path | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = AccountFile(data)
        self._now = now
        self._limiter = LogonLimiter()
        self._accounts = AccountList({}, new_domain())
        self._version: Version | None = None
        self.acceptors: Packages = acceptors(
            MachineNames.of_computer(computer_name),
            self.find,
            random=secrets.token_bytes,
            utc=time.time,
            allow_anonymous=allow_anonymous,
            kerberos=None if keytab is None else KerberosAcceptor(keytab, self.find_principal),
        )

    def reload(self) -> None:
        """Read the file of accounts.

        Raises:
            ConfigError: it cannot be used; the known accounts stay.
        """
        self._version = self._file.version()
        self._accounts = self._file.read()

    def find(self, name: str) -> NtlmAccount | None:
        """The account of a user name, in any case; None without a password, too."""
        account = self._current().accounts.get(upper(name))
        if account is None or not account.nt_hash:
            return None
        return NtlmAccount(account.name, account.nt_hash, caller_of_sid(account.sid))

    def find_principal(self, principal: str) -> KerberosAccount | None:
        """The account of a Kerberos principal."""
        account = self._current().of_principal(principal)
        if account is None:
            return None
        return KerberosAccount(account.name, caller_of_sid(account.sid))

    def _current(self) -> AccountList:
        """The accounts in the file, or the last ones that could be read."""
        if self._file.version() != self._version:
            try:
                self.reload()
            except ConfigError as exc:
                log_event(NOT_RELOADED, what="accounts", reason=exc.detail)
        return self._accounts

    def reserve(self, address: str) -> float | None:
        """Seconds to wait before a logon from the address is examined; None: refuse it."""
        wait = self._limiter.reserve(address, now=self._now())
        if wait is None:
            log_event(LOGON_REFUSED, address=address)
        return wait

    def failed(self, address: str, reason: object) -> None:
        """A logon from the address failed."""
        failures = self._limiter.failed(address, now=self._now())
        log_event(LOGON_FAILED, address=address, failures=failures, reason=reason)

    def forget(self) -> None:
        """Drop records of addresses that are no longer needed; called every few minutes."""
        self._limiter.forget(now=self._now())
