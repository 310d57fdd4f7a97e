"""The dry run of a job: the checks of its steps, in their order, without their effects."""

from openmsmq.client import QueueManager
from openmsmq.wire.codes.queue_error import QueueError

from .job import Batch, Job
from .sending import Room
from .spec import JobKind
from .steps import opened, opened_to_look, packets_in_file, peek_batch, prepare_batch


def dry_run(manager: QueueManager, job: Job) -> tuple[list[str], int]:
    """Why messages would be refused, one text for each, and how many are not there any more."""
    refused: list[str] = []
    gone = 0
    # Bytes that each destination would have got, and the queue manager in all.
    queues: dict[str, int] = {}
    total = 0
    for batch in job.batches:
        packets = _packets(manager, job, batch)
        gone += len(batch.messages) - len(packets)
        if job.spec.kind is JobKind.MOVE:
            refused += _refused_moves(manager, batch, list(packets))
        if job.spec.kind not in (JobKind.RETRY, JobKind.COPY, JobKind.LOAD):
            continue
        destination = batch.messages[0].destination
        room = Room(queues.get(destination, 0), total)
        prepared, size = prepare_batch(manager, job, batch, packets, room)
        refused += prepared.refused.values()
        queues[destination] = room.queue + size
        total += size
        if job.spec.kind is JobKind.RETRY:
            total -= sum(len(packets[place]) for place in prepared.packets)
    return refused, gone


def _packets(manager: QueueManager, job: Job, batch: Batch) -> dict[int, bytes]:
    if job.spec.kind is JobKind.LOAD:
        return packets_in_file(job, batch)
    # Whoever takes messages out needs the right to.
    stay = job.spec.kind in (JobKind.COPY, JobKind.SAVE)
    with (opened_to_look if stay else opened)(manager, batch.messages[0].source) as queue:
        return {place: each.packet for place, each in peek_batch(queue, batch).items()}


def _refused_moves(manager: QueueManager, batch: Batch, places: list[int]) -> list[str]:
    """Why messages would not be moved: all at once, or if one cannot be, each by itself."""
    if not places:
        return []
    refused: list[str] = []
    with opened(manager, batch.messages[0].source) as queue:
        ids = [batch.lookup_ids[place] for place in places]
        try:
            queue.move(batch.messages[0].destination, ids, dry_run=True)
        except QueueError:
            for lookup_id in ids:
                try:
                    queue.move(batch.messages[0].destination, [lookup_id], dry_run=True)
                except QueueError as exc:
                    refused.append(str(exc))
    return refused
