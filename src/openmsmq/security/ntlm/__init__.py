"""NTLM ([MS-NLMP]): logon by user name and password, and protection of messages.

Only NTLMv2 with extended session security and keys of 128 bits is spoken; NTLMv1, LM and
connectionless NTLM are refused on both sides. `NtlmContext(NtlmAcceptor(...))` and
`NtlmContext(NtlmInitiator(...))` are security contexts as `openmsmq.security.mechanism` describes
them. Time, random bytes and the lookup of accounts are arguments.

NTLM proves that the client knows the NT hash of an account, and to the client that the server
knows it, too. It does not protect against relaying where channel bindings are missing, and an
attacker who records a logon can try passwords at leisure: passwords must be long.
"""

from openmsmq.security.passwords import nt_hash

from .acceptor import AccountLookup, NtlmAcceptor, NtlmAccount
from .context import NtlmContext
from .initiator import ANONYMOUS_CREDENTIALS, NtlmCredentials, NtlmInitiator
from .names import MachineNames

__all__ = [
    "ANONYMOUS_CREDENTIALS",
    "AccountLookup",
    "MachineNames",
    "NtlmAcceptor",
    "NtlmAccount",
    "NtlmContext",
    "NtlmCredentials",
    "NtlmInitiator",
    "nt_hash",
]
