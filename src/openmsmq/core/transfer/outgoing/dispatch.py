"""Which outgoing message is sent next ([MS-MQDMPR] 3.1.1.18, 3.1.7.1.28-29, 34, 3.1.7.3.9)."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from openmsmq.core.model.message import PositionState

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue


class DispatchEntry:
    """DispatchEntry: a message that a protocol is ready to send."""

    __slots__ = ("listed", "message", "priority", "protocol_data", "send_in_progress")

    def __init__(self, message: Message, protocol_data: object | None, priority: int) -> None:
        self.message = message
        # What the binary protocol needs to send it; None means that SRMP sends it.
        self.protocol_data = protocol_data
        self.priority = priority
        self.send_in_progress = False
        self.listed = True


class DispatchCollection:
    """Messages to be sent, one at a time: higher priority first, then in the order of adding."""

    __slots__ = ("_count", "_entries", "_heap", "_parked", "in_progress")

    def __init__(self) -> None:
        self._entries: dict[int, DispatchEntry] = {}
        self._heap: list[tuple[int, int, DispatchEntry]] = []
        # Entries that were passed over because nothing may leave their queue now.
        self._parked: list[tuple[int, int, DispatchEntry]] = []
        self._count = 0
        self.in_progress: DispatchEntry | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, message: Message) -> DispatchEntry | None:
        return self._entries.get(message.key)

    def add(self, message: Message, protocol_data: object | None) -> DispatchEntry | None:
        """Add Message To Dispatch Collection; return the entry to send now, if one is."""
        priority = message.queue.properties.base_priority + message.priority
        entry = DispatchEntry(message, protocol_data, priority)
        self._entries[message.key] = entry
        self._count += 1
        heappush(self._heap, (-priority, self._count, entry))
        return self.send_next()

    def remove(self, message: Message) -> DispatchEntry | None:
        """Remove Message From Dispatch Collection; return the entry to send now, if one is."""
        self._drop(self._entries.pop(message.key, None))
        return self.send_next()

    def remove_queue(self, queue: Queue) -> None:
        """Remove all messages of an outgoing queue; nothing is sent because of it."""
        for key in [key for key, entry in self._entries.items() if entry.message.queue is queue]:
            self._drop(self._entries.pop(key))

    def _drop(self, entry: DispatchEntry | None) -> None:
        if entry is not None:
            entry.listed = False
            if self.in_progress is entry:
                self.in_progress = None

    def send_next(self) -> DispatchEntry | None:
        """Dispatch Send Message: choose the next entry, unless one is being sent."""
        if self.in_progress is not None:
            return None
        for item in self._parked:
            heappush(self._heap, item)
        self._parked = []
        while self._heap:
            item = heappop(self._heap)
            entry = item[2]
            if not entry.listed:
                continue
            if not _may_send(entry.message):
                self._parked.append(item)
                continue
            entry.send_in_progress = True
            self.in_progress = entry
            return entry
        return None


def _may_send(message: Message) -> bool:
    queue = message.queue
    outgoing = queue.outgoing
    return (
        queue.active
        and message.state != PositionState.DELETED
        and outgoing is not None
        and outgoing.may_transmit
    )
