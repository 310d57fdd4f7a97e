"""The step of each kind of job: one batch, recorded before it takes effect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from openmsmq.care.packet_files import SavedMessage, save_messages
from openmsmq.care.places import find_place
from openmsmq.client import Queue, QueueManager, ReceivedMessage
from openmsmq.client.logic.queue import HeldMessages
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.lookup_id import SEQUENCE_MASK

from .job import Batch, Entry, Job, Journal
from .sending import Prepared, Room, check, prepare, refuse_all
from .spec import JobKind

# The time that a job waits for messages locked by another reader.
LOCKED_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.05
# Refusals of a destination that apply to every message for it.
_OPENING: Final = (Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE,)
_MOVED_AWAY: Final = (
    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
    Hresult.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
)


class Done(NamedTuple):
    """The results of a step, by index in its batch."""

    refused: dict[int, str]
    gone: list[int]
    first: int = 0
    lookup_ids: tuple[int, ...] = ()

    def values(self) -> dict[str, Any]:
        """The fields of the entry in the journal."""
        return {
            "refused": self.refused,
            "gone": self.gone,
            "first": self.first,
            "lookup_ids": list(self.lookup_ids),
        }


@contextmanager
def opened(manager: QueueManager, name: str) -> Iterator[Queue]:
    """Open a queue to take messages out."""
    place = find_place(manager, name)
    with manager.open_queue(place.name, place.taking_access) as queue:
        yield queue


def peek_batch(queue: Queue, batch: Batch) -> dict[int, ReceivedMessage]:
    """The messages of a batch that still exist and are free, by index."""
    places = {lookup_id: place for place, lookup_id in enumerate(batch.lookup_ids)}
    sequences = [lookup_id & SEQUENCE_MASK for lookup_id in places]
    found: dict[int, ReceivedMessage] = {}
    for block in queue.ranges.peek(min(sequences) - 1, max(sequences)):
        start = 0
        for lookup_id, arrived, end in zip(
            block.lookup_ids, block.arrived_times, block.ends, strict=True
        ):
            if lookup_id in places:
                packet = block.blob[start:end]
                found[places[lookup_id]] = ReceivedMessage(packet, lookup_id, arrived)
            start = end
    return dict(sorted(found.items()))


def prepare_batch(
    manager: QueueManager, job: Job, batch: Batch, packets: dict[int, bytes], room: Room
) -> tuple[Prepared, int]:
    """The packets of a batch that its destination takes, and the refusals of the others.

    Used by both a dry run and the job.
    """
    head = batch.messages[0]
    if not packets:
        return Prepared({}, {}), 0
    if not head.destination:
        text = "it does not say where it was for: name a queue that it is sent to"
        return Prepared({}, dict.fromkeys(packets, text)), 0
    try:
        prepared = prepare(
            manager,
            head.destination,
            packets,
            transactional=head.transactional,
            limits=job.spec.limits,
            now=time.time(),
        )
        return check(manager.producer(job.producer), head.destination, prepared, room)
    except QueueError as exc:
        if exc.code in _OPENING:
            raise
        return refuse_all(list(packets), exc), 0


def retry(manager: QueueManager, job: Job, batch: Batch, journal: Journal) -> Done:
    """Send messages again, and remove the originals in the same step of the queue manager."""
    producer = manager.producer(job.producer)
    producer.abort(batch.number)
    with opened(manager, batch.messages[0].source) as queue:
        held = _hold(queue, batch)
        begun = job.begun.get(batch.number)
        last = producer.last_batch()
        if begun is not None and last.batch >= batch.number:
            # A killed run had requested it, and the queue manager carried it out only now.
            return Done(begun.refused, begun.gone, last.first)
        places = {lookup_id: place for place, lookup_id in enumerate(batch.lookup_ids)}
        packets = {places[message.lookup_id]: message.packet for message in held.messages}
        prepared, _ = prepare_batch(manager, job, batch, packets, Room())
        done = Done(prepared.refused, _missing(batch, packets))
        journal.write("begin", batch=batch.number, **done.values())
        if not prepared.packets:
            queue.release_many(held)
            return done
        destination = batch.messages[0].destination
        producer.stage_packets(batch.number, 0, 0, destination, prepared.packets.values())
        received = [batch.lookup_ids[place] for place in prepared.packets]
        published = producer.commit_received(batch.number, [(0, 0)], held, received)
        # Closing the queue gives locked messages back.
        return done._replace(first=published.first)


def _hold(queue: Queue, batch: Batch) -> HeldMessages:
    """Lock the messages of a batch; a killed run may hold some for a moment."""
    deadline = time.monotonic() + LOCKED_SECONDS
    while True:
        held = queue.hold_many(batch.lookup_ids)
        if len(held.messages) == len(batch.messages) or time.monotonic() > deadline:
            return held
        queue.release_many(held)
        if not queue.ranges.info().lock_holders:
            return queue.hold_many(batch.lookup_ids)
        time.sleep(_PAUSE_SECONDS)


def copy(manager: QueueManager, job: Job, batch: Batch, journal: Journal) -> Done:
    """Send copies of messages; the originals stay."""
    with opened_to_look(manager, batch.messages[0].source) as queue:
        packets = {place: each.packet for place, each in peek_batch(queue, batch).items()}
    return _send(manager, job, batch, journal, packets)


def load(manager: QueueManager, job: Job, batch: Batch, journal: Journal) -> Done:
    """Send messages of a file."""
    return _send(manager, job, batch, journal, packets_in_file(job, batch))


def packets_in_file(job: Job, batch: Batch) -> dict[int, bytes]:
    """The packets of a batch by index."""
    saved = job.file.take(batch.lookup_ids, [message.id for message in batch.messages])
    return {place: message.packet for place, message in enumerate(saved)}


@contextmanager
def opened_to_look(manager: QueueManager, name: str) -> Iterator[Queue]:
    """Open a queue to look at messages."""
    place = find_place(manager, name)
    with manager.open_queue(place.name, place.access) as queue:
        yield queue


def _send(
    manager: QueueManager, job: Job, batch: Batch, journal: Journal, packets: dict[int, bytes]
) -> Done:
    producer = manager.producer(job.producer)
    producer.abort(batch.number)
    prepared, _ = prepare_batch(manager, job, batch, packets, Room())
    done = Done(prepared.refused, _missing(batch, packets))
    journal.write("begin", batch=batch.number, **done.values())
    if not prepared.packets:
        return done
    destination = batch.messages[0].destination
    producer.stage_packets(batch.number, 0, 0, destination, prepared.packets.values())
    producer.commit(batch.number, [(0, 0)])
    return done._replace(first=producer.last_batch().first)


def move(manager: QueueManager, job: Job, batch: Batch, journal: Journal) -> Done:
    """Move messages, and record their new lookup ids."""
    with opened(manager, batch.messages[0].source) as queue:
        there = peek_batch(queue, batch)
        # A killed run may have moved some.
        moved = _already_moved(manager, batch) if batch.number in job.begun else {}
        known = {**there, **moved}
        done = Done({}, _missing(batch, known))
        journal.write("begin", batch=batch.number, **done.values())
        return _move(queue, batch, done, list(there), moved)


def _move(queue: Queue, batch: Batch, done: Done, places: list[int], moved: dict[int, int]) -> Done:
    """Move all at once; if one cannot be moved, one by one.

    Args:
        moved: the new lookup ids of messages that were moved before, by index.
    """
    ids, target = batch.lookup_ids, batch.messages[0].destination
    refused: dict[int, str] = {}
    gone = set(done.gone)

    def attempt(some: list[int]) -> QueueError | None:
        try:
            new = queue.move_by_lookup_id(target, [ids[place] for place in some])
        except QueueError as exc:
            return exc
        moved.update(zip(some, new, strict=True))
        return None

    if places and attempt(places) is not None:
        for place in places:
            error = attempt([place])
            if error is None:
                continue
            if error.code in _MOVED_AWAY:
                gone.add(place)
            else:
                refused[place] = str(error)
    return Done(refused, sorted(gone), lookup_ids=tuple(moved[place] for place in sorted(moved)))


def _already_moved(manager: QueueManager, batch: Batch) -> dict[int, int]:
    """The lookup ids of messages in the target with the same message ids."""
    places = {message.id: place for place, message in enumerate(batch.messages)}
    found: dict[int, int] = {}
    try:
        with opened_to_look(manager, batch.messages[0].destination) as queue:
            for block in queue.ranges.peek(0, queue.ranges.info().last):
                start = 0
                for lookup_id, end in zip(block.lookup_ids, block.ends, strict=True):
                    message = ReceivedMessage(block.blob[start:end], lookup_id, 0.0)
                    if message.id in places:
                        found[places[message.id]] = lookup_id
                    start = end
    except QueueError as exc:
        # Messages moved into a queue that was deleted are lost.
        if exc.code != Hresult.MQ_ERROR_QUEUE_NOT_FOUND:
            raise
    return found


def remove(manager: QueueManager, job: Job, batch: Batch, journal: Journal) -> Done:  # noqa: ARG001
    """Receive messages: journal and acknowledgments follow."""
    with opened(manager, batch.messages[0].source) as queue:
        held = queue.hold_many(batch.lookup_ids)
        done = Done({}, _without(batch, held.lookup_ids))
        journal.write("begin", batch=batch.number, **done.values())
        queue.release_many(held, remove=True)
    return done


def purge(manager: QueueManager, job: Job, batch: Batch, journal: Journal) -> Done:  # noqa: ARG001
    """Purge messages: their sender is told so."""
    with opened(manager, batch.messages[0].source) as queue:
        there = peek_batch(queue, batch)
        noted = Done({}, _missing(batch, there))
        journal.write("begin", batch=batch.number, **noted.values())
        purged = queue.purge_messages([batch.lookup_ids[place] for place in there])
    return Done({}, _without(batch, purged))


class _StoppedError(Exception):
    """A save was stopped before all messages were written."""


def save_all(manager: QueueManager, job: Job, journal: Journal, steps: Iterator[Batch]) -> None:
    """Write the messages of a job to its file atomically.

    Args:
        steps: the batches of the job; if some are missing, no file is written.
    """
    gone: dict[int, list[int]] = {}

    def messages() -> Iterator[SavedMessage]:
        for batch in steps:
            source = batch.messages[0].source
            with opened_to_look(manager, source) as queue:
                there = peek_batch(queue, batch)
            gone[batch.number] = _missing(batch, there)
            for message in there.values():
                yield SavedMessage.of(source, message)
        if len(gone) < len(job.batches):
            raise _StoppedError

    try:
        save_messages(Path(job.spec.file), messages())
    except _StoppedError:
        return
    for number, places in gone.items():
        journal.write("done", batch=number, gone=places)


def _missing(batch: Batch, there: dict[int, Any]) -> list[int]:
    return [place for place in range(len(batch.messages)) if place not in there]


def _without(batch: Batch, lookup_ids: list[int]) -> list[int]:
    there = frozenset(lookup_ids)
    return [place for place, each in enumerate(batch.lookup_ids) if each not in there]


Step = Callable[[QueueManager, Job, Batch, Journal], Done]
STEPS: Final[dict[JobKind, Step]] = {
    JobKind.RETRY: retry,
    JobKind.COPY: copy,
    JobKind.LOAD: load,
    JobKind.MOVE: move,
    JobKind.REMOVE: remove,
    JobKind.PURGE: purge,
}


def settle(manager: QueueManager, job: Job, batch: Batch, begun: Entry) -> Done | None:
    """The results of a step with a begin and no end in the journal; None without effect."""
    noted = Done(begun.refused, begun.gone)
    kind = job.spec.kind
    if kind in (JobKind.RETRY, JobKind.COPY, JobKind.LOAD):
        last = manager.producer(job.producer).last_batch()
        if last.batch < batch.number:
            return None
        return noted._replace(first=last.first)
    if kind in (JobKind.REMOVE, JobKind.PURGE):
        # Messages that still exist are processed again; all others were removed, or gone before.
        with opened(manager, batch.messages[0].source) as queue:
            there = peek_batch(queue, batch)
        return None if there else noted
    # A move searches for the messages that it has moved.
    return None
