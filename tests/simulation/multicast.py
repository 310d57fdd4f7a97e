"""Multicast of a simulation: its packets are lost, doubled, delayed and overtake each other.

Each node has a queue that listens to one group, and sends to that group now and then. Nobody reads
these queues, so that at the end they show what came. What must hold:
- No queue has a message that was not sent.
- No queue has a recoverable message twice: the history survives a crash. An express one comes twice
  only if its source or its destination lost its memory meanwhile.
- Where neither of the two crashed, all messages come, in order, from the first that came: a
  receiver that hears of a source for the first time may miss what was sent before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from random import Random
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.protocol.multicast.events import Join, Leave, OpenSocket
from openmsmq.protocol.multicast.manager import MulticastProtocol
from openmsmq.protocol.multicast.settings import MulticastSettings, Randomness
from openmsmq.protocol.pgm import OutgoingDatagram, SourceSettings
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.message.user_message_builder import build_user_message

from .ledger import Violation, contents

if TYPE_CHECKING:
    from .node import Node
    from .world import World

GROUP: Final = "234.1.1.1:8001"
LISTENING: Final = r"private$\group"
_SENDS: Final = 40
_LOSS: Final = 0.05
_DOUBLED: Final = 0.03
_DELAY: Final = 0.001, 0.05
_SETTINGS: Final = MulticastSettings(source=SourceSettings(max_queued_bytes=16_384))
# Where neither end crashed, a receiver hears of a source before it has sent half of its messages.
_LEAST_PART: Final = 0.5


class NodeMulticast:
    """The multicast of a node in one life."""

    def __init__(self, node: Node, network: GroupNetwork) -> None:
        self._node = node
        self._network = network
        self.address: Final = IPv4Address(node.address)
        self.groups: set[IPv4Address] = set()
        dice = Random(f"multicast {node.world.seed} {node.name} {node.life}")
        randomness = Randomness(dice.randbytes(6), dice.random)
        self.protocol: Final = MulticastProtocol(node.qm, randomness, _SETTINGS)
        node.engine.add_carrier(self.protocol)
        node.engine.add_output(self._output)

    def _output(self) -> None:
        """What the shell does in each turn."""
        protocol, now = self.protocol, self._node.world.now
        protocol.turn()
        while (event := protocol.next_event()) is not None:
            if isinstance(event, OpenSocket):
                protocol.opened(self.address, now=now)
            elif isinstance(event, Join):
                self.groups.add(event.group)
            elif isinstance(event, Leave):
                self.groups.discard(event.group)
            else:
                self._node.world.count("lost by multicast")
        for datagram in protocol.datagrams_to_send(now=now):
            self._network.transmit(self._node, datagram)


class GroupNetwork:
    """The network of all nodes, with dice of its own."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.dice: Final = Random(f"multicast {world.seed}")
        self.calm = False

    def transmit(self, node: Node, datagram: OutgoingDatagram) -> None:
        """A node sends a packet to a group or to another node."""
        destination = datagram.destination
        assert isinstance(destination, IPv4Address)
        for target in dict.fromkeys(self._world.nodes.values()):
            multicast = target.multicast
            if multicast is None or not target.up:
                continue
            group = None if multicast.address == destination else destination
            if group is not None and group not in multicast.groups:
                continue
            copies = 1 + (self.dice.random() < _DOUBLED)
            if not self.calm and self.dice.random() < _LOSS:
                copies -= 1
            for _ in range(copies):
                arrive = partial(
                    target.receive_datagram, target.life, datagram.data, node.address, group
                )
                self._world.after(self.dice.uniform(*_DELAY), arrive)


@dataclass(eq=False, slots=True)
class _Sent:
    """One message to the group."""

    source: Node
    recoverable: bool
    sent_at: float
    # It is on disk, or needs not be.
    sent: bool = False


class MulticastTraffic:
    """Messages to a group, and the promises about them."""

    def __init__(self, world: World, network: GroupNetwork, nodes: list[Node]) -> None:
        self._world = world
        self._network = network
        self._nodes = nodes
        self.messages: dict[str, _Sent] = {}
        for node in nodes:
            node.operate().create_queue(
                f".\\{LISTENING}", caller=SYSTEM_CALLER, multicast_address=GROUP
            )
            node.service()
            node.flush()

    def schedule(self, seconds: float) -> None:
        dice = self._network.dice
        for _ in range(_SENDS):
            self._world.after(dice.uniform(0, seconds), self._send)

    def _send(self) -> None:
        dice = self._network.dice
        node = dice.choice(self._nodes)
        if not node.up:
            return
        qm = node.operate()
        descriptor = qm.open_queue(f"MULTICAST={GROUP}", QueueAccessType.SEND, caller=SYSTEM_CALLER)
        for _ in range(dice.randint(1, 3)):
            tag = f"multicast {len(self.messages):04d}"
            message = _Sent(node, dice.random() < 0.6, self._world.now)
            self.messages[tag] = message
            packet = build_user_message(
                body=tag.encode() + b"." * dice.choice((0, 100, 3_000, 9_000)),
                label=tag,
                destination_queue=None,
                delivery_mode=int(message.recoverable),
            )
            result = qm.traffic.enqueue_many(descriptor, [packet])
            node.when_on_disk(result.depends, partial(setattr, message, "sent", True))
        qm.close_queue(descriptor)
        node.service()

    def check(self) -> None:
        """Look at what came.

        Raises:
            Violation: a promise was broken.
        """
        for node in self._nodes:
            queue = node.qm.state.paths[LISTENING]
            tags = [message.label for message in contents(node, queue)]
            for tag in tags:
                message = self.messages[tag]
                if not message.sent:
                    raise Violation(f"{node.name} has {tag}, which was never sent")
                whole = not _crashed(message.sent_at, node, message.source)
                if tags.count(tag) > 1 and (message.recoverable or whole):
                    raise Violation(f"{node.name} has {tag} twice")
            # A node hears itself, too.
            for source in self._nodes:
                if not _crashed(0.0, node, source):
                    self._check_pair(source, node, tags)

    def _check_pair(self, source: Node, node: Node, tags: list[str]) -> None:
        """Neither of the two crashed."""
        sent = [tag for tag, message in self.messages.items() if message.source is source]
        came = [tag for tag in tags if self.messages[tag].source is source]
        if came != sent[len(sent) - len(came) :] or len(came) < _LEAST_PART * len(sent):
            raise Violation(f"{node.name} has {came} of {sent} from {source.name}")


def _crashed(since: float, *nodes: Node) -> bool:
    return any(crash >= since for node in nodes for crash in node.crashes)
