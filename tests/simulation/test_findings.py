"""What the simulation found, each as small as it gets."""

from tests.protocol.binary.pair import ADMINISTRATOR, TO_B, pair


def test_a_final_ack_of_an_earlier_sequence_leaves_the_same_number_of_a_later_one_alone() -> None:
    network, a, b = pair(queue={"transactional": True})
    a.send(TO_B, b"1", tx=True, negative_journaling=True)
    network.advance(2)
    a.send(TO_B, b"2", tx=True)
    network.run()
    assert b.receive(limit=1) == [b"1"]
    network.advance(5)
    assert a.outgoing(TO_B).count == 0


def test_a_final_ack_that_comes_before_anything_is_sent_after_a_restart_is_understood() -> None:
    network, a, b = pair(queue={"transactional": True})
    a.send(TO_B, b"1", tx=True, positive_journaling=True)
    network.run()
    b.listening = False
    a.crash()
    network.run()
    assert b.receive() == [b"1"]
    network.advance(10)
    assert a.outgoing(TO_B).count == 0
    assert a.journal == [b"1"]


def test_an_order_ack_is_sent_once_a_slow_disk_is_done() -> None:
    network, a, b = pair(queue={"transactional": True})
    a.send(TO_B, b"1", tx=True)
    network.advance(2)
    b.flushing = False
    a.send(TO_B, b"2", tx=True)
    network.advance(2)
    assert a.outgoing(TO_B).count == 1
    b.flushing = True
    network.advance(2)
    assert a.outgoing(TO_B).count == 0


def test_a_sequence_does_not_end_while_messages_of_it_wait_to_be_sent_again() -> None:
    network, a, b = pair(queue={"transactional": True})
    b.flushing = False
    a.send(TO_B, b"1", tx=True)
    network.run()
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.advance(31)
    b.flushing = True
    network.advance(2)
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.advance(60)
    assert a.outgoing(TO_B).count == 0
    assert b.bodies() == [b"1"]
