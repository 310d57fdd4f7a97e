"""The newest events of a queue manager for watching clients, bounded."""

from collections import deque
from collections.abc import Callable
from typing import Final

from openmsmq.core.events import (
    ConnectionNoted,
    FlowControlChanged,
    MessageDropped,
    MessagesLeftUnread,
    QueueChanged,
    QueueCreated,
    QueueDeleted,
    QueuePaused,
    QueueResumed,
)
from openmsmq.core.management.counters import reason_name
from openmsmq.core.management.records import EventInfo, EventPage
from openmsmq.core.transfer.outgoing.states import STATUS_WORDS
from openmsmq.protocol.local.deferred import Deferred
from openmsmq.wire.codes.hresult import hresult_name
from openmsmq.wire.codes.queue_error import QueueError

from .host import Host
from .message_log import ORDINARY

# The number of events kept for slow clients, and the limit of one answer.
MAX_EVENTS: Final = 1_000


class EventLog:
    """Keeps the newest events and answers clients that wait for the next one."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._events: deque[EventInfo] = deque(maxlen=MAX_EVENTS)
        self._last = 0
        self._waiting: dict[int, tuple[int, Deferred]] = {}
        self._waiters = 0
        engine = host.engine
        engine.listen(QueueCreated, lambda event: self._queue("created", event.queue.path))
        engine.listen(QueueChanged, lambda event: self._queue("changed", event.queue.path))
        engine.listen(QueueDeleted, lambda event: self._queue("deleted", event.queue.path))
        engine.listen(QueuePaused, lambda event: self._queue("paused", event.queue.path))
        engine.listen(QueueResumed, lambda event: self._queue("resumed", event.queue.path))
        engine.listen(ConnectionNoted, self._connection)
        engine.listen(FlowControlChanged, self._flow_control)
        engine.listen(MessagesLeftUnread, self._left_unread)
        engine.listen(MessageDropped, self._dropped)

    # Events

    def add(self, kind: str, queue: str, detail: str = "", count: int = 1) -> None:
        """Add an event."""
        self._last += 1
        self._events.append(
            EventInfo(
                number=self._last,
                time=self._host.manager.utc,
                kind=kind,
                queue=queue,
                detail=detail,
                count=count,
            )
        )
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            for after, answer in waiting.values():
                answer.done(self._page(after), self._host.manager.seen)

    def _queue(self, what: str, path: str) -> None:
        self.add(f"queue-{what}", path)

    def _connection(self, event: ConnectionNoted) -> None:
        entry = event.entry
        self.add("link", event.queue.path, entry.reason or STATUS_WORDS[entry.status])

    def _flow_control(self, event: FlowControlChanged) -> None:
        self.add("flow-control", "", "disk full" if event.throttled else "disk has room")

    def _left_unread(self, event: MessagesLeftUnread) -> None:
        self.add("left-unread", event.queue.path, reason_name(event.reason), len(event.messages))

    def _dropped(self, event: MessageDropped) -> None:
        self.add("dropped", event.queue, f"{event.what}: {event.reason}")

    def refused(self, request: str, queue: str, messages: int, error: QueueError) -> None:
        """A request of a client was refused; a read that finds nothing is not an event."""
        if error.code in ORDINARY:
            return
        self.add("refused", queue, f"{request}: {hresult_name(error.code)}", max(messages, 1))

    # Watching clients

    def watch(self, after: int, defer: Callable[[Callable[[], None]], Deferred]) -> None:
        """Answer with the events after a number, or wait for one.

        Args:
            defer: creates the deferred answer, with its cancellation.
        """
        self._waiters += 1
        number = self._waiters
        answer = defer(lambda: self._forget(number))
        if after < self._last:
            answer.done(self._page(after), self._host.manager.seen)
        else:
            # A client from before a restart starts again.
            self._waiting[number] = (min(after, self._last), answer)

    def _forget(self, number: int) -> None:
        self._waiting.pop(number, None)

    def _page(self, after: int) -> EventPage:
        events = [event for event in self._events if event.number > after]
        left_out = max(self._last - after - len(events), 0) if after >= 0 else 0
        return EventPage(last=self._last, left_out=left_out, events=events)
