"""The shell over real sockets, with a protocol that does what the test says."""

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest
from tests.service.loops import run, until

from openmsmq.net.binary.shell import BinaryShell
from openmsmq.protocol.binary.events import CloseReason, Connect, Disconnect, SendPing
from openmsmq.protocol.binary.manager import BinaryProtocol
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.errors import ConfigError

HOST = "127.0.0.1"


class FakeProtocol:
    """Writes down what it is told; says what the test wants."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.events: list[Any] = []
        self.output: dict[int, list[list[bytes]]] = {}
        self.full = False
        self.readable = True

    @property
    def outputs(self) -> tuple[object, ...]:
        return self.events, self.output

    def accept(self, address: str, **_: float) -> int | None:
        self.calls.append(("accept", address))
        return None if self.full else len(self.calls)

    def connected(self, number: int, address: str, **_: float) -> None:
        self.calls.append(("connected", number, address))

    def connect_failed(self, number: int, status: ConnectionStatus, **_: float) -> None:
        self.calls.append(("connect_failed", number, status))

    def receive_data(self, number: int, data: bytes, **_: float) -> None:
        self.calls.append(("data", number, bytes(data)))

    def may_read(self, _number: int) -> bool:
        return self.readable

    def connection_lost(self, number: int, **_: float) -> None:
        self.calls.append(("lost", number))

    def next_event(self) -> object:
        return self.events.pop(0) if self.events else None

    def take_ready(self) -> list[int]:
        return sorted(self.output)

    def data_to_send(self, number: int, **_: float) -> list[bytes]:
        parts = self.output.get(number)
        return parts.pop(0) if parts else []

    def durable(self, number: int, **_: float) -> None:
        self.calls.append(("durable", number))

    def ping_request(self, datagram: bytes) -> bytes | None:
        return datagram[::-1] if datagram != b"nothing" else None

    def ping_response(self, datagram: bytes, **_: float) -> None:
        self.calls.append(("pong", datagram))

    def called(self, name: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == name]


class Case:
    """A shell whose host takes a turn after each wake."""

    def __init__(self) -> None:
        self.protocol = FakeProtocol()
        self.told: list[tuple[Disconnect, str]] = []
        self.ticks = 0
        self.clients: list[Client] = []
        self.shell = BinaryShell(
            cast(BinaryProtocol, self.protocol),
            self,
            bind=HOST,
            hosts={"beta": HOST},
            disconnected=lambda event, address: self.told.append((event, address)),
        )

    def tick(self) -> float:
        self.ticks += 1
        return time.monotonic()

    def wake(self) -> None:
        asyncio.get_running_loop().call_soon(self.shell.turn)

    async def client(self) -> "Client":
        port = int((await self.shell.streams.listen(0, key="binary_port")).rpartition(":")[2])
        self.clients.append(Client(port))
        await until(lambda: bool(self.protocol.called("accept")))
        return self.clients[-1]


class Client:
    """A peer with a plain socket."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port))
        self.socket.setblocking(False)

    async def read(self, size: int) -> bytes:
        """So many bytes, or less at the end."""
        loop = asyncio.get_running_loop()
        found = bytearray()
        while len(found) < size and (data := await loop.sock_recv(self.socket, 1 << 20)):
            found += data
        return bytes(found)


def drive(test: Callable[[Case], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        case = Case()
        try:
            await test(case)
        finally:
            await case.shell.close()
            for client in case.clients:
                client.socket.close()

    run(main)


def test_the_protocol_asks_for_a_connection() -> None:
    async def test(case: Case) -> None:
        with socket.create_server((HOST, 0)) as server:
            port = server.getsockname()[1]
            case.protocol.events.append(Connect(connection=7, host="BETA", port=port))
            case.wake()
            await until(lambda: bool(case.protocol.called("connected")))
            assert case.protocol.called("connected") == [(7, HOST)]

    drive(test)


def test_a_session_that_is_over_is_told_of_after_its_last_bytes() -> None:
    async def test(case: Case) -> None:
        client = await case.client()
        event = Disconnect(connection=1, reason=CloseReason.REFUSING, data=(b"last", b" words"))
        case.protocol.events.append(event)
        case.wake()
        assert await client.read(100) == b"last words"
        assert case.told == [(event, HOST)]
        # It was not the peer that hung up.
        assert case.protocol.called("lost") == []

    drive(test)


def test_pings_are_answered_and_sent() -> None:
    async def test(case: Case) -> None:
        port = int((await case.shell.listen_for_pings(0)).rpartition(":")[2])
        ping = SendPing(connection=3, host=HOST, port=port, datagram=b"ping")
        case.protocol.events += [
            SendPing(connection=2, host=HOST, port=port, datagram=b"nothing"),
            ping,
        ]
        case.wake()
        await until(lambda: bool(case.protocol.called("pong")))
        assert case.protocol.called("pong") == [(b"gnip",)]

    drive(test)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 64, "bad" + "\u0301" * 80])
def test_a_ping_to_a_host_that_is_not_known_is_told(host: str) -> None:
    async def test(case: Case) -> None:
        case.protocol.events.append(SendPing(connection=2, host=host, port=9, datagram=b"ping"))
        case.wake()
        await until(lambda: bool(case.protocol.called("connect_failed")))
        assert case.protocol.called("connect_failed") == [
            (2, ConnectionStatus.NAME_RESOLUTION_FAILURE)
        ]

    drive(test)


def test_a_port_that_is_taken_is_an_error() -> None:
    async def test(case: Case) -> None:
        with socket.create_server((HOST, 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(ConfigError, match="binary_port"):
                await case.shell.streams.listen(port, key="binary_port")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.bind((HOST, 0))
            with pytest.raises(ConfigError, match="ping_port"):
                await case.shell.listen_for_pings(datagrams.getsockname()[1])

    drive(test)


def test_a_shell_has_output_while_a_collection_has_something() -> None:
    async def test(case: Case) -> None:
        assert not case.shell.has_output()
        case.protocol.output[7] = [[b"x"]]
        assert case.shell.has_output()
        case.protocol.output.clear()
        case.shell.streams.paused.add(7)
        assert case.shell.has_output()
        case.shell.streams.paused.clear()
        case.protocol.events.append(None)
        assert case.shell.has_output()
        case.protocol.events.clear()
        assert not case.shell.has_output()

    drive(test)
