"""Security packages by the auth_type of RPC: what a server accepts and a client starts.

A server makes its contexts by `acceptors(...)[auth_type]()`, a client by
`initiators(...)[auth_type]()`, one for every authentication. What they do is in `mechanism`.
"""

from collections.abc import Callable, Mapping

from .kerberos import KerberosAcceptor, KerberosInitiator
from .mechanism import (
    RPC_C_AUTHN_GSS_KERBEROS,
    RPC_C_AUTHN_GSS_NEGOTIATE,
    RPC_C_AUTHN_WINNT,
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
from .spnego import (
    KERBEROS,
    MS_KERBEROS,
    NTLMSSP,
    Mechanism,
    SpnegoAcceptor,
    SpnegoContext,
    SpnegoInitiator,
)

Packages = Mapping[int, Callable[[], SecurityContext]]
"""What makes a context, by auth_type."""


def acceptors(
    names: MachineNames,
    accounts: AccountLookup,
    *,
    random: Callable[[int], bytes],
    utc: Callable[[], float],
    allow_anonymous: bool = False,
    kerberos: KerberosAcceptor | None = None,
) -> Packages:
    """What a server accepts; each context waits for the first token of its client.

    Args:
        names: the names of this machine.
        accounts: finds the account of a user name.
        random: gives that many random bytes.
        utc: the time, in seconds since 1970.
        allow_anonymous: take NTLM without user and password as Anonymous Logon. Such a logon
            proves nothing: it counts as no authentication, whatever its level.
        kerberos: takes tickets, where this machine has a keytab.
    """

    def ntlm() -> NtlmContext:
        return NtlmContext(
            NtlmAcceptor(names, accounts, random=random, utc=utc, allow_anonymous=allow_anonymous)
        )

    mechanisms = [Mechanism((NTLMSSP,), ntlm, raw_prefix=SIGNATURE)]
    packages: dict[int, Callable[[], SecurityContext]] = {
        RPC_C_AUTHN_WINNT: ntlm,
        RPC_C_AUTHN_GSS_NEGOTIATE: lambda: SpnegoContext(SpnegoAcceptor(mechanisms)),
    }
    if kerberos is not None:
        mechanisms.append(Mechanism((KERBEROS, MS_KERBEROS), kerberos))
        packages[RPC_C_AUTHN_GSS_KERBEROS] = kerberos
    return packages


def initiators(
    credentials: NtlmCredentials | None = None,
    *,
    random: Callable[[int], bytes],
    utc: Callable[[], float],
    seal: bool,
    target_name: str = "",
    workstation: str = "",
    kerberos: KerberosInitiator | None = None,
) -> Packages:
    """What a client can start; the first step of each context is `step(b"")`.

    Args:
        credentials: who logs on by NTLM; None where that is not wanted.
        random: gives that many random bytes.
        utc: the time, in seconds since 1970.
        seal: ask for encryption, as packet privacy needs it; signing is always asked for.
        target_name: the service principal name of the server, such as `RPC/host`.
        workstation: the NetBIOS name of this machine; the server may log it.
        kerberos: has a ticket for the server; SPNEGO prefers it to NTLM.
    """
    packages: dict[int, Callable[[], SecurityContext]] = {}
    mechanisms = []
    if kerberos is not None:
        packages[RPC_C_AUTHN_GSS_KERBEROS] = kerberos
        mechanisms.append(Mechanism((KERBEROS, MS_KERBEROS), kerberos.for_negotiation))
    if credentials is not None:
        user = credentials

        def ntlm() -> NtlmContext:
            return NtlmContext(
                NtlmInitiator(
                    user,
                    random=random,
                    utc=utc,
                    seal=seal,
                    target_name=target_name,
                    workstation=workstation,
                )
            )

        packages[RPC_C_AUTHN_WINNT] = ntlm
        mechanisms.append(Mechanism((NTLMSSP,), ntlm))
    packages[RPC_C_AUTHN_GSS_NEGOTIATE] = lambda: SpnegoContext(SpnegoInitiator(mechanisms))
    return packages
