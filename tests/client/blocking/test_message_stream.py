"""Iteration of the blocking client against a queue manager."""

import threading
from collections.abc import Iterator

import pytest

import openmsmq
from openmsmq import Message, Queue, QueueManager

ORDERS = r".\private$\orders"
WAIT = 20.0


@pytest.fixture
def orders(msmq: QueueManager) -> Queue:
    return msmq.create_queue(ORDERS)


@pytest.fixture
def other(msmq: QueueManager) -> Iterator[Queue]:
    """The queue through another connection."""
    with openmsmq.connect(msmq.address) as connection:
        yield connection.open_queue(ORDERS)


def fill(queue: Queue, count: int) -> list[str]:
    texts = [str(number) for number in range(count)]
    queue.send_many(Message(text) for text in texts)
    return texts


def rest(queue: Queue) -> list[str | bytes]:
    return [message.body for message in queue.cursor()]


@pytest.mark.parametrize("prefetch", [1, 2, 7, 1000])
def test_a_loop_that_does_not_wait_yields_every_message_there_is(
    orders: Queue, prefetch: int
) -> None:
    texts = fill(orders, 3000 if prefetch > 7 else 300)
    assert [message.body for message in orders.messages(timeout=0, prefetch=prefetch)] == texts
    assert orders.info()["messages"] == 0


def test_a_loop_yields_what_comes_while_it_runs(orders: Queue, other: Queue) -> None:
    seen = []
    fill(orders, 1)
    for message in orders.messages(timeout=WAIT):
        seen.append(message.body)
        if len(seen) == 50:
            break
        other.send(Message(str(len(seen))))
    assert seen == [str(number) for number in range(50)]


def test_a_loop_over_the_queue_itself_goes_on_for_ever(orders: Queue) -> None:
    texts = fill(orders, 10)
    seen = []
    for message in orders:
        seen.append(message.body)
        if len(seen) == 10:
            break
    assert seen == texts


def test_leaving_a_loop_takes_the_current_message_and_puts_the_rest_back(orders: Queue) -> None:
    texts = fill(orders, 100)
    for message in orders.messages(timeout=0):
        if message.body == "9":
            break
    assert rest(orders) == texts[10:]


def test_an_exception_in_a_with_block_puts_the_current_message_back(orders: Queue) -> None:
    texts = fill(orders, 100)

    def fail_at(text: str) -> None:
        with orders.messages(timeout=0) as stream:
            for message in stream:
                if message.body == text:
                    raise KeyError

    with pytest.raises(KeyError):
        fail_at("9")
    assert rest(orders) == texts[9:]


def test_what_is_fetched_ahead_is_locked_and_not_lost(orders: Queue, other: Queue) -> None:
    texts = fill(orders, 100)
    stream = orders.messages(timeout=0, prefetch=20)
    assert next(stream).body == "0"
    ahead = other.receive(timeout=0).body
    assert ahead == "20" or int(str(ahead)) >= 10
    stream.close()
    assert rest(other) == [text for text in texts[1:] if text != ahead]


def test_a_client_that_goes_leaves_what_it_has_not_taken(msmq: QueueManager, orders: Queue) -> None:
    texts = fill(orders, 100)
    gone = openmsmq.connect(msmq.address)
    stream = gone.open_queue(ORDERS).messages(timeout=0)
    for _ in range(10):
        next(stream)
    # Hang up without a word, as a program does that is killed.
    gone._driver._transport._socket.close()  # type: ignore[union-attr]
    with pytest.raises(openmsmq.ConnectionLost):
        stream.close()
    gone._driver.close()
    back = []
    for message in orders.messages(timeout=WAIT):
        back.append(message.body)
        if message.body == "99":
            break
    assert back == texts


def test_a_slow_loop_removes_what_it_has_taken(
    orders: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openmsmq.client.blocking.message_stream.REMOVE_SECONDS", 0.0)
    fill(orders, 10)
    stream = orders.messages(timeout=0)
    for _ in range(4):
        next(stream)
    assert orders.info()["messages"] == 7
    stream.close()


def test_one_at_a_time_leaves_the_others_to_others(orders: Queue, other: Queue) -> None:
    fill(orders, 4)
    mine = orders.messages(timeout=0, prefetch=1)
    theirs = other.messages(timeout=0, prefetch=1)
    assert [next(each).body for each in (mine, theirs, mine, theirs)] == ["0", "1", "2", "3"]


def test_loops_share_a_queue_without_doubles(orders: Queue, other: Queue) -> None:
    texts = fill(orders, 5000)
    seen: list[list[str | bytes]] = [[], []]

    def run(queue: Queue, into: list[str | bytes]) -> None:
        into.extend(message.body for message in queue.messages(timeout=0, prefetch=50))

    threads = [
        threading.Thread(target=run, args=each) for each in zip((orders, other), seen, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert sorted(seen[0] + seen[1], key=str) == sorted(texts)


def test_several_loops_share_a_connection(msmq: QueueManager) -> None:
    queues = [msmq.create_queue(rf".\private$\q{number}") for number in range(5)]
    for queue in queues:
        queue.send_many(Message(bytes(20_000)) for _ in range(200))
    streams = [queue.messages(timeout=0) for queue in queues]
    for _ in range(200):
        for stream in streams:
            next(stream)
    for stream in streams:
        with pytest.raises(StopIteration):
            next(stream)


def test_the_loop_of_a_deleted_queue_ends_with_the_reason(
    msmq: QueueManager, orders: Queue
) -> None:
    fill(orders, 1)
    stream = orders.messages(timeout=WAIT)
    next(stream)
    msmq.delete_queue(ORDERS)
    with pytest.raises(openmsmq.QueueError) as caught:
        next(stream)
    assert caught.value.name == "MQ_ERROR_QUEUE_NOT_AVAILABLE"
