"""Jobs, dead letters and searches."""

import asyncio
import time
from typing import Any, Final, Literal

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem
from openmsmq.care import Condition, parse_filter
from openmsmq.care.dead_letters import GROUPINGS, dead_letters, group_dead_letters
from openmsmq.care.filters import filter_from_data, filter_to_data
from openmsmq.care.jobs import Job, JobKind, JobSpec, Limits
from openmsmq.care.places import PlaceKind, list_places
from openmsmq.care.search import SearchProgress, search
from openmsmq.client import QueueManager

from .messages import MessageRecord, message_record, number
from .queues import full_name

# A job that ends within this time is answered with its result.
SOON_SECONDS: Final = 0.7
MOST_RESULTS: Final = 1_000
LONGEST_SEARCH: Final = 30.0
# Properties that tell what is in a body.
OF_BODIES: Final = ("body", "extension", "soap_envelope", "compound_message")
DEAD: Final = {
    "plain": (";deadletter",),
    "transactional": (";deadxact",),
    "all": (";deadletter", ";deadxact"),
}


class JobToBegin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job.

    Attributes:
        kind: what it does with messages.
        sources: queues by name; `system$;DEADLETTER` and `system$;DEADXACT` for dead letters.
        target: the queue that they go to; a retry without one sends each to where it was for.
        where: a filter: text such as `label ~ order and age > 1h`, or data.
        lookup_ids: which messages of the one source.
        first: a portion: only so many.
        rate: messages a second at most.
        limits: what becomes of time limits of messages that are sent again.
        dry_run: check everything and change nothing.
    """

    kind: Literal["move", "copy", "retry", "remove", "purge"]
    sources: list[str]
    target: str = ""
    where: str | dict[str, Any] | None = None
    lookup_ids: list[str] | None = None
    first: int | None = None
    rate: float | None = None
    limits: Literal["restart", "keep", "lift"] = "restart"
    dry_run: bool = False


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job and how far it is; a dry run has no number."""

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


class JobList(msgspec.Struct, frozen=True):
    """Every job, the newest first."""

    jobs: list[JobRecord]


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one message."""

    lookup_id: str
    id: str
    label: str
    source: str
    destination: str
    outcome: str
    text: str = ""


class JobResults(msgspec.Struct, frozen=True):
    """What became of the first messages of a job."""

    results: list[JobResult]
    total: int


class Undone(msgspec.Struct, frozen=True):
    """How many messages are back, and how many were gone."""

    undone: int
    gone: int


class DeadLetterQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which dead letters, and what they are grouped by."""

    by: Literal["reason", "destination", "label", "age"] = "reason"
    queue: Literal["all", "plain", "transactional"] = "all"
    filter: str = ""


class DeadLetterGroupRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Dead letters that have something in common."""

    key: str
    reason: str
    messages: int
    bytes: int
    oldest: float
    newest: float
    cause: str
    remedy: str
    worth_retrying: bool


class DeadLetterGroups(msgspec.Struct, frozen=True):
    """Dead letters in groups, the largest first."""

    groups: list[DeadLetterGroupRecord]
    total: int


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look for.

    Attributes:
        filter: such as `label ~ order and arrived_time > 2026-11-17`.
        text: text in label or body.
        queues: pattern of the places to look in.
        limit: end after so many.
    """

    filter: str = ""
    text: str = ""
    queues: str = "*"
    limit: int = 100


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A message and where it was found."""

    queue: str
    kind: str
    message: MessageRecord


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and how far the search is."""

    hits: list[SearchHit]
    looked_at: int
    total: int
    seconds: float
    stopped: bool
    not_searched: list[str]


def condition_of(where: str | dict[str, Any] | None) -> Condition | None:
    """A filter of people or programs.

    Raises:
        FilterError: it is none.
    """
    if where is None or where == "":
        return None
    return parse_filter(where) if isinstance(where, str) else filter_from_data(where)


def need_to_read(caller: Caller, condition: Condition | None) -> None:
    """Refuse filters on bodies to those who may not see bodies.

    Raises:
        Problem: 403.
    """
    if condition is not None and not caller.person.sees_bodies:
        text = msgspec.json.encode(filter_to_data(condition)).decode()
        if any(f'"property":"{name}"' in text for name in OF_BODIES):
            caller.need_bodies()


def spec_of(caller: Caller, body: JobToBegin) -> JobSpec:
    """The job that a request describes."""
    for name in (*body.sources, *([body.target] if body.target else [])):
        caller.need_queue(name)
    condition = condition_of(body.where)
    ids = None if body.lookup_ids is None else tuple(number(text) for text in body.lookup_ids)
    return JobSpec(
        kind=JobKind(body.kind),
        sources=tuple(_source(name) for name in body.sources),
        target=full_name(body.target) if body.target else "",
        where=None if condition is None else filter_to_data(condition),
        lookup_ids=ids,
        first=body.first,
        rate=body.rate,
        limits=Limits(body.limits),
    )


def _source(name: str) -> str:
    return ";" + name.partition(";")[2].lower() if name.startswith("system$;") else full_name(name)


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
    )


def _short(name: str) -> str:
    if name.startswith(";"):
        return "system$" + name.upper()
    return name.removeprefix(".\\")


async def list_jobs(caller: Caller) -> JobList:
    """Every job on queues that the token includes."""
    jobs = await asyncio.to_thread(caller.desk.care.jobs)
    return JobList([job_record(caller, job) for job in jobs if _may_see(caller, job)])


def _may_see(caller: Caller, job: Job) -> bool:
    return all(caller.person.may_use(_short(name)) for name in job.spec.sources)


async def _job(caller: Caller, identifier: str) -> Job:
    """A job on queues that the token includes."""
    job = await asyncio.to_thread(caller.desk.care.job, identifier)
    for name in job.spec.sources:
        caller.need_queue(_short(name))
    return job


async def begin_job(caller: Caller, body: JobToBegin) -> JobRecord:
    """Begin a job, or with `dry_run` say what it would do."""
    spec = spec_of(caller, body)
    care = caller.desk.care
    if body.dry_run:
        job, report = await care.dry_run(caller.person, spec)
        return JobRecord(
            id="",
            kind=body.kind,
            sources=body.sources,
            target=body.target,
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
    job = await care.begin(caller.person, spec)
    return job_record(caller, await care.wait_for(job, SOON_SECONDS))


async def show_job(caller: Caller, job: str) -> JobRecord:
    """One job."""
    return job_record(caller, await _job(caller, job))


async def job_results(caller: Caller, job: str) -> JobResults:
    """What became of each message of a job."""
    found = await _job(caller, job)
    results = []
    for message, result in found.results():
        results.append(
            JobResult(
                lookup_id=str(message.lookup_id),
                id=message.id,
                label=message.label,
                source=_short(message.source),
                destination=_short(message.destination),
                outcome="left" if result is None else str(result.outcome),
                text="" if result is None else result.text,
            )
        )
        if len(results) == MOST_RESULTS:
            break
    return JobResults(results, len(found.messages))


async def stop_job(caller: Caller, job: str) -> JobRecord:
    """Stop a job after its current step."""
    found = await _job(caller, job)
    caller.desk.care.stop_job(found)
    return job_record(caller, await caller.desk.care.wait_for(found, SOON_SECONDS))


async def resume_job(caller: Caller, job: str) -> JobRecord:
    """Go on with a job that was stopped."""
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
    """Put back what a job has moved, copied or sent again."""
    care = caller.desk.care
    found = await _job(caller, job)
    report = await care.undo(caller.person, found)
    return Undone(report.undone, report.gone)


async def list_dead_letters(caller: Caller, query: DeadLetterQuery) -> DeadLetterGroups:
    """Dead letters in groups, with cause, remedy and whether a retry makes sense."""
    for name in DEAD[query.queue]:
        caller.need_queue("system$" + name.upper())
    condition = condition_of(query.filter)
    need_to_read(caller, condition)

    def work(manager: QueueManager) -> DeadLetterGroups:
        found = dead_letters(manager, condition, queues=DEAD[query.queue])
        groups = group_dead_letters(found, time.time(), (query.by,))
        records = [
            DeadLetterGroupRecord(
                key=group.key[0],
                reason=group.reason,
                messages=group.messages,
                bytes=group.bytes,
                oldest=group.oldest,
                newest=group.newest,
                cause=group.cause,
                remedy=group.remedy,
                worth_retrying=group.worth_retrying,
            )
            for group in groups
        ]
        return DeadLetterGroups(records, sum(record.messages for record in records))

    assert query.by in GROUPINGS  # noqa: S101 - the same words
    return await caller.desk.care.call(caller.person, work)


def search_condition(query: SearchQuery) -> Condition | None:
    """The filter of a search, with the text in label or body."""
    condition = condition_of(query.filter)
    if not query.text:
        return condition
    words = {
        "or": [
            {"property": name, "operator": "~", "value": query.text} for name in ("label", "body")
        ]
    }
    if condition is None:
        return filter_from_data(words)
    return filter_from_data({"and": [filter_to_data(condition), words]})


async def find_messages(caller: Caller, query: SearchQuery) -> SearchResult:
    """Messages of every place that a filter holds for, up to a limit."""
    if not 1 <= query.limit <= MOST_RESULTS:
        raise Problem(400, f"limit must be from 1 to {MOST_RESULTS}.", name="BAD_LIMIT")
    condition = search_condition(query)
    need_to_read(caller, condition)
    if not caller.desk.searches.take():
        raise Problem(
            429,
            "Too many searches run.",
            remedy="Wait for one to end, or raise console_searches.",
            retry_after=5,
        )
    began = time.monotonic()
    progress = SearchProgress()
    deadline = began + LONGEST_SEARCH

    def note(state: SearchProgress) -> None:
        progress.looked_at, progress.total = state.looked_at, state.total
        progress.not_searched = state.not_searched

    def work(manager: QueueManager) -> list[SearchHit]:
        places = [
            place
            for place in list_places(manager, pattern=query.queues)
            if place.kind is PlaceKind.OUTGOING or caller.person.may_use(place_name(place.name))
        ]
        return [
            SearchHit(
                queue=place_name(found.place.name),
                kind=str(found.place.kind),
                message=message_record(found.message),
            )
            for found in search(
                manager,
                places,
                condition,
                limit=query.limit,
                progress=note,
                stopped=lambda: time.monotonic() > deadline,
            )
        ]

    try:
        hits = await caller.desk.care.call(caller.person, work)
    finally:
        caller.desk.searches.give()
    return SearchResult(
        hits=hits,
        looked_at=max(progress.looked_at, len(hits)),
        total=progress.total,
        seconds=time.monotonic() - began,
        stopped=time.monotonic() > deadline,
        not_searched=[f"{name}: {error}" for name, error in progress.not_searched],
    )


def place_name(name: str) -> str:
    """A place as paths of this API name it."""
    if name.startswith(";"):
        return "system$" + name.upper()
    return name.partition("\\")[2] if "=" not in name else name
