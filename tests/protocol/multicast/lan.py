"""Queue managers that speak SRMP by multicast, beside HTTP, on a network in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from heapq import heappop, heappush
from ipaddress import IPv4Address
from random import Random
from typing import Any
from uuid import UUID

from tests.core.harness import ADMINISTRATOR, USER
from tests.protocol.srmp.web import Node, Web

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.transfer.checks.checks import Verifier
from openmsmq.protocol.http import HttpSettings
from openmsmq.protocol.multicast.events import Join, Leave, Lost, OpenSocket
from openmsmq.protocol.multicast.manager import MulticastProtocol
from openmsmq.protocol.multicast.settings import MulticastSettings, Randomness
from openmsmq.protocol.outgoing_status import OutgoingStatus
from openmsmq.protocol.pgm import OutgoingDatagram, ReceiverSettings, SourceSettings
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.pgm import DataPacket, SourcePathMessage, parse_packet

GROUP = "234.1.1.1:8001"
GROUP_ADDRESS = IPv4Address("234.1.1.1")
ONE, TWO = r".\private$\one", r".\private$\two"
# As a queue manager has it: messages stay in their queue until they leave.
SOURCE = SourceSettings(max_queued_bytes=16_384)


class LanNode(Node):
    """A queue manager with multicast, at an address of its own."""

    web: Lan

    def __init__(self, *args: Any, settings: MulticastSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.settings = settings
        self.address = IPv4Address(f"10.0.0.{self.guid.int - 0x9F}")
        self.groups: set[IPv4Address] = set()
        self.losses: list[Lost] = []
        # Why sockets cannot be opened; empty if they can.
        self.refused = ""
        self.life = 0

    def start(self) -> None:
        super().start()
        self.life += 1
        self.groups.clear()
        random = Random(f"{self.name} {self.life}")
        self.multicast = MulticastProtocol(
            self.qm, Randomness(random.randbytes(6), random.random), self.settings
        )
        self.engine.add_carrier(self.multicast)
        self.engine.add_output(self.output)
        self.multicast.start(now=self.web.now)

    def output(self) -> None:
        """What the shell does in each turn."""
        protocol, now = self.multicast, self.web.now
        protocol.turn()
        while (event := protocol.next_event()) is not None:
            if isinstance(event, OpenSocket):
                if self.refused:
                    status = ConnectionStatus.CREATE_SOCKET_FAILURE
                    protocol.open_failed(status, self.refused, now=now)
                else:
                    protocol.opened(self.address, now=now)
            elif isinstance(event, Join):
                if self.refused:
                    protocol.join_failed(event.group, now=now)
                else:
                    self.groups.add(event.group)
            elif isinstance(event, Leave):
                self.groups.discard(event.group)
            else:
                self.losses.append(event)
        for datagram in protocol.datagrams_to_send(now=now):
            self.web.transmit(self, datagram)

    # What programs do

    def listen(self, path: str = ONE, group: str = GROUP, **attributes: Any) -> Queue:
        return self.create(path, multicast_address=group, **attributes)

    def multicast_send(
        self, *bodies: bytes, group: str = GROUP, tx: bool = False, **properties: Any
    ) -> None:
        self.enter()
        properties = {"delivery_mode": 0, "destination_queue": None, **properties}
        packets = [build_user_message(body=body, **properties) for body in bodies]
        descriptor = self.qm.open_queue(f"MULTICAST={group}", QueueAccessType.SEND, caller=USER)
        transaction = self.qm.traffic.begin(UUID(int=next(self._transactions))) if tx else None
        self.qm.traffic.enqueue_many(descriptor, packets, transaction)
        if transaction is not None:
            self.qm.traffic.commit(transaction.identifier)
        self.qm.close_queue(descriptor)

    def waiting(self, group: str = GROUP) -> Queue:
        return self.qm.outgoing.find(f"MULTICAST={group}")

    def status(self, group: str = GROUP) -> OutgoingStatus:
        status = self.multicast.outgoing_status(self.waiting(group), now=self.web.now)
        assert status is not None
        return status

    def counts(self) -> dict[str, int]:
        return {name: count for name, count in self.multicast.packet_counts() if count}


class Lan(Web):
    """Machines on one network that loses, doubles and delays packets, if it is told to."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.dice = Random(seed)
        self.loss = self.duplicates = 0.0
        self.delays = 0.001, 0.001
        self.lan_nodes: dict[str, LanNode] = {}
        # Whether a packet arrives, for tests that choose which ones do.
        self.passes: Callable[[LanNode, LanNode, OutgoingDatagram], bool] | None = None
        self.transmitted: list[tuple[LanNode, OutgoingDatagram]] = []
        self._moving: list[tuple[float, int, LanNode, bytes, IPv4Address, IPv4Address | None]] = []
        self._count = 0

    def machine(
        self,
        name: str,
        *,
        verifier: Verifier | None = None,
        start: bool = True,
        source: SourceSettings = SOURCE,
        receiver: ReceiverSettings | None = None,
        **settings: Any,
    ) -> LanNode:
        node = LanNode(
            self,
            name,
            len(self.nodes) + 0xA0,
            core={},
            srmp={},
            http=HttpSettings(),
            verifier=verifier,
            settings=MulticastSettings(
                source=source, receiver=receiver or ReceiverSettings(), **settings
            ),
        )
        self.nodes[name] = self.lan_nodes[name] = node
        self.written[name] = b""
        if start:
            node.start()
        return node

    def transmit(self, node: LanNode, datagram: OutgoingDatagram) -> None:
        """A machine sends a packet to a group or to one machine."""
        self.transmitted.append((node, datagram))
        destination = datagram.destination
        assert isinstance(destination, IPv4Address)
        for target in self.lan_nodes.values():
            group = None if target.address == destination else destination
            if group is not None and group not in target.groups:
                continue
            if self.passes is not None and not self.passes(node, target, datagram):
                continue
            copies = 0 if self.dice.random() < self.loss else 1
            copies += self.dice.random() < self.duplicates
            for _ in range(copies):
                self.bring(target, datagram.data, node.address, group)

    def bring(
        self,
        target: LanNode,
        data: bytes,
        source: IPv4Address,
        group: IPv4Address | None = GROUP_ADDRESS,
    ) -> None:
        """A packet is on its way."""
        self._count += 1
        time = self.now + self.dice.uniform(*self.delays)
        heappush(self._moving, (time, self._count, target, data, source, group))

    def pass_time(self, seconds: float) -> None:
        """Let time go on, from one packet or timer to the next."""
        end = self.now + seconds
        self.run()
        while True:
            times = [node.engine.next_timer() for node in self.nodes.values()]
            times += [entry[0] for entry in self._moving[:1]]
            due = min([time for time in times if time is not None], default=end)
            due = min(max(due, self.now), end)
            self.utc += due - self.now
            self.now = due
            while self._moving and self._moving[0][0] <= self.now:
                _, _, target, data, source, group = heappop(self._moving)
                target.enter()
                target.multicast.receive_datagram(data, source=source, group=group, now=self.now)
            for node in self.nodes.values():
                node.engine.handle_timer(now=self.now, utc=self.utc)
            self.run()
            if self.now >= end:
                return


def lan_pair(seed: int = 0, **settings: Any) -> tuple[Lan, LanNode, LanNode]:
    """Two machines, of which `beta` has a queue that listens."""
    lan = Lan(seed)
    alpha, beta = lan.machine("alpha", **settings), lan.machine("beta", **settings)
    beta.listen()
    lan.run()
    return lan, alpha, beta


def fast(**changes: Any) -> SourceSettings:
    """A source that is not slowed down."""
    return replace(SOURCE, txw_max_rte=1e7, **changes)


def data_of(lan: Lan, node: LanNode) -> list[DataPacket]:
    packets = [parse_packet(datagram.data) for each, datagram in lan.transmitted if each is node]
    return [packet for packet in packets if isinstance(packet, DataPacket)]


def spms_of(lan: Lan, node: LanNode) -> list[SourcePathMessage]:
    packets = [parse_packet(datagram.data) for each, datagram in lan.transmitted if each is node]
    return [packet for packet in packets if isinstance(packet, SourcePathMessage)]


def offline(node: LanNode, *, on: bool) -> None:
    node.qm.outgoing.set_online(active=not on, caller=ADMINISTRATOR)
