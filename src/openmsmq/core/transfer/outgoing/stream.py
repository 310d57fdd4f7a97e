"""OutgoingStream: the messages of an outgoing queue in transit, on any transport.

How to use it
    `take` messages that may leave now, and send them. Each message has a token: call `arrived` when
    the peer has it, `delivered` when the peer has stored it, `release` to send it again. An
    acknowledgment of a transactional stream (OrderAck, stream receipt) is `acknowledged`, that of
    a single message of it (FinalAck, final stream receipt) is `final`. Call `resend_due` when
    `resend_at` is over.

    A stream knows nothing of sessions, connections and packets of acknowledgments.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import (
    RECOVERABLE,
    TRANSACTIONAL,
    Message,
    PositionState,
)
from openmsmq.core.tracing import note_messages
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.history_record import Happening
from openmsmq.wire.message.sequence_info import SequenceInfo
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_place

from .departures import Departure, OutgoingMessagePosition
from .sequences import open_sequence, restart_sequence
from .stream_rules import BINARY_RULES, StreamRules

if TYPE_CHECKING:
    from openmsmq.core.model.message import History
    from openmsmq.core.model.outgoing_queue import OutgoingQueue
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.model.read import Read
    from openmsmq.core.state import State

    from .outgoing import Outgoing

# Members of enumerations take long to look up, so often used ones are constants.
_SENT: Final = Happening.SENT

_DELIVERED: Final = int(MessageClass.ACK_REACH_QUEUE)
_DELETED: Final = int(PositionState.DELETED)
AwaitingFinalAck = dict[tuple[int, int], Message]


class OutgoingStream:
    """The progress of the messages of one outgoing queue.

    Args:
        awaiting: the AwaitingFinalACKTable that it shares with others, by sequence and number.
        resend_table: seconds after which messages not acknowledged in order are sent again, the
            first time, the second time and so on.
        rules: the rules of the protocol.
    """

    __slots__ = (
        "_awaiting",
        "_operations",
        "_resend_index",
        "_resend_table",
        "_rules",
        "_state",
        "awaiting",
        "last_ack",
        "last_ack_count",
        "last_ack_time",
        "last_sent",
        "ordered",
        "outgoing",
        "plain",
        "predecessor",
        "queue",
        "resend_at",
        "resend_interval",
    )

    def __init__(
        self,
        state: State,
        operations: Outgoing,
        queue: Queue,
        outgoing: OutgoingQueue,
        awaiting: AwaitingFinalAck,
        resend_table: tuple[float, ...],
        rules: StreamRules = BINARY_RULES,
    ) -> None:
        self._state = state
        self._rules = rules
        self._operations = operations
        self._awaiting = awaiting
        self._resend_table = resend_table
        self.queue = queue
        self.outgoing = outgoing
        # Messages that were sent: plain ones, and transactional ones in order by their numbers.
        self.plain: dict[Message, None] = {}
        self.ordered: dict[int, OutgoingMessagePosition] = {}
        # Messages that were delivered and wait for a FinalAck.
        self.awaiting = 0
        # TxOutgoingSequence ([MS-MQQB] 3.1.1.3.1.1); `last_ack` is LastAck.SeqNo.
        self.last_ack = 0
        self.last_ack_time = 0
        self.last_ack_count = 0
        # The highest number of the active sequence that may have left, including before a restart.
        self.last_sent = outgoing.sequence.last if outgoing.sequence is not None else 0
        # The number before the next message, when none is in flight.
        self.predecessor = 0
        self._resend_index = 0
        self.resend_interval = resend_table[0]
        self.resend_at: float | None = None
        for message in operations.awaiting_final_ack(queue):
            self._await_final_ack(message)

    def _await_final_ack(self, message: Message) -> None:
        history = message.make_history()
        self._awaiting[history.tx_sequence_id, history.tx_sequence_number] = message
        self.awaiting += 1

    @property
    def has_work(self) -> bool:
        """Whether messages that may leave are waiting."""
        return self.queue.lanes.count > 0 and self.outgoing.may_transmit

    @property
    def unanswered(self) -> list[object]:
        """The tokens of messages that were sent and have not arrived, as far as known."""
        ordered = [entry for entry in self.ordered.values() if not entry.received_session_ack]
        return [*self.plain, *ordered]

    @property
    def unacknowledged(self) -> int:
        """The number of messages that were sent and have not arrived."""
        return len(self.unanswered)

    @property
    def in_flight(self) -> list[object]:
        """The tokens of all messages that were sent and are not settled."""
        return [*self.plain, *self.ordered.values()]

    def connected(self) -> None:
        """TxOutgoingSequence of a new session ([MS-MQQB] 3.1.3.2)."""
        self.last_ack = 0
        self.last_ack_time = int(self._state.utc)
        self.last_ack_count = 0
        self.outgoing.transfer_info.eod_last_ack = None
        self._begin_ladder()

    # Sending

    def take(self, count: int, max_bytes: int) -> Departure:
        """The messages that may leave now, up to a count and a size: on disk, in order, in time."""
        read = self._read(count, max_bytes)
        if read is None:
            return Departure(0)
        state = self._state
        # After a crash these message identifiers could be given to other messages.
        departure = Departure(state.outbox.pending(state.ordinals.depends()))
        if departure.depends:
            return departure
        durable = state.outbox.durable_number
        destination_stored = self.outgoing.destination_stored
        ready = 0
        for message in read.messages:
            traits = message.traits
            if message.stored > durable:
                departure.depends = message.stored
                break
            if traits & TRANSACTIONAL and destination_stored > durable:
                # After a crash, only a queue manager known for sure may acknowledge it.
                departure.depends = destination_stored
                break
            if self._rules.first_opens and traits & TRANSACTIONAL:
                waits_for = self._waits_for(message, durable)
                if waits_for is not None:
                    departure.depends = waits_for
                    break
            departure.express &= not traits & RECOVERABLE
            ready += 1
        if ready:
            note_messages(state, _SENT, self.queue, read.messages[:ready])
            self._depart(departure, read.messages[:ready], read.packets[:ready])
        return departure

    def _read(self, count: int, max_bytes: int) -> Read | None:
        """The next messages of the queue that have not expired."""
        while True:
            read = self._operations.peek(self.queue, max_count=count, max_bytes=max_bytes)
            if read is None:
                return None
            utc = self._state.utc
            expired = [message for message in read.messages if message.expires <= utc]
            if not expired:
                return read
            self._operations.expire(expired)
            # A planned range may keep one for a while.
            if not any(message.state == _DELETED for message in expired):
                return None

    def _waits_for(self, message: Message, durable: int) -> int | None:
        """The condition for which a message waits until its sequence is open; None if it may go.

        The first message opens the sequence: until the peer has it, no other leaves, and if
        it is deleted before, the rest begins another sequence. The result is the batch that
        must be on disk, 0 for an answer of the peer.
        """
        sequence = self.outgoing.sequence
        number = message.history.tx_sequence_number if message.history is not None else 0
        if sequence is None or number == 0:
            return None
        if sequence.opened:
            return sequence.opened_stored if sequence.opened_stored > durable else None
        if number == 1:
            return None
        first = self.ordered.get(1)
        if first is not None and not first.received_session_ack:
            return 0
        if first is not None or self.last_ack:
            open_sequence(self._state, self.queue, sequence)
        elif self.find(1) is not None:
            return 0
        else:
            restart_sequence(self._state, self.queue)
        return self._state.outbox.number

    def _depart(self, departure: Departure, messages: list[Message], packets: list[bytes]) -> None:
        self._operations.lock_front(self.queue, len(messages), self)
        if departure.express:
            self.plain.update(dict.fromkeys(messages))
            departure.packets = packets
            departure.tokens = messages
            return
        tokens: list[object] = []
        for message, packet in zip(messages, packets, strict=True):
            history = message.history
            # A message forwarded for another queue manager has no number of ours.
            if (
                message.traits & TRANSACTIONAL
                and history is not None
                and history.tx_sequence_number
            ):
                departure.packets.append(self._order(message, history, packet, tokens))
            else:
                self.plain[message] = None
                tokens.append(message)
                departure.packets.append(packet)
        departure.tokens = tokens

    def _order(
        self, message: Message, history: History, packet: bytes, tokens: list[object]
    ) -> bytes:
        """The packet of a transactional message, with its position in the stream."""
        view = UserMessage(packet)
        rules = self._rules
        position = OutgoingMessagePosition(
            self,
            message,
            history,
            awaits_final_ack=bool(message.traits & rules.final_traits)
            or (rules.final_on_request and view.final_ack_required),
        )
        number = position.tx_sequence_number
        if rules.first_opens and number == 1:
            # [MC-MQSRM] 3.1.7.2.3: the counts begin with the stream.
            self.last_ack_count = 0
        self.last_sent = max(self.last_sent, number)
        position.previous = self._previous_number(number)
        self.ordered[number] = position
        if self.resend_at is None:
            self.resend_at = self._state.now + self.resend_interval
        tokens.append(position)
        return patch_place(view, position.tx_sequence_id, number, position.previous)

    def _previous_number(self, number: int) -> int:
        """The number of the preceding transactional message.

        [MS-MQQB] 3.1.7.1.3: of those that still exist, so that gaps are bridged. A message sent
        again has no predecessor if all before it are settled: so it is accepted even by a receiver
        that has lost its stream.
        """
        if self.ordered:
            return next(reversed(self.ordered))
        if self._rules.first_opens:
            # [MC-MQSRM] 3.1.7.2.3: the last acknowledged number. Choice: before the first receipt
            # it is 1, because nothing else leaves before the peer has that message.
            return min(max(self.last_ack, 1), number - 1)
        return min(self.predecessor, number - 1)

    def release(self, tokens: Iterable[object]) -> None:
        """Messages that were sent must be sent again: they go back in place.

        So do the transactional messages that follow one of them: a receiver accepts none of these
        before the missing one.
        """
        messages: list[Message] = []
        first = 0
        for token in tokens:
            if isinstance(token, Message):
                if token in self.plain:
                    del self.plain[token]
                    messages.append(token)
            elif isinstance(token, OutgoingMessagePosition) and self._holds(token):
                number = token.tx_sequence_number
                first = min(first, number) if first else number
        if first:
            back = [number for number in self.ordered if number >= first]
            messages += [self.ordered.pop(number).message for number in back]
        if not self.ordered:
            self._begin_ladder()
        self._operations.release(messages)

    def _holds(self, position: OutgoingMessagePosition) -> bool:
        """Whether this is the copy that was sent last."""
        return self.ordered.get(position.tx_sequence_number) is position

    # Results

    def deliver_plain(self, messages: list[Message]) -> None:
        """The peer has stored plain messages."""
        for message in messages:
            self.plain.pop(message, None)
        self._operations.finish(self.queue, messages, _DELIVERED)

    def refused(self, token: object, message_class: int) -> None:
        """The peer refuses a message: it is given up.

        Those after it in its sequence are sent again, as their predecessor has changed.
        """
        if isinstance(token, Message):
            message = token
            self.plain.pop(message, None)
        elif isinstance(token, OutgoingMessagePosition) and self._holds(token):
            message = token.message
            number = token.tx_sequence_number
            del self.ordered[number]
            self.release(
                [entry for entry in self.ordered.values() if entry.tx_sequence_number > number]
            )
        else:
            return
        self._operations.finish(self.queue, [message], message_class)
        self.end_if_done()

    def acknowledged(self, number: int) -> None:
        """The peer has all transactional messages up to a number, in order."""
        self.last_ack_time = int(self._state.utc)
        self.last_ack_count += 1
        self.last_ack = max(self.last_ack, number)
        self.predecessor = self.last_ack
        covered = []
        for key, position in self.ordered.items():
            if key > number:
                break
            position.received_order_ack = True
            covered.append(position)
        self._advance_ladder(further=bool(covered))
        if not self._rules.order_suffices:
            covered = [position for position in covered if position.received_session_ack]
        self.deliver(covered)

    def deliver(self, positions: list[OutgoingMessagePosition]) -> None:
        """Transactional messages were delivered in order; some wait for a FinalAck now."""
        delivered: list[Message] = []
        for position in positions:
            if not self._holds(position):
                continue
            del self.ordered[position.tx_sequence_number]
            if position.awaits_final_ack:
                expires = self._rules.final_expires
                self._operations.await_final_ack(position.message, expires=expires)
                self._await_final_ack(position.message)
            else:
                delivered.append(position.message)
        if delivered:
            self._operations.finish(self.queue, delivered, _DELIVERED)
        self.end_if_done()

    def find(self, number: int) -> Message | None:
        """The message of the active sequence with a number, sent or about to be sent again."""
        position = self.ordered.get(number)
        if position is not None:
            return position.message
        for message in self.queue.lanes:
            history = message.history
            if message.transactional and history is not None:
                if history.tx_sequence_number == number:
                    return message
                if history.tx_sequence_number > number:
                    return None
        return None

    def final(self, message: Message, message_class: int) -> None:
        """The fate of one message of a sequence: received, or why not."""
        history = message.make_history()
        number = history.tx_sequence_number
        if self._awaiting.pop((history.tx_sequence_id, number), None) is not None:
            self.awaiting -= 1
        position = self.ordered.get(number)
        # The same number of a later sequence is another message.
        if position is not None and position.message is message:
            del self.ordered[number]
        self._operations.finish(self.queue, [message], message_class, acknowledged=True)
        if not self.ordered:
            self.resend_at = None
        self.end_if_done()

    def forget(self, messages: Iterable[Message]) -> None:
        """Messages left the queue; those that awaited a FinalAck no longer do."""
        for message in messages:
            history = message.history
            if history is not None and history.awaiting_final_ack:
                key = history.tx_sequence_id, history.tx_sequence_number
                if self._awaiting.pop(key, None) is not None:
                    self.awaiting -= 1
        self.end_if_done()

    def end_if_done(self) -> None:
        """[MS-MQQB] 3.1.5.6: the sequence ends when no message of it is left."""
        queue = self.queue
        locked = queue.locked
        if self.outgoing.sequence is None or queue.lanes.count:
            return
        # The counts below may include messages that have left the queue in this turn.
        if any(entry.message.lookup_id in locked for entry in self.ordered.values()):
            return
        # Those that await a FinalAck are delivered; a reader may have locked others.
        if len(locked) <= self.awaiting + len(self.plain):
            self._operations.end_sequence(queue)
            self.ordered.clear()
            self.last_ack = 0
            self.last_sent = 0
            self._begin_ladder()

    # Sending again

    def _begin_ladder(self) -> None:
        """Messages in flight are finished: acknowledged, or sent again."""
        self.predecessor = 0
        self._resend_index = 0
        self.resend_interval = self._resend_table[0]
        self.resend_at = None

    def _advance_ladder(self, *, further: bool) -> None:
        """[MS-MQQB] 3.1.5.6: the next interval, and the first one when nothing is left.

        `further` says that more was acknowledged than before.
        """
        if self._rules.order_lengthens:
            self._next_interval()
        elif not further:
            return
        else:
            self._resend_index = 0
            self.resend_interval = self._resend_table[0]
        if all(position.received_order_ack for position in self.ordered.values()):
            self._resend_index = 0
            self.resend_at = None
        else:
            self.resend_at = self._state.now + self.resend_interval

    def _next_interval(self) -> None:
        self._resend_index = min(self._resend_index + 1, len(self._resend_table) - 1)
        self.resend_interval = self._resend_table[self._resend_index]

    def resend_due(self) -> None:
        """Transactional Ack Wait Timer: all unacknowledged messages are sent again."""
        self.resend_at = None
        self.predecessor = 0
        self._next_interval()
        messages = [position.message for position in self.ordered.values()]
        self.ordered.clear()
        self._operations.release(messages)

    # Information for users

    def refresh_info(self) -> None:
        """Update OutgoingTransferInfo ([MS-MQQB] 3.1.5.6)."""
        state = self._state
        info = self.outgoing.transfer_info
        sequence = self.outgoing.sequence
        unacked = [entry for entry in self.ordered.values() if not entry.received_order_ack]
        info.eod_last_ack_time = self.last_ack_time
        info.eod_last_ack_count = self.last_ack_count
        info.eod_no_ack_count = len(unacked)
        info.eod_resend_interval = int(self.resend_interval)
        info.eod_first_non_ack = unacked[0].sequence_info if unacked else None
        info.eod_last_non_ack = unacked[-1].sequence_info if unacked else None
        if sequence is not None and (self.last_ack or self._rules.first_opens):
            last = self.last_ack
            info.eod_last_ack = SequenceInfo(sequence.identifier, last, max(last - 1, 0))
        if sequence is not None:
            last = sequence.last
            info.eod_next_seq = SequenceInfo(sequence.identifier, last + 1, last)
        info.eod_no_read_count = self.awaiting
        info.eod_resend_count = self._resend_index
        info.eod_resend_time = (
            int(state.utc + self.resend_at - state.now) if self.resend_at is not None else 0
        )
