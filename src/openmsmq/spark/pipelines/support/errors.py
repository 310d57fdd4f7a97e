"""Errors of pipelines: what happened, the cause and the remedy."""

from typing import Self

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


class PipelineError(QueueError):
    """A pipeline that cannot go on.

    Args:
        detail: what happened.
        cause: the likely cause, as a sentence.
        remedy: what to do, as a sentence.
        code: the result code, where one fits better than the general one.
    """

    def __init__(
        self, detail: str, *, cause: str, remedy: str, code: int = Hresult.MQ_ERROR
    ) -> None:
        super().__init__(code, detail, cause=cause, remedy=remedy)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self)._rebuild, (self.detail, self.cause, self.remedy, self.code)

    @classmethod
    def _rebuild(cls, detail: str, cause: str, remedy: str, code: int) -> Self:
        return cls(detail, cause=cause, remedy=remedy, code=code)

    def __str__(self) -> str:
        return f"{self.detail}. {self.cause} {self.remedy}"
