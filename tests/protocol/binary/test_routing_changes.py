"""Messages on their way over several queue managers while the directory changes."""

from tests.directory.memory_file import directory_of
from tests.protocol.binary.routed_network import Routed, chain, guid_of, passed, site


def test_a_change_of_the_directory_counts_although_a_session_is_open() -> None:
    routed = Routed({1: "A", 2: "A*", 3: "A*", 4: "A"})
    routed[4].create()
    routed.change(1, out_routing_server_identifier_list=(guid_of(2),))
    routed.send(1, 4, b"1")
    routed.network.advance(1)
    routed.change(1, out_routing_server_identifier_list=(guid_of(3),))
    routed.send(1, 4, b"2")
    routed.network.advance(1)
    assert [each.body for each in passed(routed, 2)] == [b"1"]
    assert passed(routed, 3)[-1].body == b"2"
    assert sorted(routed[4].bodies()) == [b"1", b"2"]
    # A change that leaves the way as it is changes nothing.
    routed.change(3, out_routing_server_identifier_list=())
    routed.send(1, 4, b"3")
    routed.network.advance(1)
    assert passed(routed, 3)[-1].body == b"3"
    # Without a way the last one is as good as any.
    routed.change(1, site_identifier_list=(site("Z"),), out_routing_server_identifier_list=())
    routed.send(1, 4, b"4")
    routed.network.advance(1)
    assert sorted(routed[4].bodies()) == [b"1", b"2", b"3", b"4"]


def test_a_router_that_cannot_read_its_directory_leaves_messages_with_their_senders() -> None:
    routed = chain()
    name = routed.send(1, 4, b"1")
    routed[2].qm.state.topology = None
    directory = routed[2].qm.state.directory
    offline, file = directory_of()
    file.online = False
    routed[2].qm.state.directory = offline
    routed.network.advance(20)
    assert routed[1].outgoing(name).count == 1
    assert routed[2].counts["no room for messages"] > 0
    routed[2].qm.state.directory = directory
    routed.network.advance(20)
    assert routed[4].bodies() == [b"1"]


def test_a_session_that_comes_back_after_a_change_of_the_directory_is_not_used() -> None:
    routed = Routed({1: "A", 2: "A*", 3: "A*", 4: "A"})
    routed[4].create()
    routed.change(1, out_routing_server_identifier_list=(guid_of(2),))
    routed[2].listening = False
    routed.send(1, 4, b"1")
    routed.network.advance(1)
    routed.change(1, out_routing_server_identifier_list=(guid_of(2), guid_of(3)))
    routed[2].listening = True
    routed.network.stalled = True
    routed.network.advance(6)
    # The connection is being made, and the way changes meanwhile.
    routed.change(1, out_routing_server_identifier_list=(guid_of(3),))
    routed.network.stalled = False
    routed.network.advance(6)
    assert passed(routed, 2) == []
    assert routed[4].bodies() == [b"1"]


def test_a_way_that_the_directory_no_longer_has_is_not_taken_again() -> None:
    """Also if the session that was used meanwhile, and that the destination made, is lost."""
    routed = Routed({1: "A", 2: "A*", 4: "A"})
    one, router, four = routed[1], routed[2], routed[4]
    for node in (one, router, four):
        node.create()
    routed.change(1, out_routing_server_identifier_list=(guid_of(2),))
    routed.send(1, 4, b"1")
    routed.network.advance(1)
    router.listening = False
    routed.network.cut()
    routed.send(1, 4, b"2")
    routed.network.advance(1)
    # Nothing is routed any more, and the destination calls.
    routed.change(1, out_routing_server_identifier_list=())
    routed.change(2, routing_server=False)
    routed.send(4, 1, b"back")
    routed.network.advance(30)
    assert four.bodies() == [b"1", b"2"]
    router.listening = True
    routed.send(1, 2, b"for the other")
    routed.network.advance(30)
    four.listening = False
    for wire in routed.network.wires_of(four):
        wire.break_from(four)
    routed.send(1, 4, b"3")
    routed.network.advance(1)
    assert [each.body for each in passed(routed, 2)] == [b"1", b"for the other"]
    four.listening = True
    routed.network.advance(30)
    assert four.bodies() == [b"1", b"2", b"3"]


def test_an_open_session_with_the_destination_is_no_way_around_an_out_routing_server() -> None:
    routed = Routed({1: "A", 2: "A*", 4: "A"})
    routed[1].create()
    routed[4].create()
    routed.send(4, 1, b"before")
    routed.network.advance(1)
    routed.change(1, out_routing_server_identifier_list=(guid_of(2),))
    routed.send(1, 4, b"1")
    routed.network.advance(1)
    assert [each.body for each in passed(routed, 2)] == [b"1"]
    assert routed[4].bodies() == [b"1"]
