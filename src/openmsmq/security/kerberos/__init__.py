"""Kerberos (RFC 4121, [MS-KILE]): logon by ticket, and protection of messages.

The tickets are handled by the GSS-API of the system (MIT Kerberos), through the package gssapi of
the extra `kerberos`; it is loaded when a context is made. `KerberosAcceptor` and
`KerberosInitiator` make security contexts as `openmsmq.security.mechanism` describes them, in DCE
style: three tokens.

The GSS-API reads tickets, keys and the time from the system. An initiator may ask a KDC over the
network at its first step; `KerberosInitiator.fetch_ticket` does that beforehand.
"""

from .acceptor import KerberosAcceptor, KerberosAccount, PrincipalLookup
from .context import KerberosContext
from .gss import is_installed, require_gssapi
from .initiator import KerberosInitiator, TicketSource, has_ticket
from .keytab import read_keytab

__all__ = [
    "KerberosAcceptor",
    "KerberosAccount",
    "KerberosContext",
    "KerberosInitiator",
    "PrincipalLookup",
    "TicketSource",
    "has_ticket",
    "is_installed",
    "read_keytab",
    "require_gssapi",
]
