"""The transactional streams of messages that came together, and how far each gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .delivery import learn_address
from .final_acks import order_queue_of
from .received import StreamProgress
from .reports import destination_of
from .streams import (
    NO_QUEUE_NUMBER,
    ORDER_RULES,
    IncomingTransactionalTransferInfo,
    StreamPosition,
    find_stream,
    forget_stream,
    store_stream,
)

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.wire.message.user_message import UserMessage
    from openmsmq.wire.names.queue_address import QueueAddress

    from .transports import Origin

Reached = tuple[bytes, int, str]
NOT_BEGUN: Final[Reached] = (b"", 0, "")


def reached(stream: IncomingTransactionalTransferInfo) -> Reached:
    """How far a stream is, and where its receipts go."""
    return stream.sequence_identifier, stream.sequence_number, stream.receipts_to


class ArrivingStreams:
    """Finds the streams of messages from one origin and takes them further."""

    __slots__ = ("_origin", "_progress", "_state", "_streams")

    def __init__(self, state: State, origin: Origin) -> None:
        self._state = state
        self._origin = origin
        self._streams: dict[bytes, IncomingTransactionalTransferInfo] = {}
        # By stream: where the acknowledgment goes.
        self._progress: dict[int, tuple[IncomingTransactionalTransferInfo, QueueAddress]] = {}

    def progress(self) -> list[StreamProgress]:
        """The streams whose senders are to be told how far they got."""
        return [
            StreamProgress(stream, queue, stream.sequence_identifier, stream.sequence_number)
            for stream, queue in self._progress.values()
        ]

    def find(self, message: UserMessage, queue: Queue | None) -> IncomingTransactionalTransferInfo:
        """The stream of a message: the same object for all messages that came together."""
        raw = message.source + message.raw_destination
        stream = self._streams.get(raw)
        if stream is None:
            destination = message.destination_queue
            name = destination.direct if destination is not None else None
            stream = IncomingTransactionalTransferInfo(
                queue.number if queue is not None else NO_QUEUE_NUMBER,
                name or destination_of(message),
                message.source_queue_manager,
                self._origin.transport,
                address=self._origin.address,
            )
            key = stream.key
            # The same name may be written in several ways.
            stream = self._streams.get(key) or find_stream(self._state, queue, stream)
            self._streams[raw] = self._streams[key] = stream
        return stream

    def next_position(
        self, message: UserMessage, stream: IncomingTransactionalTransferInfo
    ) -> StreamPosition | None:
        """Where a message stands if it is the next of its stream, else None."""
        rule = ORDER_RULES[self._origin.transport]
        position = rule.position_of(message)
        return position if rule.follows(stream, position) else None

    def go_on(
        self,
        stream: IncomingTransactionalTransferInfo,
        position: StreamPosition,
        message: UserMessage,
    ) -> None:
        """A message is the next of its stream."""
        late_after = message.sent_time + message.time_to_reach_queue
        stream.accept(position, late_after, self._state.utc)

    def out_of_order(self, message: UserMessage, stream: IncomingTransactionalTransferInfo) -> None:
        """A message is not the next of its stream; tell the sender how far that got."""
        if stream.sequence_identifier:
            stream.reject(self._state.utc)
            store_stream(self._state, stream)
            self.tell_progress(message, stream)

    def take_back(self, stream: IncomingTransactionalTransferInfo, before: Reached) -> None:
        """A message of a stream found no room: it is to come again."""
        stream.sequence_identifier, stream.sequence_number, stream.receipts_to = before
        if stream.sequence_identifier:
            store_stream(self._state, stream)
        else:
            forget_stream(self._state, stream)

    def tell_progress(
        self, message: UserMessage, stream: IncomingTransactionalTransferInfo
    ) -> None:
        """Every message of a transactional stream asks for an acknowledgment of the stream."""
        self.learn_address(message)
        self._progress[id(stream)] = stream, order_queue_of(self._state, message)

    def learn_address(self, message: UserMessage) -> None:
        """Remember where the sender of a message is, if it is the other end itself."""
        source = message.source_queue_manager
        if source == self._origin.queue_manager:
            learn_address(self._state, source, self._origin.address)
