"""Reception: messages from another queue manager ([MS-MQQB] 3.1.5.8).

A transport passes the messages that arrived together as one `Reception`, which determines for each
the destination, whether it is a duplicate, whether it is the next of its stream, whether the queue
takes it and whether there is room. All changes of one reception are stored in one batch. Transports
that answer each message use `answered_reception.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.queue import Queue
from openmsmq.core.routing.next_hops import MAX_HOPS
from openmsmq.core.transfer.forwarding.routed import (
    NotRouted,
    find_connector,
    find_outgoing,
    hop_identifiers,
    store,
)
from openmsmq.core.transfer.notices.reports import send_report
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_header import ADMIN_SHIFT, DELIVERY_MODE_SHIFT
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun

from .addressing import Forward, Local, Nowhere, Place, locate
from .delivery import deliver, reject
from .received import NOT_BEGUN, ArrivingStreams, Received, reached
from .stream_order import StreamPosition, position_in_session
from .streams import IncomingTransactionalTransferInfo, add_stream, store_stream

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Origin

    from .received import Acknowledgments

_ACCEPTED: Final = MessageClass.ACK_REACH_QUEUE
_DM: Final = 1 << DELIVERY_MODE_SHIFT
_ADMIN_MASK: Final = 7 << ADMIN_SHIFT


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
        self.before = reached(stream) if stream is not None else NOT_BEGUN


class Reception:
    """Messages that arrived together, on their way into queues.

    Args:
        acknowledgments: takes the acknowledgments of transactional messages among them.
    """

    __slots__ = (
        "_acknowledgments",
        "_express",
        "_identifiers",
        "_origin",
        "_places",
        "_queue",
        "_recoverable",
        "_refused",
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
        acknowledgments: Acknowledgments | None,
    ) -> None:
        self._state = state
        self._origin = origin
        self._acknowledgments = acknowledgments
        # Whether any message must be durable.
        self._recoverable = False
        # Consecutive messages for one queue, which go into it together.
        self._queue: Queue | None = None
        self._run: list[_Arriving] = []
        # Messages that a check refused, each by itself.
        self._refused: dict[UserMessageRun, MessageClass] = {}
        self._places: dict[bytes, Place] = {}
        self._streams = ArrivingStreams(state, origin)
        # For the history: identifiers seen, and those of processed messages.
        self._identifiers: set[bytes] = set()
        self._express: list[bytes] = []
        self._stored: list[bytes] = []

    def receive(
        self,
        runs: list[UserMessageRun],
        refused: dict[UserMessageRun, MessageClass] | None = None,
    ) -> Received:
        """Process all messages that arrived together.

        Args:
            refused: the messages, each by itself, that a check refused, and how.
        """
        if refused is not None:
            self._refused = refused
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
            self._streams.progress(),
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
        if isinstance(place, Forward):
            if place.foreign_site is None:
                return self._forward(run)
            place = find_connector(self._state, head, self._origin, place.foreign_site)
        if head.transaction_offset:
            return all(self._add_transactional(single, place) for single in _one_by_one(run))
        fresh = self._take_new(run)
        if fresh is None:
            return True
        if isinstance(place, Local) and not place.acknowledges:
            return self._append(place.queue, fresh)
        self._note(head, fresh.identifiers)
        if isinstance(place, Nowhere):
            for packet in fresh.run.packets:
                self._reject(UserMessage(packet), MessageClass.NACK_BAD_DST_Q, place.reason)
        else:
            self._acknowledge(fresh.run)
        return True

    def _forward(self, run: UserMessageRun) -> bool:
        """Messages for another queue manager; False when there is no room for them."""
        head = run.head
        identifiers: list[bytes] = []
        # [MS-MQQB] 3.1.5.8.1: only the destination distinguishes transactional messages.
        if not head.transaction_offset:
            fresh = self._take_new(run, hop_identifiers(run))
            if fresh is None:
                return True
            run, identifiers = fresh.run, fresh.identifiers
        queue = find_outgoing(self._state, head, self._origin)
        if isinstance(queue, NotRouted):
            self._refuse(run, MessageClass.NACK_BAD_DST_Q, queue)
        elif queue is not None and head.routing_count >= MAX_HOPS:
            self._refuse(run, MessageClass.NACK_HOP_COUNT_EXCEEDED)
        else:
            count = 0
            if queue is not None:
                count = store(self._state, run, queue, self._origin.address)
            self._note(head, identifiers[:count])
            if count < len(run.packets):
                # The messages before them have their room.
                self._flush()
                return False
            return True
        self._note(head, identifiers)
        self._streams.learn_address(head)
        return True

    def _refuse(self, run: UserMessageRun, message_class: MessageClass, reason: str = "") -> None:
        for packet in run.packets:
            self._reject(UserMessage(packet), message_class, reason)

    def _acknowledge(self, run: UserMessageRun) -> None:
        """Messages for the order queue."""
        refused = self._refused.get(run)
        for packet in run.packets:
            if refused is not None:
                self._reject(UserMessage(packet), refused)
            elif self._acknowledgments is None or not self._acknowledgments.take(
                UserMessage(packet)
            ):
                self._count_ignored("unknown transactional acknowledgment")

    # Counters

    def _count_rejected(self, message_class: MessageClass) -> None:
        labels = (str(self._origin.transport), message_class.name)
        self._state.counters.rejected_messages.add(labels)

    def _count_ignored(self, reason: str) -> None:
        self._state.counters.ignored_messages.add((str(self._origin.transport), reason))

    # Duplicates

    def _take_new(
        self, run: UserMessageRun, identifiers: list[bytes] | None = None
    ) -> _Arriving | None:
        """The messages that were not received before, if any; they are marked as received."""
        if identifiers is None:
            identifiers = run.identifiers()
        if not self._are_new(identifiers):
            fresh = self._without_duplicates(run, identifiers)
            if fresh is None:
                return None
            run, identifiers = fresh
        self._identifiers.update(identifiers)
        return _Arriving(run, identifiers, None)

    def _are_new(self, identifiers: list[bytes]) -> bool:
        """Whether all are new, both to earlier reads and among each other."""
        return (
            self._state.message_history.has_none_of(identifiers)
            and self._identifiers.isdisjoint(identifiers)
            and len(set(identifiers)) == len(identifiers)
        )

    def _without_duplicates(
        self, run: UserMessageRun, identifiers: list[bytes]
    ) -> tuple[UserMessageRun, list[bytes]] | None:
        """The messages that were not received before and their identifiers, if there are any."""
        fresh: UserMessageRun | None = None
        new: list[bytes] = []
        seen_identifiers = set(self._identifiers)
        history = self._state.message_history
        for packet, identifier in zip(run.packets, identifiers, strict=True):
            if identifier in history or identifier in seen_identifiers:
                self._count_ignored("duplicate message")
                self._note(run.head, [identifier])
                continue
            seen_identifiers.add(identifier)
            new.append(identifier)
            if fresh is None:
                fresh = UserMessageRun(UserMessage(packet))
            else:
                fresh.packets.append(packet)
        return (fresh, new) if fresh is not None else None

    def _note(self, head: UserMessage, identifiers: list[bytes]) -> None:
        if head.flags & _DM:
            self._stored += identifiers
        else:
            self._express += identifiers

    # Transactional messages

    def _add_transactional(self, run: UserMessageRun, place: Local | Nowhere) -> bool:
        """Take one transactional message."""
        message = run.head
        if isinstance(place, Nowhere):
            self._refuse_transactional(message, MessageClass.NACK_BAD_DST_Q, place.reason)
            return True
        queue = place.queue
        if place.acknowledges:
            self._refuse_transactional(message, MessageClass.NACK_BAD_DST_Q)
            return True
        if not queue.properties.transactional:
            not_here = MessageClass.NACK_NOT_TRANSACTIONAL_Q
            self._refuse_transactional(message, not_here, queue=queue)
            return True
        position = position_in_session(message)
        stream = self._streams.find(message, queue, position)
        if not self._streams.is_next(stream, position):
            self._out_of_order(message, stream, position)
            return True
        if not stream.sequence_identifier:
            reason = add_stream(self._state, queue, stream)
            if reason is not None:
                # Choice: the session continues, so that only this stream waits. Without an OrderAck
                # the sender keeps its messages and sends them again.
                self._count_ignored(reason)
                kind = "message that stays with its sender"
                self._state.outbox.drop(kind, queue.path, message.packet, reason)
                return True
        arriving = _Arriving(run, [], stream)
        self._streams.go_on(stream, position, message)
        return self._append(queue, arriving)

    def _refuse_transactional(
        self,
        message: UserMessage,
        message_class: MessageClass,
        reason: str = "",
        queue: Queue | None = None,
    ) -> None:
        """Advance the stream of a message that no queue takes.

        So no copy of it gets into a queue that is created later, and the messages that follow do.
        """
        position = position_in_session(message)
        stream = self._streams.find(message, None, position)
        known = stream.sequence_identifier != b""
        follows = self._streams.is_next(stream, position)
        if known and not follows:
            self._out_of_order(message, stream, position)
            return
        # [MS-MQQB] 3.1.5.8.2 refuses without a look at the stream; so do we if it has no room.
        if follows and (known or add_stream(self._state, None, stream) is None):
            self._streams.go_on(stream, position, message)
            store_stream(self._state, stream)
            self._streams.tell_progress(message, stream)
        self._streams.learn_address(message)
        self._reject(message, message_class, reason, queue)

    def _out_of_order(
        self,
        message: UserMessage,
        stream: IncomingTransactionalTransferInfo,
        position: StreamPosition,
    ) -> None:
        """The message is a duplicate, or another one must come first."""
        self._count_ignored("transactional message out of order")
        self._streams.out_of_order(message, stream, position)

    # Delivery

    def _append(self, queue: Queue, arriving: _Arriving) -> bool:
        if queue is not self._queue:
            if not self._flush():
                return False
            self._queue = queue
        self._run.append(arriving)
        return True

    def _reject(
        self,
        message: UserMessage,
        message_class: MessageClass,
        reason: str = "",
        queue: Queue | None = None,
    ) -> None:
        self._count_rejected(message_class)
        reject(self._state, message, message_class, reason, queue=queue)

    def _flush(self) -> bool:
        """Put the consecutive messages into their queue; False when there was no room for all."""
        run, self._run = self._run, []
        queue = self._queue
        if queue is None or not run:
            return True
        streams = {id(arriving.stream): arriving.stream for arriving in run if arriving.stream}
        runs = [arriving.run for arriving in run]
        classes = deliver(self._state, queue, runs, list(streams.values()), self._refused).classes
        at = 0
        for arriving in run:
            end = at + len(arriving.run.packets)
            self._delivered(arriving, classes[at:end])
            at = end
        rest = [] if len(classes) == at else _left(run, len(classes))
        for arriving in reversed(rest):
            if arriving.stream is not None:
                self._streams.take_back(arriving.stream, arriving.before)
        delivered = run[: len(run) - len(rest)]
        for arriving in {id(arriving.stream): arriving for arriving in delivered}.values():
            if arriving.stream is not None:
                self._streams.tell_progress(arriving.run.head, arriving.stream)
        return not rest

    def _delivered(self, arriving: _Arriving, classes: list[MessageClass]) -> None:
        """Count processed messages of a run."""
        head = arriving.run.head
        if not classes:
            return
        accepted = classes.count(_ACCEPTED)
        if arriving.stream is None:
            self._note(head, arriving.identifiers[: len(classes)])
        if accepted < len(classes):
            for message_class in classes:
                if message_class is not _ACCEPTED:
                    self._count_rejected(message_class)
        if accepted and head.flags & _ADMIN_MASK:
            self._streams.learn_address(head)
        # A traced message has a header after its body, so that it is in a run by itself.
        if accepted and head.tracing_requested:
            send_report(self._state, head)


def _one_by_one(run: UserMessageRun) -> list[UserMessageRun]:
    """The messages of a run, each by itself."""
    if len(run.packets) == 1:
        return [run]
    return [UserMessageRun(UserMessage(packet)) for packet in run.packets]


def _left(run: list[_Arriving], count: int) -> list[_Arriving]:
    """The result when only the first of the messages were processed."""
    at = 0
    while count >= len(run[at].run.packets):
        count -= len(run[at].run.packets)
        at += 1
    return run[at:]
