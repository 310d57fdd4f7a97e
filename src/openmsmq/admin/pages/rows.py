"""Rows of queues and links for pages."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from openmsmq.admin.figures import Figures
from openmsmq.admin.queue_info import QueueInfo
from openmsmq.admin.web import segment

from .text import age, host_at, rate


class QueueRow(msgspec.Struct):
    """A queue in a list.

    Attributes:
        line: its messages in the last hour, for visible rows (`draw_lines`).
    """

    name: str
    label: str
    messages: int
    bytes: int
    arriving: float | None
    leaving: float | None
    oldest: float | None
    readers: int
    unread: bool
    transactional: bool
    journal: bool
    authenticate: bool
    multicast: str | None
    line: tuple[float, ...] = ()

    @property
    def cells(self) -> "QueueCells":
        return QueueCells(
            self.name,
            self.label,
            self.messages,
            rate(self.arriving),
            rate(self.leaving),
            self.line,
            age(self.oldest),
            self.readers,
            self.bytes,
            self.unread,
            self.transactional,
            self.journal,
            self.authenticate,
            self.multicast,
        )


class QueueCells(NamedTuple):
    """The visible contents of a row: equal ones look the same."""

    name: str
    label: str
    messages: int
    arriving: str
    leaving: str
    line: tuple[float, ...]
    oldest: str
    readers: int
    bytes: int
    unread: bool
    transactional: bool
    journal: bool
    authenticate: bool
    multicast: str | None


def queue_row(info: QueueInfo, figures: Figures, unread_seconds: float) -> QueueRow:
    """The row of a queue; without a reader for `unread_seconds` it is marked."""
    name = info.name
    arriving, leaving = figures.rates(name)
    return QueueRow(
        name,
        info.label,
        info.messages,
        info.bytes,
        arriving,
        leaving,
        info.oldest_message_age_seconds,
        info.readers,
        is_unread(info, unread_seconds),
        info.transactional,
        info.journal,
        info.authenticate,
        info.multicast,
    )


def draw_lines(rows: Sequence[QueueRow], figures: Figures) -> None:
    """Add the small lines of visible rows."""
    for row in rows:
        row.line = figures.line(row.name)


def is_unread(info: QueueInfo, seconds: float) -> bool:
    """Whether messages wait longer than this and the queue is not open."""
    oldest = info.oldest_message_age_seconds
    return (
        info.kind == "queue"
        and info.messages > 0
        and info.readers == 0
        and oldest is not None
        and oldest > seconds
    )


class LinkRow(msgspec.Struct):
    """An outgoing queue in a list, or all those with the same next hop.

    Attributes:
        name: the next hop.
        queues: its outgoing queues.
    """

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
    queues: int = 1


# The state of a link is the worst of its queues.
_WORST_FIRST: Final = ("bad", "warn", "ok", "faint")


def next_hop(info: dict[str, Any]) -> str:
    """The first next hop of an outgoing queue."""
    hops = info.get("next_hops") or []
    return str(info.get("next_hop") or (hops[0] if hops else host_at(info["destination"])))


def by_next_hop(rows: Iterable[LinkRow]) -> list[LinkRow]:
    """One row for each next hop, those with the most messages first."""
    links: dict[str, list[LinkRow]] = {}
    for row in rows:
        links.setdefault(row.name, []).append(row)
    merged = [_merged(queues) if len(queues) > 1 else queues[0] for queues in links.values()]
    merged.sort(key=lambda link: (-link.messages, link.name))
    return merged


def _merged(queues: list[LinkRow]) -> LinkRow:
    worst = min(queues, key=lambda row: (_WORST_FIRST.index(row.tone), -row.messages))
    ages = [row.oldest for row in queues if row.oldest is not None]
    return msgspec.structs.replace(
        worst,
        href=f"/outgoing?next_hop={segment(worst.name)}",
        messages=sum(row.messages for row in queues),
        bytes=sum(row.bytes for row in queues),
        unacknowledged=sum(row.unacknowledged for row in queues),
        awaiting_final_ack=sum(row.awaiting_final_ack for row in queues),
        oldest=max(ages, default=None),
        queues=len(queues),
    )


def link_row(info: dict[str, Any]) -> LinkRow:
    """The row of an outgoing queue."""
    tone, words = link_words(info)
    return LinkRow(
        next_hop(info),
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


def is_down(info: dict[str, Any]) -> bool:
    """Whether messages wait for a connection that failed."""
    state = str(info["state"])
    return bool(info["last_error"] and info["messages"]) and state not in ("ONHOLD", "CONNECTED")


def link_words(info: dict[str, Any]) -> tuple[str, str]:
    """The state of an outgoing queue, as a tone and a few words."""
    state = str(info["state"])
    if state == "ONHOLD":
        return "warn", "paused"
    if is_down(info):
        wait = info["retry_in_seconds"]
        return "bad", "down" if wait is None else f"retry in {age(wait)}"
    if state == "CONNECTED":
        return "ok", "connected"
    if not info["messages"]:
        return "faint", "idle"
    return "faint", state.lower().replace("_", " ")
