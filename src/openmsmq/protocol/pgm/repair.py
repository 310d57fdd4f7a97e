"""The request of a missing packet, as a state machine (RFC 3208, 6.3)."""

from enum import Enum
from typing import Final, NamedTuple


class RepairState(Enum):
    BACK_OFF = "a random time passes before the NAK is sent"
    WAIT_NCF = "the NAK was sent by this or another receiver"
    WAIT_DATA = "the source has confirmed the NAK"


class RepairInput(Enum):
    TIMER = "the timer of the state expires"
    NAK = "another receiver asks for the same packet"
    NCF = "the source confirms a NAK for the packet"


class RepairAction(Enum):
    NONE = "nothing but the timer of the state starts"
    SEND_NAK = "a NAK is sent"
    COUNT_NCF = "one more NAK without NCF"
    COUNT_DATA = "one more NCF without data"


class RepairStep(NamedTuple):
    action: RepairAction
    state: RepairState


STEPS: Final = {
    (RepairState.BACK_OFF, RepairInput.TIMER): RepairStep(
        RepairAction.SEND_NAK, RepairState.WAIT_NCF
    ),
    (RepairState.BACK_OFF, RepairInput.NAK): RepairStep(RepairAction.NONE, RepairState.WAIT_NCF),
    (RepairState.BACK_OFF, RepairInput.NCF): RepairStep(RepairAction.NONE, RepairState.WAIT_DATA),
    (RepairState.WAIT_NCF, RepairInput.TIMER): RepairStep(
        RepairAction.COUNT_NCF, RepairState.BACK_OFF
    ),
    (RepairState.WAIT_NCF, RepairInput.NAK): RepairStep(RepairAction.NONE, RepairState.WAIT_NCF),
    (RepairState.WAIT_NCF, RepairInput.NCF): RepairStep(RepairAction.NONE, RepairState.WAIT_DATA),
    (RepairState.WAIT_DATA, RepairInput.TIMER): RepairStep(
        RepairAction.COUNT_DATA, RepairState.BACK_OFF
    ),
    (RepairState.WAIT_DATA, RepairInput.NAK): RepairStep(RepairAction.NONE, RepairState.WAIT_DATA),
    (RepairState.WAIT_DATA, RepairInput.NCF): RepairStep(RepairAction.NONE, RepairState.WAIT_DATA),
}


class Repair:
    """One missing packet."""

    __slots__ = ("data_retries", "ncf_retries", "state")

    def __init__(self) -> None:
        self.state = RepairState.BACK_OFF
        self.ncf_retries = 0
        self.data_retries = 0

    def step(self, event: RepairInput) -> RepairAction:
        """Go to the next state, and count retries."""
        action, self.state = STEPS[self.state, event]
        if action is RepairAction.COUNT_NCF:
            self.ncf_retries += 1
        elif action is RepairAction.COUNT_DATA:
            self.data_retries += 1
        return action
