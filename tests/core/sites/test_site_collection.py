"""Sites and routing links with what they refer to ([MS-MQDMPR] 3.1.1.7, 3.1.1.8)."""

from uuid import UUID

import pytest
from tests.core.directory_harness import Machine, shared_file

from openmsmq.core.sites.site_collection import (
    read_all,
    read_site,
    read_site_gates,
)
from openmsmq.directory.objects import ElementType, QueueManagerObject, RoutingLink, Site

A, B, C = (Site(UUID(int=number), name) for number, name in ((0x51, "a"), (0x52, "b"), (0x53, "c")))
IN_A = QueueManagerObject(UUID(int=0x61), "IN_A", site_identifier_list=(A.identifier,))
IN_B = QueueManagerObject(UUID(int=0x62), "IN_B", site_identifier_list=(B.identifier,))
IN_BOTH = QueueManagerObject(
    UUID(int=0x63), "BOTH", site_identifier_list=(A.identifier, B.identifier)
)
LOST = UUID(int=0x99)
AB = RoutingLink(
    UUID(int=0x71),
    site1_identifier=A.identifier,
    site2_identifier=B.identifier,
    site_gate_identifier_list=(IN_A.identifier, IN_B.identifier, LOST),
)
BC = RoutingLink(
    UUID(int=0x72),
    site1_identifier=C.identifier,
    site2_identifier=B.identifier,
    site_gate_identifier_list=(IN_BOTH.identifier,),
)


def start() -> Machine:
    return Machine(shared_file(A, B, C, IN_A, IN_B, IN_BOTH, AB, BC)).provision()


def gates(machine: Machine, site: Site) -> set[str]:
    found = read_site_gates(machine.state, site.identifier)
    assert found is not None
    return {gate.computer_name for gate in found.values()}


def test_objects_are_read_in_the_order_of_their_identifiers() -> None:
    sites = [Site(UUID(int=number), name) for number, name in ((3, "a"), (1, "b"), (2, "c"))]
    machine = Machine(shared_file(*sites)).provision()
    assert read_all(machine.state, ElementType.SITE) == [sites[1], sites[2], sites[0]]


def test_the_gates_of_a_site_are_those_of_its_links_that_are_in_it() -> None:
    machine = start()
    assert gates(machine, A) == {"IN_A"}
    assert gates(machine, B) == {"IN_B", "BOTH"}
    assert gates(machine, C) == set()


def test_a_site_is_read_with_its_gates() -> None:
    machine = start()
    reference = read_site(machine.state, A.identifier)
    assert reference is not None
    assert reference.site.name == "a"
    assert list(reference.site_gate_collection) == [IN_A.identifier]
    assert read_site(machine.state, LOST) is None


@pytest.mark.spec("MQDMPR-3.1.7.1.21-02")
def test_all_objects_come_in_the_order_of_their_identifiers() -> None:
    machine = Machine(shared_file(C, A, B, BC, AB)).provision()
    sites = read_all(machine.state, ElementType.SITE)
    links = read_all(machine.state, ElementType.ROUTING_LINK)
    assert sites == [A, B, C]
    assert links == [AB, BC]


def test_a_directory_that_does_not_answer_is_told_apart_from_an_empty_one() -> None:
    machine = start()
    assert read_all(machine.state, ElementType.USER) == []
    assert machine.file is not None
    machine.file.online = False
    assert read_all(machine.state, ElementType.USER) is None
    assert read_site_gates(machine.state, A.identifier) is None
