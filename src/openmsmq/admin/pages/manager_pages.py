"""Journals, transactions, sessions, definitions, the audit log and settings as pages."""

from contextlib import suppress
from typing import Any, Final

import msgspec
from starlette.datastructures import QueryParams

from openmsmq.admin.api import machine
from openmsmq.admin.api import manager as calls
from openmsmq.admin.api.queues import NO_QUOTA
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.queue_info import QueueInfo
from openmsmq.admin.trust.person import Role
from openmsmq.admin.trust.problems import problem_of
from openmsmq.admin.web import segment
from openmsmq.terminal.quantities import count_text, duration_text, size_text
from openmsmq.version import __version__
from openmsmq.wire.errors import MsmqError

from .attention import watched
from .text import short_name

NUMERIC: Final = (
    *("Messages", "Size", "Oldest", "Quota", "Added in the last hour", "Sent"),
    *("Received", "Queues", "Waiting reads", "Unread"),
)
# The maximum number of lines of definitions in the page, so that browsers stay fast.
SHOWN_LINES: Final = 1_000
# Parts left out in narrow windows.
WIDE: Final = ("Oldest", "Quota")
MONO: Final = ("Journal", "Peer", "SID")
STATES: Final = {
    "active": "open",
    "prepared": "in doubt",
    "committed": "committed, not confirmed",
}


def _cell(name: str, value: object, href: str = "") -> tuple[str, object, str]:
    return name, value, href


def quota_text(quota: int) -> str:
    """A quota in kilobytes."""
    return "none" if quota == NO_QUOTA else size_text(1024 * quota)


def _table(
    title: str, rows: list[list[tuple[str, object, str]]], icon: str, none: str, words: str
) -> dict[str, Any]:
    return {
        "title": title,
        "columns": [name for name, _, _ in rows[0]] if rows else [],
        "rows": rows,
        "numeric": NUMERIC,
        "mono": MONO,
        "wide": WIDE,
        "icon": icon,
        "none": none,
        "none_words": words,
    }


def _growth(caller: Caller, info: QueueInfo) -> str:
    """The growth of a journal: messages received from its queue."""
    # The messages that enter the journal of the machine are not counted.
    if info.kind != "journal":
        return ""
    added = caller.desk.figures.received(info.name.partition(";")[0])
    return count_text(min(added, info.messages))


async def journals_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Journals: their sizes."""
    del query, names
    rows = []
    infos = await caller.seen()
    for info in sorted(infos, key=lambda each: -each.messages):
        name = info.name
        if info.kind not in ("journal", "machine_journal"):
            continue
        title = "of this machine" if info.kind == "machine_journal" else short_name(name)
        rows.append(
            [
                _cell("Journal", title.removesuffix(";JOURNAL"), f"/queues/{segment(name)}"),
                _cell("Messages", count_text(info.messages)),
                _cell("Size", size_text(info.bytes)),
                _cell("Oldest", duration_text(info.oldest_message_age_seconds)),
                _cell("Quota", quota_text(info.own_quota)),
                _cell("Added in the last hour", _growth(caller, info)),
            ]
        )
    # Figures leave empty journals out; those of queues with journaling are shown all the same.
    kept = {info.name.casefold() for info in infos if info.kind == "journal"}
    rows += [
        _empty_journal(info)
        for info in infos
        if info.kind == "queue" and info.journal and f"{info.name};journal".casefold() not in kept
    ]
    table = _table(
        "Journals",
        rows,
        "notebook-text",
        "No journals",
        "A queue that keeps a journal has a copy of every message that was received.",
    )
    return {
        "crumbs": [("Journals", "")],
        "title": "Journals",
        "words": "Copies of messages that were received or sent; nothing removes them by itself",
        "tables": [table],
    }


def _empty_journal(queue: QueueInfo) -> list[tuple[str, object, str]]:
    name = queue.name
    return [
        _cell("Journal", short_name(name), f"/queues/{segment(name + ';JOURNAL')}"),
        _cell("Messages", count_text(0)),
        _cell("Size", size_text(0)),
        _cell("Oldest", ""),
        _cell("Quota", quota_text(queue.journal_quota)),
        _cell("Added in the last hour", count_text(0)),
    ]


async def sessions_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Sessions with other queue managers, and clients."""
    del query, names
    sessions = (await calls.list_sessions(caller)).entries
    clients = (await calls.list_clients(caller)).entries
    return {
        "crumbs": [("Sessions", "")],
        "sessions": sorted(sessions, key=lambda each: (each["protocol"], each["id"])),
        "clients": sorted(clients, key=lambda each: (each["protocol"], each["id"])),
    }


async def transactions_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Open, prepared and doubtful transactions."""
    del query, names
    entries = (await calls.list_transactions(caller)).entries
    rows = [
        {
            "id": entry["id"],
            "state": STATES.get(entry["state"], entry["state"]),
            "age": entry["age_seconds"],
            "sent": entry["sent"],
            "received": entry["received"],
            "moved": entry["moved"],
            "holder": entry["holder"],
            "doubt": entry["state"] == "prepared",
        }
        for entry in entries
    ]
    rows.sort(key=lambda row: (not row["doubt"], -(row["age"] or 1e12)))
    return {"crumbs": [("Transactions", "")], "rows": rows}


async def definitions_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The current definitions, and the changes that a file would make."""
    del query, names
    values: dict[str, Any] = {"crumbs": [("Definitions", "")], "problem": None, "more": 0}
    try:
        lines = (await calls.export_definitions(caller)).decode().split("\n")
        values["toml"] = "\n".join(lines[:SHOWN_LINES])
        values["more"] = max(0, len(lines) - SHOWN_LINES)
    except MsmqError as exc:
        values["problem"] = problem_of(exc)
    return values


async def audit_page(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """The audit log."""
    del names
    words, begun = query.get("filter", ""), query.get("after")
    found = await calls.list_audit(caller, calls.AuditQuery(filter=words, after=begun))
    return {
        "crumbs": [("Audit log", "")],
        "filter": words,
        "entries": found.entries,
        "after": found.after,
        "begun": begun,
    }


async def settings_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """About, limits, tokens and appearance."""
    del query, names
    status = caller.desk.figures.status
    about = [
        ("Queue manager", status.get("name", "")),
        ("GUID", status.get("guid", "")),
        ("Version", status.get("version", "")),
        ("Console", __version__),
        ("Endpoints", ", ".join(f"{k} {v}" for k, v in status.get("endpoints", {}).items())),
        ("Console restarts", caller.desk.console.settings.restarts),
    ]
    administrator = caller.person.role >= Role.ADMINISTRATOR and not caller.person.queues
    limits: list[tuple[str, Any]] = []
    tokens: list[Any] = []
    rights: list[Any] = []
    if administrator:
        limits = [
            (name, value)
            for name, value in msgspec.structs.asdict(caller.desk.settings).items()
            if isinstance(value, (int, float)) and name.startswith(("console_", "metrics_", "aud"))
        ]
        tokens = (await calls.list_tokens(caller)).tokens
        with suppress(MsmqError):
            rights = (await machine.machine_rights(caller)).permissions
    return {
        "crumbs": [("Settings", "")],
        "about": about,
        "watched": watched(caller.desk.settings),
        "limits": limits,
        "tokens": tokens,
        "rights": rights,
        "administers": administrator,
        "online": status.get("online", True),
    }
