"""The tabs of a queue beside its messages."""

import re
import time
from contextlib import suppress
from typing import Any, Final

from starlette.datastructures import QueryParams

from openmsmq.admin.api import delayed as delayed_calls
from openmsmq.admin.api import queues as queue_calls
from openmsmq.admin.api import watching
from openmsmq.admin.api.tracing import explain
from openmsmq.admin.figures import SPANS
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import problem_of
from openmsmq.care.reasons import refusal_words
from openmsmq.security.rights import QUEUE_RIGHTS
from openmsmq.terminal.quantities import count_text, duration_text, size_text
from openmsmq.wire.codes.message_class import MEANINGS, MessageClass
from openmsmq.wire.errors import MsmqError

from .overview_page import RANGES
from .queue_pages import counts_of, queue_values
from .text import moment, rate


async def _values(caller: Caller, queue: str, tab: str, title: str) -> dict[str, Any]:
    values = await queue_values(caller, queue, tab)
    if values["info"] is None:
        # It is not listed, or new: the answer has the reason or the queue.
        values |= counts_of(queue, await queue_calls.show_queue(caller, queue))
    return {**values, "tab_title": title, "queue_pattern": re.escape(values["queue_short"])}


async def subqueues_tab(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The subqueues of a queue."""
    del query
    queue = names["queue"]
    values = await _values(caller, queue, "subqueues", "Subqueues")
    subqueues = []
    for info in await caller.seen():
        name = info.name
        owner, _, sub = name.partition(";")
        if sub and owner.casefold() == queue.casefold() and info.kind != "journal":
            subqueues.append(
                {
                    "name": name,
                    "title": f";{sub}",
                    "messages": info.messages,
                    "bytes": info.bytes,
                }
            )
    return {**values, "subqueues": subqueues}


async def delayed_tab(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """Delayed messages of a queue."""
    del query
    values = await _values(caller, names["queue"], "delayed", "Delayed")
    try:
        found = (await delayed_calls.list_delayed(caller, names["queue"])).delayed
    except MsmqError as exc:
        return {**values, "tab_problem": problem_of(exc), "delayed": []}
    return {**values, "tab_problem": None, "delayed": found, "now": time.time()}


async def activity_tab(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """Rates, depth, age, readers and refusals of a queue."""
    queue = names["queue"]
    values = await _values(caller, queue, "activity", "Activity")
    # The sentences are current, so the figures beside them must be, too.
    with suppress(MsmqError):
        values |= counts_of(queue, await queue_calls.show_queue(caller, queue))
    info = values["info"]
    known = caller.desk.figures.rates(queue)
    activity = [
        ("Arriving", f"{rate(known.arriving)} a second"),
        ("Leaving", f"{rate(known.leaving)} a second"),
        ("Arrived since the start", count_text(info.arrived_messages, "message")),
        ("In the queue", f"{count_text(info.messages, 'message')}, {size_text(info.bytes)}"),
        ("Locked", count_text(info.locked_messages - info.held_messages, "message")),
        ("Oldest", duration_text(info.oldest_message_age_seconds) or "none"),
        ("Given back", f"{count_text(info.aborted_messages)}, {info.poisoned_messages} poison"),
    ]
    left = [(_reason(name), name, count_text(number)) for name, number in info.deleted.items()]
    refused = [
        (_sentence(refusal_words(name)), name, count_text(number))
        for name, number in info.refused.items()
    ]
    try:
        sentences = (await explain(caller, queue)).sentences
    except MsmqError as exc:
        sentences = [problem_of(exc).detail]
    try:
        readers = (await watching.list_readers(caller, queue)).readers
    except MsmqError:
        readers = []
    span = query.get("range", "1h")
    return {
        **values,
        "activity": activity,
        "left": left,
        "refused": refused,
        "last_refused": info.last_refused_time,
        "sentences": sentences,
        "readers": readers,
        "range": span if span in SPANS else "1h",
        "ranges": RANGES,
    }


def _reason(name: str) -> str:
    """Why messages left a queue, as text."""
    known = MessageClass.__members__.get(name.removeprefix("MQMSG_CLASS_"))
    return _sentence(name if known is None else MEANINGS[known])


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


async def permissions_tab(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The permissions of a queue, and effective rights with reasons."""
    queue = names["queue"]
    values = await _values(caller, queue, "permissions", "Permissions")
    principal = query.get("principal", "")
    values |= {
        "tab_problem": None,
        "permissions": [],
        "principal": principal,
        "rights": list(QUEUE_RIGHTS),
        "answers": [],
        "answer_problem": None,
        "words": WORDS,
        "mine": caller.person.principal,
    }
    try:
        found = await queue_calls.list_permissions(caller, queue)
        values["permissions"] = [(entry, _words(entry)) for entry in found.permissions]
    except MsmqError as exc:
        return {**values, "tab_problem": problem_of(exc)}
    if principal:
        try:
            question = queue_calls.AccessQuestion(principal=principal)
            found_answers = await queue_calls.explain_permission(caller, queue, question)
            values["answers"] = found_answers.answers
        except MsmqError as exc:
            values["answer_problem"] = problem_of(exc)
    return values


WORDS: Final = {
    "full": "do everything",
    "receive": "receive messages",
    "receive-journal": "receive from the journal",
    "peek": "look at messages",
    "send": "send messages",
    "delete-message": "delete messages",
    "delete-journal-message": "delete from the journal",
    "set-properties": "change properties",
    "get-properties": "see properties and counts",
    "delete": "delete the queue",
    "get-permissions": "see permissions",
    "change-permissions": "change permissions",
    "take-ownership": "take ownership",
}


def _words(entry: queue_calls.Permission) -> str:
    """The rights that an entry allows or denies, as text."""
    return ", ".join(WORDS.get(right, right) for right in entry.rights)


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
            ("Created", moment(info.created_time, "date")),
            ("Multicast", info.multicast or "none"),
        ],
        "handling": [
            ("none", "Nothing: it stays, and only its count grows"),
            ("move", "Move it to the subqueue poison"),
            ("reject", "Send it back to its source as rejected"),
            ("drop", "Remove it"),
            ("hold", "Hold it in its place until an operator decides"),
        ],
    }
