"""The topology follows the directory."""

from dataclasses import replace
from uuid import UUID

import pytest
from tests.core.directory_harness import ENTERPRISE, QM1, QM2, Machine, reader
from tests.directory.memory_file import MemoryFile, MemoryView, directory_of

from openmsmq.core.model.outgoing_queue import NextHop
from openmsmq.core.routing.current_topology import ROUTING_TABLE_SECONDS, current_topology
from openmsmq.core.routing.next_hops import Choice
from openmsmq.core.routing.topology import Leg
from openmsmq.core.transfer.outgoing.destinations import Destination, find_destination
from openmsmq.directory.interface import DirectoryOperationResult
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import DirectoryObject, QueueManagerObject, RoutingLink, Site
from openmsmq.wire.names.format_name import PrivateFormatName

EAST, WEST = UUID(int=0xEA), UUID(int=0xEB)
EAST_GATE, WEST_GATE = UUID(int=0x6A), UUID(int=0x6B)

LINK = RoutingLink(
    identifier=UUID(int=1),
    actual_cost=4,
    site1_identifier=EAST,
    site2_identifier=WEST,
    site_gate_identifier_list=(EAST_GATE, WEST_GATE),
)


def manager(identifier: UUID, name: str, *sites: UUID, routing: bool = False) -> QueueManagerObject:
    return QueueManagerObject(
        identifier=identifier,
        computer_name=name,
        site_identifier_list=sites,
        routing_server=routing,
    )


def started(*others: DirectoryObject, site: UUID | None = None) -> Machine:
    """QM1 in a directory with others."""
    sites = [Site(identifier=EAST, name="east"), Site(identifier=WEST, name="west")]
    _, file = directory_of(ENTERPRISE, *sites, *others)
    return Machine(file).provision(site=site)


def way_to(machine: Machine, destination: UUID) -> Destination | None:
    return find_destination(machine.state, PrivateFormatName(destination, 7))


@pytest.mark.spec("MQDMPR-3.1.1.8-02")
def test_a_link_joins_the_sites_and_has_the_gates_that_it_names() -> None:
    gates = (
        manager(EAST_GATE, "EGATE", EAST, routing=True),
        manager(WEST_GATE, "WGATE", WEST, routing=True),
    )
    unknown = UUID(int=0x99)
    link = replace(LINK, site_gate_identifier_list=(EAST_GATE, WEST_GATE, unknown))
    machine = started(*gates, link, site=EAST)
    topology = current_topology(machine.state)
    assert topology is not None
    assert [topology.gates(site) for site in (EAST, WEST)] == [(EAST_GATE,), (WEST_GATE,)]
    table = topology.routing_table(topology.machines[EAST_GATE])
    assert table == {WEST: Leg(LINK.actual_cost, WEST)}
    # The link names other sites and gates: so does the topology.
    south = UUID(int=0xEC)
    changed = replace(link, site2_identifier=south, site_gate_identifier_list=(EAST_GATE,))
    assert machine.file is not None
    assert reader(machine.file).write(changed, utc=1).status is DirectoryOperationResult.SUCCESS
    topology = current_topology(machine.state)
    assert topology is not None
    assert [topology.gates(site) for site in (EAST, WEST, south)] == [(EAST_GATE,), (), ()]
    table = topology.routing_table(topology.machines[EAST_GATE])
    assert table == {south: Leg(LINK.actual_cost, south)}


def test_without_a_directory_there_is_no_topology() -> None:
    assert current_topology(Machine(None).provision().state) is None


def test_queue_managers_without_sites_reach_each_other_directly() -> None:
    machine = started(manager(QM2, "QM2"))
    assert way_to(machine, QM2) == Destination(QM2, (NextHop("QM2", QM2),), Choice.DESTINATION)


def test_a_message_for_another_site_goes_to_a_routing_server_of_the_own_site() -> None:
    gates = (
        manager(EAST_GATE, "EGATE", EAST, routing=True),
        manager(WEST_GATE, "WGATE", WEST, routing=True),
    )
    machine = started(manager(QM2, "QM2", WEST), *gates, LINK, site=EAST)
    assert way_to(machine, QM2) == Destination(
        QM2, (NextHop("EGATE", EAST_GATE),), Choice.ROUTING_SERVER
    )


def test_a_change_of_the_directory_is_followed_at_once() -> None:
    machine = started(manager(QM2, "QM2", WEST), LINK, site=EAST)
    assert way_to(machine, QM2) == Destination(QM2, (), Choice.NO_ROUTING_SERVER)
    another(machine.file).create(manager(EAST_GATE, "EGATE", EAST, routing=True), utc=1.0)
    assert way_to(machine, QM2) == Destination(
        QM2, (NextHop("EGATE", EAST_GATE),), Choice.ROUTING_SERVER
    )


def test_the_topology_is_kept_for_an_hour_while_nothing_changes() -> None:
    machine = started(manager(QM2, "QM2"))
    first = current_topology(machine.state)
    machine.qm.set_time(now=machine.now + ROUTING_TABLE_SECONDS - 1, utc=machine.utc)
    assert current_topology(machine.state) is first
    machine.qm.set_time(now=machine.now + ROUTING_TABLE_SECONDS, utc=machine.utc)
    assert current_topology(machine.state) is not first


def test_the_last_topology_holds_while_the_directory_is_offline() -> None:
    machine = started(manager(QM2, "QM2"))
    first = current_topology(machine.state)
    assert machine.file is not None
    machine.file.online = False
    assert current_topology(machine.state) is first
    machine.state.topology = None
    assert current_topology(machine.state) is None


class FadingFile(MemoryFile):
    """A file that is away after some more readings."""

    left = 1000

    def open(self) -> MemoryView:
        return FadingView(self)


class FadingView(MemoryView):
    def __init__(self, file: FadingFile) -> None:
        super().__init__(file)
        self._fading = file

    def read(self) -> bytes | None:
        self._fading.online = self._fading.left > 0
        self._fading.left -= 1
        return super().read()


def test_a_directory_that_goes_away_in_between_gives_no_half_of_a_topology() -> None:
    gate = manager(EAST_GATE, "EGATE", EAST, routing=True)
    _, whole = directory_of(ENTERPRISE, Site(identifier=EAST, name="east"), gate, LINK)
    file = FadingFile(whole.content)
    machine = Machine(file).provision(site=EAST)
    topologies = []
    for left in range(20):
        file.left, machine.state.topology = left, None
        topologies.append(current_topology(machine.state))
    assert topologies[0] is None
    assert topologies[-1] is not None
    for topology in topologies:
        assert topology is None or topology.gates(EAST) == (EAST_GATE,)


def test_a_queue_manager_that_the_directory_does_not_have_is_where_it_called_from() -> None:
    machine = started()
    assert way_to(machine, QM2) == Destination(QM2, ())
    machine.state.addresses[QM2] = "10.0.0.2"
    assert way_to(machine, QM2) == Destination(QM2, (NextHop("10.0.0.2", QM2),))


def test_links_and_gates_come_from_the_directory() -> None:
    machine = started(manager(EAST_GATE, "EGATE", EAST, routing=True), LINK)
    topology = current_topology(machine.state)
    assert topology is not None
    assert topology.gates(EAST) == (EAST_GATE,)
    assert QM1 in topology.machines


def another(file: MemoryFile | None) -> LocalDirectory:
    """The directory as another process has it."""
    assert file is not None
    return LocalDirectory(file.open())
