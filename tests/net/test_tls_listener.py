"""Strangers at the door: TLS first, and not too many at a time."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop
from tests.net.certificate import Authority

from openmsmq.net.tls_listener import TlsListener

Run = Callable[[Coroutine[Any, Any, None]], None]
SECONDS = 20
NUMBERS = [b"0", b"1", b"2", b"3", b"4"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    chosen: Run = request.param
    return chosen


class Client(asyncio.BufferedProtocol):
    """Writes down what it is told, in its order; its buffer is small."""

    def __init__(self, inside: list["Client"]) -> None:
        self._inside = inside
        self.events: list[object] = []
        self.received = b""
        self._buffer = memoryview(bytearray(8))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._inside.append(self)
        self.transport: Any = transport
        self.events.append("made")
        assert isinstance(transport.get_extra_info("cipher"), tuple)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.received += self._buffer[:nbytes]
        if self.events[-1] != "data":
            self.events.append("data")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.events.append("lost")


class Door:
    """A port, who came in, and why others did not."""

    def __init__(self, authority: Authority, **limits: Any) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.issue("127.0.0.1"))
        self.inside: list[Client] = []
        self.reasons: list[str] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.listener = TlsListener(
            lambda: Client(self.inside), "127.0.0.1", 0, context, self._refused, **limits
        )
        self.address = self.listener.socket.getsockname()
        self.trust = ssl.create_default_context(cafile=authority.file)

    def _refused(self, address: str, reason: str) -> None:
        assert address == "127.0.0.1"
        self.reasons.append(reason)

    async def __aenter__(self) -> "Door":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.listener.close()
        for writer in self.writers:
            writer.transport.abort()
        for client in self.inside:
            client.transport.abort()
        # All of it ends in the next rounds of the loop.
        await until(lambda: len(asyncio.all_tasks()) == 1)
        await until(lambda: all(client.events[-1] == "lost" for client in self.inside))
        await asyncio.sleep(0.05)

    async def connect(self, **options: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*self.address, **options)
        self.writers.append(writer)
        return reader, writer


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


async def hung_up(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(), SECONDS) == b""
    except ConnectionResetError:
        return True


def test_what_comes_with_the_end_of_the_handshake_is_not_lost(
    run: Run, authority: Authority
) -> None:
    """A client of TLS 1.3 may send its first request and the end of its handshake at once."""

    async def main() -> None:
        async with Door(authority) as door:
            reader, writer = await door.connect()
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = door.trust.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
            while True:
                try:
                    tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    writer.write(outgoing.read())
                    incoming.write(await reader.read(65536))
            tls.write(b"hello, and much more of it")
            writer.write(outgoing.read())
            tls.write(b"; the end")
            writer.write(outgoing.read())
            await until(lambda: bool(door.inside) and door.inside[0].received[-3:] == b"end")
            (client,) = door.inside
            assert client.received == b"hello, and much more of it; the end"
            assert client.events == ["made", "data"]
            writer.close()
            await until(lambda: client.events[-1] == "lost")
            assert door.reasons == []
            assert door.listener.waiting == 0

    run(main())


def test_a_client_that_is_gone_at_once_is_told_of_in_order(run: Run, authority: Authority) -> None:
    async def main() -> None:
        async with Door(authority) as door:
            for _ in range(20):
                _, writer = await door.connect(ssl=door.trust)
                writer.write(b"x")
                writer.transport.abort()
            await until(lambda: len(door.inside) + len(door.reasons) == 20)
            await until(lambda: all(client.events[-1] == "lost" for client in door.inside))
            for client in door.inside:
                assert client.events in (["made", "lost"], ["made", "data", "lost"])

    run(main())


def test_the_one_who_waited_longest_makes_room(run: Run, authority: Authority) -> None:
    async def main() -> None:
        async with Door(authority, most=2) as door:
            idle = []
            for count in (1, 2, 2):
                idle.append(await door.connect())
                await until(lambda: door.listener.waiting == count)  # noqa: B023 - awaited here
            assert await hung_up(idle[0][0])
            assert door.reasons == ["TLS was not agreed on while 2 others came"]
            # Those who speak TLS are let in all the same.
            for number in range(5):
                _, writer = await door.connect(ssl=door.trust)
                writer.write(b"%d" % number)
                await until(lambda: door.listener.waiting == 1)
            await until(lambda: [client.received for client in door.inside] == NUMBERS)
            # One more idle client had to go, the newest one stays.
            assert len(door.reasons) == 2
            assert door.listener.waiting == 1

    run(main())


def test_those_who_say_nothing_or_nonsense_are_hung_up_on(run: Run, authority: Authority) -> None:
    async def main() -> None:
        async with Door(authority, seconds=0.2) as door:
            silent, _ = await door.connect()
            assert await hung_up(silent)
            wrong, writer = await door.connect()
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                await asyncio.wait_for(wrong.read(), SECONDS)
            await until(lambda: len(door.reasons) == 2)
            assert all(reason.startswith("TLS was not agreed on: ") for reason in door.reasons)
            assert door.inside == []
            assert door.listener.waiting == 0

    run(main())


def test_a_port_that_closes_hangs_up_on_those_who_wait(run: Run, authority: Authority) -> None:
    async def main() -> None:
        async with Door(authority) as door:
            reader, _ = await door.connect()
            await until(lambda: door.listener.waiting == 1)
        assert await hung_up(reader)
        assert door.reasons == []

    run(main())
