"""Working through a queue with retries."""

import gc
import multiprocessing
from collections.abc import Iterator
from typing import Any

import pytest
from tests.client.processor import BAD, DONE, ORDERS, work

import openmsmq
from openmsmq import Message, Queue, QueueManager

POISON = f"{ORDERS};poison"
RETRY = f"{ORDERS};retry"
WAIT = 60.0


@pytest.fixture
def orders(msmq: QueueManager) -> Queue:
    return msmq.create_queue(ORDERS, transactional=True)


def send(queue: Queue, *bodies: bytes) -> None:
    queue.send_many((Message(body) for body in bodies), transaction="single")


def bodies(manager: QueueManager, name: str = ORDERS) -> list[bytes]:
    return [message.body_bytes for message in manager.open_queue(name, "peek").cursor()]


def attempts(queue: Queue, **rules: Any) -> Iterator[bytes]:
    """Work until nothing comes; the bad message fails each time it is tried."""
    while True:
        try:
            with queue.process(timeout=0, **rules) as messages:
                for message in messages:
                    yield message.body_bytes
                    if message.body_bytes == BAD:
                        raise ValueError
            return
        except ValueError:
            pass


def test_each_message_is_received_when_the_next_is_asked_for(
    msmq: QueueManager, orders: Queue
) -> None:
    done = msmq.create_queue(DONE, transactional=True)
    send(orders, b"1", b"2", b"3")
    with orders.process(timeout=0) as messages:
        for message in messages:
            done.send(message.body_bytes, messages.transaction)
    assert bodies(msmq) == []
    assert bodies(msmq, DONE) == [b"1", b"2", b"3"]
    with pytest.raises(ValueError, match="no message is being worked on"):
        _ = messages.transaction


def test_a_message_that_fails_is_tried_again_and_then_set_aside(
    msmq: QueueManager, orders: Queue
) -> None:
    send(orders, b"1", BAD, b"2")
    tried = list(attempts(orders, retries=2, cycles=0))
    assert tried == [b"1", BAD, BAD, BAD, b"2"]
    assert (bodies(msmq), bodies(msmq, POISON)) == ([], [BAD])


def test_it_rests_before_it_comes_back(msmq: QueueManager, orders: Queue) -> None:
    send(orders, BAD)
    assert list(attempts(orders, retries=1, cycles=1, delay=3600)) == [BAD, BAD]
    assert (bodies(msmq, RETRY), bodies(msmq, POISON)) == ([BAD], [])
    # Now the rest is over.
    assert list(attempts(orders, retries=1, cycles=1, delay=0)) == [BAD, BAD]
    assert (bodies(msmq, RETRY), bodies(msmq, POISON)) == ([], [BAD])
    (message,) = msmq.open_queue(POISON).cursor()
    assert (message.abort_count, message.move_count) == (0, 3)


def test_messages_that_rest_are_not_looked_at_before_each_message(
    msmq: QueueManager, orders: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looks() -> int:
        return int(msmq.status()["counters"]['msmq_client_requests_total{request="OpenCursor"}'])

    monkeypatch.setattr("openmsmq.client.blocking.processing.LOOK_SECONDS", 3600.0)
    send(orders, *[b"old"] * 20)
    orders.move(RETRY, [message.lookup_id for message in orders.cursor()])
    send(orders, *[b"new"] * 20)
    before = looks()
    assert list(attempts(orders)) == [b"new"] * 20
    assert looks() == before + 1
    assert len(bodies(msmq, RETRY)) == 20


def test_a_queue_with_a_policy_is_left_to_it(msmq: QueueManager, orders: Queue) -> None:
    msmq.set_queue(ORDERS, receive_retry_count=1, max_retry_cycles=0, receive_error_handling="hold")
    send(orders, BAD, b"1")
    assert list(attempts(orders, retries=9)) == [BAD, BAD, b"1"]
    info = orders.info()
    assert (info["held_messages"], info["poisoned_messages"]) == (1, 1)
    assert msmq.release_held(ORDERS) == 1
    assert bodies(msmq) == [BAD]


def test_leaving_the_loop_gives_the_message_back_and_a_with_statement_takes_it(
    msmq: QueueManager, orders: Queue
) -> None:
    send(orders, b"1", b"2")
    messages = orders.process(timeout=0)
    assert next(messages).body_bytes == b"1"
    messages.close()
    assert bodies(msmq) == [b"1", b"2"]
    with orders.process(timeout=0) as messages:
        for message in messages:
            assert message.abort_count == 1
            break
    assert bodies(msmq) == [b"2"]


def test_a_loop_without_a_with_statement_gives_the_message_back_at_once(orders: Queue) -> None:
    send(orders, BAD)
    gc.disable()
    counts = []
    try:
        for _ in range(3):
            for message in orders.process(timeout=0):
                counts.append(message.abort_count)
                break
    finally:
        gc.enable()
    assert counts == [0, 1, 2]


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        ({"retries": -1}, "retries: -1 is less than 0"),
        ({"cycles": -1}, "cycles: -1 is less than 0"),
        ({"delay": -1}, "delay: -1 is less than 0"),
        ({"poison": "poison"}, "poison: 'poison' is not a subqueue"),
        ({"poison": f"{ORDERS};"}, "is not a subqueue"),
    ],
)
def test_rules_that_cannot_be_are_refused_before_a_message_fails(
    orders: Queue, rules: dict[str, Any], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        orders.process(**rules)


def test_a_queue_without_transactions_is_refused(msmq: QueueManager) -> None:
    plain = msmq.create_queue(r".\private$\plain")
    plain.send("1")
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_TRANSACTION_USAGE"):
        next(plain.process(timeout=0))


def test_a_message_that_kills_its_reader_is_set_aside(msmq: QueueManager, orders: Queue) -> None:
    msmq.create_queue(DONE, transactional=True)
    send(orders, b"1", BAD, b"2", b"3")
    context = multiprocessing.get_context("forkserver")
    codes: list[int | None] = []
    while len(codes) < 10:
        process = context.Process(target=work, args=(msmq.address,))
        process.start()
        process.join(WAIT)
        codes.append(process.exitcode)
        if process.exitcode == 0:
            break
    # The first try and two retries, each the end of a process.
    assert codes == [-9, -9, -9, 0]
    assert bodies(msmq, POISON) == [BAD]
    assert bodies(msmq) == []
    # Nothing took effect that was sent with the bad message, and the others did once.
    assert bodies(msmq, DONE) == [b"1", b"2", b"3"]
