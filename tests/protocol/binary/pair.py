"""Queue managers on a tiny deterministic network: no sockets, no clock, no threads.

Bytes arrive at once and in order; a link can be cut, stalled or split into small pieces. Virtual
time runs in `advance`. Every node has a store of its own and survives `crash` and `restart`.
"""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Protocol
from uuid import UUID

from tests.core.invariants import check_engine
from tests.core.peer_counts import peer_counts

from openmsmq.core.events import Event as CoreEvent
from openmsmq.core.messages.sending import Sent
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import Read
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.core.transfer.checks.checks import CheckJob, Verifier
from openmsmq.core.transfer.checks.message_checks import Decryptor
from openmsmq.directory.interface import Directory
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.protocol.binary.events import Connect, Disconnect, SendPing
from openmsmq.protocol.binary.manager import BinaryProtocol
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.security.caller import unix_caller
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.store.interface import Store
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.order_ack import is_order_queue

START_NOW = 1000.0
START_UTC = 1_700_000_000.0
USER = unix_caller(1000, [1000], service_uid=500)
ADMINISTRATOR = unix_caller(0, [0], service_uid=500)
ORDERS = r"private$\orders"


class Copy:
    """What a restored store has."""

    restored = True

    def __init__(
        self, messages: Iterable[tuple[int, bytes, int]], rows: Iterable[tuple[int, bytes, bytes]]
    ) -> None:
        self.messages = messages
        self.rows = rows


class Node:
    """One queue manager with its store and its protocol."""

    def __init__(
        self,
        network: "Network",
        name: str,
        address: str,
        *,
        settings: BinarySettings | None = None,
        core_settings: Settings | None = None,
        directory: Directory | None = None,
        store: Store | None = None,
        verifier: Verifier | None = None,
        decryptor: Callable[[], Decryptor] | None = None,
        encryption: Callable[[], BodyEncryption] | None = None,
    ) -> None:
        self.network = network
        # Made anew with each start.
        self._decryptor = decryptor
        self._encryption = encryption
        self.name = name
        self.address = address
        self.settings = settings or BinarySettings()
        self.core_settings = core_settings or Settings(names=frozenset((address,)))
        self.directory = directory
        self.guid = UUID(int=int(address.rsplit(".", 1)[1]) << 96 | 0x5155)
        self.store: Store = store or MemoryStore()
        self._guids = count(1)
        self.listening = True
        # While False nothing becomes durable.
        self.flushing = True
        self.verifier = verifier
        # While False jobs wait in `jobs`.
        self.checking = True
        self.jobs: list[CheckJob] = []
        self.events: list[CoreEvent] = []
        self.disconnects: list[Disconnect] = []
        self.pings: list[SendPing] = []
        self._happened = False
        self.qm: QueueManager
        self.engine: Engine
        self.binary: BinaryProtocol
        self.boot()

    def boot(self, *, restored: bool = False) -> None:
        """Start from what the store has, as a restored copy if that is said."""
        new = LocalQueueManager(
            QueueManagerObject(
                identifier=self.guid, computer_name=self.name, queue_manager_quota=UNLIMITED
            ),
            directory_integrated=self.directory is not None,
        )
        recovery = self.store.recover(None)
        self.qm = QueueManager(
            Copy(recovery.messages, recovery.rows) if restored else recovery,
            new=new,
            guids=lambda: UUID(int=self.guid.int | next(self._guids) << 32),
            packets=self.store,
            scratch=self.store.scratch,
            directory=self.directory,
            settings=self.core_settings,
            verifier=self.verifier,
            decryptor=self._decryptor() if self._decryptor is not None else None,
            now=self.network.now,
            utc=self.network.utc,
        )
        self.qm.start(MachineIdentity(self.name), None)
        self.engine = Engine(self.qm, self.store)
        encryption = self._encryption() if self._encryption is not None else None
        self.binary = BinaryProtocol(self.qm, self.engine.gate, self.settings, encryption)
        self.engine.add_carrier(self.binary)
        self.engine.add_output(self._output, self._has_output)
        for kind in CoreEvent.__subclasses__():
            self.engine.listen(kind, self._note)
        self.engine.enter(now=self.network.now, utc=self.network.utc)
        self.binary.start(now=self.network.now)

    @property
    def counts(self) -> dict[str, int]:
        """What the queue manager has counted about its peers, by reason."""
        return peer_counts(self.qm)

    def crash(self, *, restored: bool = False) -> None:
        """Lose what is not on disk, and every connection; start again."""
        for wire in self.network.wires_of(self):
            wire.break_from(self)
        for raw in self.network.raw:
            if raw.node is self:
                raw.connection = -1
        self.events.clear()
        self.jobs.clear()
        self.boot(restored=restored)

    def restart(self) -> None:
        """Stop cleanly, then start again."""
        self.binary.stop(now=self.network.now)
        self.flush()
        self.crash()

    # The engine by hand

    def tick(self) -> bool:
        """One turn of the engine; whether anything happened."""
        self.engine.enter(now=self.network.now, utc=self.network.utc)
        self._happened = self.flush() if self.flushing else False
        self.engine.work()
        while (job := self.engine.take_job()) is not None:
            self.jobs.append(job)
        while self.jobs and self.checking:
            self.finish_job()
            self._happened = True
        check_engine(self.engine)
        return self._happened

    def finish_job(self, at: int = 0) -> None:
        """Run one of the jobs that wait, as a worker does."""
        job = self.jobs.pop(at)
        error = None
        try:
            job.run()
        except ArithmeticError as exc:
            error = exc
        self.engine.job_done(job, error)

    def flush(self) -> bool:
        """Make everything durable that is there; whether there was anything."""
        before = self.engine.gate.durable_number
        self.engine.flush()
        return self.engine.gate.durable_number > before

    def _note(self, event: CoreEvent) -> None:
        self.events.append(event)
        self._happened = True

    def _has_output(self) -> bool:
        return any(self.binary.outputs)

    def _output(self) -> None:
        while (command := self.binary.next_event()) is not None:
            self._obey(command)
            self._happened = True
        for number in self.binary.take_ready():
            wire = self.network.wires.get((self, number))
            raw = self.network.raw_end(self, number)
            while data := self.binary.data_to_send(number, now=self.network.now):
                self._happened = True
                if wire is not None:
                    wire.send(self, b"".join(data))
                elif raw is not None:
                    raw.feed(b"".join(data))

    def _obey(self, command: Connect | SendPing | Disconnect) -> None:
        if isinstance(command, Connect):
            self.network.connect(self, command)
        elif isinstance(command, SendPing):
            self.pings.append(command)
            self.network.ping(self, command)
        else:
            self.disconnects.append(command)
            raw = self.network.raw_end(self, command.connection)
            if raw is not None:
                raw.feed(b"".join(command.data))
                raw.closed = command
            wire = self.network.wires.get((self, command.connection))
            if wire is not None:
                if command.data:
                    wire.send(self, b"".join(command.data))
                wire.close_from(self)

    # Shorter calls

    def create(self, path: str = ORDERS, **attributes: Any) -> Queue:
        return self.qm.create_queue(f".\\{path}", caller=USER, **attributes).value

    def send(self, name: str, *contents: bytes, tx: bool = False, **properties: Any) -> Sent:
        """Send messages to a direct format name; `tx` puts them in one transaction."""
        deadletter_queue = properties.pop("deadletter_queue", "")
        properties.setdefault("delivery_mode", 1)
        properties.setdefault("destination_queue", direct_address(name.removeprefix("DIRECT=")))
        packets = [build_user_message(body=body, **properties) for body in contents]
        descriptor = self.qm.open_queue(name, QueueAccessType.SEND, caller=USER)
        transaction = self.qm.traffic.begin(UUID(int=next(self._guids))) if tx else None
        sent = self.qm.traffic.enqueue_many(
            descriptor, packets, transaction, deadletter_queue=deadletter_queue
        )
        if transaction is not None:
            self.qm.traffic.commit(transaction.identifier)
        self.qm.close_queue(descriptor)
        return sent

    def receive(self, path: str = ORDERS, *, limit: int = 1_000_000) -> list[bytes]:
        """Receive bodies from a local queue."""
        return [message.body for message in self.take(path, limit=limit)]

    def take(self, path: str = ORDERS, *, limit: int = 1_000_000) -> list[UserMessage]:
        """Receive messages from a local queue."""
        descriptor = self.qm.open_queue(f".\\{path}", QueueAccessType.RECEIVE, caller=USER)
        try:
            read = self.qm.traffic.dequeue_many(
                descriptor, max_count=limit, max_bytes=1 << 40, timeout=0
            )
        except QueueError:
            return []
        finally:
            self.qm.close_queue(descriptor)
        assert isinstance(read, Read)
        return [UserMessage(packet) for packet in read.packets]

    def messages(self, queue: Queue) -> list[UserMessage]:
        """What is visible in a queue, system queues included."""
        packets = packets_of(self.qm.state, list(queue.lanes))
        return [UserMessage(packet) for packet in packets]

    def bodies(self, path: str = ORDERS) -> list[bytes]:
        """The bodies of the visible messages of a local queue."""
        queue = self.qm.find_queue(f".\\{path}")
        return [message.body for message in self.messages(queue)]

    @property
    def journal(self) -> list[bytes]:
        return [message.body for message in self.messages(self.qm.state.machine_journal)]

    @property
    def deadletters(self) -> list[bytes]:
        return [message.body for message in self.messages(self.qm.state.deadletter)]

    @property
    def xact_deadletters(self) -> list[bytes]:
        return [message.body for message in self.messages(self.qm.state.xact_deadletter)]

    def outgoing(self, name: str) -> Queue:
        return self.qm.outgoing.find(name)


class Wire:
    """One connection; bytes are in two queues until the network moves them."""

    def __init__(self, network: "Network", ends: dict[Node, int]) -> None:
        self.network = network
        self.ends = ends
        self.queues: dict[Node, deque[bytes]] = {node: deque() for node in ends}
        self.closing: set[Node] = set()

    def other(self, node: Node) -> Node:
        return next(each for each in self.ends if each is not node)

    def send(self, node: Node, data: bytes) -> None:
        self.queues[self.other(node)].append(data)

    def close_from(self, node: Node) -> None:
        """A clean end: what was sent before still arrives."""
        self.closing.add(self.other(node))
        self.network.wires.pop((node, self.ends[node]), None)
        self.queues[node].clear()

    def break_from(self, node: Node) -> None:
        """A node is gone: the other one notices."""
        self.queues[self.other(node)].clear()
        self.close_from(node)


class RawEnd(Protocol):
    """A peer that is no node."""

    node: Node
    connection: int
    closed: Disconnect | None

    def feed(self, data: bytes) -> None: ...

    def take(self, command: Connect) -> bool: ...


class Network:
    """Connects nodes by their addresses."""

    def __init__(self) -> None:
        self.now = START_NOW
        self.utc = START_UTC
        self.nodes: dict[str, Node] = {}
        self.hosts: dict[str, str] = {}
        self.wires: dict[tuple[Node, int], Wire] = {}
        self.stalled = False
        # Largest piece in which bytes arrive; 0 for as they were sent.
        self.piece = 0
        # Called with sender, receiver and bytes; what it returns arrives.
        self.tap: Callable[[Node, Node, bytes], bytes] | None = None
        self.log: list[tuple[str, bytes]] = []
        # Peers that are driven by hand.
        self.raw: list[RawEnd] = []

    def add(self, name: str, address: str, **options: Any) -> Node:
        node = self.nodes[address] = Node(self, name, address, **options)
        self.hosts[name.lower()] = self.hosts[address] = address
        return node

    def raw_end(self, node: Node, number: int) -> "RawEnd | None":
        ends = (raw for raw in self.raw if raw.node is node and raw.connection == number)
        return next(ends, None)

    def connect(self, node: Node, command: Connect) -> None:
        if any(raw.node is node and raw.take(command) for raw in self.raw):
            return
        address = self.hosts.get(command.host.lower())
        if address is None:
            status = ConnectionStatus.NAME_RESOLUTION_FAILURE
            node.binary.connect_failed(command.connection, status, now=self.now)
            return
        target = self.nodes[address]
        number = None
        if target.listening:
            target.qm.set_time(now=self.now, utc=self.utc)
            number = target.binary.accept(node.address, now=self.now)
        if number is None:
            status = ConnectionStatus.CONNECT_SOCKET_FAILURE
            node.binary.connect_failed(command.connection, status, now=self.now)
            return
        wire = Wire(self, {node: command.connection, target: number})
        self.wires[node, command.connection] = self.wires[target, number] = wire
        node.binary.connected(command.connection, address, now=self.now)

    def ping(self, node: Node, command: SendPing) -> None:
        address = self.hosts.get(command.host.lower())
        if address is None or not self.nodes[address].listening:
            return
        answer = self.nodes[address].binary.ping_request(command.datagram)
        if answer is not None:
            node.binary.ping_response(answer, now=self.now)

    def wires_of(self, node: Node) -> list[Wire]:
        return [wire for (end, _), wire in self.wires.items() if end is node]

    def cut(self) -> None:
        """Break every connection; what is under way is lost."""
        for (node, number), wire in list(self.wires.items()):
            wire.queues[node].clear()
            self.wires.pop((node, number), None)
            node.qm.set_time(now=self.now, utc=self.utc)
            node.binary.connection_lost(number, now=self.now)

    def run(self) -> None:
        """Let everything happen that needs no time."""
        happened = True
        while happened:
            happened = False
            for node in list(self.nodes.values()):
                happened |= node.tick()
            if not self.stalled:
                happened |= self._move()

    def _move(self) -> bool:
        moved = False
        for (node, number), wire in list(self.wires.items()):
            queue = wire.queues[node]
            while queue:
                moved = True
                data = queue.popleft()
                if self.tap is not None:
                    data = self.tap(wire.other(node), node, data)
                self.log.append((node.name, data))
                node.qm.set_time(now=self.now, utc=self.utc)
                for piece in self._pieces(data):
                    node.binary.receive_data(number, piece, now=self.now)
            if node in wire.closing and not queue:
                moved = True
                self.wires.pop((node, number), None)
                node.qm.set_time(now=self.now, utc=self.utc)
                node.binary.connection_lost(number, now=self.now)
        return moved

    def _pieces(self, data: bytes) -> list[bytes]:
        size = self.piece or max(len(data), 1)
        return [data[at : at + size] for at in range(0, len(data), size)]

    def advance(self, seconds: float) -> None:
        """Let time pass, stopping at every timer."""
        self.run()
        end = self.now + seconds
        while True:
            times = [end]
            for node in self.nodes.values():
                times += [
                    time
                    for time in (node.binary.next_timer(), node.qm.next_timer())
                    if time is not None
                ]
            step = max(min(times), self.now)
            self.utc += step - self.now
            self.now = step
            for node in list(self.nodes.values()):
                self._wake(node)
            self.run()
            if self.now >= end and not self._due():
                return

    def _wake(self, node: Node) -> None:
        time = node.qm.next_timer()
        if time is not None and time <= self.now:
            node.qm.handle_timer(now=self.now, utc=self.utc)
        node.qm.set_time(now=self.now, utc=self.utc)
        node.binary.handle_timer(now=self.now)

    def _due(self) -> bool:
        times = [node.binary.next_timer() for node in self.nodes.values()]
        return any(time is not None and time <= self.now for time in times)


def pair(**options: Any) -> tuple[Network, Node, Node]:
    """Nodes A and B, the latter with the queue `orders`."""
    queue = options.pop("queue", {})
    network = Network()
    a = network.add("A", "10.0.0.1", **options)
    b = network.add("B", "10.0.0.2", **options)
    b.create(**queue)
    network.run()
    return network, a, b


TO_B = rf"DIRECT=TCP:10.0.0.2\{ORDERS}"


def is_ack(message: UserMessage) -> bool:
    """Whether a message goes to an order queue."""
    destination = message.destination_queue
    return destination is not None and is_order_queue(destination)
