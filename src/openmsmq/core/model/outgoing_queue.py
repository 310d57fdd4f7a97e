"""Outgoing queues: messages on their way to another queue manager ([MS-MQDMPR] 3.1.1.3-4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.message.sequence_info import SequenceInfo

if TYPE_CHECKING:
    from openmsmq.core.transfer.sequences import OutgoingSequence

CONNECTION_HISTORY_LIMIT: Final = 100


@dataclass(frozen=True, slots=True)
class ConnectionHistoryEntry:
    """One step of a connection attempt; `error` is an HRESULT, 0 when there is none."""

    status: ConnectionStatus
    connection_history_time: int
    error: int = 0
    address_list: tuple[str, ...] = ()


@dataclass(slots=True)
class OutgoingTransferInfo:
    """How far the transactional messages of an outgoing queue got."""

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
    """What an outgoing queue has beside an ordinary one."""

    destination_format_name: str
    transport: Transport
    state: QueueState = QueueState.INACTIVE
    next_hops: tuple[str, ...] | None = None
    # The queue manager that takes the messages, and the batch that stores who it is.
    peer: UUID | None = None
    peer_stored: int = 0
    # The transactional sequence that messages go into; None before the first.
    sequence: OutgoingSequence | None = None
    transfer_info: OutgoingTransferInfo = field(default_factory=OutgoingTransferInfo)
    connection_history: deque[ConnectionHistoryEntry] = field(
        default_factory=lambda: deque(maxlen=CONNECTION_HISTORY_LIMIT)
    )

    @property
    def may_transmit(self) -> bool:
        """Whether messages may leave: neither paused nor locked."""
        return self.state not in (QueueState.ONHOLD, QueueState.LOCKED)
