"""Security contexts by the auth_type of RPC: what a server accepts and a client starts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .mechanism import (
    RPC_C_AUTHN_GSS_NEGOTIATE,
    RPC_C_AUTHN_WINNT,
    AuthenticationFailed,
    SecurityContext,
)
from .ntlm import (
    AccountLookup,
    MachineNames,
    NtlmAcceptor,
    NtlmContext,
    NtlmCredentials,
    NtlmInitiator,
)
from .ntlm.messages import SIGNATURE
from .spnego import NTLMSSP, Mechanism, SpnegoAcceptor, SpnegoContext, SpnegoInitiator

ACCEPTED_TYPES: Final = (RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_WINNT)


@dataclass(frozen=True, slots=True)
class Acceptors:
    """Makes the contexts of a server; one for every authentication.

    Args:
        names: the names of this machine.
        accounts: finds the account of a user name.
        random: gives that many random bytes.
        utc: the time, in seconds since 1970.
        allow_anonymous: take NTLM without user and password as Anonymous Logon. Such a logon
            proves nothing: it counts as no authentication, whatever its level.
    """

    names: MachineNames
    accounts: AccountLookup
    random: Callable[[int], bytes]
    utc: Callable[[], float]
    allow_anonymous: bool = False

    def accept(self, auth_type: int) -> SecurityContext:
        """A context that waits for the first token of a client.

        Raises:
            AuthenticationFailed: the type is not in `ACCEPTED_TYPES`.
        """
        if auth_type == RPC_C_AUTHN_WINNT:
            return self._ntlm()
        if auth_type == RPC_C_AUTHN_GSS_NEGOTIATE:
            mechanism = Mechanism((NTLMSSP,), self._ntlm, raw_prefix=SIGNATURE)
            return SpnegoContext(SpnegoAcceptor((mechanism,)))
        raise AuthenticationFailed(f"auth_type {auth_type} is not known")

    def _ntlm(self) -> NtlmContext:
        return NtlmContext(
            NtlmAcceptor(
                self.names,
                self.accounts,
                random=self.random,
                utc=self.utc,
                allow_anonymous=self.allow_anonymous,
            )
        )


@dataclass(frozen=True, slots=True)
class Initiators:
    r"""Makes the contexts of a client; one for every connection and security context.

    Args:
        credentials: who logs on.
        random: gives that many random bytes.
        utc: the time, in seconds since 1970.
        target_name: the service principal name of the server, such as `RPC/host`.
        workstation: the NetBIOS name of this machine; the server may log it.
    """

    credentials: NtlmCredentials
    random: Callable[[int], bytes]
    utc: Callable[[], float]
    target_name: str = ""
    workstation: str = ""

    def start(self, auth_type: int, *, seal: bool) -> SecurityContext:
        """A context whose first step is `step(b"")`.

        Args:
            auth_type: NTLM by itself, or inside SPNEGO.
            seal: ask for encryption, as packet privacy needs it.

        Raises:
            AuthenticationFailed: the type is not known.
        """

        def ntlm() -> NtlmContext:
            return NtlmContext(
                NtlmInitiator(
                    self.credentials,
                    random=self.random,
                    utc=self.utc,
                    seal=seal,
                    target_name=self.target_name,
                    workstation=self.workstation,
                )
            )

        if auth_type == RPC_C_AUTHN_WINNT:
            return ntlm()
        if auth_type == RPC_C_AUTHN_GSS_NEGOTIATE:
            return SpnegoContext(SpnegoInitiator((Mechanism((NTLMSSP,), ntlm),)))
        raise AuthenticationFailed(f"auth_type {auth_type} is not known")
