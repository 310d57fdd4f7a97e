"""The asynchronous client against a queue manager."""

import asyncio
import gc
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.client.asynchronous.running import ORDERS, WAIT, Run, bodies, fill, run

import openmsmq
from openmsmq import Message, QueueManager, aio
from openmsmq.client.asynchronous import transport


def test_it_is_the_blocking_client_with_await(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        orders = await qm.create_queue(ORDERS, transactional=True)
        async with qm.transaction() as tx:
            await orders.send(Message(body=b"...", label="order 1"), transaction=tx)
            await orders.send(Message(body=b"...", label="order 2"), transaction=tx)
        async with qm.open_queue(ORDERS, access="receive") as q:
            message = await q.peek(timeout=5)
            later = await q.peek_by_lookup_id(message.lookup_id, relation="next")
            assert (message.label, later.label) == ("order 1", "order 2")
            assert [each.label async for each in q.cursor()] == ["order 1", "order 2"]
            assert (await q.receive()).label == "order 1"
            assert len(await q.receive_many(1000, timeout=1)) == 1
            with pytest.raises(openmsmq.ReceiveTimeout):
                await q.receive(timeout=0)
        await qm.send(ORDERS, Message(body="text"), transaction="single")
        assert (await orders.receive(timeout=0)).body == "text"

    run_with(main)


def test_awaiting_the_connection_gives_it_without_a_block(msmq: QueueManager) -> None:
    async def main() -> None:
        manager = await aio.connect(msmq.address)
        assert manager.address in repr(manager)
        assert manager.identity == msmq.identity
        assert (await manager.status())["state"] == "Ready"
        await manager.close()
        with pytest.raises(openmsmq.ConnectionLost, match="was closed"):
            await manager.status()

    run(main())


def test_a_cancelled_receive_takes_nothing(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(queue.receive(), 0.02)
        await queue.send(Message("x"))
        assert (await queue.receive(timeout=WAIT)).body == "x"

    run_with(main)


def test_tasks_share_a_connection(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        receiving = [asyncio.create_task(queue.receive(timeout=WAIT)) for _ in range(50)]
        await asyncio.gather(
            *(queue.send(Message(str(n), delivery="recoverable")) for n in range(50))
        )
        got = [message.body for message in await asyncio.gather(*receiving)]
        assert sorted(got, key=str) == sorted(map(str, range(50)))

    run_with(main)


def test_an_exception_aborts_a_transaction(run_with: Run) -> None:
    async def fail(qm: aio.QueueManager, queue: aio.Queue) -> None:
        async with qm.transaction() as transaction:
            await queue.receive(timeout=0, transaction=transaction)
            await queue.receive_many(10, timeout=0, transaction=transaction)
            raise KeyError

    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS, transactional=True)
        await queue.send_many([Message("a"), Message("b")], "single")
        with pytest.raises(KeyError):
            await fail(qm, queue)
        assert await bodies(queue) == ["a", "b"]
        transaction = await qm.transaction()
        await queue.receive_by_lookup_id(
            (await queue.peek(timeout=0)).lookup_id, transaction=transaction
        )
        await transaction.commit()
        assert await bodies(queue) == ["b"]

    run_with(main)


def test_a_message_is_held_until_it_is_taken(run_with: Run) -> None:
    async def fail(queue: aio.Queue, lookup_id: int) -> None:
        async with queue.hold_by_lookup_id(lookup_id) as held:
            assert held.body == "a"
            assert await bodies(queue) == ["b"]
            raise KeyError

    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        await queue.send_many([Message("a"), Message("b")])
        first = await queue.peek(timeout=0)
        with pytest.raises(KeyError):
            await fail(queue, first.lookup_id)
        assert await bodies(queue) == ["a", "b"]
        async with queue.hold_by_lookup_id(first.lookup_id, relation="next") as held:
            assert held.body == "b"
        assert await bodies(queue) == ["a"]

    run_with(main)


def test_queues_are_managed(run_with: Run, tmp_path: Path) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS, label="orders")
        await qm.set_queue(ORDERS, label="bills")
        assert (await qm.queue_info(ORDERS))["label"] == "bills"
        assert [each["label"] for each in await qm.queues()] == ["bills"]
        await qm.grant(ORDERS, "everyone", ["receive"])
        await qm.revoke(ORDERS, "everyone", ["receive"])
        await fill(queue, 30)
        assert await queue.move(ORDERS + ";held", count=10) == 10
        assert await queue.purge() == 20
        assert (await queue.format_name()).upper().startswith("DIRECT=OS:")
        assert repr(queue) == f"Queue({ORDERS!r})"
        assert await qm.outgoing() == []
        far = r"DIRECT=TCP:127.0.0.99\private$\far"
        await qm.send(far, Message("x", delivery="recoverable"))
        await qm.pause_outgoing(far)
        await qm.resume_outgoing(far)
        with pytest.raises(openmsmq.MsmqError):
            await qm.backup(tmp_path / "backup")
        await qm.delete_queue(ORDERS)

    run_with(main)


def test_request_and_reply(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)

        async def serve() -> None:
            request = await queue.receive(timeout=WAIT)
            await qm.reply(request, Message(f"answer to {request.body!s}"))

        serving = asyncio.create_task(serve())
        answer = await qm.request(ORDERS, Message("question"), timeout=WAIT)
        assert answer.body == "answer to question"
        await serving

    run_with(main)


def test_ranges_and_batches(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        producer = qm.producer("job")
        assert await producer.stage(1, 0, 0, ORDERS, [Message("x")] * 100) == 100
        assert await producer.commit(1, [(0, 0)])
        ranges = queue.ranges
        info = await ranges.info()
        assert info.count == 100
        plan = await ranges.plan(0)
        assert len(await ranges.split(0, plan.end, 2)) == 2
        blocks = [block async for block in ranges.peek(0, plan.end, block_rows=50)]
        assert [len(block.ends) for block in blocks] == [50, 50]
        async for _ in ranges.peek(0, plan.end, block_rows=10):
            break
        assert (await ranges.lease("c", 1, max_rows=5, max_bytes=1 << 20)).count == 5
        assert await ranges.release("c", 1) == 5
        await ranges.pin(0, plan.end)
        assert await ranges.acknowledge(0, (await ranges.info()).last) == 100
        packets = [(await _one(qm, queue)).packet]
        assert await producer.stage_packets(2, 0, 0, ORDERS, packets) == 1
        await producer.abort(2)

    run_with(main)


async def _one(qm: aio.QueueManager, queue: aio.Queue) -> openmsmq.ReceivedMessage:
    await qm.send(ORDERS, Message("x"))
    return await queue.receive(timeout=WAIT)


def test_a_range_that_nobody_reads_on_does_not_fill_the_memory(
    run_with: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_HELD_BYTES", 300_000)

    async def main(qm: aio.QueueManager) -> None:
        queue = await qm.create_queue(ORDERS)
        await queue.send_many(Message(bytes(100_000)) for _ in range(200))
        last = (await queue.ranges.info()).last
        channel = qm._driver.backend.channel
        count = 0
        async for block in queue.ranges.peek(0, last, block_rows=1):
            count += len(block.ends)
            await asyncio.sleep(0.001)
            # What is under way when reading stops still comes in.
            assert channel.held_bytes < 3_000_000
        assert count == 200

    run_with(main)


def test_what_is_not_awaited_says_so(run_with: Run, recwarn: pytest.WarningsRecorder) -> None:
    async def main(qm: aio.QueueManager) -> None:
        await qm.create_queue(ORDERS, transactional=True)
        orders: Any = qm.open_queue(ORDERS)
        with pytest.raises(AttributeError, match=r"^await open_queue\(\.\.\.\) first; 'messages'"):
            orders.messages()
        transaction: Any = qm.transaction()
        with pytest.raises(TypeError, match="not Pending; await it first"):
            await qm.send(ORDERS, "text", transaction)
        with pytest.raises(AttributeError, match=r"await transaction\(\.\.\.\) first"):
            transaction.commit()
        assert not hasattr(orders, "__len__")
        assert repr(orders) == "<open_queue(...), which was not awaited>"
        manager: Any = aio.connect(qm.address)
        with pytest.raises(AttributeError, match=r"await connect\(\.\.\.\) first"):
            manager.create_queue(ORDERS)

    run_with(main)
    gc.collect()
    assert [str(each.message) for each in recwarn] == []


def test_a_call_that_nobody_awaits_and_nobody_uses_is_warned_of(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        with pytest.warns(RuntimeWarning, match=r"^create_queue\(\.\.\.\) was never awaited$"):
            forget(qm)

    def forget(qm: aio.QueueManager) -> None:
        qm.create_queue(ORDERS)
        gc.collect()

    run_with(main)


def test_arguments_are_taken_as_in_the_blocking_client(run_with: Run) -> None:
    async def main(qm: aio.QueueManager) -> None:
        orders = await qm.create_queue(ORDERS)
        await orders.send("text")
        await orders.send_many([b"bytes", Message("message")])
        await qm.send(ORDERS, "by name")
        bodies = ["text", "bytes", "message", "by name"]
        got = await orders.receive_many(4, timeout=timedelta(seconds=WAIT))
        assert [message.body for message in got] == bodies
        with pytest.raises(openmsmq.ReceiveTimeout):
            await orders.receive(timeout=timedelta(0))
        wrong: Any = True
        with pytest.raises(TypeError, match='a Transaction or "single" is taken'):
            await orders.send("text", transaction=wrong)
        with pytest.raises(TypeError, match="a Transaction is taken"):
            await orders.receive(timeout=0, transaction=wrong)

    run_with(main)
