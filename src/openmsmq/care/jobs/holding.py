"""The lock of a job: one process at a time runs or undoes it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from openmsmq.care.durable import locked_directory
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .job import Job


@contextmanager
def held_job(job: Job) -> Iterator[None]:
    """Lock a job against other processes.

    Raises:
        QueueError: MQ_ERROR_SHARING_VIOLATION, another process has the lock.
    """
    with ExitStack() as held:
        try:
            held.enter_context(locked_directory(job.folder))
        except BlockingIOError as exc:
            raise QueueError(
                Hresult.MQ_ERROR_SHARING_VIOLATION,
                f"job {job.plan.id} is being run by another process",
                cause="A command or the console works on it.",
                remedy=f"Wait for it to end, or stop it: `openmsmq job stop {job.plan.id}`.",
            ) from exc
        yield


def is_running(job: Job) -> bool:
    """Whether a process works on a job at this moment."""
    try:
        with locked_directory(job.folder):
            return False
    except BlockingIOError:
        return True
