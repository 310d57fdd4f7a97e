"""Messages for foreign sites end in the connector queues of the gate that serves the site."""

from typing import Any
from uuid import UUID

import pytest
from tests.core.harness import ADMINISTRATOR, STRANGER, refused
from tests.protocol.binary.ordered_traffic import traffic
from tests.protocol.binary.raw_peer import RawPeer
from tests.protocol.binary.routed_network import Routed, guid_of, site

from openmsmq.core.management.routes import explain_route
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue, QueueType
from openmsmq.core.model.read import Read
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import private_address, public_address
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

NUMBER = 7
ENCRYPTED = SecurityHeader(int(SecurityHeaderFlags.EB), encryption_key=b"key")
CONNECTOR = f"CONNECTOR={site('f')}"
XACTONLY = f"{CONNECTOR};XACTONLY"
FOREIGN = rf"PRIVATE={guid_of(9)}\{NUMBER:08x}"


def network(**options: Any) -> Routed:
    """Source 1 in site A, gate 2 in A, connector 3 in B and the foreign site f, computer 9 in f."""
    return Routed(
        {1: "A", 2: "A*", 3: "Bf*", 9: "f"}, (("AB", 1, (2, 3)), ("Bf", 1, (3,))), **options
    )


def send(routed: Routed, source: int, *bodies: bytes, **properties: Any) -> None:
    address = private_address(guid_of(9), NUMBER)
    routed[source].send(FOREIGN, *bodies, destination_queue=address, **properties)


def connector(routed: Routed, name: str = CONNECTOR) -> Queue:
    """The connector queue as its application opens it."""
    opened = routed[3].qm.open_queue(name, QueueAccessType.RECEIVE, caller=ADMINISTRATOR)
    assert opened.queue is not None
    queue = opened.queue
    routed[3].qm.close_queue(opened)
    return queue


def receive(routed: Routed, name: str) -> list[bytes]:
    """Do the work of the connector application."""
    opened = routed[3].qm.open_queue(name, QueueAccessType.RECEIVE, caller=ADMINISTRATOR)
    read = routed[3].qm.traffic.dequeue_many(opened, max_count=100, timeout=0)
    assert isinstance(read, Read)
    routed[3].qm.close_queue(opened)
    return [UserMessage(packet).body for packet in read.packets]


@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_a_message_for_a_foreign_computer_waits_at_the_connector(delivery_mode: int) -> None:
    routed = network()
    send(routed, 1, b"1", b"2", delivery_mode=delivery_mode, label="label")
    routed.network.advance(3)
    queue = connector(routed)
    assert queue.queue_type is QueueType.CONNECTOR
    messages = routed[3].messages(queue)
    assert [message.body for message in messages] == [b"1", b"2"]
    assert {message.queue_manager_address for message in messages} == {guid_of(9)}
    assert {message.label for message in messages} == {"label"}
    assert routed[3].qm.outgoing.queues == []
    routed[3].crash()
    assert connector(routed).count == (2 if delivery_mode else 0)


def test_transactional_messages_come_once_and_in_order_and_in_a_queue_of_their_own() -> None:
    routed = network()
    send(routed, 1, b"1", b"2", tx=True, positive_journaling=True)
    routed.network.advance(3)
    queue = connector(routed, XACTONLY)
    assert [message.body for message in routed[3].messages(queue)] == [b"1", b"2"]
    assert connector(routed).count == 0
    # Delivered, as the connector says in the name of the foreign computer: nothing comes again.
    routed.network.advance(200)
    assert queue.count == 2
    assert routed[1].outgoing(FOREIGN).count == 2
    assert receive(routed, XACTONLY) == [b"1", b"2"]
    routed.network.advance(3)
    # The application has taken them on.
    assert routed[1].outgoing(FOREIGN).count == 0
    assert routed[1].journal == [b"1", b"2"]
    acks = [
        message
        for message in traffic(routed.network, "N1")
        if message.message_class != MessageClass.NORMAL
    ]
    assert {message.source_queue_manager for message in acks} == {guid_of(9)}


@pytest.mark.parametrize("tx", [False, True])
def test_the_connector_itself_sends_there_too(*, tx: bool) -> None:
    routed = network()
    send(routed, 3, b"1", tx=tx)
    queue = connector(routed, XACTONLY if tx else CONNECTOR)
    (message,) = routed[3].messages(queue)
    assert message.body == b"1"
    assert message.destination_queue == private_address(guid_of(9), NUMBER)
    assert routed[3].qm.outgoing.queues == []


def test_a_public_queue_of_a_foreign_computer_is_reached_so_too() -> None:
    routed = network()
    published = routed.publish(9, 0x9)
    name = f"PUBLIC={published.identifier}"
    for source in (1, 3):
        routed[source].send(name, b"1", destination_queue=public_address(published.identifier))
    routed.network.advance(3)
    assert connector(routed).count == 2
    with refused("MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION"):
        routed[3].send(f"PUBLIC={UUID(int=5)}", b"1")


def test_only_the_connector_of_a_site_has_its_queues() -> None:
    routed = network()
    for node, name in ((2, CONNECTOR), (3, f"CONNECTOR={site('B')}")):
        with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
            routed[node].qm.open_queue(name, QueueAccessType.RECEIVE, caller=ADMINISTRATOR)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        routed[3].qm.open_queue(CONNECTOR, QueueAccessType.RECEIVE, caller=STRANGER)


def bring(routed: Routed, number: int, **properties: Any) -> None:
    """Have a queue manager bring a message of the source to the connector."""
    peer = RawPeer(routed.network, routed[3], address=f"10.0.0.{number}")
    peer.guid = guid_of(number)
    routed.network.nodes.pop(peer.address, None)
    peer.connect()
    address = private_address(guid_of(9), NUMBER)
    source = guid_of(1)
    peer.send(
        build_user_message(
            body=b"1",
            message_id=1,
            destination_queue=address,
            source_queue_manager=source,
            **properties,
        )
    )


@pytest.mark.parametrize(("number", "taken"), [(2, 1), (5, 0)])
def test_the_connector_takes_messages_from_known_queue_managers_only(
    number: int, taken: int
) -> None:
    routed = network()
    bring(routed, number)
    assert connector(routed).count == taken
    assert ("NACK_BAD_DST_Q" in routed[3].counts) is not bool(taken)


def test_what_is_encrypted_for_a_foreign_computer_is_passed_on_as_it_is() -> None:
    routed = network()
    bring(routed, 2, security_header=ENCRYPTED, privacy_level=1)
    (message,) = routed[3].messages(connector(routed))
    assert message.encrypted
    assert message.body == b"1"


def test_route_says_where_the_way_ends() -> None:
    routed = network()
    info = explain_route(routed[1].qm.state, parse_format_name(FOREIGN))
    assert info.found
    assert info.path[-1].why == "the connector queue of a foreign site"
    assert info.path[-1].next_site == "f"
    assert info.path_name == ""
