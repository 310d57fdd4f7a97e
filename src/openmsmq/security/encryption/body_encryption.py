"""Bodies are encrypted for their destination ([MS-MQQB] 3.1.7.1.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from openmsmq.wire.codes.algorithms import PROVIDERS, EncryptionAlgorithm
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.message.body_encryption import with_encrypted_body
from openmsmq.wire.security.security_header import ProviderInfo

from .ciphers import KEY_BYTES, LEVELS, SALT, CipherMissing, make_cipher
from .key_cache import KeyCaches
from .key_wrap import wrap_key
from .published_keys import CannotEncrypt, ProviderChoice, PublishedKeys
from .settings import SYMMETRIC_KEY_SHORT_LIFETIME, EncryptionSettings

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.wire.message.user_message import UserMessage

    from .ciphers import BodyCipher

REDUCED_KEY_BYTES: Final = 5
_UNSUPPORTED: Final = Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED
_PROVIDER_INFOS: Final = {
    level: ProviderInfo(provider.type, provider.name).serialize()
    for level, provider in PROVIDERS.items()
}
RandomBytes = Callable[[int], bytes]
_Wrap = Callable[[bytes, int, bytes], bytes]
_Key = tuple[PrivacyLevel, EncryptionAlgorithm, "UUID"]


class SendKey:
    """CachedSymmetricKey of a sender: the cipher with its key, and the key for the receiver."""

    __slots__ = ("choice", "cipher", "encrypted_key", "provider_info")

    def __init__(self, choice: ProviderChoice, cipher: BodyCipher, encrypted_key: bytes) -> None:
        self.choice = choice
        self.cipher = cipher
        # A SIMPLEBLOB.
        self.encrypted_key = encrypted_key
        self.provider_info = _PROVIDER_INFOS[choice.level]


class BodyEncryption:
    """Encrypts bodies, and keeps the session keys that it makes for a while.

    Args:
        random_bytes: that nobody can guess.
        wrap: makes the SIMPLEBLOB of a session key.
    """

    __slots__ = ("_caches", "_random_bytes", "_settings", "_wrap")

    def __init__(
        self,
        random_bytes: RandomBytes,
        settings: EncryptionSettings | None = None,
        *,
        wrap: _Wrap = wrap_key,
    ) -> None:
        self._settings = settings = settings or EncryptionSettings()
        self._random_bytes = random_bytes
        self._wrap = wrap
        size = settings.send_symmetric_key_cache_size
        # SendSymmetricKeyCache and SendBaseSymmetricKeyCache (notes 67 to 69).
        self._caches: KeyCaches[_Key, SendKey] = KeyCaches(
            size, settings.send_key_lifetime, SYMMETRIC_KEY_SHORT_LIFETIME
        )

    def encrypt(
        self, message: UserMessage, destination: UUID, published: PublishedKeys, *, now: float
    ) -> bytes:
        """The packet of a message with a private body as it travels.

        Args:
            destination: the queue manager that can decrypt it.
            published: its keys.

        Raises:
            CannotEncrypt: with the reason; then it must not be sent.
        """
        level = LEVELS.get(message.privacy_level)
        if level is None:
            raise CannotEncrypt(_UNSUPPORTED, f"PrivacyLevel {message.privacy_level} is unknown")
        key = self._key(published.choose(level, self._settings), destination, now)
        body = message.packet[message.body_offset : message.body_end]
        try:
            return with_encrypted_body(
                message,
                key.cipher.encrypt(body),
                encryption_key=key.encrypted_key,
                provider_info=key.provider_info,
                encryption_algorithm=key.choice.algorithm,
                privacy_level=key.choice.level,
            )
        except ValueError as exc:
            raise CannotEncrypt(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, str(exc)) from exc

    def _key(self, choice: ProviderChoice, destination: UUID, now: float) -> SendKey:
        """UseCachedKey: one that is in use, or a new one."""
        cache = self._caches.of_level(choice.level)
        name = (choice.level, choice.algorithm, destination)
        key = cache.find(name, now=now)
        # A destination that has new keys gets a new session key.
        if key is None or key.choice.public_key != choice.public_key:
            key = self._new_key(choice)
            cache.add(name, key, now=now)
        return key

    def _new_key(self, choice: ProviderChoice) -> SendKey:
        level, algorithm, public_key = choice
        if (
            level is PrivacyLevel.BODY_ENHANCED
            and algorithm is EncryptionAlgorithm.RC2
            and self._settings.send_enhanced_rc2_using_40_bit_keys
        ):
            session_key = self._random_bytes(REDUCED_KEY_BYTES) + SALT
        else:
            session_key = self._random_bytes(KEY_BYTES[level][algorithm])
        try:
            cipher = make_cipher(level, algorithm, session_key)
            return SendKey(choice, cipher, self._wrap(public_key, algorithm, session_key))
        except ValueError as exc:
            reason = f"the key that the destination has published cannot be used: {exc}"
            raise CannotEncrypt(Hresult.MQ_ERROR_PUBLIC_KEY_NOT_FOUND, reason) from exc
        except CipherMissing as missing:
            raise CannotEncrypt(_UNSUPPORTED, str(missing)) from missing

    # Cleanup timers

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` is to be called next."""
        return self._caches.next_timer()

    def handle_timer(self, *, now: float) -> None:
        """Remove keys that are old ([MS-MQQB] 3.1.6.11, 3.1.6.12)."""
        self._caches.handle_timer(now=now)
