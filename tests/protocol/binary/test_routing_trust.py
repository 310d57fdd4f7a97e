"""A router is no open relay: what it refuses to forward, and why."""

from typing import Any
from uuid import UUID

import pytest
from tests.core.forgery import UNSIGNED, forge
from tests.protocol.binary.raw_peer import RawPeer
from tests.protocol.binary.routed_network import Routed, chain, guid_of, passed
from tests.protocol.binary.test_routing import REPORTS, ordered_packet, packet, raw_source

from openmsmq.core.events import MessageDropped
from openmsmq.core.routing.topology import Machine
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.forwarding.routed import NotRouted, is_address_of
from openmsmq.protocol.binary.ping import PingRequests
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.packets.order_ack import FinalAck
from openmsmq.wire.security.security_header import SecurityHeaderFlags

STRANGER = UUID(int=0x57A)


def reasons(routed: Routed, number: int) -> list[str]:
    """Why a queue manager has dropped messages."""
    dropped = [event for event in routed[number].events if isinstance(event, MessageDropped)]
    return [event.reason.removeprefix("NACK_BAD_DST_Q: ") for event in dropped]


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"destination_queue": private_address(STRANGER, 5)}, NotRouted.UNKNOWN_DESTINATION),
        ({"source_queue_manager": STRANGER}, NotRouted.UNKNOWN_SOURCE),
        ({"source_queue_manager": guid_of(4)}, NotRouted.NO_ROUTING_PEER),
        (
            {
                "destination_queue": direct_address(r"OS:n4\private$\orders"),
                "queue_manager_address": guid_of(4),
            },
            NotRouted.NO_NAME,
        ),
        (
            {
                "destination_queue": direct_address("nonsense"),
                "queue_manager_address": guid_of(4),
            },
            NotRouted.NO_NAME,
        ),
        (
            {
                "destination_queue": public_address(UUID(int=9)),
                "queue_manager_address": guid_of(4),
            },
            NotRouted.OTHER_OWNER,
        ),
    ],
)
def test_what_a_router_does_not_forward(properties: dict[str, Any], reason: NotRouted) -> None:
    routed = chain()
    routed.publish(3, 9)
    peer = raw_source(routed, 2)
    peer.send(packet(routed, b"1", 1, **properties))
    routed.network.advance(1)
    assert reasons(routed, 2) == [reason]
    assert passed(routed, 3) == []
    assert routed[2].counts["NACK_BAD_DST_Q"] == 1


@pytest.mark.parametrize(
    ("number", "address", "reason"),
    [
        (9, "10.0.0.9", NotRouted.UNKNOWN_PEER),
        (1, "10.0.0.9", NotRouted.OTHER_ADDRESS),
    ],
)
def test_who_may_bring_messages(number: int, address: str, reason: NotRouted) -> None:
    routed = chain()
    routed.change(1, qualified_computer_name="10.0.0.1")
    peer = RawPeer(routed.network, routed[2], address=address)
    peer.guid = guid_of(number)
    peer.connect()
    peer.send(packet(routed, b"1", 1))
    assert reasons(routed, 2) == [reason]


def test_an_out_routing_server_brings_and_forwards_although_it_is_no_routing_server() -> None:
    routed = Routed({1: "A", 2: "A", 3: "A*", 4: "A"})
    routed[4].create()
    routed.change(1, out_routing_server_identifier_list=(guid_of(2),))
    routed.change(2, out_routing_server_identifier_list=(guid_of(3),))
    routed.send(1, 4, b"1")
    routed.network.advance(1)
    assert [len(passed(routed, number)) for number in (2, 3, 4)] == [1, 1, 1]
    assert routed[4].bodies() == [b"1"]


def test_an_in_routing_server_that_is_no_routing_server_sends_to_the_destination() -> None:
    routed = Routed({1: "A", 2: "A", 4: "A"})
    routed[4].create()
    routed.change(4, in_routing_server_identifier_list=(guid_of(2),))
    routed.send(1, 4, b"1")
    routed.network.advance(1)
    assert [each.routing_count for each in passed(routed, 4)] == [1]


@pytest.mark.parametrize("tx", [False, True])
def test_a_machine_that_routes_for_nobody_refuses(*, tx: bool) -> None:
    settings = Settings(send_insecure_nacks=True)
    routed = Routed({1: "A", 2: "A", 4: "A"}, core_settings=settings)
    routed[4].create(transactional=tx)
    peer = raw_source(routed, 2)
    admin = private_address(guid_of(1), 5)
    build = ordered_packet if tx else packet
    peer.send(build(routed, b"1", 1, admin_queue=admin, acknowledgments=0x0F))
    routed.network.advance(1)
    assert reasons(routed, 2) == [NotRouted.NO_ROUTER]
    classes = [message.message_class for message in peer.received]
    assert classes.count(MessageClass.NACK_BAD_DST_Q) == 1 + tx
    assert sum(isinstance(ack, FinalAck) for ack in peer.acks()) == tx
    # It passes no stream here: nothing says how far the messages of the source got.
    assert routed[2].qm.state.stream_count.total == 0


def test_without_a_directory_nothing_is_forwarded() -> None:
    routed = chain()
    peer = raw_source(routed, 2)
    routed[2].qm.state.local.directory_integrated = False
    peer.send(packet(routed, b"1", 1))
    assert reasons(routed, 2) == [NotRouted.NO_DIRECTORY]


def test_a_directory_that_goes_offline_leaves_the_routes_as_they_were() -> None:
    routed = chain()
    peer = raw_source(routed, 2)
    peer.send(packet(routed, b"1", 1))
    routed.file.online = False
    peer.send(packet(routed, b"2", 2))
    routed.network.advance(1)
    assert routed[4].bodies() == [b"1", b"2"]


def test_forwarded_messages_make_no_more_outgoing_queues_than_allowed() -> None:
    routed = chain()
    routed[2].qm.state.settings.max_outgoing_queues = 0
    peer = raw_source(routed, 2)
    peer.send(packet(routed, b"1", 1))
    assert reasons(routed, 2) == [NotRouted.TOO_MANY_QUEUES]


def test_claims_of_a_routed_message_are_left_to_its_destination() -> None:
    routed = chain()
    peer = raw_source(routed, 2)
    peer.send(forge(packet(routed, b"1", 1, security_header=UNSIGNED)))
    routed.network.advance(1)
    (at_destination,) = passed(routed, 4)
    assert at_destination.security_flags & int(SecurityHeaderFlags.AU)
    (delivered,) = routed[4].take()
    assert not delivered.security_flags & int(SecurityHeaderFlags.AU)


@pytest.mark.parametrize(
    ("host", "address", "same"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("::1", "0:0:0:0:0:0:0:1", True),
        ("n1.example", "10.0.0.2", True),
        ("", "10.0.0.2", True),
    ],
)
def test_addresses_of_a_machine(*, host: str, address: str, same: bool) -> None:
    assert is_address_of(Machine(guid_of(1), host), address) is same


def test_what_is_refused_leaves_no_dead_letter_and_no_report() -> None:
    routed = chain()
    routed[1].create(REPORTS)
    peer = raw_source(routed, 2)
    unknown = private_address(STRANGER, 5)
    peer.send(packet(routed, b"1", 1, destination_queue=unknown, negative_journaling=True))
    assert routed[2].deadletters == []


def test_a_peer_of_a_denied_network_gets_no_session() -> None:
    settings = BinarySettings(allowed_addresses=("10.0.0.0/30",), denied_addresses=("10.0.0.3",))
    routed = chain(settings=settings)
    hop = routed[2].binary
    found = [hop.accept(f"10.0.0.{each}", now=routed.network.now) for each in (1, 3, 4)]
    assert [number is not None for number in found] == [True, False, False]
    assert routed[2].qm.counters.refused_connections.of("binary") == 2


@pytest.mark.spec("MQDMPR-3.1.1.1-19")
def test_in_hardened_mode_no_peer_is_let_in_and_no_ping_answered() -> None:
    routed = chain()
    node = routed[2]
    request = PingRequests(guid_of(1), server_class=True).request(7)
    assert node.binary.ping_request(request) is not None
    node.qm.set_hardened(hardened=True)
    assert node.binary.accept("10.0.0.1", now=routed.network.now) is None
    assert node.binary.ping_request(request) is None
