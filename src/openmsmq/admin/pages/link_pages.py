"""Outgoing queues as pages."""

import time
from typing import Any, Final

import msgspec
from starlette.datastructures import QueryParams

from openmsmq.admin.api import delayed as delayed_calls
from openmsmq.admin.api import outgoing as outgoing_calls
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError

from .chips import Chip
from .frame import url_maker
from .rows import by_next_hop, link_row

SHOWN: Final = 50


async def outgoing_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Links by next hop, and outgoing queues by destination, of all links or one."""
    del names
    queues = [link_row(info) for info in caller.desk.figures.outgoing]
    hop = query.get("next_hop", "")
    rows = [row for row in queues if not hop or row.name == hop]
    rows.sort(key=lambda row: (-row.messages, row.destination))
    chips = [Chip("next hop", "is", hop, url_maker("/outgoing", query)(next_hop=""))]
    return {
        "crumbs": [("Outgoing", "")],
        "links": by_next_hop(queues),
        "chips": chips if hop else [],
        "rows": rows,
        "waiting": sum(row.messages for row in rows),
    }


async def outgoing_one(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """One outgoing queue, read from the queue manager now: an action may just have changed it."""
    del query
    destination = names["destination"]
    try:
        info = await (await caller.manager()).outgoing_info(destination)
    except QueueError as exc:
        raise _no_such(destination) from exc
    messages, problem = [], None
    try:
        messages = await outgoing_calls.browse_outgoing(caller, destination, SHOWN)
    except MsmqError as exc:
        problem = problem_of(exc)
    try:
        later = (await delayed_calls.list_delayed_elsewhere(caller, destination)).delayed
    except MsmqError:
        later = []
    return {
        **_shown(info),
        "later": later,
        "now": time.time(),
        "crumbs": [("Outgoing", "/outgoing"), (link_row(info).name, "")],
        "messages": messages,
        "problem": problem,
    }


async def watch_outgoing(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The changing parts of an open page of an outgoing queue, from the samples."""
    del query
    destination = names["destination"]
    for info in caller.desk.figures.outgoing:
        if info["destination"] == destination:
            return _shown(info)
    raise _no_such(destination)


def _shown(info: dict[str, Any]) -> dict[str, Any]:
    link = link_row(info)
    return {"link": link, "steps": link_steps(link.history)}


class LinkStep(msgspec.Struct):
    """Consecutive attempts with the same result, the last one first."""

    words: str
    status: str
    addresses: list[str]
    time: str
    since: str
    times: int = 1


def link_steps(history: list[dict[str, Any]]) -> list[LinkStep]:
    """The steps of a link, newest first; repeated ones are merged."""
    steps: list[LinkStep] = []
    for step in history:
        status, addresses = str(step["status"]), list(step["addresses"] or ())
        words = outgoing_calls.step_words(step)
        last = steps[-1] if steps else None
        if last is not None and (last.words, last.addresses) == (words, addresses):
            last.since = step["time"]
            last.times += 1
            continue
        steps.append(LinkStep(words, status, addresses, step["time"], step["time"]))
    return steps


def _no_such(destination: str) -> Problem:
    return Problem(
        404,
        f"There is no outgoing queue to {destination}.",
        cause="It was idle and was forgotten, or the address is wrong.",
        remedy="Outgoing lists those that exist.",
    )
