"""Results of received messages for transports, and the progress of their streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from uuid import UUID

from openmsmq.core.outbox import Result
from openmsmq.core.transfer.notices.final_acks import order_queue_of, speaker_of
from openmsmq.core.transfer.notices.reports import destination_of
from openmsmq.core.transfer.transports import WEB
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.scalars import GUID_NULL

from .delivery import learn_address
from .stream_order import ORDER_RULES, StreamPosition

# Compiled, a NamedTuple needs the classes of its fields when the module is loaded.
from .streams import (
    NO_QUEUE_NUMBER,
    IncomingTransactionalTransferInfo,
    find_stream,
    forget_stream,
    store_stream,
)

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Origin
    from openmsmq.wire.codes.message_class import MessageClass
    from openmsmq.wire.message.user_message import UserMessage


class Acknowledgments(Protocol):
    """Takes acknowledgments of transactional messages that were sent by this queue manager."""

    def take(self, message: UserMessage) -> bool:
        """A message to the order queue; return whether it concerns a message that was sent."""


class StreamProgress(NamedTuple):
    """The progress of a transactional stream, for its sender.

    The stream itself may be further by then, with messages of a later batch.
    """

    stream: IncomingTransactionalTransferInfo
    order_queue: QueueAddress
    # The queue manager that acknowledges it.
    speaker: UUID
    sequence: bytes
    number: int


class Received(Result):
    """The result of messages that arrived together.

    `complete` is False when not all were processed: the rest must be sent again, over another
    connection. `fault` describes an error other than lack of room. `progress` has the
    streams that ask for an acknowledgment once batch `progress_depends` is on disk.

    A transport that answers each message reads `refused` and `left`, too: the messages that no
    queue takes, and those that were not processed, by their index among all.
    """

    __slots__ = ("complete", "fault", "left", "progress", "progress_depends", "refused")

    def __init__(
        self,
        depends: int,
        progress: list[StreamProgress],
        progress_depends: int,
        *,
        complete: bool,
        fault: str = "",
        refused: dict[int, MessageClass] | None = None,
        left: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(depends)
        self.complete = complete
        self.fault = fault
        self.progress = progress
        self.progress_depends = progress_depends
        self.refused = refused or {}
        self.left = left


def not_received(fault: str = "") -> Received:
    """None of the messages was processed."""
    return Received(0, [], 0, complete=False, fault=fault)


Reached = tuple[bytes, int, str, tuple[tuple[bytes, str], ...]]
NOT_BEGUN: Final[Reached] = (b"", 0, "", ())


def reached(stream: IncomingTransactionalTransferInfo) -> Reached:
    """The progress of a stream, and the destination of its receipts."""
    return (
        stream.sequence_identifier,
        stream.sequence_number,
        stream.receipts_to,
        stream.former_receipts,
    )


class ArrivingStreams:
    """Finds the streams of messages from one origin and advances them."""

    __slots__ = ("_origin", "_progress", "_state", "_streams")

    def __init__(self, state: State, origin: Origin) -> None:
        self._state = state
        self._origin = origin
        self._streams: dict[bytes, IncomingTransactionalTransferInfo] = {}
        # By stream: the destination of the acknowledgment, and the queue manager that acknowledges.
        self._progress: dict[int, tuple[IncomingTransactionalTransferInfo, QueueAddress, UUID]] = {}

    def progress(self) -> list[StreamProgress]:
        """The streams whose progress must be reported to their senders."""
        return [
            StreamProgress(
                stream, queue, speaker, stream.sequence_identifier, stream.sequence_number
            )
            for stream, queue, speaker in self._progress.values()
        ]

    def find(
        self, message: UserMessage, queue: Queue | None, position: StreamPosition
    ) -> IncomingTransactionalTransferInfo:
        """The stream of a message: the same object for all messages that arrived together."""
        sender = position.sender
        raw = (message.source if sender is None else sender.bytes_le) + message.raw_destination
        stream = self._streams.get(raw)
        if stream is None:
            destination = message.destination_queue
            name = destination.direct if destination is not None else None
            stream = IncomingTransactionalTransferInfo(
                queue.number if queue is not None else NO_QUEUE_NUMBER,
                name or destination_of(message),
                sender or message.source_queue_manager,
                self._origin.transport,
                address=self._origin.address,
            )
            key = stream.key
            # The same name may be written in several ways.
            stream = self._streams.get(key) or find_stream(self._state, queue, stream)
            self._streams[raw] = self._streams[key] = stream
        return stream

    def is_next(self, stream: IncomingTransactionalTransferInfo, position: StreamPosition) -> bool:
        """Whether the message at a position is the next of its stream."""
        return ORDER_RULES[self._origin.transport](stream, position)

    def go_on(
        self,
        stream: IncomingTransactionalTransferInfo,
        position: StreamPosition,
        message: UserMessage,
    ) -> None:
        """A message is the next of its stream."""
        late_after = message.sent_time + message.time_to_reach_queue
        stream.accept(position, late_after, self._state.utc)

    def out_of_order(
        self,
        message: UserMessage,
        stream: IncomingTransactionalTransferInfo,
        position: StreamPosition,
    ) -> None:
        """A message is not the next of its stream; report the position of that to the sender."""
        if stream.sequence_identifier:
            stream.reject(self._state.utc)
            store_stream(self._state, stream)
            # [MC-MQSRM] 3.1.5.1.6.3: a receipt is about the current stream only. Choice: a copy of
            # one of its messages causes another one, because the last may have been lost.
            current = position.sequence == stream.sequence_identifier
            if current or self._origin.transport not in WEB:
                self.tell_progress(message, stream)

    def take_back(self, stream: IncomingTransactionalTransferInfo, before: Reached) -> None:
        """A message of a stream found no room: the sender must send it again."""
        stream.sequence_identifier, stream.sequence_number = before[:2]
        stream.receipts_to, stream.former_receipts = before[2:]
        if stream.sequence_identifier:
            store_stream(self._state, stream)
        else:
            forget_stream(self._state, stream)

    def tell_progress(
        self, message: UserMessage, stream: IncomingTransactionalTransferInfo
    ) -> None:
        """Every message of a transactional stream asks for an acknowledgment of the stream."""
        self.learn_address(message)
        state = self._state
        self._progress[id(stream)] = (
            stream,
            order_queue_of(state, message),
            speaker_of(state, message),
        )

    def learn_address(self, message: UserMessage) -> None:
        """Remember the address of the sender of a message, if it is the peer itself."""
        source = message.source_queue_manager
        if source == self._origin.queue_manager and source != GUID_NULL:
            learn_address(self._state, source, self._origin.address)
