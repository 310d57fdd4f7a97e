"""Why a pipeline cannot go on, for people: what happened, why, and what to do about it."""

from typing import Self

from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_error import QueueError


class PipelineError(QueueError):
    """A pipeline that cannot go on.

    Args:
        detail: what happened.
        cause: the likely cause, as a sentence.
        remedy: what to do, as a sentence.
    """

    def __init__(self, detail: str, *, cause: str, remedy: str) -> None:
        super().__init__(Hresult.MQ_ERROR, detail)
        self._cause = cause
        self._remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        return type(self)._rebuild, (self.detail, self._cause, self._remedy)

    @classmethod
    def _rebuild(cls, detail: str, cause: str, remedy: str) -> Self:
        return cls(detail, cause=cause, remedy=remedy)

    @property
    def cause(self) -> str:
        return self._cause

    @property
    def remedy(self) -> str:
        return self._remedy

    def __str__(self) -> str:
        return f"{self.detail}. {self._cause} {self._remedy}"
