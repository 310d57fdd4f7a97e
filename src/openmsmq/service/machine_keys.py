"""The key pairs of a queue manager in use: published ones, and older ones for decryption."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from openmsmq.security.encryption.key_wrap import RsaPrivateKey
from openmsmq.wire.codes.algorithms import Provider
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.security.key_blobs import CALG_RSA_KEYX

from .keys import EXCHANGE, KeyFiles, RsaKey

SECONDS_PER_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class MachineKey:
    """A key as shown to users.

    Attributes:
        fingerprint: SHA-256 of the PUBLICKEYBLOB.
        retired: when it was replaced, in seconds since 1970; None for the current one.
    """

    provider: str
    bits: int
    fingerprint: str
    retired: int | None = None


class MachineKeys:
    """The exchange keys of the providers that a queue manager uses.

    Args:
        providers: by the privacy level that stands for each.
        retention_days: how long a retired key can still decrypt.
        utc: the time of day in seconds since 1970.

    Raises:
        ConfigError: a file cannot be used.
    """

    def __init__(
        self,
        files: KeyFiles,
        providers: Mapping[PrivacyLevel, Provider],
        *,
        retention_days: float,
        utc: Callable[[], float],
    ) -> None:
        self._files = files
        self._providers = providers
        self._retention_seconds = retention_days * SECONDS_PER_DAY
        self._utc = utc
        self._keys: dict[PrivacyLevel, tuple[RsaPrivateKey, ...]] = {}
        self._listed: tuple[MachineKey, ...] = ()
        self._read()

    @property
    def providers(self) -> tuple[Provider, ...]:
        """The providers whose keys are published."""
        return tuple(self._providers.values())

    # Publication

    def exchange_key(self, provider: Provider) -> bytes:
        """The public key with which others encrypt secrets; created if missing."""
        missing = self._files.find(EXCHANGE, provider) is None
        key = self._files.exchange_key(provider)
        if missing:
            self._read()
        return key

    def signing_key(self, provider: Provider) -> bytes:
        """The public key that verifies a signature; created if missing."""
        return self._files.signing_key(provider)

    # Decryption

    def exchange_keys(self, level: PrivacyLevel) -> Sequence[RsaPrivateKey]:
        """The private keys of the provider of a privacy level: the current one, then older ones."""
        return self._keys.get(level, ())

    # Administration

    def rotate(self) -> None:
        """Create new exchange keys; it is slow, and may run in any thread.

        Raises:
            ConfigError: a file cannot be used.
        """
        for provider in self.providers:
            self._files.rotate(EXCHANGE, provider, utc=int(self._utc()))
        self._read()

    def listed(self) -> tuple[MachineKey, ...]:
        """All keys that can decrypt."""
        return self._listed

    def _read(self) -> None:
        keys: dict[PrivacyLevel, tuple[RsaPrivateKey, ...]] = {}
        listed: list[MachineKey] = []
        for level, provider in self._providers.items():
            self._files.forget_retired(
                EXCHANGE, provider, before=self._utc() - self._retention_seconds
            )
            current = self._files.find(EXCHANGE, provider)
            pairs: list[tuple[RsaKey, int | None]] = [] if current is None else [(current, None)]
            pairs += self._files.retired(EXCHANGE, provider)
            keys[level] = tuple(RsaPrivateKey(*key) for key, _ in pairs)
            listed += [_describe(provider, key, retired) for key, retired in pairs]
        self._keys = keys
        self._listed = tuple(listed)


def _describe(provider: Provider, key: RsaKey, retired: int | None) -> MachineKey:
    digest = sha256(key.public_blob(CALG_RSA_KEYX)).hexdigest()
    return MachineKey(provider.name, key.bits, digest, retired)
