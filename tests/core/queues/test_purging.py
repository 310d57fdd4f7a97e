"""Purge Queue and Delete Queue ([MS-MQDMPR] 3.1.7.1.7, 3.1.7.1.4)."""

import pytest
from tests.core.harness import (
    ADMINISTRATOR,
    ORDERS,
    RECEIVE,
    SEND,
    STRANGER,
    USER,
    Harness,
    bodies,
    refused,
)

from openmsmq.core.events import MessagesDeleted, QueueDeleted
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.read import Read
from openmsmq.wire.codes.message_class import MessageClass

SPEC = pytest.mark.spec
TRANSACTIONAL = r".\private$\t"


def deletions(harness: Harness) -> list[tuple[int, int]]:
    """(reason, how many messages) of each deletion."""
    events = harness.take_events(MessagesDeleted)
    return [(event.reason, len(event.messages)) for event in events]


@SPEC("MQDMPR-3.1.7.1.7-01")
def test_purge_deletes_what_is_available_with_its_reason(harness: Harness) -> None:
    harness.send(b"1", b"2", b"3")
    purged = harness.qm.traffic.purge(harness.open(RECEIVE))
    assert (purged.count, purged.done) == (3, True)
    assert deletions(harness) == [(MessageClass.NACK_Q_PURGED, 3)]
    harness.restart()
    assert harness.contents() == []


@SPEC("MQDMPR-3.1.7.1.7-02", "MQDMPR-3.1.1.11-03")
def test_purge_marks_locked_messages(harness: Harness) -> None:
    harness.send(b"1", b"2")
    descriptor = harness.open(RECEIVE)
    read = harness.qm.traffic.dequeue_many(descriptor, two_phase=True)
    assert isinstance(read, Read)
    harness.qm.traffic.purge(descriptor)
    assert read.messages[0].state == PositionState.PURGE_PENDING
    assert harness.qm.find_queue(ORDERS).count == 1
    assert deletions(harness) == [(MessageClass.NACK_Q_PURGED, 1)]


@SPEC("MQDMPR-3.1.7.1.12-05")
@pytest.mark.parametrize("delete", [True, False])
def test_the_end_of_a_read_removes_a_purged_message(harness: Harness, *, delete: bool) -> None:
    sent = harness.send(b"1")
    descriptor = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(descriptor, two_phase=True)
    harness.qm.traffic.purge(descriptor)
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids, delete=delete)
    assert deletions(harness) == [(MessageClass.NACK_Q_PURGED, 1)]
    assert harness.qm.find_queue(ORDERS).count == 0


@SPEC("MQDMPR-3.1.4.5-03", "MQDMPR-3.1.7.1.7-03")
@pytest.mark.parametrize(
    ("commit", "reason"), [(True, MessageClass.ACK_RECEIVE), (False, MessageClass.NACK_Q_PURGED)]
)
def test_a_purged_message_goes_when_its_transaction_ends(
    harness: Harness,
    *,
    commit: bool,
    reason: MessageClass,
) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    descriptor = harness.open(RECEIVE, TRANSACTIONAL)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.dequeue_many(descriptor, transaction=transaction)
    harness.qm.traffic.purge(descriptor)
    assert harness.qm.find_queue(TRANSACTIONAL).count == 1
    decide = harness.qm.traffic.commit if commit else harness.qm.traffic.abort
    decide(transaction.identifier)
    assert harness.qm.find_queue(TRANSACTIONAL).count == 0
    assert deletions(harness) == [(reason, 1)]


@SPEC("MQDMPR-3.1.7.1.7-04")
def test_purge_leaves_sends_alone_that_are_not_committed(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.purge(harness.open(RECEIVE, TRANSACTIONAL))
    harness.qm.traffic.commit(sending.identifier)
    assert harness.contents(TRANSACTIONAL) == [b"1"]


def test_purge_goes_in_steps_and_spares_what_came_after_it_began(harness: Harness) -> None:
    harness.send(b"1", b"2", priority=0)
    harness.send(b"3", priority=7)
    descriptor = harness.open(RECEIVE)
    step = harness.qm.traffic.purge(descriptor, limit=2)
    assert (step.count, step.done) == (2, False)
    harness.send(b"new", priority=7)
    step = harness.qm.traffic.purge(descriptor, upto=step.upto, limit=2)
    assert (step.count, step.done) == (1, True)
    assert harness.contents() == [b"new"]


def test_purging_an_outgoing_queue_is_a_deletion_before_arrival(harness: Harness) -> None:
    name = r"DIRECT=OS:elsewhere\private$\q"
    harness.send(b"1", name=name)
    descriptor = harness.open(QueueAccessType.RECEIVE_ADMIN, name, caller=ADMINISTRATOR)
    harness.qm.traffic.purge(descriptor)
    assert deletions(harness) == [(MessageClass.NACK_DELETED, 1)]


@SPEC("MQDMPR-3.1.7.1.4-01", "MQDMPR-3.1.7.1.4-03")
def test_deleting_a_queue_deletes_all_messages_in_it(harness: Harness) -> None:
    harness.send(b"1", b"2", b"3")
    queue = harness.qm.find_queue(ORDERS)
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE), two_phase=True)
    assert isinstance(read, Read)
    harness.qm.delete_queue(queue, caller=USER)
    assert deletions(harness) == [(MessageClass.NACK_Q_DELETED, 3)]
    assert read.messages[0].state == PositionState.DELETED
    assert queue not in harness.qm.queues
    assert queue in [event.queue for event in harness.take_events(QueueDeleted)]
    for _ in range(2):
        with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
            harness.qm.find_queue(ORDERS)
        assert harness.qm.state.totals.bytes == 0
        harness.restart()


def test_a_deleted_queue_takes_its_journal_and_subqueues_with_it(harness: Harness) -> None:
    harness.send(b"1")
    target = harness.open(RECEIVE, ORDERS + ";later")
    harness.qm.traffic.move_many(harness.open(RECEIVE), target)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    for name in (ORDERS + ";later", ORDERS + ";journal"):
        with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
            harness.qm.find_queue(name)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.dequeue_many(target)
    harness.create()
    harness.restart()
    assert harness.contents() == []


def test_only_queues_of_users_can_be_deleted_by_who_may(harness: Harness) -> None:
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=STRANGER)
    for name in (r".\system$;deadletter", ORDERS + ";journal", r".\private$\order_queue$"):
        with refused("MQ_ERROR_ILLEGAL_OPERATION"):
            harness.qm.delete_queue(harness.qm.find_queue(name), caller=ADMINISTRATOR)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=ADMINISTRATOR)


def test_a_transaction_survives_the_deletion_of_its_queues(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", b"2", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, TRANSACTIONAL), transaction=transaction)
    harness.send(b"3", name=TRANSACTIONAL, transaction=transaction, negative_journaling=True)
    harness.qm.delete_queue(harness.qm.find_queue(TRANSACTIONAL), caller=USER)
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(r".\system$;deadxact") == [b"3"]
    harness.restart()
    assert harness.contents(r".\system$;deadxact") == [b"3"]


def test_a_send_to_a_deleted_queue_is_refused(harness: Harness) -> None:
    descriptor = harness.open(SEND)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.enqueue_many(descriptor, [])


def test_messages_of_a_bulk_read_come_back_after_a_crash(harness: Harness) -> None:
    harness.send(b"1", b"2")
    harness.flush()
    assert bodies(harness.qm.traffic.dequeue_many(harness.open(RECEIVE), max_count=2)) == [
        b"1",
        b"2",
    ]
    harness.crash()
    assert harness.contents() == [b"1", b"2"]
