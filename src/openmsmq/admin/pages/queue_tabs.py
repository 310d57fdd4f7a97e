"""The tabs of a queue beside its messages."""

import re
from typing import Any

from starlette.datastructures import QueryParams

from openmsmq.admin.api import queues as queue_calls
from openmsmq.admin.api.tracing import explain
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import problem_of
from openmsmq.terminal.quantities import count_text, duration_text, size_text
from openmsmq.wire.errors import MsmqError

from .queue_pages import queue_values
from .text import rate


async def _values(caller: Caller, queue: str, tab: str, title: str) -> dict[str, Any]:
    values = await queue_values(caller, queue, tab)
    if values["info"] is None:
        # It is not listed: ask for it, so that the answer says why.
        await queue_calls.show_queue(caller, queue)
    return {**values, "tab_title": title, "queue_pattern": re.escape(values["queue_short"])}


async def subqueues_tab(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The subqueues of a queue."""
    del query
    queue = names["queue"]
    values = await _values(caller, queue, "subqueues", "Subqueues")
    subqueues = []
    for info in caller.desk.figures.queues:
        name = info["path"].partition("\\")[2]
        owner, _, sub = name.partition(";")
        if sub and owner.casefold() == queue.casefold() and info["kind"] != "journal":
            subqueues.append(
                {
                    "name": name,
                    "title": f";{sub}",
                    "messages": info["messages"],
                    "bytes": info["bytes"],
                }
            )
    return {**values, "subqueues": subqueues}


async def activity_tab(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """Rates, depth, age, readers and refusals of a queue."""
    del query
    values = await _values(caller, names["queue"], "activity", "Activity")
    info = values["info"]
    known = caller.desk.figures.of(names["queue"])
    activity = [
        ("Arriving", f"{rate(known.arriving)} a second"),
        ("Leaving", f"{rate(known.leaving)} a second"),
        ("Arrived since the start", f"{count_text(info.arrived_messages)} messages"),
        ("In the queue", f"{count_text(info.messages, 'message')}, {size_text(info.bytes)}"),
        ("Locked", count_text(info.locked_messages, "message")),
        ("Oldest", duration_text(info.oldest_message_age_seconds) or "none"),
        ("Readers", f"{info.readers}, {info.waiting_reads} wait for messages"),
    ]
    activity += [(reason, count_text(number)) for reason, number in info.deleted.items()]
    try:
        sentences = (await explain(caller, names["queue"])).sentences
    except MsmqError as exc:
        sentences = [problem_of(exc).detail]
    return {**values, "activity": activity, "sentences": sentences}


async def permissions_tab(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Who may do what with a queue."""
    del query
    values = await _values(caller, names["queue"], "permissions", "Permissions")
    try:
        found = await queue_calls.list_permissions(caller, names["queue"])
    except MsmqError as exc:
        return {**values, "tab_problem": problem_of(exc), "permissions": []}
    return {**values, "tab_problem": None, "permissions": found.permissions}


async def settings_tab(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """The properties of a queue."""
    del query
    values = await _values(caller, names["queue"], "settings", "Settings")
    info = values["info"]
    return {
        **values,
        "facts": [
            ("Path name", info.path),
            ("Format name", info.format_name),
            ("Transactional", "yes" if info.transactional else "no"),
            ("Journal", "kept" if info.journal else "not kept"),
            ("Signed messages only", "yes" if info.authenticate else "no"),
            ("Multicast", info.multicast or "none"),
        ],
    }
