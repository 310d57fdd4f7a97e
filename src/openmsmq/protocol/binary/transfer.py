"""One outgoing queue on its way to a destination, and the messages of it that were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.core.model.message import History, Message, Traits
from openmsmq.wire.message.sequence_info import SequenceInfo
from openmsmq.wire.names.format_name import parse_format_name

from .settings import BinarySettings

if TYPE_CHECKING:
    from openmsmq.core.model.outgoing_queue import OutgoingQueue
    from openmsmq.core.model.queue import Queue

    from .connection import Connection
    from .links import Link

_JOURNALING = int(Traits.NEGATIVE_JOURNALING | Traits.POSITIVE_JOURNALING)


class OutgoingMessagePosition:
    """A transactional message that was sent and waits for acknowledgments ([MS-MQQB] 3.1.1.3.1.2).

    A plain message stands for itself: its session acknowledgment is the end of it.
    """

    __slots__ = (
        "awaits_final_ack",
        "message",
        "previous",
        "received_order_ack",
        "received_session_ack",
        "transfer",
        "tx_sequence_id",
        "tx_sequence_number",
    )

    def __init__(
        self, transfer: Transfer, message: Message, history: History, *, final_ack_required: bool
    ) -> None:
        self.transfer = transfer
        self.message = message
        self.tx_sequence_id = history.tx_sequence_id
        self.tx_sequence_number = history.tx_sequence_number
        self.previous = 0
        self.received_session_ack = False
        self.received_order_ack = False
        self.awaits_final_ack = bool(message.traits & _JOURNALING) or final_ack_required

    @property
    def sequence_info(self) -> SequenceInfo:
        return SequenceInfo(self.tx_sequence_id, self.tx_sequence_number, self.previous)


class Transfer:
    """How far the messages of one outgoing queue are."""

    __slots__ = (
        "awaiting",
        "connection",
        "last_ack",
        "last_ack_count",
        "last_ack_time",
        "link",
        "name",
        "ordered",
        "outgoing",
        "plain",
        "predecessor",
        "queue",
        "resend_at",
        "resend_index",
        "resend_interval",
        "validate_at",
    )

    def __init__(self, queue: Queue, outgoing: OutgoingQueue, settings: BinarySettings) -> None:
        self.queue = queue
        self.outgoing = outgoing
        self.name = parse_format_name(outgoing.destination_format_name)
        # The connection in use, and the link that makes connections.
        self.connection: Connection | None = None
        self.link: Link | None = None
        # When to look for the destination again, if it was not found.
        self.validate_at: float | None = None
        # What was sent: plain messages, and transactional ones in order by their numbers.
        self.plain: dict[Message, None] = {}
        self.ordered: dict[int, OutgoingMessagePosition] = {}
        # Messages that were delivered and wait for a FinalAck.
        self.awaiting = 0
        # TxOutgoingSequence ([MS-MQQB] 3.1.1.3.1.1); `last_ack` is LastAck.SeqNo.
        self.last_ack = 0
        self.last_ack_time = 0
        self.last_ack_count = 0
        # The number in front of the next message, when none is in flight.
        self.predecessor = 0
        self.resend_index = 0
        self.resend_interval = settings.resend_timer_table[0]
        self.resend_at: float | None = None

    @property
    def unacknowledged(self) -> int:
        """Messages that were sent and are not acknowledged by the session."""
        ordered = [each for each in self.ordered.values() if not each.received_session_ack]
        return len(self.plain) + len(ordered)

    def start_session(self, settings: BinarySettings, utc: float) -> None:
        """TxOutgoingSequence of a new session ([MS-MQQB] 3.1.3.2)."""
        self.last_ack = 0
        self.last_ack_time = int(utc)
        self.last_ack_count = 0
        self.outgoing.transfer_info.eod_last_ack = None
        self.start_sequence(settings)

    def start_sequence(self, settings: BinarySettings) -> None:
        """What is in flight is over: it was acknowledged, or it is sent again."""
        self.predecessor = 0
        self.resend_index = 0
        self.resend_interval = settings.resend_timer_table[0]
        self.resend_at = None

    def acknowledged(self, number: int) -> None:
        """All messages up to a number have been received in order."""
        self.last_ack = max(self.last_ack, number)
        self.predecessor = self.last_ack

    def previous_number(self, number: int) -> int:
        """The number of the transactional message in front of this one.

        [MS-MQQB] 3.1.7.1.3: of those that are still there, so that gaps are bridged. What is sent
        again follows nothing if all before it is settled: so it is accepted, too, by a receiver
        that has lost its stream.
        """
        if self.ordered:
            return next(reversed(self.ordered))
        return min(self.predecessor, number - 1)
