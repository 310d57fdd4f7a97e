"""RetryPolicy: what a queue does with messages that readers give back again and again.

The words are those of WCF. Directories and other machines know nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final


class ReceiveErrorHandling(StrEnum):
    """What becomes of a message after its last retry cycle."""

    NONE = "none"
    MOVE = "move"
    REJECT = "reject"
    DROP = "drop"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a message is tried, and what follows.

    Attributes:
        receive_retry_count: how often a message is read again, after the first time, in a cycle.
        retry_cycle_delay: seconds that it then rests in the subqueue `retry`.
        max_retry_cycles: how often it comes back from there.
        receive_error_handling: what follows the last cycle; `none` turns the policy off.
    """

    receive_retry_count: int = 5
    retry_cycle_delay: int = 30 * 60
    max_retry_cycles: int = 2
    receive_error_handling: ReceiveErrorHandling = ReceiveErrorHandling.NONE

    @property
    def active(self) -> bool:
        """Whether the queue manager itself deals with messages that fail."""
        return self.receive_error_handling is not ReceiveErrorHandling.NONE


NO_POLICY: Final = RetryPolicy()
POLICY_ATTRIBUTES: Final = tuple(item.name for item in fields(RetryPolicy))
# The largest value of each number.
MAX_RETRY_COUNT: Final = 1_000_000
MAX_CYCLE_DELAY: Final = 366 * 24 * 3600
