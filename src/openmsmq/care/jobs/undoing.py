"""Undo: messages that a job moved or sent go back, by the positions in the journal."""

import time
from contextlib import closing
from typing import NamedTuple

from openmsmq.care.places import DEADLETTER, DEADXACT, PlaceKind, find_place, place_of
from openmsmq.client import Queue, QueueManager
from openmsmq.client.machines import other_machine
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.lookup_id import SEQUENCE_MASK

from .holding import held_job
from .job import Batch, Entry, Job, Journal
from .sending import prepare
from .spec import JobKind
from .steps import opened


class UndoReport(NamedTuple):
    """The results of an undo: the number of messages put back, and of those no longer there.

    Of a dry run, the expected numbers.
    """

    id: str
    undone: int
    gone: int


def undo_job(manager: QueueManager, job: Job) -> UndoReport:
    """Undo a job; an interrupted undo is continued.

    Moved messages go back to their source, and dead letters that were sent again into the
    dead-letter queue of their kind with their reason; copies are removed. Messages that were
    received, sent to another machine or deleted with their queue meanwhile are gone.

    Raises:
        QueueError: the job cannot be undone, or belongs to another queue manager.
    """
    _check(manager, job)
    with held_job(job), closing(Journal(job)) as journal:
        for batch in job.left_to_undo:
            gone = _undo_batch(manager, job, batch, journal)
            journal.write("undo", batch=batch.number, gone=gone)
    return undo_report(job)


def dry_run_undo(manager: QueueManager, job: Job) -> UndoReport:
    """Count the messages that `undo_job` would put back now, and those gone; changes nothing.

    Raises:
        QueueError: the job cannot be undone, or belongs to another queue manager.
    """
    _check(manager, job)
    undone = gone = 0
    for batch in job.left_to_undo:
        done = job.done[batch.number]
        handled = _handled(batch, done)
        there = _still_there(manager, batch, handled, done)
        noted = job.undoing.get(batch.number)
        gone += len(handled) - len(there) if noted is None else len(noted.gone)
        undone += len(there)
    return UndoReport(job.plan.id, undone, gone)


def _check(manager: QueueManager, job: Job) -> None:
    job.check_queue_manager(manager.identity)
    if not job.can_be_undone:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_OPERATION,
            f"a {job.spec.kind} from {', '.join(job.spec.sources)} cannot be undone",
            cause="The messages are gone for good, nothing was changed, or they came from a "
            "journal, into which nothing can be moved.",
            remedy="Save messages before you remove them; `openmsmq load` sends them again.",
        )


def _still_there(
    manager: QueueManager, batch: Batch, handled: list[int], done: Entry
) -> dict[int, int]:
    """The lookup ids of messages that can be put back, by index."""
    destination = batch.messages[0].destination
    if not handled or _is_elsewhere(manager, destination) or not _is_there(manager, destination):
        return {}
    with opened(manager, destination) as queue:
        return _there(queue, handled, done)


def undo_report(job: Job) -> UndoReport:
    """The undone part of a job."""
    undone = gone = 0
    for batch in job.batches:
        entry = job.undone.get(batch.number)
        if entry is not None:
            handled = len(_handled(batch, job.done[batch.number]))
            gone += len(entry.gone)
            undone += handled - len(entry.gone)
    return UndoReport(job.plan.id, undone, gone)


def _handled(batch: Batch, done: Entry) -> list[int]:
    """The positions of messages that the job has moved or sent."""
    out = {*done.refused, *done.gone}
    return [place for place in range(len(batch.messages)) if place not in out]


def _undo_batch(manager: QueueManager, job: Job, batch: Batch, journal: Journal) -> list[int]:
    """Put the messages of a batch back; return the indexes of those that are gone."""
    done = job.done[batch.number]
    handled = _handled(batch, done)
    if not handled:
        return []
    destination = batch.messages[0].destination
    if _is_elsewhere(manager, destination):
        return handled
    noted = job.undoing.get(batch.number)
    if not _is_there(manager, destination):
        return handled if noted is None else noted.gone
    with opened(manager, destination) as queue:
        there = _there(queue, handled, done)
        gone = [place for place in handled if place not in there]
        if noted is None:
            # Messages missing later were put back by an interrupted undo.
            noted = journal.write("undoing", batch=batch.number, gone=gone)
        if there:
            _put_back(manager, job, batch, queue, there)
    return noted.gone


def _is_elsewhere(manager: QueueManager, destination: str) -> bool:
    """Whether messages were sent to another machine, or wait for it: they cannot come back."""
    if other_machine(destination, manager.identity.names) is not None:
        return True
    return find_place(manager, destination).kind is PlaceKind.OUTGOING


def _is_there(manager: QueueManager, destination: str) -> bool:
    """Whether the queue has not been deleted with its messages."""
    try:
        with opened(manager, destination):
            return True
    except QueueError as exc:
        if exc.code != Hresult.MQ_ERROR_QUEUE_NOT_FOUND:
            raise
        return False


def _put_back(
    manager: QueueManager, job: Job, batch: Batch, queue: Queue, there: dict[int, int]
) -> None:
    source = batch.messages[0].source
    kind = job.spec.kind
    if kind not in (JobKind.MOVE, JobKind.RETRY):
        queue.release_many(queue.hold_many(list(there.values())), remove=True)
    elif place_of(source).kind is PlaceKind.DEADLETTER:
        # A queue that was created again may have changed the kind of the messages.
        dead = DEADXACT if queue.is_transactional() else DEADLETTER
        for message_class in {batch.messages[place].message_class for place in there}:
            ids = [
                lookup_id
                for place, lookup_id in there.items()
                if batch.messages[place].message_class == message_class
            ]
            queue.move_by_lookup_id(dead, ids, message_class=message_class)
    elif kind is JobKind.MOVE:
        queue.move_by_lookup_id(source, list(there.values()))
    else:
        _send_back(manager, job, batch, queue, list(there.values()))


def _send_back(
    manager: QueueManager, job: Job, batch: Batch, queue: Queue, lookup_ids: list[int]
) -> None:
    """Send messages to the queue that they came from, and remove them from their place."""
    producer = manager.producer(f"{job.producer}/undo")
    # Batches are undone from the last to the first, and batch numbers must increase.
    number = len(job.batches) - batch.number
    source = batch.messages[0].source
    held = queue.hold_many(lookup_ids)
    packets = {place: message.packet for place, message in enumerate(held.messages)}
    prepared = prepare(
        manager,
        source,
        packets,
        transactional=batch.messages[0].transactional,
        limits=job.spec.limits,
        now=time.time(),
    )
    producer.abort(number)
    producer.stage_packets(number, 0, 0, source, prepared.packets.values())
    producer.commit_received(
        number, [(0, 0)], held, [held.lookup_ids[each] for each in prepared.packets]
    )


def _there(queue: Queue, handled: list[int], done: Entry) -> dict[int, int]:
    """The lookup ids of messages that are still where the job put them, by index."""
    if done.lookup_ids:
        noted = dict(zip(done.lookup_ids, handled, strict=True))
        sequences = [lookup_id & SEQUENCE_MASK for lookup_id in noted]
        first, last = min(sequences), max(sequences)
        wanted = {lookup_id & SEQUENCE_MASK: place for lookup_id, place in noted.items()}
    else:
        first, last = done.first, done.first + len(handled) - 1
        wanted = {first + index: place for index, place in enumerate(handled)}
    found: dict[int, int] = {}
    for block in queue.ranges.peek(first - 1, last):
        for lookup_id in block.lookup_ids:
            place = wanted.get(lookup_id & SEQUENCE_MASK)
            if place is not None:
                found[place] = lookup_id

    return dict(sorted(found.items()))
