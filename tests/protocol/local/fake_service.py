"""The process around a queue manager, for sessions of the local protocol."""

from collections.abc import Callable
from typing import Any

from tests.security.accounts import FakeAccounts

from openmsmq.core.management.records import Histogram, ProcessInfo, ProcessMetrics
from openmsmq.protocol.local.deferred import Deferred
from openmsmq.security.caller import Caller, sender_caller
from openmsmq.security.principals import parse_principal
from openmsmq.wire.codes.queue_error import QueueError

TOKEN = "a long secret"
PROCESS = ProcessInfo(
    version="1.2",
    pid=17,
    uptime_seconds=83.0,
    endpoints={"local": "socket"},
    data="data",
    disk_bytes=1024,
    stored_messages=3,
    flushes=5,
    unread_bytes=7,
    faults={},
)


NOTHING = Histogram(bounds=(1.0,), counts=(0, 0), sum=0.0)
METRICS = ProcessMetrics(
    start_time=1.0,
    cpu_seconds=2.0,
    resident_bytes=3,
    virtual_bytes=4,
    open_files=5,
    max_files=6,
    disk_free_bytes=7,
    written_bytes=8,
    segments=9,
    event_loop_lag_seconds=NOTHING,
    flush_seconds=NOTHING,
    batch_messages=NOTHING,
)


class FakeService:
    """The process around the queue manager, as far as requests see it."""

    def __init__(self, user: Caller) -> None:
        # Whom the token stands for.
        self._user = user
        self.accounts = FakeAccounts()
        self.version = "1.2"
        self.refusals: list[tuple[str, str, int, int]] = []
        self.watchers: list[tuple[int, Deferred]] = []
        self.backups: list[tuple[str, Deferred]] = []

    def process_info(self) -> ProcessInfo:
        return PROCESS

    def process_metrics(self) -> ProcessMetrics:
        return METRICS

    def watch(self, after: int, defer: Callable[[Callable[[], None]], Deferred]) -> None:
        answer = defer(lambda: self.watchers.clear())
        self.watchers.append((after, answer))

    def reload(self) -> object:
        return {"reloaded": ["local_tokens"], "failed": {}}

    def machine_keys(self) -> list[dict[str, Any]]:
        return [{"bits": 2048}]

    def rotate_machine_keys(self, answer: Deferred) -> None:
        answer.done([{"bits": 1024}])

    def export_machine_keys(self, answer: Deferred) -> None:
        answer.done({"guid": "g"})

    def trace(self, identifier: bytes, answer: Deferred) -> None:
        answer.done({"kept": True, "since": 1.0, "events": [{"place": identifier.hex()}]})

    def backup(self, file: str, answer: Deferred) -> None:
        self.backups.append((file, answer))

    def authenticate(self, token: str) -> Caller | None:
        return self._user if token == TOKEN else None

    def caller_named(self, principal: str) -> Caller:
        return sender_caller(parse_principal(principal, self.accounts))

    def refused(self, request: str, queue: str, messages: int, error: QueueError) -> None:
        self.refusals.append((request, queue, messages, error.code))
