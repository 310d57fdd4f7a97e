"""NEGOTIATE: what the two sides of NTLM agree on ([MS-NLMP] 2.2.2.5)."""

from enum import IntFlag
from typing import Final


class NegotiateFlags(IntFlag):
    """The flags by their alternate names; messages keep them as plain numbers."""

    NTLMSSP_NEGOTIATE_UNICODE = 0x00000001
    NTLM_NEGOTIATE_OEM = 0x00000002
    NTLMSSP_REQUEST_TARGET = 0x00000004
    NTLMSSP_NEGOTIATE_SIGN = 0x00000010
    NTLMSSP_NEGOTIATE_SEAL = 0x00000020
    NTLMSSP_NEGOTIATE_DATAGRAM = 0x00000040
    NTLMSSP_NEGOTIATE_LM_KEY = 0x00000080
    NTLMSSP_NEGOTIATE_NTLM = 0x00000200
    NTLMSSP_ANONYMOUS = 0x00000800
    NTLMSSP_NEGOTIATE_OEM_DOMAIN_SUPPLIED = 0x00001000
    NTLMSSP_NEGOTIATE_OEM_WORKSTATION_SUPPLIED = 0x00002000
    NTLMSSP_NEGOTIATE_ALWAYS_SIGN = 0x00008000
    NTLMSSP_TARGET_TYPE_DOMAIN = 0x00010000
    NTLMSSP_TARGET_TYPE_SERVER = 0x00020000
    NTLMSSP_NEGOTIATE_EXTENDED_SESSIONSECURITY = 0x00080000
    NTLMSSP_NEGOTIATE_IDENTIFY = 0x00100000
    NTLMSSP_REQUEST_NON_NT_SESSION_KEY = 0x00400000
    NTLMSSP_NEGOTIATE_TARGET_INFO = 0x00800000
    NTLMSSP_NEGOTIATE_VERSION = 0x02000000
    NTLMSSP_NEGOTIATE_128 = 0x20000000
    NTLMSSP_NEGOTIATE_KEY_EXCH = 0x40000000
    NTLMSSP_NEGOTIATE_56 = 0x80000000


UNICODE: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_UNICODE)
SIGN: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_SIGN)
SEAL: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_SEAL)
DATAGRAM: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_DATAGRAM)
REQUEST_TARGET: Final = int(NegotiateFlags.NTLMSSP_REQUEST_TARGET)
NTLM: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_NTLM)
ANONYMOUS: Final = int(NegotiateFlags.NTLMSSP_ANONYMOUS)
OEM_DOMAIN_SUPPLIED: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_OEM_DOMAIN_SUPPLIED)
OEM_WORKSTATION_SUPPLIED: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_OEM_WORKSTATION_SUPPLIED)
ALWAYS_SIGN: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_ALWAYS_SIGN)
TARGET_TYPE_DOMAIN: Final = int(NegotiateFlags.NTLMSSP_TARGET_TYPE_DOMAIN)
TARGET_TYPE_SERVER: Final = int(NegotiateFlags.NTLMSSP_TARGET_TYPE_SERVER)
EXTENDED_SESSIONSECURITY: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_EXTENDED_SESSIONSECURITY)
IDENTIFY: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_IDENTIFY)
TARGET_INFO: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_TARGET_INFO)
VERSION: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_VERSION)
KEY_128: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_128)
KEY_EXCH: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_KEY_EXCH)
KEY_56: Final = int(NegotiateFlags.NTLMSSP_NEGOTIATE_56)


def has_session_security(flags: int) -> bool:
    """Whether messages are signed after the logon."""
    return bool(flags & (SIGN | SEAL))


def exchanges_key(flags: int) -> bool:
    """Whether the initiator sends a session key of its own ([MS-NLMP] 3.1.5.1.2)."""
    return bool(flags & KEY_EXCH) and has_session_security(flags)


def weakness(flags: int) -> str:
    """Why these flags are too weak for either side; empty when they are not."""
    if not flags & UNICODE:
        return "no Unicode"
    if flags & DATAGRAM:
        return "connectionless"
    if not flags & EXTENDED_SESSIONSECURITY:
        return "no extended session security"
    if has_session_security(flags) and not flags & KEY_128:
        return "keys shorter than 128 bits"
    return ""
