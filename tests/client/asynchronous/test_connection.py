"""The connection of the asynchronous client: made, lost, made again."""

import asyncio
import hashlib
from pathlib import Path

import pytest
from tests.client.asynchronous.running import CERTIFICATES, ORDERS, WAIT, run

import openmsmq
from openmsmq import Message, aio
from openmsmq.server.embedded import embedded


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
    [
        (b"\xff\xff\xff\xff", "does not let this client in"),
        (b"", r"not answered within 0\.1 seconds"),
    ],
)
def test_something_else_that_listens_is_no_queue_manager(
    tmp_path: Path, answer: bytes, text: str
) -> None:
    async def main() -> None:
        peer = Stranger(answer)
        server = await asyncio.start_unix_server(peer.serve, tmp_path / "socket")
        with pytest.raises(openmsmq.ConnectionLost, match=text):
            await aio.connect(tmp_path / "socket", timeout=0.1)
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
