"""RetryPolicy: the treatment of messages that readers give back again and again.

The terms are those of WCF. Directories and other machines do not know the policy.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final


class ReceiveErrorHandling(StrEnum):
    """The treatment of a message after its last retry cycle."""

    NONE = "none"
    MOVE = "move"
    REJECT = "reject"
    DROP = "drop"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of tries, and the treatment after the last.

    Attributes:
        receive_retry_count: how often a message is read again in a cycle, after the first time.
        retry_cycle_delay: seconds of rest in the subqueue `retry` between two cycles.
        max_retry_cycles: how often it returns from there.
        receive_error_handling: the treatment after the last cycle; `none` disables the policy.
    """

    receive_retry_count: int = 5
    retry_cycle_delay: int = 30 * 60
    max_retry_cycles: int = 2
    receive_error_handling: ReceiveErrorHandling = ReceiveErrorHandling.NONE

    @property
    def active(self) -> bool:
        """Whether the queue manager handles failed messages itself."""
        return self.receive_error_handling is not ReceiveErrorHandling.NONE


NO_POLICY: Final = RetryPolicy()
POLICY_ATTRIBUTES: Final = tuple(item.name for item in fields(RetryPolicy))
# The largest value of each number.
MAX_RETRY_COUNT: Final = 1_000_000
MAX_CYCLE_DELAY: Final = 366 * 24 * 3600
