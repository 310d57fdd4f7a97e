"""Bodies on their way: every cipher, provider and key length, both ways, with RSA counted."""

from typing import Any
from uuid import UUID

import pytest
from tests.security.encryption.keys import (
    AES,
    BASE,
    DESTINATION,
    ENHANCED,
    SOURCE,
    Owner,
    Randomness,
    private_message,
)

from openmsmq.security.encryption.body_decryption import (
    CHEAP_BYTES,
    BodyDecryption,
    Decryption,
    ReceivedKey,
)
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.security.encryption.ciphers import SALT, aes_cipher
from openmsmq.security.encryption.key_wrap import wrap_key
from openmsmq.security.encryption.published_keys import CannotEncrypt, PublishedKeys
from openmsmq.security.encryption.settings import EncryptionSettings
from openmsmq.wire.codes.algorithms import PROVIDERS, EncryptionAlgorithm
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.message.body_encryption import with_encrypted_body
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.scalars import guid_bytes
from openmsmq.wire.security.key_blobs import MQDSPublicKey, MQDSPublicKeys, SimpleBlob
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader

OTHER = UUID(int=0xC)
SID = SecurityHeader(1, security_id=bytes.fromhex("010100000000000512000000"))
PREFERRED = {
    AES: "preferred_advanced_algorithm",
    ENHANCED: "preferred_enhanced_algorithm",
    BASE: "preferred_base_algorithm",
}
RC2, RC4 = EncryptionAlgorithm.RC2, EncryptionAlgorithm.RC4
A256, A192, A128 = (
    EncryptionAlgorithm.AES_256,
    EncryptionAlgorithm.AES_192,
    EncryptionAlgorithm.AES_128,
)


class Wraps:
    """Counts the session keys that are wrapped."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, public_key: bytes, algorithm: int, key: bytes) -> bytes:
        self.count += 1
        return wrap_key(public_key, algorithm, key)


def settings_of(
    level: PrivacyLevel, algorithm: EncryptionAlgorithm, **more: Any
) -> EncryptionSettings:
    more[PREFERRED[level]] = algorithm
    return EncryptionSettings(legacy=True, **more)


def sent(
    message: UserMessage,
    owner: Owner,
    settings: EncryptionSettings | None = None,
    encryption: BodyEncryption | None = None,
    now: float = 0.0,
) -> UserMessage:
    encryption = encryption or BodyEncryption(Randomness(), settings)
    return UserMessage(encryption.encrypt(message, DESTINATION, owner.published, now=now))


@pytest.mark.spec("MQQB-2.4.2-02", "MQQB-3.1.5.8.3-11", "MQQB-3.1.5.8.3-14")
@pytest.mark.parametrize("bits", [0, 2048])
@pytest.mark.parametrize(
    ("level", "algorithm", "reduced"),
    [
        (AES, A256, 0),
        (AES, A192, 0),
        (AES, A128, 0),
        (ENHANCED, RC4, 0),
        (ENHANCED, RC2, 0),
        (ENHANCED, RC2, 1),
        (BASE, RC4, 0),
        (BASE, RC2, 0),
    ],
)
def test_every_cipher_both_ways_with_one_rsa_operation_for_many_messages(
    level: PrivacyLevel, algorithm: EncryptionAlgorithm, reduced: int, bits: int
) -> None:
    settings = settings_of(level, algorithm, send_enhanced_rc2_using_40_bit_keys=reduced == 1)
    owner, wraps = Owner(level, bits=bits), Wraps()
    encryption = BodyEncryption(Randomness(), settings, wrap=wraps)
    decryption = BodyDecryption(owner, settings)
    for body in (b"", b"one", b"sixteen bytes...", b"long " * 1000):
        message = private_message(body, level, security_header=SID, extension=b"e")
        wire = sent(message, owner, encryption=encryption)
        assert wire.encrypted
        assert not wire.private_body
        assert wire.body != body or not body
        assert (wire.privacy_level, wire.encryption_algorithm) == (level, algorithm)
        header = wire.security_header
        assert header is not None
        assert SimpleBlob.parse(header.encryption_key)[0].session_key_algorithm == algorithm
        assert header.provider_info == ProviderInfo(PROVIDERS[level].type, PROVIDERS[level].name)
        clear = decryption.begin(wire, now=0.0).make()
        assert clear is not None
        kept = UserMessage(clear)
        assert (kept.body, kept.label, kept.extension) == (body, "label", b"e")
        assert kept.private_body
        assert not kept.encrypted
        assert kept.privacy_level == level
        assert kept.security_id == SID.security_id
    assert (wraps.count, owner.operations) == (1, 1)


@pytest.mark.spec("MQQB-3.1.7.1.5-13", "MQQB-3.1.7.1.5-14")
def test_both_sizes_say_how_long_the_cipher_text_is() -> None:
    wire = sent(private_message(b"x" * 100), Owner(AES))
    assert wire.message_size == wire.allocation_body_size == 112
    assert len(wire.body) == 112
    header = wire.security_header
    assert header is not None
    assert header.flags & 0x20
    assert len(header.encryption_key) == 12 + 128


def test_a_peer_may_keep_the_clear_length_in_message_size() -> None:
    owner = Owner(AES)
    wire = sent(private_message(b"x" * 100), owner)
    at = wire.properties_offset + 32
    packet = wire.packet[:at] + (100).to_bytes(4, "little") + wire.packet[at + 4 :]
    theirs = UserMessage(packet)
    assert (theirs.message_size, theirs.allocation_body_size) == (100, 112)
    clear = BodyDecryption(owner).begin(theirs, now=0.0).make()
    assert clear is not None
    assert UserMessage(clear).body == b"x" * 100
    assert UserMessage(clear).allocation_body_size == 100


@pytest.mark.parametrize("tracing", [None, OTHER])
def test_everything_else_in_the_packet_stays_as_it_was(tracing: UUID | None) -> None:
    owner = Owner(AES)
    before = private_message(b"body", security_header=SID, tracing_queue=tracing, priority=5)
    wire = sent(before, owner)
    clear = BodyDecryption(owner).begin(wire, now=0.0).make()
    assert clear is not None
    after = UserMessage(clear)
    header = after.security_header
    assert header is not None
    assert rebuild(
        after, security_header=SID, encryption_algorithm=before.encryption_algorithm
    ) == rebuild(before)


def test_a_message_without_a_security_header_gets_one() -> None:
    message = private_message(b"body")
    assert not message.security_offset
    assert sent(message, Owner(AES)).security_header is not None


# Which provider


@pytest.mark.spec("MQQB-3.1.7.1.5-05")
@pytest.mark.parametrize("level", [AES, ENHANCED, BASE])
def test_the_strongest_provider_of_the_destination_is_taken(level: PrivacyLevel) -> None:
    settings = EncryptionSettings(legacy=True)
    published = Owner(BASE, ENHANCED, AES).published
    assert published.choose(level, settings)[:2] == (AES, A256)
    if level is not AES:
        old = Owner(BASE, ENHANCED).published
        assert old.choose(level, settings)[:2] == (ENHANCED, RC4)
    if level is BASE:
        assert Owner(BASE).published.choose(level, settings)[:2] == (BASE, RC4)


@pytest.mark.spec("MQQB-3.1.7.1.5-06")
@pytest.mark.parametrize(
    ("level", "owned"), [(AES, (ENHANCED, BASE)), (ENHANCED, (BASE,)), (BASE, ())]
)
def test_no_weaker_provider_is_taken_than_the_message_asks_for(
    level: PrivacyLevel, owned: tuple[PrivacyLevel, ...]
) -> None:
    with pytest.raises(CannotEncrypt, match="no key for Microsoft") as caught:
        Owner(*owned).published.choose(level, EncryptionSettings(legacy=True))
    assert caught.value.code is Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED


def test_old_ciphers_are_used_only_when_they_are_allowed() -> None:
    with pytest.raises(CannotEncrypt, match="legacy_encryption"):
        sent(private_message(level=BASE), Owner(ENHANCED, BASE))


def test_providers_are_known_with_a_comma_in_their_names() -> None:
    owner = Owner(ENHANCED)
    name = "Microsoft Enhanced Cryptographic Provider, V1.0"
    key = MQDSPublicKey(1, name, owner.pairs[ENHANCED].public_blob(0xA400))
    published = PublishedKeys.parse(MQDSPublicKeys((key,)).serialize())
    assert published.choose(ENHANCED, EncryptionSettings(legacy=True)).level is ENHANCED


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"", "no keys"), (b"\1\0\0\0\1\0\0\0", "malformed"), (b"garbage", "malformed")],
)
def test_published_keys_that_are_none_are_an_error(raw: bytes, words: str) -> None:
    with pytest.raises(CannotEncrypt, match=words):
        PublishedKeys.parse(raw)


@pytest.mark.parametrize("level", [2, 4, 7, 0xFFFFFFFF, 0])
def test_an_unknown_privacy_level_cannot_be_encrypted(level: int) -> None:
    with pytest.raises(CannotEncrypt, match="PrivacyLevel"):
        sent(private_message(level=level), Owner(AES))


def test_a_key_that_cannot_be_used_is_an_error() -> None:
    published = PublishedKeys({AES: b"garbage"})
    with pytest.raises(CannotEncrypt, match="cannot be used") as caught:
        BodyEncryption(Randomness()).encrypt(private_message(), DESTINATION, published, now=0.0)
    assert caught.value.code is Hresult.MQ_ERROR_PUBLIC_KEY_NOT_FOUND


def test_a_packet_that_would_grow_too_large_is_an_error() -> None:
    with pytest.raises(CannotEncrypt, match="larger than"):
        sent(private_message(bytes(4 * 1024 * 1024 - 200)), Owner(AES))


# Session keys of the sender


@pytest.mark.spec("MQQB-3.1.7.1.5-07", "MQQB-3.1.7.1.5-09")
def test_a_reduced_key_has_40_random_bits_and_88_zero_bits() -> None:
    randomness = Randomness()
    settings = settings_of(ENHANCED, RC2, send_enhanced_rc2_using_40_bit_keys=True)
    keys: list[bytes] = []

    def wrap(public_key: bytes, algorithm: int, key: bytes) -> bytes:
        keys.append(key)
        return wrap_key(public_key, algorithm, key)

    encryption = BodyEncryption(randomness, settings, wrap=wrap)
    sent(private_message(level=ENHANCED), Owner(ENHANCED), encryption=encryption)
    (key,) = keys
    assert randomness.calls == [5]
    assert len(key) == 16
    assert key.endswith(SALT)
    for level, algorithm, size in ((AES, A256, 32), (AES, A192, 24), (BASE, RC4, 5)):
        randomness = Randomness()
        encryption = BodyEncryption(randomness, settings_of(level, algorithm))
        sent(private_message(level=level), Owner(level), encryption=encryption)
        assert randomness.calls == [size]


@pytest.mark.spec("MQQB-3.1.7.1.5-08", "MQQB-3.1.7.1.5-11")
def test_a_session_key_is_used_again_for_the_same_destination_for_ten_minutes() -> None:
    owner, wraps = Owner(AES), Wraps()
    encryption = BodyEncryption(Randomness(), wrap=wraps)
    assert encryption.next_timer() is None
    first = sent(private_message(), owner, encryption=encryption, now=100.0)
    assert encryption.next_timer() == 700.0
    again = sent(private_message(), owner, encryption=encryption, now=699.0)
    assert again.packet == first.packet
    assert wraps.count == 1
    encryption.encrypt(private_message(), OTHER, owner.published, now=699.0)
    assert wraps.count == 2
    encryption.handle_timer(now=700.0)
    later = sent(private_message(), owner, encryption=encryption, now=700.0)
    assert wraps.count == 3
    assert later.body != first.body


def test_new_published_keys_need_a_new_session_key() -> None:
    wraps = Wraps()
    encryption = BodyEncryption(Randomness(), wrap=wraps)
    sent(private_message(), Owner(AES), encryption=encryption)
    renewed = Owner(AES, number=1)
    wire = sent(private_message(), renewed, encryption=encryption)
    assert wraps.count == 2
    assert BodyDecryption(renewed).begin(wire, now=0.0).make() is not None


@pytest.mark.spec("MQQB-3.1.1.3-01", "MQQB-3.1.1.3-02", "MQQB-6-28")
def test_keys_of_the_base_provider_are_in_caches_of_their_own() -> None:
    settings = EncryptionSettings(
        legacy=True,
        send_symmetric_key_cache_size=1,
        receive_symmetric_key_cache_size=1,
        send_key_lifetime=43_200.0,
    )
    base, aes, wraps = Owner(BASE), Owner(AES), Wraps()
    encryption = BodyEncryption(Randomness(), settings, wrap=wraps)
    decryptions = {BASE: BodyDecryption(base, settings), AES: BodyDecryption(aes, settings)}
    both = Owner(BASE, AES)
    decryption = BodyDecryption(both, settings)
    for _ in range(3):
        for owner, level in ((base, BASE), (aes, AES)):
            wire = sent(private_message(level=level), owner, encryption=encryption)
            assert decryptions[level].begin(wire, now=0.0).make() is not None
            assert decryption.begin(wire, now=0.0).make() is not None
    # Neither pushes the other out.
    assert wraps.count == 2
    assert (base.operations, aes.operations, both.operations) == (1, 1, 2)
    assert encryption.next_timer() == 600.0
    encryption.handle_timer(now=600.0)
    assert encryption.next_timer() == 43_200.0


def test_received_keys_are_removed_when_the_first_of_them_is_old() -> None:
    settings = EncryptionSettings(legacy=True)
    owner = Owner(BASE, AES)
    decryption = BodyDecryption(owner, settings)
    assert decryption.next_timer() is None
    messages = [sent(private_message(level=level), Owner(level), settings) for level in (AES, BASE)]
    for now, message in enumerate(messages):
        decryption.begin(message, now=now)
    assert decryption.next_timer() == settings.receive_key_lifetime
    decryption.handle_timer(now=settings.receive_key_lifetime)
    assert decryption.next_timer() == settings.receive_key_lifetime + 1


# Session keys of the receiver


@pytest.mark.spec("MQQB-3.1.5.8.3-13", "MQQB-3.1.5.8.3-15", "MQQB-3.1.5.8.3-17")
def test_a_known_session_key_is_cheap_and_needs_no_rsa() -> None:
    owner = Owner(AES)
    decryption = BodyDecryption(owner)
    assert decryption.next_timer() is None
    encryption = BodyEncryption(Randomness())
    wire = sent(private_message(), owner, encryption=encryption)
    first = decryption.begin(wire, now=50.0)
    assert decryption.next_timer() == 650.0
    assert not first.cheap
    assert first.make() is not None
    second = decryption.begin(wire, now=60.0)
    assert second.cheap
    assert second.make() is not None
    assert owner.operations == 1
    large = sent(private_message(bytes(CHEAP_BYTES)), owner, encryption=encryption)
    assert not decryption.begin(large, now=60.0).cheap
    decryption.handle_timer(now=650.0)
    assert decryption.next_timer() is None
    assert not decryption.begin(wire, now=650.0).cheap


@pytest.mark.spec("MQQB-3.1.3.1-03")
def test_no_session_keys_are_known_after_a_start() -> None:
    owner = Owner(AES)
    wire = sent(private_message(), owner)
    for start in range(1, 4):
        step = BodyDecryption(owner).begin(wire, now=0.0)
        assert not step.cheap
        assert step.make() is not None
        assert owner.operations == start


def from_other(wire: UserMessage) -> UserMessage:
    """The same message from another queue manager."""
    return UserMessage(wire.packet[:16] + guid_bytes(OTHER) + wire.packet[32:])


def is_isolated(find: Any) -> bool:
    """Whether a key that one source has sent counts for no other."""
    owner = Owner(AES)
    decryption = find(owner)
    wire = sent(private_message(source=SOURCE), owner)
    decryption.begin(wire, now=0.0).make()
    step = decryption.begin(from_other(wire), now=0.0)
    assert step.make() is not None
    return owner.operations == 2


def test_the_session_key_of_one_source_is_not_that_of_another() -> None:
    assert is_isolated(BodyDecryption)


@pytest.mark.interpreted
def test_a_cache_without_the_source_in_its_keys_is_noticed() -> None:
    class Shared(BodyDecryption):
        def begin(self, message: UserMessage, *, now: float) -> Decryption:
            anybody = message.packet[:16] + bytes(16) + message.packet[32:]
            return super().begin(UserMessage(anybody), now=now)

    assert not is_isolated(Shared)


def test_a_retired_private_key_still_decrypts() -> None:
    before, after = Owner(AES), Owner(AES, number=1)
    wire = sent(private_message(b"under way"), before)
    after.private[AES] += before.private[AES]
    clear = BodyDecryption(after).begin(wire, now=0.0).make()
    assert clear is not None
    assert UserMessage(clear).body == b"under way"


# What is refused


def altered(wire: UserMessage, **changes: Any) -> UserMessage:
    header = wire.security_header
    assert header is not None
    return UserMessage(
        with_encrypted_body(
            wire,
            changes.get("cipher_text", wire.body),
            encryption_key=changes.get("key", header.encryption_key),
            provider_info=b"",
            encryption_algorithm=changes.get("algorithm", wire.encryption_algorithm),
            privacy_level=changes.get("level", wire.privacy_level),
        )
    )


@pytest.mark.spec("MQQB-3.1.5.8.3-12", "MQQB-3.1.5.8.3-20")
@pytest.mark.parametrize(
    "changes",
    [
        {"level": 0},
        {"level": 2},
        {"level": 4},
        {"level": 0xFFFFFFFF},
        {"level": 3},
        {"algorithm": 0},
        {"algorithm": int(RC4)},
        {"algorithm": int(A128)},
        {"algorithm": 0x6603},
        {"cipher_text": b""},
        {"cipher_text": bytes(15)},
        {"cipher_text": bytes(17)},
        {"cipher_text": bytes(16)},
        {"key": b""},
        {"key": bytes(140)},
        {"key": bytes(65532)},
        {"key": bytes(141)},
        {"key": bytes(139)},
    ],
    ids=str,
)
def test_what_cannot_be_decrypted_is_refused(changes: dict[str, Any]) -> None:
    owner = Owner(AES, ENHANCED)
    decryption = BodyDecryption(owner, EncryptionSettings(legacy=True))
    wire = sent(private_message(), owner)
    assert decryption.begin(altered(wire), now=0.0).make() is not None
    assert decryption.begin(altered(wire, **changes), now=0.0).make() is None


@pytest.mark.parametrize("level", [ENHANCED, BASE])
def test_old_ciphers_are_refused_unless_they_are_allowed(level: PrivacyLevel) -> None:
    owner = Owner(level)
    wire = sent(private_message(level=level), owner, EncryptionSettings(legacy=True))
    assert BodyDecryption(owner).begin(wire, now=0.0).make() is None
    assert owner.operations == 0


def test_a_session_key_of_the_wrong_length_is_refused() -> None:
    owner = Owner(AES)
    key = bytes(range(16))
    message = private_message(b"body")
    blob = wrap_key(owner.pairs[AES].public_blob(0xA400), A256, key)
    wire = UserMessage(
        with_encrypted_body(
            message,
            aes_cipher(key).encrypt(b"body"),
            encryption_key=blob,
            provider_info=b"",
            encryption_algorithm=A256,
            privacy_level=AES,
        )
    )
    assert BodyDecryption(owner).begin(wire, now=0.0).make() is None
    assert owner.operations == 1
    # Without the check of its length the key would be taken.
    unchecked = ReceivedKey(AES, A256, blob, [])
    unchecked.session_keys = [key]
    assert unchecked.decrypt(wire.body, EncryptionSettings()) == b"body"


@pytest.mark.spec("MQQB-3.1.1.3-05", "MQQB-3.1.5.8.3-18", "MQQB-6-23")
def test_reduced_keys_are_accepted_unless_they_are_to_be_rejected() -> None:
    owner = Owner(ENHANCED)
    reduced = settings_of(ENHANCED, RC2, send_enhanced_rc2_using_40_bit_keys=True)
    wire = sent(private_message(level=ENHANCED), owner, reduced)
    whole = sent(private_message(level=ENHANCED), owner, settings_of(ENHANCED, RC2))
    strict = EncryptionSettings(legacy=True, reject_enhanced_rc2_using_40_bit_keys=True)
    assert BodyDecryption(owner, reduced).begin(wire, now=0.0).make() is not None
    assert BodyDecryption(owner, strict).begin(wire, now=0.0).make() is None
    assert BodyDecryption(owner, strict).begin(whole, now=0.0).make() is not None
    broken = altered(whole, cipher_text=bytes(16))
    assert BodyDecryption(owner, strict).begin(broken, now=0.0).make() is None


def test_a_queue_manager_without_keys_decrypts_nothing() -> None:
    wire = sent(private_message(), Owner(AES))
    step = BodyDecryption(Owner()).begin(wire, now=0.0)
    assert step.cheap
    assert step.make() is None
