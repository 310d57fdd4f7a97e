"""Editing sites, links and servers: what is refused, and what is only warned of."""

from collections.abc import Callable
from uuid import UUID

import pytest
from tests.directory.memory_file import MemoryFile, directory_of

from openmsmq.directory.editing import TopologyEditor, find_warnings
from openmsmq.directory.objects import (
    Enterprise,
    QueueManagerObject,
    RoutingLink,
    Site,
)
from openmsmq.wire.errors import ConfigError

A, B, C = (Site(UUID(int=number), name) for number, name in ((0xA, "A"), (0xB, "B"), (0xC, "C")))
ORDERS, BILLS = (rf"DIRECT=OS:n1\private$\{name}" for name in ("orders", "bills"))


def server(number: int, *sites: Site, routing: bool = False) -> QueueManagerObject:
    return QueueManagerObject(
        identifier=UUID(int=number),
        computer_name=f"N{number}",
        site_identifier_list=tuple(site.identifier for site in sites),
        routing_server=routing,
    )


def editor(*, dry_run: bool = False) -> tuple[TopologyEditor, MemoryFile]:
    """N1 in A, gates N2 in A and N3 in B; C has nobody."""
    link = RoutingLink(
        UUID(int=0xF),
        actual_cost=3,
        site1_identifier=A.identifier,
        site2_identifier=B.identifier,
        site_gate_identifier_list=(UUID(int=2), UUID(int=3)),
    )
    directory, file = directory_of(
        Enterprise(UUID(int=0xE), "corp"),
        *(A, B, C, server(1, A), server(2, A, routing=True), server(3, B, routing=True), link),
    )
    return TopologyEditor(directory, utc=1000.0, dry_run=dry_run), file


def test_distribution_lists_are_added_changed_and_removed() -> None:
    topology, _ = editor()
    for number, name in ((0x22, "beta"), (0x21, "Alpha")):
        topology.add_list(name, [ORDERS], identifier=UUID(int=number))
    topology.set_list("alpha", [BILLS, ORDERS])
    assert [(entry.name, entry.members) for entry in topology.lists()] == [
        ("Alpha", (BILLS, ORDERS)),
        ("beta", (ORDERS,)),
    ]
    topology.remove_list("BETA")
    assert [entry.name for entry in topology.lists()] == ["Alpha"]


def test_sites_are_added_and_removed() -> None:
    topology, _ = editor()
    added = topology.add_site("Dublin", identifier=UUID(int=0xD), foreign=True)
    assert [site.name for site in topology.sites()] == ["A", "B", "C", "Dublin"]
    assert topology.find_site("dublin").foreign_site
    assert topology.find_site(str(added.identifier)).name == "Dublin"
    topology.remove_site("DUBLIN")
    assert [site.name for site in topology.sites()] == ["A", "B", "C"]


def test_links_are_added_changed_and_removed() -> None:
    topology, _ = editor()
    link = topology.add_link("B", "C", identifier=UUID(int=0xF1), cost=999_999, gates=("N3", "n3"))
    assert link.site_gate_identifier_list == (UUID(int=3),)
    topology.set_link("C", "B", cost=7, gates=())
    changed = topology.find_link("B", "C")
    assert (changed.actual_cost, changed.site_gate_identifier_list) == (7, ())
    topology.set_link("B", "C", cost=None, gates=None)
    assert topology.find_link("C", "B") == changed
    topology.remove_link("C", "B")
    assert len(topology.links()) == 1


def test_servers_get_roles() -> None:
    topology, _ = editor()
    topology.set_server("N1", sites=("A", "C"), routing=True, out_servers=("N2",))
    topology.set_server("N1", in_servers=("N2", "N3"))
    changed = topology.find_server("n1")
    assert changed.routing_server
    assert changed.site_identifier_list == (A.identifier, C.identifier)
    assert changed.out_routing_server_identifier_list == (UUID(int=2),)
    assert changed.in_routing_server_identifier_list == (UUID(int=2), UUID(int=3))


def test_a_foreign_computer_is_added_and_removed() -> None:
    topology, _ = editor()
    topology.add_server("MVS", identifier=UUID(int=9), sites=("C",))
    added = topology.find_server("mvs")
    assert added.foreign_system
    assert added.site_identifier_list == (C.identifier,)
    topology.remove_server("MVS")
    assert len(topology.servers()) == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.add_site(" ", identifier=UUID(int=9)), "needs a name"),
        (lambda t: t.add_site("a", identifier=UUID(int=9)), "already"),
        (lambda t: t.remove_site("A"), "a link leads to A"),
        (lambda t: t.remove_site("Z"), "has no site Z"),
        (lambda t: t.find_link("A", "C"), "there is none between"),
        (
            lambda t: t.add_link("A", "a", identifier=UUID(int=9), cost=1, gates=()),
            "linked to itself",
        ),
        (
            lambda t: t.add_link("B", "A", identifier=UUID(int=9), cost=1, gates=()),
            "linked already",
        ),
        (
            lambda t: t.add_link("B", "C", identifier=UUID(int=9), cost=0, gates=()),
            "0 is not in 1..999999",
        ),
        (lambda t: t.set_link("A", "B", cost=1_000_000, gates=None), "1000000 is not in"),
        (
            lambda t: t.add_link("B", "C", identifier=UUID(int=9), cost=1, gates=("N2",)),
            "N2 is in neither site",
        ),
        (lambda t: t.set_link("A", "B", cost=None, gates=("N1",)), "N1 is not a routing server"),
        (lambda t: t.set_link("A", "B", cost=None, gates=("N9",)), "has no server N9"),
        (lambda t: t.set_server("N2", routing=False), "is a gate of a link"),
        (lambda t: t.set_server("N2", sites=("C",)), "is a gate of a link"),
        (lambda t: t.set_server("N1", in_servers=("N9",)), "has no server N9"),
        (lambda t: t.add_server("n1", identifier=UUID(int=9), sites=()), "already"),
        (lambda t: t.remove_server("N2"), "N2 is a gate of a link"),
    ],
)
def test_what_cannot_be_is_refused(change: Callable[[TopologyEditor], object], reason: str) -> None:
    topology, file = editor()
    before = file.content
    with pytest.raises(ConfigError, match=reason):
        change(topology)
    assert file.content == before


def test_what_others_refer_to_stays() -> None:
    topology, _ = editor()
    topology.remove_link("A", "B")
    with pytest.raises(ConfigError, match="N1 is in A"):
        topology.remove_site("A")
    topology.set_server("N1", out_servers=("N2",))
    with pytest.raises(ConfigError, match="N2 routes for N1"):
        topology.remove_server("N2")


def test_a_dry_run_checks_and_changes_nothing() -> None:
    topology, file = editor(dry_run=True)
    before = file.content
    topology.add_site("D", identifier=UUID(int=9))
    topology.add_link("B", "C", identifier=UUID(int=9), cost=1, gates=("N3",))
    topology.set_link("A", "B", cost=1, gates=None)
    topology.set_server("N1", routing=True)
    topology.remove_site("C")
    assert file.content == before
    with pytest.raises(ConfigError):
        topology.remove_site("A")


def test_a_directory_that_cannot_be_read_or_written_says_why() -> None:
    topology, file = editor()
    file.full = True
    with pytest.raises(ConfigError, match="No space left"):
        topology.add_site("D", identifier=UUID(int=9))
    file.online = False
    with pytest.raises(ConfigError, match="offline"):
        topology.sites()


def test_warnings() -> None:
    topology, _ = editor()
    assert find_warnings(topology.sites(), topology.links(), topology.servers()) == []
    topology.set_link("A", "B", cost=None, gates=("N2",))
    topology.set_server("N3", sites=())
    links = topology.links()
    links[0].site_gate_identifier_list += (UUID(int=0x99),)
    servers = topology.servers()
    servers[0].in_routing_server_identifier_list = (UUID(int=0x98),)
    warnings = find_warnings(topology.sites(), links, servers)
    assert warnings == [
        "link A-B: no gate in B",
        "link A-B: a gate is not in the directory",
        f"server N1: its routing server {UUID(int=0x98)} is not in the directory",
        "server N3: it is in no site",
    ]


def test_without_sites_a_server_needs_none() -> None:
    assert find_warnings([], [], [server(1)]) == []
