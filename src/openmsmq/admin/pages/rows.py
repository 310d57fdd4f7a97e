"""Rows of queues and links as pages show them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from openmsmq.admin.api.queues import QueueRecord
from openmsmq.admin.figures import Figures
from openmsmq.admin.web import segment

from .text import age


class QueueRow(msgspec.Struct):
    """A queue in a list."""

    name: str
    label: str
    messages: int
    bytes: int
    arriving: float | None
    leaving: float | None
    oldest: float | None
    readers: int
    series: Sequence[float]
    unread: bool
    transactional: bool
    journal: bool
    authenticate: bool
    multicast: str | None


def queue_row(record: QueueRecord, figures: Figures, unread_seconds: float) -> QueueRow:
    """The row of a queue; without a reader for `unread_seconds` it is marked."""
    known = figures.of(record.name)
    oldest = record.oldest_message_age_seconds
    return QueueRow(
        record.name,
        record.label,
        record.messages,
        record.bytes,
        known.arriving,
        known.leaving,
        oldest,
        record.readers,
        known.series,
        is_unread(record, unread_seconds),
        record.transactional,
        record.journal,
        record.authenticate,
        record.multicast,
    )


def is_unread(record: QueueRecord, seconds: float) -> bool:
    """Whether messages wait longer than this and nobody has the queue open."""
    oldest = record.oldest_message_age_seconds
    return (
        record.kind == "queue"
        and record.messages > 0
        and record.readers == 0
        and oldest is not None
        and oldest > seconds
    )


class LinkRow(msgspec.Struct):
    """An outgoing queue in a list."""

    name: str
    destination: str
    href: str
    messages: int
    bytes: int
    unacknowledged: int
    awaiting_final_ack: int
    oldest: float | None
    tone: str
    words: str
    reason: str
    transport: str
    paused: bool
    history: list[dict[str, Any]]


def link_row(info: dict[str, Any]) -> LinkRow:
    """The row of an outgoing queue."""
    tone, words = link_words(info)
    hops = info.get("next_hops") or []
    return LinkRow(
        info.get("next_hop") or (hops[0] if hops else info["destination"]),
        info["destination"],
        f"/outgoing/{segment(info['destination'])}",
        info["messages"],
        info["bytes"],
        info["unacknowledged"],
        info["awaiting_final_ack"],
        info["oldest_message_age_seconds"],
        tone,
        words,
        info["reason"] or info["last_error"] or "",
        info["transport"],
        info["state"] == "ONHOLD",
        list(reversed(info["history"])),
    )


def link_words(info: dict[str, Any]) -> tuple[str, str]:
    """How an outgoing queue is, as a tone and a few words."""
    state = str(info["state"])
    if state == "ONHOLD":
        return "warn", "paused"
    if info["last_error"] and state != "CONNECTED" and info["messages"]:
        wait = info["retry_in_seconds"]
        return "bad", "down" if wait is None else f"retry in {age(wait)}"
    if state == "CONNECTED":
        return "ok", "connected"
    if not info["messages"]:
        return "faint", "idle"
    return "faint", state.lower().replace("_", " ")
