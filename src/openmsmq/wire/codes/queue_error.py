"""Errors that carry a result code of Message Queuing."""

from typing import Any

from openmsmq.wire.errors import MsmqError

from .hresult import Hresult, hresult_name
from .hresult_catalogue import explain


class QueueError(MsmqError):
    """An operation that Message Queuing refuses or cannot do.

    Args:
        code: the result code; a code that is not published is kept as it came.
        detail: what was refused here, for people; names the queue, field or value.
        cause, remedy: sentences in place of those of the catalogue, where more is known here.

    Attributes:
        accepted: how many messages of the call were accepted nevertheless: the first ones.
        refused: how many of the messages that were sent last to a queue were refused; those that
            were sent before them were accepted.
    """

    def __init__(self, code: int, detail: str = "", *, cause: str = "", remedy: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.known_cause = cause
        self.known_remedy = remedy
        self.accepted = 0
        self.refused = 0

    # Any: what pickle takes. With a compiled base its own way would leave the attributes out.
    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, vars(self)

    @property
    def name(self) -> str:
        """The name of the code, such as `MQ_ERROR_QUEUE_NOT_FOUND`."""
        return hresult_name(self.code)

    @property
    def text(self) -> str:
        """What happened, in one sentence."""
        return explain(self.code).text

    @property
    def cause(self) -> str:
        """The likely cause."""
        return self.known_cause or explain(self.code).cause

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return self.known_remedy or explain(self.code).remedy

    def __str__(self) -> str:
        return f"{self.name}: {self.detail or self.text}"


class AccessDenied(QueueError):
    """The security descriptor does not grant what was asked."""

    def __init__(self, detail: str = "", *, cause: str = "", remedy: str = "") -> None:
        super().__init__(Hresult.MQ_ERROR_ACCESS_DENIED, detail, cause=cause, remedy=remedy)
        # Pickle rebuilds an exception from `args`.
        self.args = (detail,)
