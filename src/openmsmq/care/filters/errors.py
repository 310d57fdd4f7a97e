"""What is wrong with a filter."""

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


class FilterError(QueueError):
    """A filter that cannot be read.

    Args:
        detail: what is wrong, and where.
        remedy: what to write instead.
    """

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            detail,
            cause="The filter cannot be read.",
            remedy=remedy or "Write it like: label ~ order and age > 1h (docs/search.md).",
        )
