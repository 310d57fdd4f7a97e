"""The place of an error in a file of definitions."""

from collections.abc import Iterator
from contextlib import contextmanager

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


@contextmanager
def at(place: str) -> Iterator[None]:
    """Prefix errors raised inside with a place such as `$.queues[3].quota`."""
    try:
        yield
    except QueueError as exc:
        raise QueueError(
            exc.code, f"{place}: {exc.detail}", cause=exc.cause, remedy=exc.remedy
        ) from exc


def refusal(place: str, reason: str, remedy: str = "") -> QueueError:
    """Definitions that cannot be applied."""
    return QueueError(
        Hresult.MQ_ERROR_INVALID_PARAMETER,
        f"{place}: {reason}",
        cause="The file of definitions cannot be applied as it is; nothing was changed.",
        remedy=remedy,
    )
