"""Messages travel over a transport that knows nothing of the binary protocol, both ways."""

from pathlib import Path
from typing import Any
from uuid import UUID

from tests.core.fake_verifier import LEVEL, SIGNED, FakeVerifier
from tests.core.harness import USER
from tests.core.peer_counts import peer_counts
from tests.engine import fake_carrier
from tests.engine.fake_carrier import RESEND_TABLE, FakeCarrier, pair, run

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.read import Read
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

PA_AND_PR = 3


def url(node: FakeCarrier, queue: str) -> str:
    return f"http://{node.name.lower()}/msmq/private$/{queue}"


def send(
    node: FakeCarrier,
    to: FakeCarrier,
    *bodies: bytes,
    express: bool = False,
    tx: bool = False,
    **properties: Any,
) -> None:
    packets = [
        build_user_message(
            body=body,
            destination_queue=direct_address(url(to, "orders")),
            admin_queue=direct_address(url(node, "orders")),
            acknowledgments=PA_AND_PR,
            delivery_mode=0 if express else 1,
            **properties,
        )
        for body in bodies
    ]
    name = f"DIRECT={url(to, 'orders')}"
    descriptor = node.qm.open_queue(name, QueueAccessType.SEND, caller=USER)
    transaction = node.qm.traffic.begin(UUID(int=node.qm.seen << 8 | 1)) if tx else None
    node.qm.traffic.enqueue_many(descriptor, packets, transaction)
    if transaction is not None:
        node.qm.traffic.commit(transaction.identifier)
    node.qm.close_queue(descriptor)


def contents(node: FakeCarrier) -> list[UserMessage]:
    queue = node.qm.find_queue(r".\private$\orders")
    return [UserMessage(packet) for packet in packets_of(node.qm.state, list(queue.lanes))]


def receive(node: FakeCarrier) -> list[bytes]:
    descriptor = node.qm.open_queue(r".\private$\orders", QueueAccessType.RECEIVE, caller=USER)
    read = node.qm.traffic.dequeue_many(descriptor, max_count=1000, timeout=0)
    node.qm.close_queue(descriptor)
    assert isinstance(read, Read)
    return [UserMessage(packet).body for packet in read.packets]


def test_messages_and_their_acknowledgments_travel_both_ways() -> None:
    a, b = pair()
    for node in (a, b):
        node.qm.create_queue(r".\private$\orders", caller=USER)
    send(a, b, b"1", b"2", b"3")
    send(b, a, b"4", express=True)
    run(a, b)
    assert [message.body for message in contents(b)][:3] == [b"1", b"2", b"3"]
    # One acknowledgment of arrival for each message, and the one message of the other side.
    assert len(contents(a)) == 4
    assert receive(b)[:3] == [b"1", b"2", b"3"]
    run(a, b)
    assert len(contents(a)) == 7
    for node in (a, b):
        assert not [queue for queue in node.qm.outgoing.queues if queue.count]
        assert node.faults == []
        assert peer_counts(node.qm) == {}


def test_nothing_leaves_and_nothing_is_acknowledged_before_it_is_on_disk() -> None:
    a, b = pair()
    b.qm.create_queue(r".\private$\orders", caller=USER)
    run(a, b)
    send(a, b, b"1")
    a.turn(flush=False)
    assert a.sent == []
    assert contents(b) == []
    a.turn()
    assert len(contents(b)) == 1
    assert len(a.sent) == 1
    b.turn(flush=False)
    assert len(a.sent) == 1
    b.turn()
    assert a.sent == []


def test_a_copy_is_a_duplicate_and_a_missing_queue_a_refusal() -> None:
    a, b = pair()
    b.qm.create_queue(r".\private$\orders", caller=USER)
    send(a, b, b"1")
    a.turn()
    b.arrive([contents(b)[0].packet])
    assert peer_counts(b.qm) == {"duplicate message": 1}
    send(b, a, b"2")
    run(a, b)
    # The acknowledgment of the first message finds no queue here, either.
    assert peer_counts(a.qm) == {"NACK_BAD_DST_Q": 2}


def transactional_pair() -> tuple[FakeCarrier, FakeCarrier]:
    a, b = pair()
    b.qm.create_queue(r".\private$\orders", caller=USER, transactional=True)
    run(a, b)
    return a, b


def test_transactional_messages_travel_in_order_and_wait_for_their_receipt() -> None:
    a, b = transactional_pair()
    send(a, b, b"1", b"2", tx=True)
    a.turn()
    (queue,) = a.qm.outgoing.queues
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is not None
    stream = a.streams.find(queue)
    assert stream is not None
    assert list(stream.ordered) == [1, 2]
    assert a.next_timer() == a.now + 10.0
    run(a, b)
    assert receive(b) == [b"1", b"2"]
    assert queue.count == 0
    assert a.next_timer() is None


def test_what_gets_lost_is_sent_again_and_arrives_once_and_in_order() -> None:
    a, b = transactional_pair()
    for body in (b"1", b"2", b"3"):
        send(a, b, body, tx=True)
        assert a.turn(lose=body != b"2")
    assert contents(b) == []
    for seconds in RESEND_TABLE:
        timer = a.next_timer()
        assert timer is not None
        a.now = timer
        assert a.turn(lose=seconds == RESEND_TABLE[0])
    run(a, b)
    assert receive(b) == [b"1", b"2", b"3"]
    assert a.next_timer() is None


def test_a_receipt_goes_where_the_stream_says_after_a_restart_too() -> None:
    a, b = transactional_pair()
    send(a, b, b"1", tx=True)
    run(a, b)
    (stream,) = b.qm.find_queue(r".\private$\orders").incoming.values()
    assert stream.transport is Transport.HTTP
    assert stream.receipts_to == f"receipts of {a.guid}"
    rows = [row for table, _, row in b.store.recover(None).rows if table == Table.STREAMS]
    assert rows == [stream.serialize()]


def test_messages_wait_for_their_checks_and_keep_their_order() -> None:
    a, b = pair(FakeVerifier())
    b.qm.create_queue(r".\private$\orders", caller=USER, transactional=True)
    run(a, b)
    send(a, b, b"1", tx=True, security_header=SIGNED)
    a.turn()
    send(a, b, b"2", tx=True)
    a.turn()
    send(a, b, b"3", tx=True, security_header=SIGNED)
    a.turn()
    b.turn()
    assert contents(b) == []
    assert len(a.sent) == 3
    first, third = b.jobs()
    for job in (third, first):
        job.run()
        b.engine.job_done(job)
    run(a, b)
    assert [message.body for message in contents(b)] == [b"1", b"2", b"3"]
    assert [message.authentication_level for message in contents(b)] == [LEVEL, 0, LEVEL]
    assert a.sent == []
    assert not a.next_timer()


def test_a_check_that_breaks_leaves_messages_to_their_sender() -> None:
    a, b = pair(FakeVerifier())
    b.qm.create_queue(r".\private$\orders", caller=USER)
    send(a, b, b"fault", security_header=SIGNED)
    a.turn()
    b.turn()
    (job,) = b.jobs()
    b.engine.job_done(job, ArithmeticError("fault"))
    run(b)
    assert b.faults == ["ArithmeticError: fault"]
    assert len(a.sent) == 1
    assert contents(b) == []


def test_it_knows_nothing_of_the_binary_protocol() -> None:
    text = Path(fake_carrier.__file__).read_text(encoding="utf-8")
    assert "protocol.binary" not in text
    assert len(text.splitlines()) < 210
