"""A queue manager as a process: open the store, recover, listen, stop cleanly."""

import asyncio
import contextlib
import json
import os
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import openmsmq
from openmsmq.core.initialization import MachineIdentity
from openmsmq.core.local_queue_manager import LocalQueueManager
from openmsmq.core.queue import QueueRole
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.state import Settings
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import QueueManagerObject
from openmsmq.security.caller import Caller, unix_user_sid
from openmsmq.security.default_descriptor import default_machine_descriptor
from openmsmq.security.principals import Accounts
from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Progress, Store
from openmsmq.store.maintenance import Options
from openmsmq.wire.errors import MsmqError, StoreError

from .accounts import UnixAccounts, caller_of
from .config import Config
from .host import Host
from .local_server import LocalServer
from .logs import READY, RECOVERED, RESTORED, STOPPED, STOPPING, STORE_FAILED, TORN_TAIL, log_event
from .provisioning import open_directory, prepare_directory

STORE_DIRECTORY: Final = "store"
BACKUP_POLL_SECONDS: Final = 0.02


class QueueManagerProcess:
    """One queue manager with its store and its listeners, inside a running event loop."""

    def __init__(self, config: Config, *, store: Store | None = None) -> None:
        self.config = config
        self.accounts: Accounts = UnixAccounts()
        self.endpoints: dict[str, str] = {}
        self.store: Store = store or self._open_store()
        self._stop = asyncio.Event()
        self._failure: StoreError | None = None
        self._started = time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()
        self.host: Host
        self._server: LocalServer

    @property
    def manager(self) -> QueueManager:
        return self.host.manager

    # Start and stop

    async def start(self, progress: Progress | None = None) -> None:
        """Recover what is stored and begin to serve.

        Raises:
            StoreError: the store is damaged or in use.
            ConfigError: a listener cannot be opened.
        """
        config = self.config
        store = self.store
        try:
            recovery = store.recover(progress)
            directory = open_directory(config.directory)
            manager = self._make_manager(store, recovery, directory)
            for finding in recovery.repaired:
                log_event(TORN_TAIL, file=finding.file, offset=finding.offset, what=finding.reason)
            if recovery.restored:
                log_event(RESTORED)
            stats = store.stats()
            log_event(RECOVERED, messages=stats.messages, bytes=stats.message_bytes)
            provisioning = prepare_directory(manager, directory, config.directory, store)
            manager.start(MachineIdentity(config.name), provisioning)
            self.host = Host(manager, store, store_failed=self._store_failed)
            self._server = LocalServer(config, self.host, self)
            await self.host.commit.drain()
            self.endpoints = await self._server.listen()
        except BaseException:
            if hasattr(self, "host"):
                await self.host.close()
            store.close()
            raise
        log_event(READY, name=config.name, guid=manager.state.manager.identifier)
        if config.ready_file is not None:
            write_ready_file(config.ready_file, self.endpoints)

    def _open_store(self) -> Store:
        config = self.config
        options = Options(segment_size=config.segment_bytes)
        return FileStore(
            config.data / STORE_DIRECTORY, new_store_id=os.urandom(16), options=options
        )

    def _make_manager(
        self, store: Store, recovery: Any, directory: LocalDirectory | None
    ) -> QueueManager:
        config = self.config
        utc = time.time()
        new = LocalQueueManager(
            QueueManagerObject(
                identifier=uuid.uuid4(),
                computer_name=config.name,
                queue_manager_version=openmsmq.__version__,
                create_time=int(utc),
                modify_time=int(utc),
                security=default_machine_descriptor(unix_user_sid(os.geteuid())).serialize(),
            ),
            # It joins a directory when it starts with one.
            directory_integrated=False,
        )
        names = {config.bind, *config.names, *config.addresses}
        manager = QueueManager(
            recovery,
            new=new,
            guids=uuid.uuid4,
            packets=store,
            scratch=store.scratch,
            directory=directory,
            settings=Settings(
                names=frozenset(name.lower() for name in names),
                memory_budget=config.memory_budget_bytes,
                own=caller_of(os.geteuid(), os.getegid()),
            ),
            now=time.monotonic(),
            utc=utc,
        )
        published = manager.state.manager
        published.queue_manager_quota = config.quota_kilobytes
        published.journal_quota = config.journal_quota_kilobytes
        return manager

    def request_stop(self) -> None:
        """Let `run` return; safe in a signal handler of the loop."""
        self._stop.set()

    def _store_failed(self, error: StoreError) -> None:
        log_event(STORE_FAILED, reason=error)
        self._failure = error
        self._stop.set()

    async def run(self) -> None:
        """Serve until stopped.

        Raises:
            StoreError: the store failed; a restart recovers what was acknowledged.
        """
        await self._stop.wait()
        await self.stop()
        if self._failure is not None:
            raise self._failure

    async def stop(self) -> None:
        """Hang up, make everything durable, close the store."""
        log_event(STOPPING)
        if self.config.ready_file is not None:
            self.config.ready_file.unlink(missing_ok=True)
        self.host.tick()
        self.manager.stop()
        await self._server.close()
        for task in self._tasks:
            task.cancel()
        await self.host.close()
        self.manager.stopped()
        self.store.close()
        log_event(STOPPED)

    # What requests ask for

    def status(self) -> dict[str, Any]:
        """State, identity, endpoints and totals."""
        state = self.manager.state
        user = [queue for queue in self.manager.queues if queue.role is QueueRole.USER]
        store = self.store.stats()
        return {
            "name": state.manager.computer_name,
            "guid": f"{{{str(state.manager.identifier).upper()}}}",
            "state": str(state.local.queue_manager_state),
            "version": openmsmq.__version__,
            "pid": os.getpid(),
            "uptime_seconds": time.monotonic() - self._started,
            "endpoints": self.endpoints,
            "data": str(self.config.data),
            "queues": len(user),
            "messages": sum(queue.count for queue in self.manager.queues),
            "bytes": state.total_bytes,
            "outgoing_queues": len(state.outgoing),
            "memory_bytes": state.memory,
            "disk_bytes": store.disk_bytes,
            "stored_messages": store.messages,
            "flushes": store.flushes,
            "throttled": state.local.throttled,
            "transactions": len(state.transactions),
        }

    def authenticate(self, token: str) -> Caller | None:
        return self._server.authenticate(token)

    def new_guid(self) -> uuid.UUID:
        return uuid.uuid4()

    def backup(self, file: str, done: Callable[[dict[str, Any] | MsmqError], None]) -> None:
        """Copy the store to a file while it is in use."""
        task = asyncio.get_running_loop().create_task(self._backup(Path(file), done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _backup(self, file: Path, done: Callable[[dict[str, Any] | MsmqError], None]) -> None:
        copied = 0

        def progress(now: int, total: int) -> None:  # noqa: ARG001 - the signature of progress
            nonlocal copied
            copied = now

        try:
            backup = self.store.backup(file, progress)
            while not backup.done:
                self.host.commit.kick()
                await asyncio.sleep(BACKUP_POLL_SECONDS)
        except MsmqError as exc:
            done(exc)
            return
        done({"file": str(file), "bytes": copied})


def write_ready_file(path: Path, endpoints: dict[str, str]) -> None:
    """Tell whoever waits for the queue manager where it listens; the file appears whole."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(endpoints) + "\n", encoding="utf-8")
    temporary.replace(path)


async def serve(
    config: Config,
    *,
    progress: Progress | None = None,
    ready: Callable[[dict[str, str]], None] | None = None,
) -> None:
    """Run a queue manager until SIGTERM or SIGINT."""
    process = QueueManagerProcess(config)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError, ValueError):
            loop.add_signal_handler(number, process.request_stop)
    await process.start(progress)
    if ready is not None:
        ready(process.endpoints)
    await process.run()
