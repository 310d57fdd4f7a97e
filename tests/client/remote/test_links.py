"""The sockets of a channel: what becomes of a connection that is not made."""

import asyncio
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
        await links.close()

    asyncio.run(asyncio.wait_for(main(), SECONDS))
