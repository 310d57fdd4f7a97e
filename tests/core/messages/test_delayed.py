"""Delayed messages: unseen until they are due, here or on the way to another machine."""

from typing import Any

import pytest
from tests.core.harness import (
    ORDERS,
    RECEIVE,
    SEND,
    START_UTC,
    USER,
    Harness,
    bodies,
    packet,
    refused,
)

from openmsmq.core.events import MessageDropped
from openmsmq.core.messages.delayed import MAX_DELAY_SECONDS, cancel, deliver_now
from openmsmq.core.messages.sending import Sent
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.transactions.transactions import Transaction
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address

FAR = r"DIRECT=TCP:10.0.0.9\private$\orders"


@pytest.fixture(name="harness")
def empty_harness() -> Harness:
    """A queue manager without queues."""
    return Harness()


def send(
    harness: Harness,
    *contents: bytes,
    delay: float = 60,
    name: str = ORDERS,
    transaction: Transaction | None = None,
    **properties: Any,
) -> Sent:
    descriptor = harness.open(SEND, name)
    if name == FAR:
        properties["destination_queue"] = direct_address(FAR.removeprefix("DIRECT="))
    packets = [packet(body, **properties) for body in contents]
    sent = harness.qm.traffic.enqueue_many(
        descriptor, packets, transaction, deliver_at=harness.utc + delay
    )
    harness.qm.close_queue(descriptor)
    harness.settle()
    return sent


@pytest.mark.parametrize("restarts", [False, True])
def test_a_message_appears_when_it_is_due(harness: Harness, *, restarts: bool) -> None:
    harness.create()
    send(harness, b"1", delay=60)
    send(harness, b"2", delay=30.5)
    harness.send(b"3")
    if restarts:
        harness.restart()
    assert harness.contents() == [b"3"]
    queue = harness.qm.find_queue(ORDERS)
    assert (queue.count, len(queue.delayed)) == (1, 2)
    harness.advance(30)
    assert harness.contents() == [b"3"]
    assert harness.qm.next_timer() == harness.now + 0.5
    harness.advance(0.5)
    assert harness.contents() == [b"3", b"2"]
    if restarts:
        harness.restart()
    harness.advance(29.5)
    assert harness.contents() == [b"3", b"2", b"1"]
    if restarts:
        harness.restart()
    queue = harness.qm.find_queue(ORDERS)
    assert [message.arrived - START_UTC for message in queue.lanes] == [0, 30.5, 60]
    assert harness.qm.state.totals.delayed_messages == 0
    assert harness.drain() == [b"3", b"2", b"1"]


def test_messages_that_were_due_while_the_queue_manager_was_off_appear_at_the_start(
    harness: Harness,
) -> None:
    harness.create()
    send(harness, b"1", delay=60, time_to_be_received=10)
    harness.flush()
    harness.utc += 1000
    harness.crash()
    harness.advance(0)
    # Its limits count from now.
    assert harness.contents() == [b"1"]
    harness.advance(10)
    assert harness.contents() == []


def test_messages_of_one_time_appear_in_the_order_in_which_they_were_sent(
    harness: Harness,
) -> None:
    harness.create()
    harness.qm.traffic.enqueue_many(
        harness.open(SEND), [packet(b"1"), packet(b"2")], deliver_at=harness.utc + 5
    )
    send(harness, b"3", delay=5)
    send(harness, b"4", delay=5, priority=7)
    harness.restart()
    harness.advance(5)
    assert harness.contents() == [b"4", b"1", b"2", b"3"]


def test_a_waiting_reader_gets_a_message_when_it_is_due(harness: Harness) -> None:
    harness.create()
    send(harness, b"1", delay=5)
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE), timeout=None)
    assert isinstance(read, ReadRequest)
    harness.advance(5)
    harness.settle()
    assert not read.waiting
    assert harness.qm.state.totals.messages == 0


def test_an_express_message_is_lost_with_the_process(harness: Harness) -> None:
    harness.create()
    send(harness, b"1", delay=5, delivery_mode=0)
    send(harness, b"2", delay=5)
    harness.restart()
    harness.advance(5)
    assert harness.contents() == [b"2"]


def test_the_time_in_the_message_is_that_of_the_delivery(harness: Harness) -> None:
    harness.create()
    sent = send(harness, b"1", delay=60, time_to_be_received=10, label="label")
    identifier = UserMessage(packet_of(harness.qm.state, sent.messages[0])).identifier
    harness.advance(65)
    (message,) = harness.qm.find_queue(ORDERS).lanes
    view = UserMessage(packet_of(harness.qm.state, message))
    assert view.sent_time == int(START_UTC) + 65
    assert (view.identifier, view.label, view.body) == (identifier, "label", b"1")
    harness.advance(9)
    assert harness.contents() == [b"1"]
    harness.advance(1)
    assert harness.contents() == []


@pytest.mark.parametrize("restarts", [False, True])
def test_a_message_for_another_machine_waits_here_and_is_numbered_when_due(
    harness: Harness, *, restarts: bool
) -> None:
    for body, delay in ((b"1", 60), (b"2", 0)):
        transaction = harness.qm.traffic.begin(harness.guid())
        send(harness, body, delay=delay, name=FAR, transaction=transaction)
        harness.qm.traffic.commit(transaction.identifier)
    if restarts:
        harness.restart()
    queue = harness.qm.outgoing.find(FAR)
    assert [harness.body(message) for message in queue.lanes] == [b"2"]
    harness.advance(100_000)
    queue = harness.qm.outgoing.find(FAR)
    numbers = [message.history.tx_sequence_number for message in queue.lanes if message.history]
    assert [harness.body(message) for message in queue.lanes] == [b"2", b"1"]
    assert numbers == [1, 2]


def test_an_outgoing_queue_with_delayed_messages_is_not_forgotten(harness: Harness) -> None:
    send(harness, b"1", delay=100_000, name=FAR)
    for _ in range(5):
        harness.advance(10_000)
    assert len(harness.qm.outgoing.find(FAR).delayed) == 1


@pytest.mark.parametrize("commits", [False, True])
def test_in_a_transaction_it_is_not_before_the_commit(harness: Harness, *, commits: bool) -> None:
    harness.create(transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    send(harness, b"1", delay=10, transaction=transaction)
    send(harness, b"2", delay=50, transaction=transaction)
    harness.send(b"3", transaction=transaction)
    harness.advance(20)
    assert harness.contents() == []
    if commits:
        harness.qm.traffic.commit(transaction.identifier)
    else:
        harness.qm.traffic.abort(transaction.identifier)
    assert sorted(harness.contents()) == ([b"1", b"3"] if commits else [])
    harness.restart()
    harness.advance(30)
    assert sorted(harness.contents()) == ([b"1", b"2", b"3"] if commits else [])


def test_a_prepared_transaction_keeps_its_delayed_messages(harness: Harness) -> None:
    harness.create(transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    send(harness, b"1", delay=50, transaction=transaction)
    harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
    harness.restart()
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents() == []
    harness.restart()
    harness.advance(50)
    assert harness.contents() == [b"1"]


def test_messages_that_appear_together_are_first_and_last_of_their_transaction(
    harness: Harness,
) -> None:
    harness.create(transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    send(harness, b"1", b"2", delay=50, transaction=transaction)
    harness.send(b"3", transaction=transaction)
    harness.qm.traffic.commit(transaction.identifier)
    harness.advance(50)
    views = [
        UserMessage(packet_of(harness.qm.state, message))
        for message in harness.qm.find_queue(ORDERS).lanes
    ]
    assert [(view.body, view.first_in_transaction, view.last_in_transaction) for view in views] == [
        (b"3", True, True),
        (b"1", True, False),
        (b"2", False, True),
    ]


def test_delayed_messages_count_against_the_quotas(harness: Harness) -> None:
    harness.create(quota=2)
    send(harness, bytes(1200))
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.send(bytes(1200))
    harness.restart()
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        send(harness, bytes(1200))
    harness.create(r".\private$\other")
    harness.qm.set_quotas(messages=2, journals=100)
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.send(bytes(1200), name=r".\private$\other")


@pytest.mark.parametrize("delay", [MAX_DELAY_SECONDS + 1, -START_UTC - 1, float("nan")])
def test_a_time_that_is_too_far_away_is_refused(harness: Harness, delay: float) -> None:
    harness.create()
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        send(harness, b"1", delay=delay)
    send(harness, b"2", delay=MAX_DELAY_SECONDS)
    assert len(harness.qm.find_queue(ORDERS).delayed) == 1


def test_a_time_in_the_past_is_now(harness: Harness) -> None:
    harness.create()
    send(harness, b"1", delay=-100)
    harness.advance(0)
    assert harness.contents() == [b"1"]


def test_delayed_messages_are_delivered_now_or_cancelled(harness: Harness) -> None:
    queue = harness.create()
    ids = [send(harness, b"%d" % each).lookup_ids[0] for each in range(4)]
    state = harness.qm.state
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        deliver_now(state, queue, [ids[0], 7])
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        cancel(state, queue, [ids[0], 7], "somebody")
    assert deliver_now(state, queue, [ids[2]]).value == 1
    assert harness.contents() == [b"2"]
    assert cancel(state, queue, [ids[0]], "somebody").value == 1
    (event,) = harness.take_events(MessageDropped)
    assert event.reason == "cancelled: by somebody"
    harness.restart()
    queue = harness.qm.find_queue(ORDERS)
    assert (harness.contents(), len(queue.delayed)) == ([b"2"], 2)
    assert deliver_now(harness.qm.state, queue, None).value == 2
    assert harness.contents() == [b"2", b"1", b"3"]
    assert deliver_now(harness.qm.state, queue, None).value == 0
    assert cancel(harness.qm.state, queue, None, "somebody").value == 0
    send(harness, b"5")
    assert cancel(harness.qm.state, queue, None, "somebody").value == 1
    harness.restart()
    harness.advance(100)
    assert harness.contents() == [b"2", b"1", b"3"]


def test_a_deleted_queue_takes_its_delayed_messages_with_it(harness: Harness) -> None:
    queue = harness.create()
    send(harness, b"1", b"2")
    harness.qm.delete_queue(queue, caller=USER)
    assert queue.counters.deleted == {int(MessageClass.NACK_Q_DELETED): 2}
    harness.restart()
    harness.advance(100)
    assert harness.qm.state.totals.messages == harness.qm.state.totals.delayed_messages == 0


def test_several_destinations_get_it_when_it_is_due(harness: Harness) -> None:
    harness.create()
    harness.create(r".\private$\other")
    names = r"DIRECT=OS:qm\private$\orders,DIRECT=OS:qm\private$\other"
    descriptor = harness.open(SEND, names)
    harness.qm.traffic.enqueue_many(
        descriptor, [packet(b"1", destination_queue=None)], deliver_at=harness.utc + 5
    )
    assert harness.contents() == harness.contents(r".\private$\other") == []
    harness.advance(5)
    assert harness.contents() == harness.contents(r".\private$\other") == [b"1"]
    assert bodies(harness.qm.traffic.peek_many(harness.open(RECEIVE), timeout=0)) == [b"1"]
