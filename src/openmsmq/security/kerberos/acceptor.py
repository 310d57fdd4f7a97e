"""Kerberos on the side of the server: keys from a keytab, principals that are accounts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openmsmq.security.caller import Caller
from openmsmq.security.mechanism import AuthenticationFailed

from .context import KerberosContext
from .gss import require_gssapi


@dataclass(frozen=True, slots=True)
class KerberosAccount:
    """A principal that may log on: the name of its account, and whom the account stands for."""

    name: str
    caller: Caller


PrincipalLookup = Callable[[str], KerberosAccount | None]
"""The account of a principal `USER@REALM`, exactly as it is written; None for an unknown one."""


class KerberosAcceptor:
    """Logons to this machine by ticket; the keytab is read at each of them.

    Args:
        keytab: has the keys of this machine's service, under whatever name clients ask for it.
        accounts: finds the account of a principal.
    """

    def __init__(self, keytab: Path, accounts: PrincipalLookup) -> None:
        self._keytab = keytab
        self._accounts = accounts

    def __call__(self) -> KerberosContext:
        """A context that waits for the first token of a client."""
        return KerberosContext(self._make, is_initiator=False, identify=self._identify)

    def _make(self) -> Any:
        gssapi = require_gssapi()
        credentials = gssapi.Credentials(
            usage="accept",
            mechs=[gssapi.MechType.kerberos],
            store={"keytab": f"FILE:{self._keytab}"},
        )
        return gssapi.SecurityContext(creds=credentials, usage="accept")

    def _identify(self, principal: str) -> tuple[str, Caller]:
        account = self._accounts(principal)
        if account is None:
            raise AuthenticationFailed(f"the ticket of {principal!r}, which is no account here")
        return account.name, account.caller
