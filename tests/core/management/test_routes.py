"""The way that a message would take, explained."""

from dataclasses import asdict
from uuid import UUID

import pytest
from tests.protocol.binary.pair import ADMINISTRATOR, ORDERS, USER
from tests.protocol.binary.routed_network import Routed, chain, guid_of

from openmsmq.cli.queues.route import route_lines
from openmsmq.core.management.records import RouteInfo
from openmsmq.core.transfer.incoming.delivery import learn_address
from openmsmq.wire.codes.queue_error import QueueError


def route(routed: Routed, number: int, name: str) -> RouteInfo:
    return routed[number].qm.management.route(name, caller=USER)


def test_a_routed_way_names_every_hop_and_its_reason() -> None:
    routed = chain()
    info = route(routed, 1, routed.name(4))
    assert info.found
    assert [(step.sites, step.next_hops, step.why) for step in info.path] == [
        (("A",), ("N2",), "a routing server of its own site"),
        (("A",), ("N3",), "a gate of the next site on the least costly way"),
        (("B",), ("N4",), "the destination itself"),
    ]
    assert info.path[1].next_site == "B"
    assert (info.name, info.why) == ("N4", "")
    # Nothing was sent, and no outgoing queue was made.
    assert routed[1].qm.outgoing.queues == []


def test_the_way_is_the_one_that_messages_take() -> None:
    routed = Routed(
        {1: "A", 2: "A*", 5: "A*", 6: "A*", 3: "B*", 7: "B*", 4: "B"},
        (("AB", 1, (2, 5, 6, 3, 7)),),
    )
    routed[4].create()
    info = route(routed, 1, routed.name(4))
    routed.send(1, 4, b"1")
    routed.network.advance(2)
    forwarded = {
        node.name
        for node in routed.nodes.values()
        if node.qm.counters.forwarded_messages.of("binary")
    }
    assert {step.name for step in info.path[1:]} == forwarded


@pytest.mark.parametrize(
    ("name", "found", "why"),
    [
        (rf"DIRECT=OS:N1\{ORDERS}", True, "the queue is on this machine"),
        (r".\private$\orders", True, "the queue is on this machine"),
        (r"DIRECT=OS:N1\private$\none", False, "this machine has no such queue"),
        (rf"PRIVATE={guid_of(1)}\0000ffff", False, "this machine has no such queue"),
        (r"DIRECT=OS:far\private$\q", True, "a direct name is never routed"),
        ("DIRECT=HTTP://far/msmq/q", True, "a direct name is never routed"),
        ("MULTICAST=224.3.4.5:8001", True, "a multicast message"),
        ("PUBLIC=00000000-0000-0000-0000-000000000009", False, "does not have the queue"),
        (rf"PRIVATE={guid_of(9)}\00000005", False, "does not have the destination"),
    ],
)
def test_names_that_are_not_routed(*, name: str, found: bool, why: str) -> None:
    routed = chain()
    routed[1].create()
    info = route(routed, 1, name)
    assert info.found is found
    assert why in info.why


def test_a_public_queue_leads_to_its_owner() -> None:
    routed = chain()
    published = routed.publish(4, 9)
    info = route(routed, 1, f"PUBLIC={published.identifier}")
    assert (info.name, info.path_name) == ("N4", published.pathname)
    lines = list(route_lines(asdict(info), 80))
    assert lines[1] == f"   which is {published.pathname}"


def test_a_private_queue_of_this_machine_has_its_path_name() -> None:
    routed = chain()
    queue = routed[1].create()
    info = route(routed, 1, rf"PRIVATE={guid_of(1)}\{queue.properties.private_queue_number:08x}")
    assert info.path_name == queue.properties.pathname
    assert route(routed, 1, r"DIRECT=OS:far\private$\q").path_name == r"far\private$\q"


def test_several_queues_have_no_single_way() -> None:
    routed = chain()
    with pytest.raises(QueueError, match="names no single queue"):
        route(routed, 1, r"DIRECT=OS:a\q,DIRECT=OS:b\q")


def test_without_a_directory_the_last_address_counts() -> None:
    routed = chain()
    node = routed[1]
    node.qm.state.local.directory_integrated = False
    name = routed.name(4)
    assert "no directory" in route(routed, 1, name).why
    learn_address(node.qm.state, guid_of(4), "10.0.0.4")
    info = route(routed, 1, name)
    assert (info.found, info.host) == (True, "10.0.0.4")


def test_a_machine_that_the_directory_does_not_have_has_no_host() -> None:
    info = route(chain(), 1, rf"PRIVATE={UUID(int=0x999)}\00000001")
    assert (info.found, info.host, info.path_name) == (False, "", "")


def test_a_circle_is_named() -> None:
    routed = Routed({1: "A", 2: "A*", 3: "A*", 4: "A"})
    routed[4].create()
    routed.change(4, in_routing_server_identifier_list=(guid_of(2),))
    routed.change(1, out_routing_server_identifier_list=(guid_of(3),))
    assert route(routed, 1, routed.name(4)).found
    routed.change(3, routing_server=False, out_routing_server_identifier_list=(guid_of(1),))
    info = route(routed, 1, routed.name(4))
    assert not info.found
    assert info.why == "the way comes back to N1: the hop limit would end it"


def test_lines_fit_a_terminal() -> None:
    routed = chain()
    info = routed[1].qm.management.route(routed.name(4), caller=ADMINISTRATOR)
    fields = {
        name: getattr(info, name) for name in RouteInfo.__dataclass_fields__ if name != "path"
    }
    steps = [
        {name: getattr(step, name) for name in type(step).__dataclass_fields__}
        for step in info.path
    ]
    lines = list(route_lines({**fields, "path": steps}, 80))
    assert lines[2:] == [
        " 1 N1 (site A)",
        "   -> N2: a routing server of its own site",
        " 2 N2 (site A)",
        "   -> N3: a gate of the next site on the least costly way (B)",
        " 3 N3 (site B)",
        "   -> N4: the destination itself",
        " 4 N4, the destination",
    ]
    assert max(map(len, lines)) <= 80
