"""Transactions of the blocking client against a queue manager."""

import pytest

import openmsmq
from openmsmq import Message, Queue, QueueManager

ORDERS = r".\private$\orders"
BILLS = r".\private$\bills"


@pytest.fixture
def orders(msmq: QueueManager) -> Queue:
    return msmq.create_queue(ORDERS, transactional=True)


@pytest.fixture
def bills(msmq: QueueManager) -> Queue:
    return msmq.create_queue(BILLS, transactional=True)


def bodies(queue: Queue) -> list[str | bytes]:
    return [message.body for message in queue.cursor()]


def test_messages_in_several_queues_appear_together(
    msmq: QueueManager, orders: Queue, bills: Queue
) -> None:
    with msmq.transaction() as transaction:
        orders.send(Message("order"), transaction)
        msmq.send(BILLS, Message("bill"), transaction)
        assert bodies(orders) == bodies(bills) == []
    assert (bodies(orders), bodies(bills)) == (["order"], ["bill"])


def test_an_exception_undoes_everything(msmq: QueueManager, orders: Queue, bills: Queue) -> None:
    orders.send(Message("order"), "single")
    place = orders.peek(timeout=0).lookup_id

    def fail() -> None:
        with msmq.transaction() as transaction:
            taken = orders.receive(timeout=0, transaction=transaction)
            bills.send(Message(f"bill for {taken.body!r}"), transaction)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    again = orders.peek(timeout=0)
    assert (again.lookup_id, again.abort_count) == (place, 1)
    assert bodies(bills) == []


def test_a_message_that_was_received_can_be_moved_aside(msmq: QueueManager, orders: Queue) -> None:
    orders.send_many([Message("good"), Message("bad")], "single")
    with msmq.transaction() as transaction:
        taken = orders.receive_many(2, timeout=0, transaction=transaction)
        assert orders.move(";poison", [taken[1].lookup_id], transaction=transaction) == 1
    assert bodies(orders) == []
    poison = msmq.open_queue(ORDERS + ";poison").peek(timeout=0)
    assert (poison.body, poison.move_count, poison.abort_count) == ("bad", 1, 0)


def test_a_message_of_another_transaction_cannot_be_moved(
    msmq: QueueManager, orders: Queue
) -> None:
    orders.send(Message("1"), "single")
    with msmq.transaction() as first, msmq.transaction() as second:
        taken = orders.receive(timeout=0, transaction=first)
        with pytest.raises(openmsmq.QueueError, match="is locked by another transaction") as error:
            orders.move(";poison", [taken.lookup_id], transaction=second)
        assert error.value.name == "MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION"


def test_a_message_goes_from_queue_to_queue_once(
    msmq: QueueManager, orders: Queue, bills: Queue
) -> None:
    orders.send_many([Message(str(number)) for number in range(10)], "single")
    with msmq.transaction() as transaction:
        for message in orders.receive_many(10, timeout=0, transaction=transaction):
            bills.send(message.to_message(), transaction)
    assert bodies(orders) == []
    assert bodies(bills) == [str(number) for number in range(10)]


def test_a_transaction_can_be_ended_early(msmq: QueueManager, orders: Queue) -> None:
    with msmq.transaction() as transaction:
        orders.send(Message("x"), transaction)
        transaction.commit()
    with msmq.transaction() as transaction:
        orders.send(Message("y"), transaction)
        transaction.abort()
    assert bodies(orders) == ["x"]
    with pytest.raises(openmsmq.QueueError, match="is over"):
        orders.send(Message("z"), transaction)


def test_a_refused_message_undoes_the_others(msmq: QueueManager, orders: Queue) -> None:
    plain = msmq.create_queue(r".\private$\plain")
    transaction = msmq.transaction()
    orders.send(Message("x"), transaction)
    plain.send(Message("y"), transaction)
    with pytest.raises(openmsmq.QueueError) as caught:
        transaction.commit()
    assert caught.value.name == "MQ_ERROR_TRANSACTION_USAGE"
    assert bodies(orders) == bodies(plain) == []
    assert msmq.status()["transactions"] == 0


def test_a_message_is_taken_by_lookup_id_in_a_transaction(
    msmq: QueueManager, orders: Queue
) -> None:
    orders.send(Message("x"), "single")
    found = orders.peek(timeout=0)
    with msmq.transaction() as transaction:
        orders.receive_by_lookup_id(found.lookup_id, transaction=transaction)
        transaction.abort()
    assert bodies(orders) == ["x"]


def test_the_transactions_of_a_client_that_goes_are_undone(
    msmq: QueueManager, orders: Queue
) -> None:
    other = openmsmq.connect(msmq.address)
    queue = other.open_queue(ORDERS)
    orders.send(Message("x"), "single")
    queue.receive(timeout=0, transaction=other.transaction())
    assert bodies(orders) == []
    other.close()
    assert orders.receive(timeout=20).body == "x"


def test_hundreds_of_transactions_do_not_pile_up(msmq: QueueManager, orders: Queue) -> None:
    for number in range(300):
        with msmq.transaction() as transaction:
            orders.send(Message(str(number)), transaction)
    assert msmq.status()["transactions"] == 0
    assert orders.info()["messages"] == 300
