"""Messages of an outgoing queue that go elsewhere."""

from typing import Any

import pytest
from tests.core.harness import ADMINISTRATOR, ORDERS, SEND, STRANGER, Harness, packet, refused

from openmsmq.core.events import MessagesDeleted, MessagesMoved, OutgoingAvailable
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.rows.packets import packets_of
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

WRONG = r"DIRECT=OS:wrong\private$\q"
RIGHT = r"DIRECT=TCP:10.0.0.2\private$\q"
ADMIN = QueueAccessType.RECEIVE_ADMIN


def move(harness: Harness, to: str, *, count: int = 100, **options: Any) -> int:
    source = harness.open(ADMIN, WRONG, caller=ADMINISTRATOR)
    target = harness.open(SEND, to)
    try:
        return harness.qm.traffic.move_many(source, target, max_count=count, **options).count
    finally:
        harness.qm.close_queue(source)
        harness.qm.close_queue(target)


def views(harness: Harness, name: str) -> list[UserMessage]:
    queue = harness.qm.outgoing.find(name)
    return [UserMessage(each) for each in packets_of(harness.qm.state, list(queue.lanes))]


def send(harness: Harness, *contents: bytes, **options: Any) -> None:
    harness.send(*contents, name=WRONG, destination_queue=direct_address(r"OS:wrong\q"), **options)


def test_messages_go_to_another_destination_with_their_identifiers(harness: Harness) -> None:
    send(harness, b"1", b"2", b"3")
    before = views(harness, WRONG)
    harness.take_events(OutgoingAvailable)
    assert move(harness, RIGHT, count=2) == 2
    assert [view.body for view in views(harness, WRONG)] == [b"3"]
    moved = views(harness, RIGHT)
    assert [view.body for view in moved] == [b"1", b"2"]
    assert [view.identifier for view in moved] == [view.identifier for view in before[:2]]
    destination = moved[0].destination_queue
    assert destination is not None
    assert destination.direct == RIGHT.removeprefix("DIRECT=")
    (source, right) = (harness.qm.outgoing.find(name) for name in (WRONG, RIGHT))
    assert [event.queue for event in harness.take_events(MessagesMoved)] == [source]
    assert {event.queue for event in harness.take_events(OutgoingAvailable)} == {right}
    assert harness.take_events(MessagesDeleted) == []
    harness.restart()
    assert [view.body for view in views(harness, RIGHT)] == [b"1", b"2"]
    assert [view.body for view in views(harness, WRONG)] == [b"3"]


def test_transactional_messages_get_numbers_of_the_new_sequence(harness: Harness) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    send(harness, b"1", b"2", transaction=transaction)
    harness.qm.traffic.commit(transaction.identifier)
    assert move(harness, RIGHT) == 2
    harness.restart()
    queue = harness.qm.outgoing.find(RIGHT)
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is not None
    histories = [message.history for message in queue.lanes if message.history is not None]
    assert [each.tx_sequence_number for each in histories] == [1, 2]
    assert {each.tx_sequence_id for each in histories} == {queue.outgoing.sequence.identifier}


@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_messages_go_into_a_queue_here_that_takes_them(
    harness: Harness, delivery_mode: int
) -> None:
    send(harness, b"1", delivery_mode=delivery_mode, time_to_reach_queue=5)
    assert move(harness, ORDERS) == 1
    harness.advance(10)
    assert harness.contents() == [b"1"]
    assert harness.qm.outgoing.find(WRONG).count == 0
    assert move(harness, ORDERS) == 0


def test_a_queue_that_does_not_take_one_gets_none(harness: Harness) -> None:
    harness.create(r".\private$\ordered", transactional=True)
    send(harness, b"1")
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        move(harness, r".\private$\ordered")
    harness.create(r".\private$\small", quota=1)
    send(harness, bytes(2000))
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        move(harness, r".\private$\small")
    assert harness.qm.outgoing.find(WRONG).count == 2
    assert harness.contents(r".\private$\small") == []


def test_what_is_not_a_move_to_elsewhere_is_refused(harness: Harness) -> None:
    send(harness, b"1")
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        move(harness, WRONG)
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        move(harness, RIGHT, transaction=harness.qm.traffic.begin(harness.guid()))
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        move(harness, RIGHT, lookup_ids=[12345])
    source = harness.open(ADMIN, WRONG, caller=ADMINISTRATOR)
    journal = harness.open(QueueAccessType.RECEIVE, r".\system$;journal", caller=ADMINISTRATOR)
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.traffic.move_many(source, journal)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.open(ADMIN, WRONG, caller=STRANGER)


def test_a_message_that_is_under_way_stays(harness: Harness) -> None:
    send(harness, b"1", b"2")
    queue = harness.qm.outgoing.find(WRONG)
    first = queue.lanes.first()
    assert first is not None
    harness.qm.outgoing.lock_front(queue, 1, "a session")
    with refused("MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION"):
        move(harness, RIGHT, lookup_ids=[first.lookup_id])
    assert move(harness, RIGHT) == 1
    assert list(queue.locked.values()) == [first]


def test_a_signed_message_goes_to_no_other_destination(harness: Harness) -> None:
    signed = SecurityHeader(SecurityHeaderFlags(0), signature=b"signed")
    send(harness, b"1", security_header=signed)
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        move(harness, RIGHT)
    assert harness.qm.outgoing.find(WRONG).count == 1
    assert move(harness, ORDERS) == 1


def test_a_moved_message_keeps_the_queue_for_its_dead_letter(harness: Harness) -> None:
    harness.create(r".\private$\lost")
    descriptor = harness.open(SEND, WRONG)
    built = packet(
        b"1",
        destination_queue=direct_address(r"OS:wrong\q"),
        negative_journaling=True,
        time_to_reach_queue=60,
    )
    harness.qm.traffic.enqueue_many(descriptor, [built], deadletter_queue=r".\private$\lost")
    assert move(harness, RIGHT) == 1
    harness.advance(61)
    assert harness.contents(r".\private$\lost") == [b"1"]
