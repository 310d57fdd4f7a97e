"""Transactions ([MS-MQDMPR] 3.1.4.3-5, 3.1.7.1.8)."""

from uuid import UUID

import pytest
from tests.core.harness import MOVE, RECEIVE, SEND, Harness, bodies, packet, refused

from openmsmq.core.events import MessagesDeleted, ReadSatisfied
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.queue import Queue
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.transactions.transactions import (
    OperationType,
    Transaction,
    TransactionState,
    prepare,
)
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import TxSequenceID

SPEC = pytest.mark.spec
PAY = r".\private$\pay"
ADMIN = r".\private$\admin"
NOBODY = UUID("00000000-0000-0000-0000-00000000dead")


@pytest.fixture
def queue(harness: Harness) -> Queue:
    harness.create(ADMIN)
    return harness.create(PAY, transactional=True)


def begin(harness: Harness) -> Transaction:
    return harness.qm.traffic.begin(harness.guid())


def prepare_by(harness: Harness, identifier: UUID, *, single_phase: bool = True) -> None:
    transaction = harness.qm.traffic.find_transaction(identifier)
    prepare(harness.qm.state, transaction, single_phase=single_phase)


def fill(harness: Harness, *contents: bytes, name: str = PAY) -> list[int]:
    """Send in a transaction of its own."""
    transaction = begin(harness)
    sent = harness.send(*contents, name=name, transaction=transaction)
    harness.qm.traffic.commit(transaction.identifier)
    harness.take_events(MessagesDeleted)
    return sent.lookup_ids


@SPEC("MQDMPR-3.1.7.1.8-01")
def test_a_new_transaction_is_known_and_empty(harness: Harness) -> None:
    identifier = harness.guid()
    transaction = harness.qm.traffic.begin(identifier)
    assert harness.qm.traffic.find_transaction(identifier) is transaction
    assert (transaction.identifier, transaction.operations) == (identifier, [])
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.traffic.begin(identifier)


@SPEC("MQDMPR-3.1.4.4-01", "MQDMPR-3.1.4.5-01")
def test_an_unknown_transaction_is_refused(harness: Harness) -> None:
    for operation in (harness.qm.traffic.commit, harness.qm.traffic.abort):
        with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
            operation(NOBODY)
    assert harness.qm.state.transactions == {}


@SPEC("MQDMPR-3.1.4.3-01")
def test_an_unknown_transaction_is_not_prepared(harness: Harness) -> None:
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        prepare_by(harness, NOBODY)
    finished = begin(harness)
    harness.qm.traffic.commit(finished.identifier)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        prepare_by(harness, finished.identifier)
    assert harness.qm.state.transactions == {}


@SPEC("MQDMPR-3.1.4.4-01", "MQDMPR-3.1.4.4-06", "MQDMPR-3.1.4.5-05")
def test_a_finished_transaction_is_gone(harness: Harness, queue: Queue) -> None:
    for finish in (harness.qm.traffic.commit, harness.qm.traffic.abort):
        transaction = begin(harness)
        harness.send(b"1", name=PAY, transaction=transaction)
        finish(transaction.identifier)
        assert harness.qm.state.transactions == {}
        for operation in (harness.qm.traffic.commit, harness.qm.traffic.abort):
            with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
                operation(transaction.identifier)
        with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
            harness.send(b"2", name=PAY, transaction=transaction)
    assert queue.count == 1


@SPEC("MQDMPR-3.1.7.1.9-10", "MQDMPR-3.1.1.13-01")
def test_nobody_sees_a_send_before_its_commit(harness: Harness, queue: Queue) -> None:
    transaction = begin(harness)
    sent = harness.send(b"1", name=PAY, transaction=transaction)
    assert sent.messages[0].state == PositionState.LOCKED
    (operation,) = transaction.operations
    assert operation.operation_type is OperationType.ENQUEUE
    assert operation.messages == sent.messages
    descriptor = harness.open(RECEIVE, PAY)
    cursor = harness.qm.open_cursor(descriptor)
    with refused("MQ_ERROR_IO_TIMEOUT"):
        harness.qm.traffic.dequeue_many(descriptor, timeout=0)
    for each in (None, cursor):
        with refused("MQ_ERROR_IO_TIMEOUT"):
            harness.qm.traffic.peek_many(descriptor, cursor=each, timeout=0)
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        harness.qm.traffic.read_by_lookup_id(descriptor, sent.lookup_ids[0])
    assert queue.count == 0


@SPEC("MQDMPR-3.1.4.4-03")
def test_a_commit_shows_what_was_sent_and_wakes_readers(harness: Harness, queue: Queue) -> None:
    transaction = begin(harness)
    sent = harness.send(b"1", b"2", name=PAY, transaction=transaction)
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY))
    harness.qm.traffic.commit(transaction.identifier)
    (event,) = harness.take_events(ReadSatisfied)
    assert event.read is read
    assert event.messages == sent.messages[:1]
    assert harness.contents(PAY) == [b"2"]
    assert queue.reserved_bytes == 0


@SPEC("MQDMPR-3.1.7.1.10-10", "MQDMPR-3.1.1.13-02")
def test_a_receive_in_a_transaction_locks_the_message(harness: Harness, queue: Queue) -> None:
    fill(harness, b"1")
    transaction = begin(harness)
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), transaction=transaction)
    (operation,) = transaction.operations
    assert operation.operation_type is OperationType.DEQUEUE
    assert operation.reason == MessageClass.ACK_RECEIVE
    assert operation.messages[0].state == PositionState.LOCKED
    assert queue.count == 1
    assert harness.take_events(MessagesDeleted) == []


@SPEC("MQDMPR-3.1.7.1.10-14", "MQDMPR-3.1.7.1.10-15")
def test_a_message_is_received_in_one_transaction_only(harness: Harness, queue: Queue) -> None:
    fill(harness, b"1", b"2", b"3")
    one, two = begin(harness), begin(harness)
    first, second = harness.open(RECEIVE, PAY), harness.open(RECEIVE, PAY)
    assert bodies(harness.qm.traffic.dequeue_many(first, transaction=one)) == [b"1"]
    assert bodies(harness.qm.traffic.dequeue_many(second, transaction=two)) == [b"2"]
    assert bodies(harness.qm.traffic.dequeue_many(first, transaction=one)) == [b"3"]
    for transaction in (one, two):
        with refused("MQ_ERROR_IO_TIMEOUT"):
            harness.qm.traffic.dequeue_many(first, transaction=transaction, timeout=0)


@SPEC("MQDMPR-3.1.4.4-04")
def test_a_commit_removes_what_was_received(harness: Harness, queue: Queue) -> None:
    fill(harness, b"1", b"2")
    transaction = begin(harness)
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), transaction=transaction)
    depends = harness.qm.traffic.commit(transaction.identifier).depends
    assert depends == harness.qm.state.outbox.number
    assert [event.reason for event in harness.take_events(MessagesDeleted)] == [
        MessageClass.ACK_RECEIVE
    ]
    harness.restart()
    assert harness.contents(PAY) == [b"2"]


@SPEC("MQDMPR-3.1.4.5-02", "MQDMPR-3.1.4.5-06")
def test_an_abort_puts_received_messages_back_in_place(harness: Harness, queue: Queue) -> None:
    ids = fill(harness, b"1", b"2", b"3")
    size = queue.total_bytes
    transaction = begin(harness)
    harness.qm.traffic.dequeue_many(
        harness.open(RECEIVE, PAY), max_count=2, transaction=transaction
    )
    assert bodies(harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY))) == [b"3"]
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY))
    harness.qm.traffic.abort(transaction.identifier)
    (event,) = harness.take_events(ReadSatisfied)
    assert event.read is read
    assert [each.lookup_id for each in (*event.messages, *queue.lanes)] == ids[:2]
    assert queue.total_bytes == size // 3


def test_aborts_are_counted(harness: Harness, queue: Queue) -> None:
    fill(harness, b"1")
    for _ in range(2):
        transaction = begin(harness)
        harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), transaction=transaction)
        harness.qm.traffic.abort(transaction.identifier)
    harness.restart()
    message = harness.qm.find_queue(PAY).lanes.first()
    assert message is not None
    assert message.history is not None
    assert message.history.abort_count == 2


@pytest.mark.parametrize("commit", [True, False])
def test_the_end_of_an_empty_transaction_waits_for_no_batch(
    harness: Harness, *, commit: bool
) -> None:
    transaction = begin(harness)
    traffic = harness.qm.traffic
    end = traffic.commit if commit else traffic.abort
    assert end(transaction.identifier).depends == 0


@SPEC("MQDMPR-3.1.4.5-04")
def test_an_abort_forgets_what_was_sent_and_tells_nobody(harness: Harness, queue: Queue) -> None:
    transaction = begin(harness)
    harness.send(
        b"1",
        name=PAY,
        transaction=transaction,
        negative_journaling=True,
        acknowledgments=0x0F,
        admin_queue=direct_address(r"OS:qm\private$\admin"),
    )
    harness.qm.traffic.abort(transaction.identifier)
    assert (queue.count, queue.pending, queue.reserved_bytes) == (0, {}, 0)
    assert harness.take_events(MessagesDeleted) == []
    assert harness.contents(ADMIN) == harness.contents(r".\system$;deadxact") == []
    assert harness.qm.state.memory == 0


@SPEC("MQDMPR-3.1.4.4-02")
def test_operations_take_effect_in_their_order(harness: Harness, queue: Queue) -> None:
    ids = fill(harness, b"1", b"2", b"3")
    transaction = begin(harness)
    descriptor = harness.open(RECEIVE, PAY)
    later = harness.open(MOVE, PAY + ";later")
    for lookup_id in (ids[2], ids[0], ids[1]):
        harness.qm.traffic.move_many(
            descriptor, later, lookup_ids=[lookup_id], transaction=transaction
        )
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(PAY + ";later") == [b"3", b"1", b"2"]


@SPEC("MQDMPR-3.1.4.4-07")
@pytest.mark.parametrize("flushed", [True, False])
def test_a_commit_is_stored_whole_or_not_at_all(
    harness: Harness, queue: Queue, *, flushed: bool
) -> None:
    fill(harness, b"1", b"2")
    harness.flush()
    transaction = begin(harness)
    descriptor = harness.open(RECEIVE, PAY)
    harness.qm.traffic.dequeue_many(descriptor, transaction=transaction)
    harness.send(b"3", name=PAY, transaction=transaction)
    harness.qm.traffic.move_many(
        descriptor, harness.open(MOVE, PAY + ";later"), transaction=transaction
    )
    harness.flush()
    number = harness.qm.traffic.commit(transaction.identifier).depends
    taken = harness.qm.take_batch()
    assert taken is not None
    assert taken[0] == number
    assert harness.qm.take_batch() is None
    if flushed:
        harness.store.finish(harness.store.begin([taken[1]]))
    harness.crash()
    if flushed:
        assert harness.contents(PAY) == [b"3"]
        assert harness.contents(PAY + ";later") == [b"2"]
    else:
        assert harness.contents(PAY) == [b"1", b"2"]


@SPEC("MQDMPR-3.1.4.3-02", "MQDMPR-3.1.4.3-04")
@pytest.mark.parametrize("single_phase", [True, False])
def test_prepare_keeps_the_flag_and_the_locks(
    harness: Harness, queue: Queue, *, single_phase: bool
) -> None:
    fill(harness, b"1")
    transaction = begin(harness)
    harness.send(b"2", name=PAY, transaction=transaction)
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), transaction=transaction)
    prepare_by(harness, transaction.identifier, single_phase=single_phase)
    assert transaction.single_phase is single_phase
    assert transaction.state is TransactionState.PREPARED
    states = {each.state for operation in transaction.operations for each in operation.messages}
    assert states == {PositionState.LOCKED}
    assert harness.contents(PAY) == []
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(PAY) == [b"2"]


@SPEC("MQDMPR-3.1.4.3-02")
def test_prepare_is_single_phase_unless_it_says_otherwise(harness: Harness, queue: Queue) -> None:
    transaction = begin(harness)
    transaction.single_phase = False
    prepare(harness.qm.state, transaction)
    assert transaction.single_phase


def test_nothing_is_added_to_a_prepared_transaction(harness: Harness, queue: Queue) -> None:
    transaction = begin(harness)
    prepare_by(harness, transaction.identifier)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.send(b"1", name=PAY, transaction=transaction)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY), transaction=transaction)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        prepare_by(harness, transaction.identifier)


@SPEC("MQDMPR-3.1.4.3-03", "MQDMPR-3.1.1.12-46")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_first_and_the_last_message_of_a_transaction_say_so(
    harness: Harness, queue: Queue, count: int
) -> None:
    harness.create(r".\private$\second", transactional=True)
    fill(harness, b"received", name=r".\private$\second")
    transaction = begin(harness)
    harness.qm.traffic.dequeue_many(
        harness.open(RECEIVE, r".\private$\second"), transaction=transaction
    )
    for number in range(count):
        harness.send(b"%d" % number, name=PAY, transaction=transaction)
    harness.qm.traffic.commit(transaction.identifier)
    marks = []
    for message in queue.lanes:
        view = UserMessage(packet_of(harness.qm.state, message))
        marks.append((view.first_in_transaction, view.last_in_transaction))
    assert marks == [(number == 0, number == count - 1) for number in range(count)]


def test_messages_of_a_transaction_share_its_tag_and_are_recoverable(
    harness: Harness, queue: Queue
) -> None:
    transaction = begin(harness)
    harness.send(b"1", b"2", name=PAY, transaction=transaction, delivery_mode=0, priority=7)
    harness.qm.traffic.commit(transaction.identifier)
    views = [UserMessage(packet_of(harness.qm.state, each)) for each in queue.lanes]
    headers = [view.transaction_header for view in views]
    assert {header.transaction_id for header in headers if header is not None} == {
        transaction.number & 0xFFFFF
    }
    assert {(view.delivery_mode, view.priority) for view in views} == {(1, 0)}
    assert [view.body for view in views] == [b"1", b"2"]
    harness.restart()
    assert harness.contents(PAY) == [b"1", b"2"]


def test_a_packet_that_has_a_transaction_header_keeps_the_rest_of_it(
    harness: Harness, queue: Queue
) -> None:
    header = TransactionHeader(int(TransactionHeaderFlags.FA), TxSequenceID(0, 0), 0, 0)
    transaction = begin(harness)
    harness.send(b"1", name=PAY, transaction=transaction, transaction_header=header)
    harness.qm.traffic.commit(transaction.identifier)
    (message,) = queue.lanes
    view = UserMessage(packet_of(harness.qm.state, message))
    assert view.final_ack_required
    assert view.first_in_transaction


@SPEC("MQDMPR-3.1.7.1.12-03")
def test_the_end_of_a_read_in_a_transaction_is_left_to_it(harness: Harness, queue: Queue) -> None:
    ids = fill(harness, b"1", b"2")
    transaction = begin(harness)
    descriptor = harness.open(RECEIVE, PAY)
    harness.qm.traffic.dequeue_many(descriptor, transaction=transaction)
    harness.qm.traffic.end_many(descriptor, ids[:1], delete=True, transactional=True)
    assert set(queue.locked) == {ids[0]}
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.traffic.end_many(descriptor, ids[1:], delete=True, transactional=True)
    harness.qm.traffic.abort(transaction.identifier)
    assert harness.contents(PAY) == [b"1", b"2"]


def test_a_rejected_message_leaves_with_its_own_reason(harness: Harness, queue: Queue) -> None:
    ids = fill(harness, b"1", b"2")
    transaction = begin(harness)
    harness.qm.traffic.dequeue_many(
        harness.open(RECEIVE, PAY), max_count=2, transaction=transaction
    )
    harness.qm.traffic.reject_many(transaction, queue, ids[:1])
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        harness.qm.traffic.reject_many(transaction, queue, [99])
    harness.qm.traffic.commit(transaction.identifier)
    reasons = [
        (event.reason, len(event.messages)) for event in harness.take_events(MessagesDeleted)
    ]
    assert reasons == [(MessageClass.ACK_RECEIVE, 1), (MessageClass.NACK_RECEIVE_REJECTED, 1)]


@SPEC("MQDMPR-3.1.1.12-09", "MQDMPR-3.1.1.2-11")
def test_transactions_fit_transactional_queues_only(harness: Harness, queue: Queue) -> None:
    transaction = begin(harness)
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        harness.send(b"1", transaction=transaction)
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        harness.send(b"1", name=PAY)
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        harness.qm.traffic.dequeue_many(harness.open(RECEIVE), transaction=transaction)
    fill(harness, b"2")
    assert bodies(harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY))) == [b"2"]


def test_a_transactional_packet_needs_a_transaction(harness: Harness) -> None:
    header = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)
    remote = harness.open(SEND, r"DIRECT=OS:elsewhere\private$\q")
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        harness.qm.traffic.enqueue_many(remote, [packet(transaction_header=header)])
