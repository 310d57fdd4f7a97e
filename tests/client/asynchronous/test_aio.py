"""The asynchronous client against a queue manager."""

import asyncio
import gc
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

import openmsmq
from openmsmq import Message, QueueManager, aio
from openmsmq.client.asynchronous import transport
from openmsmq.server.embedded import embedded

ORDERS = r".\private$\orders"
WAIT: Final = 20.0
CERTIFICATES: Final = Path(__file__).parent.parent / "certificates"
T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a test under a timeout."""

    async def bounded() -> T:
        async with asyncio.timeout(60.0):
            return await main

    return asyncio.run(bounded())


@pytest.fixture
def run_with(msmq: QueueManager) -> Callable[[Callable[[aio.QueueManager], Awaitable[T]]], T]:
    """Run a coroutine function with a connection."""

    def start(function: Callable[[aio.QueueManager], Awaitable[T]]) -> T:
        async def main() -> T:
            async with aio.connect(msmq.address) as manager:
                return await function(manager)

        return run(main())

    return start


Run = Callable[[Callable[[aio.QueueManager], Awaitable[None]]], None]


async def bodies(queue: aio.Queue) -> list[str | bytes]:
    return [message.body async for message in queue.cursor()]


async def fill(queue: aio.Queue, count: int) -> list[str]:
    texts = [str(number) for number in range(count)]
    assert await queue.send_many(Message(text) for text in texts) == count
    return texts


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


def test_where_nobody_listens_the_error_says_what_to_do(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(openmsmq.ConnectionLost, match="openmsmq serve"):
            await aio.connect(tmp_path / "openmsmq.sock")

    run(main())


def test_a_start_is_waited_for(tmp_path: Path) -> None:
    async def main() -> None:
        connecting = asyncio.create_task(connected())
        await asyncio.sleep(0.1)
        running = await asyncio.to_thread(embedded, tmp_path)
        manager = await connecting
        assert (await manager.status())["state"] == "Ready"
        await manager.close()
        await asyncio.to_thread(running.close)
        with pytest.raises(openmsmq.ConnectionLost, match="openmsmq serve"):
            await aio.connect(running.address, wait=0.1)

    async def connected() -> aio.QueueManager:
        return await aio.connect(tmp_path / "openmsmq.sock", wait=WAIT)

    run(main())


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


def test_a_queue_manager_that_is_lost_gives_a_clear_error(tmp_path: Path) -> None:
    async def main() -> None:
        running = await asyncio.to_thread(embedded, tmp_path)
        manager = await aio.connect(running.address)
        queue = await manager.create_queue(ORDERS)
        waiting = asyncio.create_task(queue.receive())
        await asyncio.sleep(0.05)
        await asyncio.to_thread(running.close)
        with pytest.raises(openmsmq.ConnectionLost, match="See whether it runs"):
            await waiting
        with pytest.raises(openmsmq.ConnectionLost):
            await queue.send(Message("x"))
        await manager.close()

    run(main())


def test_a_loop_goes_on_over_restarts_and_yields_each_message_once(tmp_path: Path) -> None:
    async def main() -> None:
        running = await asyncio.to_thread(embedded, tmp_path)
        manager = await aio.connect(running.address, reconnect=True)
        queue = await manager.create_queue(ORDERS)
        texts = [str(number) for number in range(300)]
        await queue.send_many(Message(text, delivery="recoverable") for text in texts)
        seen = []
        async for message in queue.messages(timeout=WAIT, prefetch=40):
            seen.append(message.body)
            if len(seen) in (33, 100):
                await asyncio.to_thread(running.close)
                running = await asyncio.to_thread(embedded, tmp_path)
            if len(seen) == len(texts):
                break
        assert seen == texts
        await manager.close()
        await asyncio.to_thread(running.close)

    run(main())


def test_a_wait_for_the_queue_manager_ends_with_the_timeout(tmp_path: Path) -> None:
    async def main() -> None:
        running = await asyncio.to_thread(embedded, tmp_path)
        manager = await aio.connect(running.address, reconnect=True)
        queue = await manager.create_queue(ORDERS)
        await asyncio.to_thread(running.close)
        with pytest.raises(openmsmq.ConnectionLost, match="openmsmq serve"):
            await queue.receive(timeout=0.1)
        await manager.close()

    run(main())


def test_other_calls_connect_again_when_the_loss_was_known_before(tmp_path: Path) -> None:
    async def main() -> None:
        running = await asyncio.to_thread(embedded, tmp_path)
        manager = await aio.connect(running.address, reconnect=True)
        queue = await manager.create_queue(ORDERS)
        waiting = asyncio.create_task(queue.receive(timeout=WAIT))
        await asyncio.to_thread(running.close)
        with pytest.raises(openmsmq.ConnectionLost):
            await manager.status()
        running = await asyncio.to_thread(embedded, tmp_path)
        await asyncio.gather(*(manager.status() for _ in range(5)))
        await queue.send(Message("x"))
        assert (await waiting).body == "x"
        await manager.close()
        await asyncio.to_thread(running.close)

    run(main())


def test_a_listener_that_does_not_shake_hands_is_given_up() -> None:
    async def main() -> None:
        peer = Stranger(b"")
        server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(openmsmq.ConnectionLost, match=r"no answer in 0\.05 seconds"):
            await aio.connect(f"127.0.0.1:{port}", token="secret", timeout=0.05)
        server.close()
        await peer.gone.wait()

    run(main())


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


def test_messages_that_were_lost_unseen_are_told_of_once(tmp_path: Path) -> None:
    async def main() -> None:
        running = await asyncio.to_thread(embedded, tmp_path)
        manager = await aio.connect(running.address, reconnect=True)
        queue = await manager.create_queue(ORDERS)
        await queue.send_and_wait(Message("first"))
        await queue.send(Message("second"))
        # The loop has no turn to send it before the connection is gone.
        manager._driver._transport.connection_lost(None)  # type: ignore[union-attr]
        for _ in range(2):
            await asyncio.to_thread(running.close)
            running = await asyncio.to_thread(embedded, tmp_path)
        assert await queue.receive_many(10, timeout=0) == []
        with pytest.raises(openmsmq.ConnectionLost, match="is not known"):
            await queue.send(Message("x"))
        await queue.send(Message("y"))
        await manager.close()
        await asyncio.to_thread(running.close)

    run(main())


class Stranger:
    """Something that listens and is no queue manager."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.gone = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(self._answer)
        await reader.read()
        writer.close()
        await writer.wait_closed()
        self.gone.set()


@pytest.mark.parametrize(
    ("answer", "text"),
    [(b"\xff\xff\xff\xff", "does not let this client in"), (b"", "not answered in time")],
)
def test_something_else_that_listens_is_no_queue_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes, text: str
) -> None:
    monkeypatch.setattr("openmsmq.client.local.backend.GRACE_SECONDS", 0.05)

    async def main() -> None:
        peer = Stranger(answer)
        server = await asyncio.start_unix_server(peer.serve, tmp_path / "socket")
        with pytest.raises(openmsmq.ConnectionLost, match=text):
            await aio.connect(tmp_path / "socket")
        server.close()
        await peer.gone.wait()

    run(main())


def test_a_token_opens_the_way_over_tls(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'"{hashlib.sha256(b"secret").hexdigest()}" = "user:root"\n')
    running = embedded(
        tmp_path / "data",
        local_port=0,
        local_certificate=CERTIFICATES / "localhost.pem",
        local_key=CERTIFICATES / "localhost.key",
        local_tokens=tokens,
    )

    async def main() -> None:
        address = running.endpoints["local-tcp"]
        ca_file = CERTIFICATES / "localhost.pem"
        async with aio.connect(address, token="secret", ca_file=ca_file) as manager:
            queue = await manager.create_queue(ORDERS)
            await queue.send(Message("x"))
            assert (await queue.receive(timeout=WAIT)).body == "x"

    try:
        run(main())
    finally:
        running.close()


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
