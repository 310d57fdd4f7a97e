"""Requests of pipelines: ranges by arrival sequence, leases, staged batches."""

from functools import partial
from itertools import accumulate
from typing import Final

from openmsmq.core.reading import Read
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_error import QueueError

from . import messages as local
from .session import Handlers, LocalSession, counters

MAX_BLOCK_ROWS: Final = 100_000
MAX_BLOCK_BYTES: Final = 16 * 1024 * 1024


def range_info(session: LocalSession, request: local.RangeInfo) -> None:
    info = session.manager.ranges.info(session.descriptor(request.handle))
    session.done(
        request.id,
        {
            "incarnation": info.incarnation,
            "first": info.first,
            "stable": info.stable,
            "last": info.last,
            "count": info.count,
            "bytes": info.size,
            "lock_holders": info.lock_holders,
        },
        info.depends,
    )


def plan_range(session: LocalSession, request: local.PlanRange) -> None:
    plan = session.manager.ranges.plan(
        session.descriptor(request.handle),
        request.after,
        upto=request.upto,
        max_rows=request.max_rows,
        max_bytes=request.max_bytes,
    )
    session.done(
        request.id,
        {"end": plan.end, "count": plan.count, "bytes": plan.size, "digest": plan.digest},
        plan.depends,
    )


def split_range(session: LocalSession, request: local.SplitRange) -> None:
    ends = session.manager.ranges.split(
        session.descriptor(request.handle), request.after, request.upto, request.parts
    )
    session.done(request.id, ends)


def peek_range(session: LocalSession, request: local.PeekRange) -> None:
    """Stream a range as blocks, as fast as the client reads them."""
    stream_blocks(session, request, request.after)


def stream_blocks(session: LocalSession, request: local.PeekRange, after: int) -> None:
    """Send blocks behind `after` until the range ends or the client falls behind."""
    try:
        while not session.closed:
            if session.congested():
                session.when_writable(partial(stream_blocks, session, request, after))
                return
            read = session.manager.ranges.peek(
                session.descriptor(request.handle),
                after,
                request.upto,
                max_rows=min(max(request.block_rows, 1), MAX_BLOCK_ROWS),
                max_bytes=min(max(request.block_bytes, 1), MAX_BLOCK_BYTES),
            )
            if read is None:
                session.answer(local.Block(request.id, True, b"", [], [], [], []))
                return
            session.answer(block(request.id, read), read.depends)
            after = read.messages[-1].sequence
    except QueueError as exc:
        session.fail(request.id, exc)


def block(request: int, read: Read) -> local.Block:
    """One blob of packets with their ends, and columns of the record fields."""
    return local.Block(
        request,
        False,
        b"".join(read.packets),
        list(accumulate(map(len, read.packets))),
        [message.lookup_id for message in read.messages],
        [message.arrived for message in read.messages],
        counters(read.messages),
    )


def acknowledge_range(session: LocalSession, request: local.AcknowledgeRange) -> None:
    """One bounded step: the client asks again until `done`."""
    step = session.manager.ranges.acknowledge(
        session.descriptor(request.handle), request.base, request.upto
    )
    session.done(request.id, {"count": step.count, "done": step.done}, step.depends)


def lease(session: LocalSession, request: local.Lease) -> None:
    leased = session.manager.leases.lease(
        session.descriptor(request.handle),
        request.consumer,
        request.token,
        max_rows=request.max_rows,
        max_bytes=request.max_bytes,
    )
    session.done(
        request.id,
        {
            "subqueue": leased.subqueue,
            "count": leased.count,
            "bytes": leased.size,
            "done": leased.done,
        },
        leased.depends,
    )


def release(session: LocalSession, request: local.Release) -> None:
    """One bounded step: the client asks again until `done`."""
    released = session.manager.leases.release(
        session.descriptor(request.handle), request.consumer, request.token
    )
    session.done(request.id, {"count": released.count, "done": released.done}, released.depends)


def pin(session: LocalSession, request: local.Pin) -> None:
    session.manager.ranges.pin(
        session.descriptor(request.handle), request.base, request.upto, seconds=request.seconds
    )
    session.done(request.id)


def stage(session: LocalSession, request: local.Stage) -> None:
    if not request.producer:
        raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, "a stage needs a producer name")
    count = session.manager.stages.stage(
        request.producer,
        request.batch,
        request.partition,
        request.attempt,
        request.destination,
        request.packets,
        caller=session.identity(),
    )
    session.done(request.id, count)


def commit_batch(session: LocalSession, request: local.CommitBatch) -> None:
    committed = session.manager.stages.commit_batch(
        request.producer, request.batch, request.stages, caller=session.identity()
    )
    session.done(
        request.id,
        {"count": committed.count, "repeated": committed.repeated},
        committed.depends,
    )


def abort_batch(session: LocalSession, request: local.AbortBatch) -> None:
    session.manager.stages.abort_batch(request.producer, request.batch, caller=session.identity())
    session.done(request.id)


HANDLERS: Final[Handlers] = {
    local.RangeInfo: range_info,
    local.PlanRange: plan_range,
    local.SplitRange: split_range,
    local.PeekRange: peek_range,
    local.AcknowledgeRange: acknowledge_range,
    local.Lease: lease,
    local.Release: release,
    local.Pin: pin,
    local.Stage: stage,
    local.CommitBatch: commit_batch,
    local.AbortBatch: abort_batch,
}
