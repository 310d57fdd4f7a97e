"""Queues and their messages as pages."""

import time
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final

from starlette.datastructures import QueryParams

from openmsmq.admin.api import messages as message_calls
from openmsmq.admin.api import queues as queue_calls
from openmsmq.admin.api.queues import QueueRecord
from openmsmq.admin.api.searching import condition_of, with_text
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.queue_info import QueueInfo
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.admin.web import segment
from openmsmq.care.filters import Condition, Matcher, filter_to_data
from openmsmq.client.browsed_message import BrowsedMessage
from openmsmq.core.model.message import HELD
from openmsmq.wire.errors import MsmqError

from .chips import Chip, filter_chips, text_chip
from .frame import url_maker
from .message_pages import pane_values
from .rows import QueueRow, draw_lines, is_unread, queue_row
from .text import age, short_name

PAGE: Final = 200
SHOWN_QUEUES: Final = 500
# The number of queues in the first pane of a queue, and the other entries.
SIDE_QUEUES: Final = 200
SIDE_KINDS: Final = ("deadletter", "xact_deadletter", "machine_journal")
JOURNAL: Final = ";JOURNAL"
SORTS: Final = ("name", "messages", "arriving", "leaving", "oldest", "readers", "bytes")


async def queues_page(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """The list of queues."""
    del names
    figures, unread = caller.desk.figures, caller.desk.settings.console_unread_seconds
    listed = [info for info in await caller.seen() if info.kind == "queue"]
    rows = queue_calls.matching(
        (queue_row(info, figures, unread) for info in listed), query.get("filter", "")
    )
    sort = query.get("sort", "name")
    name = sort.removeprefix("-")
    if name not in SORTS:
        raise Problem(400, f"Queues cannot be sorted by {name!r}.")

    def key(row: QueueRow) -> Any:
        value = getattr(row, name)
        return row.name.casefold() if name == "name" else -1.0 if value is None else value

    rows.sort(key=lambda row: row.name.casefold())
    rows.sort(key=key, reverse=sort.startswith("-"))
    start = next((at + 1 for at, row in enumerate(rows) if row.name == query.get("after")), 0)
    part = rows[start : start + SHOWN_QUEUES]
    draw_lines(part, figures)
    columns = _columns(query.get("hide", ""))
    return {
        "crumbs": [("Queues", "")],
        "rows": part,
        "total": len(rows),
        "messages": sum(row.messages for row in rows),
        "size": sum(row.bytes for row in rows),
        "filter": query.get("filter", ""),
        "chips": text_chip(
            "name or label",
            query.get("filter", ""),
            url_maker("/queues", query)(filter="", after=""),
        ),
        "sort": sort,
        "hide": query.get("hide", ""),
        "after": part[-1].name if start + SHOWN_QUEUES < len(rows) else "",
        "new": bool(query.get("new")),
        "columns": columns,
        "shown_columns": tuple(column["key"] for column in columns if column["shown"]),
    }


COLUMNS: Final = (
    ("messages", "Messages", "w-88"),
    ("arriving", "In/s", "w-66"),
    ("leaving", "Out/s", "w-66"),
    ("series", "Last hour", "w-112"),
    ("oldest", "Oldest", "w-80"),
    ("readers", "Readers", "w-70"),
    ("bytes", "Size", "w-96"),
    ("kind", "Kind", "w-158"),
)
# The columns shown beside the name in narrow windows.
NARROW: Final = ("messages", "oldest")


def _columns(hidden: str) -> list[dict[str, Any]]:
    """The columns of the list: whether each is shown, and how to hide or show it."""
    now = set(hidden.split(","))
    return [
        {
            "key": key,
            "title": title,
            "width": width,
            "wide": key not in NARROW,
            "shown": key not in now,
            "turn": ",".join(k for k, _, _ in COLUMNS if (k in now) != (k == key)),
        }
        for key, title, width in COLUMNS
    ]


async def queue_values(caller: Caller, queue: str, tab: str) -> dict[str, Any]:
    """The common contents of all tabs of a queue: the queue, and its neighbours."""
    caller.need_queue(queue)
    infos = await caller.seen()
    owner = queue.partition(";")[0] if not queue.startswith("system$") else queue
    named = {each.name.casefold(): each for each in infos}
    found = named.get(queue.casefold())
    if found is not None:
        info: QueueRecord | None = queue_calls.queue_record(found)
    else:
        is_journal = queue.upper().endswith(JOURNAL)
        info = await _empty_journal(caller, queue) if is_journal else None
    side = [
        entry
        for each in _queues_beside(named, owner.casefold())
        for entry in _side_of(each, named, owner, queue)
    ]
    total = _depth(named, queue)
    unread = ""
    quiet = caller.desk.settings.console_unread_seconds
    if found is not None and is_unread(found, quiet):
        unread = f"no reader for {age(found.oldest_message_age_seconds)}"
    return {
        "crumbs": [("Queues", "/queues"), (short_name(queue), "")],
        "queue": queue,
        "queue_short": short_name(queue),
        "info": info,
        "side": side,
        "side_is_part": sum(each.kind == "queue" for each in infos) > SIDE_QUEUES,
        "unread": unread,
        "messages_total": total,
        "tab": tab,
        "tab_title": "Messages",
        "tabs": _tabs(queue, owner, info, total),
        "message": None,
        "message_problem": None,
    }


async def _empty_journal(caller: Caller, queue: str) -> QueueRecord | None:
    """A journal missing in the figures; None if there is none."""
    try:
        return await queue_calls.show_queue(caller, queue)
    except MsmqError:
        return None


def _queues_beside(named: dict[str, QueueInfo], owner: str) -> list[QueueInfo]:
    """The entries of the first pane: the queues before and after this one, and system queues."""
    queues = sorted(name for name, each in named.items() if each.kind == "queue")
    start = max(0, min(bisect_left(queues, owner) - SIDE_QUEUES // 2, len(queues) - SIDE_QUEUES))
    system = sorted(name for name, each in named.items() if each.kind in SIDE_KINDS)
    return [named[name] for name in [*queues[start : start + SIDE_QUEUES], *system]]


def _side_of(
    info: QueueInfo, named: dict[str, QueueInfo], owner: str, queue: str
) -> Iterator[dict[str, Any]]:
    """A queue in the first pane; the current one with its subqueues and journal."""
    name, messages = info.name, info.messages
    if info.kind != "queue":
        yield _side(name, name.partition(";")[2].lower(), messages, queue)
        return
    yield _side(name, short_name(name), messages, queue)
    if name.casefold() == owner.casefold():
        for sub in info.subqueues:
            yield _side(f"{name};{sub}", f";{sub}", _depth(named, f"{name};{sub}"), queue, sub)
        if info.journal or info.journal_messages:
            count = info.journal_messages
            yield _side(f"{name}{JOURNAL}", "journal", count, queue, "journal")


def _side(name: str, title: str, messages: int, current: str, sub: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "messages": messages,
        "current": name.casefold() == current.casefold(),
        "sub": bool(sub),
        "bad": sub == "poison" and messages > 0,
    }


def _depth(named: dict[str, QueueInfo], queue: str) -> int:
    """The number of messages of a queue; 0 if it is not listed."""
    info = named.get(queue.casefold())
    return 0 if info is None else info.messages


def _tabs(
    queue: str, owner: str, info: QueueRecord | None, total: int
) -> list[tuple[str, str, str, int | None]]:
    base = f"/queues/{segment(queue)}"
    tabs: list[tuple[str, str, str, int | None]] = [("messages", "Messages", base, total)]
    if info is not None and info.kind == "queue":
        journal = f"/queues/{segment(owner + JOURNAL)}"
        tabs += [
            ("delayed", "Delayed", f"{base}/delayed", info.delayed_messages),
            ("subqueues", "Subqueues", f"{base}/subqueues", len(info.subqueues)),
            ("journal", "Journal", journal, info.journal_messages),
            ("activity", "Activity", f"{base}/activity", None),
            ("permissions", "Permissions", f"{base}/permissions", None),
            ("settings", "Settings", f"{base}/settings", None),
        ]
    return tabs


async def messages_tab(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """The messages of a queue, and the one that is selected."""
    queue = names["queue"]
    values = await queue_values(caller, queue, "messages")
    # Later messages are not in the list; figures may be a second old.
    values |= await _counts_now(caller, queue, values["info"])
    needle, where = query.get("filter", ""), query.get("where", "")
    after = query.get("after", "")
    found: list[BrowsedMessage] = []
    looked = 0
    problem = None
    more = False
    condition: Condition | None = None
    try:
        start = message_calls.number(after, "after") if after else 0
        condition = _condition(caller, needle, where)
        found, more, looked = await _browse(caller, queue, start, condition)
    except MsmqError as exc:
        problem = problem_of(exc)
        if problem.status == 503:
            raise
    now = time.time()
    rows = [_message_row(message, now, caller) for message in found]
    selected = query.get("message", "")
    return {
        **values,
        "messages": rows,
        "held": HELD,
        "filter": needle,
        "where": where,
        "chips": _chips(queue, query),
        "where_data": None if condition is None else filter_to_data(condition),
        "looked": looked,
        "problem": problem,
        "grant_command": f"openmsmq queue grant '.\\{queue}' {caller.person.principal} peek",
        "after": str(found[-1].lookup_id) if more else "",
        "begun": bool(after),
        "arrived": _arrived(values["info"]),
        "selected": selected,
        **(await pane_values(caller, queue, selected, query) if selected else {}),
    }


async def _counts_now(caller: Caller, queue: str, info: QueueRecord | None) -> dict[str, Any]:
    """The counts of a queue at this moment, if available."""
    # A new queue has no figures yet.
    if info.kind != "queue" if info is not None else ";" in queue:
        return {}
    try:
        info = await queue_calls.show_queue(caller, queue)
    except MsmqError:
        return {}
    return counts_of(queue, info)


def counts_of(queue: str, info: QueueRecord) -> dict[str, Any]:
    """The head of the page of a queue."""
    owner = queue.partition(";")[0]
    return {
        "info": info,
        "messages_total": info.messages,
        "tabs": _tabs(queue, owner, info, info.messages),
    }


def _arrived(info: QueueRecord | None) -> int:
    """The number of messages that have arrived so far; later ones are not in an open list."""
    return 0 if info is None else info.arrived_messages


async def watch_messages(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The changing parts of an open list of messages: counts, never its rows."""
    del query
    values = await queue_values(caller, names["queue"], "messages")
    return {**values, "arrived": _arrived(values["info"])}


def _chips(queue: str, query: QueryParams) -> list[Chip]:
    """The condition of the messages of a list; a list without one starts again."""
    url = url_maker(f"/queues/{segment(queue)}", query)

    def anew(**changes: object) -> str:
        return url(**changes, after="", message="")

    text = query.get("filter", "")
    return [
        *text_chip("label or body", text, anew(filter="")),
        *filter_chips(query.get("where", ""), "where", anew),
    ]


def _condition(caller: Caller, needle: str, where: str) -> Condition | None:
    """The selected messages, and a job if all that match are selected; None for all.

    Raises:
        MsmqError: the filter is invalid, or is about bodies that the caller may not see.
    """
    condition = condition_of(where)
    message_calls.need_to_read(caller, condition)
    return with_text(condition, needle, bodies=caller.person.sees_bodies)


async def _browse(
    caller: Caller, queue: str, after: int, condition: Condition | None
) -> tuple[list[BrowsedMessage], bool, int]:
    """A page of messages that match; also how many were searched."""
    if condition is None:
        found, more = await message_calls.browse(
            caller, queue, after=after, count=PAGE, head_bytes=0
        )
        return found, more, len(found)
    matcher, now, name = Matcher(condition), time.time(), queue_calls.full_name(queue)
    matching: list[BrowsedMessage] = []
    looked = 0
    while len(matching) < PAGE:
        found, more = await message_calls.browse(caller, queue, after=after, count=PAGE)
        looked += len(found)
        matching += [message for message in found if matcher.holds(name, message, now)]
        if not more:
            return matching, False, looked
        after = found[-1].lookup_id
    return matching, True, looked


def _message_row(message: BrowsedMessage, now: float, caller: Caller) -> dict[str, Any]:
    own = (
        message.source_queue_manager.casefold()
        == str(caller.desk.figures.status.get("guid", "")).casefold()
    )
    return {
        "lookup_id": message.lookup_id,
        "label": message.label,
        "abort_count": message.abort_count,
        "holder": message.holder if message.state == "locked" else None,
        "body_size": message.body_size,
        "arrived_time": message.arrived_time,
        "age": now - message.arrived_time.timestamp(),
        "source": "this machine" if own else message.source_queue_manager[1:9].lower(),
    }
