"""The status of outgoing queues, with the reason why messages have not left."""

from typing import Final

from openmsmq.core.transfer.outgoing.states import STATUS_WORDS
from openmsmq.protocol.outgoing_status import OutgoingStatus
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .events import CloseReason
from .transfer import Transfer

# The connection status after a session, by the reason of its end.
CLOSE_STATUS: Final = {
    CloseReason.REFUSED: ConnectionStatus.REFUSED_BY_OTHER_SIDE,
    CloseReason.WRONG_PEER: ConnectionStatus.NOT_READY_FAILURE,
    CloseReason.NOT_ESTABLISHED: ConnectionStatus.NOT_READY_FAILURE,
    CloseReason.NOT_ACKNOWLEDGED: ConnectionStatus.SEND_FAILURE,
    CloseReason.DISCONNECTED: ConnectionStatus.SEND_FAILURE,
}


def describe(transfer: Transfer, *, now: float, offline: bool) -> OutgoingStatus:
    """The current status of an outgoing queue; `offline` says that nothing may be sent."""
    queue = transfer.queue
    state = transfer.outgoing.state
    link = transfer.link
    retry_at = transfer.validate_at
    if retry_at is None and link is not None:
        retry_at = link.retry_at
    waits = queue.lanes.count or transfer.stream.unacknowledged
    return OutgoingStatus(
        destination=transfer.outgoing.destination_format_name,
        state=str(state),
        next_hop=transfer.connection.address if transfer.connection is not None else "",
        messages=queue.count - transfer.stream.awaiting,
        unacknowledged=transfer.stream.unacknowledged,
        awaiting_final_ack=transfer.stream.awaiting,
        last_error=_last_error(transfer),
        retry_in_seconds=max(retry_at - now, 0.0) if retry_at is not None else None,
        reason=_reason(transfer, offline=offline) if waits else "",
    )


def _last_error(transfer: Transfer) -> str:
    """The last failure in the connection history, as text; empty after a success."""
    for entry in reversed(transfer.outgoing.connection_history):
        if entry.status >= ConnectionStatus.UNKNOWN_FAILURE:
            return entry.reason or STATUS_WORDS[entry.status]
        if entry.status is ConnectionStatus.READY:
            break
    return ""


def _reason(transfer: Transfer, *, offline: bool) -> str:
    reason = transfer.outgoing.reason
    if transfer.connection is not None and not reason:
        sent = transfer.stream.unacknowledged
        return "sent, but not acknowledged yet" if sent else "about to be sent"
    if offline and transfer.outgoing.may_transmit:
        return "the queue manager is offline"
    return reason
