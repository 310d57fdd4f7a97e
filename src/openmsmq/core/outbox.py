"""Outbox: data to be stored, events to be reported, and the batch on which each depends.

The one invariant of the queue manager is "durable before said": every result and every event names
the batch that must be on disk first; these numbers come from here and from nowhere else.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from openmsmq.wire.batch import Batch
from openmsmq.wire.history_record import Happening
from openmsmq.wire.message.user_message_patch import identifier_of
from openmsmq.wire.scalars import GUID_SIZE

from .events import MessageDropped
from .rows.tables import Table

if TYPE_CHECKING:
    from openmsmq.core.management.counters import Counters
    from openmsmq.core.tracing import TraceLog

    from .events import Event

T = TypeVar("T")

_VALUE: Final = Struct("<Q")


class Result:
    """The result of an operation; report it once batch `depends` is on disk (0: at once)."""

    __slots__ = ("depends",)

    def __init__(self, depends: int) -> None:
        self.depends = depends


class ResultOf(Result, Generic[T]):
    """A result with one value."""

    __slots__ = ("value",)

    def __init__(self, value: T, depends: int) -> None:
        self.value = value
        super().__init__(depends)


class Outbox:
    """The batch that is being built, its number, and the events since they were last taken."""

    __slots__ = ("batch", "counters", "durable_number", "events", "number", "trace")

    def __init__(self, counters: Counters, trace: TraceLog | None = None) -> None:
        self.counters = counters
        self.trace = trace
        self.batch = Batch()
        self.number = 1
        self.durable_number = 0
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        """Note that something happened."""
        self.events.append(event)

    def drop(self, what: str, queue: str, packet: bytes, reason: str, detail: str = "") -> None:
        """Report that a message, or a copy or acknowledgment of it, could not be placed.

        Args:
            packet: the packet of the message.
            reason: one of few, by which drops are counted.
            detail: further text for the log.
        """
        self.counters.dropped_messages.add((what, reason))
        if detail:
            reason = f"{reason}: {detail}"
        identifier = identifier_of(packet)
        if self.trace is not None and self.trace.enabled:
            self.trace.note(
                Happening.DROPPED,
                f"{queue}: {what}, {reason}",
                0,
                1,
                0,
                int.from_bytes(identifier[GUID_SIZE:], "little"),
                identifier[:GUID_SIZE],
            )
        self.tell(
            MessageDropped(
                what=what,
                queue=queue,
                identifier=identifier,
                reason=reason,
                depends=self.changed(),
            )
        )

    def take_batch(self) -> tuple[int, Batch] | None:
        """The next batch to be made durable, with its number; None when there is none."""
        if not self.batch:
            return None
        numbered_batch = self.number, self.batch
        self.batch = Batch()
        self.number += 1
        return numbered_batch

    def durable(self, number: int) -> None:
        """All batches up to this number are on disk."""
        assert self.durable_number < number < self.number, "batches are taken, then durable"  # noqa: S101
        self.durable_number = number

    def take_events(self) -> list[Event]:
        """The events since the last call, oldest first."""
        events, self.events = self.events, []
        return events

    # Dependencies

    def pending(self, number: int) -> int:
        """`number` if that batch is not on disk yet, else 0."""
        return number if number > self.durable_number else 0

    def changed(self) -> int:
        """The batch that stores what was changed since the last one; 0 if nothing was."""
        return self.number if self.batch else 0

    def seen(self) -> int:
        """The batch that must be on disk before the current state is reported."""
        return self.number if self.batch else self.pending(self.number - 1)

    def latest(self) -> int:
        """The batch being built, or the one before it if nothing was changed since."""
        return self.number if self.batch else self.number - 1


class Reservation:
    """Numbers that never repeat, even after a crash: their upper bound is on disk before their use.

    The next block is reserved when half of the last one is used, so that in practice no send waits
    for it. A user of a number of a block that is not durable yet must wait for `depends`.
    """

    __slots__ = ("_block", "_durable", "_key", "_pending", "_reserved", "last")

    def __init__(self, key: bytes, block: int, stored: bytes | None) -> None:
        self._key = key
        self._block = block
        # After a start every number up to the stored bound counts as used.
        self.last: int = _VALUE.unpack(stored)[0] if stored is not None else 0
        self._reserved = self._durable = self.last
        # (batch, bound) of reservations on their way to the disk.
        self._pending: list[tuple[int, int]] = []

    def take(self, count: int, outbox: Outbox) -> int:
        """Use `count` numbers; return the one before the first of them."""
        before = self.last
        self.last = last = before + count
        if last + self._block // 2 > self._reserved:
            self._reserved = last + self._block
            outbox.batch.set_row(Table.MANAGER, self._key, _VALUE.pack(self._reserved))
            self._pending.append((outbox.number, self._reserved))
        return before

    def skip(self, count: int) -> None:
        """Skip numbers, so that a restored copy does not repeat those of the original."""
        self.last += count

    def depends(self) -> int:
        """The batch that must be durable before the numbers taken so far may be shown."""
        if self.last <= self._durable:
            return 0
        return next(number for number, bound in self._pending if self.last <= bound)

    def durable(self, number: int) -> None:
        """All batches up to this number are on disk."""
        while self._pending and self._pending[0][0] <= number:
            self._durable = self._pending.pop(0)[1]
