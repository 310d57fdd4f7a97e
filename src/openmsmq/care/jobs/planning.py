"""Planning: which messages a job handles, found once and written down."""

import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from openmsmq.care.filters import Matcher
from openmsmq.care.packet_files import check_file_to_save, load_messages
from openmsmq.care.places import find_place
from openmsmq.care.search import SearchProgress, search
from openmsmq.client import QueueManager, ReceivedMessage
from openmsmq.wire.names.queue_name import move_target

from .job import Job, Plan, PlannedMessage, forget_old_jobs, store_job
from .spec import JobKind, JobSpec

Progress = Callable[[int, int], None]


def plan_job(
    manager: QueueManager,
    spec: JobSpec,
    directory: Path,
    *,
    progress: Progress | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Job:
    """Find the messages of a job and write its plan into a new folder of the directory.

    Args:
        manager: a connection.
        spec: what is to be done.
        directory: where jobs are; see `jobs_directory`.
        progress: called with how many messages were looked at, and of how many.
        stopped: asked now and then; True ends the search, the job has what was found.

    Raises:
        QueueError: the job cannot be, or a queue cannot be read.
        ConfigError: the file of a load cannot be read, or that of a save cannot be written.
    """
    spec.check()
    if spec.kind is JobKind.SAVE:
        check_file_to_save(Path(spec.file))
    find = _from_file if spec.kind is JobKind.LOAD else _from_queues
    messages: list[PlannedMessage] = []
    for message in find(manager, spec, progress, stopped):
        messages.append(message)
        if len(messages) == spec.first:
            break
    # Sorting is stable: messages for one destination keep the order in which they arrived.
    messages.sort(key=lambda each: (each.source, each.destination, each.transactional))
    now = time.time()
    forget_old_jobs(directory, now)
    identifier = job_id(now)
    plan = Plan(
        id=identifier,
        spec=spec,
        created=now,
        queue_manager=manager.identity.guid,
        messages=len(messages),
        bytes=sum(message.size for message in messages),
    )
    return store_job(directory / identifier, plan, messages)


def job_id(utc: float) -> str:
    """A new id; ids sort in the order of their times, also within a second."""
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(utc))
    return f"{moment}-{int(utc % 1 * 0x10000):04x}{secrets.token_hex(2)}"


def _from_queues(
    manager: QueueManager,
    spec: JobSpec,
    progress: Progress | None,
    stopped: Callable[[], bool] | None,
) -> Iterator[PlannedMessage]:
    wanted = None if spec.lookup_ids is None else frozenset(spec.lookup_ids)

    def tell(state: SearchProgress) -> None:
        if progress is not None:
            progress(state.looked_at, state.total)

    for source in spec.sources:
        found = search(
            manager,
            [find_place(manager, source)],
            spec.condition,
            hidden=False,
            progress=tell,
            stopped=stopped,
        )
        for each in found:
            if wanted is None or each.message.lookup_id in wanted:
                yield planned(source, each.message, spec)


def planned(source: str, message: ReceivedMessage, spec: JobSpec) -> PlannedMessage:
    """What the plan notes of a message."""
    destination = spec.target
    if spec.kind is JobKind.MOVE:
        destination = move_target(source, destination)
    elif spec.kind is JobKind.RETRY and not destination:
        destination = message.destination_queue or ""
    return PlannedMessage(
        source,
        message.lookup_id,
        message.id,
        destination,
        message.class_,
        message.transactional,
        len(message.packet),
        message.label,
    )


def _from_file(
    manager: QueueManager,  # noqa: ARG001 - the signature of both
    spec: JobSpec,
    progress: Progress | None,
    stopped: Callable[[], bool] | None,
) -> Iterator[PlannedMessage]:
    matcher = Matcher(spec.condition)
    now = time.time()
    for place, saved in enumerate(load_messages(Path(spec.file))):
        message = saved.received()
        if matcher.holds(saved.queue, message, now):
            # The place in the file stands for the lookup id.
            yield msgspec.structs.replace(planned("", message, spec), lookup_id=place)
        if place % 1000 == 999:
            if progress is not None:
                progress(place + 1, place + 1)
            if stopped is not None and stopped():
                return
