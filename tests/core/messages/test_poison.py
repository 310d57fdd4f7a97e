"""Poison messages: retries, rests in the subqueue `retry`, and what follows the last of them."""

from typing import Any

import pytest
from tests.core.harness import MOVE, ORDERS, RECEIVE, USER, Harness, refused

from openmsmq.core.events import MessageDropped
from openmsmq.core.messages.due_times import REMOVED_SECONDS
from openmsmq.core.messages.poison import release_held
from openmsmq.core.model.message import Message, PositionState
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import Read
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.wire.codes.message_class import MessageClass

RETRY = f"{ORDERS};retry"
POISON = f"{ORDERS};poison"
REMOVED = f"{ORDERS};removed"
POLICY: dict[str, Any] = {
    "receive_retry_count": 1,
    "retry_cycle_delay": 60,
    "max_retry_cycles": 1,
    "receive_error_handling": "move",
}


@pytest.fixture(name="harness")
def empty_harness() -> Harness:
    """A queue manager without queues."""
    return Harness()


def fail(harness: Harness, times: int = 1) -> None:
    """Receive the first message in a transaction that aborts."""
    for _ in range(times):
        transaction = harness.qm.traffic.begin(harness.guid())
        reader = harness.open(RECEIVE)
        read = harness.qm.traffic.dequeue_many(reader, timeout=0, transaction=transaction)
        assert isinstance(read, Read)
        harness.qm.traffic.abort(transaction.identifier)
        harness.qm.close_queue(reader)
    harness.settle()


def send(harness: Harness, *contents: bytes, **properties: Any) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(*contents, transaction=transaction, **properties)
    harness.qm.traffic.commit(transaction.identifier)


def poisoned(harness: Harness, **policy: Any) -> Queue:
    """A queue with a policy and one message in it."""
    queue = harness.create(transactional=True, **{**POLICY, **policy})
    send(harness, b"1")
    return queue


def at(harness: Harness, name: str = ORDERS) -> list[bytes]:
    return harness.contents(name) if name[2:].lower() in harness.qm.state.paths else []


def only(queue: Queue) -> Message:
    (message,) = (*queue.lanes, *queue.locked.values())
    return message


def counts(queue: Queue) -> tuple[int, int]:
    """AbortCount and MoveCount of the only message."""
    history = only(queue).history
    return (history.abort_count, history.move_count) if history is not None else (0, 0)


def test_a_queue_without_a_policy_only_counts(harness: Harness) -> None:
    queue = harness.create(transactional=True)
    send(harness, b"1")
    fail(harness, 20)
    assert at(harness) == [b"1"]
    assert counts(queue) == (20, 0)
    assert queue.counters.aborted == 20


@pytest.mark.parametrize("restarts", [False, True])
def test_a_message_is_tried_in_cycles_and_then_moved(harness: Harness, *, restarts: bool) -> None:
    def restart() -> Queue:
        if restarts:
            harness.restart()
        return harness.qm.find_queue(ORDERS)

    poisoned(harness)
    fail(harness)
    queue = restart()
    assert counts(queue) == (1, 0)
    fail(harness)
    # The first try and one retry: it rests for a minute.
    assert (at(harness), at(harness, RETRY)) == ([], [b"1"])
    restart()
    assert counts(harness.qm.find_queue(RETRY)) == (0, 1)
    harness.advance(59)
    assert at(harness, RETRY) == [b"1"]
    restart()
    harness.advance(1)
    queue = restart()
    assert (at(harness), at(harness, RETRY)) == ([b"1"], [])
    assert counts(queue) == (0, 2)
    fail(harness, 2)
    restart()
    assert (at(harness), at(harness, RETRY), at(harness, POISON)) == ([], [], [b"1"])
    assert counts(harness.qm.find_queue(POISON)) == (0, 3)
    harness.advance(100_000)
    assert at(harness, POISON) == [b"1"]


def test_every_cycle_allows_the_same_number_of_retries(harness: Harness) -> None:
    queue = poisoned(harness, receive_retry_count=5, max_retry_cycles=2)
    tries = 0
    while at(harness, POISON) == []:
        fail(harness)
        tries += 1
        if not at(harness):
            harness.advance(60)
    assert tries == (5 + 1) * (2 + 1)
    assert queue.counters.poisoned == 1
    assert queue.counters.aborted == tries


def test_without_cycles_a_message_never_rests(harness: Harness) -> None:
    poisoned(harness, max_retry_cycles=0, receive_retry_count=0)
    fail(harness)
    assert (at(harness), at(harness, RETRY), at(harness, POISON)) == ([], [], [b"1"])


def test_a_rejected_message_goes_back_to_its_source(harness: Harness) -> None:
    queue = harness.create(
        transactional=True,
        **{**POLICY, "max_retry_cycles": 0, "receive_error_handling": "reject"},
    )
    send(harness, b"1", negative_journaling=True)
    fail(harness, 2)
    assert at(harness) == []
    assert queue.counters.deleted == {int(MessageClass.NACK_RECEIVE_REJECTED): 1}
    (letter,) = harness.qm.state.xact_deadletter.lanes
    assert letter.history is not None
    assert letter.history.message_class == MessageClass.NACK_RECEIVE_REJECTED


def test_a_dropped_message_is_counted_and_logged(harness: Harness) -> None:
    queue = poisoned(harness, max_retry_cycles=0, receive_error_handling="drop")
    fail(harness, 2)
    assert at(harness) == []
    (event,) = harness.take_events(MessageDropped)
    assert (event.what, event.queue) == ("poison message", queue.path)
    assert harness.qm.counters.dropped_messages.of("poison message") == 1
    assert queue.counters.poisoned == 1
    harness.restart()
    assert harness.qm.state.totals.messages == 0


def test_a_held_message_keeps_its_place_until_an_operator_decides(harness: Harness) -> None:
    poisoned(harness, max_retry_cycles=0, receive_error_handling="hold")
    send(harness, b"2", b"3")
    fail(harness, 2)
    assert at(harness) == [b"2", b"3"]
    harness.restart()
    queue = harness.qm.find_queue(ORDERS)
    held = only_held(queue)
    assert at(harness) == [b"2", b"3"]
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        release_held(harness.qm.state, queue, [held.lookup_id, 7])
    assert release_held(harness.qm.state, queue, [held.lookup_id]).value == 1
    assert at(harness) == [b"1", b"2", b"3"]
    # It is tried again as if it were new.
    fail(harness)
    assert at(harness) == [b"1", b"2", b"3"]
    fail(harness)
    assert at(harness) == [b"2", b"3"]
    assert release_held(harness.qm.state, queue, None).value == 1
    assert release_held(harness.qm.state, queue, None).value == 0


def only_held(queue: Queue) -> Message:
    (message,) = [each for each in queue.locked.values() if each.state == PositionState.HELD]
    return message


def hold(harness: Harness, **properties: Any) -> Message:
    queue = harness.create(
        transactional=True,
        **{**POLICY, "max_retry_cycles": 0, "receive_error_handling": "hold"},
    )
    send(harness, b"1", **properties)
    fail(harness, 2)
    return only_held(queue)


def test_a_held_message_can_be_moved_away(harness: Harness) -> None:
    message = hold(harness)
    source, target = harness.open(MOVE), harness.open(MOVE, POISON)
    transaction = harness.qm.traffic.begin(harness.guid())
    with refused("MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION"):
        harness.qm.traffic.move_many(
            source, target, lookup_ids=[message.lookup_id], transaction=transaction
        )
    harness.qm.traffic.move_many(source, target, lookup_ids=[message.lookup_id])
    harness.restart()
    assert (at(harness), at(harness, POISON)) == ([], [b"1"])


def test_a_held_message_expires_and_is_purged_and_deleted(harness: Harness) -> None:
    hold(harness, time_to_be_received=100)
    harness.advance(100)
    assert harness.qm.find_queue(ORDERS).count == 0
    send(harness, b"2")
    fail(harness, 2)
    assert harness.qm.find_queue(ORDERS).count == 1
    assert harness.qm.traffic.purge(harness.open(RECEIVE)).count == 1
    send(harness, b"3")
    fail(harness, 2)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    harness.restart()
    assert harness.qm.state.totals.messages == 0


def test_an_expired_or_purged_message_is_not_poison(harness: Harness) -> None:
    queue = harness.create(transactional=True, **{**POLICY, "receive_retry_count": 0})
    send(harness, b"1", time_to_be_received=50)
    transaction = harness.qm.traffic.begin(harness.guid())
    reader = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(reader, timeout=0, transaction=transaction)
    harness.advance(60)
    harness.qm.traffic.abort(transaction.identifier)
    harness.settle()
    assert (queue.count, at(harness, RETRY)) == (0, [])


def test_what_a_program_has_seen_and_gives_back_counts(harness: Harness) -> None:
    queue = harness.create(**POLICY)
    harness.send(b"1", b"2")
    for _ in range(2):
        reader = harness.open(RECEIVE)
        read = harness.qm.traffic.dequeue_many(reader, max_count=2, timeout=0, two_phase=True)
        assert isinstance(read, Read)
        first, second = (message.lookup_id for message in read.messages)
        # The second was fetched ahead and never handed over.
        harness.qm.traffic.end_many(reader, [first, second], delete=False, handed=[first])
        harness.qm.close_queue(reader)
        harness.settle()
    assert (at(harness), at(harness, RETRY)) == ([b"2"], [b"1"])
    assert counts(queue) == (0, 0)


def test_a_client_that_dies_with_fetched_messages_does_not_count(harness: Harness) -> None:
    queue = harness.create(**{**POLICY, "receive_retry_count": 0})
    harness.send(b"1")
    reader = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(reader, timeout=0, two_phase=True)
    harness.qm.close_queue(reader)
    assert at(harness) == [b"1"]
    assert counts(queue) == (0, 0)


def test_a_policy_counts_from_when_it_is_set(harness: Harness) -> None:
    queue = harness.create(transactional=True)
    send(harness, b"1")
    fail(harness, 3)
    harness.qm.set_queue(queue, caller=USER, **POLICY)
    harness.restart()
    fail(harness)
    assert at(harness, RETRY) == [b"1"]
    # A shorter rest holds for those that rest already, and without a policy they stay.
    queue = harness.qm.find_queue(ORDERS)
    harness.qm.set_queue(queue, caller=USER, receive_error_handling="none")
    harness.advance(1000)
    assert at(harness, RETRY) == [b"1"]
    harness.qm.set_queue(queue, caller=USER, receive_error_handling="move")
    harness.advance(0)
    assert at(harness) == [b"1"]


def test_a_longer_rest_holds_for_those_that_rest_already(harness: Harness) -> None:
    queue = poisoned(harness, receive_retry_count=0)
    fail(harness)
    harness.qm.set_queue(queue, caller=USER, retry_cycle_delay=600)
    harness.advance(599)
    assert at(harness, RETRY) == [b"1"]
    harness.advance(1)
    assert at(harness) == [b"1"]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_rest_lasts_its_whole_time_to_parts_of_a_second(
    harness: Harness, *, restarts: bool
) -> None:
    harness.advance(0.75)
    poisoned(harness, receive_retry_count=0, retry_cycle_delay=1)
    fail(harness)
    if restarts:
        harness.restart()
    harness.advance(0.75)
    assert at(harness, RETRY) == [b"1"]
    harness.advance(0.25)
    assert at(harness) == [b"1"]


def test_a_message_that_somebody_reads_in_the_subqueue_returns_later(harness: Harness) -> None:
    poisoned(harness, receive_retry_count=0)
    fail(harness)
    reader = harness.open(RECEIVE, RETRY)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.dequeue_many(reader, timeout=0, transaction=transaction)
    harness.advance(60)
    harness.qm.traffic.abort(transaction.identifier)
    harness.qm.close_queue(reader)
    assert at(harness, RETRY) == [b"1"]
    assert harness.qm.next_timer() is not None
    harness.advance(5)
    assert (at(harness), at(harness, RETRY)) == ([b"1"], [])


def test_removed_messages_go_after_a_day(harness: Harness) -> None:
    harness.create()
    harness.send(b"1")
    harness.advance(10)
    harness.qm.traffic.move_many(harness.open(MOVE), harness.open(MOVE, REMOVED), max_count=9)
    harness.restart()
    harness.advance(REMOVED_SECONDS - 1)
    assert at(harness, REMOVED) == [b"1"]
    harness.advance(1)
    assert at(harness, REMOVED) == []
    harness.restart()
    assert harness.qm.state.totals.messages == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("receive_retry_count", -1),
        ("receive_retry_count", True),
        ("retry_cycle_delay", 10**9),
        ("max_retry_cycles", "2"),
        ("receive_error_handling", "explode"),
        ("receive_error_handling", 1),
    ],
)
def test_a_policy_is_checked(harness: Harness, name: str, value: Any) -> None:
    with refused("MQ_ERROR_ILLEGAL_PROPERTY_VALUE"):
        harness.create(**{name: value})
    queue = harness.create()
    with refused("MQ_ERROR_ILLEGAL_PROPERTY_VALUE"):
        harness.qm.set_queue(queue, caller=USER, **{name: value})


def test_a_waiting_reader_gets_a_message_that_returns(harness: Harness) -> None:
    poisoned(harness, receive_retry_count=0)
    fail(harness)
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE), timeout=None)
    assert isinstance(read, ReadRequest)
    harness.advance(60)
    harness.settle()
    assert not read.waiting
    assert harness.qm.state.totals.messages == 0
