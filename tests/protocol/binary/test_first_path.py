"""From a queue of A to a queue of B and back."""

from tests.protocol.binary.pair import ORDERS, TO_B, pair


def test_an_express_message_gets_from_one_queue_manager_to_the_other() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1", b"2", delivery_mode=0)
    network.run()
    assert b.bodies(ORDERS) == [b"1", b"2"]
    assert a.outgoing(TO_B).count == 2
    network.advance(10)
    assert a.outgoing(TO_B).count == 0


def test_a_recoverable_message_is_kept_until_the_peer_has_it_on_disk() -> None:
    network, a, b = pair()
    b.flushing = False
    a.send(TO_B, b"1")
    network.advance(5)
    assert a.outgoing(TO_B).count == 1
    b.flushing = True
    network.advance(1)
    assert a.outgoing(TO_B).count == 0
    assert b.bodies(ORDERS) == [b"1"]


def test_transactional_messages_arrive_in_order_and_are_forgotten_on_the_order_ack() -> None:
    network, a, b = pair(queue={"transactional": True})
    a.send(TO_B, b"1", b"2", tx=True)
    a.send(TO_B, b"3", tx=True)
    network.run()
    assert b.bodies(ORDERS) == [b"1", b"2", b"3"]
    assert a.outgoing(TO_B).count == 3
    network.advance(2)
    assert a.outgoing(TO_B).count == 0
