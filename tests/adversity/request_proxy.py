"""A proxy for HTTP between queue managers that cuts, delays, repeats and swallows.

Like `LinkProxy` it listens at public addresses; it knows requests, so that it can post one twice
or keep its answer to itself. Requests of a connection stay in order.
"""

import asyncio
import contextlib
import random
import re
import threading
from collections.abc import Coroutine, Mapping
from typing import Final

_LENGTH: Final = re.compile(rb"\r\nContent-Length: (\d+)\r\n")
# How often each thing happens to a request; the rest passes.
_CUT: Final = 0.01
_SWALLOWED: Final = 0.01
_TWICE: Final = 0.05
_LATE: Final = 0.02
_DELAYS: Final = 0.01, 0.1, 0.5


class RequestProxy:
    """Runs in a thread of its own; `public` maps public addresses to real ones."""

    def __init__(self, public: Mapping[str, str], seed: int, *, port: int) -> None:
        self._port = port
        self._public = dict(public)
        self._random = random.Random(seed)
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        # What was done to requests.
        self.repeated = self.swallowed = self.cuts = self.delayed = 0
        for address in self._public:
            self._call(self._listen(address))

    def _call(self, work: Coroutine[object, object, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _listen(self, address: str) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._serve(address, reader, writer)
            self._tasks.discard(task)
            writer.transport.abort()

        self._servers.append(await asyncio.start_server(accept, address, self._port))

    async def _serve(
        self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        answers, onward = await asyncio.open_connection(self._public[address], self._port)
        # Of each request that went on: whether its sender gets the answer.
        wanted: asyncio.Queue[bool] = asyncio.Queue()
        relaying = asyncio.create_task(_relay(answers, writer, wanted))
        try:
            while not relaying.done():
                request = await _message(reader)
                chance = self._random.random()
                if chance < _CUT:
                    self.cuts += 1
                    onward.write(request[: self._random.randrange(len(request))])
                    return
                if chance < _CUT + _LATE:
                    self.delayed += 1
                    await asyncio.sleep(self._random.choice(_DELAYS))
                if self._random.random() < _TWICE:
                    self.repeated += 1
                    onward.write(request)
                    wanted.put_nowait(False)
                onward.write(request)
                if self._random.random() < _SWALLOWED:
                    self.swallowed += 1
                    await onward.drain()
                    return
                wanted.put_nowait(True)
        finally:
            # First: a second cut may come while it waits.
            onward.close()
            relaying.cancel()
            await asyncio.gather(relaying, return_exceptions=True)

    def cut(self) -> None:
        """Break some of the connections."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for task in list(self._tasks):
            if self._random.random() < 0.5:
                task.cancel()

    def close(self) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.gather(*self._tasks, return_exceptions=True)


async def _relay(
    answers: asyncio.StreamReader, writer: asyncio.StreamWriter, wanted: asyncio.Queue[bool]
) -> None:
    """Bring the answers that are wanted to who asked; the end of them ends the connection."""
    try:
        while True:
            relayed = await wanted.get()
            answer = await _message(answers)
            if relayed:
                writer.write(answer)
    finally:
        writer.transport.abort()


async def _message(reader: asyncio.StreamReader) -> bytes:
    """A whole request or response."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head + await reader.readexactly(int(length[1]) if length else 0)
