"""Queue managers that speak SRMP with each other over connections in memory."""

from __future__ import annotations

from itertools import count
from typing import Any
from uuid import UUID

from tests.core.harness import ADMINISTRATOR, START_UTC, USER
from tests.protocol.srmp.naive import NaiveHost, statuses

from openmsmq.core.events import Event
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import Read
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.core.transfer.checks.checks import Verifier
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.protocol.http import Connect, HttpSettings, HttpTransport
from openmsmq.protocol.srmp.manager import SrmpProtocol
from openmsmq.protocol.srmp.settings import SrmpSettings
from openmsmq.security.default_descriptor import default_machine_descriptor
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

ORDERS = r".\private$\orders"


class Node:
    """A queue manager; `restart` makes a new one from what is on disk."""

    def __init__(
        self,
        web: Web,
        name: str,
        number: int,
        *,
        core: dict[str, Any],
        srmp: dict[str, Any],
        http: HttpSettings,
        verifier: Verifier | None,
    ) -> None:
        self.web = web
        self.name = name
        self.guid = UUID(int=number)
        self.store = MemoryStore()
        self.events: list[Event] = []
        self._core = {"names": frozenset((name,)), **core}
        self._srmp = {"http_host": name, "https_host": name, **srmp}
        self._http = http
        self._verifier = verifier
        self._guids = count(number << 64)
        self._transactions = count(1)
        # Whether the disk writes nothing at the moment.
        self.stalled = False

    def start(self) -> None:
        self.start_core()
        self.http = HttpTransport(self._http)
        settings = SrmpSettings(**self._srmp)
        self.srmp = SrmpProtocol(self.qm, self.engine.gate, self.http, settings)
        self.engine.add_carrier(self.srmp)
        self.srmp.start(now=self.web.now)

    def start_core(self) -> None:
        """Start the queue manager without SRMP, as an older version did."""
        self.qm = QueueManager(
            self.store.recover(None),
            new=LocalQueueManager(
                QueueManagerObject(
                    self.guid,
                    computer_name=self.name.upper(),
                    queue_manager_quota=UNLIMITED,
                    security=default_machine_descriptor(ADMINISTRATOR.sid).serialize(),
                ),
                directory_integrated=False,
            ),
            guids=lambda: UUID(int=next(self._guids)),
            packets=self.store,
            settings=Settings(**self._core),
            verifier=self._verifier,
            now=self.web.now,
            utc=self.web.utc,
        )
        self.qm.start(MachineIdentity(self.name.upper()))
        self.engine = Engine(self.qm, self.store)

    def restart(self) -> None:
        """Crash, and start again from what is on disk."""
        self.web.cut(self)
        self.start()

    def enter(self) -> None:
        self.engine.enter(now=self.web.now, utc=self.web.utc)

    def work(self, *, flush: bool = True) -> None:
        """One turn."""
        self.enter()
        self.srmp.turn(now=self.web.now)
        self.engine.work()
        if flush and not self.stalled:
            self.engine.flush()
            self.engine.work()
            self.engine.flush()
            self.engine.work()

    # What programs do

    def create(self, path: str = ORDERS, **attributes: Any) -> Queue:
        self.enter()
        return self.qm.create_queue(path, caller=USER, **attributes).value

    def send(self, url: str, *bodies: bytes, tx: bool = False, **properties: Any) -> None:
        self.enter()
        deadletter_queue = properties.pop("deadletter_queue", "")
        properties.setdefault("delivery_mode", 0)
        if isinstance(properties.get("admin_queue"), str):
            properties["admin_queue"] = direct_address(properties["admin_queue"])
        packets = [
            build_user_message(body=body, destination_queue=direct_address(url), **properties)
            for body in bodies
        ]
        descriptor = self.qm.open_queue(f"DIRECT={url}", QueueAccessType.SEND, caller=USER)
        transaction = self.qm.traffic.begin(UUID(int=next(self._transactions))) if tx else None
        self.qm.traffic.enqueue_many(
            descriptor, packets, transaction, deadletter_queue=deadletter_queue
        )
        if transaction is not None:
            self.qm.traffic.commit(transaction.identifier)
        self.qm.close_queue(descriptor)

    def send_to(self, name: str, body: bytes, **properties: Any) -> None:
        """Send a message to any name."""
        self.enter()
        address = direct_address(name.removeprefix("DIRECT="))
        packet = build_user_message(body=body, destination_queue=address, **properties)
        descriptor = self.qm.open_queue(name, QueueAccessType.SEND, caller=USER)
        self.qm.traffic.enqueue_many(descriptor, [packet])
        self.qm.close_queue(descriptor)

    def send_to_several(self, urls: list[str], body: bytes) -> None:
        """Send a message to a multiple-element name."""
        self.enter()
        name = ",".join(f"DIRECT={each}" for each in urls)
        packet = build_user_message(body=body, destination_queue=direct_address(urls[0]))
        descriptor = self.qm.open_queue(name, QueueAccessType.SEND, caller=USER)
        self.qm.traffic.enqueue_many(descriptor, [packet])
        self.qm.close_queue(descriptor)

    def messages(self, path: str = ORDERS) -> list[UserMessage]:
        queue = self.qm.find_queue(path)
        return [UserMessage(packet) for packet in packets_of(self.qm.state, list(queue.lanes))]

    def bodies(self, path: str = ORDERS) -> list[bytes]:
        return [message.body for message in self.messages(path)]

    def receive(self, path: str = ORDERS) -> list[UserMessage]:
        self.enter()
        descriptor = self.qm.open_queue(path, QueueAccessType.RECEIVE, caller=USER)
        read = self.qm.traffic.dequeue_many(descriptor, max_count=1000, timeout=0)
        self.qm.close_queue(descriptor)
        assert isinstance(read, Read)
        return [UserMessage(packet) for packet in read.packets]

    def purge(self, path: str = ORDERS) -> None:
        self.enter()
        descriptor = self.qm.open_queue(path, QueueAccessType.RECEIVE, caller=USER)
        self.qm.traffic.purge(descriptor)
        self.qm.close_queue(descriptor)

    def purge_outgoing(self, url: str) -> None:
        self.enter()
        descriptor = self.qm.open_queue(
            f"DIRECT={url}", QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR
        )
        self.qm.traffic.purge(descriptor)
        self.qm.close_queue(descriptor)

    def move_away(self, url: str) -> None:
        """Move the messages of an outgoing queue into a queue here."""
        self.enter()
        source = self.qm.open_queue(
            f"DIRECT={url}", QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR
        )
        target = self.qm.open_queue(ORDERS, QueueAccessType.MOVE, caller=USER)
        self.qm.traffic.move_many(source, target)
        self.qm.close_queue(target)
        self.qm.close_queue(source)

    def outgoing(self, url: str) -> Queue:
        return self.qm.outgoing.find(f"DIRECT={url}")


class Web:
    """Machines and the connections between them; time goes on only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.utc = START_UTC
        self.nodes: dict[str, Node] = {}
        # Both ends of each connection, each as a node and the number it has there.
        self.links: dict[tuple[str, int], tuple[str, int]] = {}
        # Hosts that cannot be reached; what was written, by the name of the writer.
        self.down: set[str] = set()
        self.written: dict[str, bytes] = {}
        # Machines whose answers get lost: the connection breaks instead.
        self.mute: set[str] = set()
        # Hosts without a queue manager of ours, and the numbers of connections to them.
        self.hosts: dict[str, NaiveHost] = {}
        self._numbers = count(1)

    def node(
        self,
        name: str,
        *,
        core: dict[str, Any] | None = None,
        srmp: dict[str, Any] | None = None,
        http: HttpSettings | None = None,
        verifier: Verifier | None = None,
        start: bool = True,
    ) -> Node:
        number = len(self.nodes) + 0xA0
        node = Node(
            self,
            name,
            number,
            core=core or {},
            srmp=srmp or {},
            http=http or HttpSettings(),
            verifier=verifier,
        )
        self.nodes[name] = node
        if start:
            node.start()
        self.written[name] = b""
        return node

    def cut(self, node: Node) -> None:
        """Break all connections of a machine."""
        for end, other in list(self.links.items()):
            if end[0] == node.name:
                del self.links[end]
                node.http.connection_lost(end[1])
                if self.links.pop(other, None) is None:
                    continue
                self.nodes[other[0]].enter()
                self.nodes[other[0]].http.connection_lost(other[1])

    def pass_time(self, seconds: float) -> None:
        """Let time go on; timers that are due run in their order."""
        end = self.now + seconds
        while True:
            timers = [node.engine.next_timer() for node in self.nodes.values()]
            due = min([time for time in timers if time is not None], default=end)
            due = min(max(due, self.now), end)
            self.utc += due - self.now
            self.now = due
            for node in self.nodes.values():
                node.engine.handle_timer(now=self.now, utc=self.utc)
            self.run()
            if self.now >= end:
                return

    def run(self) -> None:
        """Let everything happen that takes no time."""
        busy = True
        while busy:
            busy = False
            for node in self.nodes.values():
                node.work()
                busy |= self.connect(node)
                busy |= self.move(node)

    def connect(self, node: Node) -> bool:
        """Make and break the connections that a machine asks for; whether there were any."""
        busy = False
        while (event := node.http.next_event()) is not None:
            busy = True
            end = node.name, event.connection
            if not isinstance(event, Connect):
                other = self.links.pop(end, None)
                if other is not None and other in self.links:
                    del self.links[other]
                    self.nodes[other[0]].http.connection_lost(other[1])
                continue
            if event.host in self.hosts and event.host not in self.down:
                self.links[end] = event.host, next(self._numbers)
                node.http.connected(event.connection, event.host, now=self.now)
                continue
            host = self.nodes.get(event.host)
            number = (
                host.http.server.accept(node.name, secure=event.secure, now=self.now)
                if host is not None and event.host not in self.down
                else None
            )
            if host is None or number is None:
                node.http.connect_failed(
                    event.connection,
                    ConnectionStatus.CONNECT_SOCKET_FAILURE,
                    f"{event.host} accepts no connections",
                )
                continue
            self.links[end] = host.name, number
            self.links[host.name, number] = end
            node.http.connected(event.connection, host.name, now=self.now)
        return busy

    def move(self, node: Node) -> bool:
        """Carry what a machine has written; whether there was anything."""
        busy = False
        for number in node.http.take_ready():
            other = self.links.get((node.name, number))
            if other is None:
                continue
            data = b"".join(node.http.data_to_send(number, now=self.now))
            if not data:
                continue
            busy = True
            self.written[node.name] += data
            if other[0] in self.hosts:
                self._answer(node, number, other, data)
                continue
            if node.name in self.mute and number & 1:
                del self.links[node.name, number], self.links[other]
                node.http.connection_lost(number)
                self.nodes[other[0]].http.connection_lost(other[1])
                continue
            if self.carry(node, number, data):
                self.nodes[other[0]].enter()
                self.nodes[other[0]].http.receive_data(other[1], data, now=self.now)
        return busy

    def carry(self, node: Node, number: int, data: bytes) -> bool:  # noqa: ARG002 - for storms
        """Whether data of a connection arrives."""
        return True

    def _answer(self, node: Node, number: int, other: tuple[str, int], data: bytes) -> None:
        answers = self.hosts[other[0]].receive(other[1], data)
        if answers is None:
            del self.links[node.name, number]
            node.http.connection_lost(number)
        elif answers:
            node.http.receive_data(number, answers, now=self.now)

    def post(self, node: Node, *requests: bytes) -> list[int]:
        """Post requests on one new connection, all in one read; the statuses of the answers."""
        number = self.knock(node, *requests)
        self.run()
        return statuses(self.hear(node, number))

    def knock(self, node: Node, *requests: bytes) -> int:
        """Write requests on a new connection; its number."""
        node.enter()
        number = node.http.server.accept("peer", secure=False, now=self.now)
        assert number is not None
        node.http.receive_data(number, b"".join(requests), now=self.now)
        return number

    def hear(self, node: Node, number: int) -> bytes:
        """What a machine wrote on a connection of `knock` so far."""
        heard = b""
        while data := node.http.data_to_send(number, now=self.now):
            heard += b"".join(data)
        return heard


def pair(**srmp: Any) -> tuple[Web, Node, Node]:
    """Two machines, `alpha` and `beta`."""
    web = Web()
    alpha, beta = web.node("alpha", srmp=srmp), web.node("beta", srmp=srmp)
    web.run()
    return web, alpha, beta


def url(node: Node, queue: str = "orders") -> str:
    """The URL of a private queue of a machine."""
    return f"http://{node.name}/msmq/private$/{queue}"
