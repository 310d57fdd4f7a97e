"""Keeping up with the directory ([MS-MQDMPR] 3.1.6.1, 3.1.6.2, 3.1.7.1.25)."""

from dataclasses import replace
from uuid import UUID

import pytest
from tests.core.directory_harness import QM1, QM2, Machine, reader, shared_file
from tests.core.harness import USER
from tests.directory.memory_file import MemoryFile

from openmsmq.core.settings import DirectoryPeriods
from openmsmq.core.sites.directory_access import by_identifier
from openmsmq.core.sites.directory_events import read_directory
from openmsmq.core.sites.directory_updates import (
    check_directory_online,
    update_references,
    update_site_gates,
    update_sites,
)
from openmsmq.core.state import DirectoryTimer
from openmsmq.directory.objects import (
    ConnectedNetwork,
    DirectoryObject,
    ElementType,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
)

NORTH = Site(UUID(int=0x51), "north")
SOUTH = Site(UUID(int=0x52), "south")
GATE = QueueManagerObject(QM2, "GATE", site_identifier_list=(NORTH.identifier,))
LINK = RoutingLink(
    UUID(int=0x53),
    actual_cost=5,
    site1_identifier=NORTH.identifier,
    site2_identifier=SOUTH.identifier,
    site_gate_identifier_list=(QM2,),
)


def change(file: MemoryFile, item: DirectoryObject) -> None:
    assert not reader(file).write(item, utc=7).reason


def start(*items: DirectoryObject) -> tuple[Machine, MemoryFile]:
    file = shared_file(NORTH, SOUTH, *items)
    return Machine(file).provision(site=NORTH.identifier), file


def site(machine: Machine) -> Site:
    return machine.state.local.site_collection[NORTH.identifier].site


def gates(machine: Machine) -> list[QueueManagerObject]:
    reference = machine.state.local.site_collection[NORTH.identifier]
    return list(reference.site_gate_collection.values())


def servers(machine: Machine) -> list[str]:
    return list(machine.state.local.directory_server_list)


@pytest.mark.spec("MQDMPR-3.1.6.1-01")
def test_known_sites_are_read_again_and_stay_when_they_cannot_be() -> None:
    machine, file = start()
    change(file, replace(NORTH, name="far north"))
    update_sites(machine.state)
    assert site(machine).name == "far north"
    change(file, replace(NORTH, name="nearer"))
    file.online = False
    update_sites(machine.state)
    assert site(machine).name == "far north"
    check_directory_online(machine.state)
    file.online = True
    reader(file).delete(NORTH)
    machine.state.local.directory_offline = False
    update_sites(machine.state)
    assert site(machine).name == "far north"


@pytest.mark.spec("MQDMPR-3.1.6.2-01")
def test_known_gates_are_read_again_and_stay_when_they_cannot_be() -> None:
    machine, file = start(GATE, LINK)
    (gate,) = gates(machine)
    assert gate.computer_name == "GATE"
    change(file, replace(GATE, computer_name="NEWGATE"))
    update_site_gates(machine.state)
    assert gates(machine) == [gate]
    assert gate.computer_name == "NEWGATE"
    change(file, replace(GATE, computer_name="OTHER"))
    file.online = False
    update_site_gates(machine.state)
    assert gate.computer_name == "NEWGATE"


@pytest.mark.spec("MQDMPR-3.1.2.1-01")
def test_sites_are_read_again_every_twelve_hours() -> None:
    machine, file = start()
    change(file, replace(NORTH, name="first"))
    machine.advance(12 * 3600 - 1)
    assert site(machine).name == "north"
    machine.advance(1)
    assert site(machine).name == "first"
    change(file, replace(NORTH, name="second"))
    machine.advance(12 * 3600)
    assert site(machine).name == "second"


@pytest.mark.spec("MQDMPR-3.1.2.2-01")
def test_gates_are_read_again_every_hour() -> None:
    machine, file = start(GATE, LINK)
    for name in ("FIRST", "SECOND"):
        change(file, replace(GATE, computer_name=name))
        machine.advance(3599)
        assert gates(machine)[0].computer_name != name
        machine.advance(1)
        assert gates(machine)[0].computer_name == name


def test_the_periods_can_be_configured() -> None:
    machine = Machine(shared_file())
    machine.settings.directory_periods = DirectoryPeriods(sites_seconds=5, site_gates_seconds=9)
    machine.provision()
    assert machine.qm.next_timer() == machine.now + 5


def test_new_gates_are_found_with_the_sites() -> None:
    machine, file = start(GATE)
    assert gates(machine) == []
    reader(file).create(LINK, utc=0)
    update_sites(machine.state)
    assert [gate.identifier for gate in gates(machine)] == [QM2]


@pytest.mark.spec("MQDMPR-3.1.3-06")
def test_the_list_of_directory_servers_is_read_again_every_day_and_kept() -> None:
    machine, file = start(GATE)
    assert servers(machine) == []
    change(file, replace(GATE, directory_server=True))
    machine.advance(24 * 3600)
    assert servers(machine) == ["GATE"]
    change(file, replace(GATE, directory_server=False))
    file.online = False
    machine.advance(24 * 3600)
    assert servers(machine) == ["GATE"]
    file.online = True
    machine.restart()
    assert servers(machine) == ["GATE"]


def go_offline(machine: Machine, file: MemoryFile) -> None:
    file.online = False
    read_directory(machine.state, ElementType.SITE)
    assert machine.state.local.directory_offline


@pytest.mark.spec("MQDMPR-3.1.2.5-01", "MQDMPR-3.1.7.1.25-01")
def test_a_minute_after_it_was_lost_the_directory_is_looked_for() -> None:
    machine, file = start()
    change(file, replace(machine.state.manager, journal_quota=5))
    go_offline(machine, file)
    file.online = True
    machine.advance(59)
    assert machine.state.local.directory_offline
    assert machine.state.manager.journal_quota != 5
    machine.advance(1)
    assert not machine.state.local.directory_offline
    assert machine.state.manager.journal_quota == 5
    assert DirectoryTimer.ONLINE not in machine.state.directory_timers


@pytest.mark.spec("MQDMPR-3.1.7.1.25-03")
def test_a_directory_that_is_still_away_is_looked_for_again() -> None:
    machine, file = start()
    go_offline(machine, file)
    for _ in range(3):
        machine.advance(60)
        assert machine.state.local.directory_offline
        assert machine.state.directory_timers[DirectoryTimer.ONLINE] == machine.now + 60
    file.online = True
    machine.advance(60)
    assert not machine.state.local.directory_offline


@pytest.mark.spec("MQDMPR-3.1.7.1.25-02")
def test_public_queues_catch_up_when_the_directory_is_back() -> None:
    machine, file = start()
    public = machine.qm.create_queue(r".\b", caller=USER).value
    lost = machine.qm.create_queue(r".\c", caller=USER, label="mine").value
    private = machine.qm.create_queue(r".\private$\a", caller=USER, label="mine").value
    go_offline(machine, file)
    file.online = True
    known = reader(file).read(ElementType.QUEUE, by_identifier(public.properties.identifier))
    assert isinstance(known.directory_object, QueueObject)
    change(file, replace(known.directory_object, label="new", quota=7))
    reader(file).delete(lost.properties)
    machine.advance(60)
    assert (public.properties.label, public.properties.quota) == ("new", 7)
    assert lost.properties.label == "mine"
    assert private.properties.label == "mine"
    machine.restart()
    assert machine.qm.find_queue(r".\b").properties.label == "new"


def test_what_was_caught_up_survives_a_restart_without_the_directory() -> None:
    machine, file = start()
    change(file, replace(machine.state.manager, journal_quota=5))
    go_offline(machine, file)
    file.online = True
    machine.advance(60)
    machine.flush()
    file.online = False
    machine.restart()
    assert machine.state.manager.journal_quota == 5


def test_a_workgroup_has_no_directory_to_look_for() -> None:
    machine = Machine(None).provision()
    check_directory_online(machine.state)
    assert machine.state.directory_timers == {}


@pytest.mark.spec("MQDMPR-3.1.1.1-22")
def test_collections_agree_with_the_lists_of_identifiers() -> None:
    network = ConnectedNetwork(UUID(int=0x54), "lan")
    lost = UUID(int=0x99)
    machine, file = start(GATE, network)
    local = machine.state.local
    assert not local.out_routing_server_collection
    change(
        file,
        replace(
            machine.state.manager,
            site_identifier_list=(SOUTH.identifier, lost),
            out_routing_server_identifier_list=(QM2, lost),
            in_routing_server_identifier_list=(QM1,),
            connected_network_identifier_list=(network.identifier, lost),
        ),
    )
    check_directory_online(machine.state)
    assert list(local.site_collection) == [SOUTH.identifier]
    assert list(local.out_routing_server_collection) == [QM2]
    assert list(local.in_routing_server_collection) == [QM1]
    assert list(local.connected_network_collection) == [network.identifier]
    assert local.connected_network_collection[network.identifier].name == "lan"
    machine.state.manager.out_routing_server_identifier_list = ()
    update_references(machine.state)
    assert not local.out_routing_server_collection
