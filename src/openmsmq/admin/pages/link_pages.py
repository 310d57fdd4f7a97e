"""Outgoing queues as pages."""

import time
from typing import Any, Final

from starlette.datastructures import QueryParams

from openmsmq.admin.api import delayed as delayed_calls
from openmsmq.admin.api import outgoing as outgoing_calls
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.wire.errors import MsmqError

from .rows import link_row

SHOWN: Final = 50


async def outgoing_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The list of outgoing queues."""
    del query, names
    rows = [link_row(info) for info in caller.desk.figures.outgoing]
    rows.sort(key=lambda row: (-row.messages, row.destination))
    return {
        "crumbs": [("Outgoing", "")],
        "rows": rows,
        "waiting": sum(row.messages for row in rows),
    }


async def outgoing_one(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """One outgoing queue."""
    del query
    destination = names["destination"]
    infos = [i for i in caller.desk.figures.outgoing if i["destination"] == destination]
    if not infos:
        raise Problem(
            404,
            f"There is no outgoing queue to {destination}.",
            cause="It was idle and was forgotten, or the address is wrong.",
            remedy="Outgoing lists those that exist.",
        )
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
        "later": later,
        "now": time.time(),
        "crumbs": [("Outgoing", "/outgoing"), (link_row(infos[0]).name, "")],
        "link": link_row(infos[0]),
        "messages": messages,
        "problem": problem,
        "words": outgoing_calls.step_words,
    }
