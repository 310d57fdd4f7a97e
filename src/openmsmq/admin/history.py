"""The recent history: totals for two days, queues for one, in bounded memory and in a file."""

import os
from collections import OrderedDict
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from .picture import Picture, QueuePicture
from .ring import Ring, Series

# Step in seconds, and number of steps.
TOTAL_RINGS: Final = ((1, 900), (15, 1440), (120, 1440))
QUEUE_RINGS: Final = ((15, 240), (300, 288))
MAX_BYTES: Final = 64 * 1024 * 1024
# The approximate size of a queue besides its values.
OVERHEAD_BYTES: Final = 900
FORMAT: Final = 3

TOTAL_COLUMNS: Final = {
    "messages": False,
    "bytes": False,
    "arrived_per_second": True,
    "received_per_second": True,
    "outgoing_messages": False,
    "dead_letters": False,
    "memory_bytes": False,
    "clients": False,
    "oldest_message_age_seconds": False,
}
"""The columns of totals, and whether each is a rate."""
QUEUE_COLUMNS: Final = {
    "messages": False,
    "arrived_per_second": True,
    "received_per_second": True,
}
"""The columns of a queue."""
_TOTAL_RATES: Final = tuple(TOTAL_COLUMNS.values())
_QUEUE_RATES: Final = tuple(QUEUE_COLUMNS.values())
_COUNTED: Final = ("arrived_messages", "received_messages")


class _SavedQueue(msgspec.Struct, array_like=True):
    number: int
    path: str
    rings: list[tuple[int, bytes]]


class _Saved(msgspec.Struct, array_like=True):
    format: int
    guid: str
    totals: list[tuple[int, bytes]]
    queues: list[_SavedQueue]


class _QueueHistory(NamedTuple):
    path: str
    rings: tuple[Ring, ...]

    @property
    def memory(self) -> int:
        return sum(ring.memory for ring in self.rings) + OVERHEAD_BYTES


def _rings(shapes: tuple[tuple[int, int], ...], rates: tuple[bool, ...]) -> tuple[Ring, ...]:
    return tuple(Ring(step, size, rates) for step, size in shapes)


def _oldest_age(picture: Picture, utc: float) -> float:
    """The age of the oldest message of all queues; 0 without one."""
    arrived = picture.columns.get("oldest_arrived", ())
    queues = (queue for queue in picture.queues.values() if queue.kind == "queue")
    oldest = min((arrived[queue.row] for queue in queues if arrived[queue.row]), default=utc)
    return max(0.0, utc - oldest)


class History:
    """The history of one queue manager.

    Args:
        file: the file that keeps it over a restart; None for no file.
    """

    def __init__(self, file: Path | None, max_bytes: int = MAX_BYTES) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._guid = ""
        self._totals = _rings(TOTAL_RINGS, _TOTAL_RATES)
        # By number; the longest unchanged first.
        self._queues: OrderedDict[int, _QueueHistory] = OrderedDict()
        # The last values of both counters: of totals under -1.
        self._seen: dict[int, tuple[float, float]] = {}
        # The time of the last sample.
        self._sampled = 0.0
        self.memory = sum(ring.memory for ring in self._totals)

    def add(self, picture: Picture, utc: float) -> None:
        """Add a sample."""
        status = picture.head["status"]
        if status["guid"] != self._guid:
            self._forget()
            self._guid = status["guid"]
        if picture.head["complete"]:
            # Counters may have been reset.
            self._seen.clear()
            for number in self._queues.keys() - picture.queues.keys():
                self._drop(number)
        for number in picture.head["removed"]:
            self._drop(number)
        for number in picture.changed:
            self._add_queue(picture, picture.queues[number], utc)
        totals = (sum(picture.columns[name]) if picture.queues else 0 for name in _COUNTED)
        rates = self._rates(-1, utc, *totals)
        values = (
            status["messages"],
            status["bytes"],
            *rates,
            status["outgoing_messages"],
            status["dead_letters"],
            status["memory_bytes"],
            status["clients"],
            _oldest_age(picture, utc),
        )
        for ring in self._totals:
            ring.add(utc, values)
        self._sampled = utc

    def interrupt(self) -> None:
        """The clock was set: the time between its old and its new moment is unknown."""
        for ring in self._totals:
            ring.interrupt()
        for history in self._queues.values():
            for ring in history.rings:
                ring.interrupt()

    def _rates(self, number: int, utc: float, arrived: float, received: float) -> tuple[float, ...]:
        before = self._seen.get(number)
        self._seen[number] = (arrived, received)
        # An unchanged value was the same at the last sample, too.
        seconds = utc - self._sampled
        if before is None or seconds <= 0:
            return 0.0, 0.0
        return (
            max(arrived - before[0], 0.0) / seconds,
            max(received - before[1], 0.0) / seconds,
        )

    def _add_queue(self, picture: Picture, queue: QueuePicture, utc: float) -> None:
        number, columns = queue.number, picture.columns
        messages = columns["messages"][queue.row]
        counted = [columns[name][queue.row] for name in _COUNTED]
        history = self._queues.get(number)
        if history is not None and history.path != queue.path:
            self._drop(number)
            history = None
        rates = self._rates(number, utc, *counted)
        if history is None:
            # A queue that was always empty needs no history.
            if not messages and not any(counted):
                return
            history = _QueueHistory(queue.path, _rings(QUEUE_RINGS, _QUEUE_RATES))
            self._make_room(history.memory)
            self._queues[number] = history
            self.memory += history.memory
        self._queues.move_to_end(number)
        for ring in history.rings:
            ring.add(utc, (messages, *rates))

    def _make_room(self, size: int) -> None:
        while self._queues and self.memory + size > self._max_bytes:
            self._drop(next(iter(self._queues)))

    def _drop(self, number: int) -> None:
        history = self._queues.pop(number, None)
        self._seen.pop(number, None)
        if history is not None:
            self.memory -= history.memory

    def _forget(self) -> None:
        """Another queue manager: drop all data of the first one."""
        if self._guid:
            self._totals = _rings(TOTAL_RINGS, _TOTAL_RATES)
            for number in list(self._queues):
                self._drop(number)
            self._seen.clear()

    # Reading

    def totals(self, ring: int, utc: float) -> Series:
        """The totals in one of the resolutions, `TOTAL_RINGS`; columns as in `TOTAL_COLUMNS`."""
        return self._totals[ring].series(utc)

    def queue(self, number: int, ring: int, utc: float) -> Series | None:
        """A queue in one of the resolutions, `QUEUE_RINGS`; None if unknown."""
        history = self._queues.get(number)
        return None if history is None else history.rings[ring].series(utc)

    def queue_now(self, number: int, utc: float) -> list[float] | None:
        """A queue at this moment, in the finest resolution; None if unknown."""
        history = self._queues.get(number)
        return None if history is None else history.rings[0].newest(utc)

    # Persistence

    def load(self) -> None:
        """Read the file; one that is missing or of another form counts as empty."""
        if self._file is None:
            return
        try:
            saved = msgspec.msgpack.decode(self._file.read_bytes(), type=_Saved)
        except (OSError, msgspec.MsgspecError):
            return
        if saved.format != FORMAT or len(saved.totals) != len(self._totals):
            return
        self._guid = saved.guid
        for ring, kept in zip(self._totals, saved.totals, strict=True):
            ring.restore(*kept)
        for queue in saved.queues:
            history = _QueueHistory(queue.path, _rings(QUEUE_RINGS, _QUEUE_RATES))
            if self.memory + history.memory > self._max_bytes:
                return
            if len(queue.rings) == len(history.rings) and all(
                ring.restore(*kept) for ring, kept in zip(history.rings, queue.rings, strict=True)
            ):
                self._queues[queue.number] = history
                self.memory += history.memory

    def save(self) -> None:
        """Write the file atomically. A full disk loses the history only."""
        if self._file is None or not self._guid:
            return
        queues = [
            _SavedQueue(number, history.path, [ring.dump() for ring in history.rings])
            for number, history in self._queues.items()
        ]
        totals = [ring.dump() for ring in self._totals]
        encoded = msgspec.msgpack.encode(_Saved(FORMAT, self._guid, totals, queues))
        temporary = self._file.with_name(self._file.name + ".new")
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_bytes(encoded)
            os.replace(temporary, self._file)  # noqa: PTH105 - the same call
        except OSError:
            return
