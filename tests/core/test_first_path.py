"""Create, open, send, receive, restart."""

from tests.core.harness import ORDERS, RECEIVE, Harness, bodies

from openmsmq.core.model.read import Read


def test_messages_come_back_in_order_and_survive_a_restart() -> None:
    harness = Harness()
    harness.create()
    sent = harness.send(b"1", b"2", b"3")
    assert sent.depends == 1
    harness.restart()
    descriptor = harness.open(RECEIVE)
    read = harness.qm.traffic.dequeue_many(descriptor, max_count=2)
    assert bodies(read) == [b"1", b"2"]
    assert isinstance(read, Read)
    assert read.depends > 0
    harness.restart()
    assert harness.contents(ORDERS) == [b"3"]
