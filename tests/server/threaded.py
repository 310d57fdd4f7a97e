"""A queue manager with everything around it, in a thread of the test's process."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import uvloop
from tests.server.raw_client import TIMEOUT, RawClient

from openmsmq.server.config import Config
from openmsmq.server.process import QueueManagerProcess
from openmsmq.store.interface import Store

T = TypeVar("T")


class Threaded:
    """Started when it is made; `stop` ends it."""

    def __init__(self, config: Config, store: Store | None = None) -> None:
        self.config = config
        self._store = store
        self._ready = threading.Event()
        self.failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop
        self.process: QueueManagerProcess
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(TIMEOUT)
        if self.failure is not None:
            self._thread.join()
            raise self.failure

    def _run(self) -> None:
        try:
            uvloop.run(self._serve())
        except Exception as exc:  # noqa: BLE001 - the test looks at it
            self.failure = exc
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.process = QueueManagerProcess(self.config, store=self._store)
        await self.process.start()
        self._ready.set()
        await self.process.run()

    def call(self, action: Callable[[], T]) -> T:
        """Do something in the thread that owns the queue manager."""

        async def call() -> T:
            return action()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(TIMEOUT)

    def wait_for(self, awaitable: Callable[[], Awaitable[T]]) -> T:
        async def wait() -> T:
            return await awaitable()

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result(TIMEOUT)

    def connect(self) -> RawClient:
        return RawClient.connect(self.config.socket_path)

    def stop(self) -> None:
        """Stop as a signal does; raises what the queue manager failed with."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self.process.request_stop)
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()
        if self.failure is not None:
            raise self.failure

    def wait_until_failed(self) -> None:
        self._thread.join(TIMEOUT)


@contextmanager
def threaded(folder: Path, store: Store | None = None, **settings: Any) -> Iterator[Threaded]:
    """A queue manager that listens on a Unix socket."""
    settings.setdefault("name", "ALPHA")
    settings.setdefault("segment_bytes", 1 << 20)
    ports = ("binary", "ping", "rpc", "qm2qm", "epm", "http", "console")
    for port in (f"{name}_port" for name in ports):
        settings.setdefault(port, "off")
    running = Threaded(Config(data=folder, **settings), store)
    try:
        yield running
    finally:
        if running.failure is None:
            running.stop()
