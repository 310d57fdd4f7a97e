"""Outgoing queues: messages on their way to another queue manager ([MS-MQDMPR] 3.1.1.3-4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.message.sequence_info import SequenceInfo

if TYPE_CHECKING:
    from openmsmq.core.transfer.outgoing.sequences import OutgoingSequence

CONNECTION_HISTORY_LIMIT: Final = 100
NOT_CONNECTED: Final = "not connected"
# The states in which no message leaves, regardless of the connection, and why.
HELD_REASONS: Final = {
    QueueState.ONHOLD: "paused",
    QueueState.LOCKED: "locked: only HTTP is allowed in hardened mode",
}


class NextHop(NamedTuple):
    """A queue manager to which messages can be sent next on their way.

    Args:
        host: the name or address to connect to.
        queue_manager: the expected one; GUID_NULL for any.
        address: the last one that answered; empty before.
    """

    host: str
    queue_manager: UUID
    address: str = ""

    def __str__(self) -> str:
        return self.address or self.host


@dataclass(frozen=True, slots=True)
class ConnectionHistoryEntry:
    """One step of a connection attempt; `error` is an HRESULT, 0 when there is none.

    `reason` adds words to the status.
    """

    status: ConnectionStatus
    connection_history_time: int
    error: int = 0
    address_list: tuple[str, ...] = ()
    reason: str = ""


@dataclass(slots=True)
class OutgoingTransferInfo:
    """The progress of the transactional messages of an outgoing queue."""

    eod_first_non_ack: SequenceInfo | None = None
    eod_last_non_ack: SequenceInfo | None = None
    eod_last_ack: SequenceInfo | None = None
    eod_next_seq: SequenceInfo | None = None
    eod_last_ack_count: int = 0
    eod_last_ack_time: int = 0
    eod_no_ack_count: int = 0
    eod_no_read_count: int = 0
    eod_resend_count: int = 0
    eod_resend_interval: int = 0
    eod_resend_time: int = 0


@dataclass(slots=True)
class OutgoingQueue:
    """The attributes that only outgoing queues have."""

    destination_format_name: str
    transport: Transport
    state: QueueState = QueueState.INACTIVE
    # Why messages wait, as text; empty while a session is open.
    reason: str = NOT_CONNECTED
    # The next hops, the best first; None before the destination is looked up.
    next_hops: tuple[NextHop, ...] | None = None
    # Why these next hops, as text; empty for names that are not routed.
    choice: str = ""
    # The queue manager that has the queue, and the batch that stores its identity. It need not
    # be the next hop: only the destination reports the fate of a transactional message.
    destination: UUID | None = None
    destination_stored: int = 0
    # Failed attempts to connect since the start.
    connect_failures: int = 0
    # Whether it was empty and unused at the last search for unused queues.
    unused: bool = False
    # The transactional sequence of new messages; None before the first.
    sequence: OutgoingSequence | None = None
    transfer_info: OutgoingTransferInfo = field(default_factory=OutgoingTransferInfo)
    connection_history: deque[ConnectionHistoryEntry] = field(
        default_factory=lambda: deque(maxlen=CONNECTION_HISTORY_LIMIT)
    )

    @property
    def may_transmit(self) -> bool:
        """Whether messages may leave: neither paused nor locked."""
        return self.state not in HELD_REASONS
