"""Session keys under RSA: the SIMPLEBLOB of [MS-MQQB] 2.4.2."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.key_blobs import PublicKeyBlob, SimpleBlob

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

MIN_BITS: Final = 512
MAX_BITS: Final = 16_384
MIN_EXPONENT: Final = 3


class PrivateKey(Protocol):
    """A private key for key exchange; any thread may use it."""

    @property
    def size(self) -> int:
        """Bytes of the modulus."""

    def decrypt(self, block: bytes) -> bytes:
        """Undo RSAES-PKCS1-v1_5; something random for a block that is not valid."""


class RsaPrivateKey:
    """A private key by its numbers; loaded when it is first used, and every use is counted.

    Raises:
        ValueError: when it is first used, if the numbers are not a key.
    """

    __slots__ = ("_loaded", "_numbers", "operations", "size")

    def __init__(self, n: int, e: int, d: int, p: int, q: int) -> None:
        self._numbers = (n, e, d, p, q)
        self._loaded: RSAPrivateKey | None = None
        self.size: Final = (n.bit_length() + 7) // 8
        self.operations = 0

    def decrypt(self, block: bytes) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

        if self._loaded is None:
            self._loaded = _load_private(*self._numbers)
        self.operations += 1
        try:
            return self._loaded.decrypt(block, PKCS1v15())
        except ValueError:
            # Libraries that do tell of wrong padding: nobody else learns of it.
            return b""


def _load_private(n: int, e: int, d: int, p: int, q: int) -> RSAPrivateKey:
    from cryptography.hazmat.primitives.asymmetric import rsa

    public = rsa.RSAPublicNumbers(e, n)
    parts = d % (p - 1), d % (q - 1), pow(q, -1, p)
    return rsa.RSAPrivateNumbers(p, q, d, *parts, public).private_key()


def load_public(blob: bytes) -> RSAPublicKey:
    """The key in a PUBLICKEYBLOB.

    Raises:
        ValueError: it is not one, or not one to encrypt with.
    """
    from cryptography.hazmat.primitives.asymmetric import rsa

    try:
        key, _ = PublicKeyBlob.parse(blob)
    except MalformedPacket as exc:
        raise ValueError(str(exc)) from exc
    modulus = int.from_bytes(key.modulus, "little")
    bits = modulus.bit_length()
    if not MIN_BITS <= bits <= MAX_BITS or modulus % 2 == 0:
        raise ValueError(f"a modulus of {bits} bits cannot be used")
    if key.pub_exp < MIN_EXPONENT or key.pub_exp % 2 == 0:
        raise ValueError(f"a public exponent of {key.pub_exp} cannot be used")
    return rsa.RSAPublicNumbers(key.pub_exp, modulus).public_key()


def wrap_key(public_key: bytes, algorithm: int, key: bytes) -> bytes:
    """The SIMPLEBLOB of a session key for the owner of a PUBLICKEYBLOB.

    Raises:
        ValueError: the public key cannot be used.
    """
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

    block = load_public(public_key).encrypt(key, PKCS1v15())
    return SimpleBlob(algorithm, block[::-1]).serialize()


def unwrap_key(
    blob: bytes, algorithm: int, key_bytes: int, private_keys: Iterable[PrivateKey]
) -> list[bytes]:
    """The session keys that a SIMPLEBLOB may hold, one for each private key that fits.

    RSA decryption does not fail, it returns random bytes: so the length must be right, and the
    padding of the body decides.

    Args:
        algorithm: that the message names; the blob must name the same.
        key_bytes: how long a key of this algorithm is.
    """
    try:
        simple, _ = SimpleBlob.parse(blob)
    except MalformedPacket:
        return []
    if simple.session_key_algorithm != algorithm:
        return []
    block = simple.encrypted_key[::-1]
    keys = []
    for private_key in private_keys:
        if len(block) == private_key.size:
            key = private_key.decrypt(block)
            if len(key) == key_bytes:
                keys.append(key)
    return keys
