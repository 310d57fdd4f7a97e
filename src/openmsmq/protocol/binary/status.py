"""Outgoing queues as people see them, with the reason in words why messages have not left."""

from dataclasses import dataclass
from typing import Final

from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState

from .events import CloseReason
from .hop_links import HopLinkState
from .transfer import Transfer

STATUS_WORDS: Final = {
    ConnectionStatus.NONE: "connecting",
    ConnectionStatus.ESTABLISH_PACKET_RECEIVED: "the other side has answered",
    ConnectionStatus.READY: "connected",
    ConnectionStatus.UNKNOWN_FAILURE: "the session ended for an unknown reason",
    ConnectionStatus.PING_FAILURE: "the other side did not answer a ping",
    ConnectionStatus.CREATE_SOCKET_FAILURE: "no socket could be made",
    ConnectionStatus.BIND_SOCKET_FAILURE: "the own address cannot be used",
    ConnectionStatus.CONNECT_SOCKET_FAILURE: "nothing accepts connections at the address",
    ConnectionStatus.TCP_NOT_ENABLED: "TCP is not available",
    ConnectionStatus.SEND_FAILURE: "the connection broke",
    ConnectionStatus.NOT_READY_FAILURE: "the other side did not finish the handshake",
    ConnectionStatus.NAME_RESOLUTION_FAILURE: "the host name could not be resolved",
    ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE: "a certificate is not valid",
    ConnectionStatus.LIMIT_REACHED: "a limit of connections is reached",
    ConnectionStatus.REFUSED_BY_OTHER_SIDE: "the other side refused the session",
    ConnectionStatus.ROUTING_FAILURE: "nobody knows where the queue is",
    ConnectionStatus.OUT_OF_MEMORY: "memory is short",
}
# What a session that ended tells about the connection.
CLOSE_STATUS: Final = {
    CloseReason.REFUSED: ConnectionStatus.REFUSED_BY_OTHER_SIDE,
    CloseReason.WRONG_PEER: ConnectionStatus.NOT_READY_FAILURE,
    CloseReason.NOT_ESTABLISHED: ConnectionStatus.NOT_READY_FAILURE,
    CloseReason.NOT_ACKNOWLEDGED: ConnectionStatus.SEND_FAILURE,
    CloseReason.DISCONNECTED: ConnectionStatus.SEND_FAILURE,
}
_HELD: Final = {
    QueueState.ONHOLD: "paused",
    QueueState.LOCKED: "locked: only HTTP is allowed in hardened mode",
}


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


def describe(transfer: Transfer, *, now: float) -> OutgoingStatus:
    """The status of an outgoing queue now."""
    queue = transfer.queue
    state = transfer.outgoing.state
    link = transfer.link
    retry_at = transfer.validate_at
    if retry_at is None and link is not None:
        retry_at = link.retry_at
    last_error = _last_error(transfer)
    waits = queue.lanes.count or transfer.stream.unacknowledged
    return OutgoingStatus(
        destination=str(transfer.name),
        state=str(state),
        next_hop=transfer.connection.address if transfer.connection is not None else "",
        messages=queue.count - transfer.stream.awaiting,
        unacknowledged=transfer.stream.unacknowledged,
        awaiting_final_ack=transfer.stream.awaiting,
        last_error=last_error,
        retry_in_seconds=max(retry_at - now, 0.0) if retry_at is not None else None,
        reason=_reason(transfer, state, last_error) if waits else "",
    )


def _last_error(transfer: Transfer) -> str:
    """The last failure in the connection history, in words; empty after a success."""
    for entry in reversed(transfer.outgoing.connection_history):
        if entry.status >= ConnectionStatus.UNKNOWN_FAILURE:
            return STATUS_WORDS[entry.status]
        if entry.status is ConnectionStatus.READY:
            break
    return ""


def _reason(transfer: Transfer, state: QueueState, last_error: str) -> str:
    if state in _HELD:
        return _HELD[state]
    if transfer.connection is not None:
        if transfer.stream.unacknowledged:
            return "sent, but not acknowledged yet"
        return "about to be sent"
    link = transfer.link
    if last_error:
        return last_error
    if link is None or link.state is HopLinkState.IDLE:
        return "not connected"
    return str(link.state.value)
