"""The dry run of a job: the checks of its steps, in order, without their effects."""

from openmsmq.client import QueueManager
from openmsmq.wire.codes.queue_error import QueueError

from .job import Batch, Job
from .sending import Room
from .spec import JobKind
from .steps import opened, opened_to_look, packets_in_file, peek_batch, prepare_batch


def dry_run(manager: QueueManager, job: Job) -> tuple[list[str], int]:
    """The refusals of messages, one text each, and the number of missing messages."""
    refused: list[str] = []
    gone = 0
    # The bytes that each destination would have received, and the total of the queue manager.
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
    # Taking messages out needs a right.
    stay = job.spec.kind in (JobKind.COPY, JobKind.SAVE)
    with (opened_to_look if stay else opened)(manager, batch.messages[0].source) as queue:
        return {place: each.packet for place, each in peek_batch(queue, batch).items()}


def _refused_moves(manager: QueueManager, batch: Batch, places: list[int]) -> list[str]:
    """The refusals of a move: all together, or if one fails, one by one."""
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
