"""Messages leave: outgoing queues through sessions, and what acknowledgments do to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import RECOVERABLE, TRANSACTIONAL, Message, PositionState
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.sequence_info import SequenceInfo
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_transaction
from openmsmq.wire.packets.order_ack import FinalAck, OrderAck
from openmsmq.wire.scalars import TxSequenceID

from .transfer import OutgoingMessagePosition, Transfer

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager

    from .connection import Connection
    from .events import MessagesAcknowledged
    from .settings import BinarySettings

_DELIVERED: Final = int(MessageClass.ACK_REACH_QUEUE)
_TRACED: Final = 0x01
# Bytes that are taken from a queue at a time.
_READ_BYTES: Final = 1024 * 1024


class Sender:
    """The outgoing queues of one queue manager that this protocol serves."""

    __slots__ = ("_awaiting", "_manager", "_settings", "transfers")

    def __init__(self, manager: QueueManager, settings: BinarySettings) -> None:
        self._manager = manager
        self._settings = settings
        self.transfers: dict[int, Transfer] = {}
        # AwaitingFinalACKTable, by sequence and number.
        self._awaiting: dict[tuple[int, int], Message] = {}

    def find_transfer(self, queue: Queue) -> Transfer | None:
        """The transfer of an outgoing queue; None if another protocol sends its messages."""
        transfer = self.transfers.get(queue.number)
        outgoing = queue.outgoing
        # [MS-MQQB] 3.1.7.12: other transports carry the others.
        if transfer is None and outgoing is not None and outgoing.transport is Transport.BINARY:
            transfer = Transfer(queue, outgoing, self._settings)
            self.transfers[queue.number] = transfer
            for message in self._manager.outgoing.awaiting_final_ack(queue):
                self._await(transfer, message)
        return transfer

    def _await(self, transfer: Transfer, message: Message) -> None:
        history = message.make_history()
        self._awaiting[history.tx_sequence_id, history.tx_sequence_number] = message
        transfer.awaiting += 1

    # Dispatch

    def pump(self, connection: Connection, *, now: float) -> bool:
        """Send what may be sent; return whether something waits for the disk."""
        session = connection.session
        blocked = False
        ready = list(connection.transfers)
        while ready and (room := session.room) > 0:
            transfer = ready[0] if len(ready) == 1 else min(ready, key=_rank)
            count = room if len(ready) == 1 else 1
            sent, waits = self._send_some(connection, transfer, count, now)
            blocked |= waits
            if not sent:
                ready.remove(transfer)
        return blocked

    def _send_some(
        self, connection: Connection, transfer: Transfer, count: int, now: float
    ) -> tuple[int, bool]:
        """Send up to `count` messages; also return whether the next one waits for the disk."""
        outgoing = self._manager.outgoing
        state = self._manager.state
        read = outgoing.peek(transfer.queue, max_count=count, max_bytes=_READ_BYTES)
        if read is None:
            return 0, False
        if state.outbox.pending(state.ordinals.depends()):
            # After a crash these message identifiers could be given to other messages.
            return 0, True
        utc = state.utc
        expired = [message for message in read.messages if message.expires <= utc]
        if expired:
            outgoing.expire(expired)
            return sum(message.state == PositionState.DELETED for message in expired), False
        ready = 0
        express = True
        peer_stored = transfer.outgoing.peer_stored
        for message in read.messages:
            if message.stored > state.outbox.durable_number:
                break
            if message.traits & TRANSACTIONAL and peer_stored > state.outbox.durable_number:
                # Only who is known for sure may acknowledge it after a crash.
                break
            express &= not message.traits & RECOVERABLE
            ready += 1
        waits = ready < len(read.messages)
        if ready:
            outgoing.lock_front(transfer.queue, ready, transfer)
            messages, packets = read.messages[:ready], read.packets[:ready]
            if express:
                transfer.plain.update(dict.fromkeys(messages))
                connection.session.send_express(packets, messages, now=now)
            else:
                for message, packet in zip(messages, packets, strict=True):
                    self._send_one(connection, transfer, message, packet, now)
            self._report(connection, packets)
        return ready, waits

    def _send_one(
        self,
        connection: Connection,
        transfer: Transfer,
        message: Message,
        packet: bytes,
        now: float,
    ) -> None:
        history = message.history
        # What is forwarded for another queue manager has no number of ours.
        if not message.traits & TRANSACTIONAL or history is None or not history.tx_sequence_number:
            transfer.plain[message] = None
            connection.session.send(packet, message, now=now)
            return
        view = UserMessage(packet)
        position = OutgoingMessagePosition(
            transfer, message, history, final_ack_required=view.final_ack_required
        )
        number = position.tx_sequence_number
        position.previous = transfer.previous_number(number)
        packet = patch_transaction(
            view,
            tx_sequence_id=TxSequenceID.from_value(position.tx_sequence_id),
            tx_sequence_number=number,
            previous_tx_sequence_number=position.previous,
        )
        transfer.ordered[number] = position
        if transfer.resend_at is None:
            self._start_resend_timer(transfer, now)
        connection.session.send(packet, position, now=now)

    def _report(self, connection: Connection, packets: list[bytes]) -> None:
        """Send the reports that traced messages ask for."""
        for packet in packets:
            if packet[3] & _TRACED:
                self._manager.incoming.report(UserMessage(packet), connection.address)

    # Session acknowledgments

    def acknowledged(self, event: MessagesAcknowledged) -> None:
        """The peer has messages, or has them on disk."""
        for token in event.received:
            if isinstance(token, OutgoingMessagePosition):
                token.received_session_ack = True
        plain: dict[Transfer, list[Message]] = {}
        ordered: dict[Transfer, list[OutgoingMessagePosition]] = {}
        for token in (*event.express, *event.recoverable):
            if isinstance(token, Message):
                transfer = self.transfers[token.queue.number]
                transfer.plain.pop(token, None)
                plain.setdefault(transfer, []).append(token)
            elif isinstance(token, OutgoingMessagePosition) and token.received_order_ack:
                ordered.setdefault(token.transfer, []).append(token)
        for transfer, messages in plain.items():
            self._manager.outgoing.finish(transfer.queue, messages, _DELIVERED)
        for transfer, positions in ordered.items():
            self._complete(transfer, positions)

    def release(self, connection: Connection) -> None:
        """The session is over: what it did not deliver goes back in place."""
        for transfer in connection.transfers:
            messages = list(transfer.plain)
            messages += [position.message for position in transfer.ordered.values()]
            transfer.plain.clear()
            transfer.ordered.clear()
            transfer.connection = None
            transfer.start_sequence(self._settings)
            self._manager.outgoing.release(messages)
        connection.transfers.clear()

    # Transactional acknowledgments

    def order_ack(self, ack: OrderAck, peer: UUID, *, now: float) -> bool:
        """Take in an OrderAck from a queue manager; return whether it concerns us."""
        sequence = ack.tx_sequence_id.value
        transfer = self._transfer_of(sequence)
        if transfer is None or transfer.outgoing.peer != peer:
            return False
        active = transfer.outgoing.sequence
        if active is None or ack.tx_sequence_number > active.last:
            return False
        transfer.last_ack_time = int(self._manager.state.utc)
        transfer.last_ack_count += 1
        transfer.acknowledged(ack.tx_sequence_number)
        covered = []
        for number, position in transfer.ordered.items():
            if number > ack.tx_sequence_number:
                break
            position.received_order_ack = True
            covered.append(position)
        self._advance_resend(transfer, now)
        self._complete(transfer, [each for each in covered if each.received_session_ack])
        self.refresh_info(transfer)
        return True

    def _transfer_of(self, sequence: int) -> Transfer | None:
        """The transfer with this sequence."""
        for transfer in self.transfers.values():
            active = transfer.outgoing.sequence
            if active is not None and active.identifier == sequence:
                return transfer
        return None

    def _complete(self, transfer: Transfer, positions: list[OutgoingMessagePosition]) -> None:
        """Transactional messages were delivered in order."""
        outgoing = self._manager.outgoing
        delivered: list[Message] = []
        for position in positions:
            if transfer.ordered.get(position.tx_sequence_number) is not position:
                continue
            del transfer.ordered[position.tx_sequence_number]
            if position.awaits_final_ack:
                outgoing.await_final_ack(position.message)
                self._await(transfer, position.message)
            else:
                delivered.append(position.message)
        if delivered:
            outgoing.finish(transfer.queue, delivered, _DELIVERED)
        self._end_if_done(transfer)

    def removed(self, queue: Queue) -> None:
        """Messages left an outgoing queue, such as those whose time was over."""
        transfer = self.transfers.get(queue.number)
        if transfer is not None:
            self._end_if_done(transfer)

    def _end_if_done(self, transfer: Transfer) -> None:
        """[MS-MQQB] 3.1.5.6: the sequence ends when no message of it is left."""
        queue = transfer.queue
        # Those that wait for a FinalAck are delivered; somebody may have locked others.
        held = len(queue.locked) - transfer.awaiting - len(transfer.plain)
        if transfer.outgoing.sequence is not None and not queue.lanes.count and not held:
            self._manager.outgoing.end_sequence(queue)
            transfer.last_ack = 0
            transfer.start_sequence(self._settings)

    def final_ack(self, ack: FinalAck, message_class: int, peer: UUID) -> bool:
        """Take in a FinalAck from a queue manager; return whether it concerns us."""
        sequence = ack.tx_sequence_id.value
        key = sequence, ack.tx_sequence_number
        message = self._awaiting.get(key)
        if message is None:
            transfer = self._transfer_of(sequence)
            message = self._find(transfer, ack.tx_sequence_number) if transfer else None
        else:
            transfer = self.transfers[message.queue.number]
        # Choice: only the queue manager that takes the messages of the queue may say so. Who that
        # is was on disk before the message left, so it is known after a restart, too.
        if (
            message is None
            or transfer is None
            or transfer.outgoing.peer != peer
            or self._message_id(message) != ack.message_id
        ):
            return False
        if self._awaiting.pop(key, None) is not None:
            transfer.awaiting -= 1
        position = transfer.ordered.get(ack.tx_sequence_number)
        # The same number of a later sequence is another message.
        if position is not None and position.message is message:
            del transfer.ordered[ack.tx_sequence_number]
        self._manager.outgoing.finish(transfer.queue, [message], message_class, acknowledged=True)
        if not transfer.ordered:
            transfer.resend_at = None
        self._end_if_done(transfer)
        self.refresh_info(transfer)
        return True

    def _find(self, transfer: Transfer, number: int) -> Message | None:
        position = transfer.ordered.get(number)
        if position is not None:
            return position.message
        for message in transfer.queue.lanes:
            history = message.history
            if message.transactional and history is not None:
                if history.tx_sequence_number == number:
                    return message
                if history.tx_sequence_number > number:
                    return None
        return None

    def _message_id(self, message: Message) -> int:
        return UserMessage(packet_of(self._manager.state, message)).message_id

    # Sending again

    def _start_resend_timer(self, transfer: Transfer, now: float) -> None:
        transfer.resend_at = now + transfer.resend_interval

    def _advance_resend(self, transfer: Transfer, now: float) -> None:
        """[MS-MQQB] 3.1.5.6: the next interval, and the first one when nothing is left."""
        self._next_interval(transfer)
        if all(position.received_order_ack for position in transfer.ordered.values()):
            transfer.resend_index = 0
            transfer.resend_at = None
        else:
            self._start_resend_timer(transfer, now)

    def _next_interval(self, transfer: Transfer) -> None:
        table = self._settings.resend_timer_table
        transfer.resend_index = min(transfer.resend_index + 1, len(table) - 1)
        transfer.resend_interval = table[transfer.resend_index]

    def resend_due(self, transfer: Transfer) -> None:
        """Transactional Ack Wait Timer: everything that is not acknowledged is sent again."""
        transfer.resend_at = None
        transfer.predecessor = 0
        self._next_interval(transfer)
        messages = [position.message for position in transfer.ordered.values()]
        transfer.ordered.clear()
        self._manager.outgoing.release(messages)

    # What people see

    def refresh_info(self, transfer: Transfer) -> None:
        """Bring OutgoingTransferInfo up to date ([MS-MQQB] 3.1.5.6)."""
        outgoing = transfer.outgoing
        state = self._manager.state
        info = outgoing.transfer_info
        sequence = outgoing.sequence
        unacked = [each for each in transfer.ordered.values() if not each.received_order_ack]
        info.eod_last_ack_time = transfer.last_ack_time
        info.eod_last_ack_count = transfer.last_ack_count
        info.eod_no_ack_count = len(unacked)
        info.eod_resend_interval = int(transfer.resend_interval)
        info.eod_first_non_ack = unacked[0].sequence_info if unacked else None
        info.eod_last_non_ack = unacked[-1].sequence_info if unacked else None
        if transfer.last_ack and sequence is not None:
            last = transfer.last_ack
            info.eod_last_ack = SequenceInfo(sequence.identifier, last, last - 1)
        if sequence is not None:
            last = sequence.last
            info.eod_next_seq = SequenceInfo(sequence.identifier, last + 1, last)
        info.eod_no_read_count = transfer.awaiting
        info.eod_resend_count = transfer.resend_index
        info.eod_resend_time = (
            int(state.utc + transfer.resend_at - state.now) if transfer.resend_at is not None else 0
        )


def _rank(transfer: Transfer) -> tuple[int, int]:
    """Which queue sends next: the greater priority, then the older message."""
    message = transfer.queue.lanes.first()
    if message is None:
        return 1 << 31, 0
    return -(transfer.queue.properties.base_priority + message.priority), message.sequence
