"""Loops over a queue with the asynchronous client."""

import pytest
from tests.client.asynchronous.running import ORDERS, Run, bodies, fill

from openmsmq import Message, aio


@pytest.mark.parametrize("prefetch", [1, 2, 1000])
def test_a_loop_that_does_not_wait_yields_every_message(run_with: Run, prefetch: int) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        texts = await fill(queue, 500)
        stream = queue.messages(timeout=0, prefetch=prefetch)
        assert [message.body async for message in stream] == texts
        assert (await queue.info())["messages"] == 0

    run_with(main)


def test_a_loop_over_the_queue_itself_waits_for_more(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        await queue.send(Message("0"))
        seen = []
        async for message in queue:
            seen.append(message.body)
            if len(seen) == 20:
                break
            await queue.send(Message(str(len(seen))))
        assert seen == [str(number) for number in range(20)]

    run_with(main)


def test_leaving_a_stream_takes_the_current_message_and_puts_the_rest_back(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        texts = await fill(queue, 50)
        async with queue.messages(timeout=0) as stream:
            assert (await anext(stream)).body == "0"
            async for message in stream:
                if message.body == "9":
                    break
        assert await bodies(queue) == texts[10:]

    run_with(main)


def test_an_exception_puts_the_current_message_back(run_with: Run) -> None:
    async def fail(queue: aio.Queue) -> None:
        async with queue.messages(timeout=0) as stream:
            async for message in stream:
                if message.body == "9":
                    raise KeyError

    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        texts = await fill(queue, 50)
        with pytest.raises(KeyError):
            await fail(queue)
        assert await bodies(queue) == texts[9:]

    run_with(main)


def test_a_slow_loop_removes_what_it_has_taken(
    run_with: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openmsmq.client.asynchronous.message_stream.REMOVE_SECONDS", 0.0)

    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        await fill(queue, 10)
        async with queue.messages(timeout=0) as stream:
            for _ in range(4):
                await anext(stream)
            assert (await queue.info())["messages"] == 7

    run_with(main)
