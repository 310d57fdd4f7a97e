"""Messages arrive: duplicates, order, delivery and what the sender hears of it ([MS-MQQB] 3.1.5.8).

The messages of one read are delivered together, so that the store gets them in one batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.final_acks import order_queue_of
from openmsmq.core.names import is_read_only
from openmsmq.core.queue import Queue, QueueRole
from openmsmq.core.reports import destination_of
from openmsmq.core.transfer_info import NO_QUEUE_NUMBER, IncomingTransactionalTransferInfo
from openmsmq.wire.direct_format_name import DirectFormatName
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message_class import MessageClass
from openmsmq.wire.order_ack import ORDER_QUEUE_NUMBER, OrderAck, build_order_ack, recognize_ack
from openmsmq.wire.queue_address import QueueAddress, QueueAddressType
from openmsmq.wire.queue_address_names import format_name_of
from openmsmq.wire.queue_error import QueueError
from openmsmq.wire.scalars import GUID_NULL
from openmsmq.wire.user_message import UserMessage
from openmsmq.wire.user_message_run import UserMessageRun

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager

    from .connection import Connection
    from .sending import Sender

_ACCEPTED: Final = MessageClass.ACK_REACH_QUEUE
_DM: Final = 0x20
_TRACED: Final = 0x01
_ADMIN_MASK: Final = 0x0000E000
# UserHeader.Flags.DQ in the second byte of the flags.
_DQ: Final = 0x1C
_NOWHERE: Final = bytes(16)
_DELIVERABLE: Final = frozenset((QueueRole.USER, QueueRole.CONNECTOR))


class Receiver:
    """Takes the messages that sessions bring."""

    __slots__ = ("_counters", "_manager", "_sender")

    def __init__(self, manager: QueueManager, sender: Sender, counters: dict[str, int]) -> None:
        self._manager = manager
        self._sender = sender
        self._counters = counters

    def receive(
        self, connection: Connection, runs: list[UserMessageRun], *, now: float
    ) -> int | None:
        """Deal with the messages of one read.

        Returns:
            The batch that must be durable before they are acknowledged; None if there was no room
            for all of them, so that the session must end.
        """
        read = _Read(self, self._manager, connection, now)
        complete = True
        for run in runs:
            if not read.add(run):
                complete = False
                break
        complete = complete and read.flush()
        read.remember()
        if not complete:
            return None
        state = self._manager.state
        return state.outbox.changed() if read.recoverable else 0

    def count(self, what: str) -> None:
        self._counters[what] = self._counters.get(what, 0) + 1

    def is_for_us(self, message: UserMessage) -> bool:
        """Whether this queue manager is the destination of a message, not only on its way."""
        return message.packet[32:48] in (_NOWHERE, self._manager.state.identity)

    def find_queue(self, message: UserMessage) -> Queue | None:
        """The queue of this queue manager that a message is for."""
        state = self._manager.state
        destination = message.destination_queue
        if destination is None or not self.is_for_us(message):
            return None
        if destination.type == QueueAddressType.PRIVATE_ON_OTHER:
            return state.private_numbers.get(destination.number)
        try:
            name = format_name_of(destination)
        except QueueError:
            return None
        if isinstance(name, DirectFormatName):
            # Choice: what came here by a direct name is for us, whatever we are called there.
            return None if is_read_only(name) else state.paths.get(name.queue_name.key)
        return state.identifiers.get(destination.guid or GUID_NULL)

    def take_ack(self, connection: Connection, message: UserMessage, now: float) -> None:
        """A message to the order queue: an OrderAck or FinalAck, or nothing."""
        peer = connection.session.remote_guid
        try:
            ack = recognize_ack(message)
        except MalformedPacket:
            ack = None
        if ack is None:
            known = False
        elif isinstance(ack, OrderAck):
            known = self._sender.order_ack(ack, peer, now=now)
        else:
            known = self._sender.final_ack(ack, message.message_class, peer)
        if not known:
            self.count("unknown transactional acknowledgment")

    def send_order_ack(
        self, connection: Connection, ack: OrderAck, destination: QueueAddress, *, now: float
    ) -> None:
        """Order Ack Send Timer: tell the sender how far its stream got."""
        state = self._manager.state
        ordinal = state.ordinals.take(1, state.outbox) + 1
        packet = build_order_ack(
            ack,
            destination,
            source_queue_manager=state.manager.identifier,
            message_id=ordinal & 0xFFFFFFFF,
            sent_time=int(state.utc),
        )
        connection.session.send(packet, None, now=now)


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
        # How far the stream was before.
        self.before = (
            (stream.sequence_identifier, stream.sequence_number) if stream is not None else (0, 0)
        )


class _Read:
    """The messages of one read on their way into queues."""

    __slots__ = (
        "_connection",
        "_express",
        "_identifiers",
        "_manager",
        "_now",
        "_queue",
        "_queues",
        "_receiver",
        "_run",
        "_stored",
        "_streams",
        "recoverable",
    )

    def __init__(
        self, receiver: Receiver, manager: QueueManager, connection: Connection, now: float
    ) -> None:
        self._receiver = receiver
        self._manager = manager
        self._connection = connection
        self._now = now
        # Whether any message must be durable.
        self.recoverable = False
        # Messages in a row for one queue, which go into it together.
        self._queue: Queue | None = None
        self._run: list[_Arriving] = []
        self._queues: dict[bytes, Queue | None] = {}
        self._streams: dict[bytes, IncomingTransactionalTransferInfo] = {}
        # For the history: who is known already, and what was processed.
        self._identifiers: set[bytes] = set()
        self._express: list[bytes] = []
        self._stored: list[bytes] = []

    def add(self, run: UserMessageRun) -> bool:
        """Take the next messages; False when there is no room, then they are the last."""
        head = run.head
        if head.flags & _DM:
            self.recoverable = True
        key = head.packet[32:48] + _address_key(head)
        if key in self._queues:
            queue = self._queues[key]
        else:
            queue = self._queues[key] = self._receiver.find_queue(head)
        if head.transaction_offset:
            return self._add_transactional(head, queue) and all(
                self._add_transactional(UserMessage(packet), queue) for packet in run.packets[1:]
            )
        source = head.packet[16:32]
        identifiers = [source + packet[56:60] for packet in run.packets]
        if not self._are_new(identifiers):
            fresh = self._without_duplicates(run, identifiers)
            if fresh is None:
                return True
            run = fresh
            identifiers = [source + packet[56:60] for packet in run.packets]
        self._identifiers.update(identifiers)
        if queue is not None and queue.role in _DELIVERABLE:
            return self._append(queue, _Arriving(run, identifiers, None))
        self._note(head, identifiers)
        is_order_queue = (
            queue is not None and queue.properties.private_queue_number == ORDER_QUEUE_NUMBER
        )
        for packet in run.packets:
            if is_order_queue:
                self._receiver.take_ack(self._connection, UserMessage(packet), self._now)
            else:
                self._reject(UserMessage(packet), MessageClass.NACK_BAD_DST_Q)
        return True

    def _are_new(self, identifiers: list[bytes]) -> bool:
        """Whether none was received before, neither in this read nor earlier, and none twice."""
        return (
            self._manager.state.message_history.has_none_of(identifiers)
            and self._identifiers.isdisjoint(identifiers)
            and len(set(identifiers)) == len(identifiers)
        )

    def _without_duplicates(
        self, run: UserMessageRun, identifiers: list[bytes]
    ) -> UserMessageRun | None:
        """The messages that were not received before, if there are any."""
        fresh: UserMessageRun | None = None
        seen = set(self._identifiers)
        history = self._manager.state.message_history
        for packet, identifier in zip(run.packets, identifiers, strict=True):
            if identifier in history or identifier in seen:
                self._receiver.count("duplicate message")
                self._note(run.head, [identifier])
                continue
            seen.add(identifier)
            if fresh is None:
                fresh = UserMessageRun(UserMessage(packet))
            else:
                fresh.packets.append(packet)
        return fresh

    def _append(self, queue: Queue, arriving: _Arriving) -> bool:
        if queue is not self._queue:
            if not self.flush():
                return False
            self._queue = queue
        self._run.append(arriving)
        return True

    def _reject(self, message: UserMessage, message_class: MessageClass) -> None:
        self._receiver.count(f"refused: {message_class.name}")
        self._manager.incoming.reject(message, message_class)

    def _note(self, head: UserMessage, identifiers: list[bytes]) -> None:
        if head.flags & _DM:
            self._stored += identifiers
        else:
            self._express += identifiers

    # Transactional messages

    def _add_transactional(self, message: UserMessage, queue: Queue | None) -> bool:
        if queue is None or queue.role not in _DELIVERABLE:
            self._refuse_transactional(message, MessageClass.NACK_BAD_DST_Q)
            return True
        if not queue.properties.transactional:
            self._refuse_transactional(message, MessageClass.NACK_NOT_TRANSACTIONAL_Q)
            return True
        stream = self._stream(message, queue)
        sequence = _sequence_of(message)
        if not _is_next(stream, sequence, message):
            self._out_of_order(message, stream)
            return True
        if not stream.sequence_identifier:
            incoming = self._manager.incoming
            reason = incoming.add_stream(queue, stream)
            if reason is not None:
                # Choice: the session goes on, so that only this stream waits. Without an OrderAck
                # the sender keeps its messages and sends them again.
                self._receiver.count(reason)
                incoming.hold_back(queue, message, reason)
                return True
        arriving = _Arriving(UserMessageRun(message), [], stream)
        self._go_on(stream, sequence, message)
        return self._append(queue, arriving)

    def _refuse_transactional(self, message: UserMessage, message_class: MessageClass) -> None:
        """No queue takes a message, which passes its stream nevertheless.

        So no copy of it gets into a queue that is created meanwhile, and what follows it does.
        """
        stream = self._stream(message, None)
        known = stream.sequence_identifier != 0
        sequence = _sequence_of(message)
        is_next = self._receiver.is_for_us(message) and _is_next(stream, sequence, message)
        if known and not is_next:
            self._out_of_order(message, stream)
            return
        incoming = self._manager.incoming
        # [MS-MQQB] 3.1.5.8.2 refuses without a look at the stream; so do we if it has no room.
        if is_next and (known or incoming.add_stream(None, stream) is None):
            self._go_on(stream, sequence, message)
            incoming.store_stream(stream)
            self._schedule(message, stream)
        self._learn_address(message)
        self._reject(message, message_class)

    def _go_on(
        self, stream: IncomingTransactionalTransferInfo, sequence: int, message: UserMessage
    ) -> None:
        """A message is the next of its stream."""
        late_after = message.sent_time + message.time_to_reach_queue
        utc = self._manager.state.utc
        stream.accept(sequence, message.tx_sequence_number, late_after, utc)

    def _out_of_order(
        self, message: UserMessage, stream: IncomingTransactionalTransferInfo
    ) -> None:
        """A message came before, or another one must come first."""
        self._receiver.count("transactional message out of order")
        if stream.sequence_identifier:
            stream.reject(self._manager.state.utc)
            self._manager.incoming.store_stream(stream)
            self._schedule(message, stream)

    def _stream(
        self, message: UserMessage, queue: Queue | None
    ) -> IncomingTransactionalTransferInfo:
        """The stream of a message: the same object for all messages of one read."""
        raw = message.packet[16:32] + _address_key(message)
        stream = self._streams.get(raw)
        if stream is None:
            destination = message.destination_queue
            name = destination.direct if destination is not None else None
            stream = IncomingTransactionalTransferInfo(
                queue.number if queue is not None else NO_QUEUE_NUMBER,
                name or destination_of(message),
                message.source_queue_manager,
                address=self._connection.address,
            )
            key = stream.key
            # The same name may be written in several ways.
            stream = self._streams.get(key) or self._manager.incoming.find_stream(queue, stream)
            self._streams[raw] = self._streams[key] = stream
        return stream

    def _schedule(self, message: UserMessage, stream: IncomingTransactionalTransferInfo) -> None:
        """Every message of a transactional stream asks for an OrderAck."""
        state = self._manager.state
        self._learn_address(message)
        self._connection.order_acks.received(
            stream,
            order_queue_of(state, message),
            depends=state.outbox.latest(),
            now=self._now,
        )

    def _learn_address(self, message: UserMessage) -> None:
        source = message.source_queue_manager
        if source == self._connection.session.remote_guid:
            self._manager.incoming.learn_address(source, self._connection.address)

    # Delivery

    def flush(self) -> bool:
        """Put the messages in a row into their queue; False when there was no room for all."""
        run, self._run = self._run, []
        queue = self._queue
        if queue is None or not run:
            return True
        streams = {id(each.stream): each.stream for each in run if each.stream is not None}
        incoming = self._manager.incoming
        runs = [each.run for each in run]
        classes = incoming.deliver(queue, runs, list(streams.values())).classes
        at = 0
        for each in run:
            end = at + len(each.run.packets)
            self._delivered(each, classes[at:end])
            at = end
        left = [] if len(classes) == at else self._left(run, len(classes))
        for each in reversed(left):
            if each.stream is not None:
                self._take_back(each.stream, each.before)
        for each in {id(each.stream): each for each in run[: len(run) - len(left)]}.values():
            if each.stream is not None:
                self._schedule(each.run.head, each.stream)
        return not left

    def _take_back(
        self, stream: IncomingTransactionalTransferInfo, before: tuple[int, int]
    ) -> None:
        """A message of a stream found no room: it is to come again."""
        stream.sequence_identifier, stream.sequence_number = before
        if stream.sequence_identifier:
            self._manager.incoming.store_stream(stream)
        else:
            self._manager.incoming.forget_stream(stream)

    def _left(self, run: list[_Arriving], count: int) -> list[_Arriving]:
        """What is not complete after so many messages, which are fewer than there are."""
        at = 0
        while count >= len(run[at].run.packets):
            count -= len(run[at].run.packets)
            at += 1
        return run[at:]

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
                    self._receiver.count(f"refused: {message_class.name}")
        if accepted and head.flags & _ADMIN_MASK:
            self._learn_address(head)
        # A traced message has a header behind its body, so that it stands alone.
        if accepted and head.packet[3] & _TRACED:
            self._manager.incoming.report(head)

    def remember(self) -> None:
        """Enter the processed messages into the history."""
        state = self._manager.state
        state.message_history.add(state, self._express, stored=False)
        state.message_history.add(state, self._stored, stored=True)


def _address_key(message: UserMessage) -> bytes:
    """The destination as the packet has it: how it is encoded, and the bytes."""
    packet = message.packet
    return bytes((packet[61] & _DQ,)) + packet[64 : message.admin_offset]


def _sequence_of(message: UserMessage) -> int:
    sequence = message.tx_sequence_id
    return sequence.value if sequence is not None else 0


def _is_next(
    stream: IncomingTransactionalTransferInfo, sequence: int, message: UserMessage
) -> bool:
    """Whether a transactional message is accepted ([MS-MQQB] 3.1.5.8.6)."""
    number = message.tx_sequence_number
    previous = message.previous_tx_sequence_number
    if sequence == stream.sequence_identifier:
        # [MS-MQQB] 3.1.1.3.1: 0 stands for no sequence, so that no message is of it.
        return sequence > 0 and number > stream.sequence_number >= previous
    return sequence > stream.sequence_identifier and previous == 0 and number > 0
