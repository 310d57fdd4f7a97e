"""Kerberos on the side of the client: the ticket of the user, a password or a keytab."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .context import KerberosContext
from .gss import is_installed, require_gssapi

# In AD, HOST stands for RPC and all other services of the machine; in MIT's, host is what every
# machine has.
SERVICE: Final = "host"


@dataclass(frozen=True, slots=True)
class TicketSource:
    """Where the ticket of a client comes from.

    Attributes:
        principal: `USER@REALM`, or `USER` of the default realm; empty takes whoever has a ticket.
        password: gets a new ticket; without it or a keytab the one that the user has is taken.
        keytab: has the key of the principal.
    """

    principal: str = ""
    password: str = field(default="", repr=False)
    keytab: Path | None = None


class KerberosInitiator:
    """Logons to one server by ticket; they can always sign and seal.

    Args:
        source: where the ticket comes from.
        host: the server; its service is `host/HOST`.
    """

    def __init__(self, source: TicketSource, host: str) -> None:
        self._source = source
        self._host = host
        # The tickets that the password got, for the next connections.
        self._by_password: Any = None

    def __call__(self) -> KerberosContext:
        """A context for RPC, where the server answers the last token."""
        return KerberosContext(self._make, is_initiator=True, awaits_answer=True)

    def for_negotiation(self) -> KerberosContext:
        """A context for SPNEGO, whose own answer ends the exchange."""
        return KerberosContext(self._make, is_initiator=True)

    def fetch_ticket(self) -> None:
        """Have the ticket for the server ready, so that the first step asks nobody.

        Raises:
            AuthenticationFailed: there is no ticket, or the KDC gives none for the server.
            ConfigError: the extra `kerberos` is not installed.
        """
        self.for_negotiation().step(b"")

    def _make(self) -> Any:
        gssapi = require_gssapi()
        flag = gssapi.RequirementFlag
        flags = (
            flag.mutual_authentication
            | flag.replay_detection
            | flag.out_of_sequence_detection
            | flag.integrity
            | flag.confidentiality
            | flag.dce_style
        )
        return gssapi.SecurityContext(
            name=gssapi.Name(f"{SERVICE}@{self._host}", gssapi.NameType.hostbased_service),
            creds=self._acquire(gssapi),
            mech=gssapi.MechType.kerberos,
            flags=flags,
            usage="initiate",
        )

    # Any: what the package gssapi makes.
    def _acquire(self, gssapi: Any) -> Any:
        source = self._source
        name = None
        if source.principal:
            name = gssapi.Name(source.principal, gssapi.NameType.kerberos_principal)
        kerberos = [gssapi.MechType.kerberos]
        if source.keytab is not None:
            # The library gets a ticket by this keytab, and a new one before that expires.
            store = {"client_keytab": f"FILE:{source.keytab}", "ccache": f"MEMORY:{id(self)}"}
            return gssapi.Credentials(name=name, usage="initiate", mechs=kerberos, store=store)
        if not source.password:
            return gssapi.Credentials(name=name, usage="initiate", mechs=kerberos)
        if not is_valid(gssapi, self._by_password):
            acquired = gssapi.raw.acquire_cred_with_password(
                name, source.password.encode(), mechs=kerberos, usage="initiate"
            )
            self._by_password = gssapi.Credentials(acquired.creds)
        return self._by_password


def has_ticket() -> bool:
    """Whether the user has a ticket that is still valid, and the extra to use it."""
    if not is_installed():
        return False
    gssapi = require_gssapi()
    try:
        credentials = gssapi.Credentials(usage="initiate", mechs=[gssapi.MechType.kerberos])
    except gssapi.exceptions.GSSError:
        return False
    return is_valid(gssapi, credentials)


def is_valid(gssapi: Any, credentials: Any) -> bool:
    """Whether there are credentials that have not expired."""
    if credentials is None:
        return False
    try:
        lifetime: int | None = credentials.lifetime
    except gssapi.exceptions.GSSError:
        return False
    return lifetime is None or lifetime > 0
