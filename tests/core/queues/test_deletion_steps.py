"""A deleted queue is gone at once; its messages leave in steps of bounded size."""

from typing import Any

import pytest
from tests.core.harness import MOVE, ORDERS, RECEIVE, SEND, USER, Harness, packet, refused
from tests.core.invariants import check_totals

from openmsmq.core.events import MessagesDeleted, QueueDeleted
from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.purging import PURGE_STEP
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.rows.queue_rows import queue_key
from openmsmq.core.rows.tables import Table
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address

ADMIN = r".\private$\admin"
PAY = r".\private$\pay"
COUNT = 2 * PURGE_STEP + 5
ASKING: dict[str, Any] = {
    "acknowledgments": 0x0A,
    "admin_queue": direct_address(r"OS:qm\private$\admin"),
}
DELETED = MessageClass.NACK_Q_DELETED


@pytest.fixture
def harness() -> Harness:
    return Harness()


def fill(harness: Harness, count: int = COUNT, name: str = ORDERS) -> Queue:
    """A queue with many messages; one in a thousand wants to hear of its end."""
    harness.create(ADMIN)
    harness.create(name)
    descriptor = harness.open(SEND, name)
    plain, asking = packet(b"1"), packet(b"2", **ASKING)
    batch = [asking, *[plain] * 999]
    for _ in range(count // 1000):
        harness.qm.traffic.enqueue_many(descriptor, batch)
    harness.qm.traffic.enqueue_many(descriptor, [plain] * (count % 1000))
    return harness.qm.find_queue(name)


def delete(harness: Harness, queue: Queue) -> None:
    harness.qm.delete_queue(queue, caller=USER)


def step(harness: Harness) -> int:
    """One turn of the event loop; return how many messages it deleted."""
    harness.advance(0)
    return deleted(harness)


def deleted(harness: Harness) -> int:
    check_totals(harness.qm.state)
    return sum(len(event.messages) for event in harness.take_events(MessagesDeleted))


def classes(harness: Harness) -> list[int]:
    """What the administration queue was told."""
    harness.settle()
    lanes = harness.qm.find_queue(ADMIN).lanes
    return [UserMessage(packet_of(harness.qm.state, each)).message_class for each in lanes]


def is_stored(harness: Harness, queue: Queue) -> bool:
    rows = harness.store.recover(None).rows
    return (Table.QUEUES, queue_key(queue.number)) in {(table, key) for table, key, _ in rows}


def test_no_step_deletes_more_than_its_share(harness: Harness) -> None:
    queue = fill(harness)
    delete(harness, queue)
    assert deleted(harness) == PURGE_STEP
    steps = []
    while harness.qm.next_timer() is not None:
        steps.append(step(harness))
    assert steps == [PURGE_STEP, 5]
    assert classes(harness) == [DELETED] * (COUNT // 1000)
    assert harness.qm.state.totals.messages == COUNT // 1000
    harness.flush()
    assert not is_stored(harness, queue)


def test_a_queue_is_gone_before_its_messages_are(harness: Harness) -> None:
    queue = fill(harness)
    sender, reader = harness.open(SEND), harness.open(RECEIVE)
    delete(harness, queue)
    assert [event.queue.path for event in harness.take_events(QueueDeleted)] == [
        r"private$\orders;JOURNAL",
        r"private$\orders",
    ]
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.open(RECEIVE)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.enqueue_many(sender, [packet(b"1")])
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.dequeue_many(reader, timeout=0)
    # The name is free.
    harness.create()
    harness.send(b"new")
    while harness.qm.next_timer() is not None:
        step(harness)
    assert harness.contents() == [b"new"]
    harness.restart()
    assert harness.contents() == [b"new"]


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize("flushed", [True, False])
def test_a_start_goes_on_with_the_deletion(*, steps: int, flushed: bool) -> None:
    harness = Harness()
    queue = fill(harness)
    harness.flush()
    delete(harness, queue)
    harness.create()
    harness.send(b"new")
    harness.flush()
    for done in range(steps):
        step(harness)
        if flushed or done < steps - 1:
            harness.flush()
    harness.crash()
    check_totals(harness.qm.state)
    while harness.qm.next_timer() is not None:
        step(harness)
    assert classes(harness) == [DELETED] * (COUNT // 1000)
    assert harness.qm.state.totals.messages == COUNT // 1000 + 1
    harness.restart()
    assert harness.qm.next_timer() is None
    assert not is_stored(harness, queue)
    assert classes(harness) == [DELETED] * (COUNT // 1000)
    assert harness.contents() == [b"new"]


def test_journal_and_subqueues_leave_in_steps_with_their_queue(harness: Harness) -> None:
    queue = fill(harness, 15_000)
    harness.qm.set_queue(queue, caller=USER, journaling=True)
    harness.qm.traffic.move_many(
        harness.open(MOVE), harness.open(MOVE, ORDERS + ";later"), max_count=6_000
    )
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), max_count=9_000, max_bytes=1 << 30)
    harness.send(b"3", **ASKING)
    deleted(harness)
    delete(harness, queue)
    steps = [deleted(harness)]
    harness.flush()
    harness.crash()
    while harness.qm.next_timer() is not None:
        steps.append(step(harness))
    assert steps == [PURGE_STEP, 5_001]
    assert classes(harness).count(DELETED) == 7
    assert len(classes(harness)) == 15 + 1
    harness.restart()
    assert not any(is_stored(harness, each) for each in (queue, *queue.subqueues.values()))


def test_what_a_reader_holds_leaves_with_the_queue(harness: Harness) -> None:
    big = fill(harness)
    queue = harness.create(PAY, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(*[b"1"] * 3, name=PAY, transaction=transaction, **ASKING)
    harness.qm.traffic.commit(transaction.identifier)
    reading = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), max_count=2, transaction=reading)
    # The deletion that began first takes the whole step.
    delete(harness, big)
    delete(harness, queue)
    assert queue.count == 3
    harness.qm.traffic.commit(reading.identifier)
    while harness.qm.next_timer() is not None:
        step(harness)
    assert classes(harness) == [DELETED] * (COUNT // 1000 + 3)


def test_an_aborted_reader_gives_nothing_back_to_a_deleted_queue(harness: Harness) -> None:
    queue = fill(harness)
    harness.create(PAY, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=PAY, transaction=transaction, **ASKING)
    harness.qm.traffic.commit(transaction.identifier)
    reading = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), transaction=reading)
    pay = harness.qm.find_queue(PAY)
    delete(harness, queue)
    delete(harness, pay)
    harness.qm.traffic.abort(reading.identifier)
    assert (len(pay.locked), pay.lanes.count) == (1, 0)
    step(harness)
    assert classes(harness) == [DELETED] * (COUNT // 1000 + 1)


def test_a_message_that_expires_meanwhile_has_one_end(harness: Harness) -> None:
    queue = fill(harness)
    short = harness.create(r".\private$\short")
    harness.send(b"1", name=r".\private$\short", time_to_be_received=5, **ASKING)
    delete(harness, queue)
    delete(harness, short)
    harness.utc += 10
    step(harness)
    assert classes(harness) == [DELETED] * (COUNT // 1000 + 1)
    assert harness.qm.next_timer() is None


def test_a_prepared_send_to_a_deleted_queue_survives_a_start(harness: Harness) -> None:
    harness.create(ADMIN)
    queue = harness.create(PAY, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=PAY, transaction=transaction, **ASKING)
    harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
    delete(harness, queue)
    harness.restart()
    assert harness.qm.next_timer() is None
    harness.qm.traffic.commit(transaction.identifier)
    assert classes(harness) == [DELETED]
    step(harness)
    harness.restart()
    assert not is_stored(harness, queue)


def test_a_prepared_move_to_a_deleted_queue_gives_back_after_a_start(harness: Harness) -> None:
    harness.create(PAY, transactional=True, journaling=True)
    target = harness.create(transactional=True)
    journal = PAY + ";journal"
    for operation in ("send", "receive"):
        transaction = harness.qm.traffic.begin(harness.guid())
        if operation == "send":
            harness.send(b"1", name=PAY, transaction=transaction)
        else:
            harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), transaction=transaction)
        harness.qm.traffic.commit(transaction.identifier)
    moving = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.move_many(
        harness.open(MOVE, journal), harness.open(MOVE), transaction=moving
    )
    harness.qm.traffic.prepare(moving.identifier, single_phase=False)
    delete(harness, target)
    harness.restart()
    assert harness.contents(journal) == []
    harness.qm.traffic.commit(moving.identifier)
    assert harness.contents(journal) == [b"1"]
