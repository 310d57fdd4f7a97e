"""The status of outgoing queues over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.protocol.outgoing_status import OutgoingStatus, last_failure
from openmsmq.protocol.transfer_states import TransferState

from .transfer import GIVEN_UP

if TYPE_CHECKING:
    from .transfer import Transfer

# Why messages wait while the host is connected.
NO_ANSWER = "sent, but not answered yet"
NO_RECEIPT = "delivered, but the stream receipt has not come yet"


def describe(transfer: Transfer, *, now: float, offline: bool) -> OutgoingStatus:
    """The current status of an outgoing queue; `offline` says that nothing may be sent."""
    stream = transfer.stream
    unacknowledged = len(stream.in_flight)
    waits = transfer.queue.lanes.count or unacknowledged
    retry_at = transfer.retry_at
    return OutgoingStatus(
        destination=transfer.outgoing.destination_format_name,
        state=str(transfer.outgoing.state),
        next_hop=transfer.host if transfer.state is TransferState.OPEN else "",
        messages=transfer.queue.count - stream.awaiting,
        unacknowledged=unacknowledged,
        awaiting_final_ack=stream.awaiting,
        last_error=_last_error(transfer),
        retry_in_seconds=max(retry_at - now, 0.0) if retry_at is not None else None,
        reason=_reason(transfer, offline=offline) if waits else "",
    )


def _last_error(transfer: Transfer) -> str:
    """Why the last message was given up, or did not arrive, as text; empty after a success."""
    if transfer.last_status in GIVEN_UP:
        status = transfer.last_status
        return f"{transfer.host} refused the last message with HTTP status {status}"
    return last_failure(transfer.outgoing)


def _reason(transfer: Transfer, *, offline: bool) -> str:
    if offline and transfer.outgoing.may_transmit:
        return "the queue manager is offline"
    if transfer.state is not TransferState.OPEN:
        return transfer.outgoing.reason
    if transfer.stream.unacknowledged:
        return NO_ANSWER
    return NO_RECEIPT if transfer.stream.in_flight else "about to be sent"
