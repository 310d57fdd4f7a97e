"""Errors of filters."""

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


class FilterError(QueueError):
    """An invalid filter.

    Args:
        detail: the error, and its place.
        remedy: the correct form.
    """

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            detail,
            cause="The filter cannot be read.",
            remedy=remedy or "Write it like: label ~ order and age > 1h (docs/search.md).",
        )
