"""The states of an outgoing queue as one table, the same for every transport.

[MS-MQDMPR] 3.1.1.3 names the states, [MS-MQQB] 3.1.5 and [MC-MQSRM] 3.1.5 say when they change.
`change_state` is the only place that changes one: it adds to ConnectionHistory and keeps the
reason why messages wait, as text.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.core.events import ConnectionNoted
from openmsmq.core.model.outgoing_queue import (
    HELD_REASONS,
    NOT_CONNECTED,
    ConnectionHistoryEntry,
)
from openmsmq.core.rows.queue_rows import KEPT_STATES, store_queue
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState

if TYPE_CHECKING:
    from openmsmq.core.model.outgoing_queue import OutgoingQueue
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State


class OutgoingInput(Enum):
    """An input of the state machine of an outgoing queue."""

    CONNECTING = "a connection to a next hop is being made"
    REACHED = "a next hop has accepted the connection"
    ESTABLISHED = "the next hop has answered"
    OPENED = "a session is open"
    CLOSING = "the session ends"
    CLOSED = "the session is over"
    FAILED = "no session could be made"
    UNANSWERED = "a message got no answer, or one that says to send it again"
    UNRESOLVED = "nothing says where the destination is"
    RESTED = "no message waits and no connection is needed"
    PAUSED = "an administrator pauses the queue"
    RESUMED = "an administrator lets it go on"
    NOT_ENCRYPTED = "a message cannot be encrypted for its destination"
    LOCKED = "hardened mode allows HTTP only"
    UNLOCKED = "hardened mode is over"


class Transition(NamedTuple):
    """The next state, and why messages wait in it; None keeps the reason.

    `status` is the entry for ConnectionHistory unless the input has a status of its own.
    """

    state: QueueState
    reason: str | None = None
    status: ConnectionStatus | None = None


STATUS_WORDS: Final = {
    ConnectionStatus.NONE: "connecting",
    ConnectionStatus.ESTABLISH_PACKET_RECEIVED: "the other side has answered",
    ConnectionStatus.READY: "connected",
    ConnectionStatus.UNKNOWN_FAILURE: "the session ended for an unknown reason",
    ConnectionStatus.PING_FAILURE: "the other side did not answer a ping",
    ConnectionStatus.CREATE_SOCKET_FAILURE: "no socket could be made",
    ConnectionStatus.BIND_SOCKET_FAILURE: "this machine's address cannot be used",
    ConnectionStatus.CONNECT_SOCKET_FAILURE: "nothing accepts connections at the address",
    ConnectionStatus.TCP_NOT_ENABLED: "TCP is not available",
    ConnectionStatus.SEND_FAILURE: "the connection broke",
    ConnectionStatus.NOT_READY_FAILURE: "the other side did not finish the handshake",
    ConnectionStatus.NAME_RESOLUTION_FAILURE: "the host name could not be resolved",
    ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE: "a certificate is not valid",
    ConnectionStatus.LIMIT_REACHED: "a limit of connections is reached",
    ConnectionStatus.REFUSED_BY_OTHER_SIDE: "the other side refused the session",
    ConnectionStatus.ROUTING_FAILURE: "nothing says where the queue is",
    ConnectionStatus.OUT_OF_MEMORY: "memory is short",
}

_In = OutgoingInput
_S = QueueState
_Row = dict[OutgoingInput, Transition]
STATES: Final = tuple(state for state in QueueState if state is not QueueState.LOCAL_CONNECTION)
# The transitions in every state in which messages may leave. After a failure the
# reason stays until the next attempt gets further.
_TRANSFERRING: Final[_Row] = {
    _In.CONNECTING: Transition(_S.WAITING),
    _In.REACHED: Transition(_S.WAITING, "the other side has not answered", ConnectionStatus.NONE),
    _In.ESTABLISHED: Transition(
        _S.WAITING,
        "the other side has not finished the handshake",
        ConnectionStatus.ESTABLISH_PACKET_RECEIVED,
    ),
    _In.OPENED: Transition(_S.CONNECTED, "", ConnectionStatus.READY),
    _In.CLOSING: Transition(_S.DISCONNECTING),
    _In.CLOSED: Transition(_S.DISCONNECTED, NOT_CONNECTED),
    _In.FAILED: Transition(_S.DISCONNECTED, NOT_CONNECTED),
    # [MC-MQSRM] 3.1.7.2.5.
    _In.UNANSWERED: Transition(_S.INACTIVE, NOT_CONNECTED),
    _In.UNRESOLVED: Transition(
        _S.NEED_VALIDATION,
        STATUS_WORDS[ConnectionStatus.ROUTING_FAILURE],
        ConnectionStatus.ROUTING_FAILURE,
    ),
    _In.RESTED: Transition(_S.INACTIVE, NOT_CONNECTED),
    _In.PAUSED: Transition(_S.ONHOLD, HELD_REASONS[_S.ONHOLD]),
    _In.LOCKED: Transition(_S.LOCKED, HELD_REASONS[_S.LOCKED]),
}
# The entry for ConnectionHistory in any state. [MS-MQQB] 3.1.7.1.5.1: the others go on.
_NOTED: Final = {
    **{outgoing_input: transition.status for outgoing_input, transition in _TRANSFERRING.items()},
    _In.NOT_ENCRYPTED: ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE,
}
# A paused or locked queue keeps its state regardless of its connection.
_CHANGES: Final[dict[QueueState, _Row]] = {
    **{state: _TRANSFERRING for state in STATES if state not in HELD_REASONS},
    _S.INACTIVE: {**_TRANSFERRING, _In.CONNECTING: Transition(_S.WAITING, "connecting")},
    _S.CONNECTED: {**_TRANSFERRING, _In.CONNECTING: Transition(_S.WAITING, "connecting")},
    _S.ONHOLD: {
        _In.RESUMED: Transition(_S.INACTIVE, NOT_CONNECTED),
        _In.LOCKED: _TRANSFERRING[_In.LOCKED],
    },
    # [MS-MQDMPR] 3.1.3: a queue that was Locked is Waiting.
    _S.LOCKED: {_In.UNLOCKED: Transition(_S.WAITING, NOT_CONNECTED)},
}
TRANSITIONS: Final[dict[tuple[QueueState, OutgoingInput], Transition]] = {
    (state, outgoing_input): _CHANGES[state].get(
        outgoing_input, Transition(state, status=_NOTED.get(outgoing_input))
    )
    for state in STATES
    for outgoing_input in OutgoingInput
}


def change_state(
    state: State,
    queue: Queue,
    outgoing: OutgoingQueue,
    what: OutgoingInput,
    *,
    status: ConnectionStatus | None = None,
    reason: str = "",
    address: str = "",
    error: int | None = None,
) -> bool:
    """Process an input of an outgoing queue; return whether its state has changed.

    Args:
        status: the end of a session or an attempt, for ConnectionHistory.
        reason: a text that replaces that of the status.
        address: the address of the next hop.
        error: an HRESULT for ConnectionHistory that replaces MQ_ERROR.
    """
    before = outgoing.state
    transition = TRANSITIONS[before, what]
    outgoing.state = transition.state
    if transition.reason is not None:
        words = STATUS_WORDS[status] if status is not None else transition.reason
        outgoing.reason = reason or words
    status = status if status is not None else transition.status
    if status is not None:
        if error is None:
            error = int(Hresult.MQ_ERROR) if status >= ConnectionStatus.UNKNOWN_FAILURE else 0
        addresses = (address,) if address else ()
        entry = ConnectionHistoryEntry(status, int(state.utc), error, addresses, reason)
        outgoing.connection_history.append(entry)
        if status >= ConnectionStatus.UNKNOWN_FAILURE:
            outgoing.connect_failures += 1
        state.outbox.tell(ConnectionNoted(queue=queue, entry=entry))
    if outgoing.state is before:
        return False
    if before in KEPT_STATES or outgoing.state in KEPT_STATES:
        store_queue(state, queue)
    return True
