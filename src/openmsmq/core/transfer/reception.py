"""The one way in: messages that another machine brings ([MS-MQQB] 3.1.5.8, [MC-MQSRM] 3.1.5).

Every transport hands over what came together as one `Reception`: where each message goes, whether
it came before, whether it is the next of its stream, whether the queue takes it and whether there
is room. Everything of one reception is stored in one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.outbox import Result
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_header import ADMIN_SHIFT, DELIVERY_MODE_SHIFT
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.packets.order_ack import ORDER_QUEUE_NUMBER

from .addressing import Place, Whereto, locate
from .delivery import deliver, learn_address, reject
from .final_acks import order_queue_of
from .reports import destination_of, send_report
from .streams import (
    NO_QUEUE_NUMBER,
    ORDER_RULES,
    IncomingTransactionalTransferInfo,
    StreamPosition,
    add_stream,
    find_stream,
    forget_stream,
    store_stream,
)

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.wire.names.queue_address import QueueAddress

    from .transports import Origin

_ACCEPTED: Final = MessageClass.ACK_REACH_QUEUE
_DM: Final = 1 << DELIVERY_MODE_SHIFT
_ADMIN_MASK: Final = 7 << ADMIN_SHIFT
_DELIVERABLE: Final = frozenset((QueueRole.USER, QueueRole.CONNECTOR))


class Acknowledgments(Protocol):
    """Takes what others say about transactional messages that were sent to them."""

    def take(self, message: UserMessage, origin: Origin) -> bool:
        """A message to the order queue; whether it concerns something that was sent."""


class StreamProgress(NamedTuple):
    """A transactional stream of which messages came; its sender is to be told how far it got."""

    stream: IncomingTransactionalTransferInfo
    order_queue: QueueAddress


class Received(Result):
    """What became of messages that came together.

    `complete` is False when there was no room for all: those that were not looked at must come
    again. `progress` names the streams that ask for an acknowledgment once batch
    `progress_depends` is on disk.
    """

    __slots__ = ("complete", "progress", "progress_depends")

    def __init__(
        self,
        depends: int,
        progress: list[StreamProgress],
        progress_depends: int,
        *,
        complete: bool,
    ) -> None:
        super().__init__(depends)
        self.complete = complete
        self.progress = progress
        self.progress_depends = progress_depends


class _Arriving:
    """Messages for a queue: plain ones with their identifiers, or one of a transactional stream."""

    __slots__ = ("before", "identifiers", "run", "stream")

    def __init__(
        self,
        run: UserMessageRun,
        identifiers: list[bytes],
        stream: IncomingTransactionalTransferInfo | None,
    ) -> None:
        self.run = run
        self.identifiers = identifiers
        self.stream = stream
        # How far the stream was before, and where receipts went.
        self.before = (
            (stream.sequence_identifier, stream.sequence_number, stream.receipts_to)
            if stream is not None
            else (b"", 0, "")
        )


class Reception:
    """Messages that came together, on their way into queues.

    Args:
        acknowledgments: takes the acknowledgments of transactional messages among them.
        count: told what became of messages that were not delivered.
    """

    __slots__ = (
        "_acknowledgments",
        "_count",
        "_express",
        "_identifiers",
        "_origin",
        "_places",
        "_progress",
        "_queue",
        "_recoverable",
        "_run",
        "_state",
        "_stored",
        "_streams",
    )

    def __init__(
        self,
        state: State,
        origin: Origin,
        *,
        acknowledgments: Acknowledgments,
        count: Callable[[str], None],
    ) -> None:
        self._state = state
        self._origin = origin
        self._acknowledgments = acknowledgments
        self._count = count
        # Whether any message must be durable.
        self._recoverable = False
        # Messages in a row for one queue, which go into it together.
        self._queue: Queue | None = None
        self._run: list[_Arriving] = []
        self._places: dict[bytes, Place] = {}
        self._streams: dict[bytes, IncomingTransactionalTransferInfo] = {}
        self._progress: dict[int, StreamProgress] = {}
        # For the history: who is known already, and what was processed.
        self._identifiers: set[bytes] = set()
        self._express: list[bytes] = []
        self._stored: list[bytes] = []

    def receive(self, runs: list[UserMessageRun]) -> Received:
        """Deal with all messages that came together."""
        complete = True
        for run in runs:
            if not self._add(run):
                complete = False
                break
        complete = complete and self._flush()
        state = self._state
        state.message_history.add(state, self._express, stored=False)
        state.message_history.add(state, self._stored, stored=True)
        return Received(
            state.outbox.changed() if self._recoverable else 0,
            list(self._progress.values()),
            state.outbox.latest(),
            complete=complete,
        )

    def _add(self, run: UserMessageRun) -> bool:
        """Take the next messages; False when there is no room, then they are the last."""
        head = run.head
        if head.flags & _DM:
            self._recoverable = True
        key = head.target + head.raw_destination
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = locate(self._state, head)
        if head.transaction_offset:
            return self._add_transactional(head, place) and all(
                self._add_transactional(UserMessage(packet), place) for packet in run.packets[1:]
            )
        identifiers = run.identifiers()
        if not self._are_new(identifiers):
            fresh = self._without_duplicates(run, identifiers)
            if fresh is None:
                return True
            run = fresh
            identifiers = run.identifiers()
        self._identifiers.update(identifiers)
        queue = place.queue
        if queue is not None and queue.role in _DELIVERABLE:
            return self._append(queue, _Arriving(run, identifiers, None))
        self._note(head, identifiers)
        acknowledges = (
            queue is not None and queue.properties.private_queue_number == ORDER_QUEUE_NUMBER
        )
        for packet in run.packets:
            if not acknowledges:
                self._reject(UserMessage(packet), MessageClass.NACK_BAD_DST_Q)
            elif not self._acknowledgments.take(UserMessage(packet), self._origin):
                self._count("unknown transactional acknowledgment")
        return True

    # Duplicates

    def _are_new(self, identifiers: list[bytes]) -> bool:
        """Whether none was received before, neither in this read nor earlier, and none twice."""
        return (
            self._state.message_history.has_none_of(identifiers)
            and self._identifiers.isdisjoint(identifiers)
            and len(set(identifiers)) == len(identifiers)
        )

    def _without_duplicates(
        self, run: UserMessageRun, identifiers: list[bytes]
    ) -> UserMessageRun | None:
        """The messages that were not received before, if there are any."""
        fresh: UserMessageRun | None = None
        seen = set(self._identifiers)
        history = self._state.message_history
        for packet, identifier in zip(run.packets, identifiers, strict=True):
            if identifier in history or identifier in seen:
                self._count("duplicate message")
                self._note(run.head, [identifier])
                continue
            seen.add(identifier)
            if fresh is None:
                fresh = UserMessageRun(UserMessage(packet))
            else:
                fresh.packets.append(packet)
        return fresh

    def _note(self, head: UserMessage, identifiers: list[bytes]) -> None:
        if head.flags & _DM:
            self._stored += identifiers
        else:
            self._express += identifiers

    # Transactional messages

    def _add_transactional(self, message: UserMessage, place: Place) -> bool:
        queue = place.queue
        if queue is None or queue.role not in _DELIVERABLE:
            self._refuse_transactional(message, place, MessageClass.NACK_BAD_DST_Q)
            return True
        if not queue.properties.transactional:
            self._refuse_transactional(message, place, MessageClass.NACK_NOT_TRANSACTIONAL_Q)
            return True
        stream = self._stream(message, queue)
        rule = ORDER_RULES[self._origin.transport]
        position = rule.position_of(message)
        if not rule.follows(stream, position):
            self._out_of_order(message, stream)
            return True
        if not stream.sequence_identifier:
            reason = add_stream(self._state, queue, stream)
            if reason is not None:
                # Choice: the session goes on, so that only this stream waits. Without an OrderAck
                # the sender keeps its messages and sends them again.
                self._count(reason)
                kept = "message that stays with its sender"
                self._state.outbox.drop(kept, queue.path, message.packet, reason)
                return True
        arriving = _Arriving(UserMessageRun(message), [], stream)
        self._go_on(stream, position, message)
        return self._append(queue, arriving)

    def _refuse_transactional(
        self, message: UserMessage, place: Place, message_class: MessageClass
    ) -> None:
        """No queue takes a message, which passes its stream nevertheless.

        So no copy of it gets into a queue that is created meanwhile, and what follows it does.
        """
        stream = self._stream(message, None)
        known = stream.sequence_identifier != b""
        rule = ORDER_RULES[self._origin.transport]
        position = rule.position_of(message)
        is_ours = place.whereto is not Whereto.ELSEWHERE
        follows = is_ours and rule.follows(stream, position)
        if known and not follows:
            self._out_of_order(message, stream)
            return
        # [MS-MQQB] 3.1.5.8.2 refuses without a look at the stream; so do we if it has no room.
        if follows and (known or add_stream(self._state, None, stream) is None):
            self._go_on(stream, position, message)
            store_stream(self._state, stream)
            self._tell_progress(message, stream)
        self._learn_address(message)
        self._reject(message, message_class)

    def _go_on(
        self,
        stream: IncomingTransactionalTransferInfo,
        position: StreamPosition,
        message: UserMessage,
    ) -> None:
        """A message is the next of its stream."""
        late_after = message.sent_time + message.time_to_reach_queue
        stream.accept(position, late_after, self._state.utc)

    def _out_of_order(
        self, message: UserMessage, stream: IncomingTransactionalTransferInfo
    ) -> None:
        """A message came before, or another one must come first."""
        self._count("transactional message out of order")
        if stream.sequence_identifier:
            stream.reject(self._state.utc)
            store_stream(self._state, stream)
            self._tell_progress(message, stream)

    def _stream(
        self, message: UserMessage, queue: Queue | None
    ) -> IncomingTransactionalTransferInfo:
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

    def _tell_progress(
        self, message: UserMessage, stream: IncomingTransactionalTransferInfo
    ) -> None:
        """Every message of a transactional stream asks for an acknowledgment of the stream."""
        self._learn_address(message)
        self._progress[id(stream)] = StreamProgress(stream, order_queue_of(self._state, message))

    def _learn_address(self, message: UserMessage) -> None:
        source = message.source_queue_manager
        if source == self._origin.queue_manager:
            learn_address(self._state, source, self._origin.address)

    # Delivery

    def _append(self, queue: Queue, arriving: _Arriving) -> bool:
        if queue is not self._queue:
            if not self._flush():
                return False
            self._queue = queue
        self._run.append(arriving)
        return True

    def _reject(self, message: UserMessage, message_class: MessageClass) -> None:
        self._count(f"refused: {message_class.name}")
        reject(self._state, message, message_class)

    def _flush(self) -> bool:
        """Put the messages in a row into their queue; False when there was no room for all."""
        run, self._run = self._run, []
        queue = self._queue
        if queue is None or not run:
            return True
        streams = {id(arriving.stream): arriving.stream for arriving in run if arriving.stream}
        runs = [arriving.run for arriving in run]
        classes = deliver(self._state, queue, runs, list(streams.values())).classes
        at = 0
        for arriving in run:
            end = at + len(arriving.run.packets)
            self._delivered(arriving, classes[at:end])
            at = end
        left = [] if len(classes) == at else _left(run, len(classes))
        for arriving in reversed(left):
            if arriving.stream is not None:
                self._take_back(arriving.stream, arriving.before)
        taken = run[: len(run) - len(left)]
        for arriving in {id(arriving.stream): arriving for arriving in taken}.values():
            if arriving.stream is not None:
                self._tell_progress(arriving.run.head, arriving.stream)
        return not left

    def _take_back(
        self, stream: IncomingTransactionalTransferInfo, before: tuple[bytes, int, str]
    ) -> None:
        """A message of a stream found no room: it is to come again."""
        stream.sequence_identifier, stream.sequence_number, stream.receipts_to = before
        if stream.sequence_identifier:
            store_stream(self._state, stream)
        else:
            forget_stream(self._state, stream)

    def _delivered(self, arriving: _Arriving, classes: list[MessageClass]) -> None:
        """Some or all messages of a run are dealt with."""
        head = arriving.run.head
        if not classes:
            return
        accepted = classes.count(_ACCEPTED)
        if arriving.stream is None:
            self._note(head, arriving.identifiers[: len(classes)])
        if accepted < len(classes):
            for message_class in classes:
                if message_class is not _ACCEPTED:
                    self._count(f"refused: {message_class.name}")
        if accepted and head.flags & _ADMIN_MASK:
            self._learn_address(head)
        # A traced message has a header behind its body, so that it stands alone.
        if accepted and head.tracing_requested:
            send_report(self._state, head)


def _left(run: list[_Arriving], count: int) -> list[_Arriving]:
    """What is not complete after so many messages, which are fewer than there are."""
    at = 0
    while count >= len(run[at].run.packets):
        count -= len(run[at].run.packets)
        at += 1
    return run[at:]
