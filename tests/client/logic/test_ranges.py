"""Ranges and staged batches, step by step."""

import pytest
from tests.client.local.peer import Peer, Running, opened

from openmsmq.client.logic.ranges import (
    STAGE_BYTES,
    STAGE_MESSAGES,
    Leased,
    ProducerLogic,
    RangeInfo,
    RangePlan,
    RangesLogic,
    RangeStream,
)
from openmsmq.client.message import Message
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.messages import Block, last_block, pack_block
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.fixture
def ranges(peer: Peer) -> RangesLogic:
    return RangesLogic(peer.queue())


def test_what_a_queue_holds_is_told_by_sequence(peer: Peer, ranges: RangesLogic) -> None:
    asking = peer.start(ranges.info())
    told = {
        "incarnation": "a-1",
        "first": 1,
        "stable": 8,
        "last": 9,
        "count": 9,
        "bytes": 900,
        "locked": 2,
        "lock_holders": {"reader 1": 2},
    }
    peer.go_on(asking, local.Done(peer.request(local.RangeInfo).id, told))
    assert asking.result == RangeInfo("a-1", 1, 8, 9, 9, 900, 2, {"reader 1": 2})


def test_a_queue_manager_of_another_version_may_tell_more_or_less(
    peer: Peer, ranges: RangesLogic
) -> None:
    asking = peer.start(ranges.info())
    told = {"incarnation": "a-1", "first": 1, "stable": 8, "last": 9, "count": 9, "bytes": 900}
    peer.go_on(asking, local.Done(peer.request(local.RangeInfo).id, told | {"expired": 3}))
    assert asking.result == RangeInfo("a-1", 1, 8, 9, 9, 900)


def test_more_of_a_plan_or_a_lease_than_is_known_is_ignored(
    peer: Peer, ranges: RangesLogic
) -> None:
    asking = peer.start(ranges.plan(5, None, None, None))
    told = {"end": 15, "count": 10, "bytes": 999, "digest": "ff", "age": 3}
    peer.go_on(asking, local.Done(peer.request(local.PlanRange).id, told))
    assert asking.result == RangePlan(15, 10, 999, "ff")
    leasing = Running(ranges.lease("c1", 1, 10, 1000))
    told = {"subqueue": "c1", "count": 1, "bytes": 9, "done": True, "age": 3}
    peer.go_on(leasing, local.Done(peer.request(local.Lease).id, told))
    assert leasing.result == Leased("c1", 1, 9, done=True)


def test_a_plan_has_its_limits_and_tells_end_count_and_digest(
    peer: Peer, ranges: RangesLogic
) -> None:
    asking = peer.start(ranges.plan(5, 50, 10, 1000))
    plan = peer.request(local.PlanRange)
    assert (plan.after, plan.upto, plan.max_rows, plan.max_bytes) == (5, 50, 10, 1000)
    told = {"end": 15, "count": 10, "bytes": 999, "digest": "ff"}
    peer.go_on(asking, local.Done(plan.id, told))
    assert asking.result == RangePlan(15, 10, 999, "ff")


@pytest.mark.parametrize("kind", [local.AcknowledgeRange, local.Release])
def test_long_work_is_repeated_until_it_is_done(
    peer: Peer, ranges: RangesLogic, kind: type[local.AcknowledgeRange] | type[local.Release]
) -> None:
    told: list[int] = []
    if kind is local.AcknowledgeRange:
        running = peer.start(ranges.acknowledge(5, 50, told.append))
    else:
        running = peer.start(ranges.release("consumer", 1, told.append))
    for count, done in ((10, False), (3, True)):
        request = peer.request(kind)
        peer.go_on(running, local.Done(request.id, {"count": count, "done": done}))
    assert running.result == 13
    assert told == [10, 13]


def block(request: int, *, last: bool = False) -> Block:
    return last_block(request) if last else pack_block(request, b"packet", [6], [1], [1.0], [])


def test_a_range_is_streamed_block_by_block_to_its_end(peer: Peer) -> None:
    stream = RangeStream(peer.queue(), 5, 50, 100, 1000)
    first = peer.start(stream.next_block())
    request = peer.request(local.PeekRange)
    assert (request.after, request.upto) == (5, 50)
    assert (request.block_rows, request.block_bytes) == (100, 1000)
    peer.go_on(first, block(request.id))
    assert first.result is not None
    second = Running(stream.next_block())
    peer.go_on(second, block(request.id, last=True))
    assert second.result is None
    assert Running(stream.next_block()).result is None
    assert not peer.requests()


def test_a_refused_range_is_raised_and_over(peer: Peer) -> None:
    stream = RangeStream(peer.queue(), 5, 50, 100, 1000)
    first = peer.start(stream.next_block())
    request = peer.request(local.PeekRange)
    gone = local.Failed(request.id, int(Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE), "gone")
    with pytest.raises(QueueError, match="gone"):
        peer.go_on(first, gone)
    assert Running(stream.next_block()).result is None


def test_blocks_of_a_range_that_was_left_are_dropped(peer: Peer) -> None:
    stream = RangeStream(peer.queue(), 5, 50, 100, 1000)
    stream.close()
    first = peer.start(stream.next_block())
    request = peer.request(local.PeekRange)
    peer.go_on(first, block(request.id))
    stream.close()
    stream.close()
    peer.answer(block(request.id), block(request.id, last=True))
    assert peer.channel.take(request.id) is None
    assert peer.channel.held_bytes == 0


def staged(peer: Peer) -> list[local.Stage]:
    return [each for each in peer.requests() if isinstance(each, local.Stage)]


def test_messages_are_staged_in_parts_that_are_all_answered(peer: Peer) -> None:
    producer = ProducerLogic(peer.backend, "job")
    messages = [Message(str(number)) for number in range(STAGE_MESSAGES + 1)]
    staging = peer.start(producer.stage(4, 1, 2, "queue", messages, transactional=None))
    first, second = staged(peer)
    assert (first.producer, first.batch, first.partition, first.attempt) == ("job", 4, 1, 2)
    assert [len(first.packets), len(second.packets)] == [STAGE_MESSAGES, 1]
    peer.go_on(staging, local.Done(first.id))
    assert not staging.ended
    peer.go_on(staging, local.Done(second.id))
    assert staging.result == STAGE_MESSAGES + 1


def test_large_messages_are_staged_in_more_parts(peer: Peer) -> None:
    producer = ProducerLogic(peer.backend, "job")
    staging = Running(producer.stage_packets(1, 0, 0, "queue", [bytes(STAGE_BYTES)] * 3))
    assert len(staged(peer)) == 3
    assert not staging.ended


def test_a_refused_part_is_raised(peer: Peer) -> None:
    producer = ProducerLogic(peer.backend, "job")
    staging = Running(producer.stage_packets(1, 0, 0, "queue", [b"a"]))
    (part,) = staged(peer)
    full = local.Failed(part.id, int(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES), "full")
    with pytest.raises(QueueError, match="full"):
        peer.go_on(staging, full)


def test_the_queue_says_whether_staged_messages_are_transactional(peer: Peer) -> None:
    producer = ProducerLogic(peer.backend, "job")
    staging = Running(producer.stage(1, 0, 0, "queue", [Message()], transactional=None))
    request = peer.request(local.OpenQueue)
    told = opened(request.id).value | {"transactional": True}
    peer.go_on(staging, local.Done(request.id, told))
    (part,) = staged(peer)
    assert UserMessage(part.packets[0]).transactional


@pytest.mark.parametrize("transactional", [True, False])
def test_the_caller_can_say_whether_staged_messages_are_transactional(
    peer: Peer,
    transactional: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    producer = ProducerLogic(peer.backend, "job")
    Running(producer.stage(1, 0, 0, "queue", [Message()], transactional=transactional))
    (part,) = staged(peer)
    assert UserMessage(part.packets[0]).transactional == transactional


def test_a_destination_is_opened_once(peer: Peer) -> None:
    producer = ProducerLogic(peer.backend, "job")
    first = peer.start(producer.stage(1, 0, 0, "queue", [], transactional=None))
    assert first.result == 0
    assert Running(producer.stage(1, 1, 0, "queue", [], transactional=None)).result == 0
    assert not peer.requests()


@pytest.mark.parametrize("repeated", [True, False])
def test_a_commit_says_whether_the_batch_was_new(
    peer: Peer,
    repeated: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    committing = Running(ProducerLogic(peer.backend, "job").commit(4, [(0, 0), (1, 2)]))
    request = peer.request(local.CommitBatch)
    assert request.stages == [(0, 0), (1, 2)]
    published = {"count": 5, "repeated": repeated, "first": 3, "last": 7}
    peer.go_on(committing, local.Done(request.id, published))
    assert committing.result == (not repeated, 3, 7)
