"""Activity: readers of queues, figures over time, the stream of events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.history import QUEUE_COLUMNS, TOTAL_COLUMNS
from openmsmq.admin.trust.problems import Problem
from openmsmq.aio import QueueManager
from openmsmq.wire.errors import MsmqError

from .queues import full_name

# The interval of keep-alive data in a stream without events, so that a lost connection is noticed.
QUIET_SECONDS: Final = 15.0
REFUSAL_SECONDS: Final = 0.3
# The header of clients of server-sent events that connect again.
LAST_EVENT: Final = "Last-Event-ID"
Span = Literal["5m", "1h", "6h", "24h"]


class ReaderRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An open handle of a queue, and how many of its reads wait for messages."""

    handle: int
    access: str
    exclusive: bool
    principal: str
    sid: str
    cursors: int
    locked_messages: int
    waiting_reads: int


class ReaderList(msgspec.Struct, frozen=True):
    """All open handles of a queue; `after` continues it."""

    readers: list[ReaderRecord]
    after: str | None = None


class SeriesQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which figures.

    Attributes:
        range: how far back they go.
    """

    range: Span = "1h"


class SeriesColumns(msgspec.Struct, frozen=True):
    """Figures over time: columns of the same length, `time` (seconds since 1970) among them."""

    columns: dict[str, list[float]]


class EventsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The start of the stream.

    Attributes:
        after: the number of an event; -1 for the oldest one known.
    """

    after: int = -1


async def list_readers(caller: Caller, queue: str) -> ReaderList:
    """The open handles of a queue, and how many reads wait on each."""
    caller.need_queue(queue)
    found = await (await caller.manager()).readers(full_name(queue))
    return msgspec.convert({"readers": found}, ReaderList)


async def queue_series(caller: Caller, queue: str, query: SeriesQuery) -> SeriesColumns:
    """Messages and rates of a queue over time, for plots."""
    caller.need_queue(queue)
    # The answer of the queue manager shows whether the caller may see the queue.
    await (await caller.manager()).queue_info(full_name(queue))
    await caller.desk.figures.refresh()
    columns = caller.desk.figures.queue_columns(queue, query.range)
    return SeriesColumns(dict(zip(("time", *QUEUE_COLUMNS), columns, strict=True)))


async def total_series(caller: Caller, query: SeriesQuery) -> SeriesColumns:
    """Totals of the queue manager over time, for plots."""
    await (await caller.manager()).status()
    await caller.desk.figures.refresh()
    totals = caller.desk.figures.totals(query.range)
    return SeriesColumns({name: totals[name] for name in ("time", *TOTAL_COLUMNS)})


async def stream_events(caller: Caller, query: EventsQuery) -> AsyncIterator[bytes]:
    """Events of the queue manager, as server-sent events; the id goes into `after`."""
    if not -1 <= query.after < 1 << 63:
        raise Problem(400, "after must be -1 or the number of an event.", name="BAD_PARAMETER")
    if not caller.desk.streams.take():
        raise Problem(
            429,
            "There are too many streams.",
            remedy="Close some, or raise console_streams.",
            retry_after=10,
        )
    try:
        # A connection of its own: the request for events waits for them.
        manager = await caller.desk.console.connect(act_for=caller.person.principal)
    except BaseException:
        caller.desk.streams.give()
        raise
    first = asyncio.ensure_future(manager.events(query.after))
    # A refusal is immediate and is the answer; events may come later.
    await asyncio.wait({first}, timeout=REFUSAL_SECONDS)
    if first.done() and first.exception() is not None:
        caller.desk.streams.give()
        with suppress(MsmqError):
            await manager.close()
        first.result()
    return _events(caller, manager, first)


async def _events(
    caller: Caller, manager: QueueManager, waiting: "asyncio.Future[dict[str, Any]]"
) -> AsyncIterator[bytes]:
    """Events from the first answer on, while an authorized client listens."""
    try:
        yield b": events\n\n"
        while True:
            done, _ = await asyncio.wait({waiting}, timeout=QUIET_SECONDS)
            if not caller.is_in():
                return
            if not done:
                yield b": quiet\n\n"
                continue
            page = waiting.result()
            if page["left_out"]:
                yield b"event: left-out\ndata: %d\n\n" % page["left_out"]
            for event in page["events"]:
                head = f"id: {event['number']}\nevent: {event['kind']}\ndata: ".encode()
                yield head + msgspec.json.encode(event) + b"\n\n"
            waiting = asyncio.ensure_future(manager.events(page["last"]))
    except MsmqError:
        # The queue manager is gone; the client connects again.
        return
    finally:
        caller.desk.streams.give()
        waiting.cancel()
        with suppress(MsmqError):
            await manager.close()
