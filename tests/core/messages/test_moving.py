"""Move Message ([MS-MQDMPR] 3.1.7.1.16) and subqueues."""

import pytest
from tests.core.harness import (
    ADMINISTRATOR,
    MOVE,
    ORDERS,
    PEEK,
    RECEIVE,
    SEND,
    USER,
    Harness,
    bodies,
    refused,
)

from openmsmq.core.events import MessagesDeleted, ReadSatisfied
from openmsmq.core.messages.moving import move_message
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.read import Read
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.transactions.transactions import Transaction
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address

SPEC = pytest.mark.spec
LATER = ORDERS + ";later"
DEADLETTER = r".\system$;deadletter"
TRANSACTIONAL = r".\private$\t"
LATER_TRANSACTIONAL = TRANSACTIONAL + ";later"


@SPEC("MQDMPR-3.1.7.1.16-01", "MQDMPR-3.1.7.1.16-02", "MQDMPR-3.1.7.1.16-06")
def test_a_moved_message_is_in_the_other_queue_in_one_step(harness: Harness) -> None:
    harness.send(b"low", priority=0)
    sent = harness.send(b"high", priority=7)
    before = packet_of(harness.qm.state, sent.messages[0])
    target = harness.open(MOVE, LATER)
    assert harness.qm.traffic.move_many(harness.open(RECEIVE), target).count == 2
    assert harness.contents() == []
    assert harness.contents(LATER) == [b"high", b"low"]
    queue, later = harness.qm.find_queue(ORDERS), harness.qm.find_queue(LATER)
    moved = later.lanes.first()
    assert moved is not None
    assert packet_of(harness.qm.state, moved) == before
    assert sent.messages[0].state == PositionState.DELETED
    assert (queue.total_bytes, later.total_bytes) == (0, sum(m.size for m in later.lanes))
    harness.restart()
    assert (harness.contents(), harness.contents(LATER)) == ([], [b"high", b"low"])


def test_a_move_counts_and_is_dated(harness: Harness) -> None:
    harness.send(b"1")
    harness.advance(10)
    harness.qm.traffic.move_many(harness.open(RECEIVE), harness.open(MOVE, LATER))
    harness.qm.traffic.move_many(harness.open(MOVE, LATER), harness.open(MOVE))
    harness.restart()
    message = harness.qm.find_queue(ORDERS).lanes.first()
    assert message is not None
    assert message.history is not None
    assert message.history.move_count == 2
    assert message.history.last_move_time == int(harness.utc)


@SPEC("MQDMPR-3.1.7.1.16-03")
def test_a_move_wakes_readers_of_an_ordinary_queue(harness: Harness) -> None:
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE, LATER))
    harness.send(b"1")
    harness.qm.traffic.move_many(harness.open(RECEIVE), harness.open(MOVE, LATER))
    assert [event.read for event in harness.take_events(ReadSatisfied)] == [read]


@SPEC("MQDMPR-3.1.7.1.16-03")
def test_a_move_to_a_system_queue_wakes_nobody(harness: Harness) -> None:
    reader = harness.open(RECEIVE, DEADLETTER, caller=ADMINISTRATOR)
    harness.qm.traffic.dequeue_many(reader)
    sent = harness.send(b"1")
    harness.qm.outgoing.move(sent.messages[0], harness.qm.find_queue(DEADLETTER))
    assert harness.take_events(ReadSatisfied) == []
    assert harness.contents(DEADLETTER) == [b"1"]


@SPEC("MQDMPR-3.1.7.1.16-07")
def test_a_move_is_no_receive(harness: Harness) -> None:
    harness.create(r".\private$\admin")
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, journaling=True)
    harness.send(
        b"1",
        acknowledgments=0x0F,
        admin_queue=direct_address(r"OS:qm\private$\admin"),
        negative_journaling=True,
    )
    assert len(harness.contents(r".\private$\admin")) == 1
    harness.take_events(MessagesDeleted)
    harness.qm.traffic.move_many(harness.open(RECEIVE), harness.open(MOVE, LATER))
    assert harness.take_events(MessagesDeleted) == []
    assert len(harness.contents(r".\private$\admin")) == 1
    assert harness.contents(ORDERS + ";journal") == []


@SPEC("MQDMPR-3.1.7.1.16-04", "MQDMPR-3.1.4.4-08")
def test_a_move_in_a_transaction_shows_at_the_commit(harness: Harness) -> None:
    queue = harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    sent = harness.send(b"1", b"2", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    transaction = harness.qm.traffic.begin(harness.guid())
    target = harness.open(MOVE, TRANSACTIONAL + ";later")
    harness.qm.traffic.move_many(
        harness.open(RECEIVE, TRANSACTIONAL),
        target,
        lookup_ids=sent.lookup_ids[:1],
        transaction=transaction,
    )
    assert sent.messages[0].state == PositionState.LOCKED
    assert transaction.operations[0].target is target.queue
    later = harness.qm.find_queue(TRANSACTIONAL + ";later")
    assert (harness.contents(TRANSACTIONAL), later.count) == ([b"2"], 0)
    harness.qm.traffic.commit(transaction.identifier)
    assert sent.messages[0].state == PositionState.DELETED
    assert harness.contents(TRANSACTIONAL + ";later") == [b"1"]
    size = sent.messages[0].size
    assert (queue.total_bytes, later.total_bytes) == (size, size)


@SPEC("MQDMPR-3.1.4.4-05")
def test_a_committed_move_arrives_behind_what_came_before_it(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    sent = harness.send(b"1", b"2", b"3", b"4", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    source, target = harness.open(RECEIVE, TRANSACTIONAL), harness.open(MOVE, LATER_TRANSACTIONAL)
    early, late = harness.qm.traffic.begin(harness.guid()), harness.qm.traffic.begin(harness.guid())
    for lookup_id, transaction in zip(sent.lookup_ids, (late, early, None), strict=False):
        harness.qm.traffic.move_many(
            source, target, lookup_ids=[lookup_id], transaction=transaction
        )
    harness.qm.traffic.commit(early.identifier)
    harness.qm.traffic.commit(late.identifier)
    # By the time of arrival, not by the order in which they were sent or moved.
    assert harness.contents(LATER_TRANSACTIONAL) == [b"3", b"2", b"1"]
    assert harness.contents(TRANSACTIONAL) == [b"4"]
    assert [message.state for message in sent.messages] == [
        *(PositionState.DELETED,) * 3,
        PositionState.AVAILABLE,
    ]
    arrived = list(harness.qm.find_queue(LATER_TRANSACTIONAL).lanes)
    assert [(each.state, each.priority) for each in arrived] == [(PositionState.AVAILABLE, 0)] * 3
    harness.restart()
    assert harness.contents(LATER_TRANSACTIONAL) == [b"3", b"2", b"1"]


@SPEC("MQDMPR-3.1.4.5-02")
def test_an_aborted_move_leaves_the_message_in_its_place(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    sent = harness.send(b"1", b"2", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.move_many(
        harness.open(RECEIVE, TRANSACTIONAL),
        harness.open(MOVE, TRANSACTIONAL + ";later"),
        max_count=1,
        transaction=transaction,
    )
    harness.qm.traffic.abort(transaction.identifier)
    messages = list(harness.qm.find_queue(TRANSACTIONAL).lanes)
    assert [message.lookup_id for message in messages] == sent.lookup_ids


def received_in_a_transaction(harness: Harness, *contents: bytes) -> tuple[Transaction, list[int]]:
    """Messages that a transaction which goes on has received, by their lookup ids."""
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    sent = harness.send(*contents, name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    transaction = harness.qm.traffic.begin(harness.guid())
    source = harness.open(RECEIVE, TRANSACTIONAL)
    harness.qm.traffic.dequeue_many(source, max_count=len(contents), transaction=transaction)
    return transaction, sent.lookup_ids


def move_received(
    harness: Harness, transaction: Transaction | None, ids: list[int], name: str = ";later"
) -> None:
    target = harness.open(MOVE, TRANSACTIONAL + name)
    source = harness.open(RECEIVE, TRANSACTIONAL)
    try:
        harness.qm.traffic.move_many(source, target, lookup_ids=ids, transaction=transaction)
    finally:
        harness.qm.close_queue(target)
        harness.qm.close_queue(source)


@pytest.mark.parametrize("prepared", [False, True])
def test_a_message_can_be_moved_by_the_transaction_that_received_it(
    harness: Harness, *, prepared: bool
) -> None:
    transaction, ids = received_in_a_transaction(harness, b"1", b"2", b"3")
    harness.advance(10)
    move_received(harness, transaction, ids[1:2])
    assert (harness.contents(TRANSACTIONAL), harness.contents(TRANSACTIONAL + ";later")) == ([], [])
    if prepared:
        harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
        harness.restart()
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(TRANSACTIONAL + ";later") == [b"2"]
    harness.restart()
    assert (harness.contents(TRANSACTIONAL), harness.contents(TRANSACTIONAL + ";later")) == (
        [],
        [b"2"],
    )
    moved = harness.qm.find_queue(TRANSACTIONAL + ";later").lanes.first()
    assert moved is not None
    assert moved.history is not None
    assert (moved.history.move_count, moved.history.abort_count) == (1, 0)
    assert moved.history.last_move_time == int(harness.utc)


@pytest.mark.parametrize("prepared", [False, True])
def test_an_abort_undoes_receive_and_move_together(harness: Harness, *, prepared: bool) -> None:
    transaction, ids = received_in_a_transaction(harness, b"1", b"2")
    move_received(harness, transaction, ids[:1])
    if prepared:
        harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
        harness.restart()
    harness.qm.traffic.abort(transaction.identifier)
    harness.restart()
    messages = list(harness.qm.find_queue(TRANSACTIONAL).lanes)
    assert [message.lookup_id for message in messages] == ids
    histories = [message.history for message in messages if message.history is not None]
    assert [(each.abort_count, each.move_count) for each in histories] == [(1, 0), (1, 0)]
    assert harness.qm.find_queue(TRANSACTIONAL).subqueues == {}


def test_the_last_move_of_a_transaction_counts(harness: Harness) -> None:
    transaction, ids = received_in_a_transaction(harness, b"1")
    move_received(harness, transaction, ids)
    move_received(harness, transaction, ids, ";poison")
    assert list(harness.qm.find_queue(TRANSACTIONAL).subqueues) == [r"private$\t;poison"]
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(TRANSACTIONAL + ";poison") == [b"1"]


def test_a_message_that_another_has_locked_does_not_move(harness: Harness) -> None:
    transaction, ids = received_in_a_transaction(harness, b"1")
    other = harness.qm.traffic.begin(harness.guid())
    code = "MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION"
    with refused(f"{code}: .* message {ids[0]} is locked by another transaction"):
        move_received(harness, other, ids)
    with refused(f"{code}: .* message {ids[0]} is locked by a transaction"):
        move_received(harness, None, ids)
    harness.qm.traffic.abort(transaction.identifier)
    reader = harness.open(RECEIVE, TRANSACTIONAL)
    harness.qm.traffic.dequeue_many(reader, two_phase=True)
    with refused(f"{code}: .* message {ids[0]} is being received by another reader"):
        move_received(harness, other, ids)
    harness.qm.close_queue(reader)
    assert harness.contents(TRANSACTIONAL) == [b"1"]


@SPEC("MQDMPR-3.1.7.1.16-05")
def test_no_move_in_a_transaction_to_a_system_queue(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    dead = harness.open(MOVE, r".\system$;deadxact", caller=ADMINISTRATOR)
    source = harness.open(RECEIVE, TRANSACTIONAL)
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.traffic.move_many(source, dead, transaction=transaction)
    assert transaction.operations == []


def test_a_dead_letter_can_be_moved_back(harness: Harness) -> None:
    harness.send(b"1", time_to_be_received=1, negative_journaling=True)
    harness.advance(2)
    source = harness.open(RECEIVE, DEADLETTER, caller=ADMINISTRATOR)
    assert bodies(harness.qm.traffic.peek_many(source)) == [b"1"]
    harness.qm.traffic.move_many(source, harness.open(SEND))
    assert harness.contents() == [b"1"]
    assert harness.contents(DEADLETTER) == []


def test_only_queues_that_belong_together_exchange_messages(harness: Harness) -> None:
    harness.create(r".\private$\other")
    harness.send(b"1")
    source = harness.open(RECEIVE)
    for name in (r".\private$\other", r".\private$\other;sub"):
        with refused("MQ_ERROR_ILLEGAL_OPERATION"):
            harness.qm.traffic.move_many(source, harness.open(MOVE, name))
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.traffic.move_many(source, harness.open(RECEIVE, ORDERS + ";journal"))
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        harness.qm.traffic.move_many(source, harness.open(MOVE))
    assert harness.contents() == [b"1"]


def test_a_move_of_a_message_that_is_not_there_moves_none(harness: Harness) -> None:
    sent = harness.send(b"1")
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        harness.qm.traffic.move_many(
            harness.open(RECEIVE), harness.open(MOVE, LATER), lookup_ids=[*sent.lookup_ids, 99]
        )
    assert harness.contents() == [b"1"]


def test_a_plain_message_does_not_move_into_a_transactional_queue(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    harness.send(b"1", time_to_be_received=1, negative_journaling=True)
    harness.advance(2)
    source = harness.open(RECEIVE, DEADLETTER, caller=ADMINISTRATOR)
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        harness.qm.traffic.move_many(source, harness.open(SEND, TRANSACTIONAL))


def test_a_subqueue_is_there_while_it_is_open_or_holds_messages(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE, LATER)
    harness.send(b"1")
    harness.qm.traffic.move_many(harness.open(RECEIVE), descriptor)
    harness.qm.close_queue(descriptor)
    assert harness.qm.find_queue(LATER).count == 1
    assert harness.drain(LATER) == [b"1"]
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.qm.find_queue(LATER)
    harness.restart()
    assert harness.qm.find_queue(ORDERS).subqueues == {}


def test_a_subqueue_waits_for_what_a_transaction_moves_there(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", b"2", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    source = harness.open(RECEIVE, TRANSACTIONAL)
    for keep, expected in ((True, [b"1"]), (False, [])):
        transaction = harness.qm.traffic.begin(harness.guid())
        target = harness.open(MOVE, TRANSACTIONAL + ";later")
        harness.qm.traffic.move_many(source, target, max_count=1, transaction=transaction)
        harness.qm.close_queue(target)
        if keep:
            harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
            harness.restart()
            source = harness.open(RECEIVE, TRANSACTIONAL)
            harness.qm.traffic.commit(transaction.identifier)
        else:
            harness.qm.traffic.abort(transaction.identifier)
        assert harness.drain(TRANSACTIONAL + ";later") == expected
        assert harness.qm.find_queue(TRANSACTIONAL).subqueues == {}
    assert harness.contents(TRANSACTIONAL) == [b"2"]


def test_messages_stay_where_they_are_when_the_target_of_a_move_is_deleted(
    harness: Harness,
) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    other = harness.create(r".\private$\other", transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(
        b"1",
        name=TRANSACTIONAL,
        transaction=sending,
        time_to_be_received=1,
        negative_journaling=True,
    )
    harness.qm.traffic.commit(sending.identifier)
    harness.advance(1)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.qm.traffic.move_many(
        harness.open(RECEIVE, r".\system$;deadxact", caller=ADMINISTRATOR),
        harness.open(SEND, r".\private$\other"),
        transaction=transaction,
    )
    harness.qm.delete_queue(other, caller=USER)
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(r".\system$;deadxact") == [b"1"]


def test_a_subqueue_goes_with_its_last_message(harness: Harness) -> None:
    harness.send(b"1", b"2", time_to_be_received=50)
    target = harness.open(MOVE, LATER)
    harness.qm.traffic.move_many(harness.open(RECEIVE), target)
    harness.qm.close_queue(target)
    harness.advance(49)
    assert harness.contents(LATER) == [b"1", b"2"]
    harness.restart()
    harness.advance(1)
    assert harness.qm.find_queue(ORDERS).subqueues == {}
    assert harness.qm.state.totals.bytes == 0


def test_an_empty_subqueue_does_not_survive_a_restart(harness: Harness) -> None:
    harness.open(RECEIVE, LATER)
    harness.restart()
    assert harness.qm.find_queue(ORDERS).subqueues == {}


def test_nothing_is_sent_to_a_subqueue_or_to_one_of_no_queue(harness: Harness) -> None:
    with refused("MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION"):
        harness.open(SEND, LATER)
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.open(RECEIVE, r".\private$\nothing;later")


def test_a_message_in_transfer_can_be_moved(harness: Harness) -> None:
    sent = harness.send(b"1", name=r"DIRECT=OS:elsewhere\private$\q")
    message = sent.messages[0]
    harness.qm.outgoing.lock_front(message.queue, 1, "session")
    moved = move_message(harness.qm.state, message, harness.qm.state.machine_journal)
    assert UserMessage(packet_of(harness.qm.state, moved)).body == b"1"
    assert message.queue.count == 0


def test_a_move_back_into_a_dead_letter_queue_names_the_reason(harness: Harness) -> None:
    first, second = harness.send(b"1", b"2").lookup_ids
    source = harness.open(RECEIVE)
    dead = harness.open(MOVE, DEADLETTER, caller=ADMINISTRATOR)
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.traffic.move_many(source, dead, lookup_ids=[first])
    tried = harness.qm.traffic.move_many(
        source, dead, lookup_ids=[first], message_class=0xC002, dry_run=True
    )
    assert (tried.count, tried.lookup_ids) == (1, [])
    assert harness.contents() == [b"1", b"2"]
    (moved,) = harness.qm.traffic.move_many(
        source, dead, lookup_ids=[first], message_class=0xC002
    ).lookup_ids
    assert moved > second
    harness.restart()
    assert (harness.contents(), harness.contents(DEADLETTER)) == ([b"2"], [b"1"])
    read = harness.qm.traffic.peek_many(
        harness.open(PEEK, DEADLETTER, caller=ADMINISTRATOR), timeout=0
    )
    assert isinstance(read, Read)
    assert UserMessage(read.packets[0]).message_class == 0xC002


def test_a_dry_run_of_a_move_out_of_an_outgoing_queue_moves_nothing(harness: Harness) -> None:
    away = r"DIRECT=OS:elsewhere\private$\q"
    harness.send(b"1", name=away, destination_queue=None)
    source = harness.open(QueueAccessType.RECEIVE_ADMIN, away, caller=ADMINISTRATOR)
    target = harness.open(SEND)
    assert harness.qm.traffic.move_many(source, target, dry_run=True).count == 1
    assert harness.contents() == []
