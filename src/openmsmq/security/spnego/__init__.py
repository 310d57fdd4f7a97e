"""SPNEGO (RFC 4178, [MS-SPNG]): both sides agree on a mechanism, and sign that they did.

`SpnegoContext(SpnegoAcceptor(...))` and `SpnegoContext(SpnegoInitiator(...))` are security contexts
as `openmsmq.security.mechanism` describes them. What they negotiate is a sequence of `Mechanism`.
"""

from .acceptor import SpnegoAcceptor
from .context import Mechanism, SpnegoContext
from .initiator import SpnegoInitiator
from .tokens import KERBEROS, MS_KERBEROS, NTLMSSP

__all__ = [
    "KERBEROS",
    "MS_KERBEROS",
    "NTLMSSP",
    "Mechanism",
    "SpnegoAcceptor",
    "SpnegoContext",
    "SpnegoInitiator",
]
