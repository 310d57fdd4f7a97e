"""Transactional streams of other queue managers: how many there may be, and until when.

A stream is a row that makes exactly-once possible, and whoever connects can make up senders and
names: one address, and all together, have a limit. A row is forgotten when nothing needs it.

[MS-MQQB] 3.1.1.3.1: how far a stream got outlives the queue. A stream whose queue is deleted is
*abandoned*: the messages that come meanwhile are refused, in their order, and when there is a queue
of this name again the stream goes on there. What the old queue had taken comes into no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.queue import QueueType
from openmsmq.core.rows.tables import Table
from openmsmq.wire.names.format_name import PrivateFormatName, PublicFormatName

from .transfer_info import NEVER_LATE, NO_QUEUE_NUMBER, IncomingTransactionalTransferInfo

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

# Why there is no room for one more.
TOO_MANY: Final = "too many transactional streams"
TOO_MANY_OF_ADDRESS: Final = "too many transactional streams from one address"
# How much the clock may be put back without harm.
_CLOCK_SECONDS: Final = 86_400


class StreamCount:
    """How many streams there are, in all and by the address that they first came from."""

    __slots__ = ("_by_address", "total")

    def __init__(self) -> None:
        self.total = 0
        self._by_address: dict[str, int] = {}

    def of(self, address: str) -> int:
        return self._by_address.get(address, 0)

    def add(self, address: str) -> None:
        self.total += 1
        self._by_address[address] = self.of(address) + 1

    def remove(self, address: str) -> None:
        self.total -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


class AbandonedStreams:
    """The streams to names that lead to no queue, by sender and name; the longest unused first."""

    __slots__ = ("_by_address", "_streams")

    def __init__(self) -> None:
        self._streams: dict[bytes, IncomingTransactionalTransferInfo] = {}
        self._by_address: dict[str, dict[bytes, IncomingTransactionalTransferInfo]] = {}

    def __len__(self) -> int:
        return len(self._streams)

    def __iter__(self) -> Iterator[IncomingTransactionalTransferInfo]:
        return iter(list(self._streams.values()))

    def find(self, sender_and_name: bytes) -> IncomingTransactionalTransferInfo | None:
        return self._streams.get(sender_and_name)

    def add(self, stream: IncomingTransactionalTransferInfo) -> None:
        key = stream.sender_and_name
        self._streams[key] = stream
        self._by_address.setdefault(stream.address, {})[key] = stream

    def remove(self, stream: IncomingTransactionalTransferInfo) -> None:
        key = stream.sender_and_name
        del self._streams[key]
        of_address = self._by_address[stream.address]
        del of_address[key]
        if not of_address:
            del self._by_address[stream.address]

    def touch(self, stream: IncomingTransactionalTransferInfo) -> None:
        """A stream was used: it becomes the last to go."""
        self.remove(stream)
        self.add(stream)

    def oldest(self, address: str | None = None) -> IncomingTransactionalTransferInfo | None:
        """The longest unused stream, of all or of one address."""
        streams = self._streams if address is None else self._by_address.get(address, {})
        return next(iter(streams.values()), None)


def find_stream(
    state: State, queue: Queue | None, stream: IncomingTransactionalTransferInfo
) -> IncomingTransactionalTransferInfo:
    """The known stream with the sender and the name of this one, else this one.

    An abandoned stream goes on with the queue, if there is one.
    """
    known = queue.incoming.get(stream.key) if queue is not None else None
    if known is not None:
        return known
    abandoned = state.abandoned_streams.find(stream.sender_and_name)
    if abandoned is None:
        return stream
    if queue is not None:
        state.abandoned_streams.remove(abandoned)
        _give_to(state, abandoned, queue.number)
        queue.incoming[abandoned.key] = abandoned
    return abandoned


def abandon_streams(state: State, queue: Queue) -> None:
    """The queue is deleted; its streams wait for another one of the same name."""
    for stream in queue.incoming.values():
        _give_to(state, stream, NO_QUEUE_NUMBER)
        state.abandoned_streams.add(stream)
    queue.incoming.clear()


def _give_to(state: State, stream: IncomingTransactionalTransferInfo, queue: int) -> None:
    state.outbox.batch.delete_row(Table.STREAMS, stream.key)
    stream.queue = queue
    state.outbox.batch.set_row(Table.STREAMS, stream.key, stream.serialize())


def add_stream(
    state: State, queue: Queue | None, stream: IncomingTransactionalTransferInfo
) -> str | None:
    """A new stream begins, without a queue an abandoned one; if there is no room, return why.

    Abandoned streams make room.
    """
    count = state.stream_count
    if count.of(stream.address) >= state.settings.max_streams_per_address and not _make_room(
        state, stream.address
    ):
        return TOO_MANY_OF_ADDRESS
    if count.total >= state.settings.max_streams and not _make_room(state):
        return TOO_MANY
    if queue is None:
        state.abandoned_streams.add(stream)
    else:
        queue.incoming[stream.key] = stream
    count.add(stream.address)
    return None


def _make_room(state: State, address: str | None = None) -> bool:
    oldest = state.abandoned_streams.oldest(address)
    if oldest is not None:
        forget_stream(state, oldest)
    return oldest is not None


def store_stream(state: State, stream: IncomingTransactionalTransferInfo) -> None:
    """Write down how far a stream got."""
    state.outbox.batch.set_row(Table.STREAMS, stream.key, stream.serialize())
    if stream.queue == NO_QUEUE_NUMBER:
        state.abandoned_streams.touch(stream)


def forget_stream(state: State, stream: IncomingTransactionalTransferInfo) -> None:
    """Nobody will go on with a stream, or it never began."""
    if stream.queue == NO_QUEUE_NUMBER:
        state.abandoned_streams.remove(stream)
    else:
        del state.queues[stream.queue].incoming[stream.key]
    state.stream_count.remove(stream.address)
    state.outbox.batch.delete_row(Table.STREAMS, stream.key)


def forget_old_streams(state: State) -> None:
    """Forget the streams that nobody has used for long and that protect nothing any more.

    Once the time of all its messages to reach the queue is over, a copy of one would be refused
    for being late. Choice: [MS-MQQB] has no end for these rows.
    """
    unused = state.utc - state.settings.stream_seconds
    late = min(state.utc - _CLOCK_SECONDS, NEVER_LATE)
    for stream in [
        *(stream for queue in state.queues.values() for stream in queue.incoming.values()),
        *state.abandoned_streams,
    ]:
        if stream.last_access_time < unused and stream.late_after < late:
            forget_stream(state, stream)


def recover_streams(state: State, rows: dict[bytes, bytes]) -> None:
    """Take over the streams from the store."""
    streams = [IncomingTransactionalTransferInfo.parse(key, row) for key, row in rows.items()]
    for stream in sorted(streams, key=attrgetter("last_access_time")):
        if stream.queue == NO_QUEUE_NUMBER:
            state.abandoned_streams.add(stream)
        else:
            queue = state.queues[stream.queue]
            if stream.format_name == queue.path:
                _rename(state, stream, queue)
            queue.incoming[stream.key] = stream
        state.stream_count.add(stream.address)


def _rename(state: State, stream: IncomingTransactionalTransferInfo, queue: Queue) -> None:
    """A stream to no direct name, as version 0.1.0 stored it: with the path of the queue."""
    name: PrivateFormatName | PublicFormatName
    if queue.queue_type is QueueType.PRIVATE:
        number = queue.properties.private_queue_number
        name = PrivateFormatName(state.manager.identifier, number)
    else:
        name = PublicFormatName(queue.properties.identifier)
    state.outbox.batch.delete_row(Table.STREAMS, stream.key)
    stream.format_name = str(name)
    store_stream(state, stream)
