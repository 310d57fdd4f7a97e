"""A queue manager with a store and a clock, driven by hand: no loop, no thread, no sleep."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar
from uuid import UUID

import pytest
from tests.core.invariants import check_engine

from openmsmq.core.events import Event, ReadEnded, ReadSatisfied
from openmsmq.core.messages.sending import Sent
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.model.message import Message
from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import Read
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.settings import MachineIdentity, Provisioning, Settings
from openmsmq.core.transactions.transactions import Transaction
from openmsmq.directory.interface import Directory
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.security.caller import Caller, unix_caller
from openmsmq.security.default_descriptor import default_machine_descriptor
from openmsmq.store.interface import Store
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.codes.algorithms import Provider
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.names.queue_address import direct_address

E = TypeVar("E", bound=Event)

QM_GUID = UUID("11111111-2222-3333-4444-555555555555")
OTHER_GUID = UUID("99999999-2222-3333-4444-555555555555")
USER = unix_caller(1000, [1000], service_uid=500)
STRANGER = unix_caller(1001, [1001], service_uid=500)
ADMINISTRATOR = unix_caller(0, [0], service_uid=500)
ORDERS = r".\private$\orders"
START_UTC = 1_700_000_000.0

RECEIVE = QueueAccessType.RECEIVE
SEND = QueueAccessType.SEND
PEEK = QueueAccessType.PEEK
MOVE = QueueAccessType.MOVE


def packet(body: bytes = b"body", **properties: Any) -> bytes:
    """A packet as a client builds it."""
    properties.setdefault("destination_queue", direct_address(r"OS:qm\private$\orders"))
    properties.setdefault("delivery_mode", 1)
    return build_user_message(body=body, **properties)


def runs_of(*messages: UserMessage) -> list[UserMessageRun]:
    """Messages as a protocol delivers them, each by itself."""
    return [UserMessageRun(message) for message in messages]


def bodies(read: Read | ReadRequest) -> list[bytes]:
    """The bodies that a read returned."""
    assert isinstance(read, Read)
    return [UserMessage(each).body for each in read.packets]


def refused(name: str) -> pytest.RaisesExc[QueueError]:
    """Expect the error with this name."""
    return pytest.raises(QueueError, match=rf"{name}\b")


@dataclass(frozen=True)
class Tag:
    """Names a waiting read; its end is looked for among the events, no engine tells of it."""

    name: object

    def satisfied(self, event: ReadSatisfied) -> None:
        raise AssertionError(event)

    def ended(self, event: ReadEnded) -> None:
        raise AssertionError(event)


class FakeKeys:
    """Keys that say what they were made for."""

    def exchange_key(self, provider: Provider) -> bytes:
        return f"exchange {provider.name} {provider.rsa_bits}".encode()

    def signing_key(self, provider: Provider) -> bytes:
        return f"signing {provider.name} {provider.rsa_bits}".encode()


class Harness:
    """Owns a store and a queue manager over it; `restart` makes a new one from the store."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        reopen: Callable[[], Store] | None = None,
        settings: Settings | None = None,
        directory: Directory | None = None,
    ) -> None:
        self.store: Store = store if store is not None else MemoryStore()
        self._reopen = reopen
        self.settings = settings or Settings()
        self.directory = directory
        self.now = 1000.0
        self.utc = START_UTC
        self._guids = count(1)
        self.events: list[Event] = []
        self._new = True
        self.qm = self._start()

    def _start(self) -> QueueManager:
        new = LocalQueueManager(
            QueueManagerObject(
                identifier=QM_GUID,
                computer_name="QM",
                queue_manager_quota=UNLIMITED,
                security=default_machine_descriptor(ADMINISTRATOR.sid).serialize(),
            ),
            directory_integrated=self.directory is not None,
        )
        qm = QueueManager(
            self.store.recover(None),
            new=new,
            guids=lambda: UUID(int=next(self._guids) << 64 | 0xABCD),
            packets=self.store,
            scratch=self.store.scratch,
            directory=self.directory,
            settings=self.settings,
            now=self.now,
            utc=self.utc,
        )
        provisioning = None
        if self._new:
            provisioning = Provisioning(FakeKeys())
            self._new = False
        self.engine = Engine(qm, self.store)
        qm.start(MachineIdentity("QM"), provisioning)
        return qm

    # The engine by hand

    def flush(self) -> int:
        """Make everything durable that is there; return the number of the last batch."""
        self.engine.flush()
        check_engine(self.engine)
        return self.engine.gate.durable_number

    def crash(self) -> None:
        """Forget everything that is not in the store, and start again."""
        if self._reopen is not None:
            self.store = self._reopen()
        self.events.clear()
        self.qm = self._start()
        check_engine(self.engine)

    def restart(self) -> None:
        """Stop cleanly and start again."""
        self.flush()
        self.crash()

    def advance(self, seconds: float) -> None:
        """Let time pass and the timers run."""
        self.now += seconds
        self.utc += seconds
        self.qm.handle_timer(now=self.now, utc=self.utc)
        check_engine(self.engine)

    def take_events(self, kind: type[E]) -> list[E]:
        """The events of one kind since they were last asked for."""
        self.settle()
        found = [event for event in self.events if isinstance(event, kind)]
        self.events = [event for event in self.events if not isinstance(event, kind)]
        return found

    def settle(self) -> None:
        """End the turn: what the operations left to its end happens now."""
        self.events += self.qm.take_events()
        check_engine(self.engine)

    # Shorter calls

    def guid(self) -> UUID:
        """A new GUID, for transactions."""
        return UUID(int=next(self._guids) << 64 | 0xDCBA)

    def create(self, path: str = ORDERS, *, caller: Caller = USER, **attributes: Any) -> Queue:
        return self.qm.create_queue(path, caller=caller, **attributes).value

    def open(
        self,
        access: QueueAccessType,
        name: str = ORDERS,
        *,
        share: ShareMode = ShareMode.DENY_NONE,
        caller: Caller = USER,
    ) -> OpenQueueDescriptor:
        return self.qm.open_queue(name, access, share=share, caller=caller)

    def send(
        self,
        *contents: bytes,
        name: str = ORDERS,
        transaction: Transaction | None = None,
        deadletter_queue: str = "",
        **properties: Any,
    ) -> Sent:
        descriptor = self.open(SEND, name)
        sent = self.qm.traffic.enqueue_many(
            descriptor,
            [packet(body, **properties) for body in contents],
            transaction,
            deadletter_queue=deadletter_queue,
        )
        self.qm.close_queue(descriptor)
        check_engine(self.engine)
        return sent

    def drain(self, name: str = ORDERS, *, caller: Caller = USER) -> list[bytes]:
        """Receive all bodies of a queue."""
        descriptor = self.open(RECEIVE, name, caller=caller)
        try:
            return bodies(
                self.qm.traffic.dequeue_many(
                    descriptor, max_count=1_000_000, max_bytes=1 << 40, timeout=0
                )
            )
        except QueueError:
            return []
        finally:
            self.qm.close_queue(descriptor)

    def contents(self, name: str = ORDERS) -> list[bytes]:
        """The bodies of all visible messages of a queue, in queue order, without an open."""
        self.settle()
        queue = self.qm.find_queue(name)
        return [self.body(message) for message in queue.lanes]

    def body(self, message: Message) -> bytes:
        return UserMessage(packet_of(self.qm.state, message)).body
