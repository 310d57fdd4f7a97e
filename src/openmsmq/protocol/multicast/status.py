"""The status of outgoing queues to multicast addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.protocol.outgoing_status import OutgoingStatus, last_failure
from openmsmq.protocol.transfer_states import TransferState

if TYPE_CHECKING:
    from .transfer import MulticastTransfer

# Why messages wait while their source is open.
RATE = "sent as fast as multicast_rate allows"


def describe(transfer: MulticastTransfer, *, now: float, offline: bool) -> OutgoingStatus:
    """The current status of an outgoing queue; `offline` says that nothing may be sent."""
    leaving = len(transfer.leaving)
    waits = transfer.queue.lanes.count or leaving
    retry_at = transfer.retry_at
    is_open = transfer.state is TransferState.OPEN
    return OutgoingStatus(
        destination=transfer.outgoing.destination_format_name,
        state=str(transfer.outgoing.state),
        next_hop=f"{transfer.name.address}:{transfer.name.port}" if is_open else "",
        messages=transfer.queue.count,
        unacknowledged=leaving,
        awaiting_final_ack=0,
        last_error=last_failure(transfer.outgoing),
        retry_in_seconds=max(retry_at - now, 0.0) if retry_at is not None else None,
        reason=_reason(transfer, offline=offline) if waits else "",
    )


def _reason(transfer: MulticastTransfer, *, offline: bool) -> str:
    if offline and transfer.outgoing.may_transmit:
        return "the queue manager is offline"
    return RATE if transfer.state is TransferState.OPEN else transfer.outgoing.reason
