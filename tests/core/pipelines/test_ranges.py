"""Ranges by arrival sequence, for pipelines."""

import pytest
from tests.core.harness import ORDERS, PEEK, RECEIVE, SEND, USER, Harness, refused

from openmsmq.core.events import MessagesDeleted
from openmsmq.core.model.open_queue import OpenQueueDescriptor
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage

EVERYTHING = 1 << 56
PAY = r".\private$\pay"


@pytest.fixture
def peek(harness: Harness) -> OpenQueueDescriptor:
    return harness.open(PEEK)


def walk(harness: Harness, descriptor: OpenQueueDescriptor, after: int, upto: int) -> list[bytes]:
    found = []
    while (read := harness.qm.ranges.peek(descriptor, after, upto, max_rows=2)) is not None:
        found += [UserMessage(packet).body for packet in read.packets]
        after = read.messages[-1].sequence
    return found


def test_a_queue_tells_its_bounds(harness: Harness, peek: OpenQueueDescriptor) -> None:
    info = harness.qm.ranges.info(peek)
    assert (info.first, info.last, info.count, info.size) == (0, 0, 0, 0)
    assert info.lock_holders == {}
    low = harness.send(b"low", priority=0).messages[0]
    high = harness.send(b"high", priority=7).messages[0]
    info = harness.qm.ranges.info(peek)
    assert (info.first, info.last, info.count) == (low.sequence, high.sequence, 2)
    assert info.stable == harness.qm.state.sequence.last
    assert info.size == low.size + high.size
    assert info.depends == harness.qm.state.outbox.number
    harness.flush()
    assert harness.qm.ranges.info(peek).depends == 0


def test_a_queue_that_is_made_again_is_another_incarnation(harness: Harness) -> None:
    before = harness.qm.ranges.info(harness.open(PEEK)).incarnation
    harness.restart()
    assert harness.qm.ranges.info(harness.open(PEEK)).incarnation == before
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    harness.create()
    assert harness.qm.ranges.info(harness.open(PEEK)).incarnation != before


def test_a_late_message_of_high_priority_is_in_the_next_range(
    harness: Harness, peek: OpenQueueDescriptor
) -> None:
    harness.send(b"1", b"2", priority=0)
    first = harness.qm.ranges.plan(peek, 0)
    harness.send(b"urgent", priority=7)
    second = harness.qm.ranges.plan(peek, first.end)
    assert walk(harness, peek, 0, first.end) == [b"1", b"2"]
    assert walk(harness, peek, first.end, second.end) == [b"urgent"]


def test_a_plan_is_limited_by_rows_and_bytes(harness: Harness, peek: OpenQueueDescriptor) -> None:
    sent = harness.send(b"a" * 100, b"b" * 100, b"c" * 100, priority=1)
    size = sent.messages[0].size
    sequences = [message.sequence for message in sent.messages]
    plan = harness.qm.ranges.plan
    assert (plan(peek, 0, max_rows=2).end, plan(peek, 0, max_rows=2).count) == (sequences[1], 2)
    assert plan(peek, 0, max_bytes=2 * size).end == sequences[1]
    assert plan(peek, 0, max_bytes=2 * size).size == 2 * size
    assert plan(peek, 0, max_bytes=1).count == plan(peek, 0, max_rows=-1).count == 1
    assert plan(peek, 0, upto=sequences[0]).end == sequences[0]
    assert plan(peek, sequences[0]).count == 2
    assert (plan(peek, EVERYTHING).end, plan(peek, EVERYTHING).count) == (EVERYTHING, 0)


def test_the_digest_of_a_range_depends_on_its_messages_only(
    harness: Harness, peek: OpenQueueDescriptor
) -> None:
    sent = harness.send(b"1", b"2", b"3")
    plan = harness.qm.ranges.plan(peek, 0)
    again = harness.qm.ranges.plan(peek, 0)
    assert (again.digest, again.count) == (plan.digest, 3)
    assert len(plan.digest) == 16
    receive = harness.open(RECEIVE)
    harness.qm.traffic.read_by_lookup_id(receive, sent.lookup_ids[1], receive=True)
    changed = harness.qm.ranges.plan(peek, 0, upto=plan.end)
    assert (changed.count, changed.digest != plan.digest) == (2, True)


def test_the_stable_mark_stays_below_every_lock(
    harness: Harness, peek: OpenQueueDescriptor
) -> None:
    sent = harness.send(b"1", b"2", b"3")
    receive = harness.open(RECEIVE)
    harness.qm.traffic.read_by_lookup_id(receive, sent.lookup_ids[1], receive=True, two_phase=True)
    info = harness.qm.ranges.info(peek)
    assert info.stable == sent.messages[0].sequence
    assert list(info.lock_holders.values()) == [1]
    assert str(USER.sid) in next(iter(info.lock_holders))
    plan = harness.qm.ranges.plan(peek, 0)
    assert (plan.count, plan.end) == (1, sent.messages[0].sequence)
    harness.qm.traffic.end_many(receive, sent.lookup_ids[1:2], delete=False)
    assert harness.qm.ranges.plan(peek, 0).count == 3


def test_the_stable_mark_stays_below_uncommitted_sends(harness: Harness) -> None:
    harness.create(PAY, transactional=True)
    peek = harness.open(PEEK, PAY)
    open_transaction = harness.qm.traffic.begin(harness.guid())
    held = harness.send(b"1", name=PAY, transaction=open_transaction).messages[0]
    committed = harness.qm.traffic.begin(harness.guid())
    harness.send(b"2", name=PAY, transaction=committed)
    harness.qm.traffic.commit(committed.identifier)
    assert harness.qm.ranges.info(peek).stable == held.sequence - 1
    assert harness.qm.ranges.info(peek).lock_holders == {
        f"transaction {{{str(open_transaction.identifier).upper()}}}": 1
    }
    assert harness.qm.ranges.plan(peek, 0).count == 0
    harness.qm.traffic.commit(open_transaction.identifier)
    plan = harness.qm.ranges.plan(peek, 0)
    assert walk(harness, peek, 0, plan.end) == [b"1", b"2"]


def test_a_range_is_split_into_parts_of_about_equal_bytes(
    harness: Harness, peek: OpenQueueDescriptor
) -> None:
    small = harness.send(*[b"s" * 100] * 8).messages
    large = harness.send(b"l" * 1900).messages
    upto = large[0].sequence
    assert harness.qm.ranges.split(peek, 0, upto, 1) == [upto]
    assert harness.qm.ranges.split(peek, 0, upto, 2) == [small[7].sequence, upto]
    ends = harness.qm.ranges.split(peek, 0, upto, 100)
    assert ends == [message.sequence for message in (*small, *large)]
    assert harness.qm.ranges.split(peek, upto, EVERYTHING, 3) == [EVERYTHING]
    assert harness.qm.ranges.split(peek, 0, upto, 0) == [upto]


def test_a_range_is_read_in_the_order_of_arrival_in_blocks(
    harness: Harness, peek: OpenQueueDescriptor
) -> None:
    for number, priority in enumerate((3, 0, 7, 3, 7)):
        harness.send(b"%d" % number, priority=priority)
    assert walk(harness, peek, 0, EVERYTHING) == [b"0", b"1", b"2", b"3", b"4"]
    read = harness.qm.ranges.peek(peek, 0, EVERYTHING, max_bytes=1)
    assert read is not None
    assert len(read.packets) == 1
    assert harness.qm.ranges.peek(peek, EVERYTHING, EVERYTHING) is None


def test_an_acknowledged_range_is_received_for_good(harness: Harness) -> None:
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, journaling=True)
    skipped = harness.send(b"skipped").messages[0]
    sent = harness.send(b"1", b"2", priority=7).messages
    harness.send(b"3")
    descriptor = harness.open(RECEIVE)
    done = harness.qm.ranges.acknowledge(descriptor, skipped.sequence, sent[1].sequence)
    assert (done.count, done.done) == (2, True)
    assert done.depends == harness.qm.state.outbox.number
    assert harness.contents() == [b"skipped", b"3"]
    assert harness.contents(ORDERS + ";journal") == [b"1", b"2"]
    reasons = {event.reason for event in harness.take_events(MessagesDeleted)}
    assert reasons == {MessageClass.ACK_RECEIVE}
    again = harness.qm.ranges.acknowledge(descriptor, skipped.sequence, sent[1].sequence)
    assert (again.count, again.done, again.depends) == (0, True, 0)
    harness.restart()
    assert harness.contents() == [b"skipped", b"3"]


def test_a_long_range_is_acknowledged_in_steps(harness: Harness) -> None:
    harness.send(*[b"x"] * 5)
    descriptor = harness.open(RECEIVE)
    steps = [harness.qm.ranges.acknowledge(descriptor, 0, EVERYTHING, limit=2) for _ in range(3)]
    assert [(step.count, step.done) for step in steps] == [(2, False), (2, False), (1, True)]


def test_an_acknowledged_range_is_no_longer_pinned(harness: Harness) -> None:
    first, second = harness.send(b"1", b"2").messages
    descriptor = harness.open(RECEIVE)
    harness.qm.ranges.pin(descriptor, 0, first.sequence, seconds=100)
    harness.qm.ranges.pin(descriptor, 0, second.sequence, seconds=100)
    queue = harness.qm.find_queue(ORDERS)
    assert [pin.upto for pin in queue.pins] == [second.sequence]
    harness.qm.ranges.acknowledge(descriptor, 0, first.sequence)
    assert len(queue.pins) == 1
    harness.qm.ranges.acknowledge(descriptor, 0, second.sequence)
    assert queue.pins == []
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        harness.qm.ranges.pin(descriptor, 5, 5, seconds=1)
    for seconds in (0, -1, float("inf"), float("nan")):
        with refused("MQ_ERROR_INVALID_PARAMETER"):
            harness.qm.ranges.pin(descriptor, 0, 5, seconds=seconds)


def test_range_operations_need_the_ordinary_access(
    harness: Harness, peek: OpenQueueDescriptor
) -> None:
    send = harness.open(SEND)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.ranges.info(send)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.ranges.plan(send, 0)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.ranges.acknowledge(peek, 0, 1)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.ranges.pin(peek, 0, 1, seconds=1)


# Leases


def test_a_lease_takes_messages_aside_until_they_are_acknowledged(harness: Harness) -> None:
    harness.send(b"1", b"2", b"3")
    descriptor = harness.open(RECEIVE)
    leased = harness.qm.leases.lease(descriptor, "etl", 1, max_rows=2, max_bytes=1 << 20)
    assert (leased.count, leased.done) == (2, False)
    assert leased.subqueue == r"QM\private$\orders;spark-etl"
    assert leased.depends == harness.qm.state.outbox.number
    harness.restart()
    assert harness.contents() == [b"3"]
    assert harness.contents(leased.subqueue) == [b"1", b"2"]
    mine = harness.open(RECEIVE, leased.subqueue)
    assert harness.qm.ranges.acknowledge(mine, 0, EVERYTHING).count == 2


def test_an_older_run_of_a_consumer_is_shut_out_also_after_a_restart(harness: Harness) -> None:
    harness.send(b"1", b"2")
    descriptor = harness.open(RECEIVE)
    harness.qm.leases.lease(descriptor, "etl", 5, max_rows=1, max_bytes=1 << 20)
    harness.restart()
    descriptor = harness.open(RECEIVE)
    with refused("MQ_ERROR_STALE_HANDLE"):
        harness.qm.leases.lease(descriptor, "etl", 4, max_rows=1, max_bytes=1 << 20)
    with refused("MQ_ERROR_STALE_HANDLE"):
        harness.qm.leases.release(descriptor, "etl", 4)
    harness.qm.leases.lease(descriptor, "other", 1, max_rows=0, max_bytes=1 << 20)
    again = harness.qm.leases.lease(descriptor, "etl", 5, max_rows=1, max_bytes=1 << 20)
    assert (again.count, again.done) == (1, True)


def test_a_released_lease_gives_everything_back_at_the_end(harness: Harness) -> None:
    harness.send(b"1", b"2", b"3")
    descriptor = harness.open(RECEIVE)
    harness.qm.leases.lease(descriptor, "etl", 1, max_rows=2, max_bytes=1 << 20)
    step = harness.qm.leases.release(descriptor, "etl", 1, limit=1)
    assert (step.count, step.done) == (1, False)
    assert harness.qm.leases.release(descriptor, "etl", 1, limit=5).done
    assert harness.contents() == [b"3", b"1", b"2"]
    assert harness.qm.find_queue(ORDERS).subqueues == {}
    harness.restart()
    assert harness.qm.state.leases == {}
    assert harness.qm.leases.release(harness.open(RECEIVE), "etl", 0).count == 0


def test_a_lease_does_not_change_when_a_message_arrived(harness: Harness) -> None:
    harness.send(b"1")
    came = harness.utc
    descriptor = harness.open(RECEIVE)
    harness.advance(60)
    leased = harness.qm.leases.lease(descriptor, "etl", 1, max_rows=1, max_bytes=1 << 20)
    harness.restart()
    subqueue = harness.qm.find_queue(leased.subqueue)
    assert [message.arrived for message in subqueue.lanes] == [came]
    harness.advance(60)
    harness.qm.leases.release(harness.open(RECEIVE), "etl", 1)
    assert [message.arrived for message in harness.qm.find_queue(ORDERS).lanes] == [came]


@pytest.mark.parametrize("consumer", ["", "x" * 27, "a;b", "a\\b"])
def test_a_consumer_needs_a_name_that_a_subqueue_can_have(harness: Harness, consumer: str) -> None:
    with refused("MQ_ERROR_INVALID_PARAMETER|MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"):
        harness.qm.leases.lease(harness.open(RECEIVE), consumer, 1, max_rows=1, max_bytes=1)


@pytest.mark.parametrize("token", [-1, 1 << 63])
def test_a_token_is_a_number_that_can_be_kept(harness: Harness, token: int) -> None:
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        harness.qm.leases.lease(harness.open(RECEIVE), "etl", token, max_rows=1, max_bytes=1)


def test_a_journal_cannot_be_leased(harness: Harness) -> None:
    journal = harness.open(RECEIVE, ORDERS + ";journal")
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.leases.lease(journal, "etl", 1, max_rows=1, max_bytes=1)
