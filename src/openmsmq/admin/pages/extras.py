"""Further requests of pages: columns of plots, the palette, downloads."""

import asyncio
import csv
import io
import re
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from openmsmq.admin.api import messages as message_calls
from openmsmq.admin.api.queues import full_name
from openmsmq.admin.figures import SPAN_SECONDS, SPANS
from openmsmq.admin.front_desk import Caller, FrontDesk
from openmsmq.admin.trust.person import Role
from openmsmq.admin.trust.problems import Problem
from openmsmq.admin.web import WebRoute, segment
from openmsmq.care.packet_files import SavedMessage, json_of, save_messages
from openmsmq.client import ReceivedMessage

from .rows import link_row
from .site import Site
from .text import count, short_name

PALETTE_QUEUES: Final = 8
MESSAGE_ID: Final = re.compile(r"\{?[0-9A-Fa-f-]{36}\}?\\\d+")
PLACES: Final = (
    ("Overview", "/", "layout-dashboard"),
    ("Queues", "/queues", "inbox"),
    ("Dead letters", "/dead-letters", "mail-x"),
    ("Outgoing", "/outgoing", "send"),
    ("Journals", "/journals", "notebook-text"),
    ("Transactions", "/transactions", "arrow-left-right"),
    ("Sessions", "/sessions", "plug"),
    ("Jobs", "/jobs", "list-checks"),
    ("Definitions", "/definitions", "file-cog"),
    ("Audit log", "/audit", "scroll-text"),
    ("Settings", "/settings", "settings"),
)
# Programs that open CSV files treat cells with these beginnings as formulas.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
CSV_COLUMNS: Final = (
    "lookup_id",
    "id",
    "label",
    "body_size",
    "priority",
    "class_name",
    "delivery",
    "sent_time",
    "arrived_time",
    "sender_id",
    "destination_queue",
    "correlation_id",
    "abort_count",
)


class Extras:
    """Routes beside the pages."""

    def __init__(self, desk: FrontDesk, site: Site) -> None:
        self._desk = desk
        self._site = site

    def routes(self) -> list[WebRoute]:
        """Plots, palette and downloads."""
        message = "/queues/{queue}/messages/{lookup_id}"
        return [
            WebRoute("GET", "/figures/{name}", self.columns),
            WebRoute("GET", "/palette", self.palette),
            WebRoute("GET", message + "/body.bin", self.body),
            WebRoute("GET", message + "/packet.bin", self.packet),
            WebRoute("GET", "/queues/{queue}/export.jsonl", self.json_lines),
            WebRoute("GET", "/queues/{queue}/export.csv", self.csv),
            WebRoute("GET", "/queues/{queue}/export.omq", self.packets),
        ]

    async def columns(self, request: Request, names: dict[str, str]) -> Response:
        """Columns of numbers for a plot: times first."""
        caller = self._site.caller(request)
        for name in await caller.unseen(request.query_params.getlist("queue")):
            raise Problem(404, f"There is no queue {name}.")
        figures = self._desk.figures
        span = request.query_params.get("range", "1h")
        span = span if span in SPANS else "1h"
        if names["name"] == "rates":
            totals = figures.totals(span)
            rates = ("time", "arrived_per_second", "received_per_second")
            columns = [totals[name] for name in rates]
        elif names["name"] == "waiting":
            queues = request.query_params.getlist("queue")[:5]
            for queue in queues:
                caller.need_queue(queue)
            columns = figures.waiting(queues, span)
        elif names["name"] == "queue":
            queue = request.query_params.get("queue", "")
            caller.need_queue(queue)
            times, _, arriving, leaving = figures.queue_columns(queue, span)
            columns = [times, arriving, leaving]
        elif names["name"] == "outgoing":
            totals = figures.totals(span)
            columns = [totals[name] for name in ("time", "outgoing_messages")]
        elif names["name"] == "disk":
            columns = figures.disk()
        else:
            raise Problem(404, "There are no such figures.")
        now = time.time()
        # Every plot of a page has the same range, regardless of the known data.
        return JSONResponse({"columns": columns, "range": [now - SPAN_SECONDS[span], now]})

    async def palette(self, request: Request, names: dict[str, str]) -> Response:
        """The entries of the palette for a text: queues, pages, a search, a trace."""
        del names
        caller = self._site.caller(request)
        text = request.query_params.get("text", "").strip()
        needle = text.casefold()
        queues = [
            _entry("inbox", short_name(name), f"/queues/{segment(name)}", count(info.messages))
            for info in await caller.seen()
            for name in (info.name,)
            if info.kind == "queue" and needle in name.casefold()
        ]
        queues.sort(
            key=lambda entry: (not entry["title"].casefold().startswith(needle), entry["title"])
        )
        places = [
            _entry(symbol, title, href, "")
            for title, href, symbol in PLACES
            if needle in title.casefold()
        ]
        actions = []
        if text:
            actions.append(
                _entry(
                    "route",
                    f'Find "{text}" in messages of all queues',
                    f"/find?text={segment(text)}",
                )
            )
        if needle:
            actions += self._acts(caller, needle)
        if MESSAGE_ID.fullmatch(text):
            actions.insert(0, _entry("route", f"Trace {text}", f"/find?id={segment(text)}"))
        groups = [
            {"title": title, "entries": entries}
            for title, entries in (
                ("Queues", queues[:PALETTE_QUEUES]),
                ("Do", actions),
                ("Go to", places),
            )
            if entries
        ]
        return JSONResponse({"groups": groups})

    def _acts(self, caller: Caller, needle: str) -> list[dict[str, str]]:
        """The actions of the palette that contain the text."""
        entries = []
        person = caller.person
        if person.role >= Role.OPERATOR and not person.queues:
            for row in map(link_row, self._desk.figures.outgoing):
                word = "Resume" if row.paused else "Pause"
                title = f"{word} the outgoing link to {row.name}"
                entries.append(_entry("play" if row.paused else "pause", title, row.href))
        if person.role >= Role.ADMINISTRATOR:
            entries.append(_entry("plus", "New queue", "/queues?new=1"))
        return [entry for entry in entries if needle in entry["title"].casefold()][:PALETTE_QUEUES]

    async def body(self, request: Request, names: dict[str, str]) -> Response:
        """The bytes of a body."""
        caller = self._site.caller(request)
        data = await message_calls.message_body(caller, names["queue"], names["lookup_id"])
        return download(data, f"body-{names['lookup_id']}.bin")

    async def packet(self, request: Request, names: dict[str, str]) -> Response:
        """The bytes of a packet."""
        caller = self._site.caller(request)
        data = await message_calls.message_packet(caller, names["queue"], names["lookup_id"])
        return download(data, f"message-{names['lookup_id']}.bin")

    async def json_lines(self, request: Request, names: dict[str, str]) -> Response:
        """Messages of a queue, one JSON object per line."""
        queue = names["queue"]
        messages = await self._messages(request, queue)
        bodies = self._site.caller(request).person.sees_bodies

        async def lines() -> AsyncIterator[bytes]:
            for message in messages:
                values = message.to_dict()
                if bodies:
                    # With its packet, a line is exact and can be loaded again.
                    values = json_of(SavedMessage.of(full_name(queue), message))
                else:
                    values["body"] = values["body_base64"] = None
                yield msgspec.json.encode(values) + b"\n"

        return StreamingResponse(
            lines(), media_type="application/octet-stream", headers=_attachment("messages.jsonl")
        )

    async def csv(self, request: Request, names: dict[str, str]) -> Response:
        """Messages of a queue for a spreadsheet, without bodies."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(CSV_COLUMNS)
        for message in await self._messages(request, names["queue"]):
            values = message.to_dict()
            writer.writerow([csv_cell(values[name]) for name in CSV_COLUMNS])
        return download(text.getvalue().encode("utf-8", "backslashreplace"), "messages.csv")

    async def packets(self, request: Request, names: dict[str, str]) -> Response:
        """Messages of a queue with their packets and records, exact, to be sent again."""
        caller = self._site.caller(request)
        caller.need_bodies()
        queue = names["queue"]
        messages = await self._messages(request, queue)
        saved = (SavedMessage.of(full_name(queue), each) for each in messages)

        def write() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "messages.omq"
                save_messages(file, saved)
                return file.read_bytes()

        return download(await asyncio.to_thread(write), "messages.omq")

    async def _messages(self, request: Request, queue: str) -> list[ReceivedMessage]:
        """The messages named in the address, or all up to the limit."""
        caller = self._site.caller(request)
        ids = request.query_params.getlist("lookup_id")
        if ids:
            return [await message_calls.look_up(caller, queue, each) for each in ids]
        most = self._desk.console.settings.console_export_messages
        found: list[ReceivedMessage] = []
        more, after = True, 0
        while more and len(found) < most:
            count = min(message_calls.LARGEST_PAGE, most - len(found))
            page, more = await message_calls.browse(caller, queue, after=after, count=count)
            found += page
            after = page[-1].lookup_id if page else after
        if self._desk.settings.audit_reads:
            self._desk.audit.begin(
                caller.person, "export_messages", target=queue, count=len(found), result="done"
            )
        return found


def csv_cell(value: Any) -> str:
    """A cell that no spreadsheet treats as a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def download(data: bytes, name: str) -> Response:
    """Bytes that a browser saves and never shows."""
    return Response(data, media_type="application/octet-stream", headers=_attachment(name))


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _entry(symbol: str, title: str, href: str, note: str = "") -> dict[str, str]:
    return {"icon": symbol, "title": title, "href": href, "note": note}
