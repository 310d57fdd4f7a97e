"""The overview: what needs attention, figures, busiest queues, links."""

import time
from typing import Any, Final

from starlette.datastructures import QueryParams

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.queue_info import QueueInfo
from openmsmq.terminal.quantities import count_text, duration_text, size_text

from .attention import RULES, View, attention
from .queue_pages import COLUMNS
from .rows import LinkRow, QueueRow, by_next_hop, draw_lines, link_row, queue_row
from .text import age, compact, rate, short_name

RANGES: Final = (("5m", "5 min"), ("1h", "1 h"), ("6h", "6 h"), ("24h", "24 h"))
BUSIEST: Final = 8
PLOTTED: Final = 3


async def overview_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The first page."""
    del names
    figures = caller.desk.figures
    settings = caller.desk.settings
    infos = await caller.seen()
    unread = settings.console_unread_seconds
    rows = [queue_row(info, figures, unread) for info in infos if info.kind == "queue"]
    rows.sort(key=lambda row: (-(row.arriving or 0.0), -row.messages, row.name))
    # Includes those that may have grown.
    grown = [row for row in rows[BUSIEST:] if row.messages >= settings.console_growth_messages]
    draw_lines([*rows[:BUSIEST], *grown], figures)
    # Links concern the whole queue manager, and some tokens only some queues.
    outgoing = [] if caller.person.queues else [link_row(info) for info in figures.outgoing]
    links = by_next_hop(outgoing)
    span = query.get("range", "1h")
    return {
        "crumbs": [("Overview", "")],
        "headline": _headline(figures.status, len(rows), figures.disk_free),
        "range": span if span in dict(RANGES) else "1h",
        "ranges": RANGES,
        "attention": attention(_view(caller, infos, rows, outgoing)),
        "watched": len(RULES),
        "figures": _figures(caller, rows, links),
        "busiest": rows[:BUSIEST],
        "columns": tuple(key for key, _, _ in COLUMNS),
        "waiting": [row.name for row in _deepest(rows)],
        "links": links[:BUSIEST],
        "links_total": len(links),
    }


def _deepest(rows: list[QueueRow]) -> list[QueueRow]:
    """The queues with the most messages, for the plot."""
    waiting = [row for row in rows if row.messages] or rows
    return sorted(waiting, key=lambda row: -row.messages)[:PLOTTED]


def _view(
    caller: Caller, infos: list[QueueInfo], rows: list[QueueRow], links: list[LinkRow]
) -> View:
    """The input of the rules; a token for some queues gets only these."""
    desk = caller.desk
    figures, around = desk.figures, desk.console.surroundings
    if caller.person.queues:
        return View({}, infos, rows, links, desk.settings, utc=time.time())
    return View(
        figures.status,
        infos,
        rows,
        links,
        desk.settings,
        around.certificates,
        around.clocks,
        figures.lag_seconds,
        time.time(),
        figures.disk_free,
        figures.dead_letter_classes,
        figures.doubt_seconds,
        desk.console.started,
    )


def _headline(status: dict[str, Any], queues: int, free: int) -> list[str]:
    if not status:
        return ["Nothing is known of the queue manager yet"]
    return [
        f"Up {duration_text(status['uptime_seconds'])}",
        count_text(queues, "queue"),
        f"{size_text(status['disk_bytes'])} on disk, {size_text(status['memory_bytes'])} in memory",
        *([f"{size_text(free)} of the disk are free"] if free else []),
    ]


def _figures(caller: Caller, rows: list[QueueRow], links: list[LinkRow]) -> list[dict[str, Any]]:
    figures, patience = caller.desk.figures, caller.desk.settings.console_unread_seconds
    status, totals = figures.status, figures.totals("1h")
    unread = [row for row in rows if row.unread]
    oldest = max((row for row in rows if row.oldest), key=lambda r: r.oldest or 0.0, default=None)
    amount, _, unit = (age(oldest.oldest) if oldest else "0 s").partition(" ")
    down = sum(link.tone == "bad" for link in links)
    arrivals, receives = totals["arrived_per_second"], totals["received_per_second"]

    def figure(
        title: str, value: str, note: str, series: list[float], unit: str = "", tone: str = ""
    ) -> dict[str, Any]:
        return {
            "title": title,
            "value": value,
            "unit": unit,
            "note": note,
            "series": series[:: max(1, len(series) // 60)],
            "tone": tone,
        }

    messages = status.get("messages", 0)
    dead = status.get("dead_letters", 0)
    waiting = status.get("outgoing_messages", 0)
    return [
        figure(
            "Messages in queues",
            compact(messages),
            # Totals cover the whole queue manager, regardless of the queues that the caller sees.
            f"in {count_text(status.get('queues', len(rows)), 'queue')}",
            totals["messages"],
        ),
        figure(
            "Arriving", rate(arrivals[-1] if arrivals else 0.0), "in all queues", arrivals, "/s"
        ),
        figure(
            "Received",
            rate(receives[-1] if receives else 0.0),
            f"{count_text(len(unread), 'queue')} unread for {duration_text(patience)}",
            receives,
            "/s",
        ),
        figure(
            "Oldest that should be read",
            amount,
            short_name(oldest.name) if oldest else "nothing waits",
            # The line covers all queues, including those that the caller does not see.
            [] if caller.person.queues else totals["oldest_message_age_seconds"],
            unit,
            "bad" if unread else "",
        ),
        figure(
            "Dead letters",
            compact(dead),
            "not delivered or not received",
            totals["dead_letters"],
            tone="bad" if dead else "",
        ),
        figure(
            "Waiting to leave",
            compact(waiting),
            "for other machines"
            if caller.person.queues
            else count_text(len(links), "link") + (f", {down} down" if down else ""),
            totals["outgoing_messages"],
            tone="bad" if down else "",
        ),
    ]
