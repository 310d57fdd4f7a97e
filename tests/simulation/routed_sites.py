"""Sites, links and routers of a simulation, and how they change while messages are under way."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Final
from uuid import UUID

from tests.directory.memory_file import MemoryFile, directory_of

from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import Enterprise, QueueManagerObject, RoutingLink, Site

if TYPE_CHECKING:
    from .node import Node
    from .secured import SecuredMachines

_UTC: Final = 1_700_000_000.0
_FIRST: Final = UUID(int=0xA0)
_MIDDLE: Final = UUID(int=0xA1)
_LAST: Final = UUID(int=0xA2)
_CHANGES: Final = ("move", "move", "cost", "out", "in", "direct", "offline")


class RoutedSites:
    """A directory: machines in two sites, and one to three routers between these.

    Args:
        random: dice of its own.
        guids: of the machines, by name.
        routers: the names of the routers, in their order on the way.
        secured: the keys of the machines, if messages are signed and encrypted.
    """

    def __init__(
        self,
        random: Random,
        guids: dict[str, UUID],
        routers: list[str],
        secured: SecuredMachines | None = None,
    ) -> None:
        self._random = random
        # Without the directory nothing is signed, encrypted or believed.
        self._changes = _CHANGES if secured is None else _CHANGES[:-1]
        self.routers = routers
        self._ends = [name for name in guids if name not in routers]
        middle = [_MIDDLE] if len(routers) == 3 else []
        # A single router is in both sites.
        places: dict[str, tuple[UUID, ...]] = {routers[0]: (_FIRST,), routers[-1]: (_LAST,)}
        if len(routers) == 1:
            places[routers[0]] = (_FIRST, _LAST)
        elif middle:
            places[routers[1]] = (_MIDDLE,)
        for at, name in enumerate(self._ends):
            places[name] = (_FIRST,) if at == 0 else (_LAST,)
        self._machines = {
            name: QueueManagerObject(
                identifier=guid,
                computer_name=name,
                qualified_computer_name=name,
                site_identifier_list=places[name],
                routing_server=name in routers,
                public_encryption_key_list=b"" if secured is None else secured.key_list(name),
            )
            for name, guid in guids.items()
        }
        stops = [_FIRST, *middle, _LAST]
        gates = tuple(guids[name] for name in routers)
        self._links = [
            RoutingLink(
                UUID(int=0xF0 + at),
                site1_identifier=one,
                site2_identifier=two,
                site_gate_identifier_list=gates,
            )
            for at, (one, two) in enumerate(pairwise(stops))
        ]
        self._directory, self._file = directory_of(
            Enterprise(UUID(int=0xE), "corp"),
            *(Site(stop, f"site {at}") for at, stop in enumerate(stops)),
            *self._machines.values(),
            *self._links,
            *(() if secured is None else (secured.user,)),
        )

    def open(self) -> LocalDirectory:
        """The directory as one machine sees it."""
        return LocalDirectory(self._file.open())

    @property
    def file(self) -> MemoryFile:
        return self._file

    def change(self) -> str:
        """Change something; what messages are under way still arrive. Returns it in words."""
        random = self._random
        what = random.choice(self._changes)
        name = random.choice(self._ends)
        machine = self._machines[name]
        if what == "move":
            machine.site_identifier_list = (random.choice((_FIRST, _LAST)),)
            self._write(name, "site_identifier_list")
        elif what == "cost":
            link = random.choice(self._links)
            link.actual_cost = random.randint(1, 999_999)
            self._directory.write(link, ["actual_cost"], utc=_UTC)
        elif what == "out":
            machine.out_routing_server_identifier_list = (self._router(machine),)
            self._write(name, "out_routing_server_identifier_list")
        elif what == "in":
            machine.in_routing_server_identifier_list = (self._router(machine),)
            self._write(name, "in_routing_server_identifier_list")
        elif what == "direct":
            machine.out_routing_server_identifier_list = ()
            machine.in_routing_server_identifier_list = ()
            self._write(name, "out_routing_server_identifier_list")
            self._write(name, "in_routing_server_identifier_list")
        else:
            self._file.online = False
        return f"{what} {name}"

    def make_circle(self) -> None:
        """One router sends all that is for a machine back to another machine, which returns it."""
        one, other = self._ends[0], self._ends[1]
        for name, back in ((one, other), (other, one)):
            self._machines[name].out_routing_server_identifier_list = (
                self._machines[back].identifier,
            )
            self._write(name, "out_routing_server_identifier_list")

    def heal(self) -> None:
        """The directory can be read again."""
        self._file.online = True

    def _router(self, machine: QueueManagerObject) -> UUID:
        """A router in the site of a machine, or any."""
        names = [
            name
            for name in self.routers
            if set(self._machines[name].site_identifier_list) & set(machine.site_identifier_list)
        ]
        return self._machines[self._random.choice(names or self.routers)].identifier

    def _write(self, name: str, attribute: str) -> None:
        self._file.online = True
        self._directory.write(self._machines[name], [attribute], utc=_UTC)


def queue_number(node: Node, path: str) -> int:
    """The number in the private names of a queue."""
    return node.qm.state.paths[path].properties.private_queue_number
