"""The specification of a job, as data."""

import math
from enum import StrEnum
from typing import Any, Final

import msgspec

from openmsmq.care.filters import Condition, filter_from_data
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


class JobKind(StrEnum):
    """The kind of a job."""

    MOVE = "move"
    COPY = "copy"
    RETRY = "retry"
    REMOVE = "remove"
    PURGE = "purge"
    SAVE = "save"
    LOAD = "load"


class Limits(StrEnum):
    """The time limits of messages that are sent again."""

    # They begin anew.
    RESTART = "restart"
    # Their end times stay; a message whose time is over is refused.
    KEEP = "keep"
    # The copies never expire.
    LIFT = "lift"


# The number of messages per step, by default and at most.
STEP_MESSAGES: Final = 1000
MOST_STEP_MESSAGES: Final = 1000
_NEEDS_TARGET: Final = (JobKind.MOVE, JobKind.COPY, JobKind.LOAD)
_NEEDS_FILE: Final = (JobKind.SAVE, JobKind.LOAD)


class JobSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One job.

    Attributes:
        sources: the queues from which messages are taken; empty for a load.
        target: the destination queue; a retry without one sends each to its original destination.
        where: a filter as data; None takes all.
        lookup_ids: messages of the one source.
        first: the maximum number of messages.
        rate: the maximum number of messages per second.
        limits: for messages that are sent again.
        file: the file of a save or a load.
        step: the maximum number of messages per step.
    """

    kind: JobKind
    sources: tuple[str, ...] = ()
    target: str = ""
    where: dict[str, Any] | None = None
    lookup_ids: tuple[int, ...] | None = None
    first: int | None = None
    rate: float | None = None
    limits: Limits = Limits.RESTART
    file: str = ""
    step: int = STEP_MESSAGES

    @property
    def condition(self) -> Condition | None:
        """The filter."""
        return None if self.where is None else filter_from_data(self.where)

    def check(self) -> None:
        """Refuse an invalid job.

        Raises:
            QueueError: MQ_ERROR_INVALID_PARAMETER, with the reason.
        """
        fault = self._fault()
        if fault:
            raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, f"{self.kind}: {fault}")
        _ = self.condition

    def _fault(self) -> str:
        if self.kind is JobKind.LOAD:
            if self.sources or self.lookup_ids is not None:
                return "messages come from a file, not from a queue"
        elif not self.sources:
            return "no queue to take messages from"
        if self.kind in _NEEDS_TARGET and not self.target:
            return "no queue that messages go to"
        if self.kind not in (*_NEEDS_TARGET, JobKind.RETRY) and self.target:
            return "it has no target"
        if (self.kind in _NEEDS_FILE) != bool(self.file):
            return "a file belongs to save and load"
        if self.lookup_ids is not None and len(self.sources) != 1:
            return "lookup ids mean messages of one queue"
        if self.first is not None and self.first < 1:
            return "the portion has one message at least"
        if not 1 <= self.step <= MOST_STEP_MESSAGES:
            return f"a step has 1 to {MOST_STEP_MESSAGES} messages"
        if self.rate is not None and not 0 < self.rate < math.inf:
            return "the rate is a number above 0"
        return ""
