"""A queue manager as a process: open the store, recover, listen, stop cleanly."""

import asyncio
import json
import os
import resource
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from openmsmq.core.management.queue_infos import guid_text
from openmsmq.core.management.records import ProcessInfo, ProcessMetrics
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.protocol.local.deferred import Deferred
from openmsmq.security.caller import Caller, unix_user_sid
from openmsmq.security.default_descriptor import default_machine_descriptor
from openmsmq.security.encryption.body_decryption import BodyDecryption
from openmsmq.security.principals import Accounts, parse_principal
from openmsmq.service.accounts import ServiceAccounts, caller_of
from openmsmq.service.event_log import EventLog
from openmsmq.service.history import HistoryFiles
from openmsmq.service.host import Host
from openmsmq.service.keys import KeyFiles
from openmsmq.service.logs import (
    EXPRESS_DISCARDED,
    FAILED,
    IN_DOUBT,
    KEYS_NOT_PUBLISHED,
    NAME_CHANGED,
    READY,
    RECOVERED,
    RESTORED,
    STOPPED,
    STOPPING,
    TORN_TAIL,
    log_event,
)
from openmsmq.service.machine_keys import MachineKeys
from openmsmq.service.message_log import MessageLog
from openmsmq.service.meters import free_bytes, memory_sizes, open_files
from openmsmq.service.reachability import Reachability
from openmsmq.service.tokens import Tokens, caller_of_sid
from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Progress, Recovery, Store
from openmsmq.store.options import STORE_DIRECTORY
from openmsmq.version import __version__
from openmsmq.wire.codes.algorithms import PROVIDERS
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, MsmqError, StoreError

from .backups import Backups
from .common_config import default_name
from .config import Config
from .defining import apply_definitions_file
from .histories import Histories
from .key_requests import KeyRequests
from .notifying import Notifier
from .parts import PARTS
from .parts.part import Part, Premises
from .provisioning import open_directory, prepare_directory
from .reloading import Reloaded, reload
from .start_checks import check_start

KEYS_DIRECTORY: Final = "keys"
HISTORY_DIRECTORY: Final = "history"
PROGRESS_STEP: Final = 16_384

T = TypeVar("T")


class Running(NamedTuple):
    """The components of a started queue manager."""

    host: Host
    messages: MessageLog
    events: EventLog
    backups: Backups
    keys: KeyRequests
    history: Histories
    parts: list[Part]


class QueueManagerProcess:
    """One queue manager with its store and its listeners, inside a running event loop.

    Args:
        reread: reads the current configuration, for a reload; None where it is not from a file.

    Raises:
        StoreError: another process uses the data directory, or it cannot be used.
    """

    def __init__(
        self,
        config: Config,
        *,
        store: Store | None = None,
        reread: Callable[[], Config] | None = None,
    ) -> None:
        self.config = config
        self.notifier = Notifier()
        self._reread = reread
        self.accounts: Accounts = ServiceAccounts(config.data)
        self.endpoints: dict[str, str] = {}
        self._tokens = Tokens(config.local_tokens)
        check_start(config)
        self.store: Store = store or open_store(config)
        self._stop = asyncio.Event()
        self._failure: Exception | None = None
        self._started = time.monotonic()
        self._started_with: Running | None = None
        self._keys: MachineKeys

    @property
    def _running(self) -> Running:
        if self._started_with is None:
            raise ConfigError("the queue manager has not started")
        return self._started_with

    @property
    def host(self) -> Host:
        return self._running.host

    @property
    def manager(self) -> QueueManager:
        return self._running.host.manager

    # Start

    async def start(
        self, progress: Progress | None = None, recovered: Callable[[], None] | None = None
    ) -> None:
        """Recover the store, call `recovered`, and begin to serve.

        Raises:
            StoreError: the store is damaged.
            ConfigError: a listener cannot be opened.
            QueueError: the directory is in an invalid state.
        """
        config = self.config
        try:
            engine = self._recover(progress)
            if recovered is not None:
                recovered()
            host = Host(engine, self.store, failed=self._failed)
            parts: list[Part] = []
            backups, keys = Backups(self.store, host), KeyRequests(self._keys, host)
            files = HistoryFiles(
                config.data / HISTORY_DIRECTORY, config.history_bytes, engine.manager.trace
            )
            history = Histories(files, host)
            self._started_with = Running(
                host, MessageLog(host), EventLog(host), backups, keys, history, parts
            )
            premises = Premises(host, self, self._tokens)
            for kind in PARTS:
                parts.append(kind(config, premises))  # noqa: PERF401 - made ones are closed
            Reachability(host)
            apply_definitions_file(
                config.definitions,
                self.manager,
                caller=caller_of(os.geteuid(), os.getegid()),
                accounts=self.accounts,
            )
            await host.drain()
            self._raise_failure()
            for part in parts:
                self.endpoints.update(await part.listen())
            if config.ready_file is not None:
                write_ready_file(config.ready_file, self.endpoints)
        except BaseException:
            await self._close()
            raise
        log_event(READY, name=self.manager.name, guid=guid_text(self.manager.identifier))

    def _recover(self, progress: Progress | None) -> Engine:
        config, store = self.config, self.store
        recovery = store.recover(progress)
        for finding in recovery.repaired:
            log_event(TORN_TAIL, file=finding.file, offset=finding.offset, what=finding.reason)
        if recovery.restored:
            log_event(RESTORED)
        stats = store.stats()
        if progress is not None:
            messages = counted(recovery.messages, stats.messages, progress)
            recovery = replace(recovery, messages=messages)
        directory = open_directory(config.directory)
        keys = self._keys = open_keys(config)
        decryptor = BodyDecryption(keys, config.encryption_settings)
        manager = make_manager(config, store, recovery, directory, decryptor)
        log_event(RECOVERED, messages=stats.messages, bytes=stats.message_bytes)
        for identifier in manager.enlistments.in_doubt:
            log_event(IN_DOUBT, transaction=identifier)
        engine = Engine(manager, store)
        provisioning = prepare_directory(
            engine, directory, config.directory, keys=keys, providers=keys.providers
        )
        before = manager.name
        name = config.name or before
        if name.lower() != before.lower():
            log_event(
                NAME_CHANGED,
                before=before,
                now=name,
                remedy=f'add names = ["{before}"] to the configuration if others still use it',
            )
        manager.start(MachineIdentity(name), provisioning)
        if manager.directory_integrated:
            fault = manager.publish_keys(keys, keys.providers)
            if fault:
                log_event(KEYS_NOT_PUBLISHED, reason=fault)
        return engine

    def reload(self) -> Reloaded:
        """Read tokens, certificates, quotas and the log level again, open the log file anew."""
        self.notifier.reloading()
        outcome = reload(self.config, self._running.parts, self.manager, self._reread)
        self.notifier.reloaded(self.status_line)
        return outcome

    @property
    def status_line(self) -> str:
        """The state in one line, for the service manager."""
        return f"{self.manager.name} is ready"

    # Stop

    def request_stop(self) -> None:
        """Let `run` return; safe in a signal handler of the loop."""
        self._stop.set()

    def _failed(self, error: Exception) -> None:
        log_event(FAILED, exception=None if isinstance(error, MsmqError) else error, reason=error)
        self._failure = error
        self._stop.set()

    def _raise_failure(self) -> None:
        error = self._failure
        if isinstance(error, MsmqError):
            raise error
        if error is not None:
            raise StoreError(
                f"a fault inside the queue manager: {type(error).__name__}: {error}",
                remedy="Start it again: what was acknowledged is kept. The log has the trace.",
            ) from error

    async def run(self) -> None:
        """Serve until stopped.

        Raises:
            StoreError: the store failed; a restart recovers what was acknowledged.
        """
        await self._stop.wait()
        await self.stop()
        self._raise_failure()

    async def stop(self) -> None:
        """Close all connections, make everything durable, close the store."""
        log_event(STOPPING)
        self.notifier.stopping()
        if self.config.ready_file is not None:
            self.config.ready_file.unlink(missing_ok=True)
        self.host.tick()
        self.manager.stop()
        self._running.backups.cancel()
        self._running.keys.cancel()
        discarded = express_messages(self.manager)
        if discarded:
            log_event(EXPRESS_DISCARDED, count=discarded)
        await self._close()
        log_event(STOPPED)

    async def _close(self) -> None:
        if self._started_with is not None:
            host, messages, _, _, _, history, parts = self._started_with
            for part in reversed(parts):
                await part.close()
            await host.close()
            messages.sum_up()
            host.manager.stopped()
            history.close()
        self.store.close()

    # Functions for requests

    @property
    def version(self) -> str:
        return __version__

    def process_info(self) -> ProcessInfo:
        """Facts about the process that the queue manager does not have."""
        store = self.store.stats()
        parts = {part.name: part.status() for part in self._running.parts}
        return ProcessInfo(
            version=__version__,
            pid=os.getpid(),
            uptime_seconds=time.monotonic() - self._started,
            endpoints=self.endpoints,
            data=str(self.config.data),
            disk_bytes=store.disk_bytes,
            stored_messages=store.messages,
            flushes=store.flushes,
            unread_bytes=sum(part.unread_bytes for part in parts.values()),
            faults={name: part.fault for name, part in parts.items() if part.fault},
        )

    def process_metrics(self) -> ProcessMetrics:
        """Measurements of the process and its store."""
        host, store = self.host, self.store.stats()
        virtual, resident = memory_sizes()
        times = os.times()
        return ProcessMetrics(
            start_time=time.time() - (time.monotonic() - self._started),
            cpu_seconds=times.user + times.system,
            resident_bytes=resident,
            virtual_bytes=virtual,
            open_files=open_files(),
            max_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
            disk_free_bytes=free_bytes(self.config.data),
            written_bytes=store.written_bytes,
            segments=store.segments,
            event_loop_lag_seconds=host.lag.meter.read(),
            flush_seconds=host.flush_seconds.read(),
            batch_messages=host.batch_messages.read(),
        )

    def authenticate(self, token: str) -> Caller | None:
        return self._tokens.authenticate(token)

    def caller_named(self, principal: str) -> Caller:
        return caller_of_sid(parse_principal(principal, self.accounts))

    def watch(self, after: int, defer: Callable[[Callable[[], None]], Deferred]) -> None:
        self._running.events.watch(after, defer)

    def refused(self, request: str, queue: str, messages: int, error: QueueError) -> None:
        self._running.events.refused(request, queue, messages, error)
        self._running.messages.refuse(request, queue, messages, error)

    def machine_keys(self) -> list[dict[str, Any]]:
        return self._running.keys.listed()

    def rotate_machine_keys(self, answer: Deferred) -> None:
        self._running.keys.rotate(answer)

    def export_machine_keys(self, answer: Deferred) -> None:
        self._running.keys.export(answer)

    def trace(self, identifier: bytes, answer: Deferred) -> None:
        self._running.history.trace(identifier, answer)

    def backup(self, file: str, answer: Deferred) -> None:
        """Copy the store to a file while it is in use."""
        self._running.backups.start(file, answer)


def open_store(config: Config) -> Store:
    """The store in the data directory, locked for this process."""
    return FileStore(
        config.data / STORE_DIRECTORY, new_store_id=os.urandom(16), options=config.store_options
    )


def open_keys(config: Config) -> MachineKeys:
    """The key pairs in the data directory.

    Raises:
        ConfigError: a file cannot be used.
    """
    aes = PROVIDERS[PrivacyLevel.BODY_AES]
    files = KeyFiles(config.data / KEYS_DIRECTORY, {aes.name: config.encryption_key_bits})
    return MachineKeys(
        files, config.providers, retention_days=config.key_retention_days, utc=time.time
    )


def counted(messages: Iterable[T], total: int, progress: Progress) -> Iterator[T]:
    """The messages, with a progress report now and then."""
    source = iter(messages)
    count = 0
    while part := list(islice(source, PROGRESS_STEP)):
        yield from part
        count += len(part)
        progress(count, total)


def make_manager(
    config: Config,
    store: Store,
    recovery: Recovery,
    directory: LocalDirectory | None,
    decryptor: BodyDecryption,
) -> QueueManager:
    """A queue manager from the contents of the store, or a new one."""
    utc = time.time()
    new = LocalQueueManager(
        QueueManagerObject(
            identifier=uuid.uuid4(),
            computer_name=config.name or default_name(),
            queue_manager_version=__version__,
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
        decryptor=decryptor,
        settings=Settings(
            names=frozenset(name.lower() for name in names),
            memory_budget=config.memory_budget_bytes,
            keep_history=config.history_bytes > 0,
            send_insecure_nacks=config.send_insecure_nacks,
            receipt_hosts=frozenset(config.srmp_receipt_hosts),
            max_forwarded_bytes_per_address=config.max_forwarded_bytes_per_address,
            max_streams=config.max_streams,
            max_streams_per_address=config.max_streams_per_address,
            senders=config.sender_policy,
            signature_form=config.signature_form,
            srmp_signature_form=config.srmp_signature_form,
            trust_claimed_senders=config.trust_claimed_senders,
            max_failed_checks=config.max_failed_checks,
            own=caller_of(os.geteuid(), os.getegid()),
        ),
        now=time.monotonic(),
        utc=utc,
    )
    manager.set_hardened(hardened=config.hardened_security)
    manager.set_quotas(messages=config.quota_kilobytes, journals=config.journal_quota_kilobytes)
    return manager


def express_messages(manager: QueueManager) -> int:
    """The number of messages that are only in memory."""
    return sum(
        not message.recoverable
        for queue in manager.queues
        for message in (*queue.lanes, *queue.locked.values())
    )


def write_ready_file(path: Path, endpoints: dict[str, str]) -> None:
    """Write the ready file, with the addresses of the queue manager, atomically.

    Raises:
        ConfigError: it cannot be written.
    """
    temporary = path.with_name(path.name + ".new")
    try:
        temporary.write_text(json.dumps(endpoints) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as exc:
        raise ConfigError(f"ready_file: {path}: {exc.strerror or exc}") from exc
