"""Queues of the blocking client against a queue manager."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

import openmsmq
from openmsmq import Message, Queue, QueueManager

ORDERS = r".\private$\orders"
WAIT = 20.0
NO_BODY: Any = {"a": 1}


@pytest.fixture
def orders(msmq: QueueManager) -> Queue:
    return msmq.create_queue(ORDERS)


@pytest.fixture
def other(msmq: QueueManager) -> Iterator[QueueManager]:
    """Another client of the same queue manager."""
    with openmsmq.connect(msmq.address) as connection:
        yield connection


def bodies(queue: Queue) -> list[str | bytes]:
    return [message.body for message in queue.cursor()]


def fill(queue: Queue, count: int) -> list[str]:
    texts = [str(number) for number in range(count)]
    assert queue.send_many(Message(text) for text in texts) == count
    return texts


def test_a_message_comes_out_as_it_went_in(orders: Queue) -> None:
    orders.send(Message(b"body", "label", app_specific=7))
    message = orders.receive(timeout=WAIT)
    assert (message.body_bytes, message.label, message.app_specific) == (b"body", "label", 7)


def test_text_and_bytes_are_sent_as_bodies(msmq: QueueManager, orders: Queue) -> None:
    orders.send("text")
    orders.send(b"bytes")
    orders.send_many(["more", Message("message")])
    assert orders.send_and_wait("waited for")
    msmq.send(ORDERS, "by name")
    values = [message.value for message in orders.receive_many(6, timeout=WAIT)]
    assert values == ["text", b"bytes", "more", "message", "waited for", "by name"]


def test_json_comes_as_text(orders: Queue) -> None:
    orders.send(Message.json({"name": "Käse", "count": 12}, "order", priority=5))
    message = orders.receive(timeout=WAIT)
    assert json.loads(message.body) == {"name": "Käse", "count": 12}
    assert (message.label, message.priority, message.body_type) == ("order", 5, 0)


def test_a_value_for_dot_net_comes_as_that_value(orders: Queue) -> None:
    orders.send(Message.xml("a < b", "order", priority=5))
    message = orders.receive(timeout=WAIT)
    assert (message.value, message.label, message.priority) == ("a < b", "order", 5)
    assert message.text == '<?xml version="1.0"?>\r\n<string>a &lt; b</string>'


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda queue: queue.send({"a": 1}), "message: a Message, str or bytes is taken, not dict"),
        (
            lambda queue: queue.send(Message(NO_BODY)),
            r"of dict; json.dumps it, or use Message.json",
        ),
        (lambda queue: queue.send_many("text"), "messages: a list of messages is taken, not one"),
        (lambda queue: queue.send_many(5), "messages: a list of messages is taken, not one int"),
        (lambda queue: queue.send("x", transaction=True), 'a Transaction or "single" is taken'),
        (lambda queue: queue.receive("5"), "timeout: seconds or a timedelta are taken, not str"),
        (lambda queue: queue.receive(0, transaction="single"), "a Transaction is taken"),
        (lambda queue: queue.receive_many("5"), "count: a whole number is taken, not str"),
        (lambda queue: queue.messages(prefetch="5"), "prefetch: a whole number is taken, not str"),
        (lambda queue: queue.peek_by_lookup_id("5"), "lookup_id: expected `int`, got `str`"),
        (lambda queue: queue.move(";x", 5), "lookup_ids: a list of lookup ids is taken"),
        (lambda queue: queue.move(";x", ["5"]), "lookup_ids: expected `int`, got `str`"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(
    orders: Queue, call: Callable[[Any], object], text: str
) -> None:
    with pytest.raises(TypeError, match=text):
        call(orders)
    # The connection goes on.
    orders.send("x", transaction=None)
    assert orders.receive(timeout=WAIT).body == "x"


def test_times_may_be_timedeltas(msmq: QueueManager, orders: Queue) -> None:
    now = timedelta(0)
    for call in (orders.receive, orders.peek):
        with pytest.raises(openmsmq.ReceiveTimeout):
            call(timeout=now)
    assert orders.receive_many(5, timeout=now) == []
    assert list(orders.messages(timeout=now)) == list(orders.cursor(timeout=now)) == []
    with pytest.raises(openmsmq.ReceiveTimeout):
        msmq.request(ORDERS, "question", timeout=timedelta(milliseconds=1))
    orders.send(Message("text", time_to_be_received=timedelta(minutes=1)))
    *_, last = orders.cursor()
    assert last.time_to_be_received == 60


def test_a_transaction_of_another_connection_is_refused(orders: Queue, other: QueueManager) -> None:
    with other.transaction() as transaction:
        for call in (orders.send, orders.send_and_wait):
            with pytest.raises(ValueError, match="it belongs to another connection"):
                call(Message("text"), transaction)
        with pytest.raises(ValueError, match="it belongs to another connection"):
            orders.receive(timeout=0, transaction=transaction)


def test_a_received_message_is_gone(orders: Queue, other: QueueManager) -> None:
    orders.send(Message("x", delivery="recoverable"))
    orders.receive(timeout=WAIT)
    with pytest.raises(openmsmq.ReceiveTimeout):
        orders.receive(timeout=0)
    with pytest.raises(openmsmq.ReceiveTimeout):
        other.open_queue(ORDERS).receive(timeout=0)
    assert orders.info()["messages"] == 0


def test_messages_come_by_priority_then_in_order(orders: Queue) -> None:
    for priority, text in ((3, "a"), (3, "b"), (7, "c")):
        orders.send(Message(text, priority=priority))
    assert [message.body for message in orders.receive_many(10, timeout=0)] == ["c", "a", "b"]


def test_an_express_message_leaves_soon_without_another_call(
    orders: Queue, other: QueueManager
) -> None:
    reader = other.open_queue(ORDERS)
    for text in ("first", "second"):
        orders.send(Message(text))
    assert [reader.receive(timeout=WAIT).body for _ in range(2)] == ["first", "second"]


def test_send_and_wait_tells_the_id(orders: Queue) -> None:
    identifier = orders.send_and_wait(Message("x"))
    assert orders.receive(timeout=0).id == identifier


@pytest.fixture
def full(msmq: QueueManager) -> Queue:
    """A queue with room for six messages of 10 KB."""
    return msmq.create_queue(r".\private$\full", quota=64)


def ten(delivery: str) -> list[Message]:
    return [Message(bytes([number]) * 10_000, delivery=delivery) for number in range(10)]


def numbers(queue: Queue) -> list[int]:
    return [message.body_bytes[0] for message in queue.cursor()]


@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_the_messages_that_fit_are_accepted_and_counted(full: Queue, delivery: str) -> None:
    with pytest.raises(openmsmq.QueueError, match=r"; 6 of 10 messages were accepted$") as caught:
        full.send_many(ten(delivery))
    assert (caught.value.name, caught.value.accepted) == ("MQ_ERROR_INSUFFICIENT_RESOURCES", 6)
    assert numbers(full) == list(range(6))
    full.purge()
    rest = ten(delivery)[caught.value.accepted :]
    assert full.send_many(rest) == 4
    assert numbers(full) == [6, 7, 8, 9]


def test_packets_that_fit_are_accepted_and_counted(full: Queue) -> None:
    build = full.packet_builder(transactional=False).build
    with pytest.raises(openmsmq.QueueError) as caught:
        full.send_packets(map(build, ten("express")))
    assert caught.value.accepted == 6
    assert numbers(full) == list(range(6))


@pytest.mark.parametrize("pause", [0.0, 0.003])
def test_express_messages_are_accepted_up_to_the_first_refused_one(
    msmq: QueueManager, full: Queue, pause: float
) -> None:
    sent = 0
    with pytest.raises(openmsmq.QueueError, match=r"not in it$") as caught:  # noqa: PT012 - any of them
        for message in [*ten("express"), Message(b"small")]:
            full.send(message)
            sent += 1
            time.sleep(pause)
        msmq.flush()
    assert sent - caught.value.refused == 6
    msmq.flush()
    assert numbers(full) == list(range(6))
    full.purge()
    full.send(Message(b"small"))
    msmq.flush()
    assert len(numbers(full)) == 1


def test_a_recoverable_message_that_does_not_fit_is_refused_alone(full: Queue) -> None:
    with pytest.raises(openmsmq.QueueError) as caught:
        full.send(Message(bytes(100_000), delivery="recoverable"))
    assert (caught.value.accepted, caught.value.refused) == (0, 1)
    full.send("small")


def test_a_transaction_is_accepted_whole_or_not_at_all(msmq: QueueManager) -> None:
    queue = msmq.create_queue(r".\private$\whole", quota=64, transactional=True)
    with pytest.raises(openmsmq.QueueError) as caught:
        queue.send_many(ten("recoverable"), "single")
    assert (caught.value.name, caught.value.accepted) == ("MQ_ERROR_INSUFFICIENT_RESOURCES", 0)
    assert numbers(queue) == []


def test_threads_that_send_to_a_full_queue_each_hear_of_their_own(full: Queue) -> None:
    accepted: list[int] = []

    def send() -> None:
        with pytest.raises(openmsmq.QueueError) as caught:
            full.send_many(ten("recoverable"))
        accepted.append(caught.value.accepted)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert (len(accepted), sum(accepted), len(numbers(full))) == (4, 6, 6)


def test_a_source_that_fails_leaves_what_it_gave_before(msmq: QueueManager, full: Queue) -> None:
    def source() -> Iterator[Message]:
        yield from ten("express")
        raise KeyError

    with pytest.raises(KeyError):
        full.send_many(source())
    with pytest.raises(openmsmq.QueueError) as caught:
        msmq.flush()
    assert caught.value.name == "MQ_ERROR_INSUFFICIENT_RESOURCES"
    assert numbers(full) == list(range(6))


def test_a_refused_express_message_is_raised_by_a_later_call(msmq: QueueManager) -> None:
    queue = msmq.create_queue(ORDERS, transactional=True)
    queue.send(Message("x"))
    with pytest.raises(openmsmq.QueueError) as caught:
        msmq.flush()
    assert caught.value.name == "MQ_ERROR_TRANSACTION_USAGE"
    msmq.flush()


def test_a_refused_recoverable_message_is_raised_at_once(msmq: QueueManager) -> None:
    queue = msmq.create_queue(ORDERS, transactional=True)
    with pytest.raises(openmsmq.QueueError):
        queue.send(Message("x", delivery="recoverable"))


def test_a_queue_that_was_made_again_can_be_sent_to_again(
    msmq: QueueManager, orders: Queue
) -> None:
    orders.send_and_wait(Message("x"))
    msmq.delete_queue(ORDERS)
    with pytest.raises(openmsmq.QueueError):
        orders.send_and_wait(Message("x"))
    msmq.create_queue(ORDERS)
    orders.send_and_wait(Message("y"))
    assert bodies(msmq.open_queue(ORDERS)) == ["y"]


def test_send_many_sends_all_and_tells_how_many(orders: Queue) -> None:
    texts = fill(orders, 3000)
    assert [message.body for message in orders.receive_many(5000, timeout=0)] == texts


def test_send_many_in_one_transaction_sends_all_or_nothing(msmq: QueueManager) -> None:
    queue = msmq.create_queue(ORDERS, transactional=True)
    assert queue.send_many([Message("a"), Message("b")], transaction="single") == 2
    assert [message.body for message in queue.cursor()] == ["a", "b"]
    with pytest.raises(ValueError, match="priority"):
        queue.send_many([Message("c"), Message("d", priority=8)], transaction="single")
    assert len(bodies(queue)) == 2


def test_send_many_of_what_comes_slowly_does_not_hold_it_back(
    orders: Queue, other: QueueManager
) -> None:
    seen = threading.Event()

    def slowly() -> Iterator[Message]:
        yield Message("first")
        yield Message("second")
        assert seen.wait(WAIT)
        yield Message("third")

    reader = other.open_queue(ORDERS)
    sending = threading.Thread(target=orders.send_many, args=(slowly(),))
    sending.start()
    assert [reader.receive(timeout=WAIT).body for _ in range(2)] == ["first", "second"]
    seen.set()
    sending.join(WAIT)
    assert reader.receive(timeout=WAIT).body == "third"


def test_large_bodies_come_through(orders: Queue) -> None:
    sent = [bytes([number]) * 3_000_000 for number in range(5)]
    orders.send_many(Message(body) for body in sent)
    assert [message.body_bytes for message in orders.receive_many(10, timeout=0)] == sent


def test_a_receive_that_waits_gets_what_comes(orders: Queue, other: QueueManager) -> None:
    got: list[str | bytes] = []
    waiting = threading.Thread(target=lambda: got.append(orders.receive(timeout=WAIT).body))
    waiting.start()
    other.send(ORDERS, Message("x"))
    waiting.join(WAIT)
    assert got == ["x"]


def test_receive_gives_up_in_time(orders: Queue) -> None:
    start = time.monotonic()
    with pytest.raises(openmsmq.ReceiveTimeout) as caught:
        orders.receive(timeout=0.05)
    assert time.monotonic() - start >= 0.05
    assert caught.value.name == "MQ_ERROR_IO_TIMEOUT"


def test_receive_many_may_return_nothing(orders: Queue) -> None:
    assert orders.receive_many(10, timeout=0) == []


def test_peeking_leaves_the_message(orders: Queue) -> None:
    fill(orders, 2)
    assert orders.peek(timeout=0).body == "0"
    assert orders.peek(timeout=0).body == "0"


def test_a_message_that_is_held_is_locked_and_then_removed(orders: Queue) -> None:
    fill(orders, 3)
    first = orders.peek(timeout=0)
    with orders.hold_by_lookup_id(first.lookup_id, relation="next") as held:
        assert held.body == "1"
        assert bodies(orders) == ["0", "2"]
    assert bodies(orders) == ["0", "2"]


def test_an_exception_puts_a_message_that_is_held_back_in_place(orders: Queue) -> None:
    fill(orders, 2)

    def fail() -> None:
        with orders.hold_by_lookup_id(orders.peek(timeout=0).lookup_id):
            assert bodies(orders) == ["1"]
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert bodies(orders) == ["0", "1"]


def test_messages_are_found_by_lookup_id(orders: Queue) -> None:
    fill(orders, 3)
    first = orders.peek(timeout=0)
    second = orders.peek_by_lookup_id(first.lookup_id, relation="next")
    assert second.body == "1"
    assert orders.peek_by_lookup_id(second.lookup_id, relation="previous").body == "0"
    assert orders.peek_by_lookup_id(0, relation="last").body == "2"
    assert orders.receive_by_lookup_id(second.lookup_id).body == "1"
    assert bodies(orders) == ["0", "2"]
    with pytest.raises(openmsmq.QueueError) as caught:
        orders.peek_by_lookup_id(second.lookup_id)
    assert caught.value.name == "MQ_ERROR_MESSAGE_NOT_FOUND"


def test_a_cursor_sees_every_message_and_takes_none(orders: Queue) -> None:
    texts = fill(orders, 1000)
    assert bodies(orders) == texts
    assert bodies(orders) == texts


def test_a_cursor_waits_at_the_end_if_asked_to(orders: Queue, other: QueueManager) -> None:
    fill(orders, 3)
    seen = []
    for message in orders.cursor(timeout=WAIT):
        seen.append(message.body)
        if message.body == "2":
            other.send(ORDERS, Message("more"))
            other.flush()
        if message.body == "more":
            break
    assert seen == ["0", "1", "2", "more"]


def test_a_queue_that_is_open_for_peeking_is_not_received_from(
    msmq: QueueManager, orders: Queue
) -> None:
    fill(orders, 1)
    with msmq.open_queue(ORDERS, "peek") as queue:
        assert queue.peek(timeout=0).body == "0"
        assert bodies(queue) == ["0"]


def test_a_reader_can_keep_others_out(msmq: QueueManager, orders: Queue) -> None:
    with msmq.open_queue(ORDERS, share="deny_receive"):
        with pytest.raises(openmsmq.QueueError) as caught:
            msmq.open_queue(ORDERS)
        assert caught.value.name == "MQ_ERROR_SHARING_VIOLATION"
    msmq.open_queue(ORDERS)


def test_purge_deletes_everything_and_tells_how_far_it_is(orders: Queue) -> None:
    fill(orders, 12_000)
    told: list[int] = []
    assert orders.purge(told.append) == 12_000
    assert len(told) >= 2
    assert told[-1] == 12_000
    assert orders.info()["messages"] == 0


def test_messages_move_to_a_subqueue_and_back(msmq: QueueManager, orders: Queue) -> None:
    texts = fill(orders, 2500)
    later = orders.peek_by_lookup_id(orders.peek(timeout=0).lookup_id, relation="next")
    told: list[int] = []
    assert orders.move(ORDERS + ";held", [later.lookup_id]) == 1
    assert orders.move(ORDERS + ";held", count=9) == 9
    assert orders.move(ORDERS + ";held", progress=told.append) == 2490
    assert told == [1000, 2000, 2490]
    held = msmq.open_queue(ORDERS + ";held")
    assert held.move(ORDERS) == 2500
    assert bodies(orders) == ["1", "0", *texts[2:]]


def test_a_message_moves_to_a_subqueue_of_its_own_queue(msmq: QueueManager, orders: Queue) -> None:
    fill(orders, 2)
    assert orders.move(";held", count=1) == 1
    held = msmq.open_queue(ORDERS + ";held")
    assert held.move(";later") == 1
    assert bodies(msmq.open_queue(ORDERS + ";later")) == ["0"]
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_ILLEGAL_OPERATION"):
        orders.move(";deadletter")


def test_a_queue_is_closed_with_its_block(orders: Queue, other: QueueManager) -> None:
    fill(orders, 1)
    with other.open_queue(ORDERS) as queue:
        assert queue.format_name.upper().startswith("DIRECT=OS:")
        assert orders.info()["readers"] == 1
    assert orders.info()["readers"] == 0
    assert repr(queue) == f"Queue({ORDERS!r})"


def test_threads_share_a_connection(msmq: QueueManager, orders: Queue) -> None:
    count = 300
    got: list[str | bytes] = []

    def receive() -> None:
        got.extend([orders.receive(timeout=WAIT).body for _ in range(count)])

    def send(name: int) -> None:
        for number in range(count):
            orders.send(Message(f"{name}-{number}"))
            if number % 50 == 0:
                msmq.flush()

    threads = [threading.Thread(target=receive) for _ in range(3)]
    threads += [threading.Thread(target=send, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert sorted(got, key=str) == sorted(
        (f"{name}-{number}" for name in range(3) for number in range(count)), key=str
    )


def test_packets_that_the_caller_builds_are_sent(orders: Queue) -> None:
    assert orders.is_transactional() is False
    family = orders.packet_builder(transactional=False).family(Message(priority=5))
    packets = [family.build(str(number).encode(), "same", None) for number in range(3000)]
    assert orders.send_packets(packets) == 3000
    message = orders.receive(timeout=WAIT)
    assert (message.body_bytes, message.label, message.priority) == (b"0", "same", 5)
    assert orders.info()["messages"] == 2999


def test_packets_are_sent_in_a_transaction(msmq: QueueManager) -> None:
    paid = msmq.create_queue(r".\private$\paid", transactional=True)
    assert paid.is_transactional() is True
    build = paid.packet_builder(transactional=True).build
    with msmq.transaction() as tx:
        paid.send_packets([build(Message("x"))], tx)
        assert paid.info()["messages"] == 0
    assert paid.receive(timeout=WAIT).transactional


def test_a_message_can_be_sent_again_elsewhere(orders: Queue, msmq: QueueManager) -> None:
    orders.send(Message("text", "label", app_specific=7, extension=b"more", journal=True))
    first = orders.receive(timeout=WAIT)
    paid = msmq.create_queue(r".\private$\paid", transactional=True)
    packet = paid.packet_builder(transactional=True).again(first.packet)
    with msmq.transaction() as tx:
        paid.send_packets([packet], tx)
    second = paid.receive(timeout=WAIT)
    assert (second.body, second.label, second.app_specific) == ("text", "label", 7)
    assert (second.extension, second.id != first.id, second.transactional) == (b"more", True, True)


def test_an_old_part_of_a_queue_is_purged(orders: Queue) -> None:
    fill(orders, 5)
    upto = orders.ranges.info().last
    fill(orders, 2)
    assert orders.purge(upto=upto) == 5
    assert bodies(orders) == ["0", "1"]
