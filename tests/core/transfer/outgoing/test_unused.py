"""Outgoing queues that nothing needs are forgotten after a while."""

from tests.core.harness import ADMINISTRATOR, SEND, STRANGER, Harness, refused

from openmsmq.core.events import QueueDeleted
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.outgoing.unused import UNUSED_STEP
from openmsmq.wire.codes.message_class import MessageClass

REMOTE = r"DIRECT=OS:misspelt\private$\q"
THIRD = r"DIRECT=OS:third\private$\q"
HOUR = Settings().unused_outgoing_seconds


def names(harness: Harness) -> list[str]:
    return [queue.path for queue in harness.qm.outgoing.queues]


def use(harness: Harness, name: str) -> None:
    """An application opens the queue and closes it."""
    harness.qm.close_queue(harness.open(SEND, name))


def test_an_unused_queue_is_forgotten_after_one_to_two_periods(harness: Harness) -> None:
    use(harness, REMOTE)
    harness.advance(HOUR)
    assert names(harness) == [REMOTE]
    queue = harness.qm.outgoing.find(REMOTE)
    harness.advance(HOUR - 1)
    assert names(harness) == [REMOTE]
    harness.advance(1)
    assert names(harness) == []
    assert [event.queue for event in harness.take_events(QueueDeleted)] == [queue]
    harness.restart()
    assert names(harness) == []
    assert harness.qm.next_timer() is None


def test_a_queue_that_is_used_or_paused_stays(harness: Harness) -> None:
    descriptor = harness.open(SEND, REMOTE)
    use(harness, THIRD)
    harness.qm.outgoing.pause(harness.qm.outgoing.find(THIRD), caller=ADMINISTRATOR)
    harness.send(b"1", name=r"DIRECT=OS:fourth\private$\q")
    for _ in range(4):
        harness.advance(HOUR)
    assert len(names(harness)) == 3
    harness.qm.close_queue(descriptor)
    harness.qm.outgoing.resume(harness.qm.outgoing.find(THIRD), caller=ADMINISTRATOR)
    for _ in range(2):
        harness.advance(HOUR)
    assert names(harness) == [r"DIRECT=OS:fourth\private$\q"]


def test_a_message_that_comes_meanwhile_keeps_its_queue(harness: Harness) -> None:
    use(harness, REMOTE)
    harness.advance(HOUR)
    harness.send(b"1", name=REMOTE)
    harness.advance(HOUR)
    queue = harness.qm.outgoing.find(REMOTE)
    harness.qm.outgoing.finish(queue, list(queue.lanes), MessageClass.ACK_REACH_QUEUE)
    harness.advance(HOUR)
    assert names(harness) == [REMOTE]
    harness.advance(HOUR)
    assert names(harness) == []


def test_many_are_looked_at_in_steps(harness: Harness) -> None:
    for number in range(UNUSED_STEP + 2):
        use(harness, rf"DIRECT=OS:host{number}\private$\q")
    harness.advance(HOUR)
    assert harness.qm.next_timer() == harness.now
    harness.advance(0)
    assert harness.qm.next_timer() == harness.now + HOUR
    harness.advance(HOUR)
    assert len(names(harness)) == 2
    # One of those that are still to be looked at may be deleted in between.
    harness.qm.outgoing.delete(harness.qm.outgoing.queues[0], caller=ADMINISTRATOR)
    harness.advance(0)
    assert names(harness) == []


def test_only_an_empty_queue_that_is_not_open_is_deleted(harness: Harness) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=REMOTE, transaction=transaction)
    queue = harness.qm.outgoing.find(REMOTE)
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.outgoing.delete(queue, caller=ADMINISTRATOR)
    harness.qm.traffic.commit(transaction.identifier)
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.outgoing.delete(queue, caller=ADMINISTRATOR)
    harness.qm.outgoing.finish(queue, list(queue.lanes), MessageClass.ACK_REACH_QUEUE)
    descriptor = harness.open(SEND, REMOTE)
    with refused("MQ_ERROR_SHARING_VIOLATION"):
        harness.qm.outgoing.delete(queue, caller=ADMINISTRATOR)
    harness.qm.close_queue(descriptor)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.outgoing.delete(queue, caller=STRANGER)
    harness.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
    harness.qm.outgoing.delete(queue, caller=ADMINISTRATOR)
    assert names(harness) == []
    harness.restart()
    assert names(harness) == []
    # The next message begins anew.
    harness.send(b"2", name=REMOTE)
    assert names(harness) == [REMOTE]
