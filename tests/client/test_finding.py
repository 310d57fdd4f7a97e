"""Messages by id and correlation id, counts, and single acknowledgments in a loop."""

import asyncio

import pytest

import openmsmq
import openmsmq.aio

ORDERS = r".\private$\orders"


def bodies(queue: openmsmq.Queue) -> list[str]:
    return [str(message.body) for message in queue.cursor()]


def test_messages_are_found_by_id(msmq: openmsmq.QueueManager) -> None:
    orders = msmq.create_queue(ORDERS)
    orders.send_many(openmsmq.Message(str(number)) for number in range(2500))
    wanted = orders.send_and_wait("wanted")
    assert orders.peek_by_id(wanted).body == "wanted"
    assert orders.receive_by_id(wanted).body == "wanted"
    msmq.flush()
    for find in (orders.peek_by_id, orders.receive_by_id):
        with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_MESSAGE_NOT_FOUND"):
            find(wanted)
    with pytest.raises(ValueError, match="id"):
        orders.peek_by_id("17")


def test_a_receive_by_id_in_a_transaction_is_refused_by_a_queue_without(
    msmq: openmsmq.QueueManager,
) -> None:
    orders = msmq.create_queue(ORDERS)
    wanted = orders.send_and_wait(openmsmq.Message("1"))
    with msmq.transaction() as transaction:
        for find in (orders.receive_by_id, orders.receive_by_correlation_id):
            orders.send(openmsmq.Message("2", correlation_id=wanted))
            with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_TRANSACTION_USAGE"):
                find(wanted, transaction)


def test_messages_are_found_by_correlation_id(msmq: openmsmq.QueueManager) -> None:
    orders = msmq.create_queue(ORDERS, transactional=True)
    wanted = orders.send_and_wait("question", transaction="single")
    for text in ("first", "second"):
        answer = openmsmq.Message(text, correlation_id=wanted)
        orders.send(answer, transaction="single")
    assert orders.peek_by_correlation_id(wanted).body == "first"
    with msmq.transaction() as transaction:
        assert orders.receive_by_correlation_id(wanted, transaction).body == "first"
        # One that is locked is passed over.
        assert orders.peek_by_correlation_id(wanted).body == "second"
        transaction.abort()
    assert orders.receive_by_correlation_id(wanted).body == "first"
    assert orders.receive_by_correlation_id(wanted).body == "second"


def test_a_message_is_found_whatever_its_state(msmq: openmsmq.QueueManager) -> None:
    orders = msmq.create_queue(ORDERS)
    wanted = orders.send_and_wait("wanted")
    orders.send("later", delay=3600)
    (later,) = msmq.delayed(ORDERS)

    def state(identifier: str) -> tuple[str, object] | None:
        message = orders.ranges.find(identifier)
        return None if message is None else (message.state, message.body)

    assert state(wanted) == ("available", "wanted")
    assert state(later["id"]) == ("delayed", "later")
    lookup_id = orders.peek(timeout=0).lookup_id
    with orders.hold_by_lookup_id(lookup_id):
        assert state(wanted) == ("locked", "wanted")
    msmq.flush()
    assert state(wanted) is None


def test_counts_and_existence(msmq: openmsmq.QueueManager) -> None:
    assert not msmq.queue_exists(ORDERS)
    orders = msmq.create_queue(ORDERS)
    assert msmq.queue_exists(ORDERS)
    assert (len(orders), bool(orders)) == (0, True)
    orders.send_many(["a", "b"])
    with orders.messages(timeout=0) as stream:
        next(stream)
        assert len(msmq.open_queue(ORDERS)) == 2
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"):
        msmq.queue_exists("orders")
    # Neither yes nor no: it may be a queue of this machine by another name.
    with pytest.raises(openmsmq.QueueError, match="is a format name"):
        msmq.queue_exists(orders.format_name)


def test_sends_that_are_not_committed_do_not_count(msmq: openmsmq.QueueManager) -> None:
    orders = msmq.create_queue(ORDERS, transactional=True)
    orders.send("1", transaction="single")
    with msmq.transaction() as transaction:
        orders.send("2", transaction=transaction)
        orders.send("3", transaction=transaction, delay=60)
        assert orders.receive(timeout=5, transaction=transaction).body == "1"
        assert len(orders) == 1
    assert len(orders) == 1


@pytest.mark.parametrize("prefetch", [1, 4, 1000])
def test_one_message_is_put_back_and_the_loop_goes_on(
    msmq: openmsmq.QueueManager, prefetch: int
) -> None:
    orders = msmq.create_queue(ORDERS)
    orders.send_many(str(number) for number in range(10))
    seen = []
    with orders.messages(timeout=0, prefetch=prefetch) as stream:
        for message in stream:
            seen.append(str(message.body))
            if message.body == "3" and seen.count("3") == 1:
                stream.nack(message)
                with pytest.raises(ValueError, match="before"):
                    stream.nack(message)
            if message.body == "5":
                stream.ack(message)
    assert sorted(seen) == sorted([*map(str, range(10)), "3"])
    assert bodies(orders) == []


@pytest.mark.parametrize("prefetch", [2, 4, 1000])
def test_with_manual_acknowledgment_nothing_else_is_removed(
    msmq: openmsmq.QueueManager, prefetch: int
) -> None:
    orders = msmq.create_queue(ORDERS)
    orders.send_many(str(number) for number in range(10))
    with orders.messages(timeout=0, prefetch=prefetch, manual=True) as stream:
        messages = [next(stream) for _ in range(8)]
        for message in (messages[6], messages[0], messages[7]):
            stream.ack(message)
        stream.nack(messages[2])
        with pytest.raises(ValueError, match="before"):
            stream.ack(messages[0])
    assert bodies(orders) == ["1", "2", "3", "4", "5", "8", "9"]


def test_the_same_with_asyncio(msmq: openmsmq.QueueManager) -> None:
    msmq.create_queue(ORDERS).send_many(["a", "b", "c"])

    async def main() -> int:
        async with openmsmq.aio.connect(msmq.address) as qm:
            orders = await qm.open_queue(ORDERS)
            async with orders.messages(timeout=0, manual=True) as stream:
                async for message in stream:
                    if message.body == "b":
                        stream.ack(message)
            return await orders.count()

    assert asyncio.run(main()) == 2
    assert bodies(msmq.open_queue(ORDERS)) == ["a", "c"]
