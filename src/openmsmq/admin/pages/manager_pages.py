"""Journals, transactions, sessions, definitions, the audit log and settings as pages."""

from typing import Any, Final

from starlette.datastructures import QueryParams

from openmsmq.admin.api import manager as calls
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.person import Role
from openmsmq.admin.trust.problems import problem_of
from openmsmq.admin.web import segment
from openmsmq.terminal.quantities import count_text, duration_text, size_text
from openmsmq.version import __version__
from openmsmq.wire.errors import MsmqError

from .attention import watched
from .text import short_name

NUMERIC: Final = ("Messages", "Size", "Sent", "Received", "Queues", "Waiting reads", "Unread")
MONO: Final = ("Journal", "Peer", "SID")


def _cell(name: str, value: object, href: str = "") -> tuple[str, object, str]:
    return name, value, href


def _table(
    title: str, rows: list[list[tuple[str, object, str]]], icon: str, none: str, words: str
) -> dict[str, Any]:
    return {
        "title": title,
        "columns": [name for name, _, _ in rows[0]] if rows else [],
        "rows": rows,
        "numeric": NUMERIC,
        "mono": MONO,
        "icon": icon,
        "none": none,
        "none_words": words,
    }


async def journals_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Journals: their sizes."""
    del query, names
    rows = []
    for info in sorted(caller.desk.figures.queues, key=lambda each: -int(each["messages"])):
        name = info["path"].partition("\\")[2]
        if info["kind"] not in ("journal", "machine_journal") or not caller.person.may_use(name):
            continue
        if info["kind"] == "journal" and not info["messages"]:
            continue
        title = "of this machine" if info["kind"] == "machine_journal" else short_name(name)
        rows.append(
            [
                _cell("Journal", title.removesuffix(";JOURNAL"), f"/queues/{segment(name)}"),
                _cell("Messages", count_text(info["messages"])),
                _cell("Size", size_text(info["bytes"])),
                _cell("Oldest", duration_text(info["oldest_message_age_seconds"])),
            ]
        )
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


async def sessions_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Sessions with other queue managers, and clients."""
    del query, names
    sessions = (await calls.list_sessions(caller)).entries
    clients = (await calls.list_clients(caller)).entries
    peers = [[_cell(_title(key), _plain(value)) for key, value in row.items()] for row in sessions]
    programs = [
        [
            _cell("Client", row["id"]),
            _cell("Protocol", row["protocol"]),
            _cell("Principal", row["principal"]),
            _cell("Address", row["address"] or "this machine"),
            _cell("Queues", row["queues"]),
            _cell("Waiting reads", row["waiting_reads"]),
            _cell("Transactions", len(row["transactions"])),
        ]
        for row in clients
    ]
    return {
        "crumbs": [("Sessions", "")],
        "title": "Sessions",
        "words": "Other queue managers and programs that are connected",
        "tables": [
            _table(
                "Other queue managers", peers, "plug", "No sessions", "They open with messages."
            ),
            _table("Programs", programs, "users", "No programs", "Programs connect to send."),
        ],
    }


def _title(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return duration_text(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(str(each) for each in value)
    return str(value)


async def transactions_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Open, prepared and doubtful transactions."""
    del query, names
    entries = (await calls.list_transactions(caller)).entries
    rows = [
        {
            "id": str(entry.get("identifier", entry.get("id", ""))),
            "state": str(entry.get("state", "")),
            "age": entry.get("age_seconds"),
            "messages": entry.get("messages", ""),
            "holder": entry.get("holder", entry.get("principal", "")) or "",
            "doubt": "doubt" in str(entry.get("state", "")).lower(),
        }
        for entry in entries
    ]
    return {"crumbs": [("Transactions", "")], "rows": rows}


async def definitions_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """Definitions as they are, and what a file would change."""
    del query, names
    values: dict[str, Any] = {"crumbs": [("Definitions", "")], "problem": None, "toml": ""}
    try:
        values["toml"] = (await calls.export_definitions(caller)).decode()
    except MsmqError as exc:
        values["problem"] = problem_of(exc)
    return values


async def audit_page(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """The audit log."""
    del names
    words = query.get("filter", "")
    found = await calls.list_audit(caller, calls.AuditQuery(filter=words))
    return {"crumbs": [("Audit log", "")], "filter": words, "entries": found.entries}


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
    administrator = caller.person.role >= Role.ADMINISTRATOR
    limits: list[tuple[str, Any]] = []
    tokens: list[Any] = []
    if administrator and not caller.person.queues:
        limits = [
            (name, value)
            for name, value in (await calls.show_settings(caller)).items()
            if isinstance(value, int) and name.startswith(("console_", "metrics_"))
        ]
        tokens = (await calls.list_tokens(caller)).tokens
    return {
        "crumbs": [("Settings", "")],
        "about": about,
        "watched": watched(caller.desk.settings),
        "limits": limits,
        "tokens": tokens,
    }
