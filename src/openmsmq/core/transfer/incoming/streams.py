"""Transactional streams of other queue managers: their progress, limits and lifetime.

A stream is a row that makes exactly-once possible, and a peer can make up senders and
names: so there is a limit per address and in total. A row is deleted when it is not needed.

[MS-MQQB] 3.1.1.3.1: the progress of a stream outlives the queue. A stream whose queue is deleted
is *abandoned*: messages that arrive meanwhile are refused, in their order, and when a queue of this
name exists again the stream continues there. Messages of the old queue come into no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from struct import Struct
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.model.queue import QueueType
from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.errors import StoreError
from openmsmq.wire.names.format_name import PrivateFormatName, PublicFormatName

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

    from .stream_order import StreamPosition

# Why there is no room for another stream.
TOO_MANY: Final = "too many transactional streams"
TOO_MANY_OF_ADDRESS: Final = "too many transactional streams from one address"
TOO_LONG: Final = "name too long for a transactional stream"
# Characters of a format name; no queue has a longer one.
MAX_NAME: Final = 1024
NEVER_LATE: Final = 0xFFFFFFFF
# The number of no queue.
NO_QUEUE_NUMBER: Final = 0
# How much the clock may be set back without harm.
_CLOCK_SECONDS: Final = 86_400

_KEY: Final = Struct("<I16sB")
# Version, transport, number, last access, rejections, late after; four lengths.
_VALUE: Final = Struct("<BBIdIIBIII")
ROW_VERSION: Final = 2
# Numbers in the store; never reused for another transport.
_TRANSPORTS: Final = {
    1: Transport.BINARY,
    2: Transport.HTTP,
    3: Transport.HTTPS,
    4: Transport.MULTICAST,
}
_TRANSPORT_NUMBERS: Final = {transport: number for number, transport in _TRANSPORTS.items()}
# Destinations of receipts of an earlier sequence: two lengths, each with its text after them.
_FORMER: Final = Struct("<BH")
MAX_FORMER_RECEIPTS: Final = 4
# Version 0.1.0: queue and sender; sequence, number, last access, rejections, length, late after.
_OLD_KEY: Final = Struct("<I16s")
_OLD_VALUE: Final = Struct("<QIdIHI")


@dataclass(slots=True)
class IncomingTransactionalTransferInfo:
    """The progress of one stream ([MS-MQDMPR] 3.1.1.5, [MC-MQSRM] 3.1.1.1.6).

    Kept as a state row in the same batch as the last message of it. `sequence_identifier` is empty
    before the first message, `receipts_to` unless the sender named a queue for receipts. `address`
    is the source of its first message; after `late_after`, in seconds since 1970, its messages
    are too late. `queue` is NO_QUEUE_NUMBER while no queue of this name takes its messages.
    """

    queue: int
    format_name: str
    sender_identifier: UUID
    transport: Transport = Transport.BINARY
    sequence_identifier: bytes = b""
    sequence_number: int = 0
    last_access_time: float = 0.0
    reject_count: int = 0
    address: str = ""
    late_after: int = 0
    receipts_to: str = ""
    # Destinations of receipts of earlier sequences, if different: their messages may still be here.
    former_receipts: tuple[tuple[bytes, str], ...] = ()

    @property
    def key(self) -> bytes:
        """The key of the row: queue, sender, transport and the sender's name for the queue."""
        number = _TRANSPORT_NUMBERS[self.transport]
        name = self.format_name.casefold().encode()
        return _KEY.pack(self.queue, self.sender_identifier.bytes_le, number) + name

    @property
    def sender_and_name(self) -> bytes:
        """The key part that stays the same when the queue is deleted and created again."""
        return self.key[4:]

    def serialize(self) -> bytes:
        texts = (self.format_name.encode(), self.address.encode(), self.receipts_to.encode())
        row = _VALUE.pack(
            ROW_VERSION,
            _TRANSPORT_NUMBERS[self.transport],
            self.sequence_number,
            self.last_access_time,
            self.reject_count,
            self.late_after,
            len(self.sequence_identifier),
            *map(len, texts),
        )
        former = [
            _FORMER.pack(len(sequence), len(url.encode())) + sequence + url.encode()
            for sequence, url in self.former_receipts
        ]
        return b"".join((row, self.sequence_identifier, *texts, *former))

    @classmethod
    def parse(cls, key: bytes, value: bytes) -> IncomingTransactionalTransferInfo:
        """The stream of a row.

        Raises:
            StoreError: a later version of the program wrote it.
        """
        transport = _TRANSPORTS.get(value[1])
        if value[0] != ROW_VERSION or transport is None:
            raise StoreError(
                f"transactional stream: row of version {value[0]}, transport {value[1]};"
                f" this program reads version {ROW_VERSION}, transports 1 to {len(_TRANSPORTS)}",
                cause="A later version of openmsmq has used this data directory.",
                remedy="Start that version, or restore a backup that was made before it.",
            )
        queue, sender, _ = _KEY.unpack_from(key)
        _, _, number, time, rejects, late_after, *lengths = _VALUE.unpack_from(value)
        at = _VALUE.size
        parts = []
        for length in lengths:
            parts.append(value[at : at + length])
            at += length
        sequence, name, address, receipts_to = parts
        return cls(
            queue,
            name.decode(),
            UUID(bytes_le=sender),
            transport,
            sequence,
            number,
            time,
            rejects,
            address.decode(),
            late_after,
            receipts_to.decode(),
            _parse_former(value, at),
        )

    @classmethod
    def parse_old(cls, key: bytes, value: bytes) -> IncomingTransactionalTransferInfo:
        """The stream of a row as version 0.1.0 stored it: only binary, the sequence as a number."""
        queue, sender = _OLD_KEY.unpack_from(key)
        sequence, number, time, rejects, size, late_after = _OLD_VALUE.unpack_from(value)
        end = _OLD_VALUE.size + size
        return cls(
            queue,
            value[_OLD_VALUE.size : end].decode(),
            UUID(bytes_le=sender),
            Transport.BINARY,
            sequence.to_bytes(8) if sequence else b"",
            number,
            time,
            rejects,
            value[end:].decode(),
            late_after,
        )

    def accept(self, position: StreamPosition, late_after: int, utc: float) -> None:
        """The last message of the stream was accepted."""
        self.late_after = max(self.late_after, min(late_after, NEVER_LATE))
        if position.sequence != self.sequence_identifier:
            self._keep_receipts_to(position.receipts_to)
        self.sequence_identifier = position.sequence
        self.sequence_number = position.number
        self.receipts_to = position.receipts_to or self.receipts_to
        self.last_access_time = utc
        self.reject_count = 0

    def _keep_receipts_to(self, new: str) -> None:
        """Another sequence begins: remember where receipts of the last one go, if elsewhere."""
        if self.receipts_to and new and new != self.receipts_to:
            former = (*self.former_receipts, (self.sequence_identifier, self.receipts_to))
            self.former_receipts = former[-MAX_FORMER_RECEIPTS:]

    def receipts_of(self, sequence: bytes) -> str:
        """The destination of receipts of one sequence of the stream; empty if unknown."""
        for former, url in self.former_receipts:
            if former == sequence:
                return url
        return self.receipts_to

    def reject(self, utc: float) -> None:
        """The last message of the stream was rejected, for now."""
        self.last_access_time = utc
        self.reject_count += 1


def _parse_former(value: bytes, at: int) -> tuple[tuple[bytes, str], ...]:
    """The destinations of receipts of earlier sequences; an older row ends before them."""
    former = []
    while at < len(value):
        sequence, url = _FORMER.unpack_from(value, at)
        at += _FORMER.size
        end = at + sequence + url
        former.append((value[at : at + sequence], value[at + sequence : end].decode()))
        at = end
    return tuple(former)


# Limits


class StreamCount:
    """The number of streams, in total and by the address of their first message."""

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
    """The streams to names without a queue, by sender and name; the longest unused first."""

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
        """Mark a stream as used: it becomes the last to be deleted."""
        self.remove(stream)
        self.add(stream)

    def oldest(self, address: str | None = None) -> IncomingTransactionalTransferInfo | None:
        """The longest unused stream, of all or of one address."""
        streams = self._streams if address is None else self._by_address.get(address, {})
        return next(iter(streams.values()), None)


def find_known(
    state: State, queue: Queue | None, stream: IncomingTransactionalTransferInfo
) -> IncomingTransactionalTransferInfo | None:
    """The known stream with the sender and the name of this one."""
    known = queue.incoming.get(stream.key) if queue is not None else None
    return known or state.abandoned_streams.find(stream.sender_and_name)


def find_stream(
    state: State, queue: Queue | None, stream: IncomingTransactionalTransferInfo
) -> IncomingTransactionalTransferInfo:
    """The known stream with the sender and the name of this one, else this one.

    An abandoned stream continues with the queue, if there is one.
    """
    known = find_known(state, queue, stream)
    if known is None:
        return stream
    if queue is not None and known.queue == NO_QUEUE_NUMBER:
        state.abandoned_streams.remove(known)
        _give_to(state, known, queue.number)
        queue.incoming[known.key] = known
    return known


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
    """Begin a stream, without a queue an abandoned one; return the reason if there is no room.

    Abandoned streams make room.
    """
    if len(stream.format_name) > MAX_NAME:
        return TOO_LONG
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
    """Store the progress of a stream."""
    state.outbox.batch.set_row(Table.STREAMS, stream.key, stream.serialize())
    if stream.queue == NO_QUEUE_NUMBER:
        state.abandoned_streams.touch(stream)


def forget_stream(state: State, stream: IncomingTransactionalTransferInfo) -> None:
    """Delete a stream that will not continue, or never began."""
    if stream.queue == NO_QUEUE_NUMBER:
        state.abandoned_streams.remove(stream)
    else:
        del state.queues[stream.queue].incoming[stream.key]
    state.stream_count.remove(stream.address)
    state.outbox.batch.delete_row(Table.STREAMS, stream.key)


def forget_old_streams(state: State) -> None:
    """Delete the streams that were unused for long and that protect nothing any more.

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


def recover_streams(state: State, rows: dict[bytes, bytes], old: dict[bytes, bytes]) -> None:
    """Restore the streams from the store; rows of version 0.1.0 are converted.

    Raises:
        StoreError: a later version of the program wrote a row, or one names a missing queue.
    """
    streams = [IncomingTransactionalTransferInfo.parse(key, row) for key, row in rows.items()]
    for key, row in old.items():
        stream = IncomingTransactionalTransferInfo.parse_old(key, row)
        _rename(state, stream)
        state.outbox.batch.delete_row(Table.STREAMS_OF_0_1_0, key)
        state.outbox.batch.set_row(Table.STREAMS, stream.key, stream.serialize())
        streams.append(stream)
    for stream in sorted(streams, key=attrgetter("last_access_time")):
        if stream.queue == NO_QUEUE_NUMBER:
            state.abandoned_streams.add(stream)
        elif stream.queue in state.queues:
            state.queues[stream.queue].incoming[stream.key] = stream
        else:
            raise StoreError(
                f"the stream of {stream.sender_identifier} to {stream.format_name} is in queue"
                f" {stream.queue}, which does not exist"
            )
        state.stream_count.add(stream.address)


def _rename(state: State, stream: IncomingTransactionalTransferInfo) -> None:
    """Give a stream that version 0.1.0 stored by the path of its queue the format name."""
    queue = state.queues.get(stream.queue)
    if queue is None or stream.format_name != queue.path:
        return
    if queue.queue_type is QueueType.PRIVATE:
        number = queue.properties.private_queue_number
        stream.format_name = str(PrivateFormatName(state.manager.identifier, number))
    else:
        stream.format_name = str(PublicFormatName(queue.properties.identifier))
