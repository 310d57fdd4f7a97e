"""Keys and messages for tests of encryption; key pairs are made once, because that takes long."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import UUID

from openmsmq.security.encryption.key_wrap import PrivateKey, RsaPrivateKey
from openmsmq.security.encryption.published_keys import PublishedKeys
from openmsmq.service.keys import RsaKey, make_key
from openmsmq.wire.codes.algorithms import PROVIDERS
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import private_address
from openmsmq.wire.security.key_blobs import CALG_RSA_KEYX, MQDSPublicKey, MQDSPublicKeys

AES = PrivacyLevel.BODY_AES
ENHANCED = PrivacyLevel.BODY_ENHANCED
BASE = PrivacyLevel.BODY_BASE
SOURCE = UUID(int=0xA)
DESTINATION = UUID(int=0xB)


@cache
def key_pair(bits: int, number: int = 0) -> RsaKey:
    """A key pair; another one for each number."""
    assert number >= 0
    return make_key(bits)


def bits_of(level: PrivacyLevel) -> int:
    """The length of keys in these tests: as short as each provider allows."""
    return PROVIDERS[level].rsa_bits


class Owner:
    """A queue manager with private keys, which counts what RSA does."""

    def __init__(self, *levels: PrivacyLevel, number: int = 0, bits: int = 0) -> None:
        self.pairs = {level: key_pair(bits or bits_of(level), number) for level in levels}
        self.private = {level: [RsaPrivateKey(*pair)] for level, pair in self.pairs.items()}

    def exchange_keys(self, level: PrivacyLevel) -> Sequence[PrivateKey]:
        return self.private.get(level, [])

    @property
    def operations(self) -> int:
        return sum(key.operations for keys in self.private.values() for key in keys)

    @property
    def key_list(self) -> bytes:
        """PublicEncryptionKeyList."""
        return MQDSPublicKeys(
            tuple(
                MQDSPublicKey(
                    PROVIDERS[level].type, PROVIDERS[level].name, pair.public_blob(CALG_RSA_KEYX)
                )
                for level, pair in self.pairs.items()
            )
        ).serialize()

    @property
    def published(self) -> PublishedKeys:
        return PublishedKeys.parse(self.key_list)


class Randomness:
    """Bytes that are other ones each time, the same in every run."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, count: int) -> bytes:
        self.calls.append(count)
        return bytes((37 * len(self.calls) + 11 * at + 1) % 256 or 1 for at in range(count))


def private_message(
    body: bytes = b"the body", level: int = AES, source: UUID = SOURCE, **properties: Any
) -> UserMessage:
    """A message as it waits in an outgoing queue."""
    properties.setdefault("destination_queue", private_address(DESTINATION, 5))
    packet = build_user_message(
        body=body,
        label="label",
        source_queue_manager=source,
        privacy_level=level,
        private_body=True,
        **properties,
    )
    return UserMessage(packet)
