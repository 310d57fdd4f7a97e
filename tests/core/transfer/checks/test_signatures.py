"""Signed messages of peers: accepted, refused, told ([MS-MQQB] 3.1.5.8.3)."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from tests.directory.memory_file import directory_of
from tests.protocol.binary.pair import Network, Node
from tests.protocol.binary.raw_peer import SOURCE, RawPeer, tx_message
from tests.protocol.binary.test_receiving import finals, plain
from tests.security.signatures.signer import ALICE, MALLORY, message, signed, signing_key

from openmsmq.client.certificates import SigningKey
from openmsmq.core.events import SignatureFormFound
from openmsmq.core.model.queue import Queue
from openmsmq.core.settings import Settings
from openmsmq.directory.certificates import add_certificate
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import Enterprise, QueueManagerObject, User
from openmsmq.protocol.binary.events import CloseReason
from openmsmq.security.certificates.sender_policy import SenderPolicy
from openmsmq.security.signatures.hash_forms import SignatureVersion
from openmsmq.security.signatures.hashes import HASH_NAMES, accepted_hashes
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.codes.message_class import NEGATIVE_BIT, MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_rebuild import options_of, rebuild
from openmsmq.wire.names.queue_address import direct_address, private_address
from openmsmq.wire.security.security_descriptor import Ace, AceType, Acl, SecurityDescriptor
from openmsmq.wire.security.security_header import (
    ProviderInfo,
    SecurityHeader,
    SecurityHeaderFlags,
)
from openmsmq.wire.security.sid import SID

B = "10.0.0.2"
SECOND = r"private$\second"
ADMIN = direct_address(r"TCP:10.0.0.7\private$\admin")
TO_B = direct_address(r"TCP:10.0.0.2\private$\orders")
SIG10, SIG20, SIG30 = SignatureVersion
VERSIONS = [SIG10, SIG20, SIG30]
ALL_HASHES = ("sha512", "sha256", "sha1", "md5")
HASHES = [HASH_NAMES[name] for name in ALL_HASHES]


def directory(*users: User) -> LocalDirectory:
    # The node is started with its directory, and needs to be in it.
    machine = QueueManagerObject(UUID(int=2 << 96 | 0x5155), "B")
    return directory_of(Enterprise(UUID(int=0xE), "corp"), machine, *users)[0]


def user(sid: SID = ALICE, *keys: SigningKey, groups: tuple[SID, ...] = ()) -> User:
    record = User(UUID(int=sid.sub_authority[-1]), sid, groups=groups)
    for key in keys or (signing_key(),):
        record = add_certificate(record, key.certificate)
    return record


def receiver(
    *users: User,
    policy: dict[str, Any] | None = None,
    core: dict[str, Any] | None = None,
    **queue: Any,
) -> tuple[Network, Node, RawPeer]:
    """A node with these users in its directory, and a peer that is connected to it."""
    network = Network()
    senders = SenderPolicy(**{"accepted_hashes": accepted_hashes(ALL_HASHES), **(policy or {})})
    settings = Settings(
        names=frozenset((B,)), **{"send_insecure_nacks": True, "senders": senders, **(core or {})}
    )
    shared = directory(*users) if users else None
    b = network.add("B", B, core_settings=settings, directory=shared)
    b.create(**queue)
    peer = RawPeer(network, b)
    peer.connect()
    return network, b, peer


def orders(node: Node) -> Queue:
    return next(queue for queue in node.qm.queues if queue.path.lower().endswith("orders"))


def nacks(peer: RawPeer) -> list[int]:
    """The classes of the negative acknowledgments that the peer got."""
    return [each.message_class for each in peer.received if each.message_class & NEGATIVE_BIT]


def everything(**properties: Any) -> bytes:
    """A message of the peer with every property that a signature covers."""
    options = {
        "destination_queue": TO_B,
        "admin_queue": ADMIN,
        "source_queue_manager": SOURCE,
        "delivery_mode": 1,
        "message_id": 1,
        **properties,
    }
    return message(**options)


def change(packet: bytes, **changes: Any) -> bytes:
    """The packet with other values, its signature as it was."""
    body = changes.pop("body", None)
    label = changes.pop("label", None)
    view = UserMessage(packet)
    if body is None and label is None:
        return rebuild(view, **changes)
    return build_user_message(
        body=view.body if body is None else body,
        label=view.label if label is None else label,
        destination_queue=view.destination_queue,
        **{**options_of(view), **changes},
    )


COVERED_BY_ALL: dict[str, dict[str, Any]] = {
    "correlation_id": {"correlation_id": bytes(20)},
    "application_tag": {"application_tag": 9},
    "body": {"body": b"boDy"},
    "label": {"label": "another"},
    "response_queue": {"response_queue": direct_address(r"OS:evil\private$\answers")},
    "admin_queue": {"admin_queue": direct_address(r"TCP:10.0.0.7\private$\other")},
}
COVERED_BY_20_AND_30: dict[str, dict[str, Any]] = {
    "source_queue_manager": {"source_queue_manager": UUID(int=99)},
    "delivery_mode": {"delivery_mode": 0},
    "priority": {"priority": 6},
    "positive_journaling": {"positive_journaling": True},
    "negative_journaling": {"negative_journaling": True},
    "acknowledgments": {"acknowledgments": 0x04},
    "message_class": {"message_class": 0x4000},
    "body_type": {"body_type": 8},
    "connector_type": {"connector_type": UUID(int=5)},
}
DESTINATION = {"destination_queue": direct_address(r"TCP:10.0.0.2\private$\second")}
COVERED = {
    SIG10: COVERED_BY_ALL,
    SIG20: {**COVERED_BY_ALL, **COVERED_BY_20_AND_30, "destination_queue": DESTINATION},
    SIG30: {
        **COVERED_BY_ALL,
        **COVERED_BY_20_AND_30,
        "extension": {"extension": b"EXTENSION"},
        # Not covered itself, but it must be in the signed list.
        "destination_queue": DESTINATION,
    },
}
# What no signature covers: anybody on the way can change it.
UNCOVERED_BY_ALL: dict[str, dict[str, Any]] = {
    "message_id": {"message_id": 77},
    "sent_time": {"sent_time": 1_700_000_001},
    "time_to_reach_queue": {"time_to_reach_queue": 1000},
    "time_to_be_received": {"time_to_be_received": 1000},
    "privacy_level": {"privacy_level": 3},
    "encryption_algorithm": {"encryption_algorithm": 0x6602},
    "tracing_queue": {"tracing_queue": UUID(int=8)},
    "border between body and label": {"body": b"bodya", "label": "\x20label"},
}
UNCOVERED = {
    SIG10: {
        **{
            name: change
            for name, change in COVERED_BY_20_AND_30.items()
            if name != "acknowledgments"
        },
        "extension": {"extension": b"EXTENSION"},
        "destination_queue": DESTINATION,
    },
    SIG20: {"extension": {"extension": b"EXTENSION"}},
    SIG30: {},
}


@pytest.mark.spec("MQQB-3.1.5.8.3-02", "MQQB-3.1.5.8.3-03", "MQQB-3.1.5.8.3-04")
@pytest.mark.parametrize(("version", "algorithm"), list(product(VERSIONS, HASHES)))
def test_a_good_signature_is_accepted_and_says_its_version(
    version: SignatureVersion, algorithm: HashAlgorithm
) -> None:
    network, b, peer = receiver(user(), authentication=True)
    peer.send(signed(everything(), version=version, algorithm=algorithm))
    network.advance(1)
    (received,) = b.take()
    assert received.authentication_level == version
    assert received.security_flags & 0x10


@pytest.mark.parametrize("count", [3, 9])
def test_each_message_of_a_read_is_judged_by_its_own_signature(count: int) -> None:
    """Few are checked in place, more by a worker; the signature of another proves nothing."""
    network, b, peer = receiver(user(), core={"max_failed_checks": 1000}, authentication=True)
    packets = [signed(everything(message_id=at, body=b"%d" % at)) for at in range(1, count + 1)]
    packets[1] = change(packets[1], body=b"x")
    first, last = UserMessage(packets[0]).security_header, UserMessage(packets[-1])
    assert first is not None
    packets[-1] = change(last.packet, security_header=first)
    peer.send(*packets)
    network.advance(1)
    good = [b"%d" % at for at in range(1, count) if at != 2]
    received = b.take()
    assert [each.body for each in received] == good
    assert all(each.authentication_level == SIG20 for each in received)
    assert nacks(peer) == [MessageClass.NACK_BAD_SIGNATURE] * 2


@pytest.mark.spec("MQQB-3.1.5.8.3-05")
@pytest.mark.parametrize(
    ("version", "name"), [(version, name) for version in VERSIONS for name in COVERED[version]]
)
@pytest.mark.parametrize("algorithm", HASHES)
def test_a_changed_property_that_is_signed_is_noticed(
    version: SignatureVersion, name: str, algorithm: HashAlgorithm
) -> None:
    network, b, peer = receiver(user(), core={"max_failed_checks": 1000})
    b.create(SECOND)
    packet = signed(everything(), version=version, algorithm=algorithm)
    peer.send(change(packet, **COVERED[version][name]))
    network.advance(1)
    assert b.bodies() == []
    # Nobody hears of what is not a message of an application.
    told = name != "message_class"
    assert nacks(peer) == [MessageClass.NACK_BAD_SIGNATURE] * told
    peer.send(change(packet, message_id=2))
    network.advance(1)
    assert b.bodies() == [b"body"]
    # After an honest one of the same sender it is noticed as well.
    peer.send(change(packet, **{"message_id": 3, **COVERED[version][name]}))
    network.advance(1)
    assert b.bodies() == [b"body"]


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (version, name)
        for version in VERSIONS
        for name in {**UNCOVERED_BY_ALL, **UNCOVERED[version]}
    ],
)
def test_a_changed_property_that_is_not_signed_is_not_noticed(
    version: SignatureVersion, name: str
) -> None:
    network, b, peer = receiver(user())
    b.create(SECOND)
    changes = {**UNCOVERED_BY_ALL, **UNCOVERED[version]}[name]
    original = signed(
        everything(extension=b"") if "border" in name else everything(), version=version
    )
    if "border" in name:
        # The label is UTF-16: a whole unit moves.
        changes = {"body": b"bodya\x00", "label": " label"}
    peer.send(change(original, **changes))
    network.advance(1)
    assert b.bodies() + b.bodies(SECOND) != []


def test_refusals_are_silent_while_insecure_nacks_are_off() -> None:
    network, b, peer = receiver(user(), core={"send_insecure_nacks": False})
    packet = signed(everything())
    peer.send(change(packet, body=b"BODY"), change(packet, message_id=2))
    network.advance(1)
    assert nacks(peer) == []
    assert b.bodies() == [b"body"]


@pytest.mark.spec("MQQB-3.1.5.8.3-05")
def test_the_sender_of_a_transactional_message_gets_a_final_ack() -> None:
    network, b, peer = receiver(user(), transactional=True)
    bad = change(signed(tx_message(b"1", 5, 1, 0)), body=b"2")
    good = signed(tx_message(b"3", 5, 2, 1))
    peer.send(bad, good)
    network.advance(1)
    assert b.bodies() == [b"3"]
    assert finals(peer) == [MessageClass.NACK_BAD_SIGNATURE]


@pytest.mark.spec("MQQB-3.1.5.8.3-06", "MQQB-3.1.5.8.3-07", "MQQB-3.1.5.8.3-10")
def test_a_certificate_counts_with_the_sid_of_its_user_only() -> None:
    mallory = signing_key("mallory")
    network, b, peer = receiver(user(), user(MALLORY, mallory))
    peer.send(signed(everything(), mallory, sid=ALICE))
    peer.send(signed(everything(message_id=2), signing_key(), sid=MALLORY))
    # Now both certificates are known, but each with its own user.
    peer.send(
        signed(everything(message_id=3)), signed(everything(message_id=4), mallory, sid=MALLORY)
    )
    peer.send(signed(everything(message_id=5), mallory, sid=ALICE))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [3, 4]
    assert nacks(peer) == [MessageClass.NACK_BAD_SIGNATURE] * 3


@pytest.mark.spec("MQQB-3.1.5.8.3-10")
def test_without_a_directory_no_sid_is_proved() -> None:
    network, b, peer = receiver(policy={"accept_unknown_certificates": True})
    peer.send(signed(everything()), signed(everything(message_id=2), sid=None))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]


def test_an_unknown_certificate_without_a_sid_is_refused_by_default() -> None:
    network, b, peer = receiver(user())
    peer.send(signed(everything(), sid=None), signed(everything(message_id=2)))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]


@pytest.mark.spec("MQQB-3.1.5.8.3-01")
def test_a_message_for_a_guid_is_verified_as_one_for_a_direct_name_is() -> None:
    network, b, peer = receiver(user())
    number = orders(b).properties.private_queue_number
    for at, destination in enumerate((private_address(b.guid, number), TO_B)):
        packet = signed(everything(destination_queue=destination, message_id=2 * at + 1))
        peer.send(change(packet, body=b"BODY"), change(packet, message_id=2 * at + 2))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2, 4]


@pytest.mark.spec("MQDMPR-3.1.1.12-43")
@pytest.mark.parametrize("default", [False, True])
def test_what_a_packet_says_of_its_provider_is_kept_and_means_nothing(*, default: bool) -> None:
    network, b, peer = receiver(user(), authentication=True)
    packet = signed(everything())
    header = UserMessage(packet).security_header
    assert header is not None
    provider = ProviderInfo(0x77, "A provider of an application")
    flags = header.flags | SecurityHeaderFlags.DE
    named = replace(
        header,
        flags=flags if default else flags & ~SecurityHeaderFlags.DE,
        provider_info=provider,
    )
    peer.send(change(packet, security_header=named))
    network.advance(1)
    (received,) = b.take()
    assert received.authentication_level == SIG20
    assert received.security_header is not None
    assert received.security_header.provider_info == provider


@pytest.mark.spec("MQQB-6-01")
def test_hash_algorithms_are_accepted_by_the_setting() -> None:
    network, b, peer = receiver(user(), policy={"accepted_hashes": SenderPolicy().accepted_hashes})
    for number, algorithm in enumerate(HASHES, 1):
        peer.send(signed(everything(message_id=number), algorithm=algorithm))
    network.advance(1)
    assert [each.hash_algorithm for each in b.take()] == [
        HashAlgorithm.SHA_512,
        HashAlgorithm.SHA_256,
    ]


@pytest.mark.parametrize(
    ("not_before", "not_after"),
    [
        (datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)),
        (datetime(2030, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)),
    ],
)
@pytest.mark.parametrize("check_dates", [True, False])
def test_dates_are_checked_unless_a_setting_says_not_to(
    not_before: datetime, not_after: datetime, *, check_dates: bool
) -> None:
    key = signing_key("dated", not_before=not_before, not_after=not_after)
    network, b, peer = receiver(user(ALICE, key), policy={"check_dates": check_dates})
    peer.send(signed(everything(), key))
    network.advance(1)
    assert len(b.take()) == (not check_dates)


@pytest.mark.parametrize("level", range(1, 16))
def test_a_level_that_a_peer_claims_counts_for_nothing(level: int) -> None:
    network, b, peer = receiver(user(), authentication=True)
    packet = bytearray(plain(1, security_header=SecurityHeader(1, ALICE.serialize())))
    at = UserMessage(bytes(packet)).security_offset
    packet[at] |= 0x10
    packet[at + 1] |= level
    peer.send(bytes(packet), signed(everything(message_id=2)))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]


@pytest.mark.spec("MQQB-3.1.5.8.3-24")
def test_groups_of_a_verified_sender_count() -> None:
    clerks = SID(5, (21, 1, 2, 3, 2000))
    network, b, peer = receiver(user(groups=(clerks,)), user(MALLORY, signing_key("mallory")))
    grant(b, clerks)
    unsigned = SecurityHeader(1, ALICE.serialize())
    peer.send(
        signed(everything()),
        signed(everything(message_id=2), signing_key("mallory"), sid=MALLORY),
        # A claim brings no groups.
        plain(3, security_header=unsigned),
    )
    network.advance(1)
    assert [each.message_id for each in b.messages(orders(b))] == [1]


@pytest.mark.parametrize("trust", [True, False])
def test_a_claimed_sid_counts_unless_the_setting_says_not_to(*, trust: bool) -> None:
    network, b, peer = receiver(user(), core={"trust_claimed_senders": trust})
    grant(b, ALICE)
    unsigned = SecurityHeader(1, ALICE.serialize())
    peer.send(plain(1, security_header=unsigned), signed(everything(message_id=2)))
    network.advance(1)
    # The signed one has a higher priority.
    assert [each.message_id for each in b.messages(orders(b))] == ([2, 1] if trust else [2])


def grant(node: Node, sid: SID) -> None:
    """Let only this principal write to the queue."""
    dacl = Acl((Ace(AceType.ACCESS_ALLOWED, int(QueueRight.WRITE_MESSAGE), sid),))
    orders(node).properties.security = SecurityDescriptor(
        owner=SID(5, (18,)), dacl=dacl
    ).serialize()


# Limits


def test_an_address_that_fails_too_often_loses_its_session() -> None:
    network, b, peer = receiver(user())
    packet = signed(everything())
    for number in range(20):
        peer.send(change(packet, body=b"bad", message_id=number + 10))
    network.advance(1)
    assert peer.closed is None
    assert len(nacks(peer)) == 20
    peer.send(change(packet, body=b"bad", message_id=99))
    network.advance(1)
    assert b.disconnects[-1].reason is CloseReason.CHECK_FAILED
    other = RawPeer(network, b, address="10.0.0.8", number=8)
    other.connect()
    other.send(change(packet, message_id=3))
    network.advance(1)
    assert b.bodies() == [b"body"]
    again = RawPeer(network, b)
    again.connect()
    again.send(change(packet, message_id=4))
    network.advance(1)
    assert len(b.bodies()) == 1
    network.advance(61)
    later = RawPeer(network, b)
    later.connect()
    later.send(change(packet, message_id=5))
    network.advance(1)
    assert len(b.bodies()) == 2


def test_unregistered_certificates_do_not_close_the_session() -> None:
    network, b, peer = receiver(user())
    for number in range(50):
        peer.send(signed(everything(message_id=number + 1), signing_key("mallory")))
    peer.send(signed(everything(message_id=99)))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [99]


# UserCertCache


@pytest.mark.spec("MQQB-3.1.5.8.3-07", "MQQB-3.1.3.1-03")
def test_the_directory_is_read_once_for_a_certificate() -> None:
    network, b, peer = receiver(user())
    checks = b.qm.state.message_checks
    cache = checks.user_cert_cache
    assert len(cache) == 0
    peer.send(signed(everything()))
    assert (ALICE.serialize(), signing_key().certificate) in cache
    shared, b.qm.state.directory = b.qm.state.directory, None
    alice = UserMessage(signed(everything()))
    assert checks.is_registered(alice)
    assert not checks.is_registered(UserMessage(signed(everything(), sid=MALLORY)))
    network.advance(1300)
    assert len(cache) == 0
    assert not checks.is_registered(alice)
    b.qm.state.directory = shared
    assert checks.is_registered(alice)
    b.crash()
    assert len(b.qm.state.message_checks.user_cert_cache) == 0


def test_the_form_of_a_source_is_told_once() -> None:
    network, b, peer = receiver(user())
    peer.send(signed(everything()), signed(everything(message_id=2)))
    network.advance(1)
    found = [each for each in b.events if isinstance(each, SignatureFormFound)]
    assert [(each.source, each.form.split(",")[0]) for each in found] == [(SOURCE, "sig20")]
