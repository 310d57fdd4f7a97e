"""Which outgoing queue sends next ([MS-MQDMPR] 3.1.1.18, 3.1.7.3.9).

An entry of the specification is a message. Here it is an outgoing queue with the message at its
front, since the messages of a queue are in the order of their priority already: so nothing has to
be added or removed for each message. A carrier makes the collection anew when it sends, so what
was added, paused or deleted meanwhile counts, and after a restart there is nothing to repair.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .stream import OutgoingStream

    # The greater priority comes first, then the older message; the number of a queue is its own.
    _Entry = tuple[int, int, int, OutgoingStream]


class DispatchCollection:
    """The outgoing queues of one carrier that have something to send."""

    __slots__ = ("_entries",)

    def __init__(self, streams: Iterable[OutgoingStream]) -> None:
        entries: list[_Entry] = []
        for stream in streams:
            entry = _entry(stream)
            if entry is not None:
                entries.append(entry)
        if len(entries) > 1:
            heapify(entries)
        self._entries = entries

    @property
    def count(self) -> int:
        """How many outgoing queues have something to send."""
        return len(self._entries)

    @property
    def first(self) -> OutgoingStream:
        """The outgoing queue that sends next; only if there is one."""
        return self._entries[0][3]

    def sent(self) -> None:
        """The first queue sent a message: it waits for its turn with the next one."""
        entry = _entry(self._entries[0][3])
        if entry is None:
            heappop(self._entries)
        else:
            heapreplace(self._entries, entry)

    def pass_over(self) -> None:
        """The first queue cannot send for now."""
        heappop(self._entries)


def _entry(stream: OutgoingStream) -> _Entry | None:
    """The place of an outgoing queue; None if nothing of it may leave."""
    queue = stream.queue
    message = queue.lanes.first()
    if message is None or not stream.outgoing.may_transmit:
        return None
    # [MS-MQDMPR] 3.1.7.1.28: the priorities of queue and message count together.
    priority = queue.properties.base_priority + message.priority
    return -priority, message.sequence, queue.number, stream
