"""Receiving and peeking without a cursor ([MS-MQDMPR] 3.1.7.1.10-12, 15)."""

import pytest
from tests.core.harness import ORDERS, PEEK, RECEIVE, SEND, USER, Harness, Tag, bodies, refused

from openmsmq.core.events import MessagesDeleted, ReadEnded, ReadSatisfied
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.read import Read
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import QueueAddress, direct_address

SPEC = pytest.mark.spec


@SPEC("MQDMPR-3.1.1.2-20", "MQDMPR-3.1.7.1.9-08")
def test_higher_priority_comes_first_and_arrival_decides_within_one(harness: Harness) -> None:
    for number, priority in enumerate((3, 0, 7, 3, 7, 0)):
        harness.send(b"%d" % number, priority=priority)
    assert harness.contents() == [b"2", b"4", b"0", b"3", b"1", b"5"]
    descriptor = harness.open(RECEIVE)
    peeked = harness.qm.traffic.peek_many(descriptor, max_count=6)
    assert bodies(peeked) == [b"2", b"4", b"0", b"3", b"1", b"5"]
    assert harness.drain() == [b"2", b"4", b"0", b"3", b"1", b"5"]


@SPEC("MQDMPR-3.1.1.12-06")
def test_the_time_of_arrival_is_that_of_the_enqueue(harness: Harness) -> None:
    harness.advance(12.5)
    sent = harness.send(b"x")
    assert sent.messages[0].arrived == harness.utc


@SPEC("MQDMPR-3.1.7.1.10-07")
def test_a_receive_takes_the_first_message_that_is_not_locked(harness: Harness) -> None:
    harness.send(b"1", b"2", b"3")
    first = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(first, max_count=2, two_phase=True)
    assert bodies(harness.qm.traffic.dequeue_many(harness.open(RECEIVE))) == [b"3"]


@SPEC("MQDMPR-3.1.7.1.10-14")
@pytest.mark.parametrize("two_phase", [False, True])
@pytest.mark.parametrize("waiting", [False, True])
def test_two_receivers_never_get_the_same_message(
    harness: Harness, *, two_phase: bool, waiting: bool
) -> None:
    if not waiting:
        harness.send(b"1", b"2", b"3")
    received = [
        harness.qm.traffic.dequeue_many(harness.open(RECEIVE), two_phase=two_phase, timeout=5)
        for _ in range(4)
    ]
    if waiting:
        harness.send(b"1", b"2", b"3")
        found = [UserMessage(event.packets[0]).body for event in harness.take_events(ReadSatisfied)]
    else:
        found = [body for read in received[:3] for body in bodies(read)]
    assert found == [b"1", b"2", b"3"]
    assert isinstance(received[3], ReadRequest)
    harness.advance(5)
    assert [event.read for event in harness.take_events(ReadEnded)] == [received[3]]


@SPEC("MQDMPR-3.1.7.1.10-12", "MQDMPR-3.1.7.2.1-02", "MQDMPR-3.1.7.1.10-13")
def test_a_plain_receive_deletes_the_message_with_the_reason_ack_receive(harness: Harness) -> None:
    harness.send(b"1", acknowledgments=2, admin_queue=_admin(harness))
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    assert bodies(read) == [b"1"]
    assert isinstance(read, Read)
    assert read.messages[0].state == PositionState.DELETED
    assert harness.contents() == []
    deleted = harness.take_events(MessagesDeleted)
    assert [(event.reason, event.messages) for event in deleted] == [
        (MessageClass.ACK_RECEIVE, read.messages)
    ]


def _admin(harness: Harness) -> QueueAddress:
    harness.create(r".\private$\admin")
    return direct_address(r"OS:qm\private$\admin")


@SPEC("MQDMPR-3.1.7.1.10-02", "MQDMPR-3.1.2.3-01")
def test_without_a_timeout_a_receive_waits_for_ever(harness: Harness) -> None:
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    assert isinstance(read, ReadRequest)
    assert harness.qm.next_timer() is None
    harness.advance(1e9)
    assert harness.take_events(ReadEnded) == []
    harness.send(b"late")
    assert [event.read for event in harness.take_events(ReadSatisfied)] == [read]


@SPEC("MQDMPR-3.1.2.3-01", "MQDMPR-3.1.6.3-01", "MQDMPR-3.1.7.1.10-09")
def test_a_waiting_receive_gives_up_after_exactly_its_timeout(harness: Harness) -> None:
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE), timeout=5)
    assert harness.qm.next_timer() == harness.now + 5
    harness.advance(4.999)
    assert harness.take_events(ReadEnded) == []
    harness.advance(0.001)
    ended = harness.take_events(ReadEnded)
    assert [(event.read, event.code) for event in ended] == [(read, Hresult.MQ_ERROR_IO_TIMEOUT)]
    assert harness.qm.next_timer() is None


@SPEC("MQDMPR-3.1.7.1.10-09", "MQDMPR-3.1.7.3.1-02")
@pytest.mark.parametrize("timeout", [0, -1, float("-inf"), float("nan")])
def test_a_receive_that_may_not_wait_ends_with_a_timeout(harness: Harness, timeout: float) -> None:
    descriptor = harness.open(RECEIVE)
    with refused("MQ_ERROR_IO_TIMEOUT"):
        harness.qm.traffic.dequeue_many(descriptor, timeout=timeout)
    with refused("MQ_ERROR_IO_TIMEOUT"):
        harness.qm.traffic.peek_many(descriptor, timeout=timeout)
    assert not harness.qm.find_queue(ORDERS).waiting


def test_an_endless_timeout_is_as_good_as_none(harness: Harness) -> None:
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), timeout=float("inf"))
    assert harness.qm.next_timer() is None


@SPEC("MQDMPR-3.1.7.1.10-08", "MQDMPR-3.1.7.3.1-03", "MQDMPR-3.1.1.10-01")
def test_a_wait_is_registered_with_what_the_caller_gave(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    cursor = harness.qm.open_cursor(descriptor)
    receive = harness.qm.traffic.dequeue_many(descriptor, timeout=5, tag=Tag("one"))
    peek = harness.qm.traffic.peek_many(descriptor, timeout=6, cursor=cursor)
    assert list(harness.qm.find_queue(ORDERS).waiting) == [receive, peek]
    assert isinstance(receive, ReadRequest)
    assert isinstance(peek, ReadRequest)
    assert (receive.destructive, receive.tag, receive.cursor) == (True, Tag("one"), None)
    assert (peek.destructive, peek.tag, peek.cursor) == (False, None, cursor)
    assert harness.qm.next_timer() == harness.now + 5


@SPEC("MQDMPR-3.1.7.3.1-04", "MQDMPR-3.1.7.3.1-05")
def test_a_satisfied_wait_does_not_also_time_out(harness: Harness) -> None:
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), timeout=5)
    harness.send(b"1")
    assert len(harness.take_events(ReadSatisfied)) == 1
    assert not harness.qm.find_queue(ORDERS).waiting
    assert harness.qm.next_timer() is None
    harness.advance(10)
    assert harness.take_events(ReadEnded) == []


def test_a_wait_that_timed_out_takes_no_later_message(harness: Harness) -> None:
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), timeout=5)
    harness.advance(5)
    harness.send(b"1")
    assert harness.contents() == [b"1"]
    assert harness.take_events(ReadSatisfied) == []


@SPEC("MQDMPR-3.1.7.1.11-01", "MQDMPR-3.1.7.1.10-11", "MQDMPR-3.1.1.11-02")
def test_a_two_phase_read_locks_the_message_and_says_nothing_yet(harness: Harness) -> None:
    harness.send(b"1", acknowledgments=2, admin_queue=_admin(harness))
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE), two_phase=True)
    assert bodies(read) == [b"1"]
    assert isinstance(read, Read)
    assert read.messages[0].state == PositionState.LOCKED
    assert harness.qm.find_queue(ORDERS).count == 1
    assert harness.take_events(MessagesDeleted) == []
    assert harness.contents(r".\private$\admin") == []


@SPEC("MQDMPR-3.1.7.1.10-03")
def test_two_phase_is_off_unless_asked_for(harness: Harness) -> None:
    harness.send(b"1")
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    assert harness.qm.find_queue(ORDERS).count == 0


@SPEC("MQDMPR-3.1.7.1.10-03", "MQDMPR-3.1.7.1.11-02")
def test_a_transaction_goes_before_two_phase(harness: Harness) -> None:
    harness.create(r".\private$\t", transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=r".\private$\t", transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    descriptor = harness.open(RECEIVE, r".\private$\t")
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.dequeue_many(descriptor, transaction=transaction, two_phase=True)
    assert descriptor.locked == {}
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.qm.find_queue(r".\private$\t").count == 0


@SPEC("MQDMPR-3.1.7.1.11-03")
def test_a_two_phase_read_waits_with_its_tag_and_can_be_cancelled(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    read = harness.qm.traffic.dequeue_many(descriptor, two_phase=True, tag=Tag(7))
    assert isinstance(read, ReadRequest)
    assert harness.qm.traffic.cancel(harness.qm.find_queue(ORDERS), Tag(7), 5) == Hresult.MQ_OK
    assert [event.code for event in harness.take_events(ReadEnded)] == [5]
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.dequeue_many(descriptor, two_phase=True)


@SPEC("MQDMPR-3.1.7.1.12-04")
def test_the_end_of_a_two_phase_read_deletes_with_ack_receive(harness: Harness) -> None:
    harness.send(b"1", b"2", acknowledgments=2, admin_queue=_admin(harness))
    descriptor = harness.open(RECEIVE)
    read = harness.qm.traffic.dequeue_many(descriptor, max_count=2, two_phase=True)
    assert isinstance(read, Read)
    ended = harness.qm.traffic.end_many(descriptor, [read.messages[0].lookup_id], delete=True)
    assert ended.depends == harness.qm.state.outbox.number
    assert [event.reason for event in harness.take_events(MessagesDeleted)] == [
        MessageClass.ACK_RECEIVE
    ]
    harness.restart()
    assert harness.contents() == [b"2"]


@SPEC("MQDMPR-3.1.7.1.12-06")
def test_a_message_that_is_given_back_stands_in_its_old_place(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", b"3")
    descriptor = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(descriptor, two_phase=True)
    waiting = harness.qm.traffic.dequeue_many(harness.open(RECEIVE), max_count=9)
    assert bodies(waiting) == [b"2", b"3"]
    reader = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids[:1], delete=False)
    satisfied = harness.take_events(ReadSatisfied)
    assert [event.read for event in satisfied] == [reader]
    assert satisfied[0].messages[0].lookup_id == sent.lookup_ids[0]


@SPEC("MQDMPR-3.1.7.1.12-02")
def test_the_end_of_a_read_that_never_began_is_refused(harness: Harness) -> None:
    sent = harness.send(b"1", b"2")
    descriptor = harness.open(RECEIVE)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.traffic.end_many(descriptor, sent.lookup_ids[:1], delete=True)
    harness.qm.traffic.dequeue_many(descriptor, two_phase=True)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.traffic.end_many(harness.open(RECEIVE), sent.lookup_ids[:1], delete=True)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.traffic.end_many(descriptor, sent.lookup_ids, delete=True)
    assert len(descriptor.locked) == 1


@SPEC("MQDMPR-3.1.7.1.10-01", "MQDMPR-3.1.7.1.12-01", "MQDMPR-3.1.7.1.4-02")
def test_a_descriptor_of_a_deleted_queue_answers_queue_not_available(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.dequeue_many(descriptor)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.end_many(descriptor, [1], delete=True)


@SPEC("MQDMPR-3.1.7.1.15-01", "MQDMPR-3.1.7.1.14-01", "MQDMPR-3.1.7.3.1-01")
def test_a_peek_at_a_deleted_queue_answers_queue_not_available(harness: Harness) -> None:
    descriptor = harness.open(PEEK)
    cursor = harness.qm.open_cursor(descriptor)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.peek_many(descriptor)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.peek_many(descriptor, cursor=cursor, next_message=True)


@SPEC("MQDMPR-3.1.7.1.15-04")
def test_a_peek_changes_nothing(harness: Harness) -> None:
    harness.send(b"1", b"2")
    descriptor = harness.open(PEEK)
    for _ in range(2):
        read = harness.qm.traffic.peek_many(descriptor)
        assert bodies(read) == [b"1"]
        assert isinstance(read, Read)
        assert read.messages[0].state == PositionState.AVAILABLE
    assert harness.contents() == [b"1", b"2"]


@SPEC("MQDMPR-3.1.7.1.15-01", "MQDMPR-3.1.7.1.15-05")
def test_a_peek_waits_and_leaves_the_message_it_waited_for(harness: Harness) -> None:
    descriptor = harness.open(PEEK)
    for_ever = harness.qm.traffic.peek_many(descriptor)
    short = harness.qm.traffic.peek_many(descriptor, timeout=3)
    harness.advance(3)
    ended = harness.take_events(ReadEnded)
    assert [(event.read, event.code) for event in ended] == [(short, Hresult.MQ_ERROR_IO_TIMEOUT)]
    harness.send(b"1")
    assert [event.read for event in harness.take_events(ReadSatisfied)] == [for_ever]
    assert harness.contents() == [b"1"]


@SPEC("MQDMPR-3.1.1.17-02")
@pytest.mark.parametrize("access", [SEND, PEEK])
def test_receiving_needs_receive_access(harness: Harness, access: QueueAccessType) -> None:
    harness.send(b"1")
    descriptor = harness.open(access)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.traffic.dequeue_many(descriptor)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.traffic.purge(descriptor)
    assert harness.contents() == [b"1"]


@SPEC("MQDMPR-3.1.1.17-02")
def test_peeking_and_sending_need_their_access(harness: Harness) -> None:
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.traffic.peek_many(harness.open(SEND))
    for access in (RECEIVE, PEEK):
        with refused("MQ_ERROR_ACCESS_DENIED"):
            harness.qm.traffic.enqueue_many(harness.open(access), [])


def test_what_a_read_shows_depends_on_the_batch_that_stored_it(harness: Harness) -> None:
    harness.flush()
    sent = harness.send(b"1")
    descriptor = harness.open(RECEIVE)
    peeked = harness.qm.traffic.peek_many(descriptor)
    assert isinstance(peeked, Read)
    assert peeked.depends == sent.depends > 0
    harness.flush()
    peeked = harness.qm.traffic.peek_many(descriptor)
    assert isinstance(peeked, Read)
    assert peeked.depends == 0
    received = harness.qm.traffic.dequeue_many(descriptor)
    assert isinstance(received, Read)
    assert received.depends == sent.depends + 1


def test_an_express_message_waits_for_no_disk(harness: Harness) -> None:
    harness.flush()
    assert harness.send(b"1", delivery_mode=0).depends == 0
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    assert isinstance(read, Read)
    assert read.depends == 0
    assert harness.qm.take_batch() is None


def test_a_read_is_limited_by_bytes_but_returns_at_least_one(harness: Harness) -> None:
    harness.send(b"x" * 1000, b"y" * 1000, b"z" * 1000)
    descriptor = harness.open(RECEIVE)
    assert len(bodies(harness.qm.traffic.peek_many(descriptor, max_count=3, max_bytes=2500))) == 2
    assert len(bodies(harness.qm.traffic.peek_many(descriptor, max_count=3, max_bytes=10))) == 1
    assert (
        len(bodies(harness.qm.traffic.dequeue_many(descriptor, max_count=3, max_bytes=2500))) == 2
    )


def _depends(read: Read | ReadRequest) -> int:
    assert isinstance(read, Read)
    return read.depends


@pytest.mark.parametrize("how", ["peek", "receive", "two_phase", "waiting"])
def test_an_express_message_is_not_shown_before_its_number_is_reserved(
    harness: Harness, how: str
) -> None:
    """A crash must not give the number of a message that somebody saw to another one."""
    descriptor = harness.open(RECEIVE)
    harness.flush()
    if how == "waiting":
        harness.qm.traffic.dequeue_many(descriptor, timeout=60)
    # More than the rest of the reserved block.
    harness.qm.state.ordinals.take(70_000, harness.qm.state.outbox)
    harness.send(b"1", delivery_mode=0)
    if how == "waiting":
        (event,) = harness.take_events(ReadSatisfied)
        depends = event.depends
    elif how == "peek":
        depends = _depends(harness.qm.traffic.peek_many(descriptor))
    else:
        depends = _depends(
            harness.qm.traffic.dequeue_many(descriptor, two_phase=how == "two_phase")
        )
    assert depends == harness.qm.state.outbox.number
    harness.flush()
    harness.send(b"2", delivery_mode=0)
    assert _depends(harness.qm.traffic.peek_many(descriptor)) == 0
