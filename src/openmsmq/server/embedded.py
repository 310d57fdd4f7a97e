"""A queue manager inside the process, for tests and notebooks."""

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from openmsmq.client.blocking.queue_manager import QueueManager, connect
from openmsmq.net.local.paths import SOCKET_NAME
from openmsmq.server.config import Config
from openmsmq.server.process import QueueManagerProcess
from openmsmq.store.interface import Store
from openmsmq.store.memory_store import MemoryStore

# Longer paths are invalid for a Unix socket.
MAX_SOCKET_PATH: Final = 100
STOP_SECONDS: Final = 30.0
# No port is opened unless requested, and little disk is allocated in advance.
DEFAULTS: Final = {
    **{
        f"{name}_port": "off"
        for name in ("binary", "ping", "rpc", "qm2qm", "epm", "http", "https", "console", "local")
    },
    "history_bytes": 0,
    "segment_bytes": 8 * 1024 * 1024,
}


def embedded(path: str | Path | None = None, **options: Any) -> "EmbeddedQueueManager":
    """Run a queue manager inside this process.

    Use it in a `with` statement, which gives a connection to it and stops it at the end; or call
    `connect` and `close` of what this returns.

    Args:
        path: data directory, which keeps its messages; without one everything is in memory.
        options: settings of `openmsmq serve` by their names in the configuration file; no port is
            opened unless it is named here.

    Raises:
        StoreError: the data directory is in use or damaged.
        ConfigError: a setting cannot be used; the text names it.
    """
    return EmbeddedQueueManager(None if path is None else Path(path), options)


class EmbeddedQueueManager:
    """A queue manager in a thread of its own."""

    def __init__(self, path: Path | None, options: dict[str, Any]) -> None:
        self._temporary = ""
        settings = {**DEFAULTS, **options}
        if path is None:
            path = self._make_temporary()
            self._make_store: Callable[[], Store | None] = MemoryStore
        else:
            self._make_store = _default_store
        settings.setdefault("data", path)
        if len(os.fsencode(path / SOCKET_NAME)) > MAX_SOCKET_PATH:
            settings.setdefault("socket", self._make_temporary() / SOCKET_NAME)
        self._loop: asyncio.AbstractEventLoop
        self._process: QueueManagerProcess
        self._ready = threading.Event()
        self._fault: BaseException | None = None
        self._connections: list[QueueManager] = []
        self._thread = threading.Thread(target=self._run, name="openmsmq", daemon=True)
        try:
            self._config = Config.load(None, settings)
            self._thread.start()
            self._ready.wait()
            if self._fault is not None:
                raise self._fault
        except BaseException:
            self._remove_temporary()
            raise

    def __enter__(self) -> QueueManager:
        return self.connect()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection in self._connections:
            connection.__exit__(kind, error, trace)
        self.close()

    def __repr__(self) -> str:
        return f"<EmbeddedQueueManager {self._process.manager.name!r} at {self.address!r}>"

    @property
    def address(self) -> str:
        """Its socket, for `connect` in this and other processes."""
        return str(self._config.socket_path)

    @property
    def endpoints(self) -> dict[str, str]:
        """Where it listens, by the name of the protocol."""
        return dict(self._process.endpoints)

    def connect(
        self, *, timeout: float | timedelta | None = 10.0, reconnect: bool = False
    ) -> QueueManager:
        """A new connection to it; closed with it, if not before."""
        connection = connect(self.address, timeout=timeout, reconnect=reconnect)
        self._connections.append(connection)
        return connection

    def close(self) -> None:
        """Stop it; what is in a data directory stays.

        Raises:
            StoreError: its store has failed before.
        """
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._process.request_stop)
            self._thread.join(STOP_SECONDS)
        self._remove_temporary()
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def _make_temporary(self) -> Path:
        self._temporary = self._temporary or tempfile.mkdtemp(prefix="openmsmq-")
        return Path(self._temporary)

    def _remove_temporary(self) -> None:
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(self._serve())
        except BaseException as exc:  # noqa: BLE001 - raised in the thread that starts or stops it
            self._fault = exc
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = QueueManagerProcess(self._config, store=self._make_store())
        await self._process.start()
        self._ready.set()
        await self._process.run()


def _default_store() -> Store | None:
    """Let the process open the files of its data directory."""
    return None


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The fast event loop where there is one."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
