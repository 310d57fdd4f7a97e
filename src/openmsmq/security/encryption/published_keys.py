"""The public keys that a queue manager has published, and which of them to use."""

from __future__ import annotations

from typing import Final, NamedTuple, Self

from openmsmq.wire.codes.algorithms import PROVIDERS, EncryptionAlgorithm, Provider
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.key_blobs import MQDSPublicKey, MQDSPublicKeys

from .settings import EncryptionSettings

# [MS-MQQB] 3.1.7.1.5: the strongest key that the destination has.
STRONGEST_FIRST: Final = (
    PrivacyLevel.BODY_AES,
    PrivacyLevel.BODY_ENHANCED,
    PrivacyLevel.BODY_BASE,
)
_NO_KEY: Final = Hresult.MQ_ERROR_PUBLIC_KEY_DOES_NOT_EXIST


class CannotEncrypt(Exception):
    """A message cannot be encrypted, and must not be sent.

    Args:
        code: for ConnectionHistory.
        reason: in words.
    """

    def __init__(self, code: Hresult, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class ProviderChoice(NamedTuple):
    """UseCSP by its privacy level, UseAlgorithm, and UsePublicKey as PUBLICKEYBLOB."""

    level: PrivacyLevel
    algorithm: EncryptionAlgorithm
    public_key: bytes


class PublishedKeys:
    """RemoteQMPublicKey: the keys of one queue manager, by the privacy level of their provider."""

    __slots__ = ("_keys",)

    def __init__(self, keys: dict[PrivacyLevel, bytes]) -> None:
        self._keys = keys

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Read PublicEncryptionKeyList, an MQDSPUBLICKEYS.

        Raises:
            CannotEncrypt: there are no keys, or the list is malformed.
        """
        if not raw:
            raise CannotEncrypt(_NO_KEY, "the destination has published no keys")
        try:
            published, _ = MQDSPublicKeys.parse(raw)
        except MalformedPacket as exc:
            raise CannotEncrypt(_NO_KEY, f"the published keys are malformed: {exc}") from exc
        keys: dict[PrivacyLevel, bytes] = {}
        for level, provider in PROVIDERS.items():
            for key in published.public_keys:
                if is_of(key, provider):
                    keys.setdefault(level, key.key)
        return cls(keys)

    def choose(self, level: PrivacyLevel, settings: EncryptionSettings) -> ProviderChoice:
        """The strongest provider that both sides have.

        Args:
            level: what the message asks for at least.

        Raises:
            CannotEncrypt: there is none, or none that is strong enough.
        """
        for candidate in STRONGEST_FIRST:
            key = self._keys.get(candidate)
            if key is not None and settings.uses(candidate):
                return ProviderChoice(candidate, settings.preferred(candidate), key)
            if candidate is level:
                break
        if any(not settings.uses(candidate) for candidate in self._keys):
            reason = (
                "the destination has keys for old ciphers only; `legacy_encryption` allows them"
            )
        else:
            reason = f"the destination has no key for {PROVIDERS[level].name}"
        raise CannotEncrypt(Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED, reason)


def is_of(key: MQDSPublicKey, provider: Provider) -> bool:
    """Whether a key is of a provider.

    [MS-MQQB] writes the names without a comma before the version, [MS-MQDMPR] with one.
    """
    return _plain(key.provider_name) == _plain(provider.name)


def _plain(name: str) -> str:
    return name.replace(",", "").casefold()
