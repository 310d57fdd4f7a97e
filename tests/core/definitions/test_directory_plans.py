"""Definitions of the directory: sites, routing links, distribution lists."""

from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.directory_harness import Machine, shared_file
from tests.security.accounts import FakeAccounts

from openmsmq.core.definitions.plan import PlanOptions
from openmsmq.core.settings import MachineIdentity
from openmsmq.directory.editing import TopologyEditor
from openmsmq.directory.objects import QueueManagerObject
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.server.defining import apply_definitions_file
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.definitions.model import (
    Definitions,
    DistributionListDefinition,
    LinkDefinition,
    QueueDefinition,
    SiteDefinition,
)
from openmsmq.wire.errors import ConfigError

ACCOUNTS = FakeAccounts()
MEMBER = r"DIRECT=OS:alpha\private$\orders"


@pytest.fixture
def machine() -> Machine:
    return Machine(shared_file()).provision()


def apply(
    machine: Machine, definitions: Definitions, **options: bool
) -> list[tuple[str, str, str]]:
    done = machine.qm.definer.apply(
        definitions, PlanOptions(**options), caller=SYSTEM_CALLER, accounts=ACCOUNTS
    )
    return [(change.action, change.kind, change.name or change.property) for change in done.value]


def exported(machine: Machine) -> Definitions:
    return machine.qm.definer.export(caller=SYSTEM_CALLER, accounts=ACCOUNTS)


def sites(*names: str) -> tuple[SiteDefinition, ...]:
    return tuple(SiteDefinition(name=name) for name in names)


def link(one: str, two: str, cost: int = 1) -> LinkDefinition:
    return LinkDefinition(sites=(one, two), cost=cost)


def test_sites_links_and_lists_are_made(machine: Machine) -> None:
    wanted = Definitions(
        sites=(*sites("berlin"), SiteDefinition(name="tokyo", foreign=True)),
        links=(link("tokyo", "berlin", 7),),
        distribution_lists=(DistributionListDefinition(name="all", members=(MEMBER,)),),
    )
    assert apply(machine, wanted) == [
        ("create", "site", "berlin"),
        ("create", "site", "tokyo"),
        ("create", "link", "tokyo - berlin"),
        ("create", "distribution list", "all"),
    ]
    assert apply(machine, wanted) == []
    found = exported(machine)
    assert found.sites == wanted.sites
    assert found.links == (LinkDefinition(sites=("berlin", "tokyo"), cost=7),)
    assert found.distribution_lists == wanted.distribution_lists
    assert apply(machine, found) == []


def test_changes_and_removals(machine: Machine) -> None:
    apply(machine, Definitions(sites=sites("a", "b", "c"), links=(link("a", "b"), link("b", "c"))))
    fewer = Definitions(
        sites=(SiteDefinition(name="A", foreign=True), *sites("b")),
        links=(link("B", "A", 3),),
        distribution_lists=(),
    )
    changes = apply(machine, fewer)
    assert ("unlisted", "site", "c") in changes
    assert ("change", "site", "A") in changes
    assert ("change", "link", "B - A") in changes
    assert apply(machine, fewer, prune=True) == [
        ("delete", "link", "b - c"),
        ("delete", "site", "c"),
    ]
    assert apply(machine, fewer, prune=True) == []


@pytest.mark.parametrize(
    ("definitions", "said"),
    [
        (Definitions(sites=sites("x", "X")), "listed twice"),
        (Definitions(sites=sites("new"), links=(link("new", "nowhere"),)), "no site nowhere"),
        (Definitions(sites=sites("new"), links=(link("new", "new"),)), "links two sites"),
        (
            Definitions(
                sites=sites("new", "other"),
                links=(LinkDefinition(sites=("new", "other"), gates=("nobody",)),),
            ),
            "no server nobody",
        ),
        (
            Definitions(
                sites=sites("new"),
                distribution_lists=(DistributionListDefinition(name="l", members=("none",)),),
            ),
            "is no format name",
        ),
    ],
)
def test_one_fault_changes_nothing(machine: Machine, definitions: Definitions, said: str) -> None:
    before = exported(machine)
    with pytest.raises(QueueError, match=said):
        apply(machine, definitions)
    assert exported(machine) == before


def test_a_site_with_a_server_or_a_link_that_stays_is_not_removed(machine: Machine) -> None:
    apply(machine, Definitions(sites=sites("a", "b"), links=(link("a", "b"),)))
    with pytest.raises(QueueError, match="one end does not"):
        apply(machine, Definitions(sites=sites("a")), prune=True)
    directory = machine.state.directory
    assert directory is not None
    editor = TopologyEditor(directory, utc=machine.utc)
    lone = editor.find_site("b").identifier
    server = QueueManagerObject(
        UUID(int=0x999), "server", "server.example", site_identifier_list=(lone,)
    )
    directory.create(server, utc=machine.utc)
    with pytest.raises(QueueError, match="server is in it"):
        apply(machine, Definitions(sites=sites("a"), links=()), prune=True)


def test_without_a_directory_there_is_nothing_to_define() -> None:
    machine = Machine(None)
    machine.provision()
    with pytest.raises(QueueError, match="no directory"):
        apply(machine, Definitions(sites=()))
    assert exported(machine).sites is None


names = st.sampled_from(["a", "b", "c", "d"])


@st.composite
def files(draw: st.DrawFn) -> Definitions:
    chosen = draw(st.lists(names, unique=True))
    pairs = draw(st.sets(st.sampled_from([(x, y) for x in "abcd" for y in "abcd" if x < y])))
    links = tuple(
        link(one, two, draw(st.integers(1, 3)))
        for one, two in sorted(pairs)
        if one in chosen and two in chosen
    )
    lists = draw(st.lists(names, unique=True))
    return Definitions(
        sites=tuple(SiteDefinition(name=name, foreign=draw(st.booleans())) for name in chosen),
        links=links,
        distribution_lists=tuple(
            DistributionListDefinition(name=name, members=(MEMBER,) * draw(st.integers(0, 1)))
            for name in lists
        ),
    )


@given(files(), files())
@settings(deadline=None, max_examples=50)
def test_what_was_before_does_not_matter(first: Definitions, second: Definitions) -> None:
    one, other = (Machine(shared_file()).provision() for _ in range(2))
    apply(one, first, prune=True)
    apply(one, second, prune=True)
    apply(other, second, prune=True)
    assert exported(one) == exported(other)
    assert apply(one, exported(one), prune=True) == []


def test_a_public_queue_that_only_the_store_has_is_pruned() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    apply(machine, Definitions(queues=(QueueDefinition(path="orders"),)))
    machine.flush()
    apply(machine, Definitions(queues=()), prune=True)
    # Killed before the store has it.
    machine.load()
    machine.qm.start(MachineIdentity(machine.name, "example"))
    private = QueueDefinition(path=r"private$\next")
    done = apply(machine, Definitions(queues=(private,)), prune=True)
    assert done == [("delete", "queue", "orders"), ("create", "queue", r"private$\next")]
    assert apply(machine, Definitions(queues=(private,)), prune=True) == []


def test_a_directory_that_refuses_says_how_much_was_done() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    wanted = Definitions(
        queues=(QueueDefinition(path=r"private$\first"), QueueDefinition(path="orders"))
    )
    file.online = False
    with pytest.raises(QueueError) as caught:
        apply(machine, wanted)
    assert caught.value.cause == "1 of 2 changes were made before this one was refused."
    assert "Apply it again" in caught.value.remedy
    file.online = True
    machine.advance(3600)
    assert apply(machine, wanted) == [("create", "queue", "orders")]


def test_a_start_whose_directory_refuses_names_the_file_and_the_reason(tmp_path: Path) -> None:
    file = shared_file()
    machine = Machine(file).provision()
    definitions = tmp_path / "definitions.toml"
    definitions.write_text("[[queues]]\npath = 'orders'\n")
    file.full = True
    with pytest.raises(ConfigError, match=r"definitions\.toml: .*No space left") as caught:
        apply_definitions_file(definitions, machine.qm, caller=SYSTEM_CALLER, accounts=ACCOUNTS)
    assert "0 of 1 changes" in caught.value.cause
