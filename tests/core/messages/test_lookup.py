"""Reading by lookup id ([MS-MQDMPR] 3.1.7.1.13, 3.1.7.3.2-3)."""

import pytest
from tests.core.harness import ORDERS, PEEK, RECEIVE, USER, Harness, bodies, refused

from openmsmq.core.events import MessagesDeleted, ReadSatisfied
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.read import MessageSeekAction as Seek
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.lookup_id import SEQUENCE_BITS, SEQUENCE_MASK

SPEC = pytest.mark.spec
TRANSACTIONAL = r".\private$\t"


def look(harness: Harness, lookup_id: int, action: Seek = Seek.CURRENT) -> list[bytes]:
    descriptor = harness.open(PEEK)
    try:
        return bodies(harness.qm.traffic.read_by_lookup_id(descriptor, lookup_id, action))
    finally:
        harness.qm.close_queue(descriptor)


def lock(harness: Harness, lookup_id: int, *, allow_peek: bool = False) -> None:
    harness.qm.traffic.read_by_lookup_id(
        harness.open(RECEIVE), lookup_id, receive=True, two_phase=True, allow_peek=allow_peek
    )


@SPEC("MQDMPR-3.1.1.12-01", "MQDMPR-3.1.7.1.9-07")
def test_lookup_ids_sort_in_queue_order(harness: Harness) -> None:
    for number, priority in enumerate((3, 0, 7, 3, 7, 0)):
        harness.send(b"%d" % number, priority=priority)
    messages = list(harness.qm.find_queue(ORDERS).lanes)
    ids = [message.lookup_id for message in messages]
    assert ids == sorted(set(ids))
    assert [7 - (each >> SEQUENCE_BITS) for each in ids] == [7, 7, 3, 3, 0, 0]
    assert max(ids) < 1 << 64


@SPEC("MQDMPR-3.1.7.1.9-07")
def test_lookup_ids_of_transactional_messages_sort_by_arrival(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    sent = harness.send(b"1", b"2", name=TRANSACTIONAL, transaction=transaction, priority=6)
    assert sent.lookup_ids == sorted(sent.lookup_ids)
    assert {each >> SEQUENCE_BITS for each in sent.lookup_ids} == {7}


@SPEC("MQDMPR-3.1.7.1.9-05", "MQDMPR-3.1.7.1.9-06")
def test_every_enqueue_takes_the_next_sequential_id(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    before = harness.qm.state.sequence.last
    sent = [*harness.send(b"1", b"2").lookup_ids]
    sent += harness.send(b"3", name=TRANSACTIONAL, transaction=transaction).lookup_ids
    harness.qm.traffic.abort(transaction.identifier)
    sent += harness.send(b"4").lookup_ids
    assert [each & SEQUENCE_MASK for each in sent] == [before + n for n in (1, 2, 3, 4)]
    assert harness.qm.state.sequence.last == before + 4


@SPEC("MQDMPR-3.1.1.1-25")
@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_no_lookup_id_is_issued_twice_after_a_crash(harness: Harness, delivery_mode: int) -> None:
    harness.flush()
    said: set[int] = set()
    for _ in range(3):
        sent = harness.send(b"1", b"2", delivery_mode=delivery_mode)
        if sent.depends:
            harness.flush()
        assert not said & set(sent.lookup_ids)
        said |= set(sent.lookup_ids)
        harness.crash()


@SPEC("MQDMPR-3.1.7.3.3-05", "MQDMPR-3.1.7.1.13-03")
def test_peek_by_id_returns_the_message_and_changes_nothing(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", b"3")
    assert look(harness, sent.lookup_ids[1]) == [b"2"]
    assert harness.contents() == [b"1", b"2", b"3"]


@SPEC("MQDMPR-3.1.7.1.13-03")
def test_a_peek_takes_no_transaction(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        harness.qm.traffic.read_by_lookup_id(
            harness.open(PEEK, TRANSACTIONAL), 1, transaction=transaction
        )


@SPEC("MQDMPR-3.1.7.3.3-02", "MQDMPR-3.1.7.3.3-03")
def test_first_and_last_ignore_the_id(harness: Harness) -> None:
    harness.send(b"1", b"2", b"3")
    assert look(harness, 0, Seek.FIRST) == [b"1"]
    assert look(harness, 0, Seek.LAST) == [b"3"]


@SPEC("MQDMPR-3.1.7.3.3-03", "MQDMPR-3.1.7.3.2-02", "MQDMPR-3.1.7.3.2-04")
def test_first_and_last_skip_locked_messages(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", b"3", b"4")
    lock(harness, sent.lookup_ids[0])
    lock(harness, sent.lookup_ids[3])
    assert look(harness, 0, Seek.FIRST) == [b"2"]
    assert look(harness, 0, Seek.LAST) == [b"3"]


@SPEC("MQDMPR-3.1.7.3.3-04", "MQDMPR-3.1.7.3.2-01", "MQDMPR-3.1.7.3.2-04")
def test_next_and_previous_find_the_nearest_visible_message(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", b"3", b"4", b"5")
    lock(harness, sent.lookup_ids[1])
    lock(harness, sent.lookup_ids[2])
    assert look(harness, sent.lookup_ids[0], Seek.NEXT) == [b"4"]
    assert look(harness, sent.lookup_ids[2], Seek.NEXT) == [b"4"]
    assert look(harness, sent.lookup_ids[3], Seek.PREVIOUS) == [b"1"]
    assert look(harness, sent.lookup_ids[2], Seek.PREVIOUS) == [b"1"]


@SPEC("MQDMPR-3.1.7.1.13-06")
@pytest.mark.parametrize("receive", [False, True])
@pytest.mark.parametrize("action", Seek)
def test_a_lookup_does_not_wait(harness: Harness, action: Seek, *, receive: bool) -> None:
    descriptor = harness.open(RECEIVE)
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        harness.qm.traffic.read_by_lookup_id(descriptor, 0, action, receive=receive)
    assert not harness.qm.find_queue(ORDERS).waiting
    harness.send(b"later")
    assert harness.take_events(ReadSatisfied) == []
    assert harness.contents() == [b"later"]


@SPEC("MQDMPR-3.1.7.1.13-07", "MQDMPR-3.1.7.3.2-05")
def test_running_off_either_end_finds_nothing(harness: Harness) -> None:
    for action in Seek:
        with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
            look(harness, 0, action)
    sent = harness.send(b"1", b"2")
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        look(harness, sent.lookup_ids[0], Seek.PREVIOUS)
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        look(harness, sent.lookup_ids[1], Seek.NEXT)


@SPEC("MQDMPR-3.1.7.3.3-01")
@pytest.mark.parametrize("action", [Seek.CURRENT, Seek.NEXT, Seek.PREVIOUS])
def test_an_id_that_means_no_message_is_not_found(harness: Harness, action: Seek) -> None:
    sent = harness.send(b"1", b"2", b"3")
    harness.qm.traffic.read_by_lookup_id(harness.open(RECEIVE), sent.lookup_ids[1], receive=True)
    for lookup_id in (sent.lookup_ids[1], 12345, 1 << 63):
        with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
            look(harness, lookup_id, action)


@SPEC("MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.1.12-03", "MQDMPR-3.1.7.1.13-02")
def test_a_locked_message_cannot_be_peeked_by_id(harness: Harness) -> None:
    sent = harness.send(b"1")
    lock(harness, sent.lookup_ids[0])
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        look(harness, sent.lookup_ids[0])


@SPEC("MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.1.12-03", "MQDMPR-3.1.7.3.2-03")
def test_peeks_see_a_locked_message_that_allows_it_and_receives_do_not(harness: Harness) -> None:
    sent = harness.send(b"1", b"2")
    lock(harness, sent.lookup_ids[0], allow_peek=True)
    assert look(harness, sent.lookup_ids[0]) == [b"1"]
    assert look(harness, 0, Seek.FIRST) == [b"1"]
    assert look(harness, sent.lookup_ids[1], Seek.PREVIOUS) == [b"1"]
    descriptor = harness.open(RECEIVE)
    assert bodies(harness.qm.traffic.peek_many(descriptor)) == [b"1"]
    cursor = harness.qm.open_cursor(descriptor)
    assert bodies(harness.qm.traffic.peek_many(descriptor, cursor=cursor)) == [b"1"]
    assert bodies(harness.qm.traffic.dequeue_many(descriptor)) == [b"2"]
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        harness.qm.traffic.read_by_lookup_id(descriptor, 0, Seek.FIRST, receive=True)


def test_a_message_that_allowed_peeks_goes_with_the_end_of_its_read(harness: Harness) -> None:
    sent = harness.send(b"1", b"2")
    descriptor = harness.open(RECEIVE)
    for lookup_id in sent.lookup_ids:
        harness.qm.traffic.read_by_lookup_id(
            descriptor, lookup_id, receive=True, two_phase=True, allow_peek=True
        )
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids[:1], delete=True)
    assert look(harness, 0, Seek.FIRST) == [b"2"]
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids[1:], delete=False)
    assert harness.contents() == [b"2"]
    assert harness.qm.find_queue(ORDERS).peekable == {}


@SPEC("MQDMPR-3.1.7.3.3-07", "MQDMPR-3.1.7.1.13-02")
def test_a_message_that_a_cursor_still_knows_was_received(harness: Harness) -> None:
    sent = harness.send(b"1", b"2")
    descriptor = harness.open(PEEK)
    cursor = harness.qm.open_cursor(descriptor)
    harness.qm.traffic.peek_many(descriptor, cursor=cursor)
    harness.qm.traffic.read_by_lookup_id(harness.open(RECEIVE), sent.lookup_ids[0], receive=True)
    with refused("MQ_ERROR_MESSAGE_ALREADY_RECEIVED"):
        look(harness, sent.lookup_ids[0])
    assert look(harness, sent.lookup_ids[0], Seek.NEXT) == [b"2"]


@SPEC("MQDMPR-3.1.7.3.3-08", "MQDMPR-3.1.7.1.13-02")
def test_a_locked_message_cannot_be_received_by_id(harness: Harness) -> None:
    sent = harness.send(b"1")
    lock(harness, sent.lookup_ids[0], allow_peek=True)
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        harness.qm.traffic.read_by_lookup_id(
            harness.open(RECEIVE), sent.lookup_ids[0], receive=True
        )


@SPEC("MQDMPR-3.1.7.1.13-05")
def test_a_receive_by_id_deletes_the_message(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", positive_journaling=True)
    harness.take_events(MessagesDeleted)
    descriptor = harness.open(RECEIVE)
    read = harness.qm.traffic.read_by_lookup_id(descriptor, sent.lookup_ids[1], receive=True)
    assert bodies(read) == [b"2"]
    assert harness.contents() == [b"1"]
    assert [event.reason for event in harness.take_events(MessagesDeleted)] == [
        MessageClass.ACK_RECEIVE
    ]


@SPEC("MQDMPR-3.1.7.1.13-05")
def test_a_two_phase_receive_by_id_locks_the_message(harness: Harness) -> None:
    sent = harness.send(b"1", b"2")
    descriptor = harness.open(RECEIVE)
    read = harness.qm.traffic.read_by_lookup_id(
        descriptor, sent.lookup_ids[1], receive=True, two_phase=True
    )
    assert read.messages[0].state == PositionState.LOCKED
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids[1:], delete=False)
    assert harness.contents() == [b"1", b"2"]


@SPEC("MQDMPR-3.1.7.1.13-04")
def test_a_receive_by_id_in_a_transaction_ends_with_it(harness: Harness) -> None:
    harness.create(TRANSACTIONAL, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    sent = harness.send(b"1", b"2", name=TRANSACTIONAL, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    transaction = harness.qm.traffic.begin(harness.guid())
    read = harness.qm.traffic.read_by_lookup_id(
        harness.open(RECEIVE, TRANSACTIONAL),
        sent.lookup_ids[1],
        receive=True,
        transaction=transaction,
    )
    assert read.messages[0].state == PositionState.LOCKED
    assert transaction.operations[0].reason == MessageClass.ACK_RECEIVE
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(TRANSACTIONAL) == [b"1"]


@SPEC("MQDMPR-3.1.7.1.13-01")
def test_a_lookup_in_a_deleted_queue_is_refused(harness: Harness) -> None:
    descriptor = harness.open(PEEK)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        harness.qm.traffic.read_by_lookup_id(descriptor, 0, Seek.FIRST)


@SPEC("MQDMPR-3.1.7.3.2-06")
def test_purged_messages_are_never_seen(harness: Harness) -> None:
    sent = harness.send(b"1", b"2")
    lock(harness, sent.lookup_ids[0], allow_peek=True)
    harness.qm.traffic.purge(harness.open(RECEIVE))
    assert harness.contents() == []
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        look(harness, 0, Seek.FIRST)
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        look(harness, 0, Seek.LAST)
