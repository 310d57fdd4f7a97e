"""The status of outgoing queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openmsmq.core.transfer.outgoing.states import STATUS_WORDS
from openmsmq.wire.codes.queue_enums import ConnectionStatus

if TYPE_CHECKING:
    from openmsmq.core.model.outgoing_queue import OutgoingQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingStatus:
    """One outgoing queue; `reason` says why messages wait, empty when they do not."""

    destination: str
    state: str
    next_hop: str
    messages: int
    unacknowledged: int
    awaiting_final_ack: int
    last_error: str
    retry_in_seconds: float | None
    reason: str


def last_failure(outgoing: OutgoingQueue) -> str:
    """The last failure in the connection history, as text; empty after a success."""
    history = outgoing.connection_history
    if not history or history[-1].status < ConnectionStatus.UNKNOWN_FAILURE:
        return ""
    return outgoing.reason or STATUS_WORDS[history[-1].status]
