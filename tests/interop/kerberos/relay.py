"""A relay before an RPC server, which can take offers to sign headers out of what clients send."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from openmsmq.wire.rpc.header import HEADER_SIZE, CommonHeader, PduType, PfcFlags

HOST: Final = "127.0.0.1"
SECONDS: Final = 20.0
SIGNS_HEADERS: Final = PfcFlags.PFC_SUPPORT_HEADER_SIGN
FLAGS_OFFSET: Final = 3


class Relay:
    """What a relay saw.

    Attributes:
        offers: for each bind, whether the client offered to sign headers.
        agreed: for each answer to one, whether the server took the offer.
    """

    def __init__(self, port: int, *, removes_offers: bool) -> None:
        self.port = 0
        self.offers: list[bool] = []
        self.agreed: list[bool] = []
        self._server_port = port
        self._tasks: set[asyncio.Task[None]] = set()
        self._removes_offers = removes_offers

    async def serve(self, started: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._connected, HOST, 0)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        async with server:
            await stop.wait()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.create_task(self._relay(reader, writer)))

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(HOST, self._server_port)
        try:
            await asyncio.gather(
                self._forward(reader, to_server), self._forward(from_server, writer)
            )
        finally:
            to_server.close()
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                start = await reader.readexactly(HEADER_SIZE)
                size = CommonHeader.parse(start)[0].frag_length
                rest = await reader.readexactly(size - HEADER_SIZE)
                writer.write(self._note(bytearray(start)) + rest)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _note(self, header: bytearray) -> bytearray:
        ptype, flags = header[2], header[FLAGS_OFFSET]
        if ptype == PduType.BIND_ACK:
            self.agreed.append(bool(flags & SIGNS_HEADERS))
        elif ptype == PduType.BIND:
            self.offers.append(bool(flags & SIGNS_HEADERS))
        if ptype in (PduType.BIND, PduType.ALTER_CONTEXT) and self._removes_offers:
            header[FLAGS_OFFSET] = flags & ~SIGNS_HEADERS
        return header


def forget_header_signing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the server one that knows nothing of header signing."""
    server = "openmsmq.protocol.rpc.server"
    monkeypatch.setattr(f"{server}.binding._HEADER_SIGN", 0)
    monkeypatch.setattr(f"{server}.dispatch.CLIENT_SUPPORT_HEADER_SIGNING", 0)


@contextmanager
def relayed(port: int, *, removes_offers: bool = False) -> Iterator[Relay]:
    """Relay to a port of this machine, in a thread of its own."""
    relay = Relay(port, removes_offers=removes_offers)
    started = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(
        target=lambda: loop.run_until_complete(relay.serve(started, stop)), name="relay"
    )
    thread.start()
    try:
        assert started.wait(SECONDS)
        yield relay
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(SECONDS)
        loop.close()
