"""Jobs: work on many messages."""

import asyncio
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, Literal

import msgspec

from openmsmq.admin.care_desk import no_job
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem
from openmsmq.care.filters import filter_to_data
from openmsmq.care.jobs import Job, JobKind, JobSpec, Limits, PlannedMessage
from openmsmq.care.jobs.job import Result
from openmsmq.care.places import find_place
from openmsmq.client import QueueManager
from openmsmq.wire.errors import ConfigError

from .arranging import list_changed, sorted_entries, text_of
from .messages import number
from .queues import full_name
from .searching import condition_of

# A job that ends within this time is answered with its result.
SOON_SECONDS: Final = 0.7
MOST_RESULTS: Final = 1_000


class JobToBegin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job.

    Attributes:
        kind: its action on messages; a save has a file afterwards, which `GET
            /jobs/{job}/file` answers with.
        sources: queues by name; `system$;DEADLETTER` and `system$;DEADXACT` for dead letters.
        target: the destination queue; a retry without one sends each to its original destination.
        where: a filter: text such as `label ~ order and age > 1h`, or data.
        lookup_ids: messages of the one source.
        first: the maximum number of messages.
        rate: the maximum number of messages per second.
        limits: the treatment of time limits of messages that are sent again.
        dry_run: check everything and change nothing.
    """

    kind: Literal["move", "copy", "retry", "remove", "purge", "save"]
    sources: list[str]
    target: str = ""
    where: str | dict[str, Any] | None = None
    lookup_ids: list[str] | None = None
    first: int | None = None
    rate: float | None = None
    limits: Literal["restart", "keep", "lift"] = "restart"
    dry_run: bool = False


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job and its progress; a dry run has no number."""

    id: str
    kind: str
    sources: list[str]
    target: str
    state: str
    principal: str
    created: float
    messages: int
    done: int
    refused: int
    gone: int
    left: int
    reasons: dict[str, int]
    fault: str = ""
    file: bool = False


class JobList(msgspec.Struct, frozen=True):
    """Every job, the newest first; `after` continues it."""

    jobs: list[JobRecord]
    after: str | None = None


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one message."""

    lookup_id: str
    id: str
    label: str
    source: str
    destination: str
    outcome: str
    text: str = ""


class JobResults(msgspec.Struct, frozen=True):
    """The outcome of messages of a job; `after` continues it."""

    results: list[JobResult]
    total: int
    after: str | None = None


class ResultsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which results, in which order.

    Attributes:
        filter: text in any of their properties.
        sort: property to sort by, `-` in front turns the order; else the order of the plan.
        after: the value in the last answer, a place in the plan.
        limit: the maximum number of entries.
    """

    filter: str = ""
    sort: str = ""
    after: str = ""
    limit: int = MOST_RESULTS


class Undone(msgspec.Struct, frozen=True):
    """The number of messages put back, and of those that were gone."""

    undone: int
    gone: int


def spec_of(caller: Caller, body: JobToBegin) -> JobSpec:
    """The job specified in a request."""
    for name in (*body.sources, *([body.target] if body.target else [])):
        caller.need_queue(name)
    condition = condition_of(body.where)
    saves = body.kind == "save" and not body.dry_run
    ids = None if body.lookup_ids is None else tuple(number(text) for text in body.lookup_ids)
    return JobSpec(
        kind=JobKind(body.kind),
        sources=tuple(_place_of(name) for name in body.sources),
        target=_place_of(body.target) if body.target else "",
        file=str(caller.desk.care.new_file()) if saves else "unwritten" * (body.kind == "save"),
        where=None if condition is None else filter_to_data(condition),
        lookup_ids=ids,
        first=body.first,
        rate=body.rate,
        limits=Limits(body.limits),
    )


def _place_of(name: str) -> str:
    """The name that opens a queue; format names, as of outgoing queues, are unchanged."""
    if name.startswith("system$;"):
        return ";" + name.partition(";")[2].lower()
    return name if "=" in name else full_name(name)


def job_record(caller: Caller, job: Job) -> JobRecord:
    """The record of a job."""
    care = caller.desk.care
    counts = job.counts()
    reasons: dict[str, int] = {}
    for _, result in job.results():
        if result is not None and result.outcome == "refused":
            reasons[result.text] = reasons.get(result.text, 0) + 1
    return JobRecord(
        id=job.plan.id,
        kind=str(job.spec.kind),
        sources=[_short(name) for name in job.spec.sources],
        target=_short(job.spec.target),
        state=care.state(job),
        principal=care.owner(job).principal,
        created=job.plan.created,
        messages=len(job.messages),
        done=counts["done"] + counts["undone"],
        refused=counts["refused"],
        gone=counts["gone"],
        left=counts["left"],
        reasons=reasons,
        fault=care.fault(job),
        file=care.saved_file(job) is not None,
    )


def _short(name: str) -> str:
    if name.startswith(";"):
        return "system$" + name.upper()
    return name.removeprefix(".\\")


async def list_jobs(caller: Caller) -> JobList:
    """Every job on queues that the caller may see."""
    jobs = await asyncio.to_thread(caller.desk.care.jobs)
    hidden = set(await caller.unseen({name for job in jobs for name in _queues_of(job)}))
    return JobList(
        [
            job_record(caller, job)
            for job in jobs
            if hidden.isdisjoint(names := _queues_of(job))
            and all(map(caller.person.may_use, names))
        ]
    )


def _queues_of(job: Job) -> list[str]:
    """The queues of a job: sources and targets."""
    spec = job.spec
    return [_short(name) for name in (*spec.sources, *([spec.target] if spec.target else []))]


async def _job(caller: Caller, identifier: str) -> Job:
    """A job on queues that the caller may see."""
    job = await asyncio.to_thread(caller.desk.care.job, identifier)
    for name in _queues_of(job):
        caller.need_queue(name)
    if await caller.unseen(_queues_of(job)):
        raise no_job(identifier)
    return job


async def _need_to_peek(caller: Caller, job: Job) -> None:
    """Refuse a job's information about messages to callers who may not peek at their queue.

    Raises:
        AccessDenied: another user began it, and the caller may not peek.
    """
    if caller.desk.care.owner(job).principal == caller.person.principal:
        return

    def peek(manager: QueueManager) -> None:
        for name in job.spec.sources or (job.spec.target,):
            place = find_place(manager, name)
            with manager.open_queue(place.name, place.access):
                pass

    await caller.desk.care.call(caller.person, peek)


async def begin_job(caller: Caller, body: JobToBegin) -> JobRecord:
    """Begin a job, or with `dry_run` report its expected results."""
    spec = spec_of(caller, body)
    care = caller.desk.care
    if body.dry_run:
        return await _dry_run(caller, spec, body.kind, body.sources, body.target)
    job = await care.begin(caller.person, spec)
    return job_record(caller, await care.wait_for(job, SOON_SECONDS))


async def _dry_run(
    caller: Caller, spec: JobSpec, kind: str, sources: list[str], target: str
) -> JobRecord:
    job, report = await caller.desk.care.dry_run(caller.person, spec)
    return JobRecord(
        id="",
        kind=kind,
        sources=sources,
        target=target,
        state="dry run",
        principal=caller.person.principal,
        created=time.time(),
        messages=len(job.messages),
        done=report.done,
        refused=report.refused,
        gone=report.gone,
        left=0,
        reasons=report.reasons,
    )


async def show_job(caller: Caller, job: str) -> JobRecord:
    """One job."""
    return job_record(caller, await _job(caller, job))


async def job_results(caller: Caller, job: str, query: ResultsQuery) -> JobResults:
    """The outcome of each message of a job, part by part."""
    if not 1 <= query.limit <= MOST_RESULTS:
        raise Problem(400, f"limit must be from 1 to {MOST_RESULTS}.", name="BAD_LIMIT")
    found = await _job(caller, job)
    await _need_to_peek(caller, found)
    total = len(found.messages)
    start = min(number(query.after, "after") if query.after else 0, total)
    needle = query.filter.casefold()
    # Sorted, the entries after a place may be anywhere in the plan.
    numbered = enumerate(
        (_result(*each) for each in islice(found.results(), 0 if query.sort else start, None)),
        1 if query.sort else start + 1,
    )
    chosen: Iterator[tuple[int, JobResult]] = (
        (place, each) for place, each in numbered if not needle or needle in text_of(each)
    )
    if query.sort:
        chosen = _sorted_after(list(chosen), query.sort, start)
    part = list(islice(chosen, query.limit + 1))
    shown = part[: query.limit]
    after = str(shown[-1][0]) if len(part) > len(shown) else None
    return JobResults([each for _, each in shown], total, after)


def _result(message: PlannedMessage, result: Result | None) -> JobResult:
    return JobResult(
        lookup_id=str(message.lookup_id),
        id=message.id,
        label=message.label,
        source=_short(message.source),
        destination=_short(message.destination),
        outcome="left" if result is None else str(result.outcome),
        text="" if result is None else result.text,
    )


def _sorted_after(
    chosen: list[tuple[int, JobResult]], sort: str, start: int
) -> Iterator[tuple[int, JobResult]]:
    """Results in an order, after the one with a place in the plan.

    Raises:
        Problem: 400, the sort property is invalid; 409, that result no longer matches.
    """
    places = {id(each): place for place, each in chosen}
    ordered = [(places[id(each)], each) for each in sorted_entries([e for _, e in chosen], sort)]
    if not start:
        return iter(ordered)
    at = next((at for at, (place, _) in enumerate(ordered, 1) if place == start), None)
    if at is None:
        raise list_changed(str(start))
    return iter(ordered[at:])


async def stop_job(caller: Caller, job: str) -> JobRecord:
    """Stop a job after its current step."""
    found = await _job(caller, job)
    caller.desk.care.stop_job(found)
    return job_record(caller, await caller.desk.care.wait_for(found, SOON_SECONDS))


async def resume_job(caller: Caller, job: str) -> JobRecord:
    """Continue a job that was stopped."""
    care = caller.desk.care
    found = await _job(caller, job)
    owner = care.owner(found).principal
    if owner != caller.person.principal:
        raise Problem(
            403,
            f"Job {job} belongs to {owner}.",
            cause="A job goes on with the rights of the one who began it.",
            remedy="Begin one of your own for the messages that are left.",
        )
    if found.state not in ("stopped", "unfinished", "planned"):
        raise Problem(409, f"Job {job} is {found.state}.", name="JOB_ENDED")
    care.run(found)
    return job_record(caller, await care.wait_for(found, SOON_SECONDS))


async def undo(caller: Caller, job: str) -> Undone:
    """Put back messages that a job has moved, copied or sent again."""
    care = caller.desk.care
    found = await _job(caller, job)
    report = await care.undo(caller.person, found)
    return Undone(report.undone, report.gone)


class LoadQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The destination of the messages of a file, and options.

    Attributes:
        target: a queue by name.
        filter: which messages, such as `label ~ order`.
        first: the maximum number of messages.
        rate: the maximum number of messages per second.
        limits: the treatment of time limits of messages that are sent again.
        dry_run: check everything and change nothing.
    """

    target: str
    filter: str = ""
    first: int | None = None
    rate: float | None = None
    limits: Literal["restart", "keep", "lift"] = "restart"
    dry_run: bool = False


async def load_messages(caller: Caller, query: LoadQuery, content: bytes) -> JobRecord:
    """Send the messages of a file that a save or an export wrote, each once; a job."""
    caller.need_queue(query.target)
    condition = condition_of(query.filter)
    care = caller.desk.care
    file = await asyncio.to_thread(care.keep_file, content)
    spec = JobSpec(
        kind=JobKind.LOAD,
        target=_place_of(query.target),
        where=None if condition is None else filter_to_data(condition),
        first=query.first,
        rate=query.rate,
        limits=Limits(query.limits),
        file=str(file),
    )
    try:
        if query.dry_run:
            return await _dry_run(caller, spec, "load", [], query.target)
        job = await care.begin(caller.person, spec)
    except ConfigError as exc:
        # The answer does not reveal the place of the file.
        detail = exc.detail.replace(str(file), "the file")
        raise Problem(422, detail, remedy="Export messages as .omq, or save them again.") from exc
    finally:
        if query.dry_run:
            await asyncio.to_thread(file.unlink)
    return job_record(caller, await care.wait_for(job, SOON_SECONDS))


async def job_file(caller: Caller, job: str) -> bytes:
    """The file of a save: packets with their records, as `openmsmq load` takes them."""
    found = await _job(caller, job)
    care = caller.desk.care
    file = care.saved_file(found)
    if file is None:
        raise Problem(404, f"Job {job} has no file.", cause="It is not a save, or not finished.")
    if care.owner(found).principal != caller.person.principal:
        raise Problem(
            403,
            f"Job {job} belongs to {care.owner(found).principal}.",
            cause="The file has what its owner may read.",
            remedy="Save the messages yourself.",
        )
    return await asyncio.to_thread(file.read_bytes)
