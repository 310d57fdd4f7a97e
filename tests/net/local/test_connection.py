"""The connection shell over real sockets, with a session that does what the test says."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import uvloop

from openmsmq.net.local.connection import (
    SLICE_SECONDS,
    STEPS_SECONDS,
    WRITE_HIGH_WATER,
    LocalConnection,
)
from openmsmq.protocol.local.framing import HELLO_FRAME_SIZE, frame
from openmsmq.wire.errors import ProtocolViolation

TIMEOUT = 20.0


class FakeSession:
    """Keeps the requests; `handle` says what to do with each."""

    def __init__(self, host: "FakeHost", connection: LocalConnection) -> None:
        self.host = host
        self.connection = connection
        self.greeted = False
        self.requests: list[bytes] = []
        self.steps = 0
        self.step_seconds = 0.0
        self.closed = False
        self.pauses: list[bool] = []
        self.stopped = False

    @property
    def busy(self) -> bool:
        return self.steps > 0

    def receive(self, payload: memoryview) -> None:
        self.requests.append(bytes(payload))
        self.greeted = True
        self.host.handle(self, bytes(payload))

    def step(self) -> None:
        self.steps -= 1
        time.sleep(self.step_seconds)
        self.connection.reply(0, b"step")

    def pause(self) -> None:
        self.pauses.append(True)

    def resume(self) -> None:
        self.pauses.append(False)

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        self.closed = True


def echo(session: FakeSession, payload: bytes) -> None:
    session.connection.reply(0, payload)


class FakeHost:
    """What connections share, driven by the test."""

    def __init__(self, handle: Callable[[FakeSession, bytes], None] = echo) -> None:
        self.handle = handle
        self.sessions: list[FakeSession] = []
        self.faults: list[Exception] = []
        self.gone = 0
        self.held: list[tuple[int, Callable[[Any], None], object]] = []
        self.saturated = False
        self.waiting: list[Callable[[], None]] = []
        self.lets_in = True

    def open_session(self, connection: LocalConnection) -> FakeSession:
        if not self.lets_in:
            raise ProtocolViolation("full")
        session = FakeSession(self, connection)
        self.sessions.append(session)
        return session

    def when_durable(self, depends: int, action: Callable[[Any], None], argument: object) -> None:
        self.held.append((depends, action, argument))

    def when_free(self, action: Callable[[], None]) -> None:
        self.waiting.append(action)

    def wake(self) -> None: ...

    def fault(self, connection: LocalConnection, error: Exception) -> None:  # noqa: ARG002
        self.faults.append(error)

    def closed(self, connection: LocalConnection) -> None:  # noqa: ARG002 - as hosts have it
        self.gone += 1

    def release(self, number: int) -> None:
        """Batches up to this number are on disk."""
        held, self.held = self.held, []
        for depends, action, argument in held:
            if depends <= number:
                action(argument)
            else:
                self.held.append((depends, action, argument))


class Peer:
    """The client's end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def send(self, *payloads: bytes) -> None:
        self.writer.write(b"".join(map(frame, payloads)))
        await self.writer.drain()

    async def read(self) -> bytes:
        size = int.from_bytes(await self._reader.readexactly(4), "little")
        return await self._reader.readexactly(size)

    async def at_end(self) -> bool:
        try:
            return await self._reader.read(1) == b""
        except ConnectionResetError:
            # The server hung up with something unread.
            return True


class FakeTransport(asyncio.Transport):
    """Takes everything and shows nothing."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def is_reading(self) -> bool:
        return True

    def writelines(self, list_of_data: Any) -> None: ...

    def close(self) -> None: ...


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


Connect = Callable[[], Awaitable[Peer]]


def run(
    tmp_path: Path,
    host: FakeHost,
    test: Callable[[Connect], Awaitable[None]],
    *,
    max_bytes: int = 1 << 20,
    hello_seconds: float = TIMEOUT,
) -> None:
    """Run a test against a listening socket."""

    async def main() -> None:
        path = str(tmp_path / "sock")
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(
            lambda: LocalConnection(host, host, max_bytes, hello_seconds), path
        )
        peers = []

        async def connect() -> Peer:
            peer = Peer(*await asyncio.open_unix_connection(path))
            peers.append(peer)
            return peer

        try:
            async with asyncio.timeout(TIMEOUT):
                await test(connect)
        finally:
            for peer in peers:
                peer.writer.transport.abort()
            server.close()
            await asyncio.sleep(0)

    uvloop.run(main())


def test_requests_are_answered_in_their_order(tmp_path: Path) -> None:
    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"one", b"two", b"x" * 3000)
        assert [await peer.read() for _ in range(3)] == [b"one", b"two", b"x" * 3000]

    run(tmp_path, FakeHost(), test)


def test_a_reply_waits_for_its_batch(tmp_path: Path) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        session.connection.reply(payload[0], payload)

    host = FakeHost(handle)

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"\x02second", b"\x01first", b"\x00now")
        assert await peer.read() == b"\x00now"
        host.release(1)
        assert await peer.read() == b"\x01first"
        host.release(2)
        assert await peer.read() == b"\x02second"

    run(tmp_path, host, test)


def test_large_requests_and_replies_pass(tmp_path: Path) -> None:
    body = bytes(range(256)) * (1 << 14)

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"hello")
        assert await peer.read() == b"hello"
        for payload in (body, b"small", body):
            peer.writer.write(frame(payload))
        for expected in (body, b"small", body):
            assert await peer.read() == expected

    run(tmp_path, FakeHost(), test, max_bytes=1 << 26)


def test_before_the_greeting_frames_are_short(tmp_path: Path) -> None:
    host = FakeHost()

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"x" * (HELLO_FRAME_SIZE + 1))
        assert await peer.at_end()
        assert isinstance(host.faults[0], ProtocolViolation)

    run(tmp_path, host, test)


def test_a_frame_over_the_limit_closes_the_connection(tmp_path: Path) -> None:
    host = FakeHost()

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"hello")
        assert await peer.read() == b"hello"
        peer.writer.write(b"\xff\xff\xff\xff")
        assert await peer.at_end()
        assert host.sessions[0].closed

    run(tmp_path, host, test)


def test_who_does_not_greet_is_closed(tmp_path: Path) -> None:
    host = FakeHost()

    async def test(connect: Connect) -> None:
        silent = await connect()
        polite = await connect()
        await polite.send(b"hello")
        assert await silent.at_end()
        assert await polite.read() == b"hello"
        assert len(host.faults) == 1
        await polite.send(b"still here")
        assert await polite.read() == b"still here"

    run(tmp_path, host, test, hello_seconds=0.1)


def test_who_is_not_let_in_is_closed(tmp_path: Path) -> None:
    host = FakeHost()
    host.lets_in = False

    async def test(connect: Connect) -> None:
        peer = await connect()
        assert await peer.at_end()
        assert str(host.faults[0]) == "full"

    run(tmp_path, host, test)


@pytest.mark.parametrize("error", [ProtocolViolation("bad"), RuntimeError("ours"), KeyError(1)])
def test_a_fault_closes_that_connection_only(tmp_path: Path, error: Exception) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        if payload == b"break":
            raise error
        echo(session, payload)

    host = FakeHost(handle)

    async def test(connect: Connect) -> None:
        bad, good = await connect(), await connect()
        await good.send(b"one")
        assert await good.read() == b"one"
        await bad.send(b"fine", b"break", b"never")
        assert await bad.read() == b"fine"
        assert await bad.at_end()
        await until(lambda: host.gone == 1)
        assert host.faults == [error]
        assert [each.closed for each in host.sessions].count(True) == 1
        await good.send(b"two")
        assert await good.read() == b"two"

    run(tmp_path, host, test)


def test_a_client_that_leaves_with_replies_held_is_forgotten(tmp_path: Path) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        session.connection.reply(1, payload)

    host = FakeHost(handle)

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"one", b"two")
        await until(lambda: len(host.held) == 2)
        peer.writer.close()
        await until(lambda: host.gone == 1)
        assert host.sessions[0].closed
        host.release(1)
        other = await connect()
        await other.send(b"three")
        await until(lambda: len(host.held) == 1)
        host.release(1)
        assert await other.read() == b"three"

    run(tmp_path, host, test)


def test_a_client_that_does_not_read_is_paused(tmp_path: Path) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        session.connection.reply(0, payload * 1000)

    host = FakeHost(handle)
    request = b"x" * 1000

    async def test(connect: Connect) -> None:
        peer = await connect()
        for _ in range(100):
            peer.writer.write(frame(request))
        await until(lambda: bool(host.sessions) and len(host.sessions[0].requests) > 4)
        await asyncio.sleep(0.3)
        # The buffers of sockets and transport, and what one slice adds.
        carried_out = len(host.sessions[0].requests)
        assert carried_out < (WRITE_HIGH_WATER >> 20) + 15
        for _ in range(100):
            assert len(await peer.read()) == 1_000_000
        assert len(host.sessions[0].requests) == 100
        # What it waits for is left to others meanwhile.
        pauses = host.sessions[0].pauses
        assert pauses[:2] == [True, False]
        assert not pauses[-1]

    run(tmp_path, host, test)


def test_replies_that_wait_for_the_disk_are_bounded(tmp_path: Path) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        session.connection.reply(1, bytes(100_000))

    host = FakeHost(handle)

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(*[b"request"] * 40)
        await until(lambda: len(host.held) == 11)
        await asyncio.sleep(0.1)
        assert len(host.held) == 11
        while len(host.sessions[0].requests) < 40:
            host.release(1)
            await asyncio.sleep(0.01)
        host.release(1)
        for _ in range(40):
            assert len(await peer.read()) == 100_000

    run(tmp_path, host, test, max_bytes=1_000_000)


def test_nothing_is_carried_out_while_the_disk_is_behind(tmp_path: Path) -> None:
    host = FakeHost()

    async def test(connect: Connect) -> None:
        first, second = await connect(), await connect()
        host.saturated = True
        await first.send(b"one")
        await second.send(b"two")
        await until(lambda: len(host.waiting) == 2)
        assert not any(session.requests for session in host.sessions)
        host.saturated = False
        waiting, host.waiting = host.waiting, []
        for action in waiting:
            action()
        assert [await first.read(), await second.read()] == [b"one", b"two"]

    run(tmp_path, host, test)


def test_requests_that_wait_are_not_overwritten_by_what_comes_behind_them() -> None:
    async def test() -> None:
        host = FakeHost()
        connection = LocalConnection(host, host, 1 << 20)
        connection.connection_made(FakeTransport())
        host.saturated = True
        for payload in (b"first", b"other", b"third"):
            space = connection.get_buffer(-1)
            data = frame(payload)
            space[: len(data)] = data
            connection.buffer_updated(len(data))
        host.saturated = False
        for action in host.waiting:
            action()
        async with asyncio.timeout(TIMEOUT):
            await until(lambda: len(host.sessions[0].requests) == 3)
        assert host.sessions[0].requests == [b"first", b"other", b"third"]
        connection.connection_lost(None)

    uvloop.run(test())


def test_clients_take_turns(tmp_path: Path) -> None:
    order: list[bytes] = []

    def handle(session: FakeSession, payload: bytes) -> None:
        if payload != b"hello":
            order.append(payload)
            time.sleep(SLICE_SECONDS / 2)
        session.connection.reply(0, payload)

    async def test(connect: Connect) -> None:
        busy, other = await connect(), await connect()
        for peer in (busy, other):
            await peer.send(b"hello")
            await peer.read()
        await busy.send(*[b"busy"] * 40)
        await asyncio.sleep(0)
        await other.send(b"other")
        assert await other.read() == b"other"
        for _ in range(40):
            assert await busy.read() == b"busy"

    run(tmp_path, FakeHost(handle), test)
    assert order.index(b"other") < 20


def test_a_long_request_goes_on_beside_others(tmp_path: Path) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        if payload == b"long":
            session.steps = 5
        else:
            session.connection.reply(0, payload)

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"long", b"short")
        replies = [await peer.read() for _ in range(6)]
        assert sorted(replies) == sorted([b"step"] * 5 + [b"short"])
        assert replies[-1] == b"step"
        await peer.send(b"again")
        assert await peer.read() == b"again"

    run(tmp_path, FakeHost(handle), test)


def test_others_wait_for_a_step_only(tmp_path: Path) -> None:
    left: list[int] = []

    def handle(session: FakeSession, payload: bytes) -> None:
        if payload == b"long":
            session.step_seconds = STEPS_SECONDS
            session.steps = 100
        else:
            left.append(host.sessions[0].steps)
            session.connection.reply(0, payload)

    host = FakeHost(handle)

    async def test(connect: Connect) -> None:
        busy, other = await connect(), await connect()
        for peer in (busy, other):
            await peer.send(b"hello")
            await peer.read()
        await busy.send(b"long")
        for _ in range(5):
            await other.send(b"short")
            assert await other.read() == b"short"

    run(tmp_path, host, test)
    taken = [before - after for before, after in pairwise(left[2:])]
    # One step in each turn of the loop, and few turns from one request to the next.
    assert len(taken) == 4
    assert max(taken) <= 6


def test_steps_wait_while_the_client_does_not_read(tmp_path: Path) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        session.steps = 1000
        session.connection.reply(0, bytes(1 << 23))

    host = FakeHost(handle)

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"long")
        await until(lambda: bool(host.sessions) and bool(host.sessions[0].requests))
        await asyncio.sleep(0.1)
        assert host.sessions[0].steps == 1000
        assert len(await peer.read()) == 1 << 23
        for _ in range(1000):
            assert await peer.read() == b"step"

    run(tmp_path, host, test)


def test_a_stop_lets_out_what_waits_for_the_disk_and_takes_no_more(tmp_path: Path) -> None:
    def handle(session: FakeSession, payload: bytes) -> None:
        session.connection.reply(1, payload)

    host = FakeHost(handle)

    async def test(connect: Connect) -> None:
        peer = await connect()
        await peer.send(b"one")
        await until(lambda: len(host.held) == 1)
        connection = host.sessions[0].connection
        assert not host.sessions[0].stopped
        connection.stop()
        assert host.sessions[0].stopped
        await peer.send(b"two")
        await asyncio.sleep(0.05)
        assert len(host.held) == 1
        host.release(1)
        assert await peer.read() == b"one"
        connection.close()
        assert await peer.at_end()
        assert host.sessions[0].requests == [b"one"]

    run(tmp_path, host, test)
