"""Waiting for an answer, blocking and asynchronously, without a server."""

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Wait
from openmsmq.client.remote import asynchronous_transport, blocking_transport
from openmsmq.client.remote.address import RpcAddress
from openmsmq.client.remote.channel import Outcome, RemoteChannel
from openmsmq.protocol.remote_read.client import BindingSettings, find_server
from openmsmq.protocol.rpc.errors import ConnectionClosed

ADDRESS = RpcAddress("127.0.0.1", 2103)
SECONDS = 20


def reply(transport: blocking_transport.RemoteTransport, wait: Wait) -> Outcome | None:
    """What came in time."""
    transport.wait(wait)
    with transport.lock:
        return transport.channel.take(wait.request)


def test_blocking_wait_ends_in_its_time_and_with_the_answer() -> None:
    channel = RemoteChannel("the server", None)
    transport = blocking_transport.RemoteTransport(ADDRESS, channel, 1.0)
    begin = time.monotonic()
    assert reply(transport, Wait(1, 0.2)) is None
    assert time.monotonic() - begin >= 0.2
    channel.finish(1, "answer", None)
    assert reply(transport, Wait(1, 0.2)) == ("answer", None)
    transport.close()
    with pytest.raises(ConnectionLost):
        transport.wait(Wait(2, None))


def test_server_that_does_not_answer_a_bind_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        channel = RemoteChannel("the server", None)
        transport = blocking_transport.RemoteTransport(ADDRESS, channel, 0.2)
        request = channel.run(find_server(BindingSettings(port=port)))
        begin = time.monotonic()
        outcome = reply(transport, Wait(request, SECONDS))
        assert time.monotonic() - begin < SECONDS / 2
        assert isinstance(outcome, Outcome)
        with pytest.raises(ConnectionClosed, match=rf"port {port}: no answer in 0\.2 seconds"):
            outcome.result()
        transport.close()


def test_one_thread_reads_for_all_and_a_new_link_is_read_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        channel = RemoteChannel("the server", None)
        transport = blocking_transport.RemoteTransport(ADDRESS, channel, SECONDS)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(transport.wait, Wait(1000, SECONDS))
            time.sleep(0.05)
            # Another thread opens a link while the first one reads.
            with transport.lock:
                request = channel.run(find_server(BindingSettings(port=port)))
            transport.flush()
            listener.accept()[0].close()
            outcome = reply(transport, Wait(request, SECONDS))
            assert isinstance(outcome, Outcome)
            assert isinstance(outcome.error, ConnectionClosed)
            assert not waiting.done()
            transport.close()
            with pytest.raises(ConnectionLost):
                waiting.result(SECONDS)


def test_hang_up_is_noticed_while_nobody_waits() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        channel = RemoteChannel("the server", None)
        transport = blocking_transport.RemoteTransport(ADDRESS, channel, SECONDS)
        with transport.lock:
            request = channel.run(find_server(BindingSettings(port=listener.getsockname()[1])))
        transport.flush()
        listener.accept()[0].close()
        deadline = time.monotonic() + SECONDS / 4
        while not channel.is_over(Wait(request)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert channel.is_over(Wait(request))
        transport.close()


@pytest.mark.interpreted
def test_program_that_writes_much_reads_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        channel = RemoteChannel("the server", None)
        transport = blocking_transport.RemoteTransport(ADDRESS, channel, SECONDS)
        with transport.lock:
            channel.run(find_server(BindingSettings(port=listener.getsockname()[1])))
        transport.flush()
        peer, _ = listener.accept()
        (link,) = channel.links()
        came: list[int] = []
        monkeypatch.setattr(channel, "receive", lambda _, data: came.append(len(data)))
        size = 8 * 1024 * 1024
        bind = len(peer.recv(65536))
        assert bind
        with transport.lock:
            link.connection._output.append(bytes(size))

        def answer_and_read() -> int:
            # The server takes nothing before its own bytes are taken.
            peer.sendall(bytes(size))
            count = 0
            while count < size:
                count += len(peer.recv(1 << 20))
            return count

        with ThreadPoolExecutor(1) as pool, peer:
            reading = pool.submit(answer_and_read)
            transport.flush()
            assert reading.result(SECONDS) == size
        assert sum(came) > 0
        transport.close()


def test_asynchronous_wait_ends_in_its_time_and_with_the_answer() -> None:
    async def main() -> None:
        channel = RemoteChannel("the server", None)
        transport = asynchronous_transport.RemoteTransport(ADDRESS, channel, 1.0)
        begin = time.monotonic()
        assert await transport.wait(Wait(1, 0.2)) is None
        assert time.monotonic() - begin >= 0.19
        channel.finish(1, "answer", None)
        assert await transport.wait(Wait(1, 0.2)) == ("answer", None)
        waiting = asyncio.create_task(transport.wait(Wait(2, None)))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await transport.close()
        with pytest.raises(ConnectionLost):
            await waiting
        with pytest.raises(ConnectionLost):
            await transport.wait(Wait(2, None))

    asyncio.run(asyncio.wait_for(main(), SECONDS))
