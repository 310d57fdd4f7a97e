"""Messages whose time is over ([MS-MQDMPR] 3.1.2.4, 3.1.7.2.7)."""

from typing import Any

import pytest
from tests.core.harness import ORDERS, RECEIVE, START_UTC, Harness, packet, runs_of

from openmsmq.core.events import MessagesDeleted, ReadSatisfied
from openmsmq.core.model.message import NEVER
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.incoming.delivery import deliver
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage

SPEC = pytest.mark.spec
PAY = r".\private$\pay"
THERE = r"DIRECT=OS:there\private$\orders"


def reasons(harness: Harness) -> list[int]:
    return [event.reason for event in harness.take_events(MessagesDeleted)]


@SPEC("MQDMPR-3.1.2.4-01", "MQDMPR-3.1.1.12-36")
def test_a_message_without_a_time_to_be_received_never_expires(harness: Harness) -> None:
    sent = harness.send(b"1")
    view = UserMessage(packet_of(harness.qm.state, sent.messages[0]))
    assert view.time_to_be_received == 0xFFFFFFFF
    assert sent.messages[0].expires == NEVER
    assert harness.qm.next_timer() is None
    harness.advance(1e9)
    assert harness.contents() == [b"1"]


@SPEC("MQDMPR-3.1.2.4-02")
def test_a_message_with_no_time_at_all_expires_on_arrival(harness: Harness) -> None:
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    harness.send(b"1", time_to_be_received=0)
    assert harness.contents() == []
    assert reasons(harness) == [MessageClass.NACK_RECEIVE_TIMEOUT]
    assert list(harness.qm.find_queue(ORDERS).waiting) == [read]


@SPEC("MQDMPR-3.1.2.4-03", "MQDMPR-3.1.7.2.7-01", "MQDMPR-3.1.7.1.9-09")
def test_a_message_expires_when_its_time_is_over(harness: Harness) -> None:
    harness.send(b"1", time_to_be_received=10)
    harness.send(b"2")
    assert harness.qm.next_timer() == harness.now + 10
    harness.advance(9.9)
    assert harness.contents() == [b"1", b"2"]
    harness.advance(0.1)
    assert harness.contents() == [b"2"]
    assert reasons(harness) == [MessageClass.NACK_RECEIVE_TIMEOUT]
    harness.restart()
    assert harness.contents() == [b"2"]


@SPEC("MQDMPR-3.1.1.12-33", "MQDMPR-3.1.2.4-03")
def test_the_time_counts_from_the_sent_time(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    late = UserMessage(packet(b"late", sent_time=int(START_UTC) - 8, time_to_be_received=10))
    deliver(harness.qm.state, queue, runs_of(late))
    over = UserMessage(packet(b"over", sent_time=int(START_UTC) - 11, time_to_be_received=10))
    deliver(harness.qm.state, queue, runs_of(over))
    assert harness.contents() == [b"late"]
    harness.advance(2)
    assert harness.contents() == []


@SPEC("MQDMPR-3.1.2.4-04")
def test_nothing_happens_to_a_message_that_left_in_time(harness: Harness) -> None:
    harness.send(b"1", time_to_be_received=10)
    harness.drain()
    reasons(harness)
    assert harness.qm.next_timer() is None
    harness.advance(20)
    assert reasons(harness) == []


@SPEC("MQDMPR-3.1.2.4-05")
def test_recovered_messages_expire_too(harness: Harness) -> None:
    harness.send(b"1", time_to_be_received=10)
    harness.send(b"2", time_to_be_received=30)
    harness.flush()
    harness.now += 15
    harness.utc += 15
    harness.crash()
    assert harness.qm.next_timer() == harness.now
    harness.advance(0)
    assert harness.contents() == [b"2"]
    assert harness.qm.next_timer() == harness.now + 15
    harness.advance(15)
    assert harness.contents() == []


@SPEC("MQDMPR-3.1.7.2.7-04")
def test_a_message_that_somebody_holds_is_not_torn_away(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", time_to_be_received=10)
    descriptor = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(descriptor, max_count=2, two_phase=True)
    harness.advance(20)
    assert len(descriptor.locked) == 2
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids[:1], delete=True)
    assert reasons(harness) == []
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids[1:], delete=False)
    assert reasons(harness) == [MessageClass.NACK_RECEIVE_TIMEOUT]
    assert harness.contents() == []


@SPEC("MQDMPR-3.1.7.2.7-02")
@pytest.mark.parametrize(
    ("keep", "expected"), [(True, [MessageClass.NACK_RECEIVE_TIMEOUT]), (False, [])]
)
def test_a_send_that_expires_before_its_commit_is_removed_by_it(
    harness: Harness, *, keep: bool, expected: list[MessageClass]
) -> None:
    harness.create(PAY, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=PAY, transaction=transaction, time_to_be_received=5)
    harness.send(b"2", name=PAY, transaction=transaction)
    harness.advance(6)
    assert reasons(harness) == []
    assert transaction.operations[-1].reason == MessageClass.NACK_RECEIVE_TIMEOUT
    decide = harness.qm.traffic.commit if keep else harness.qm.traffic.abort
    decide(transaction.identifier)
    assert harness.contents(PAY) == ([b"2"] if keep else [])
    assert reasons(harness) == expected


@SPEC("MQDMPR-3.1.2.4-02", "MQDMPR-3.1.7.2.7-02")
@pytest.mark.parametrize("phases", [1, 2])
def test_a_message_with_no_time_at_all_expires_when_its_send_commits(
    harness: Harness, phases: int
) -> None:
    harness.create(PAY, transactional=True)
    waiting = harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY))
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", b"2", name=PAY, transaction=transaction, time_to_be_received=0)
    harness.send(b"3", name=PAY, transaction=transaction)
    assert reasons(harness) == []
    if phases == 2:
        harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
    harness.qm.traffic.commit(transaction.identifier)
    (satisfied,) = harness.take_events(ReadSatisfied)
    assert satisfied.read is waiting
    assert [UserMessage(packet).body for packet in satisfied.packets] == [b"3"]
    timed_out = [MessageClass.NACK_RECEIVE_TIMEOUT] * 2
    assert reasons(harness) == [*timed_out, MessageClass.ACK_RECEIVE]
    assert harness.contents(PAY) == []
    harness.restart()
    assert harness.contents(PAY) == []


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"time_to_be_received": 5}, MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER),
        ({"time_to_reach_queue": 5}, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
    ],
)
def test_a_send_to_elsewhere_that_expires_before_its_commit_never_left(
    harness: Harness, times: dict[str, Any], expected: MessageClass
) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=THERE, transaction=transaction, **times)
    harness.advance(6)
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.qm.outgoing.find(THERE).count == 0
    assert reasons(harness) == [expected]


@SPEC("MQDMPR-3.1.7.2.7-03")
def test_a_message_of_a_finished_transaction_expires_like_any_other(harness: Harness) -> None:
    harness.create(PAY, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=PAY, transaction=transaction, time_to_be_received=5)
    harness.qm.traffic.commit(transaction.identifier)
    harness.advance(6)
    assert harness.contents(PAY) == []
    assert reasons(harness) == [MessageClass.NACK_RECEIVE_TIMEOUT]


@SPEC("MQDMPR-3.1.1.12-34", "MQDMPR-3.1.1.12-35")
@pytest.mark.parametrize(
    ("asked", "given"), [(0xFFFFFFFF, 0x54600), (0x54601, 0x54600), (0x54600, 0x54600), (7, 7)]
)
def test_no_message_may_take_longer_than_four_days(
    harness: Harness, asked: int, given: int
) -> None:
    sent = harness.send(b"1", time_to_reach_queue=asked)
    view = UserMessage(packet_of(harness.qm.state, sent.messages[0]))
    assert view.time_to_reach_queue == given


@SPEC("MQDMPR-3.1.1.12-35")
def test_the_longest_time_can_be_configured() -> None:
    harness = Harness(settings=Settings(long_live_time=0x76A700))
    harness.create()
    sent = harness.send(b"1", time_to_reach_queue=0xFFFFFFFF)
    view = UserMessage(packet_of(harness.qm.state, sent.messages[0]))
    assert view.time_to_reach_queue == 0x76A700


def test_what_is_kept_in_journals_does_not_expire(harness: Harness) -> None:
    harness.create(r".\private$\kept", journaling=True)
    harness.send(b"1", name=r".\private$\kept", time_to_be_received=10)
    harness.drain(r".\private$\kept")
    harness.advance(20)
    assert harness.contents(r".\private$\kept;journal") == [b"1"]


def test_many_messages_expire_in_steps(harness: Harness) -> None:
    for _ in range(3):
        harness.send(*[b"x"] * 4000, time_to_be_received=5, delivery_mode=0)
    harness.advance(5)
    assert harness.qm.find_queue(ORDERS).count == 2000
    assert harness.qm.next_timer() == harness.now
    harness.advance(0)
    assert harness.qm.find_queue(ORDERS).count == 0


def test_a_pinned_range_outlives_its_time(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", time_to_be_received=10)
    descriptor = harness.open(RECEIVE)
    first = sent.messages[0].sequence
    harness.qm.ranges.pin(descriptor, 0, first, seconds=100)
    harness.advance(20)
    assert harness.contents() == [b"1"]
    assert harness.qm.next_timer() == harness.now + 81
    harness.advance(81)
    assert harness.contents() == []
