"""Plain messages arrive: duplicates, refusals, quotas, history."""

from typing import Any

import pytest
from tests.protocol.binary.pair import ORDERS, START_UTC, TO_B, USER, Network, Node, is_ack, pair
from tests.protocol.binary.raw_peer import SOURCE, RawPeer, tx_message

from openmsmq.core.rows.tables import Table
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.incoming.message_history import DEFAULT_HISTORY_SIZE
from openmsmq.core.transfer.outgoing.unused import drop_unused_outgoing
from openmsmq.protocol.binary.events import CloseReason
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import Acknowledgment
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.packets.order_ack import FinalAck, recognize_ack
from openmsmq.wire.security.security_descriptor import Ace, AceType, Acl, SecurityDescriptor
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import EVERYONE, SID

NEGATIVE_ARRIVAL = 0x04
ALL_BUT_NEGATIVE_ARRIVAL = 0x0B


def plain(number: int, body: bytes = b"", **properties: Any) -> bytes:
    """A message from the raw peer."""
    properties.setdefault("destination_queue", direct_address(TO_B.removeprefix("DIRECT=")))
    properties.setdefault("source_queue_manager", SOURCE)
    properties.setdefault("sent_time", int(START_UTC))
    properties.setdefault("delivery_mode", 1)
    return build_user_message(body=body or b"%d" % number, message_id=number, **properties)


def raw(queue: dict[str, Any] | None = None, **options: Any) -> tuple[Network, Node, RawPeer]:
    network, _, b = pair(queue=queue or {}, **options)
    peer = RawPeer(network, b)
    peer.connect()
    return network, b, peer


# Duplicates


@pytest.mark.spec("MQQB-3.1.5.8.1-02")
@pytest.mark.parametrize("mode", [0, 1])
def test_a_known_message_is_discarded(mode: int) -> None:
    _, b, peer = raw()
    peer.send(plain(1, delivery_mode=mode), plain(1, delivery_mode=mode))
    peer.send(plain(1, delivery_mode=mode))
    peer.send(plain(1, delivery_mode=mode, source_queue_manager=b.guid))
    peer.send(plain(2, delivery_mode=mode))
    assert b.bodies() == [b"1", b"1", b"2"]
    assert b.counts["duplicate message"] == 2


@pytest.mark.spec("MQQB-3.1.5.8.2-02")
def test_duplicates_and_refused_messages_count_in_the_session() -> None:
    network, _, peer = raw()
    peer.send(plain(1), plain(1))
    peer.send(plain(2, destination_queue=direct_address(r"TCP:10.0.0.2\private$\none")))
    peer.push(b"")
    peer.session_ack()
    network.advance(1)
    (ack,) = peer.session_acks()[-1:]
    assert (ack.ack_sequence_number, ack.recoverable_msg_ack_flags) == (3, 0b111)
    assert peer.closed is None


def test_a_recoverable_duplicate_is_known_after_a_crash_and_an_express_one_comes_again() -> None:
    network, b, peer = raw()
    peer.send(plain(1), plain(2, delivery_mode=0))
    b.crash()
    again = RawPeer(network, b)
    again.connect()
    again.send(plain(1), plain(2, delivery_mode=0))
    assert b.bodies() == [b"1", b"2"]
    assert b.counts["duplicate message"] == 1


def test_a_message_and_its_place_in_the_history_are_one_batch() -> None:
    network, b, peer = raw()
    b.flushing = False
    peer.send(plain(1))
    network.run()
    b.crash()
    b.flushing = True
    assert b.bodies() == []
    again = RawPeer(network, b)
    again.connect()
    again.send(plain(1))
    assert b.bodies() == [b"1"]


@pytest.mark.spec("MQQB-3.1.1.3-08", "MQQB-3.1.5.8.1-03")
def test_the_history_knows_when_a_message_came_last() -> None:
    network, b, peer = raw()
    identifier = SOURCE.bytes_le + (1).to_bytes(4, "little")
    peer.send(plain(1))
    history = b.qm.state.message_history
    assert history.time_of(identifier) == int(network.utc)
    assert history.time_of(identifier[:-1] + b"\1") is None
    network.advance(9)
    peer.send(plain(1))
    assert history.time_of(identifier) == int(network.utc)
    b.crash()
    assert b.qm.state.message_history.time_of(identifier) == int(network.utc)


@pytest.mark.spec("MQQB-3.1.5.8.2-04", "MQQB-3.1.1.3-06")
def test_the_oldest_entries_of_a_full_history_go_first() -> None:
    network, b, peer = raw(settings=BinarySettings(history_size=3))
    assert len(b.qm.state.message_history) == 0
    for number in range(1, 6):
        peer.send(plain(number))
        network.advance(1)
    assert len(b.qm.state.message_history) == 3
    peer.send(plain(3), plain(1))
    assert b.bodies() == [b"1", b"2", b"3", b"4", b"5", b"1"]


def test_the_history_holds_ten_thousand_messages_by_default() -> None:
    assert BinarySettings().history_size == DEFAULT_HISTORY_SIZE == 10_000
    assert BinarySettings().history_seconds == 1800


@pytest.mark.spec("MQQB-3.1.6.7-01", "MQQB-3.1.2.8-01")
def test_old_entries_leave_the_history_with_their_rows() -> None:
    network, b, peer = raw(settings=BinarySettings(cleanup_seconds=1e9))
    peer.send(plain(1))
    network.advance(2000)
    peer.send(plain(2, delivery_mode=0))
    network.advance(1599)
    assert len(b.qm.state.message_history) == 2
    network.advance(1)
    assert len(b.qm.state.message_history) == 1
    network.advance(1800)
    assert len(b.qm.state.message_history) == 0
    rows = [table for table, _, _ in b.store.recover(None).rows]
    assert Table.HISTORY not in rows


@pytest.mark.spec("MQQB-3.1.3.1-02", "MQQB-3.1.2.8-01")
def test_the_cleanup_of_the_history_starts_with_the_queue_manager() -> None:
    _, b, peer = raw()
    assert b.binary.next_timer() is not None
    peer.send(plain(1))
    b.crash()
    assert b.binary.next_timer() == b.network.now + 1800
    _, other, _ = pair()
    assert other.binary.next_timer() is None


# Where messages go


@pytest.mark.spec("MQQB-3.1.5.8.8-01", "MQQB-3.1.7.10-01", "MQQB-3.1.5.1.1-04")
def test_a_message_is_stored_as_it_came() -> None:
    _, b, peer = raw()
    packet = plain(1, label="label", message_class=0, application_tag=9, extension=b"ext")
    peer.send(packet)
    queue = b.qm.find_queue(rf".\{ORDERS}")
    assert [message.packet for message in b.messages(queue)] == [packet]


def test_every_kind_of_address_finds_its_queue() -> None:
    _, b, peer = raw()
    queue = b.qm.find_queue(rf".\{ORDERS}").properties
    addresses = [
        direct_address(rf"OS:what-you-call-us\{ORDERS}"),
        private_address(b.guid, queue.private_queue_number),
        public_address(queue.identifier),
    ]
    for number, address in enumerate(addresses, 1):
        peer.send(plain(number, destination_queue=address, queue_manager_address=b.guid))
    assert b.bodies() == [b"1", b"2", b"3"]


@pytest.mark.parametrize(
    "address",
    [
        direct_address(r"TCP:10.0.0.2\private$\none"),
        direct_address(rf"TCP:10.0.0.2\{ORDERS};journal"),
        direct_address("nonsense"),
        direct_address(r"TCP:10.0.0.2\private$\notify_queue$"),
        private_address(SOURCE, 1),
        public_address(SOURCE),
    ],
)
def test_messages_for_other_places_are_refused(address: QueueAddress) -> None:
    _, b, peer = raw()
    peer.send(plain(1, destination_queue=address))
    assert b.bodies() == []
    assert b.counts == {"NACK_BAD_DST_Q": 1}


def test_a_message_without_a_destination_is_refused() -> None:
    _, b, peer = raw()
    packet = plain(1)
    size = UserMessage(packet).admin_offset - 64
    flags = int.from_bytes(packet[60:64], "little") & ~0x1C00
    peer.send(
        packet[:8]
        + (len(packet) - size).to_bytes(4, "little")
        + packet[12:60]
        + flags.to_bytes(4, "little")
        + packet[64 + size :]
    )
    assert b.counts == {"NACK_BAD_DST_Q": 1}


def test_a_message_for_another_queue_manager_is_refused() -> None:
    _, b, peer = raw()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    peer.send(
        plain(1, destination_queue=private_address(SOURCE, number), queue_manager_address=SOURCE)
    )
    assert b.counts == {"NACK_BAD_DST_Q": 1}


@pytest.mark.spec("MQQB-3.1.5.8-03")
def test_a_message_that_is_too_late_is_not_queued() -> None:
    network, b, peer = raw()
    network.advance(100)
    peer.send(plain(1, time_to_reach_queue=99), plain(2, time_to_reach_queue=100))
    peer.send(plain(3, time_to_reach_queue=0xFFFFFFFF))
    assert b.bodies() == [b"2", b"3"]
    assert b.counts == {"NACK_REACH_QUEUE_TIMEOUT": 1}


@pytest.mark.spec("MQQB-3.1.5.8.2-10")
@pytest.mark.parametrize("acknowledgments", [NEGATIVE_ARRIVAL, ALL_BUT_NEGATIVE_ARRIVAL])
def test_a_plain_message_for_a_transactional_queue_is_dropped(acknowledgments: int) -> None:
    network, b, peer = raw({"transactional": True})
    admin = direct_address(r"TCP:10.0.0.7\private$\admin")
    peer.send(plain(1, admin_queue=admin, acknowledgments=acknowledgments))
    network.advance(1)
    assert b.bodies() == []
    wanted = acknowledgments == NEGATIVE_ARRIVAL
    assert [each.message_class for each in peer.received] == [0x800A] * wanted
    assert finals(peer) == []


def finals(peer: RawPeer) -> list[int]:
    """The classes of the FinalAcks that the peer got."""
    return [
        message.message_class
        for message in peer.received
        if is_ack(message) and isinstance(recognize_ack(message), FinalAck)
    ]


@pytest.mark.spec("MQQB-3.1.5.8.2-09")
@pytest.mark.parametrize("acknowledgments", [NEGATIVE_ARRIVAL, ALL_BUT_NEGATIVE_ARRIVAL])
def test_a_transactional_message_for_a_plain_queue_is_dropped(acknowledgments: int) -> None:
    network, b, peer = raw()
    admin = direct_address(r"TCP:10.0.0.7\private$\admin")
    peer.send(tx_message(b"1", 5, 1, 0, admin_queue=admin, acknowledgments=acknowledgments))
    network.advance(1)
    assert b.bodies() == []
    assert finals(peer) == [0x8009]
    nacks = [each.message_class for each in peer.received if not is_ack(each)]
    assert nacks == [0x8009] * (acknowledgments == NEGATIVE_ARRIVAL)


@pytest.mark.spec("MQQB-3.1.5.8.2-08")
def test_a_transactional_message_for_no_queue_gets_a_negative_final_ack() -> None:
    network, b, peer = raw({"transactional": True})
    b.qm.delete_queue(b.qm.find_queue(rf".\{ORDERS}"), caller=USER)
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(1)
    assert finals(peer) == [MessageClass.NACK_BAD_DST_Q]


def test_the_sender_learns_that_there_is_no_queue() -> None:
    network, a, b = pair(queue={"transactional": True})
    b.qm.delete_queue(b.qm.find_queue(rf".\{ORDERS}"), caller=USER)
    a.send(TO_B, b"1", b"2", tx=True, negative_journaling=True)
    network.advance(2)
    assert a.xact_deadletters == [b"1", b"2"]
    assert a.outgoing(TO_B).count == 0
    # When the queue is there, the next ones arrive.
    b.create(transactional=True)
    a.send(TO_B, b"3", tx=True)
    network.advance(2)
    assert b.bodies() == [b"3"]


# Room


@pytest.mark.spec("MQQB-3.1.5.8.8-02")
def test_a_full_queue_refuses_messages() -> None:
    network, b, peer = raw({"transactional": True, "quota": 2})
    admin = direct_address(r"TCP:10.0.0.7\private$\admin")
    body = bytes(1100)
    peer.send(
        tx_message(body, 5, 1, 0),
        tx_message(body, 5, 2, 1, admin_queue=admin, acknowledgments=NEGATIVE_ARRIVAL),
        tx_message(b"3", 5, 3, 2),
    )
    network.advance(1)
    # The refused one does not stop those behind it.
    assert b.bodies() == [body, b"3"]
    assert finals(peer) == [MessageClass.NACK_Q_EXCEED_QUOTA]
    nacks = [each.message_class for each in peer.received if not is_ack(each)]
    assert nacks == [MessageClass.NACK_Q_EXCEED_QUOTA]


@pytest.mark.spec("MQQB-3.1.5.8.8-03")
def test_what_a_full_queue_refuses_can_become_a_dead_letter_here() -> None:
    _, b, peer = raw({"quota": 1})
    body = bytes(1100)
    peer.send(plain(1, body, negative_journaling=True), plain(2, body))
    assert b.bodies() == []
    assert b.deadletters == [body]
    (dead,) = b.messages(b.qm.state.deadletter)
    assert dead.message_class == MessageClass.NACK_Q_EXCEED_QUOTA


@pytest.mark.spec("MQQB-3.1.5.8.8-04")
def test_a_full_queue_manager_ends_the_session() -> None:
    network, b, peer = raw({"transactional": True})
    b.create(r"private$\plain")
    b.qm.state.manager.queue_manager_quota = 2
    other = direct_address(r"TCP:10.0.0.2\private$\plain")
    body = bytes(1100)
    peer.send(
        tx_message(b"1", 5, 1, 0),
        plain(9, body, destination_queue=other),
        tx_message(b"2", 5, 2, 1),
        tx_message(body, 5, 3, 2),
        tx_message(b"4", 5, 4, 3),
    )
    assert peer.closed is not None
    assert peer.closed.reason is CloseReason.NO_ROOM
    assert b.bodies() == [b"1", b"2"]
    (stream,) = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
    assert stream.sequence_number == 2
    # When there is room, the sender comes again and everything is there once.
    b.qm.state.manager.queue_manager_quota = 0xFFFFFFFF
    again = RawPeer(network, b)
    again.connect()
    again.send(
        plain(9, body, destination_queue=other),
        tx_message(b"2", 5, 2, 1),
        tx_message(body, 5, 3, 2),
        tx_message(b"4", 5, 4, 3),
    )
    assert b.bodies() == [b"1", b"2", body, b"4"]
    assert b.bodies(r"private$\plain") == [body]


def test_no_room_between_two_queues_ends_the_session_too() -> None:
    _, b, peer = raw()
    b.create(r"private$\other")
    b.qm.state.manager.queue_manager_quota = 1
    other = direct_address(r"TCP:10.0.0.2\private$\other")
    peer.send(plain(1, bytes(1100)), plain(2, destination_queue=other), plain(3))
    assert peer.closed is not None
    assert b.bodies() == b.bodies(r"private$\other") == []


def test_a_sender_without_the_right_is_refused() -> None:
    network, b, peer = raw({"transactional": True})
    denied = Ace(AceType.ACCESS_DENIED, QueueRight.WRITE_MESSAGE, EVERYONE)
    descriptor = SecurityDescriptor(owner=USER.sid, group=USER.sid, dacl=Acl((denied,)))
    b.qm.set_queue(
        b.qm.find_queue(rf".\{ORDERS}"), caller=SYSTEM_CALLER, security=descriptor.serialize()
    )
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(1)
    assert b.bodies() == []
    assert finals(peer) == [MessageClass.NACK_ACCESS_DENIED]


@pytest.mark.spec("MQQB-3.1.5.8.3-21", "MQQB-3.1.5.8.3-23", "MQQB-3.1.5.8.3-25")
def test_the_sender_of_a_message_needs_the_right_to_write() -> None:
    settings = Settings(trust_claimed_senders=True, send_insecure_nacks=True)
    network, b, peer = raw(core_settings=settings)
    queue = b.qm.find_queue(rf".\{ORDERS}")

    def admit(sid: SID) -> None:
        granted = Ace(AceType.ACCESS_ALLOWED, QueueRight.WRITE_MESSAGE, sid)
        descriptor = SecurityDescriptor(owner=USER.sid, group=USER.sid, dacl=Acl((granted,)))
        b.qm.set_queue(queue, caller=SYSTEM_CALLER, security=descriptor.serialize())

    def send(number: int) -> None:
        asking: dict[str, Any] = {
            "admin_queue": direct_address(r"TCP:10.0.0.7\private$\admin"),
            "acknowledgments": NEGATIVE_ARRIVAL,
        }
        of_user = SecurityHeader(1, security_id=USER.sid.serialize())
        of_queue_manager = SecurityHeader(2, security_id=SOURCE.bytes_le)
        peer.send(
            plain(number, security_header=of_user, **asking),
            plain(number + 1, security_header=of_queue_manager, **asking),
        )

    admit(USER.sid)
    send(1)
    # A queue manager as sender counts as Everyone.
    assert b.bodies() == [b"1"]
    admit(EVERYONE)
    send(3)
    assert b.bodies() == [b"1", b"3", b"4"]
    admit(SID(5, (32, 1)))
    send(5)
    assert b.bodies() == [b"1", b"3", b"4"]
    assert b.counts["NACK_ACCESS_DENIED"] == 3
    network.advance(1)
    nacks = [message for message in peer.received if message.message_class]
    assert [message.message_class for message in nacks] == [MessageClass.NACK_ACCESS_DENIED] * 3


def test_a_sender_id_that_is_no_sid_is_refused() -> None:
    _, b, peer = raw()
    peer.send(plain(1, security_header=SecurityHeader(1, security_id=b"\x09\x09nonsense")))
    assert b.bodies() == []
    assert b.counts == {"NACK_ACCESS_DENIED": 1}


# The order queue


def test_what_is_no_acknowledgment_is_dropped_at_the_order_queue() -> None:
    _, b, peer = raw()
    order = direct_address(r"TCP:10.0.0.2\PRIVATE$\order_queue$")
    peer.send(plain(1, destination_queue=order))
    peer.send(
        plain(
            2,
            b"short",
            destination_queue=order,
            label="QM Ordering Ack",
            message_class=0x4000,
            priority=0,
        )
    )
    assert b.counts == {"unknown transactional acknowledgment": 2}
    assert peer.closed is None


def test_made_up_addresses_for_acknowledgments_make_few_outgoing_queues() -> None:
    network = Network()
    settings = Settings(names=frozenset(("10.0.0.2",)), max_outgoing_queues=3)
    b = network.add("B", "10.0.0.2", core_settings=settings)
    b.create()
    peer = RawPeer(network, b)
    peer.connect()
    for number in range(20):
        admin = direct_address(rf"TCP:10.99.0.{number}\private$\a")
        peer.send(plain(number, admin_queue=admin, acknowledgments=Acknowledgment.POS_ARRIVAL))
    assert len(b.bodies()) == 20
    assert len(b.qm.outgoing.queues) == len(b.binary.outgoing(now=network.now)) == 3


def test_an_outgoing_queue_that_is_forgotten_leaves_nothing() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.advance(1)
    timers = a.binary.next_timer()
    assert b.receive() == [b"1"]
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    assert a.binary.outgoing(now=network.now) == []
    assert a.binary.next_timer() == timers
    # A new one uses the session that is there.
    a.send(TO_B, b"2")
    network.run()
    assert b.receive() == [b"2"]
    network.cut()
    network.advance(1)
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    a.send(TO_B, b"3")
    network.advance(6)
    assert b.receive() == [b"3"]
    # This one made the connection: its link goes, too, once it is not in use.
    network.cut()
    network.advance(1)
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    assert a.binary.outgoing(now=network.now) == []
    a.send(TO_B, b"4")
    network.advance(6)
    assert b.receive() == [b"4"]


def test_an_outgoing_queue_over_a_session_of_the_peer_is_forgotten() -> None:
    network, a, b = pair()
    a.create(r"private$\answers")
    a.send(TO_B, b"1")
    network.run()
    b.send(r"DIRECT=TCP:10.0.0.1\private$\answers", b"2")
    network.advance(1)
    assert a.receive(r"private$\answers") == [b"2"]
    assert drop_unused_outgoing(b.qm.state)
    network.run()
    assert b.binary.outgoing(now=network.now) == []
    a.send(TO_B, b"3")
    network.run()
    assert b.receive() == [b"1", b"3"]


def test_an_express_acknowledgment_waits_for_what_it_tells_of() -> None:
    network, a, b = pair()
    a.create(r"private$\admin")
    asks: dict[str, Any] = {
        "admin_queue": direct_address(r"TCP:10.0.0.1\private$\admin"),
        "acknowledgments": Acknowledgment.POS_RECEIVE,
    }
    a.send(TO_B, b"express", delivery_mode=0, **asks)
    a.send(TO_B, b"recoverable")
    network.run()
    b.flushing = False
    # Both are taken in one read, which nobody sees before it is on disk.
    assert b.receive() == [b"express", b"recoverable"]
    network.advance(1)
    assert a.bodies(r"private$\admin") == []
    b.flushing = True
    network.run()
    assert len(a.bodies(r"private$\admin")) == 1


def test_of_messages_that_come_together_those_that_fit_are_taken() -> None:
    _, b, peer = raw({"quota": 1})
    peer.send(plain(1, bytes(500)), plain(2, bytes(500)), plain(3, bytes(100)))
    assert [len(body) for body in b.bodies()] == [500, 100]
    assert b.counts["NACK_Q_EXCEED_QUOTA"] == 1


def test_the_way_to_a_host_is_forgotten_with_its_last_outgoing_queue() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.advance(1)
    network.cut()
    network.advance(1)
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    assert a.binary.outgoing(now=network.now) == []
    a.send(TO_B, b"2")
    network.advance(6)
    assert b.receive() == [b"1", b"2"]
