"""Waiting for an answer, blocking and asynchronously, without a server."""

import asyncio
import time

import pytest

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Wait
from openmsmq.client.remote import asynchronous_transport, blocking_transport
from openmsmq.client.remote.address import RpcAddress
from openmsmq.client.remote.channel import RemoteChannel

ADDRESS = RpcAddress("127.0.0.1", 2103)
SECONDS = 20


def test_blocking_wait_ends_in_its_time_and_with_the_answer() -> None:
    channel = RemoteChannel("the server", None)
    transport = blocking_transport.RemoteTransport(ADDRESS, channel, 1.0)
    begin = time.monotonic()
    assert transport.wait(Wait(1, 0.2)) is None
    assert time.monotonic() - begin >= 0.2
    channel.finish(1, "answer", None)
    assert transport.wait(Wait(1, 0.2)) == ("answer", None)
    transport.close()
    with pytest.raises(ConnectionLost):
        transport.wait(Wait(2, None))


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
