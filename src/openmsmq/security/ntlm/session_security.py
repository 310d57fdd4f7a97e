"""Signing and sealing of messages with extended session security ([MS-NLMP] 3.4)."""

from hashlib import md5
from hmac import compare_digest
from struct import Struct
from typing import Final

from openmsmq.security.mechanism import AuthenticationFailed

from .flags import KEY_EXCH, SEAL, has_session_security
from .keys import CLIENT_TO_SERVER, SERVER_TO_CLIENT, rc4, seal_key, sign_key

# [MS-NLMP] 2.2.2.9.2: Version, Checksum, SeqNum.
SIGNATURE_SIZE: Final = 16
SIGNATURE_VERSION: Final = b"\1\0\0\0"
CHECKSUM_SIZE: Final = 8
_SEQ_NUM: Final = Struct("<I")
_SEQ_NUM_MASK: Final = 0xFFFFFFFF
# RFC 2104: ipad and opad, and the block of MD5 that they fill.
_INNER_PAD: Final = bytes(octet ^ 0x36 for octet in range(256))
_OUTER_PAD: Final = bytes(octet ^ 0x5C for octet in range(256))
_BLOCK_SIZE: Final = 64


class MessageKeys:
    """One direction: its keys, its key stream and its sequence number."""

    __slots__ = ("_encrypts_checksum", "_inner", "_outer", "_seal_key", "_seq_num", "_update")

    def __init__(self, flags: int, session_key: bytes, direction: bytes) -> None:
        # HMAC-MD5, its key taken in once: `hmac.digest` takes twice as long for a short message.
        key = sign_key(session_key, direction).ljust(_BLOCK_SIZE, b"\0")
        self._inner = md5(key.translate(_INNER_PAD), usedforsecurity=False)
        self._outer = md5(key.translate(_OUTER_PAD), usedforsecurity=False)
        self._seal_key = seal_key(session_key, direction)
        self._update = rc4(self._seal_key).update
        # [MS-NLMP] 3.4.4.2: with a key exchange the checksum is encrypted, too.
        self._encrypts_checksum = bool(flags & KEY_EXCH)
        self._seq_num = 0

    def protect(
        self, header: bytes, body: bytes | bytearray, trailer: bytes, *, seal: bool
    ) -> tuple[bytes, bytes]:
        """The body to send, encrypted when `seal`, and the signature over all three parts."""
        seq_num = self._next_seq_num()
        checksum = self._checksum(seq_num, header, body, trailer)
        if not seal:
            if self._encrypts_checksum:
                checksum = self._update(checksum)
            return bytes(body), SIGNATURE_VERSION + checksum + seq_num
        if not self._encrypts_checksum:
            return self._update(body), SIGNATURE_VERSION + checksum + seq_num
        # One call for both, as the checksum continues the key stream of the body.
        encrypted = self._update(b"".join((body, checksum)))
        size = len(body)
        return encrypted[:size], SIGNATURE_VERSION + encrypted[size:] + seq_num

    def check(
        self,
        header: bytes,
        body: bytes | bytearray | memoryview,
        trailer: bytes,
        signature: bytes,
        *,
        seal: bool,
    ) -> bytes:
        """The body, decrypted when `seal`.

        Raises:
            AuthenticationFailed: the signature is not the one of the next message.
        """
        if len(signature) != SIGNATURE_SIZE:
            raise AuthenticationFailed(f"a signature of {len(signature)} bytes")
        seq_num = self._next_seq_num()
        checksum = signature[4:12]
        if seal and self._encrypts_checksum:
            decrypted = self._update(b"".join((body, checksum)))
            plain, checksum = decrypted[:-CHECKSUM_SIZE], decrypted[-CHECKSUM_SIZE:]
        else:
            plain = self._update(body) if seal else bytes(body)
            if self._encrypts_checksum:
                checksum = self._update(checksum)
        expected = self._checksum(seq_num, header, plain, trailer)
        if not compare_digest(
            SIGNATURE_VERSION + expected + seq_num, signature[:4] + checksum + signature[12:]
        ):
            raise AuthenticationFailed("wrong signature, or a repeated or missing message")
        return plain

    def restart_key_stream(self) -> None:
        """Begin the key stream anew; sequence numbers go on.

        [MS-SPNG] 3.1.5.1, 3.2.5.1: the key stream of the mechListMIC is that of the first message.
        """
        self._update = rc4(self._seal_key).update

    def _next_seq_num(self) -> bytes:
        number = self._seq_num
        self._seq_num = number + 1 & _SEQ_NUM_MASK
        return _SEQ_NUM.pack(number)

    def _checksum(
        self, seq_num: bytes, header: bytes, body: bytes | bytearray, trailer: bytes
    ) -> bytes:
        inner = self._inner.copy()
        inner.update(b"".join((seq_num, header, body, trailer)))
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()[:CHECKSUM_SIZE]


class SessionSecurity:
    """Both directions, on either side; of no more use once a check failed.

    Args:
        flags: what both sides agreed on.
        session_key: ExportedSessionKey.
        is_client: whether this side is the initiator.
    """

    __slots__ = ("_can_seal", "_can_sign", "_incoming", "_is_broken", "_outgoing")

    def __init__(self, flags: int, session_key: bytes, *, is_client: bool) -> None:
        client = MessageKeys(flags, session_key, CLIENT_TO_SERVER)
        server = MessageKeys(flags, session_key, SERVER_TO_CLIENT)
        self._outgoing, self._incoming = (client, server) if is_client else (server, client)
        self._can_sign = has_session_security(flags)
        self._can_seal = bool(flags & SEAL)
        self._is_broken = False

    @property
    def has_integrity(self) -> bool:
        return self._can_sign

    def wrap(
        self, header: bytes, body: bytes | bytearray, trailer: bytes, *, seal: bool
    ) -> tuple[bytes, bytes]:
        self._require(seal=seal)
        return self._outgoing.protect(header, body, trailer, seal=seal)

    def unwrap(
        self,
        header: bytes,
        body: bytes | bytearray | memoryview,
        trailer: bytes,
        signature: bytes,
        *,
        seal: bool,
    ) -> bytes:
        self._require(seal=seal)
        try:
            return self._incoming.check(header, body, trailer, signature, seal=seal)
        except AuthenticationFailed:
            self._is_broken = True
            raise

    def sign_mechanisms(self, mechanisms: bytes) -> bytes:
        signature = self.wrap(b"", mechanisms, b"", seal=False)[1]
        self._outgoing.restart_key_stream()
        return signature

    def verify_mechanisms(self, mechanisms: bytes, signature: bytes) -> None:
        self.unwrap(b"", mechanisms, b"", signature, seal=False)
        self._incoming.restart_key_stream()

    def _require(self, *, seal: bool) -> None:
        if self._is_broken:
            raise AuthenticationFailed("an earlier message had a wrong signature")
        if not self._can_sign:
            raise AuthenticationFailed("the peers did not agree on signing")
        if seal and not self._can_seal:
            raise AuthenticationFailed("the peers did not agree on sealing")
