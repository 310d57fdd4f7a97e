"""The timing of stream receipts: soon, one for several messages ([MC-MQSRM] 3.1.6.3).

Choice: many messages are acknowledged together, so that their sender need not keep all that it
sends in ten seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import Message, PositionState

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.incoming.received import StreamProgress
    from openmsmq.protocol.carrier import Gate
    from openmsmq.protocol.timer_heap import TimerHeap

    from .settings import SrmpSettings


# With this many messages a stream does not wait for more of them.
MANY: Final = 1_000


class CoalescingTimer:
    """The Stream Receipt Coalescing Timer of one stream."""

    __slots__ = ("arrived", "number", "progress", "receipt")

    def __init__(self, progress: StreamProgress, arrived: float) -> None:
        # The number in the last receipt, or the one from which the wait began.
        self.number = progress.number
        # The progress of the stream on disk.
        self.progress = progress
        # The arrival of the oldest unacknowledged message; None without one.
        self.arrived: float | None = arrived
        # The last receipt, which may not have left yet.
        self.receipt: Message | None = None

    @property
    def waits(self) -> bool:
        """Whether the last receipt of the stream has not left: the next one follows it."""
        return self.receipt is not None and self.receipt.state != PositionState.DELETED


class StreamReceipts:
    """The streams received here, and the time when each is acknowledged."""

    __slots__ = ("_gate", "_manager", "_settings", "_streams", "_timers")

    def __init__(
        self, manager: QueueManager, gate: Gate, settings: SrmpSettings, timers: TimerHeap
    ) -> None:
        self._manager = manager
        self._gate = gate
        self._settings = settings
        self._timers = timers
        # Streams to be acknowledged, or whose last receipt has not left; by the key part that
        # stays the same when a queue is deleted.
        self._streams: dict[bytes, CoalescingTimer] = {}

    def received(self, progress: StreamProgress, depends: int) -> None:
        """Messages of a stream arrived; the timer starts when batch `depends` is on disk."""
        self._gate.when_durable(depends, self._stored, progress)

    def _stored(self, progress: StreamProgress) -> None:
        now = self._manager.now
        key = progress.stream.sender_and_name
        timer = self._streams.get(key)
        if timer is None:
            timer = self._streams[key] = CoalescingTimer(progress, now)
        if progress.sequence != timer.progress.sequence:
            timer.number = 0
        timer.progress = progress
        if timer.arrived is None:
            timer.arrived = now
        # [MC-MQSRM] 3.1.5.1.6.3: every message restarts the timer, but not for ever.
        late = now - timer.arrived >= self._settings.maximum_stream_receipt_delay
        many = progress.number - timer.number >= MANY and not timer.waits
        soon = now + self._settings.stream_receipt_seconds
        self._timers.set(timer, now if late or many else soon)

    def due(self, timer: CoalescingTimer, *, now: float) -> None:
        """The timer of a stream is over: acknowledge it, or wait for its last receipt to leave."""
        if timer.waits:
            self._timers.set(timer, now + self._settings.maximum_stream_receipt_delay)
        elif timer.arrived is None:
            del self._streams[timer.progress.stream.sender_and_name]
        else:
            timer.arrived = None
            timer.number = timer.progress.number
            timer.receipt = self._manager.incoming.send_stream_receipt(timer.progress)
            self._timers.set(timer, now + self._settings.maximum_stream_receipt_delay)
