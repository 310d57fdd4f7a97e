"""Waiting reads begin and end ([MS-MQDMPR] 3.1.7.3.1, 3.1.7.3.4-6, 3.1.7.1.17)."""

from collections.abc import Iterable
from math import inf

from openmsmq.core.events import ReadEnded
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read_request import ReadOwner, ReadRequest
from openmsmq.core.state import State
from openmsmq.wire.codes.hresult import Hresult

STATUS_NOT_FOUND = 0xC0000225


def start_wait(state: State, queue: Queue, read: ReadRequest, timeout: float | None) -> None:
    """Register a read; it gives up after `timeout` seconds, never if that is None."""
    queue.waiting.append(read)
    if timeout is not None and timeout != inf:
        state.waits.start(read, state.now + timeout)


def end_reads(state: State, queue: Queue, reads: Iterable[ReadRequest], code: int) -> None:
    """End waiting reads without a message; each tells its caller the code."""
    for read in reads:
        queue.waiting.remove(read)
        end_read(state, read, code)


def end_read(state: State, read: ReadRequest, code: int) -> None:
    """A read that is no longer registered ends without a message."""
    read.waiting = False
    if read.cursor is not None:
        read.cursor.expired(state.sequence.last)
    state.outbox.tell(ReadEnded(read=read, code=code))


def pause_reads(reads: Iterable[ReadRequest]) -> None:
    """Pass reads over until `resume_reads`; others are served in their place.

    Reads through a cursor go on: they get one message, the one that arrives next.
    """
    for read in reads:
        read.paused = read.cursor is None


def resume_reads(state: State, reads: Iterable[ReadRequest]) -> None:
    """Serve reads again that were passed over, as soon as there is something for them."""
    for read in reads:
        read.paused = False
        queue = read.descriptor.queue
        if queue is not None and queue.waiting:
            state.touched.setdefault(queue, [])


def expire_waits(state: State) -> None:
    """Waiting Message Read Timer Expired ([MS-MQDMPR] 3.1.6.3)."""
    for read in state.waits.due(state.now):
        queue = read.descriptor.queue
        if queue is not None:
            end_reads(state, queue, (read,), Hresult.MQ_ERROR_IO_TIMEOUT)


def cancel(state: State, queue: Queue, tag: ReadOwner | None, code: int) -> int:
    """Cancel Waiting Message Read Request; return MQ_OK or STATUS_NOT_FOUND."""
    for read in queue.waiting:
        if read.tag is not None and read.tag == tag:
            end_reads(state, queue, (read,), code)
            return Hresult.MQ_OK
    return STATUS_NOT_FOUND
