"""Working through a queue and delayed messages with asyncio."""

import gc

from tests.client.asynchronous.running import ORDERS, Run

from openmsmq import Message, aio


def test_messages_are_worked_through(run_with: Run) -> None:
    async def main(manager: aio.QueueManager) -> None:
        orders = await manager.create_queue(ORDERS, transactional=True)
        await orders.send_many((Message(text) for text in ("1", "bad", "2")), transaction="single")
        tried = []
        while True:
            try:
                async with orders.process(retries=1, cycles=0, timeout=0) as messages:
                    async for message in messages:
                        tried.append(message.body)
                        if message.body == "bad":
                            raise KeyError
                break
            except KeyError:
                pass
        assert tried == ["1", "bad", "bad", "2"]
        poison = await manager.open_queue(f"{ORDERS};poison")
        assert (await poison.peek(timeout=0)).body == "bad"

    run_with(main)


def test_leaving_the_loop_gives_the_message_back(run_with: Run) -> None:
    async def main(manager: aio.QueueManager) -> None:
        orders = await manager.create_queue(ORDERS, transactional=True)
        await orders.send("1", "single")
        messages = orders.process(timeout=0)
        assert (await anext(messages)).body == "1"
        await messages.close()
        assert (await orders.peek(timeout=0)).abort_count == 1

    run_with(main)


def test_a_loop_without_a_with_statement_gives_the_message_back(run_with: Run) -> None:
    async def main(manager: aio.QueueManager) -> None:
        orders = await manager.create_queue(ORDERS, transactional=True)
        await orders.send("1", "single")
        gc.disable()
        try:
            async for message in orders.process(timeout=0):
                assert message.body == "1"
                break
            assert (await orders.receive(timeout=5)).abort_count == 1
        finally:
            gc.enable()

    run_with(main)


def test_delayed_messages_are_listed_and_decided(run_with: Run) -> None:
    async def main(manager: aio.QueueManager) -> None:
        orders = await manager.create_queue(ORDERS)
        await orders.send("1", delay=3600)
        await manager.send(ORDERS, "2", delay=3600)
        first, second = await manager.delayed(ORDERS)
        assert await manager.cancel_delayed(ORDERS, [first["lookup_id"]]) == 1
        assert await manager.deliver_delayed(ORDERS, [second["lookup_id"]]) == 1
        assert (await orders.receive(timeout=5)).body == "2"
        assert await manager.release_held(ORDERS) == 0

    run_with(main)
