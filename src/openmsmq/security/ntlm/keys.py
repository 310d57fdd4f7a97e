"""The keys and proofs of NTLMv2 ([MS-NLMP] 3.3.2, 3.4.5)."""

import hashlib
from hmac import digest
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

from openmsmq.security.passwords import upper

_SIGNING: Final = b"session key to %s signing key magic constant\0"
_SEALING: Final = b"session key to %s sealing key magic constant\0"
CLIENT_TO_SERVER: Final = b"client-to-server"
SERVER_TO_CLIENT: Final = b"server-to-client"

# [MS-NLMP] 2.2.2.7: RespType, HiRespType and six bytes of zero.
_TEMP_START: Final = bytes((1, 1)) + bytes(6)


def hmac_md5(key: bytes, data: bytes) -> bytes:
    return digest(key, data, "md5")


def rc4(key: bytes) -> "CipherContext":
    """RC4Init: the key stream of a key; each `update` continues it."""
    # 9 MB of memory, which a queue manager without remote readers does not need.
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
    from cryptography.hazmat.primitives.ciphers import Cipher

    return Cipher(ARC4(key), None).encryptor()


def rc4k(key: bytes, data: bytes) -> bytes:
    """RC4K: encrypt, or decrypt, with a key stream of its own."""
    return rc4(key).update(data)


def ntowf_v2(hashed: bytes, user: str, domain: str) -> bytes:
    """The response key of a user whose NT hash is `hashed`."""
    return hmac_md5(hashed, (upper(user) + domain).encode("utf-16-le"))


def client_challenge_blob(time: bytes, client_challenge: bytes, av_pairs: bytes) -> bytes:
    """The NTLMv2_CLIENT_CHALLENGE of an initiator, `temp` in the specification."""
    return b"".join((_TEMP_START, time, client_challenge, bytes(4), av_pairs, bytes(4)))


def nt_proof(response_key: bytes, server_challenge: bytes, blob: bytes) -> bytes:
    """NTProofStr."""
    return hmac_md5(response_key, server_challenge + blob)


def lm_v2_response(response_key: bytes, server_challenge: bytes, client_challenge: bytes) -> bytes:
    """LmChallengeResponse for servers that send no time."""
    return hmac_md5(response_key, server_challenge + client_challenge) + client_challenge


def session_base_key(response_key: bytes, proof: bytes) -> bytes:
    """SessionBaseKey, which in NTLMv2 is also the KeyExchangeKey."""
    return hmac_md5(response_key, proof)


def sign_key(session_key: bytes, direction: bytes) -> bytes:
    """SIGNKEY with extended session security."""
    return _md5(session_key + _SIGNING % direction)


def seal_key(session_key: bytes, direction: bytes) -> bytes:
    """SEALKEY with extended session security and 128 bits."""
    return _md5(session_key + _SEALING % direction)


def message_integrity_code(
    session_key: bytes, negotiate: bytes, challenge: bytes, authenticate: bytes
) -> bytes:
    """The MIC over the three messages, the last one with a MIC of zeros."""
    return hmac_md5(session_key, negotiate + challenge + authenticate)


def channel_bindings_hash(unhashed: bytes) -> bytes:
    """MsvAvChannelBindings for a gss_channel_bindings_struct; zeros without one."""
    return _md5(unhashed) if unhashed else bytes(16)


def _md5(data: bytes) -> bytes:
    # [MS-NLMP] 3.4.5 prescribes MD5.
    return hashlib.md5(data, usedforsecurity=False).digest()
