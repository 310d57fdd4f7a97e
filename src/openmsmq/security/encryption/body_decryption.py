"""Bodies that arrive encrypted are decrypted ([MS-MQQB] 3.1.5.8.3).

`BodyDecryption.begin` looks for the session key, in the thread that owns the cache. What it
returns does the rest, in any thread: it needs a private key unless the session key is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.message.body_encryption import encryption_key_of, with_clear_body
from openmsmq.wire.security.key_blobs import SIMPLEBLOB_SIZE

from .ciphers import (
    KEY_BYTES,
    LEVELS,
    CipherMissing,
    ReducedRc2Cipher,
    candidate_ciphers,
)
from .key_cache import KeyCaches
from .key_wrap import unwrap_key
from .settings import EncryptionSettings

if TYPE_CHECKING:
    from openmsmq.wire.message.user_message import UserMessage

    from .ciphers import BodyCipher
    from .key_wrap import PrivateKey

# What is decrypted in the thread that everything else waits for.
CHEAP_BYTES: Final = 64 * 1024
# Provider, EncryptionAlgorithm, SourceQueueManager, EncryptionKey.
_Key = tuple[PrivacyLevel, int, bytes, bytes]


class PrivateKeys(Protocol):
    """The private keys of a queue manager."""

    def exchange_keys(self, level: PrivacyLevel) -> Sequence[PrivateKey]:
        """Those of the provider of a privacy level: the current one, then older ones."""


class ReceivedKey:
    """CachedSymmetricKey of a receiver: what a SIMPLEBLOB holds, once that is known."""

    __slots__ = ("_blob", "algorithm", "cipher", "level", "private_keys", "session_keys")

    def __init__(
        self, level: PrivacyLevel, algorithm: int, blob: bytes, private_keys: Sequence[PrivateKey]
    ) -> None:
        self.level = level
        self.algorithm = algorithm
        self._blob = blob
        self.private_keys = private_keys
        # One for each private key that it may be for; None before RSA has been used.
        self.session_keys: list[bytes] | None = None
        # The cipher that has decrypted a body with it.
        self.cipher: BodyCipher | None = None

    @property
    def known(self) -> bool:
        """Whether no private key is needed any more."""
        return self.session_keys is not None

    def decrypt(self, cipher_text: bytes, settings: EncryptionSettings) -> bytes | None:
        """The clear body; None if this key is not the one that it was encrypted with.

        Raises:
            CipherMissing: a library is not installed.
        """
        if self.cipher is not None:
            return self.cipher.decrypt(cipher_text)
        if self.session_keys is None:
            key_bytes = KEY_BYTES[self.level][self.algorithm]
            self.session_keys = unwrap_key(self._blob, self.algorithm, key_bytes, self.private_keys)
        for session_key in self.session_keys:
            for cipher in candidate_ciphers(self.level, self.algorithm, session_key):
                if settings.reject_enhanced_rc2_using_40_bit_keys and self._is_weak(cipher):
                    continue
                body = cipher.decrypt(cipher_text)
                if body is not None:
                    self.cipher = cipher
                    return body
        return None

    def _is_weak(self, cipher: BodyCipher) -> bool:
        """Whether the Enhanced provider uses 40 bits of a key, be the other 88 zero or not."""
        return self.level is PrivacyLevel.BODY_ENHANCED and isinstance(cipher, ReducedRc2Cipher)


class Decryption:
    """The decryption of one message."""

    __slots__ = ("_key", "_message", "_settings")

    def __init__(
        self, message: UserMessage, key: ReceivedKey | None, settings: EncryptionSettings
    ) -> None:
        self._message = message
        # None if no key can fit.
        self._key = key
        self._settings = settings

    @property
    def cheap(self) -> bool:
        """Whether it needs no private key and little time."""
        key = self._key
        return key is None or (key.known and len(self._message.packet) <= CHEAP_BYTES)

    def make(self) -> bytes | None:
        """The packet with its body clear, in any thread; None if it cannot be decrypted."""
        if self._key is None:
            return None
        message = self._message
        cipher_text = message.packet[message.body_offset : message.body_end]
        try:
            body = self._key.decrypt(cipher_text, self._settings)
        except CipherMissing:
            return None
        return None if body is None else with_clear_body(message, body)


class BodyDecryption:
    """Decrypts bodies, and keeps the session keys that it has seen for a while."""

    __slots__ = ("_caches", "_private_keys", "_settings")

    def __init__(
        self, private_keys: PrivateKeys, settings: EncryptionSettings | None = None
    ) -> None:
        self._private_keys = private_keys
        self._settings = settings = settings or EncryptionSettings()
        size, lifetime = settings.receive_symmetric_key_cache_size, settings.receive_key_lifetime
        # ReceiveSymmetricKeyCache and ReceiveBaseSymmetricKeyCache (notes 59, 60).
        self._caches: KeyCaches[_Key, ReceivedKey] = KeyCaches(size, lifetime, lifetime)

    def begin(self, message: UserMessage, *, now: float) -> Decryption:
        """The decryption of a message with an encrypted body; its session key may be known."""
        return Decryption(message, self._find(message, now), self._settings)

    def _find(self, message: UserMessage, now: float) -> ReceivedKey | None:
        level = LEVELS.get(message.privacy_level)
        algorithm = message.encryption_algorithm
        if level is None or not self._settings.uses(level) or algorithm not in KEY_BYTES[level]:
            return None
        blob = encryption_key_of(message)
        cache = self._caches.of_level(level)
        # With its source: else one queue manager could use the session key of another.
        name = (level, algorithm, message.source, blob)
        key = cache.find(name, now=now)
        if key is None:
            private_keys = [
                private_key
                for private_key in self._private_keys.exchange_keys(level)
                if len(blob) == SIMPLEBLOB_SIZE + private_key.size
            ]
            # What cannot be for us takes no place among the keys.
            if private_keys:
                key = ReceivedKey(level, algorithm, blob, private_keys)
                cache.add(name, key, now=now)
        return key

    # Cleanup timers

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` is to be called next."""
        return self._caches.next_timer()

    def handle_timer(self, *, now: float) -> None:
        """Remove keys that are old ([MS-MQQB] 3.1.6.10)."""
        self._caches.handle_timer(now=now)
