"""Security packages by the auth_type of RPC: what a server accepts and a client starts.

A server makes its contexts by `acceptors(...)[auth_type]()`, a client by
`initiators(...)[auth_type]()`, one for every authentication. What they do is in `mechanism`.
"""

from collections.abc import Callable, Mapping

from .mechanism import RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_WINNT, SecurityContext
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

Packages = Mapping[int, Callable[[], SecurityContext]]
"""What makes a context, by auth_type."""


def acceptors(
    names: MachineNames,
    accounts: AccountLookup,
    *,
    random: Callable[[int], bytes],
    utc: Callable[[], float],
    allow_anonymous: bool = False,
) -> Packages:
    """What a server accepts; each context waits for the first token of its client.

    Args:
        names: the names of this machine.
        accounts: finds the account of a user name.
        random: gives that many random bytes.
        utc: the time, in seconds since 1970.
        allow_anonymous: take NTLM without user and password as Anonymous Logon. Such a logon
            proves nothing: it counts as no authentication, whatever its level.
    """

    def ntlm() -> NtlmContext:
        return NtlmContext(
            NtlmAcceptor(names, accounts, random=random, utc=utc, allow_anonymous=allow_anonymous)
        )

    mechanisms = (Mechanism((NTLMSSP,), ntlm, raw_prefix=SIGNATURE),)
    return {
        RPC_C_AUTHN_WINNT: ntlm,
        RPC_C_AUTHN_GSS_NEGOTIATE: lambda: SpnegoContext(SpnegoAcceptor(mechanisms)),
    }


def initiators(
    credentials: NtlmCredentials,
    *,
    random: Callable[[int], bytes],
    utc: Callable[[], float],
    seal: bool,
    target_name: str = "",
    workstation: str = "",
) -> Packages:
    """What a client can start; the first step of each context is `step(b"")`.

    Args:
        credentials: who logs on.
        random: gives that many random bytes.
        utc: the time, in seconds since 1970.
        seal: ask for encryption, as packet privacy needs it; signing is always asked for.
        target_name: the service principal name of the server, such as `RPC/host`.
        workstation: the NetBIOS name of this machine; the server may log it.
    """

    def ntlm() -> NtlmContext:
        return NtlmContext(
            NtlmInitiator(
                credentials,
                random=random,
                utc=utc,
                seal=seal,
                target_name=target_name,
                workstation=workstation,
            )
        )

    mechanisms = (Mechanism((NTLMSSP,), ntlm),)
    return {
        RPC_C_AUTHN_WINNT: ntlm,
        RPC_C_AUTHN_GSS_NEGOTIATE: lambda: SpnegoContext(SpnegoInitiator(mechanisms)),
    }
