"""Encrypted bodies between queue managers that share a directory."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from tests.directory.memory_file import directory_of
from tests.protocol.binary.pair import ORDERS, USER, Network, Node
from tests.protocol.binary.raw_peer import RawPeer
from tests.security.encryption.keys import (
    AES,
    BASE,
    DESTINATION,
    ENHANCED,
    Owner,
    Randomness,
    private_message,
)
from tests.security.signatures.signer import private_key, signing_key

from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.outgoing_queue import ConnectionHistoryEntry
from openmsmq.core.settings import Settings
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import Enterprise, QueueManagerObject
from openmsmq.protocol.binary.encrypting import Encrypting
from openmsmq.protocol.timer_heap import TimerHeap
from openmsmq.security.encryption.body_decryption import BodyDecryption
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.security.encryption.settings import EncryptionSettings
from openmsmq.security.signatures.verification import verify
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.body_encryption import with_encrypted_body
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_patch import patch_private_body, without_session_header
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.names.queue_address_names import address_of
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

SECRET = b"a body that nobody else may read"
FAILED = ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
LEGACY = EncryptionSettings(legacy=True)
ACKS = r"private$\acks"


@dataclass
class Pair:
    """Two queue managers, the second of which has keys."""

    network: Network
    a: Node
    b: Node
    owner: Owner
    directory: LocalDirectory

    @property
    def name(self) -> str:
        number = self.b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
        return rf"PRIVATE={self.b.guid}\{number:X}"

    def send(self, *bodies: bytes, level: int = AES, name: str = "", **properties: Any) -> None:
        name = name or self.name
        self.a.send(
            name,
            *bodies,
            privacy_level=level,
            destination_queue=address_of(parse_format_name(name)),
            **properties,
        )
        self.network.advance(2)

    def publish(self, keys: bytes) -> None:
        machine = QueueManagerObject(identifier=self.b.guid, public_encryption_key_list=keys)
        self.directory.write(machine, ("public_encryption_key_list",), utc=0.0)

    @property
    def history(self) -> list[ConnectionHistoryEntry]:
        outgoing = self.a.outgoing(self.name).outgoing
        assert outgoing is not None
        return [entry for entry in outgoing.connection_history if entry.status is FAILED]

    def traffic(self) -> bytes:
        return b"".join(data for _, data in self.network.log)


def make_pair(
    *levels: Any,
    settings: EncryptionSettings | None = None,
    queue: dict[str, Any] | None = None,
    published: bool = True,
    encrypts: bool = True,
    nacks: bool = False,
) -> Pair:
    owner = Owner(*(levels or (AES,)))
    network = Network()
    core = {
        address: Settings(names=frozenset((address,)), send_insecure_nacks=nacks)
        for address in ("10.0.0.1", "10.0.0.2")
    }
    a = network.add(
        "A",
        "10.0.0.1",
        core_settings=core["10.0.0.1"],
        encryption=(lambda: BodyEncryption(Randomness(), settings)) if encrypts else None,
    )
    b = network.add(
        "B",
        "10.0.0.2",
        core_settings=core["10.0.0.2"],
        decryptor=lambda: BodyDecryption(owner, settings),
    )
    machines = [
        QueueManagerObject(identifier=a.guid, computer_name="A"),
        QueueManagerObject(
            identifier=b.guid,
            computer_name="B",
            public_encryption_key_list=owner.key_list if published else b"",
        ),
    ]
    directory, _ = directory_of(Enterprise(UUID(int=0xE), "corp"), *machines)
    for node in (a, b):
        node.qm.state.directory = directory
        node.qm.state.local.directory_integrated = True
    a.create(ACKS)
    b.create(**(queue or {}))
    return Pair(network, a, b, owner, directory)


# Both ways


@pytest.mark.spec("MQQB-3.1.7.1.5-01", "MQQB-3.1.7.1.5-03", "MQDMPR-3.1.1.12-11")
@pytest.mark.parametrize("level", [AES, ENHANCED, BASE])
@pytest.mark.parametrize("tx", [False, True])
def test_a_body_is_encrypted_on_its_way_and_clear_in_the_queue(tx: object, level: int) -> None:
    pair = make_pair(level, settings=LEGACY, queue={"transactional": bool(tx)})
    pair.send(SECRET, b"second", level=level, tx=bool(tx))
    assert SECRET not in pair.traffic()
    # In the store of the sender it was clear; nothing is left there.
    assert pair.a.outgoing(pair.name).count == 0
    messages = pair.b.take()
    assert [message.body for message in messages] == [SECRET, b"second"]
    for message in messages:
        assert message.private_body
        assert not message.encrypted
        assert message.privacy_level == level
    assert pair.owner.operations == 1


def test_clear_messages_stay_clear() -> None:
    pair = make_pair()
    pair.send(b"open", level=0)
    assert b"open" in pair.traffic()
    (message,) = pair.b.take()
    assert not message.private_body
    assert pair.owner.operations == 0


def messages_on_the_wire(pair: Pair) -> list[UserMessage]:
    """The user messages that the first queue manager has written, without their SessionHeaders."""
    traffic = pair.traffic()
    found = []
    for match in re.finditer(b"LIOR", traffic):
        start = match.start() - 4
        size = int.from_bytes(traffic[start + 8 : start + 12], "little")
        internal = traffic[start + 2] & 0x08
        if not internal:
            packet = without_session_header(traffic[start : start + size])
            found.append(UserMessage(packet))
    return found


@pytest.mark.spec("MQDMPR-3.1.7.1.32-06")
def test_a_packet_says_that_its_body_is_encrypted_exactly_if_it_has_a_privacy_level() -> None:
    pair = make_pair(AES, ENHANCED, BASE, settings=LEGACY)
    levels = [0, AES, 0, ENHANCED, BASE, 0]
    for level in levels:
        pair.send(b"body", level=level)
    sent = messages_on_the_wire(pair)
    private = [level != 0 for level in levels]
    assert [message.privacy_level != 0 for message in sent] == private
    assert [message.security_flags & SecurityHeaderFlags.EB != 0 for message in sent] == private


@pytest.mark.spec("MQQB-3.1.7.1-03")
def test_a_message_is_signed_before_it_is_encrypted_and_expires_before_both() -> None:
    pair = make_pair()
    sender = Sender(computer_name="A", sid=b"", queue_manager=pair.a.guid)
    builder = PacketBuilder(sender, transactional=False)
    options: dict[str, Any] = {"sign": True, "certificate": signing_key(), "encrypt": True}
    packet = builder.build_signed(Message(SECRET, **options), pair.name)
    late = builder.build_signed(Message(b"late", time_to_reach_queue=0, **options), pair.name)
    descriptor = pair.a.qm.open_queue(pair.name, QueueAccessType.SEND, caller=USER)
    encrypted: list[bytes] = []
    original = BodyEncryption.encrypt

    def encrypt(self: BodyEncryption, message: UserMessage, *args: Any, now: float) -> bytes:
        encrypted.append(message.body)
        return original(self, message, *args, now=now)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BodyEncryption, "encrypt", encrypt)
        pair.a.qm.traffic.enqueue_many(descriptor, [late, packet])
        pair.network.advance(2)
    assert encrypted == [SECRET]
    (wire,) = messages_on_the_wire(pair)
    assert wire.encrypted
    # The signature is that of the clear body.
    public = private_key("alice").public_key()
    clear = BodyDecryption(pair.owner).begin(wire, now=0.0).make()
    assert clear is not None
    assert verify(UserMessage(clear), public, wire.hash_algorithm) is not None


def test_clear_and_encrypted_messages_keep_their_order() -> None:
    pair = make_pair()
    bodies = [b"%d" % number for number in range(40)]
    for number, body in enumerate(bodies):
        pair.a.send(
            pair.name,
            body,
            privacy_level=AES if number % 3 else 0,
            destination_queue=address_of(parse_format_name(pair.name)),
        )
    pair.network.advance(2)
    assert pair.b.receive() == bodies
    assert pair.owner.operations == 1


@pytest.mark.spec("MQQB-3.1.3.2-13")
def test_the_published_keys_are_read_once_for_each_session() -> None:
    pair = make_pair()
    pair.send(b"1")
    pair.publish(b"")
    pair.send(b"2")
    assert pair.b.receive() == [b"1", b"2"]
    pair.network.cut()
    pair.network.advance(30)
    pair.send(b"3", negative_journaling=True)
    assert pair.b.receive() == []
    assert pair.a.deadletters == [b"3"]


def test_a_body_waits_clear_and_survives_a_crash_before_it_leaves() -> None:
    pair = make_pair()
    pair.b.listening = False
    pair.send(SECRET)
    pair.a.crash()
    pair.a.qm.state.directory = pair.directory
    pair.a.qm.state.local.directory_integrated = True
    assert [m.body for m in pair.a.messages(pair.a.outgoing(pair.name))] == [SECRET]
    pair.b.listening = True
    pair.network.advance(30)
    assert pair.b.receive() == [SECRET]
    assert SECRET not in pair.traffic()


def test_session_keys_end_by_the_timers() -> None:
    pair = make_pair()
    pair.send(b"1")
    times = (pair.a.binary.next_timer(), pair.b.qm.next_timer())
    assert None not in times
    pair.network.advance(700)
    pair.send(b"2")
    assert pair.b.receive() == [b"1", b"2"]
    assert pair.owner.operations == 2


def test_the_timer_of_session_keys_is_set_again_for_those_that_are_left() -> None:
    encryption = BodyEncryption(Randomness(), EncryptionSettings(legacy=True))
    for now, level in ((0.0, AES), (100.0, BASE)):
        keys = Owner(level).published
        encryption.encrypt(private_message(level=level), DESTINATION, keys, now=now)
    timers = TimerHeap()
    encrypting = Encrypting(make_pair().a.qm, encryption, timers)
    encrypting.timer(600.0)
    assert timers.next() == encryption.next_timer()
    assert timers.next() is not None


# What cannot be encrypted


@pytest.mark.spec("MQQB-3.1.7.1.5.1-01", "MQQB-3.1.7.1.5.1-02", "MQQB-3.1.7.1.5.1-03")
@pytest.mark.parametrize("tx", [False, True])
def test_what_cannot_be_encrypted_is_never_sent(tx: object) -> None:
    pair = make_pair(published=False, queue={"transactional": bool(tx)})
    admin = direct_address(rf"OS:A\{ACKS}")
    pair.send(
        SECRET,
        b"another",
        tx=bool(tx),
        negative_journaling=True,
        acknowledgments=0x05,
        admin_queue=admin,
    )
    assert SECRET not in pair.traffic()
    assert b"another" not in pair.traffic()
    dead = pair.a.xact_deadletters if tx else pair.a.deadletters
    assert dead == [SECRET, b"another"]
    assert pair.a.outgoing(pair.name).count == 0
    acks = pair.a.take(ACKS)
    assert [ack.message_class for ack in acks] == [MessageClass.NACK_COULD_NOT_ENCRYPT] * 2
    # An acknowledgment never carries a body that was secret.
    assert [ack.body for ack in acks] == [b"", b""]
    entries = pair.history
    assert len(entries) == 2
    assert entries[0].error == Hresult.MQ_ERROR_PUBLIC_KEY_DOES_NOT_EXIST
    assert entries[0].address_list == ("10.0.0.2",)
    assert entries[0].connection_history_time > 0
    status = pair.a.binary.outgoing_status(pair.a.outgoing(pair.name), now=pair.network.now)
    assert status is not None
    assert status.last_error == (
        "a message could not be encrypted: the destination has published no keys"
    )


@pytest.mark.parametrize("tx", [False, True])
def test_others_go_on_when_one_cannot_be_encrypted(tx: object) -> None:
    pair = make_pair(ENHANCED, settings=LEGACY, queue={"transactional": bool(tx)})
    name = pair.name
    for number, level in enumerate((0, ENHANCED, AES, AES, 0, BASE)):
        pair.a.send(
            name,
            b"%d" % number,
            tx=bool(tx),
            privacy_level=level,
            negative_journaling=True,
            destination_queue=address_of(parse_format_name(name)),
        )
    pair.network.advance(3)
    assert pair.b.receive() == [b"0", b"1", b"4", b"5"]
    assert (pair.a.xact_deadletters if tx else pair.a.deadletters) == [b"2", b"3"]


def test_without_journaling_nothing_is_kept() -> None:
    pair = make_pair(published=False)
    pair.send(SECRET)
    assert (pair.a.deadletters, pair.a.outgoing(pair.name).count) == ([], 0)
    assert SECRET not in pair.traffic()


def test_a_queue_manager_that_does_not_encrypt_sends_nothing_private() -> None:
    pair = make_pair(encrypts=False)
    pair.send(SECRET, negative_journaling=True)
    assert pair.a.deadletters == [SECRET]
    assert SECRET not in pair.traffic()
    assert pair.history[0].error == Hresult.MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION
    pair.a.binary._encrypting.timer(pair.network.now)


def test_a_destination_that_the_directory_does_not_know_has_no_keys() -> None:
    pair = make_pair()
    pair.directory.delete(QueueManagerObject(identifier=pair.b.guid))
    pair.a.qm.state.addresses[pair.b.guid] = "10.0.0.2"
    pair.send(SECRET, negative_journaling=True)
    assert pair.a.deadletters == [SECRET]
    assert pair.history[0].error == Hresult.MQ_ERROR_PUBLIC_KEY_NOT_FOUND


def leaks(pair: Pair) -> bool:
    pair.send(SECRET)
    return SECRET in pair.traffic()


def test_a_clear_body_after_a_failed_encryption_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not leaks(make_pair(published=False))
    pair = make_pair(published=False)
    encrypting = pair.a.binary._encrypting
    monkeypatch.setattr(
        type(encrypting), "_encrypted", lambda _self, _transfer, message, _now: message.packet
    )
    assert leaks(pair)


@pytest.mark.spec("MQQB-3.1.7.1.5-02", "MQQB-5.1-01")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (rf"DIRECT=TCP:10.0.0.2\{ORDERS}", "UNSUPPORTED_FORMATNAME"),
        (r"DIRECT=HTTP://10.0.0.2/msmq/private$/orders", "HTTP"),
    ],
)
def test_a_direct_name_is_refused_at_once(name: str, words: str) -> None:
    pair = make_pair()
    with pytest.raises(QueueError, match="cannot be encrypted") as caught:
        pair.send(SECRET, name=name)
    assert words in str(caught.value) + caught.value.cause
    assert caught.value.remedy


def test_a_message_for_a_direct_name_that_waits_already_is_given_up() -> None:
    pair = make_pair()
    name = rf"DIRECT=TCP:10.0.0.2\{ORDERS}"
    pair.network.stalled = True
    pair.a.send(name, SECRET, negative_journaling=True)
    queue = pair.a.outgoing(name)
    for message in queue.lanes:
        assert message.packet is not None
        message.packet = patch_private_body(message.packet, private=True)
    pair.network.stalled = False
    pair.network.advance(3)
    assert pair.a.deadletters == [SECRET]
    assert SECRET not in pair.traffic()


def test_without_a_directory_it_is_refused_at_once() -> None:
    pair = make_pair()
    pair.a.qm.state.local.directory_integrated = False
    with pytest.raises(QueueError, match="MQ_ERROR_NO_DS"):
        pair.send(SECRET)


@pytest.mark.parametrize("level", [2, 4, 6, 0xFFFFFFFF])
def test_a_privacy_level_outside_the_table_is_refused_at_once(level: int) -> None:
    with pytest.raises(QueueError, match="PrivacyLevel"):
        make_pair().send(SECRET, level=level)


@pytest.mark.spec("MQDMPR-3.1.1.12-42")
def test_an_application_may_bring_cipher_text_and_its_key() -> None:
    pair = make_pair()
    clear = build_user_message(
        body=SECRET,
        destination_queue=address_of(parse_format_name(pair.name)),
        delivery_mode=1,
        privacy_level=AES,
        private_body=True,
        source_queue_manager=pair.a.guid,
    )
    encryption = BodyEncryption(Randomness())
    ready = encryption.encrypt(UserMessage(clear), pair.b.guid, pair.owner.published, now=0.0)
    descriptor = pair.a.qm.open_queue(pair.name, QueueAccessType.SEND, caller=USER)
    pair.a.qm.traffic.enqueue_many(descriptor, [ready], None)
    keyless = with_encrypted_body(
        UserMessage(clear),
        bytes(16),
        encryption_key=b"",
        provider_info=b"",
        encryption_algorithm=0x6610,
        privacy_level=5,
    )
    with pytest.raises(QueueError, match="has no key"):
        pair.a.qm.traffic.enqueue_many(descriptor, [keyless], None)
    pair.network.advance(2)
    assert pair.b.receive() == [SECRET]


# Queues that ask for encryption


@pytest.mark.parametrize("level", [0, AES])
@pytest.mark.parametrize("privacy", list(QueuePrivacyLevel))
def test_queues_take_what_they_ask_for(privacy: QueuePrivacyLevel, level: int) -> None:
    pair = make_pair(queue={"privacy_level": privacy}, nacks=True)
    admin = direct_address(rf"OS:A\{ACKS}")
    pair.send(SECRET, level=level, acknowledgments=0x05, admin_queue=admin)
    takes = privacy is QueuePrivacyLevel.OPTIONAL or (privacy is QueuePrivacyLevel.BODY) == (
        level != 0
    )
    assert pair.b.receive() == ([SECRET] if takes else [])
    pair.network.advance(2)
    (ack,) = pair.a.take(ACKS)
    expected = MessageClass.ACK_REACH_QUEUE if takes else MessageClass.NACK_BAD_ENCRYPTION
    assert ack.message_class == expected


# Hostile peers


def from_peer(pair: Pair, level: int = AES, **properties: Any) -> bytes:
    name = address_of(parse_format_name(pair.name))
    return build_user_message(
        body=SECRET,
        destination_queue=name,
        source_queue_manager=UUID(int=7),
        privacy_level=level,
        sent_time=int(pair.network.utc),
        message_id=properties.pop("message_id", 1),
        **properties,
    )


def test_a_peer_cannot_claim_that_a_body_was_encrypted() -> None:
    pair = make_pair(queue={"privacy_level": QueuePrivacyLevel.BODY})
    peer = RawPeer(pair.network, pair.b)
    peer.connect()
    peer.send(from_peer(pair, private_body=True))
    assert pair.b.bodies() == []
    optional = make_pair()
    peer = RawPeer(optional.network, optional.b)
    peer.connect()
    peer.send(from_peer(optional, private_body=True))
    (message,) = optional.b.take()
    assert not message.private_body


@pytest.mark.spec("MQQB-3.1.5.8.3-20", "MQQB-3.1.5.8.3-12")
@pytest.mark.parametrize("level", [AES, 2])
@pytest.mark.parametrize("header", [SecurityHeader(0x20), SecurityHeader(0x20, b"", bytes(140))])
def test_a_bad_decryption_refuses_that_message_only(header: SecurityHeader, level: int) -> None:
    pair = make_pair(nacks=True)
    peer = RawPeer(pair.network, pair.b)
    peer.connect()
    admin = address_of(parse_format_name(rf"PRIVATE={peer.guid}\9"))
    bad = from_peer(
        pair,
        level,
        security_header=header,
        encryption_algorithm=0x6610,
        admin_queue=admin,
        acknowledgments=0x05,
        message_id=1,
    )
    peer.send(bad, from_peer(pair, 0, message_id=2))
    pair.network.advance(2)
    assert peer.closed is None
    assert [message.message_id for message in pair.b.take()] == [2]
    nacks = [each for each in peer.received if each.message_class]
    assert [each.message_class for each in nacks] == [MessageClass.NACK_BAD_ENCRYPTION]
    assert nacks[0].body == b""


def test_an_address_may_fail_20_times_a_minute_only() -> None:
    pair = make_pair()
    peer = RawPeer(pair.network, pair.b)
    peer.connect()
    header = SecurityHeader(0x20, b"", bytes(140))
    for number in range(1, 21):
        peer.send(
            from_peer(pair, security_header=header, encryption_algorithm=0x6610, message_id=number)
        )
        assert peer.closed is None
    peer.send(from_peer(pair, 0, message_id=21))
    assert pair.b.bodies() == [SECRET]
    peer.send(from_peer(pair, security_header=header, encryption_algorithm=0x6610, message_id=22))
    assert peer.closed is not None
    assert "decryptions" in peer.closed.detail
    again = RawPeer(pair.network, pair.b)
    again.connect()
    again.send(from_peer(pair, security_header=header, encryption_algorithm=0x6610, message_id=23))
    assert again.closed is not None
    other = RawPeer(pair.network, pair.b, address="10.0.0.8", number=8)
    other.connect()
    other.send(from_peer(pair, 0, message_id=24))
    assert len(pair.b.bodies()) == 2
