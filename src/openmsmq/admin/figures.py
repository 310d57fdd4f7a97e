"""Figures for pages: the newest picture of the queue manager, and the recent history."""

import asyncio
import math
import time
from collections import Counter, deque
from typing import Any, Final, NamedTuple

from openmsmq.wire.errors import MsmqError

from .console import Console
from .history import QUEUE_COLUMNS, TOTAL_COLUMNS
from .queue_info import QueueInfo, Shared

FRESH_SECONDS: Final = 1.0
# Labels and other properties of queues are read again after this time, or with a new queue.
PROPERTIES_SECONDS: Final = 10.0
# Reasons and histories of outgoing queues.
LINKS_SECONDS: Final = 2.0
# The interval of samples of the times to disk, and the number kept.
DISK_STEP: Final = 15.0
DISK_KEPT: Final = 1440
# Range of a plot: the ring of totals and of queues, and the number of its values.
SPANS: Final = {
    "5m": (0, 300, 0, 20),
    "1h": (1, 240, 0, 240),
    "6h": (1, 1440, 1, 72),
    "24h": (2, 720, 1, 288),
}
SPAN_SECONDS: Final = {"5m": 300.0, "1h": 3600.0, "6h": 21_600.0, "24h": 86_400.0}
_RECEIVED: Final = tuple(QUEUE_COLUMNS).index("received_per_second")
# The number of values of a small line.
LINE_STEP: Final = 4
_TOTALS: Final = tuple(TOTAL_COLUMNS)


class QueueRates(NamedTuple):
    """Messages per second of one queue; None where unknown."""

    arriving: float | None
    leaving: float | None


class Figures:
    """Data for pages and plots, from the one sampler of the console.

    When the queue manager does not answer, the last figures stay, with their time.

    Attributes:
        status: as in `openmsmq status`; empty before the first sample.
        queues, outgoing: as the client lists them, with the newest counts; without empty journals,
            of which there is one for each queue.
        generation: changes whenever queues are created or deleted.
        stale_since: the time of the figures, if the queue manager does not answer.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._sampler = console.sampler
        self._lock = asyncio.Lock()
        self.status: dict[str, Any] = {}
        self.queues: list[QueueInfo] = []
        self.outgoing: list[dict[str, Any]] = []
        self.stale_since: float | None = None
        self.dead_letters: dict[str, dict[str, int]] = {}
        self.generation = 0
        self._numbers: dict[str, int] = {}
        # The generation of their picture.
        self._pictured = -1
        self._listed = -PROPERTIES_SECONDS
        self._linked = -LINKS_SECONDS
        self._disk: deque[tuple[float, float, float]] = deque(maxlen=DISK_KEPT)
        self._flushes: list[int] = []
        self._lags: list[int] = []
        # The 99th percentile of the delay of the queue manager's event loop, in the last step.
        self.lag_seconds = 0.0
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start recording the times to disk."""
        self._task = asyncio.create_task(self._note_disk())

    async def stop(self) -> None:
        """Stop recording."""
        if self._task is not None:
            self._task.cancel()

    @property
    def disk_free(self) -> int:
        """Free bytes on the disk of the store; 0 if unknown."""
        return int(self._sampler.picture.head.get("process", {}).get("disk_free_bytes", 0))

    @property
    def doubt_seconds(self) -> float | None:
        """Age of the oldest transaction, if all that are open are in doubt."""
        totals = self._sampler.picture.head.get("transactions", {})
        return totals["oldest_age_seconds"] if totals and not totals["active"] else None

    @property
    def dead_letter_classes(self) -> Counter[str]:
        """Dead letters of both queues by message class."""
        total: Counter[str] = Counter()
        for classes in self.dead_letters.values():
            total.update(classes)
        return total

    async def refresh(self) -> None:
        """Make the figures at most a second old, if the queue manager answers."""
        async with self._lock:
            self._sampler.look()
            picture = await self._sampler.fresh(FRESH_SECONDS)
            if not picture.head:
                self.stale_since = self.stale_since or time.time()
                return
            self.status = picture.head["status"]
            self.dead_letters = picture.dead_letters
            self.stale_since = picture.head["utc"] if self._sampler.fault else None
            if self.stale_since is None:
                try:
                    await self._list()
                except MsmqError:
                    self.stale_since = picture.head["utc"]
            self._overlay()

    async def _list(self) -> None:
        """Read properties that samples do not have: labels, reasons."""
        picture = self._sampler.picture
        now = time.monotonic()
        generation = picture.generation
        if generation != self._pictured or now - self._listed > PROPERTIES_SECONDS:
            numbers = {queue.path.casefold(): number for number, queue in picture.queues.items()}
            await self._list_queues()
            if numbers.keys() != self._numbers.keys():
                self.generation += 1
            self._numbers, self._listed, self._pictured = numbers, now, generation
        if not picture.outgoing:
            self.outgoing = []
        elif now - self._linked > LINKS_SECONDS or len(picture.outgoing) != len(self.outgoing):
            manager = await self._console.manager()
            self.outgoing = await manager.outgoing()
            self._linked = now

    async def _list_queues(self) -> None:
        """Read the properties of all queues; they replace the earlier ones."""
        manager = await self._console.manager()
        known = {info.path: info for info in self.queues}
        shared: Shared = {}
        queues = []
        async for listed in manager.iter_queues(include_system=True):
            if listed["kind"] == "journal" and not listed["messages"]:
                continue
            info = known.get(listed["path"])
            if info is None:
                info = QueueInfo.of(listed, shared)
            else:
                info.update(listed, shared)
            queues.append(info)
        self.queues = queues

    def _overlay(self) -> None:
        """Apply the newest counts to the list."""
        picture = self._sampler.picture
        utc = picture.head["utc"]
        for info in self.queues:
            number = self._numbers.get(info.name.casefold(), -1)
            queue = picture.queues.get(number)
            if queue is None:
                continue
            row = queue.row
            for name in _COUNTS:
                setattr(info, name, picture.columns[name][row])
            oldest = picture.columns["oldest_arrived"][row]
            info.oldest_message_age_seconds = max(0.0, utc - oldest) if oldest else None

    def rates(self, queue: str) -> QueueRates:
        """The rates of a queue by its path name without the computer."""
        number = self._numbers.get(queue.casefold(), -1)
        now = self._sampler.history.queue_now(number, time.time())
        if now is None:
            # A queue that was always empty has no history.
            return QueueRates(0.0, 0.0) if number >= 0 else QueueRates(None, None)
        _, *rates = (None if math.isnan(value) else round(value, 3) for value in now)
        return QueueRates(*rates)

    def line(self, queue: str) -> tuple[float, ...]:
        """The messages of a queue in the last hour, for a small line."""
        number = self._numbers.get(queue.casefold(), -1)
        series = self._sampler.history.queue(number, 0, time.time())
        if series is None:
            return ()
        # Fixed moments, so that the line does not change without changes of the queue.
        first = -(series.start // series.step) % LINE_STEP
        return tuple(_filled(series.columns[0][first::LINE_STEP]))

    def received(self, queue: str) -> int:
        """The approximate number of messages of a queue received in the last hour."""
        series = self._sampler.history.queue(
            self._numbers.get(queue.casefold(), -1), 0, time.time()
        )
        if series is None:
            return 0
        rates = series.columns[_RECEIVED]
        return round(sum(rate for rate in rates if not math.isnan(rate)) * series.step)

    def totals(self, span: str = "1h") -> dict[str, list[float]]:
        """Columns of the totals, with `time`; from the first known moment on."""
        ring, count, _, _ = SPANS[span]
        series = self._sampler.history.totals(ring, time.time())
        times = [float(series.start + at * series.step) for at in range(len(series.columns[0]))]
        first = next((at for at, v in enumerate(series.columns[0]) if not math.isnan(v)), None)
        if first is None:
            return {name: [] for name in ("time", *_TOTALS)}
        first = max(first, len(times) - count)
        columns = [_filled(column[first:]) for column in series.columns]
        return {"time": times[first:], **dict(zip(_TOTALS, columns, strict=True))}

    def waiting(self, queues: list[str], span: str) -> list[list[float]]:
        """Columns of a plot: times, and the messages that waited in each queue."""
        _, _, ring, count = SPANS[span]
        columns: list[list[float]] = []
        times: list[float] = []
        for name in queues:
            number = self._numbers.get(name.casefold(), -1)
            series = self._sampler.history.queue(number, ring, time.time())
            if series is None:
                columns.append([])
                continue
            times = [float(series.start + at * series.step) for at in range(len(series.columns[0]))]
            columns.append(_filled(series.columns[0]))
        columns = [column or [0.0] * len(times) for column in columns]
        return [times[-count:], *(column[-count:] for column in columns)]

    def queue_columns(self, queue: str, span: str) -> list[list[float]]:
        """Columns of a plot of one queue: times, messages, arriving and received per second."""
        number = self._numbers.get(queue.casefold(), -1)
        _, _, ring, count = SPANS[span]
        series = self._sampler.history.queue(number, ring, time.time())
        if series is None:
            return [[], *([] for _ in QUEUE_COLUMNS)]
        times = [float(series.start + at * series.step) for at in range(len(series.columns[0]))]
        return [times[-count:], *(_filled(column)[-count:] for column in series.columns)]

    def disk(self) -> list[list[float]]:
        """Columns of a plot: times, median and 99th percentile of the times to disk in ms."""
        return [list(column) for column in zip(*self._disk, strict=True)] or [[]]

    async def _note_disk(self) -> None:
        while True:
            head = self._sampler.picture.head
            if head:
                histogram = head["process"]["flush_seconds"]
                self._flushes, came = _since(self._flushes, list(histogram["counts"]))
                middle, high = (quantile(histogram["bounds"], came, part) for part in (0.5, 0.99))
                lag = head["process"]["event_loop_lag_seconds"]
                self._lags, late = _since(self._lags, list(lag["counts"]))
                self.lag_seconds = quantile(lag["bounds"], late, 0.99)
                self._disk.append((head["utc"], 1000 * middle, 1000 * high))
            await asyncio.sleep(DISK_STEP)


_COUNTS: Final = (
    "messages",
    "bytes",
    "locked_messages",
    "journal_messages",
    "journal_bytes",
    "readers",
    "waiting_reads",
    "arrived_messages",
    "arrived_bytes",
)


def _since(before: list[int], counts: list[int]) -> tuple[list[int], list[int]]:
    """The counts of a histogram, and their increase since the earlier ones."""
    then = before if len(before) == len(counts) else [0] * len(counts)
    return counts, [max(0, now - old) for now, old in zip(counts, then, strict=True)]


def quantile(bounds: list[float], counts: list[int], part: float) -> float:
    """A quantile of a histogram: the bound below which this part of it is; 0 without values."""
    total = sum(counts)
    below = 0
    for bound, count in zip([*bounds, bounds[-1]], counts, strict=True):
        below += count
        if total and below >= part * total:
            return bound
    return 0.0


def _filled(values: list[float]) -> list[float]:
    """Values with unknown ones replaced by the one before."""
    filled: list[float] = []
    last = 0.0
    for value in values:
        last = last if math.isnan(value) else value
        filled.append(round(last, 3))
    return filled or [0.0]
