"""Dead letters, jobs and searches as pages."""

from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from starlette.datastructures import QueryParams

from openmsmq.admin.api import dead_letters as dead_calls
from openmsmq.admin.api import jobs as calls
from openmsmq.admin.api import searching, tracing
from openmsmq.admin.api.messages import need_to_read
from openmsmq.admin.api.searching import place_name
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.person import Role
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.care.dead_letters import AGES, dead_letters
from openmsmq.care.filters import filter_from_data, filter_to_data
from openmsmq.client import QueueManager
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.errors import MsmqError

from .chips import Chip, filter_chips, text_chip
from .frame import url_maker
from .text import short_destination, short_name

# Classes of dead letters that a user removed.
REMOVED: Final = ("MQMSG_CLASS_NACK_Q_PURGED", "MQMSG_CLASS_NACK_DELETED")
SAMPLES: Final = 6
SHOWN_DESTINATIONS: Final = 5
# The maximum number of messages shown by one search.
FOUND: Final = 1_000
SHOWN_JOBS: Final = 5
SHOWN_RESULTS: Final = 200
FIELDS: Final = {"reason": "class_name", "destination": "destination_queue", "label": "label"}


async def deadletters_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Dead letters in groups; the open group; the planned retry."""
    del names
    by = query.get("by", "reason")
    which = query.get("queue", "all")
    if by not in ("reason", "destination", "label", "age") or which not in dead_calls.DEAD:
        raise Problem(
            400,
            "There is no such group of dead letters.",
            cause="The address was changed by hand, or is of another version.",
            remedy="Choose a group on the page of dead letters.",
        )
    words = query.get("where", "")
    groups: list[dict[str, Any]] = []
    problem = None
    try:
        found = await dead_calls.list_dead_letters(
            caller,
            dead_calls.DeadLetterQuery(by=by, queue=which, filter=words),  # type: ignore[arg-type]  # checked above
        )
        groups = [_group(group, by) for group in found.groups]
    except MsmqError as exc:
        problem = problem_of(exc)
        if problem.status == 503:
            raise
    opened = query.get("open", "")
    chosen = next((group for group in groups if group["key"] == opened), None)
    values: dict[str, Any] = {
        "crumbs": [("Dead letters", "")],
        "by": by,
        "which": which,
        "filter": words,
        "sources": " ".join(_sources(which)),
        "chips": _dead_letter_chips(query),
        "groups": groups,
        "total": sum(group["messages"] for group in groups),
        "recent": sum(group["recent"] for group in groups),
        "problem": problem,
        "plan": None,
        "retry_problem": None,
        "jobs": await job_rows(caller, SHOWN_JOBS),
    }
    if chosen is None:
        return values
    chosen["open"] = True
    where = group_filter(by, chosen["key"])
    if (condition := searching.condition_of(words)) is not None:
        where = {"and": [where, filter_to_data(condition)]}
    values |= await _samples(caller, which, where)
    values["where"] = msgspec.json.encode(where).decode()
    group = group_words(by, chosen["key"])
    values["group_where"] = f"{group} and ({words})" if words else group
    if query.get("retry") and caller.person.role >= Role.OPERATOR:
        values |= await _plan(caller, which, where)
        values["plan_sensible"] = chosen["worth_retrying"]
    return values


def _dead_letter_chips(query: QueryParams) -> list[Chip]:
    url = url_maker("/dead-letters", query)

    def anew(**changes: object) -> str:
        return url(**changes, open="", retry="")

    return filter_chips(query.get("where", ""), "where", anew)


async def watch_deadletters(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The changing parts of an open page of dead letters: the jobs."""
    del query, names
    return {"jobs": await job_rows(caller, SHOWN_JOBS)}


def _group(group: dead_calls.DeadLetterGroupRecord, by: str) -> dict[str, Any]:
    title, _, constant = group.reason.rpartition(" (")
    words = title or group.reason
    key = constant.rstrip(")") if by == "reason" else group.key
    return {
        **msgspec.structs.asdict(group),
        "key": key,
        "title": words[:1].upper() + words[1:] if by == "reason" else group.key or "no label",
        "constant": constant.rstrip(")") if by == "reason" else words,
        "removed": constant.rstrip(")") in REMOVED,
        "open": False,
    }


def group_words(by: str, key: str) -> str:
    """The same filter as text, for addresses."""
    if by in FIELDS:
        quoted = key.replace('"', '""')
        return f'{FIELDS[by]} = "{quoted}"'
    terms = group_filter(by, key)["and"]
    return " and ".join(f"age {term['operator']} {term['value'] / 3600:g}h" for term in terms)


def group_filter(by: str, key: str) -> dict[str, Any]:
    """The filter that matches the dead letters of a group."""
    if by in FIELDS:
        return {"property": FIELDS[by], "operator": "=", "value": key}
    bounds = [0.0, *(limit for _, limit in AGES)]
    words = [word for word, _ in AGES]
    at = words.index(key) if key in words else len(words)
    terms: list[dict[str, Any]] = [{"property": "age", "operator": ">=", "value": bounds[at]}]
    if at < len(AGES):
        terms.append({"property": "age", "operator": "<", "value": AGES[at][1]})
    return {"and": terms}


async def _samples(caller: Caller, which: str, where: dict[str, Any]) -> dict[str, Any]:
    """The first dead letters of a group, and their original destinations."""
    condition = filter_from_data(where)

    machine = caller.desk.figures.status.get("name", "")

    def work(
        manager: QueueManager,
    ) -> tuple[list[dict[str, Any]], dict[str, int], dict[str, None]]:
        samples: list[dict[str, Any]] = []
        destinations: dict[str, int] = {}
        places: dict[str, None] = {}
        for found in dead_letters(manager, condition, queues=dead_calls.DEAD[which]):
            message = found.message
            destination = short_destination(message.destination_queue or "", machine)
            destinations[destination] = destinations.get(destination, 0) + 1
            places[place_name(found.place.name)] = None
            if len(samples) < SAMPLES:
                samples.append(
                    {
                        "queue": place_name(found.place.name),
                        "lookup_id": message.lookup_id,
                        "label": message.label,
                        "destination": destination,
                        "waited": message.arrived_time.timestamp() - message.sent_time.timestamp(),
                        "body_size": message.body_size,
                        "arrived_time": message.arrived_time,
                    }
                )
        return samples, destinations, places

    samples, destinations, places = await caller.desk.care.call(caller.person, work)
    most = sorted(destinations.items(), key=lambda pair: -pair[1])
    shown, rest = most[:SHOWN_DESTINATIONS], most[SHOWN_DESTINATIONS:]
    if rest:
        shown.append((count_text(len(rest), "other queue"), sum(number for _, number in rest)))
    return {"samples": samples, "destinations": shown, "places": list(places)}


async def _plan(caller: Caller, which: str, where: dict[str, Any]) -> dict[str, Any]:
    """The dry run of a retry: the checks of the job."""
    body = calls.JobToBegin(kind="retry", sources=_sources(which), where=where, dry_run=True)
    try:
        return {"plan": await calls.begin_job(caller, body)}
    except MsmqError as exc:
        return {"retry_problem": problem_of(exc)}


def _sources(which: str) -> list[str]:
    return ["system$" + name.upper() for name in dead_calls.DEAD[which]]


async def job_rows(caller: Caller, most: int | None = None) -> list[dict[str, Any]]:
    """Jobs as in lists."""
    jobs = (await calls.list_jobs(caller)).jobs
    return [job_row(job) for job in jobs[:most]]


def job_row(job: calls.JobRecord) -> dict[str, Any]:
    """A job with a title, a tone and an icon."""
    sources = ", ".join(_place(name) for name in job.sources)
    title = f"{job.kind.capitalize()} {count_text(job.messages, 'message')} from {sources}"
    if job.target:
        title += f" to {_place(job.target)}"
    tones = {
        "finished": ("ok", "circle-check"),
        "failed": ("bad", "circle-alert"),
        "running": ("", "clock"),
    }
    tone, symbol = tones.get(job.state, ("faint", "pause"))
    return {**msgspec.structs.asdict(job), "title": title, "tone": tone, "icon": symbol}


def _place(name: str) -> str:
    words = {"system$;DEADLETTER": "dead letters", "system$;DEADXACT": "transactional dead letters"}
    return words.get(name, short_name(name))


async def jobs_page(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """Every job."""
    del query, names
    return {"crumbs": [("Jobs", "")], "jobs": await job_rows(caller)}


async def job_page(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """One job and its results."""
    del query
    job = job_row(await calls.show_job(caller, names["job"]))
    results = await calls.job_results(caller, names["job"], calls.ResultsQuery(limit=SHOWN_RESULTS))
    return {
        "crumbs": [("Jobs", "/jobs"), (job["id"], "")],
        "job": job,
        "results": results.results,
    }


async def find_page(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """A search over everything, which the page runs; or the trace of one message."""
    del names
    text, words = query.get("text", ""), query.get("filter", "")
    queues, identifier = query.get("queues", ""), query.get("id", "")
    values: dict[str, Any] = {
        "crumbs": [("Find a message", "")],
        "text": text,
        "filter": words,
        "queues": queues,
        "case": bool(query.get("case")),
        "id": identifier,
        "trace": None,
        "problem": None,
        "stream": "",
        "limit": FOUND,
        "chips": [] if identifier else _find_chips(query),
    }
    try:
        if identifier:
            values["trace"] = await tracing.trace(caller, identifier)
        elif text or words:
            pattern = queues if "\\" in queues or queues.startswith("*") else f"*{queues}*"
            wanted = {"text": text, "filter": words, "queues": pattern, "limit": FOUND}
            if values["case"]:
                wanted["case"] = "true"
            # An invalid search is reported at once.
            need_to_read(caller, searching.search_condition(_search_query(text, words)))
            values["stream"] = f"/api/v1/search/stream?{urlencode(wanted)}"
    except MsmqError as exc:
        values["problem"] = problem_of(exc)
    return values


def _find_chips(query: QueryParams) -> list[Chip]:
    url = url_maker("/find", query)
    text, queues = query.get("text", ""), query.get("queues", "")
    chips = text_chip(
        "label or body", text, url(text="", case=""), case=bool(query.get("case"))
    ) + filter_chips(query.get("filter", ""), "filter", url)
    if chips and queues:
        chips.append(Chip("queue", "is like", queues, url(queues="")))
    return chips


def _search_query(text: str, words: str) -> searching.SearchQuery:
    return searching.SearchQuery(filter=words, text=text)
