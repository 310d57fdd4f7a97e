"""The sockets of a channel: how they are set up, and what becomes of one that is not made."""

import asyncio
import socket
from typing import NoReturn

import pytest

from openmsmq.client.remote.channel import RemoteChannel
from openmsmq.client.remote.links import Links
from openmsmq.protocol.remote_read.client import BindingSettings, find_server
from openmsmq.protocol.rpc.errors import ConnectionClosed

SECONDS = 20


async def never(*_: object) -> NoReturn:
    await asyncio.Event().wait()
    raise AssertionError


def test_connection_that_is_not_made_in_time_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)
        channel = RemoteChannel("the server", None)
        changed = asyncio.Event()
        links = Links(channel, "192.0.2.1", 0.05, changed.set)
        request = channel.run(find_server(BindingSettings(port=2103)))
        links.flush()
        await changed.wait()
        outcome = channel.take(request)
        assert outcome is not None
        with pytest.raises(ConnectionClosed, match=r"port 2103: no answer in 0\.05 seconds"):
            outcome.result()
        assert not links._sockets
        await links.close()

    asyncio.run(asyncio.wait_for(main(), SECONDS))


def test_link_sends_at_once_and_notices_machines_that_are_gone() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            channel = RemoteChannel("the server", None)
            links = Links(channel, "127.0.0.1", 5.0, lambda: None)
            channel.run(find_server(BindingSettings(port=listener.getsockname()[1])))
            links.flush()
            peer, _ = await asyncio.get_running_loop().sock_accept(listener)
            with peer:
                await asyncio.get_running_loop().sock_recv(peer, 1)
                (end,) = links._sockets.values()
                assert end.stream is not None
                sock = end.stream.get_extra_info("socket")
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                await asyncio.gather(*links._opening)
                assert not links._opening
                await links.close()

    asyncio.run(asyncio.wait_for(main(), SECONDS))
