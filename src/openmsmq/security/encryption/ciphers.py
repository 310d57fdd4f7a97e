"""The ciphers for bodies: AES, RC2 and RC4, as [MS-MQMQ] 2.2.19.3 names them.

AES and RC2 run in CBC mode with an initial value of zero and the padding of PKCS #5. Keys are
those of the SIMPLEBLOB; short ones get eleven zero bytes of salt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.codes.message_enums import PrivacyLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.modes import CBC

AES_BLOCK: Final = 16
RC2_BLOCK: Final = 8
# The bits that count of an RC2 key that is meant to be weak.
REDUCED_BITS: Final = 40
# [MS-MQQB] 3.1.7.1.5: a 40-bit key of the Enhanced provider ends in 88 zero bits. The Base provider
# of Windows appends the same zeros as salt.
SALT: Final = bytes(11)
# The length of the key in a SIMPLEBLOB, by provider and algorithm.
KEY_BYTES: Final[dict[PrivacyLevel, dict[int, int]]] = {
    PrivacyLevel.BODY_AES: {
        EncryptionAlgorithm.AES_128: 16,
        EncryptionAlgorithm.AES_192: 24,
        EncryptionAlgorithm.AES_256: 32,
    },
    PrivacyLevel.BODY_ENHANCED: {EncryptionAlgorithm.RC2: 16, EncryptionAlgorithm.RC4: 16},
    PrivacyLevel.BODY_BASE: {EncryptionAlgorithm.RC2: 5, EncryptionAlgorithm.RC4: 5},
}
# Privacy levels that ask for encryption, by their numbers.
LEVELS: Final = {int(level): level for level in KEY_BYTES}
_PADDINGS: Final = tuple(bytes((size,)) * size for size in range(AES_BLOCK + 1))


class CipherMissing(Exception):
    """A cipher needs a library that is not installed."""


class BodyCipher(Protocol):
    """A cipher with its key; any thread may use it."""

    def encrypt(self, body: bytes) -> bytes: ...

    def decrypt(self, cipher_text: bytes) -> bytes | None:
        """The body; None if the cipher text cannot have been made with this key."""


class CbcCipher:
    """A block cipher of the usual library in CBC mode."""

    __slots__ = ("_block", "_cipher")

    def __init__(self, cipher: Cipher[CBC], block: int) -> None:
        self._cipher = cipher
        self._block = block

    def encrypt(self, body: bytes) -> bytes:
        encryptor = self._cipher.encryptor()
        padding = _PADDINGS[self._block - len(body) % self._block]
        return encryptor.update(body + padding) + encryptor.finalize()

    def decrypt(self, cipher_text: bytes) -> bytes | None:
        if not is_whole(cipher_text, self._block):
            return None
        decryptor = self._cipher.decryptor()
        return unpad(decryptor.update(cipher_text) + decryptor.finalize(), self._block)


class Rc4Cipher:
    """RC4; it takes every cipher text for its own."""

    __slots__ = ("_cipher",)

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
        from cryptography.hazmat.primitives.ciphers import Cipher

        self._cipher = Cipher(ARC4(key), None)

    def encrypt(self, body: bytes) -> bytes:
        encryptor = self._cipher.encryptor()
        return encryptor.update(body) + encryptor.finalize()

    def decrypt(self, cipher_text: bytes) -> bytes | None:
        return self.encrypt(cipher_text)


class ReducedRc2Cipher:
    """RC2 with a key of which only 40 bits count (RFC 2268, effective key length).

    Raises:
        CipherMissing: the extra `legacy` is not installed.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        try:
            import Cryptodome.Cipher.ARC2  # noqa: F401
        except ImportError as exc:
            raise CipherMissing("RC2 with 40 bits needs `pip install openmsmq[legacy]`") from exc
        self._key = key

    def encrypt(self, body: bytes) -> bytes:
        padding = _PADDINGS[RC2_BLOCK - len(body) % RC2_BLOCK]
        return _reduced_rc2(self._key).encrypt(body + padding)

    def decrypt(self, cipher_text: bytes) -> bytes | None:
        if not is_whole(cipher_text, RC2_BLOCK):
            return None
        return unpad(_reduced_rc2(self._key).decrypt(cipher_text), RC2_BLOCK)


class _Blocks(Protocol):
    def encrypt(self, plaintext: bytes) -> bytes: ...

    def decrypt(self, ciphertext: bytes) -> bytes: ...


def _reduced_rc2(key: bytes) -> _Blocks:
    from Cryptodome.Cipher import ARC2

    # Its type leaves out the effective length of the key.
    new: Callable[..., _Blocks] = ARC2.new
    return new(key, ARC2.MODE_CBC, iv=bytes(RC2_BLOCK), effective_keylen=REDUCED_BITS)


def is_whole(cipher_text: bytes, block: int) -> bool:
    """Whether a cipher text consists of blocks, at least one: an empty body has one of padding."""
    return len(cipher_text) > 0 and len(cipher_text) % block == 0


def unpad(clear: bytes, block: int) -> bytes | None:
    """The body without its padding; None if that is wrong, as after decryption by another key."""
    size = clear[-1]
    if not 0 < size <= block or clear[-size:] != _PADDINGS[size]:
        return None
    return clear[:-size]


def make_cipher(level: PrivacyLevel, algorithm: int, key: bytes) -> BodyCipher:
    """The cipher that a message is encrypted with.

    Args:
        key: as it is in the SIMPLEBLOB.

    Raises:
        CipherMissing: a library is not installed.
    """
    return next(candidate_ciphers(level, algorithm, key))


def candidate_ciphers(level: PrivacyLevel, algorithm: int, key: bytes) -> Iterator[BodyCipher]:
    """The ciphers that a message may have been encrypted with, the likeliest first.

    Raises:
        CipherMissing: a library is not installed.
    """
    if level is PrivacyLevel.BODY_AES:
        yield aes_cipher(key)
    elif algorithm == EncryptionAlgorithm.RC4:
        # The Base provider has no other sign of its salt than that Windows uses it.
        yield Rc4Cipher(key + SALT if level is PrivacyLevel.BODY_BASE else key)
    elif level is PrivacyLevel.BODY_BASE:
        yield ReducedRc2Cipher(key + SALT)
        yield ReducedRc2Cipher(key)
    elif is_reduced(key):
        yield ReducedRc2Cipher(key)
    else:
        yield rc2_cipher(key)
        # Some versions of Windows used 40 bits of a whole key.
        yield ReducedRc2Cipher(key)


def is_reduced(key: bytes) -> bool:
    """Whether a key of the Enhanced provider ends in 88 zero bits."""
    return key.endswith(SALT)


def aes_cipher(key: bytes) -> CbcCipher:
    """AES with a key of 16, 24 or 32 bytes."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC

    return CbcCipher(Cipher(AES(key), CBC(bytes(AES_BLOCK))), AES_BLOCK)


def rc2_cipher(key: bytes) -> CbcCipher:
    """RC2 with a key of 16 bytes, all of which count."""
    from cryptography.hazmat.decrepit.ciphers.algorithms import RC2
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.modes import CBC

    return CbcCipher(Cipher(RC2(key), CBC(bytes(RC2_BLOCK))), RC2_BLOCK)
