"""Streams over real sockets, with a protocol that does what the test says."""

import asyncio
import errno
import socket
import ssl
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.service.loops import run, until

from openmsmq.net import streams as streams_module
from openmsmq.net.streams import WRITE_HIGH_WATER, Stream, StreamShell, status_of
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.errors import ConfigError

HOST = "127.0.0.1"


class FakeProtocol:
    """Writes down what it is told; says what the test wants."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.output: dict[int, list[list[bytes]]] = {}
        self.full = False
        self.readable = True

    def accept(self, address: str, **_: float) -> int | None:
        self.calls.append(("accept", address))
        return None if self.full else len(self.called("accept"))

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

    def take_ready(self) -> list[int]:
        return sorted(self.output)

    def data_to_send(self, number: int, **_: float) -> list[bytes]:
        parts = self.output.get(number)
        return parts.pop(0) if parts else []

    def called(self, name: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == name]


class Case:
    """A shell whose host takes a turn after each wake."""

    def __init__(self) -> None:
        self.protocol = FakeProtocol()
        self.ticks = 0
        self.wakes = 0
        self.clients: list[Client] = []
        self.port = 0
        self.shell = StreamShell(self.protocol, self, bind=HOST, hosts={"beta": HOST})

    def tick(self) -> float:
        self.ticks += 1
        return time.monotonic()

    def wake(self) -> None:
        self.wakes += 1
        asyncio.get_running_loop().call_soon(self.shell.move_bytes)

    async def client(self) -> "Client":
        if not self.port:
            self.port = int((await self.shell.listen(0, key="a_port")).rpartition(":")[2])
        accepted = len(self.protocol.called("accept"))
        self.clients.append(Client(self.port))
        await until(lambda: len(self.protocol.called("accept")) > accepted)
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


def test_bytes_go_both_ways_and_the_end_is_told() -> None:
    async def test(case: Case) -> None:
        client = await case.client()
        assert case.protocol.called("accept") == [(HOST,)]
        client.socket.send(b"hello")
        await until(lambda: bool(case.protocol.called("data")))
        assert case.protocol.called("data") == [(1, b"hello")]
        case.protocol.output[1] = [[b"a", b"b"], [b"c"]]
        case.wake()
        assert await client.read(3) == b"abc"
        client.socket.close()
        await until(lambda: bool(case.protocol.called("lost")))
        assert case.protocol.called("lost") == [(1,)]
        assert case.ticks >= 3

    drive(test)


def test_a_connection_that_is_not_accepted_is_closed_at_once() -> None:
    async def test(case: Case) -> None:
        case.protocol.full = True
        client = await case.client()
        assert await client.read(1) == b""
        assert case.protocol.called("lost") == []

    drive(test)


def test_a_connection_is_made_from_the_own_address() -> None:
    async def test(case: Case) -> None:
        with socket.create_server((HOST, 0)) as server:
            server.settimeout(0)
            port = server.getsockname()[1]
            case.shell.connect(7, HOST, port)
            await until(lambda: bool(case.protocol.called("connected")))
            assert case.protocol.called("connected") == [(7, HOST)]
            peer, address = server.accept()
            assert address[0] == HOST
            peer.sendall(b"x")
            await until(lambda: bool(case.protocol.called("data")))
            assert case.protocol.called("data") == [(7, b"x")]
            peer.close()

    drive(test)


def test_a_host_name_of_the_configuration_is_not_resolved_otherwise() -> None:
    async def test(case: Case) -> None:
        with socket.create_server((HOST, 0)) as server:
            port = server.getsockname()[1]
            case.shell.connect(7, "BETA", port)
            await until(lambda: bool(case.protocol.called("connected")))
            assert case.protocol.called("connected") == [(7, HOST)]

    drive(test)


def test_a_connection_that_cannot_be_made_is_told() -> None:
    async def test(case: Case) -> None:
        with socket.socket() as unused:
            unused.bind((HOST, 0))
            port = unused.getsockname()[1]
            case.shell.connect(7, HOST, port)
            await until(lambda: bool(case.protocol.called("connect_failed")))
        assert case.protocol.called("connect_failed") == [
            (7, ConnectionStatus.CONNECT_SOCKET_FAILURE)
        ]

    drive(test)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 64, "a..b"])
def test_a_host_name_that_cannot_be_resolved_is_told(host: str) -> None:
    async def test(case: Case) -> None:
        case.shell.connect(7, host, 80)
        await until(lambda: bool(case.protocol.called("connect_failed")))
        assert case.protocol.called("connect_failed") == [
            (7, ConnectionStatus.NAME_RESOLUTION_FAILURE)
        ]

    drive(test)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (socket.gaierror(), ConnectionStatus.NAME_RESOLUTION_FAILURE),
        (ssl.SSLError(), ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE),
        (OSError(errno.EADDRNOTAVAIL, ""), ConnectionStatus.BIND_SOCKET_FAILURE),
        (OSError(errno.EADDRINUSE, ""), ConnectionStatus.BIND_SOCKET_FAILURE),
        (ConnectionRefusedError(), ConnectionStatus.CONNECT_SOCKET_FAILURE),
        (TimeoutError(), ConnectionStatus.CONNECT_SOCKET_FAILURE),
    ],
)
def test_the_history_says_what_went_wrong(error: OSError, status: ConnectionStatus) -> None:
    assert status_of(error) is status


def test_nothing_more_is_read_while_the_protocol_cannot_take_it() -> None:
    async def test(case: Case) -> None:
        case.protocol.readable = False
        client = await case.client()
        client.socket.send(b"1")
        await until(lambda: bool(case.protocol.called("data")))
        client.socket.send(b"2")
        await asyncio.sleep(0.1)
        case.shell.move_bytes()
        await asyncio.sleep(0.1)
        assert case.protocol.called("data") == [(1, b"1")]
        case.protocol.readable = True
        case.shell.move_bytes()
        await until(lambda: len(case.protocol.called("data")) == 2)

    drive(test)


def test_a_peer_that_does_not_read_is_sent_no_more_until_it_does() -> None:
    async def test(case: Case) -> None:
        client = await case.client()
        part = bytes(WRITE_HIGH_WATER)
        case.protocol.output[1] = [[part] for _ in range(20)]
        case.wake()
        await asyncio.sleep(0.2)
        left = len(case.protocol.output[1])
        assert 0 < left < 20
        wakes = case.wakes
        assert len(await client.read(20 * len(part))) == 20 * len(part)
        assert case.protocol.output[1] == []
        # What left may have made room for more.
        assert case.wakes > wakes

    drive(test)


def test_a_peer_that_never_reads_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams_module, "LINGER_SECONDS", 0.3)

    async def test(case: Case) -> None:
        client = await case.client()
        case.protocol.output[1] = [[bytes(WRITE_HIGH_WATER)] for _ in range(20)]
        case.wake()
        await asyncio.sleep(0.1)
        start = time.monotonic()
        await case.shell.close()
        assert 0.2 < time.monotonic() - start < 5
        assert len(await client.read(20 * WRITE_HIGH_WATER)) < 20 * WRITE_HIGH_WATER

    drive(test)


def test_the_last_bytes_leave_before_a_connection_is_closed() -> None:
    async def test(case: Case) -> None:
        client = await case.client()
        assert case.shell.hang_up(1, (b"last", b" words")) == HOST
        assert await client.read(100) == b"last words"
        # It was not the peer that hung up.
        assert case.protocol.called("lost") == []
        assert case.shell.hang_up(1) == ""

    drive(test)


def test_a_stream_that_is_not_connected_is_closed_and_aborted_without_effect() -> None:
    async def test(case: Case) -> None:
        stream = Stream(case.shell, None, number=1)
        stream.close()
        stream.abort()
        assert stream.number == 0

    drive(test)


def test_a_connection_that_was_lost_still_has_its_address() -> None:
    async def test(case: Case) -> None:
        client = await case.client()
        client.socket.close()
        await until(lambda: bool(case.protocol.called("lost")))
        assert case.shell.hang_up(1) == HOST

    drive(test)


def test_connections_do_not_mix() -> None:
    async def test(case: Case) -> None:
        one, other = await case.client(), await case.client()
        other.socket.send(b"2")
        await until(lambda: bool(case.protocol.called("data")))
        assert case.protocol.called("data") == [(2, b"2")]
        case.protocol.output = {1: [[b"to one"]], 2: [[b"to other"]]}
        case.wake()
        assert await one.read(6) == b"to one"
        assert await other.read(8) == b"to other"

    drive(test)


def test_a_taken_port_is_an_error_that_names_the_key() -> None:
    async def test(case: Case) -> None:
        with (
            socket.create_server((HOST, 0)) as taken,
            pytest.raises(ConfigError, match=rf"a_port: {HOST}"),
        ):
            await case.shell.listen(taken.getsockname()[1], key="a_port")

    drive(test)
