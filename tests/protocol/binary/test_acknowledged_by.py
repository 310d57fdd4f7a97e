"""Whose acknowledgments of transactional messages are accepted: those of the destination."""

from uuid import UUID

import pytest
from tests.protocol.binary.ordered_traffic import ordered, tx_pair
from tests.protocol.binary.pair import ORDERS, TO_B, Network, Node, pair
from tests.protocol.binary.raw_peer import RawPeer

from openmsmq.core.transfer.incoming.delivery import learn_address
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.names.queue_address import direct_address

UNKNOWN = "unknown transactional acknowledgment"


def other_session(network: Network, a: Node, sequence: int, *, number: int = 9) -> RawPeer:
    """Another queue manager with a session to A; it knows the sequence of A's messages."""
    other = RawPeer(network, a, address=f"10.0.0.{number}", number=number)
    other.connect()
    other.last_sequence = sequence
    return other


def test_an_order_ack_of_the_destination_is_accepted_over_any_session() -> None:
    network, a, b = tx_pair()
    destination = ordered(network, a, b, b"1", b"2")
    destination.session_ack()
    router = other_session(network, a, destination.last_sequence)
    router.order_ack(1, source=destination.guid)
    assert a.outgoing(TO_B).count == 1
    router.order_ack(2, source=destination.guid)
    assert a.outgoing(TO_B).count == 0
    assert UNKNOWN not in a.counts


def test_an_order_ack_of_another_queue_manager_is_not_accepted() -> None:
    network, a, b = tx_pair()
    destination = ordered(network, a, b, b"1")
    destination.session_ack()
    stranger = other_session(network, a, destination.last_sequence)
    stranger.order_ack(1)
    # Nor does it help that the session is the one that the messages took.
    destination.order_ack(1, source=UUID(int=0x57A))
    assert a.outgoing(TO_B).count == 1
    assert a.counts[UNKNOWN] == 2


@pytest.mark.parametrize("restart", [False, True])
def test_a_final_ack_of_the_destination_is_accepted_over_any_session(*, restart: bool) -> None:
    network, a, b = tx_pair()
    destination = ordered(network, a, b, b"1", positive_journaling=True)
    destination.session_ack()
    destination.order_ack(1)
    message_id = destination.received[0].message_id
    if restart:
        a.crash()
    router = other_session(network, a, destination.last_sequence)
    router.final_ack(1, MessageClass.ACK_RECEIVE, message_id=message_id)
    assert a.journal == []
    router.final_ack(
        1, MessageClass.ACK_RECEIVE, message_id=message_id + 1, source=destination.guid
    )
    assert a.journal == []
    router.final_ack(1, MessageClass.ACK_RECEIVE, message_id=message_id, source=destination.guid)
    assert a.journal == [b"1"]


def test_the_destination_of_a_name_with_a_guid_is_known_before_any_session() -> None:
    network, a, b = pair(queue={"transactional": True})
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    name = rf"PRIVATE={b.guid}\{number:08x}"
    learn_address(a.qm.state, b.guid, "10.0.0.2")
    to_b = direct_address(TO_B.removeprefix("DIRECT="))
    a.send(name, b"1", tx=True, destination_queue=to_b)
    network.advance(2)
    outgoing = a.outgoing(name).outgoing
    assert outgoing is not None
    assert outgoing.destination == b.guid
    assert outgoing.next_hops is not None
    assert [hop.address for hop in outgoing.next_hops] == ["10.0.0.2"]
    assert b.bodies() == [b"1"]
    assert a.outgoing(name).count == 0
