"""Requests of pipelines: ranges by arrival sequence, leases, staged batches."""

from itertools import accumulate
from typing import Final

from openmsmq.core.model.read import Read
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.lookup_id import digest_text
from openmsmq.wire.message.shortened import shorten_body

from . import messages as local
from .session import Handlers, LocalSession, Steps, counters

MAX_BLOCK_BYTES: Final = 16 * 1024 * 1024
# The number of messages per step of a plan.
PLAN_STEP: Final = 20_000
# The number of messages that one browse request looks through.
MAX_BROWSED: Final = 50
NO_SIZES: Final[list[int]] = []
NO_LIMIT: Final = 1 << 62


def range_info(session: LocalSession, request: local.RangeInfo) -> None:
    info = session.manager.ranges.info(session.holder.descriptor(request.handle))
    session.done(
        request.id,
        {
            "incarnation": info.incarnation,
            "first": info.first,
            "stable": info.stable,
            "last": info.last,
            "count": info.count,
            "bytes": info.size,
            "locked": info.locked,
            "lock_holders": info.lock_holders,
        },
        info.depends,
    )


def plan_range(session: LocalSession, request: local.PlanRange) -> Steps:
    """The plans of consecutive parts make up the plan of the whole."""
    ranges = session.manager.ranges
    rows = NO_LIMIT if request.max_rows is None else request.max_rows
    size = NO_LIMIT if request.max_bytes is None else request.max_bytes
    end = request.after
    count = total = digest = 0
    while not count or count < rows:
        part = ranges.plan(
            session.holder.descriptor(request.handle),
            end,
            upto=request.upto,
            max_rows=min(PLAN_STEP, rows - count),
            max_bytes=size - total,
        )
        # Each part has one message at least, if there is any; only the first may be too large.
        if not part.count or (count and total + part.size > size):
            break
        end = part.end
        count += part.count
        total += part.size
        digest += int(part.digest, 16)
        yield
    session.done(
        request.id,
        {"end": end, "count": count, "bytes": total, "digest": digest_text(digest)},
        session.seen,
    )


def split_range(session: LocalSession, request: local.SplitRange) -> None:
    ends = session.manager.ranges.split(
        session.holder.descriptor(request.handle), request.after, request.upto, request.parts
    )
    session.done(request.id, ends)


def peek_range(session: LocalSession, request: local.PeekRange) -> Steps:
    """Stream a range as blocks, one per step; it pauses while the client does not read."""
    after = request.after
    depends = 0
    while True:
        read = session.manager.ranges.peek(
            session.holder.descriptor(request.handle),
            after,
            request.upto,
            max_rows=min(max(request.block_rows, 1), local.MAX_MESSAGES),
            max_bytes=min(max(request.block_bytes, 1), MAX_BLOCK_BYTES),
        )
        if read is None:
            break
        # No block overtakes one that waits for the disk.
        depends = max(depends, read.depends)
        session.outgoing_messages += len(read.messages)
        session.answer(block(request.id, read, request.head_bytes), depends)
        after = read.messages[-1].sequence
        yield
    session.answer(local.last_block(request.id), depends)


def block(request: int, read: Read, head_bytes: int | None) -> local.Block:
    """One blob of packets with their ends, and columns of the record fields."""
    packets, sizes = read.packets, NO_SIZES
    if head_bytes is not None:
        packets, sizes = shortened(packets, head_bytes)
    return local.pack_block(
        request,
        b"".join(packets),
        accumulate(map(len, packets)),
        [message.lookup_id for message in read.messages],
        [message.arrived for message in read.messages],
        counters(read.messages),
        sizes,
    )


def shortened(packets: list[bytes], head_bytes: int) -> tuple[list[bytes], list[int]]:
    """Packets with the beginning of their bodies, and the sizes of the bodies."""
    short = [shorten_body(packet, head_bytes) for packet in packets]
    return [packet for packet, _ in short], [size for _, size in short]


def browse(session: LocalSession, request: local.Browse) -> None:
    """One bounded step: the client continues after the last message, or before the first."""
    read = session.manager.ranges.browse(
        session.holder.descriptor(request.handle),
        request.lookup_id,
        backwards=request.backwards,
        max_count=min(max(request.count, 1), MAX_BROWSED),
        max_bytes=MAX_BLOCK_BYTES,
        hidden=request.hidden,
    )
    head_bytes = local.MAX_HEAD_BYTES if request.head_bytes is None else request.head_bytes
    packets, sizes = shortened(read.packets, head_bytes)
    session.outgoing_messages += len(packets)
    session.answer(
        local.Page(
            request.id,
            packets,
            [message.lookup_id for message in read.messages],
            [message.arrived for message in read.messages],
            sizes,
            counters(read.messages),
            read.states,
            read.more,
        ),
        read.depends,
    )


def acknowledge_range(session: LocalSession, request: local.AcknowledgeRange) -> None:
    """One bounded step: the client asks again until `done`."""
    step = session.manager.ranges.acknowledge(
        session.holder.descriptor(request.handle), request.base, request.upto
    )
    session.done(request.id, {"count": step.count, "done": step.done}, step.depends)


def lease(session: LocalSession, request: local.Lease) -> None:
    leased = session.manager.leases.lease(
        session.holder.descriptor(request.handle),
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
        session.holder.descriptor(request.handle), request.consumer, request.token
    )
    session.done(request.id, {"count": released.count, "done": released.done}, released.depends)


def pin(session: LocalSession, request: local.Pin) -> None:
    session.manager.ranges.pin(
        session.holder.descriptor(request.handle),
        request.base,
        request.upto,
        seconds=request.seconds,
    )
    session.done(request.id)


def stage(session: LocalSession, request: local.Stage) -> None:
    if not request.producer:
        raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, "a stage needs a producer name")
    session.incoming_messages += len(request.packets)
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
    source = session.holder.descriptor(request.handle) if request.handle else None
    committed = session.manager.stages.commit_batch(
        request.producer,
        request.batch,
        request.stages,
        caller=session.identity(),
        source=source,
        received=request.received,
    )
    session.done(
        request.id,
        {
            "count": committed.count,
            "repeated": committed.repeated,
            "first": committed.first,
            "last": committed.last,
        },
        committed.depends,
    )


def check_batch(session: LocalSession, request: local.CheckBatch) -> None:
    checked = session.manager.stages.check(
        request.destination,
        request.packets,
        queue_bytes=request.queue_bytes,
        manager_bytes=request.manager_bytes,
        caller=session.identity(),
    )
    refused = [
        (
            packet.place,
            int(packet.error.code),
            packet.error.detail,
            packet.error.known_cause,
            packet.error.known_remedy,
        )
        for packet in checked.refused
    ]
    session.done(request.id, {"refused": refused, "bytes": checked.size}, session.seen)


def last_batch(session: LocalSession, request: local.LastBatch) -> None:
    last = session.manager.stages.last_batch(request.producer, caller=session.identity())
    session.done(
        request.id, {"batch": last.batch, "first": last.first, "last": last.last}, session.seen
    )


def abort_batch(session: LocalSession, request: local.AbortBatch) -> None:
    session.manager.stages.abort_batch(
        request.producer, request.batch, request.stages, caller=session.identity()
    )
    session.done(request.id)


HANDLERS: Final[Handlers] = {
    local.RangeInfo: range_info,
    local.PlanRange: plan_range,
    local.SplitRange: split_range,
    local.PeekRange: peek_range,
    local.Browse: browse,
    local.AcknowledgeRange: acknowledge_range,
    local.Lease: lease,
    local.Release: release,
    local.Pin: pin,
    local.Stage: stage,
    local.CommitBatch: commit_batch,
    local.AbortBatch: abort_batch,
    local.CheckBatch: check_batch,
    local.LastBatch: last_batch,
}
