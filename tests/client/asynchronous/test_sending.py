"""Sending with the asynchronous client: many at once, refusals, sources that fail."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.client.asynchronous.running import ORDERS, WAIT, Run, bodies

import openmsmq
from openmsmq import Message, QueueManager, aio


def test_sends_in_one_turn_leave_together_without_another_call(
    run_with: Run, msmq: QueueManager
) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        for number in range(5000):
            await queue.send(Message(str(number)))
        reader = msmq.open_queue(ORDERS)
        first = await asyncio.to_thread(reader.receive, WAIT)
        assert first.body == "0"

    run_with(main)
    assert msmq.queue_info(ORDERS)["messages"] == 4999


def test_what_comes_slowly_is_not_held_back(run_with: Run, msmq: QueueManager) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        seen = asyncio.Event()

        async def slowly() -> AsyncIterator[Message]:
            yield Message("first")
            await asyncio.wait_for(seen.wait(), WAIT)
            yield Message("second")

        sending = asyncio.create_task(queue.send_many(slowly()))
        reader = msmq.open_queue(ORDERS)
        assert (await asyncio.to_thread(reader.receive, WAIT)).body == "first"
        seen.set()
        assert await sending == 2

    run_with(main)


def test_refusals_are_raised_by_a_later_call(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS, transactional=True)
        await queue.send(Message("x"))
        with pytest.raises(openmsmq.QueueError) as caught:
            await qm.flush()
        assert caught.value.name == "MQ_ERROR_TRANSACTION_USAGE"
        with pytest.raises(openmsmq.QueueError):
            await queue.send_many([Message("x")])
        assert await queue.send_many([Message("a"), Message("b")], transaction="single") == 2
        assert (
            await queue.send_and_wait(Message("c"), "single")
            == (await queue.peek_by_lookup_id(0, relation="last")).id
        )

    run_with(main)


def test_the_messages_that_fit_are_accepted_and_counted(run_with: Run) -> None:
    ten = [Message(bytes([number]) * 10_000) for number in range(10)]

    async def later() -> AsyncIterator[Message]:
        for message in ten:
            await asyncio.sleep(0)
            yield message

    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS, quota=64)
        for messages in (ten, later()):
            with pytest.raises(openmsmq.QueueError) as caught:
                await queue.send_many(messages)
            assert (caught.value.accepted, await queue.purge()) == (6, 6)
        for message in ten:
            await queue.send(message)
        with pytest.raises(openmsmq.QueueError) as caught:
            await qm.flush()
        assert (caught.value.refused, await queue.purge()) == (4, 6)

    run_with(main)


def test_a_source_that_fails_leaves_what_it_gave_before(run_with: Run) -> None:
    async def source() -> AsyncIterator[Message]:
        for _ in range(10):
            yield Message(bytes(10_000))
        raise KeyError

    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS, quota=64)
        with pytest.raises(KeyError):
            await queue.send_many(source())
        with pytest.raises(openmsmq.QueueError):
            await qm.flush()
        assert await queue.purge() == 6

    run_with(main)


def test_messages_of_an_asynchronous_source_go_in_one_transaction(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS, transactional=True)

        async def source() -> AsyncIterator[Message]:
            for number in range(500):
                yield Message(bytes([number % 256]) * 1000)

        assert await queue.send_many(source(), "single") == 500
        plain = await qm.create_queue(r".\private$\plain")
        assert await plain.send_many(source()) == 500
        async with queue:
            assert (await queue.info())["messages"] == 500

    run_with(main)


def test_packets_that_the_caller_builds_are_sent(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        assert await queue.is_transactional() is False
        builder = await queue.packet_builder(transactional=False)
        assert await queue.send_packets([builder.build(Message("a"))]) == 1
        last = (await queue.ranges.info()).last
        await queue.send_packets([builder.again((await queue.peek(timeout=0)).packet)])
        assert await bodies(queue) == ["a", "a"]
        assert await queue.purge(upto=last) == 1

    run_with(main)
