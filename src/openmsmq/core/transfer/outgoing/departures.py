"""Departures: the order in which outgoing queues send, packets, and the state of each message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

from openmsmq.wire.message.sequence_info import SequenceInfo

if TYPE_CHECKING:
    from openmsmq.core.model.message import History, Message

    from .stream import OutgoingStream

    # The greater priority comes first, then the older message; the number of a queue is unique.
    _Entry = tuple[int, int, int, OutgoingStream]


class OutgoingMessagePosition:
    """A transactional message that was sent and waits for acknowledgments ([MS-MQQB] 3.1.1.3.1.2).

    A plain message is finished when it is delivered.
    """

    __slots__ = (
        "awaits_final_ack",
        "message",
        "previous",
        "received_order_ack",
        "received_session_ack",
        "stream",
        "tx_sequence_id",
        "tx_sequence_number",
    )

    def __init__(
        self,
        stream: OutgoingStream,
        message: Message,
        history: History,
        *,
        awaits_final_ack: bool,
    ) -> None:
        self.stream = stream
        self.message = message
        self.tx_sequence_id = history.tx_sequence_id
        self.tx_sequence_number = history.tx_sequence_number
        self.previous = 0
        # The peer has it; with SRMP the HTTP response says so.
        self.received_session_ack = False
        # The peer has it in sequence; with SRMP the stream receipt says so.
        self.received_order_ack = False
        self.awaits_final_ack = awaits_final_ack

    @property
    def sequence_info(self) -> SequenceInfo:
        return SequenceInfo(self.tx_sequence_id, self.tx_sequence_number, self.previous)


class Departure:
    """Packets to send now, and a token for each.

    `depends` is the batch that the next message waits for; 0 if it waits for none. `express` says
    that none of them need survive a crash.
    """

    __slots__ = ("depends", "express", "packets", "tokens")

    def __init__(self, depends: int) -> None:
        self.depends = depends
        self.express = True
        self.packets: list[bytes] = []
        self.tokens: Sequence[object] = ()


class DispatchCollection:
    """The outgoing queues of one carrier that have messages to send ([MS-MQDMPR] 3.1.1.18).

    An entry of the specification is a message. Here it is an outgoing queue with the message at
    its front, since the messages of a queue are already in the order of their priority: so nothing
    is added or removed per message. A carrier builds the collection each time it sends,
    so that messages added, paused or deleted meanwhile count, and a restart needs no
    repair ([MS-MQDMPR] 3.1.7.3.9).
    """

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
        """The number of outgoing queues that have messages to send."""
        return len(self._entries)

    @property
    def first(self) -> OutgoingStream:
        """The outgoing queue that sends next; call it only if there is one."""
        return self._entries[0][3]

    def sent(self) -> None:
        """The first queue sent a message: its next one waits for its turn."""
        entry = _entry(self._entries[0][3])
        if entry is None:
            heappop(self._entries)
        else:
            heapreplace(self._entries, entry)

    def pass_over(self) -> None:
        """The first queue cannot send for now."""
        heappop(self._entries)


def _entry(stream: OutgoingStream) -> _Entry | None:
    """The sort key of an outgoing queue; None if none of its messages may leave."""
    queue = stream.queue
    message = queue.lanes.first()
    if message is None or not stream.outgoing.may_transmit:
        return None
    # [MS-MQDMPR] 3.1.7.1.28: the priorities of queue and message count together.
    priority = queue.properties.base_priority + message.priority
    return -priority, message.sequence, queue.number, stream
