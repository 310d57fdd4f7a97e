"""The driver of a stream: plan ranges, split them, and remove committed messages.

Spark calls `latest` with a start only when everything up to it is in its commit log, so that is
where messages are removed; `commit` comes a batch later and is a second chance.
"""

import logging
import time
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any, Final

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.ranges import RangeInfo
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.records import ReadOptions
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError

from .admission import admit
from .driver_queues import DriverQueue, Horizon, open_driver_queue
from .offsets import QueueOffset, first_after, offset_json, parse_offset
from .partitions import PlannedRange, RangePartition, count_and_digest, cut, wanted_parts
from .places import Places
from .queue_selection import SourceQueue, is_selected, not_found, select_queues
from .range_reader import report_loss

_GONE: Final = (Hresult.MQ_ERROR_QUEUE_NOT_FOUND, Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE)
_LOG: Final = logging.getLogger(__name__)


class StreamDriver:
    """The queues of one stream and how far it may go; survives the loss of the queue manager."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        # Later runs have larger ones.
        self._token = time.time_ns()
        self._manager: QueueManager | None = None
        self._queues: dict[str, DriverQueue] = {}
        self._horizons: dict[str, Horizon] | None = None
        self._initial: dict[str, Any] | None = None
        self._turn = 0
        self._last_trigger = float("-inf")
        self._lag: dict[str, dict[str, int]] = {}
        # Queues that the checkpoint has and the query does not name any more.
        self._left: set[str] = set()
        self.latest_known: dict[str, Any] | None = None

    def reconnect(self) -> None:
        """Forget a connection that was lost."""
        self._manager = None
        self._queues.clear()

    def close(self) -> None:
        """Give everything back."""
        manager, self._manager = self._manager, None
        self._queues.clear()
        if manager is not None:
            try:
                manager.close()
            except ConnectionLost:
                _LOG.info("the queue manager was gone before the query ended")

    # Offsets

    def initial(self) -> dict[str, Any]:
        """Where the query begins; Spark asks more than once."""
        if self._initial is None:
            self._initial = self._begin()
        return self._initial

    def _begin(self) -> dict[str, Any]:
        options = self._options
        manager = self._connected()
        places = Places(
            manager, "startingOffsets", options.starting_offsets, options.starting_timestamp
        )
        queues = select_queues(manager, options)
        places.check(queues)
        entries: dict[str, QueueOffset] = {}
        for queue in queues:
            try:
                opened = self._open(queue)
            except QueueError as exc:
                raise not_found(manager, queue, exc) from exc
            info = opened.info()
            place = places.of(queue, opened.ranges, info)
            entries[queue.key] = QueueOffset(info.incarnation, place, place)
        return offset_json(entries)

    def freeze(self) -> None:
        """From now on read only what is there now (Trigger.AvailableNow)."""
        queues = self._queues_now()
        self._horizons = {key: queue.horizon() for key, queue in queues.items()}

    def latest(
        self, start: dict[str, Any], max_rows: int | None, max_bytes: int | None
    ) -> dict[str, Any]:
        """The end of the next batch; `start` itself when there is nothing to read."""
        begin = parse_offset(start)
        queues = self._queues_now()
        missing = self._gone(begin, queues)
        current = dict(begin)
        for key, queue in queues.items():
            self._check_name(queue, begin, queues)
            entry = self._current(queue, begin.get(key))
            if entry is not None:
                current[key] = entry
        readable = [key for key in queues if key in current]
        if readable:
            self._turn = (self._turn + 1) % len(readable)
        admitted = admit(
            {key: current[key] for key in readable},
            self._plan,
            readable[self._turn :] + readable[: self._turn],
            max_rows,
            max_bytes,
        )
        count = sum(admission.count for admission in admitted.values())
        if not self._is_due(count):
            return start
        ends = {
            **begin,
            **{key: replace(begin[key], gone=True) for key in missing},
            **{
                key: admission.entry(current[key])
                for key, admission in admitted.items()
                if admission.count or key in begin
            },
        }
        if ends == begin:
            return start
        self._last_trigger = time.monotonic()
        if self._options.pin:
            for key, admission in admitted.items():
                if admission.count:
                    queues[key].pin(ends[key])
        return offset_json(ends)

    def _plan(self, key: str, after: int, rows: int | None, size: int | None) -> Any:
        horizon = None if self._horizons is None else self._horizons.get(key, Horizon(0))
        return self._queues[key].plan(after, rows, size, horizon)

    def _current(self, queue: DriverQueue, entry: QueueOffset | None) -> QueueOffset | None:
        """Where a queue stands, once what Spark has is received for good."""
        info = queue.info()
        self._tell_lag(queue, info)
        fresh = QueueOffset(info.incarnation, 0, 0)
        if entry is None:
            # A stream of what is there now leaves queues alone that came later.
            is_late = self._horizons is not None and queue.queue.key not in self._horizons
            return None if is_late else fresh
        if entry.inc != info.incarnation:
            if not entry.gone:
                report_loss(
                    self._options,
                    f"{queue.queue.name} was deleted and created again; what it held is gone",
                )
            return fresh
        queue.acknowledge(entry)
        return replace(entry, gone=False)

    def _is_due(self, count: int) -> bool:
        """Whether a batch is large enough, or has waited long enough."""
        least = self._options.min_messages_per_trigger
        if least is None or count >= least or self._horizons is not None:
            return True
        return time.monotonic() - self._last_trigger >= self._options.max_trigger_delay

    def commit(self, end: Mapping[str, Any]) -> None:
        """Spark has everything up to `end`."""
        entries = parse_offset(end)
        for key, queue in self._queues_now().items():
            entry = entries.get(key)
            if entry is not None and entry.inc == queue.info().incarnation:
                queue.acknowledge(entry)

    # Partitions

    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[RangePartition]:
        """Shares of a batch, once it is compared with what was planned."""
        begin, finish = parse_offset(start), parse_offset(end)
        planned = {
            key: first_after(begin.get(key), entry)
            for key, entry in finish.items()
            if first_after(begin.get(key), entry) < entry.seq
        }
        queues = self._queues_now()
        total = sum(finish[key].n for key in planned)
        partitions: list[RangePartition] = []
        for key, after in planned.items():
            if key in queues:
                partitions += self._shares(queues[key], after, finish[key], total)
            else:
                report_loss(self._options, self._absence(key))
        return partitions

    def _shares(
        self, queue: DriverQueue, after: int, entry: QueueOffset, total: int
    ) -> list[RangePartition]:
        options = self._options
        if queue.info().incarnation != entry.inc:
            report_loss(options, f"{queue.queue.name} was deleted and created again")
            return []
        planned = PlannedRange(
            queue.queue,
            queue.peeked_as,
            queue.peeked_incarnation(entry),
            after,
            entry.seq,
            entry.n,
        )
        parts = wanted_parts(options, entry.n, total)
        shares = cut(queue.ranges, planned, parts, options.max_messages_per_partition)
        count, digest = count_and_digest(shares)
        if (count, digest) != (entry.n, entry.h):
            report_loss(
                options,
                f"{queue.queue.name}: {entry.n} messages were planned after {after} up to "
                f"{entry.seq}, {count} are there; the others were received, purged, locked, moved "
                "or have expired",
            )
            # What is locked now may be back when the tasks look.
            return shares
        return [share for share in shares if share.planned.count]

    # Queues

    def _connected(self) -> QueueManager:
        if self._manager is None:
            self._manager = open_connection(self._options.connection)
        return self._manager

    def _queues_now(self) -> dict[str, DriverQueue]:
        """The queues of the stream that are there, opened."""
        manager = self._connected()
        opened: dict[str, DriverQueue] = {}
        for queue in select_queues(manager, self._options):
            try:
                opened[queue.key] = self._open(queue)
            except QueueError as exc:
                if exc.code not in _GONE:
                    raise
        for key in self._queues.keys() - opened.keys():
            del self._queues[key]
        return opened

    def _gone(self, known: Mapping[str, QueueOffset], opened: Container[str]) -> list[str]:
        """Queues that were read before and are not there.

        One that the query does not name any more stays in the offset as it is: named again, it is
        read on from there.

        Raises:
            DataLoss: there is one, and `failOnDataLoss` is true.
        """
        names: list[str] = []
        for key in sorted(key for key, entry in known.items() if not entry.gone):
            if key in opened or key in self._left:
                continue
            if is_selected(self._connected(), self._options, key):
                report_loss(self._options, self._absence(key))
                names.append(key)
            else:
                self._left.add(key)
                _LOG.warning("%s is in the checkpoint and not read: it is not named any more", key)
        return names

    def _absence(self, key: str) -> str:
        """Why a queue is not among those that were opened, in words."""
        if is_selected(self._connected(), self._options, key):
            return f"{key} is gone, and what it held with it"
        return (
            f"{key} is not named any more, and a batch that has begun and not ended needs it; "
            "name it once more"
        )

    def _check_name(
        self, queue: DriverQueue, known: Mapping[str, QueueOffset], opened: Container[str]
    ) -> None:
        """See that a queue that is new has not been read under another name.

        Raises:
            ConfigError: it has.
        """
        if queue.queue.key in known:
            return
        incarnation = queue.info().incarnation
        for key, entry in known.items():
            if entry.inc == incarnation and key not in opened:
                raise ConfigError(
                    f"{queue.queue.name} is the queue that the checkpoint has as {key}; name it so"
                )

    def _open(self, queue: SourceQueue) -> DriverQueue:
        opened = self._queues.get(queue.key)
        if opened is not None:
            try:
                opened.info()
            except QueueError as exc:
                if exc.code not in _GONE:
                    raise
                # Deleted; there may be a new one of the same name.
                del self._queues[queue.key]
            else:
                return opened
        driver_queue = open_driver_queue(self._connected(), queue, self._options, self._token)
        self._queues[queue.key] = driver_queue
        return driver_queue

    def _tell_lag(self, queue: DriverQueue, info: RangeInfo) -> None:
        """Say who holds up the stream, once for each holder."""
        holders = info.lock_holders if info.stable < info.last else {}
        if holders and holders != self._lag.get(queue.queue.key):
            _LOG.warning(
                "%s is read up to %d only, of %d: messages are locked by %s",
                queue.queue.name,
                info.stable,
                info.last,
                ", ".join(f"{name} ({count})" for name, count in holders.items()),
            )
        self._lag[queue.queue.key] = holders
        known = self.latest_known or {"queues": {}}
        known["queues"][queue.queue.key] = {"last": info.last, "messages": info.count}
        self.latest_known = known
