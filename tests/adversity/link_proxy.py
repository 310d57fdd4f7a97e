"""A proxy that stands between queue managers and cuts, stalls and drops their links.

Every queue manager has a real address, which it binds to, and a public one, which the others use.
The proxy listens at the public addresses and connects on from the public address of whoever
connects, so that both ends see public addresses only.
"""

import asyncio
import contextlib
import random
import threading
from collections.abc import Coroutine, Mapping

PORT = 1801
CHUNK = 64 * 1024


class LinkProxy:
    """Runs in a thread of its own; `public` maps public addresses to real ones."""

    def __init__(self, public: Mapping[str, str], seed: int, *, port: int = PORT) -> None:
        self._port = port
        self._public = dict(public)
        self._real = {real: public for public, real in public.items()}
        self._random = random.Random(seed)
        self._links: dict[asyncio.Task[None], tuple[asyncio.StreamWriter, ...]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._servers: list[asyncio.Server] = []
        self._stalled = False
        self.cuts = 0
        for address in self._public:
            self._call(self._listen(address))

    def _call(self, work: Coroutine[object, object, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _listen(self, address: str) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._accepted(address, reader, writer)

        self._servers.append(await asyncio.start_server(accept, address, self._port))

    async def _accepted(
        self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        origin = self._real.get(writer.get_extra_info("peername")[0])
        try:
            onward = await asyncio.open_connection(
                self._public[address], self._port, local_addr=(origin, 0) if origin else None
            )
        except OSError:
            writer.transport.abort()
            return
        for source, target in ((reader, onward[1]), (onward[0], writer)):
            task = self._loop.create_task(self._pump(source, target))
            self._links[task] = (writer, onward[1])
            task.add_done_callback(self._finished)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        for writer in self._links.pop(task, ()):
            writer.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(CHUNK):
                while self._stalled:
                    await asyncio.sleep(0.01)
                target.write(data)
                await target.drain()

    def cut(self) -> None:
        """Break some of the links, in the middle of whatever they carry."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for task in list(self._links):
            if self._random.random() < 0.5:
                self.cuts += 1
                task.cancel()

    def stall(self, *, stalled: bool) -> None:
        """Let nothing through, or everything again."""
        self._stalled = stalled

    def close(self) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._links):
            task.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)
        await asyncio.sleep(0.05)
