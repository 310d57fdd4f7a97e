"""Running totals follow every change of a queue."""

from tests.core.harness import ORDERS, PEEK, RECEIVE, SEND, USER, Harness
from tests.core.invariants import check_totals

from openmsmq.wire.codes.message_class import MessageClass

REMOTE = r"DIRECT=OS:elsewhere\private$\q"


def figures(harness: Harness) -> tuple[int, int, int]:
    totals = harness.qm.state.totals
    check_totals(harness.qm.state)
    return totals.queues, totals.messages, totals.outgoing_messages


def test_queues_of_users_are_counted_from_creation_to_deletion(harness: Harness) -> None:
    assert figures(harness)[0] == 1
    harness.create(r".\private$\other", journaling=True)
    assert figures(harness)[0] == 2
    harness.restart()
    assert figures(harness)[0] == 2
    queue = harness.qm.find_queue(ORDERS)
    harness.qm.delete_queue(queue, caller=USER)
    assert figures(harness)[0] == 1


def test_messages_are_counted_as_they_come_and_go(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    harness.send(b"1", b"2", b"3")
    assert figures(harness)[1] == 3
    descriptor = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(descriptor, timeout=0, two_phase=True)
    assert figures(harness)[1] == 3
    harness.qm.traffic.end_many(descriptor, list(queue.locked), delete=True)
    assert figures(harness)[1] == 2
    harness.qm.traffic.purge(descriptor)
    assert figures(harness)[1] == 0


def test_a_deleted_queue_takes_its_messages_out_of_the_totals(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    harness.send(b"1", b"2")
    descriptor = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(descriptor, timeout=0, two_phase=True)
    harness.qm.delete_queue(queue, caller=USER)
    assert figures(harness) == (0, 0, 0)


def test_a_copy_in_the_journal_counts(harness: Harness) -> None:
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, journaling=True)
    harness.send(b"1")
    harness.drain()
    assert figures(harness)[1] == 1
    assert harness.qm.state.totals.journal_bytes > 0
    harness.qm.traffic.peek_many(harness.open(PEEK, ORDERS + ";journal"), timeout=0)


def test_outgoing_messages_are_counted_until_they_are_delivered(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", name=REMOTE)
    harness.open(SEND, REMOTE)
    queue = harness.qm.outgoing.find(REMOTE)
    assert figures(harness)[1:] == (2, 2)
    harness.qm.outgoing.lock_front(queue, 1, "session")
    assert figures(harness)[1:] == (2, 2)
    harness.qm.outgoing.finish(queue, sent.messages, MessageClass.ACK_REACH_QUEUE)
    assert figures(harness)[1:] == (0, 0)


def test_messages_that_were_stored_count_after_a_restart(harness: Harness) -> None:
    harness.send(b"kept")
    harness.send(b"kept", name=REMOTE)
    harness.restart()
    assert figures(harness) == (1, 2, 1)
