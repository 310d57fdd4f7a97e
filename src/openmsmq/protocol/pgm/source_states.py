"""The life of a source as a state machine."""

from enum import Enum
from typing import Final


class SourceState(Enum):
    OPEN = "sends data"
    CLOSING = "sends the data that waits, then finishes"
    FINISHED = "has sent everything and repairs it for TXW_SECS"
    ABORTED = "has cancelled its data and resets the session"
    CLOSED = "sends nothing"


class SourceInput(Enum):
    CLOSE = "the application closes"
    CANCEL = "the application closes and cancels the data that waits"
    DRAINED = "no data waits"
    EXPIRED = "TXW_SECS are over"
    RESET = "the SPM with OPT_RST has left"


# A missing pair changes nothing.
TRANSITIONS: Final = {
    (SourceState.OPEN, SourceInput.CLOSE): SourceState.CLOSING,
    (SourceState.OPEN, SourceInput.CANCEL): SourceState.ABORTED,
    (SourceState.CLOSING, SourceInput.CANCEL): SourceState.ABORTED,
    (SourceState.CLOSING, SourceInput.DRAINED): SourceState.FINISHED,
    (SourceState.FINISHED, SourceInput.EXPIRED): SourceState.CLOSED,
    (SourceState.ABORTED, SourceInput.RESET): SourceState.CLOSED,
}

# RFC 3208, 9.7.2: every SPM after the last data has OPT_FIN.
SENDS_FIN: Final = frozenset({SourceState.FINISHED})
# [MC-MQSRM] note 3: NAKs are not processed after a reset.
ANSWERS_NAKS: Final = frozenset({SourceState.OPEN, SourceState.CLOSING, SourceState.FINISHED})
