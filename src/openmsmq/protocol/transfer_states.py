"""The state machine of a transfer from an outgoing queue to its host."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class TransferState(Enum):
    """States of a transfer."""

    RESTING = "there is nothing to send and no way to the host"
    OPENING = "a connection is being made"
    OPEN = "requests may leave"
    WAITING = "a failure: the Retransmission Timer runs"
    HELD = "paused, locked or offline"


class TransferInput(Enum):
    """An input of a transfer."""

    WORK = "messages wait"
    OPENED = "the host is connected"
    FAILED = "the host was not reached, gave no answer or wants the message again"
    DUE = "the Retransmission Timer is over, and messages wait"
    REST = "the Retransmission Timer is over, and nothing waits"
    IDLE = "the Session Cleanup Timer is over"
    HOLD = "nothing may leave"
    RELEASE = "messages may leave again"


class TransferAction(Enum):
    """An action of a transfer."""

    NOTHING = "nothing"
    CONNECT = "ask for a way to the host"
    SEND = "send what there is"
    RETRY_LATER = "put everything back and start the Retransmission Timer"
    HANG_UP = "give up the way to the host"
    PUT_BACK = "put everything back and give up the way to the host"


class Step(NamedTuple):
    """An action and the next state."""

    action: TransferAction
    state: TransferState


_S = TransferState
_In = TransferInput
_Do = TransferAction
STEPS: Final[dict[tuple[TransferState, TransferInput], Step]] = {
    (_S.RESTING, _In.WORK): Step(_Do.CONNECT, _S.OPENING),
    (_S.OPENING, _In.OPENED): Step(_Do.SEND, _S.OPEN),
    (_S.OPENING, _In.FAILED): Step(_Do.RETRY_LATER, _S.WAITING),
    (_S.OPEN, _In.WORK): Step(_Do.SEND, _S.OPEN),
    (_S.OPEN, _In.FAILED): Step(_Do.RETRY_LATER, _S.WAITING),
    (_S.OPEN, _In.IDLE): Step(_Do.HANG_UP, _S.RESTING),
    (_S.WAITING, _In.DUE): Step(_Do.CONNECT, _S.OPENING),
    (_S.WAITING, _In.REST): Step(_Do.NOTHING, _S.RESTING),
    (_S.RESTING, _In.HOLD): Step(_Do.NOTHING, _S.HELD),
    (_S.OPENING, _In.HOLD): Step(_Do.PUT_BACK, _S.HELD),
    (_S.OPEN, _In.HOLD): Step(_Do.PUT_BACK, _S.HELD),
    (_S.WAITING, _In.HOLD): Step(_Do.PUT_BACK, _S.HELD),
    (_S.HELD, _In.RELEASE): Step(_Do.NOTHING, _S.RESTING),
}
"""Missing pairs change nothing."""


def step(state: TransferState, what: TransferInput) -> Step:
    """The action of a transfer, and its next state."""
    return STEPS.get((state, what)) or Step(TransferAction.NOTHING, state)
