"""Queue managers in sites, with one directory, on the network of `pair`."""

from typing import Any
from uuid import UUID

from tests.directory.memory_file import directory_of
from tests.protocol.binary.ordered_traffic import traffic
from tests.protocol.binary.pair import ORDERS, Network, Node

from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import (
    Enterprise,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
)
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import private_address

ENTERPRISE = Enterprise(UUID(int=0xE), "corp")


def site(letter: str) -> UUID:
    """The identifier of the site with this letter."""
    return UUID(int=ord(letter) << 64)


def guid_of(number: int) -> UUID:
    """What `Node` calls the queue manager at 10.0.0.number."""
    return UUID(int=number << 96 | 0x5155)


class Routed:
    """A network whose queue managers are described by one directory.

    Args:
        machines: by number: the letters of the sites, and `*` if it is a routing server. Sites in
            lower case are foreign, and so are computers that are in no other site.
        links: two letters, the cost, and the numbers of the gates.
    """

    def __init__(
        self,
        machines: dict[int, str],
        links: tuple[tuple[str, int, tuple[int, ...]], ...] = (),
        **options: Any,
    ) -> None:
        self.network = Network()
        self.machines = {
            number: QueueManagerObject(
                identifier=guid_of(number),
                computer_name=f"N{number}",
                qualified_computer_name=f"10.0.0.{number}",
                site_identifier_list=tuple(site(letter) for letter in text.rstrip("*")),
                routing_server=text.endswith("*"),
                foreign_system=text.islower(),
            )
            for number, text in machines.items()
        }
        letters = sorted({letter for text in machines.values() for letter in text.rstrip("*")})
        self.links = [
            RoutingLink(
                identifier=UUID(int=0xF0 + at),
                actual_cost=cost,
                site1_identifier=site(ends[0]),
                site2_identifier=site(ends[1]),
                site_gate_identifier_list=tuple(map(guid_of, gates)),
            )
            for at, (ends, cost, gates) in enumerate(links)
        ]
        self.directory: LocalDirectory
        self.directory, self.file = directory_of(
            ENTERPRISE,
            *(Site(site(letter), letter, foreign_site=letter.islower()) for letter in letters),
            *self.machines.values(),
            *self.links,
        )
        self.nodes = {
            number: self.network.add(
                f"N{number}", f"10.0.0.{number}", directory=self.directory, **options
            )
            for number, machine in self.machines.items()
            if not machine.foreign_system
        }

    def __getitem__(self, number: int) -> Node:
        return self.nodes[number]

    def change(self, number: int, **attributes: Any) -> None:
        """Change what the directory says of a queue manager."""
        machine = self.machines[number]
        for name, value in attributes.items():
            setattr(machine, name, value)
        self.directory.write(machine, list(attributes), utc=self.network.utc)

    def name(self, number: int, path: str = ORDERS) -> str:
        """The format name of a queue of a queue manager."""
        queue = self.nodes[number].qm.find_queue(f".\\{path}")
        return rf"PRIVATE={self.nodes[number].guid}\{queue.properties.private_queue_number:08x}"

    def send(self, source: int, target: int, *bodies: bytes, **properties: Any) -> str:
        """Send messages to the queue of another one, by a name that is routed; return the name."""
        name = self.name(target)
        number = int(name.rpartition("\\")[2], 16)
        address = private_address(self.nodes[target].guid, number)
        self.nodes[source].send(name, *bodies, destination_queue=address, **properties)
        return name

    def publish(self, number: int, identifier: int) -> QueueObject:
        """A public queue of a queue manager, in the directory."""
        queue = QueueObject(
            identifier=UUID(int=identifier),
            queue_manager=guid_of(number),
            pathname=rf"N{number}\q{identifier}",
            qualified_pathname=rf"n{number}.example\q{identifier}",
        )
        self.directory.create(queue, utc=self.network.utc)
        return queue


def chain(*, transactional: bool = False, **options: Any) -> Routed:
    """Source 1 in site A, gates 2 in A and 3 in B, destination 4 in B with the queue."""
    routed = Routed({1: "A", 2: "A*", 3: "B*", 4: "B"}, (("AB", 1, (2, 3)),), **options)
    routed[4].create(transactional=transactional)
    return routed


def passed(routed: Routed, number: int) -> list[UserMessage]:
    """The messages with a body that arrived at a queue manager, acknowledgments left out."""
    return [
        message
        for message in traffic(routed.network, f"N{number}")
        if message.message_class == MessageClass.NORMAL
    ]
