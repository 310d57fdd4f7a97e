"""One queue manager of the simulation: its memory, its store, its clock and its service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import IPv4Address
from itertools import count
from typing import TYPE_CHECKING, Final
from uuid import UUID

from tests.core.invariants import Watch, check_engine
from tests.protocol.local.fake_service import FakeService

from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.core.transfer.checks.checks import CheckJob
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.protocol.binary.events import Connect, Disconnect, Event, SendPing
from openmsmq.protocol.binary.manager import BinaryProtocol
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.protocol.http import Connect as HttpConnect
from openmsmq.protocol.http import HttpSettings, HttpTransport
from openmsmq.protocol.srmp.manager import SrmpProtocol
from openmsmq.protocol.srmp.settings import SrmpSettings
from openmsmq.security.caller import unix_caller
from openmsmq.store.interface import Recovery, Write
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .disks import Disk, FileDisk, MemoryDisk
from .eager import EagerReceived, EagerReceiver
from .multicast import NodeMulticast
from .secured import POLICY, SecuredMachines
from .verifier import SlowVerifier
from .ways import ForgetfulSession, ForgetfulSettings, Ways
from .world import START_NOW, START_UTC, WEB_NUMBERS, Wire, World, is_web

if TYPE_CHECKING:
    from openmsmq.directory.interface import Directory

    from .client import Client

USER: Final = unix_caller(1000, [1000], service_uid=500)
_FLUSH: Final = 0.0005, 0.02
# Bytes of a write that has messages in it.
_TELLING: Final = 300
Effect = Callable[[], None]


def guid_at(address: str) -> UUID:
    """The identifier of the queue manager at an address."""
    return UUID(int=int(address.rsplit(".", 1)[1]) << 96 | 0x5155)


class Node:
    """One queue manager; `life` counts its starts."""

    def __init__(
        self,
        world: World,
        name: str,
        address: str,
        ways: Ways,
        directory: Directory | None = None,
        machines: SecuredMachines | None = None,
    ) -> None:
        self.world = world
        self.name = name
        self.address = address
        self.ways = ways
        self.directory = directory
        self.guid = guid_at(address)
        # Messages that it forwarded in former lives.
        self.forwarded = 0
        # The numbers of its queues in private names.
        self.numbers: dict[str, int] = {}
        self.settings = BinarySettings(window_size=ways.window_size)
        if ways.forgetful:
            self.settings = ForgetfulSettings(window_size=ways.window_size, forgets=self._forgets)
        seed = f"checks of {name} {world.seed}"
        self._workers = SlowVerifier(seed, ways.checks, self.guid.bytes_le)
        # A node that verifies signatures has the verifier of the product.
        self.verifier = self._workers if ways.checks and not ways.secure else None
        self._machines = machines
        self.disk: Disk = FileDisk(self.guid.bytes) if ways.files else MemoryDisk()
        # The state rows that the last start found.
        self.rows: list[tuple[int, bytes, bytes]] = []
        self.guids = count(1)
        self.life = 0
        self.up = False
        self.listening = True
        # Time of day here, against the true one.
        self.offset = 0.0
        # Whether its queues have retry policies.
        self.retries = False
        # When its clock was set.
        self.jumps: list[float] = []
        # How much slower the disk is.
        self.slowness = 1.0
        # The power goes during the next write.
        self.doomed = False
        self.crashes: list[float] = []
        self.wires: dict[int, Wire] = {}
        # Its living clients; and what they ask of the process around the queue manager.
        self.clients: dict[Client, None] = {}
        self.client_service = FakeService(USER)
        # What clients were shown in this life: packets by lookup id.
        self.shown: dict[int, bytes] = {}
        # Every batch up to this number is on disk, and what is true once later ones are.
        self.on_disk = 0
        self._unwritten: list[tuple[int, Effect]] = []
        # Are told what leaves, what it acknowledged and left out, and that it starts again.
        self.on_transmit: Callable[[Node, bytes], None] | None = None
        self.on_forgotten: Callable[[str], None] | None = None
        self.on_boot: Callable[[Node], None] | None = None
        self._timer: float | None = None
        self.qm: QueueManager
        self.engine: Engine
        self.binary: BinaryProtocol
        # None for a node that does not speak HTTP.
        self.http: HttpTransport | None = None
        self.srmp: SrmpProtocol | None = None
        # None for a node without multicast.
        self.multicast: NodeMulticast | None = None
        world.nodes[address] = world.nodes[name] = self
        self.boot()

    def _forgets(self) -> bool:
        return self.world.random.random() < self.ways.forgetful

    @property
    def utc(self) -> float:
        return START_UTC + self.world.now - START_NOW + self.offset

    def alive(self, life: int) -> bool:
        """Whether the node still runs as it did in that life."""
        return self.up and self.life == life

    # Start and stop

    def open(self, found: Recovery) -> QueueManager:
        """A queue manager from what a store has."""
        store, machines = self.disk.store, self._machines
        new = LocalQueueManager(
            QueueManagerObject(
                identifier=self.guid, computer_name=self.name, queue_manager_quota=UNLIMITED
            ),
            directory_integrated=self.directory is not None,
        )
        qm = QueueManager(
            found,
            new=new,
            guids=lambda: UUID(int=self.guid.int | next(self.guids) << 32),
            packets=store,
            scratch=store.scratch,
            directory=self.directory,
            settings=Settings(
                names=frozenset((self.address,)),
                memory_budget=self.ways.memory_budget,
                senders=POLICY,
            ),
            verifier=self.verifier,
            decryptor=None if machines is None else machines.decryption(self.name),
            now=self.world.now,
            utc=self.utc,
        )
        qm.start(MachineIdentity(self.name), None)
        return qm

    def boot(self) -> None:
        """Start from what is on disk."""
        self.life += 1
        self.up = True
        self._timer = None
        found = self.disk.start()
        self.rows = list(found.rows)
        self.qm = self.open(found)
        self.on_disk = 0
        self.engine = Engine(
            self.qm, self.disk.store, max_waiting_bytes=self.ways.max_waiting_bytes
        )
        self.watch = Watch(self.engine)
        check_engine(self.engine)
        encryption = None if self._machines is None else self._machines.encryption()
        self.binary = BinaryProtocol(
            self.qm, self.engine.gate, self.settings, encryption=encryption
        )
        if self.ways.eager:
            self.binary._receiver.__class__ = EagerReceiver
        self.engine.add_carrier(self.binary)
        self.engine.add_output(self._output, self._has_output)
        if self.ways.web:
            self._add_web()
        if self.world.groups is not None:
            self.multicast = NodeMulticast(self, self.world.groups)
        self.tick()
        if self.on_boot is not None:
            self.on_boot(self)
        self.binary.start(now=self.world.now)
        if self.srmp is not None:
            self.srmp.start(now=self.world.now)
        if self.multicast is not None:
            self.multicast.protocol.start(now=self.world.now)
        self.service()

    def _add_web(self) -> None:
        self.http = http = HttpTransport(HttpSettings())
        settings = SrmpSettings(http_host=self.address, https_host=self.address)
        self.srmp = srmp = SrmpProtocol(self.qm, self.engine.gate, http, settings)
        self.engine.add_carrier(srmp)
        self.engine.add_output(partial(self._web_output, http, srmp))

    def flush(self) -> None:
        """Make everything durable at once; for the first start and a clean stop."""
        if self.engine.writing is not None:
            self._finish()
        while self.engine.take_write() is not None:
            self._finish()

    def crash(self, down: float, *, clean: bool = False) -> None:
        """Lose what is not on disk, and every connection; start again later.

        A write that is under way is on disk or not, wholly: the store sees to that.
        """
        if not self.up:
            return
        self.world.say(f"{self.name} {'stops' if clean else 'crashes'} for {down:.1f} s")
        if clean:
            self._stop()
        number, write = self.engine.writing or (0, None)
        if self.disk.power_cut(write, self.world.random) and number:
            self._wrote(number)
        self._unwritten.clear()
        self.up = False
        self.forwarded += self.qm.counters.forwarded_messages.of("binary")
        for client in list(self.clients):
            client.cut_off()
        self.crashes.append(self.world.now)
        for wire in list(self.wires.values()):
            wire.drop_node(self)
        self.wires.clear()
        self.world.after(down, self.boot)

    def _stop(self) -> None:
        """Stop as the process does: first the clients, then the transfer."""
        self.tick()
        for client in self.clients:
            client.stop()
        self.flush()
        for client in list(self.clients):
            client.hang_up()
        self.tick()
        self.binary.stop(now=self.world.now)
        if self.srmp is not None:
            self.srmp.stop(now=self.world.now)
        if self.multicast is not None:
            self.multicast.protocol.stop(now=self.world.now)
        self.flush()
        self.service()

    # What the network does

    def tick(self) -> None:
        self.engine.enter(now=self.world.now, utc=self.utc)

    def accept(self, address: str, *, web: bool = False) -> int | None:
        self.tick()
        now = self.world.now
        if web:
            assert self.http is not None
            number = self.http.server.accept(address, secure=False, now=now)
            if number is not None:
                number += WEB_NUMBERS
        else:
            number = self.binary.accept(address, now=now)
            if number is not None:
                self._fit(number)
        self.service()
        return number

    def connected(self, number: int, address: str) -> None:
        self.tick()
        if is_web(number):
            assert self.http is not None
            self.http.connected(number - WEB_NUMBERS, address, now=self.world.now)
        else:
            self.binary.connected(number, address, now=self.world.now)
            self._fit(number)
        self.service()

    def _fit(self, number: int) -> None:
        """Make a new session behave as this node does."""
        connection = self.binary._connections.by_number.get(number)
        if connection is None:
            return
        if self.ways.eager:
            connection.session.received = EagerReceived(self._forgotten)
        if self.ways.forgetful:
            connection.session.__class__ = ForgetfulSession

    def _forgotten(self, tag: str) -> None:
        self.world.say(f"{self.name} acknowledged {tag} and leaves it out")
        if self.on_forgotten is not None:
            self.on_forgotten(tag)

    def connect_failed(self, number: int, status: ConnectionStatus) -> None:
        self.tick()
        if is_web(number):
            assert self.http is not None
            self.http.connect_failed(number - WEB_NUMBERS, status, "nobody accepts connections")
        else:
            self.binary.connect_failed(number, status, now=self.world.now)
        self.service()

    def receive_data(self, number: int, data: bytes) -> None:
        self.tick()
        if is_web(number):
            assert self.http is not None
            self.http.receive_data(number - WEB_NUMBERS, data, now=self.world.now)
        else:
            self.binary.receive_data(number, data, now=self.world.now)
        self.service()

    def connection_lost(self, number: int) -> None:
        self.tick()
        if is_web(number):
            assert self.http is not None
            self.http.connection_lost(number - WEB_NUMBERS)
        else:
            self.binary.connection_lost(number, now=self.world.now)
        self.service()

    def receive_datagram(
        self, life: int, data: bytes, source: str, group: IPv4Address | None
    ) -> None:
        """A packet of multicast arrives that was sent to this life of the node."""
        if self.alive(life):
            assert self.multicast is not None
            self.tick()
            self.multicast.protocol.receive_datagram(
                data, source=IPv4Address(source), group=group, now=self.world.now
            )
            self.service()

    # The engine by hand

    def operate(self) -> QueueManager:
        """The queue manager, to do something with; call `service` afterwards."""
        self.tick()
        return self.qm

    def service(self) -> None:
        """Do what follows from the last operation."""
        self.engine.work()
        self._start_jobs()
        self.watch.step()
        self._use_disk()
        self._arm()

    def _start_jobs(self) -> None:
        while (job := self.engine.take_job()) is not None:
            done = partial(self._job_done, self.life, job)
            self.world.after(self._workers.seconds(), done)

    def _job_done(self, life: int, job: CheckJob) -> None:
        if self.alive(life):
            job.run()
            self.tick()
            self.engine.job_done(job)
            self.service()

    def _has_output(self) -> bool:
        return any(self.binary.outputs)

    def _output(self) -> None:
        now = self.world.now
        while (command := self.binary.next_event()) is not None:
            self._obey(command)
        for number in self.binary.take_ready():
            wire = self.wires.get(number)
            while data := self.binary.data_to_send(number, now=now):
                if wire is not None:
                    self._transmit(wire, number, b"".join(data))

    def _web_output(self, http: HttpTransport, srmp: SrmpProtocol) -> None:
        """What the shell of HTTP does in each turn."""
        now = self.world.now
        srmp.turn(now=now)
        while (event := http.next_event()) is not None:
            number = event.connection + WEB_NUMBERS
            if isinstance(event, HttpConnect):
                self.world.connect(self, number, event.host)
            else:
                self._hang_up(number, f"{event.reason} {event.detail}", event.data)
        for each in http.take_ready():
            number = each + WEB_NUMBERS
            wire = self.wires.get(number)
            while data := http.data_to_send(each, now=now):
                if wire is not None:
                    self._transmit(wire, number, b"".join(data))

    def _transmit(self, wire: Wire, number: int, data: bytes) -> None:
        if self.on_transmit is not None:
            self.on_transmit(self, data)
        wire.send(self, number, data)

    def _obey(self, command: Event) -> None:
        if isinstance(command, Connect):
            self.world.connect(self, command.connection, command.host)
        elif isinstance(command, Disconnect):
            self.world.count(f"closed: {command.reason}")
            reason = f"{command.reason} {command.detail}"
            self._hang_up(command.connection, reason, command.data)
        else:
            assert isinstance(command, SendPing)

    def _hang_up(self, number: int, reason: str, data: Sequence[bytes]) -> None:
        wire = self.wires.get(number)
        self.world.say(f"{self.name} closes {number}: {reason}")
        if wire is not None:
            if data:
                wire.send(self, number, b"".join(data))
            wire.close(self, number)

    def _arm(self) -> None:
        time = self.engine.next_timer()
        if time is not None and (self._timer is None or time < self._timer):
            self._timer = time
            life = self.life
            self.world.at(time, lambda: self._wake(life, time))

    def _wake(self, life: int, time: float) -> None:
        if not self.alive(life) or self._timer != time:
            return
        self._timer = None
        self.engine.handle_timer(now=self.world.now, utc=self.utc)
        self.service()

    def jump(self, seconds: float) -> None:
        """The clock of this machine is set."""
        self.offset += seconds
        self.jumps.append(self.world.now)
        if self.up:
            self.tick()
            self._timer = None
            self.service()

    # The disk

    def _use_disk(self) -> None:
        step = self.engine.take_step()
        if step is not None:
            step.run()
            self.engine.stepped()
        write = self.engine.take_write()
        if write is None:
            return
        life = self.life
        random = self.world.random
        flush = random.uniform(*_FLUSH)
        delay = flush * self.slowness
        if self.doomed and write.size >= _TELLING:
            # Often the disk hesitates first, and what should wait for it has time to show. A disk
            # that is slow already hesitates no longer than that: the power would never go.
            self.doomed = False
            delay = max(delay, flush * random.choice((1.0, 20.0, 200.0)))
            self.world.after(delay * random.random(), lambda: self._power_cut(life))
        self.world.after(delay, lambda: self._written(life, write))

    def _power_cut(self, life: int) -> None:
        if self.alive(life):
            self.crash(self.world.random.choice((0.0, 0.1, 2.0, 30.0)))

    def _written(self, life: int, write: Write) -> None:
        writing = self.engine.writing
        if self.alive(life) and writing is not None and writing[1] is write:
            self.tick()
            self._finish()
            self.service()

    def _finish(self) -> None:
        """The write under way reaches the disk."""
        writing = self.engine.writing
        assert writing is not None
        number, write = writing
        self.disk.store.write(write)
        if number:
            self._wrote(number)
        self.engine.written()

    def _wrote(self, number: int) -> None:
        self.on_disk = number
        unwritten, self._unwritten = self._unwritten, []
        for depends, effect in unwritten:
            if depends <= number:
                effect()
            else:
                self._unwritten.append((depends, effect))

    def when_on_disk(self, depends: int, effect: Effect) -> None:
        """Let something count once a batch is on disk, and never if the batch is lost.

        The engine's gate has no part in this: it is what the gate is compared with.
        """
        if depends <= self.on_disk:
            effect()
        else:
            self._unwritten.append((depends, effect))
