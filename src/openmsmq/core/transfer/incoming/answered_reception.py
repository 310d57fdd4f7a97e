"""Reception for transports that answer each message separately ([MC-MQSRM] 3.1.5.1).

The answer says whether a message was accepted for good, so a refusal needs no acknowledgment: its
sender makes the dead letter. A message that is refused or late does not advance its
stream; a second copy of it is refused again. Only a late message that opens a
stream does so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from openmsmq.core.queues.acceptance import EnqueueStatus, check_room
from openmsmq.core.transfer.notices.reports import send_report
from openmsmq.core.transfer.notices.srmp_receipts import send_final_receipt
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_header import DELIVERY_MODE_SHIFT
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun

from .addressing import Local, Place, locate
from .delivery import deliver, is_late, reject, takes_freely
from .received import NOT_BEGUN, ArrivingStreams, Received, reached
from .stream_order import StreamPosition
from .streams import add_stream, store_stream

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Origin

    from .streams import IncomingTransactionalTransferInfo

Positions = Sequence[StreamPosition | None]
"""The position of each of several messages in its stream; None for one outside of a stream."""

_ACCEPTED: Final = MessageClass.ACK_REACH_QUEUE
_DM: Final = 1 << DELIVERY_MODE_SHIFT
# [MC-MQSRM] 3.1.5.1.11: the identifier of a message without one of its own.
NO_IDENTIFIER: Final = bytes(16) + (1).to_bytes(4, "little")


class _Arriving:
    """A message on its way into a queue, and the position of its stream before it."""

    __slots__ = ("at", "before", "run", "stream")

    def __init__(
        self, at: int, run: UserMessageRun, stream: IncomingTransactionalTransferInfo | None
    ) -> None:
        self.at = at
        self.run = run
        self.stream = stream
        self.before = reached(stream) if stream is not None else NOT_BEGUN


class AnsweredReception:
    """Messages that arrived together, each with its own answer, on their way into queues.

    Args:
        positions: the position of each message in its stream.
    """

    __slots__ = (
        "_bytes",
        "_express",
        "_identifiers",
        "_left",
        "_origin",
        "_places",
        "_positions",
        "_queue",
        "_recoverable",
        "_refused",
        "_row",
        "_state",
        "_stored",
        "_streams",
        "_takes_freely",
        "_verdicts",
    )

    def __init__(self, state: State, origin: Origin, positions: Positions) -> None:
        self._state = state
        self._origin = origin
        self._positions = positions
        self._streams = ArrivingStreams(state, origin)
        self._places: dict[bytes, Place] = {}
        # Whether a queue refuses messages only for lack of room or for being late.
        self._takes_freely: dict[Queue, bool] = {}
        # Consecutive messages for one queue, which go into it together, and their bytes.
        self._queue: Queue | None = None
        self._row: list[_Arriving] = []
        self._bytes = 0
        # The verdicts of checks, by run; the answers, by index.
        self._verdicts: dict[UserMessageRun, MessageClass] = {}
        self._refused: dict[int, MessageClass] = {}
        self._left: set[int] = set()
        # For the history, and whether any message must be durable.
        self._identifiers: set[bytes] = set()
        self._express: list[bytes] = []
        self._stored: list[bytes] = []
        self._recoverable = False

    def receive(
        self,
        runs: list[UserMessageRun],
        verdicts: dict[UserMessageRun, MessageClass] | None = None,
    ) -> Received:
        """Process all messages that arrived together.

        Messages may share a run if SRMP headers are their only ones after the body; messages of
        a stream if each directly follows the one before it.

        Args:
            verdicts: the messages that a check refused, and how.
        """
        if verdicts is not None:
            self._verdicts = verdicts
        at = 0
        for run in runs:
            self._add(at, run)
            at += len(run.packets)
        self._flush()
        state = self._state
        state.srmp_history.add(state, self._express, stored=False)
        state.srmp_history.add(state, self._stored, stored=True)
        return Received(
            state.outbox.changed() if self._recoverable else 0,
            self._streams.progress(),
            state.outbox.latest(),
            complete=not self._left,
            refused=self._refused,
            left=frozenset(self._left),
        )

    def _add(self, at: int, run: UserMessageRun) -> None:
        """Take the next run, of one message or of several."""
        if len(run.packets) == 1:
            self._add_one(at, run)
        elif not self._add_many(at, run):
            for place, packet in enumerate(run.packets, at):
                self._add_one(place, UserMessageRun(UserMessage(packet)))

    def _add_many(self, at: int, run: UserMessageRun) -> bool:
        """Take a run as a whole, if a queue is sure to take all of its messages."""
        place = self._locate(run.head)
        if not isinstance(place, Local) or place.acknowledges:
            return False
        first = self._positions[at]
        transactional = place.queue.properties.transactional
        if first is None:
            return not transactional and self._add_plain(run, place.queue)
        last = self._positions[at + len(run.packets) - 1]
        if last is None or not transactional:
            return False
        return self._go_on_with(run, place.queue, first, last)

    def _go_on_with(
        self, run: UserMessageRun, queue: Queue, first: StreamPosition, last: StreamPosition
    ) -> bool:
        """Take messages from a first to a last position, if they are the next of their stream."""
        self._flush()
        message = run.head
        stream = self._streams.find(message, queue, first)
        if (
            first.sequence != stream.sequence_identifier
            or not self._streams.is_next(stream, first)
            or message.tracing_requested
            or not self._is_certain(run, queue)
        ):
            return False
        self._recoverable = True
        self._streams.go_on(stream, last, message)
        transport = self._origin.transport
        classes = deliver(self._state, queue, [run], [stream], transport=transport).classes
        assert classes.count(_ACCEPTED) == len(run.packets)  # noqa: S101 - they are certain
        self._streams.tell_progress(message, stream)
        return True

    def _add_plain(self, run: UserMessageRun, queue: Queue) -> bool:
        """Take messages outside of a stream, if none of them came before."""
        identifiers = run.identifiers()
        new = set(identifiers)
        self._flush()
        if (
            len(new) < len(identifiers)
            or NO_IDENTIFIER in new
            or not new.isdisjoint(self._identifiers)
            or not self._state.srmp_history.has_none_of(new)
            or not self._is_certain(run, queue)
        ):
            return False
        self._identifiers |= new
        classes = deliver(self._state, queue, [run], transport=self._origin.transport).classes
        assert classes.count(_ACCEPTED) == len(identifiers)  # noqa: S101 - they are certain
        if run.head.flags & _DM:
            self._recoverable = True
            self._stored += identifiers
        else:
            self._express += identifiers
        return True

    def _locate(self, head: UserMessage) -> Place:
        """The destination of messages with these headers."""
        key = head.target + head.raw_destination
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = locate(self._state, head)
        return place

    def _add_one(self, at: int, run: UserMessageRun) -> None:
        """Take the next message."""
        head = run.head
        place = self._locate(head)
        position = self._positions[at]
        self._recoverable |= position is not None or bool(head.flags & _DM)
        if not isinstance(place, Local) or place.acknowledges:
            self._refuse_unknown(at, run, position, MessageClass.NACK_BAD_DST_Q)
        elif position is not None:
            if place.queue.properties.transactional:
                self._add_to_stream(at, run, place.queue, position)
            else:
                not_here = MessageClass.NACK_NOT_TRANSACTIONAL_Q
                self._refuse_unknown(at, run, position, not_here, place.queue)
        elif place.queue.properties.transactional:
            self._refuse(at, run, MessageClass.NACK_NOT_TRANSACTIONAL_MSG, place.queue)
        # [MC-MQSRM] 3.1.5.1.6: the signature is checked before the identifier.
        elif run in self._verdicts or self._is_new(run):
            self._append(place.queue, _Arriving(at, run, None))

    def _refuse_unknown(
        self,
        at: int,
        run: UserMessageRun,
        position: StreamPosition | None,
        message_class: MessageClass,
        queue: Queue | None = None,
    ) -> None:
        """Refuse a message that no queue takes, unless a queue deleted just now has taken it."""
        if position is not None:
            stream = self._streams.find(run.head, None, position)
            same = stream.sequence_identifier == position.sequence
            if same and position.number <= stream.sequence_number:
                self._count_ignored("transactional message out of order")
                self._streams.out_of_order(run.head, stream, position)
                return
        self._refuse(at, run, message_class, queue)

    def _refuse(
        self,
        at: int,
        run: UserMessageRun,
        message_class: MessageClass,
        queue: Queue | None = None,
    ) -> None:
        self._note_refused(at, message_class)
        reject(self._state, run.head, message_class, queue=queue)

    def _note_refused(self, at: int, message_class: MessageClass) -> None:
        self._refused[at] = message_class
        labels = (str(self._origin.transport), message_class.name)
        self._state.counters.rejected_messages.add(labels)

    def _count_ignored(self, reason: str) -> None:
        self._state.counters.ignored_messages.add((str(self._origin.transport), reason))

    # Duplicates

    def _is_new(self, run: UserMessageRun) -> bool:
        """Whether a plain message is new."""
        (identifier,) = run.identifiers()
        if identifier == NO_IDENTIFIER:
            return True
        if identifier in self._identifiers:
            # The queue may refuse the other one.
            self._flush()
        if identifier in self._state.srmp_history or identifier in self._identifiers:
            self._count_ignored("duplicate message")
            self._note(run)
            return False
        self._identifiers.add(identifier)
        return True

    def _note(self, run: UserMessageRun) -> None:
        """Note a plain message as processed: a copy of it is a duplicate."""
        identifiers = run.identifiers()
        if identifiers[0] == NO_IDENTIFIER:
            return
        if run.head.flags & _DM:
            self._stored += identifiers
        else:
            self._express += identifiers

    # Streams

    def _add_to_stream(
        self, at: int, run: UserMessageRun, queue: Queue, position: StreamPosition
    ) -> None:
        """Take a message of a stream, if it is the next."""
        message = run.head
        stream = self._streams.find(message, queue, position)
        if not self._streams.is_next(stream, position):
            self._count_ignored("transactional message out of order")
            self._streams.out_of_order(message, stream, position)
            return
        if not stream.sequence_identifier:
            reason = add_stream(self._state, queue, stream)
            if reason is not None:
                self._leave(at, run, queue, reason)
                return
        if position.sequence != stream.sequence_identifier and is_late(self._state, message):
            self._open_late(at, run, stream, position)
            return
        # A message that may be refused is processed alone, so that none follows it in its stream.
        alone = not self._is_certain(run, queue)
        if alone:
            self._flush()
        arriving = _Arriving(at, run, stream)
        self._streams.go_on(stream, position, message)
        self._append(queue, arriving)
        if alone:
            self._flush()

    def _open_late(
        self,
        at: int,
        run: UserMessageRun,
        stream: IncomingTransactionalTransferInfo,
        position: StreamPosition,
    ) -> None:
        """The first message of a stream comes too late: it is discarded, but the stream is open.

        Choice: its sender, which gets the same answer as in time, sends the others that follow it,
        and nothing else can open the stream.
        """
        message = run.head
        self._flush()
        self._streams.go_on(stream, position, message)
        store_stream(self._state, stream)
        self._streams.tell_progress(message, stream)
        self._refuse(at, run, MessageClass.NACK_REACH_QUEUE_TIMEOUT)
        # The class of a final receipt is one of those for messages that left their queue.
        send_final_receipt(self._state, message, MessageClass.NACK_RECEIVE_TIMEOUT)

    def _leave(self, at: int, run: UserMessageRun, queue: Queue, reason: str) -> None:
        """There is no room for a message: the sender must send it again."""
        self._count_ignored(reason)
        kind = "message that stays with its sender"
        self._state.outbox.drop(kind, queue.path, run.head.packet, reason)
        self._left.add(at)

    def _is_certain(self, run: UserMessageRun, queue: Queue) -> bool:
        """Whether a queue is sure to take a message, after those that wait for it here."""
        freely = self._takes_freely.get(queue)
        if freely is None:
            freely = takes_freely(self._state, queue, self._origin.transport)
            self._takes_freely[queue] = freely
        size = sum(map(len, run.packets))
        if queue is self._queue:
            size += self._bytes
        return (
            freely
            and run not in self._verdicts
            and not is_late(self._state, run.head)
            and check_room(self._state, queue, size) is EnqueueStatus.OK
        )

    # Delivery

    def _append(self, queue: Queue, arriving: _Arriving) -> None:
        if queue is not self._queue:
            self._flush()
            self._queue = queue
        self._row.append(arriving)
        self._bytes += len(arriving.run.head.packet)

    def _flush(self) -> None:
        """Put the consecutive messages into their queue."""
        row, self._row = self._row, []
        self._bytes = 0
        queue = self._queue
        if queue is None or not row:
            return
        streams = {id(arriving.stream): arriving.stream for arriving in row if arriving.stream}
        classes = deliver(
            self._state,
            queue,
            [arriving.run for arriving in row],
            list(streams.values()),
            self._verdicts,
            transport=self._origin.transport,
        ).classes
        answered: dict[int, _Arriving] = {}
        for arriving, message_class in zip(row, classes, strict=False):
            if self._settle(arriving, message_class) and arriving.stream is not None:
                answered[id(arriving.stream)] = arriving
        for arriving in reversed(row[len(classes) :]):
            self._left.add(arriving.at)
            self._take_back(arriving)
        for arriving in answered.values():
            if arriving.stream is not None:
                self._streams.tell_progress(arriving.run.head, arriving.stream)

    def _take_back(self, arriving: _Arriving) -> None:
        """Let a message that is not in its queue come again."""
        if arriving.stream is not None:
            self._streams.take_back(arriving.stream, arriving.before)
        elif arriving.run not in self._verdicts:
            self._identifiers.difference_update(arriving.run.identifiers())

    def _settle(self, arriving: _Arriving, message_class: MessageClass) -> bool:
        """Record that a message is in its queue, or that the queue refused it; return which."""
        if message_class is not _ACCEPTED:
            self._note_refused(arriving.at, message_class)
            self._take_back(arriving)
            return False
        if arriving.stream is None:
            self._note(arriving.run)
        if arriving.run.head.tracing_requested:
            send_report(self._state, arriving.run.head)
        return True
