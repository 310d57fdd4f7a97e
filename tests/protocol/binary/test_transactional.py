"""Exactly once, in order, through cuts and crashes; and what is only passed on."""

from uuid import UUID

import pytest
from tests.protocol.binary.ordered_traffic import numbers, traffic, tx_pair
from tests.protocol.binary.pair import (
    ORDERS,
    TO_B,
    USER,
    Node,
)
from tests.protocol.binary.raw_peer import RawPeer, tx_message

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.transfer.forwarding.routed import store
from openmsmq.core.transfer.incoming.streams import IncomingTransactionalTransferInfo
from openmsmq.wire.message.user_message_patch import with_routing_count
from openmsmq.wire.message.user_message_run import split_runs
from openmsmq.wire.packets.order_ack import OrderAck, recognize_ack

# Everything at once


def test_exactly_once_in_order_through_cuts_and_crashes() -> None:
    network, a, b = tx_pair()
    got: list[bytes] = []
    expected = []
    for round_ in range(12):
        contents = [b"%d.%d" % (round_, each) for each in range(20)]
        expected += contents
        a.send(TO_B, *contents, tx=True)
        if round_ % 3 == 0:
            network.run()
            network.cut()
        elif round_ % 3 == 1:
            a.flush()
            a.crash()
        else:
            network.run()
            b.flushing = False
            network.advance(0.3)
            b.crash()
            b.flushing = True
        network.advance(7)
        got += b.receive()
        b.flush()
    network.advance(120)
    got += b.receive()
    assert got == expected
    assert a.outgoing(TO_B).count == 0


# What is only passed on


def forward(node: Node, packet: bytes) -> None:
    """Take a message of another source for B, as a router does."""
    (run,) = split_runs([packet])
    assert store(node.qm.state, run, node.outgoing(TO_B), "10.0.0.9") == 1


@pytest.mark.spec("MQQB-3.1.1.3.1-15", "MQQB-3.1.1.5-06")
def test_a_message_of_another_source_is_forwarded_as_it_is() -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"own", tx=True)
    network.advance(2)
    packet = tx_message(b"foreign", 9 << 32 | 5, 3, 2, delivery_mode=1)
    queue = a.outgoing(TO_B)
    forward(a, packet)
    sequence = a.qm.state.last_tx_sequence
    network.advance(2)
    assert traffic(network, "B")[-1].packet == with_routing_count([packet], 1)[0]
    # Neither ordered nor kept for an OrderAck, which is the business of its source.
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is None
    assert a.qm.state.last_tx_sequence == sequence
    assert queue.count == 0
    assert streams(a) == []
    a.send(TO_B, b"own again", tx=True)
    network.run()
    assert numbers(network)[-1] == (sequence + 1, 1, 0)
    assert b.receive() == [b"own", b"own again"]


def streams(node: Node) -> list[IncomingTransactionalTransferInfo]:
    return [stream for queue in node.qm.state.queues.values() for stream in queue.incoming.values()]


@pytest.mark.spec("MQQB-3.1.1.5-05")
def test_a_message_for_another_queue_manager_touches_no_sequence() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    elsewhere = UUID(int=0x1234)
    number = b.qm.find_queue(f".\\{ORDERS}").properties.private_queue_number
    peer.send(tx_message(b"1", 1 << 32, 1, 0, private=(elsewhere, number)))
    network.advance(2)
    assert streams(b) == []
    assert b.receive() == []
    assert not [each for each in peer.received if isinstance(recognize_ack(each), OrderAck)]
    # The same message for this queue manager is processed.
    peer.send(tx_message(b"1", 1 << 32, 1, 0, private=(b.guid, number)))
    network.advance(2)
    assert [stream.sequence_number for stream in streams(b)] == [1]
    assert [each for each in peer.received if isinstance(recognize_ack(each), OrderAck)]


@pytest.mark.spec("MQQB-3.1.3.2-03")
def test_after_a_start_connections_are_tried_as_long_as_messages_wait() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.qm.open_queue(TO_B, QueueAccessType.SEND, caller=USER)
    a.restart()
    network.run()
    (status,) = a.binary.outgoing(now=network.now)
    assert status.retry_in_seconds is None
    a.send(TO_B, b"1", tx=True)
    a.restart()
    for _ in range(3):
        network.run()
        (status,) = a.binary.outgoing(now=network.now)
        assert status.retry_in_seconds == a.settings.retry_connect_seconds
        network.advance(a.settings.retry_connect_seconds - 0.01)
        attempts = a.outgoing(TO_B).outgoing.connection_history  # type: ignore[union-attr]
        before = len(attempts)
        network.advance(0.01)
        assert len(attempts) == before + 1


@pytest.mark.spec("MQQB-3.1.7.1.3-04", "MQQB-3.1.1.5-05")
def test_a_forwarded_message_keeps_the_numbers_of_its_source() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.send(TO_B, b"own", tx=True)
    network.run()
    forward(a, tx_message(b"forwarded", 77, 9, 8))
    forward(a, tx_message(b"other", 77, 10, 9, message_id=10))
    b.listening = True
    network.advance(6)
    assert [each[1:] for each in numbers(network)] == [(1, 0), (9, 8), (10, 9)]
    assert [each[0] for each in numbers(network)][1:] == [77, 77]
    assert a.qm.state.last_tx_sequence & 0xFFFFFFFF == 1
