"""Errors that only a client can meet."""

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ExplainedError


class ConnectionLost(ExplainedError):
    """There is no queue manager at the other end, or none any more; the text says what to do."""


class ReceiveTimeout(QueueError):
    """No message came in the time that the caller gave (MQ_ERROR_IO_TIMEOUT)."""

    def __init__(self, detail: str = "no message came in time") -> None:
        super().__init__(Hresult.MQ_ERROR_IO_TIMEOUT, detail)
        # Pickle rebuilds an exception from `args`.
        self.args = (detail,)
