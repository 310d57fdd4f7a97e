"""Cursors ([MS-MQDMPR] 3.2)."""

import pytest
from tests.core.harness import ORDERS, PEEK, RECEIVE, SEND, USER, Harness, bodies, refused

from openmsmq.core.events import ReadEnded, ReadSatisfied
from openmsmq.core.model.cursor import START, Cursor, CursorState
from openmsmq.core.model.open_queue import OpenQueueDescriptor
from openmsmq.core.model.read import Read
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.wire.codes.hresult import Hresult

SPEC = pytest.mark.spec


class Reader:
    """One descriptor with one cursor."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.descriptor: OpenQueueDescriptor = harness.open(RECEIVE)
        cursor = harness.qm.open_cursor(self.descriptor)
        assert cursor is not None
        self.cursor: Cursor = cursor

    def state(self) -> CursorState:
        return self.cursor.state

    def peek(self, timeout: float | None = 0) -> Read | ReadRequest:
        return self.harness.qm.traffic.peek_many(
            self.descriptor, cursor=self.cursor, timeout=timeout
        )

    def next(self, timeout: float | None = 0) -> Read | ReadRequest:
        return self.harness.qm.traffic.peek_many(
            self.descriptor, cursor=self.cursor, next_message=True, timeout=timeout
        )

    def receive(self, timeout: float | None = 0) -> Read | ReadRequest:
        return self.harness.qm.traffic.dequeue_many(
            self.descriptor, cursor=self.cursor, timeout=timeout
        )


@pytest.fixture
def reader(harness: Harness) -> Reader:
    return Reader(harness)


def take(harness: Harness, lookup_id: int) -> None:
    """Somebody else receives a message."""
    harness.qm.traffic.read_by_lookup_id(harness.open(RECEIVE), lookup_id, receive=True)


@SPEC("MQDMPR-3.1.7.1.1-02", "MQDMPR-3.2.1-01")
def test_cursors_have_handles_of_their_own_and_belong_to_one_descriptor(harness: Harness) -> None:
    one, two = Reader(harness), Reader(harness)
    other = harness.qm.open_cursor(one.descriptor)
    assert other is not None
    assert len({one.cursor.handle, two.cursor.handle, other.handle}) == 3
    assert list(one.descriptor.cursors.values()) == [one.cursor, other]
    assert two.cursor.descriptor is two.descriptor


@SPEC("MQDMPR-3.1.7.1.1-01")
def test_no_cursor_opens_without_a_queue(harness: Harness) -> None:
    several = harness.open(SEND, r"DIRECT=OS:qm\private$\orders,DIRECT=OS:elsewhere\private$\q")
    assert harness.qm.open_cursor(several) is None
    descriptor = harness.open(RECEIVE)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    assert harness.qm.open_cursor(descriptor) is None
    assert descriptor.cursors == {}


@SPEC("MQDMPR-3.2.7.1-01", "MQDMPR-3.1.1.2-21", "MQDMPR-3.2.1-02")
def test_a_new_cursor_stands_in_front_of_everything(reader: Reader) -> None:
    assert (reader.state(), reader.cursor.position) == (CursorState.UNREAD, START)
    reader.harness.send(b"low", priority=0)
    reader.harness.send(b"high", priority=7)
    assert bodies(reader.peek()) == [b"high"]


@SPEC("MQDMPR-3.2.7.2-01", "MQDMPR-3.2.7.2-03", "MQDMPR-3.1.7.1.15-02")
def test_peek_returns_the_same_message_as_often_as_asked(reader: Reader) -> None:
    sent = reader.harness.send(b"1", b"2")
    for _ in range(3):
        assert bodies(reader.peek()) == [b"1"]
        assert reader.state() is CursorState.READ
        assert reader.cursor.position == sent.lookup_ids[0]


@SPEC("MQDMPR-3.2.7.2-02", "MQDMPR-3.2.7.5-01")
def test_peek_in_an_empty_queue_waits_and_then_stands_on_the_arrival(reader: Reader) -> None:
    read = reader.peek(timeout=9)
    assert isinstance(read, ReadRequest)
    assert (reader.state(), reader.cursor.position) == (CursorState.WAIT_PEEK, START)
    sent = reader.harness.send(b"1")
    assert [event.read for event in reader.harness.take_events(ReadSatisfied)] == [read]
    assert reader.state() is CursorState.READ
    assert reader.cursor.position == sent.lookup_ids[0]
    assert reader.harness.contents() == [b"1"]


@SPEC("MQDMPR-3.2.7.2-04", "MQDMPR-3.1.7.1.15-03", "MQDMPR-3.1.7.2.1-02")
def test_peek_at_a_message_that_somebody_took_says_so(reader: Reader) -> None:
    sent = reader.harness.send(b"1", b"2")
    reader.peek()
    take(reader.harness, sent.lookup_ids[0])
    for _ in range(2):
        with refused("MQ_ERROR_MESSAGE_ALREADY_RECEIVED"):
            reader.peek()
    assert reader.state() is CursorState.READ
    assert reader.cursor.position == sent.lookup_ids[0]


@SPEC("MQDMPR-3.2.7.2-04")
def test_peek_at_a_locked_or_purged_message_says_so(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"1", b"2")
    reader.peek()
    other = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(other, two_phase=True)
    with refused("MQ_ERROR_MESSAGE_ALREADY_RECEIVED"):
        reader.peek()
    harness.qm.traffic.purge(other)
    with refused("MQ_ERROR_MESSAGE_ALREADY_RECEIVED"):
        reader.peek()


@SPEC("MQDMPR-3.2.7.3-01", "MQDMPR-3.1.7.1.14-02")
def test_peek_next_needs_a_message_to_go_on_from(reader: Reader) -> None:
    reader.harness.send(b"1")
    with refused("MQ_ERROR_ILLEGAL_CURSOR_ACTION"):
        reader.next()
    with refused("MQ_ERROR_ILLEGAL_CURSOR_ACTION"):
        reader.harness.qm.traffic.peek_many(reader.descriptor, next_message=True)
    reader.receive()
    with refused("MQ_ERROR_ILLEGAL_CURSOR_ACTION"):
        reader.next()


@SPEC("MQDMPR-3.2.7.3-02", "MQDMPR-3.1.7.1.14-03")
def test_peek_next_walks_through_the_queue(reader: Reader) -> None:
    sent = reader.harness.send(b"1", b"2", b"3")
    reader.peek()
    for number in (1, 2):
        assert bodies(reader.next()) == [b"%d" % (number + 1)]
        assert reader.cursor.position == sent.lookup_ids[number]
        assert reader.state() is CursorState.READ


@SPEC("MQDMPR-3.2.7.3-03", "MQDMPR-3.1.7.1.14-04")
def test_peek_next_at_the_end_waits_for_ever_by_default(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"1")
    reader.peek()
    read = harness.qm.traffic.peek_many(reader.descriptor, cursor=reader.cursor, next_message=True)
    assert reader.state() is CursorState.WAIT_PEEK
    assert harness.qm.next_timer() is None
    harness.send(b"2")
    event = harness.take_events(ReadSatisfied)[0]
    assert event.read is read
    assert harness.contents() == [b"1", b"2"]


@SPEC("MQDMPR-3.1.7.1.14-05")
def test_after_a_waiting_peek_next_the_next_reader_is_served(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"1")
    reader.peek()
    peek = reader.next(timeout=9)
    other = Reader(harness)
    other.peek()
    behind = other.next(timeout=9)
    sent = harness.send(b"2")
    assert [event.read for event in harness.take_events(ReadSatisfied)] == [peek, behind]
    assert reader.cursor.position == other.cursor.position == sent.lookup_ids[0]


@SPEC("MQDMPR-3.1.7.1.14-06", "MQDMPR-3.2.7.6-01")
def test_a_peek_next_that_times_out_keeps_its_place(reader: Reader) -> None:
    harness = reader.harness
    sent = harness.send(b"1")
    reader.peek()
    reader.next(timeout=5)
    harness.advance(5)
    assert [event.code for event in harness.take_events(ReadEnded)] == [Hresult.MQ_ERROR_IO_TIMEOUT]
    assert (reader.state(), reader.cursor.position) == (
        CursorState.UNREAD,
        sent.lookup_ids[0],
    )
    harness.send(b"2")
    assert bodies(reader.peek()) == [b"2"]


@SPEC("MQDMPR-3.2.7.3-04", "MQDMPR-3.1.1.11-05")
def test_a_walk_goes_on_from_where_a_message_stood(reader: Reader) -> None:
    harness = reader.harness
    sent = harness.send(b"1", b"2", b"3")
    reader.peek()
    reader.next()
    for lookup_id in sent.lookup_ids[:2]:
        take(harness, lookup_id)
    harness.flush()
    assert bodies(reader.next()) == [b"3"]


@SPEC("MQDMPR-3.2.7.4-01")
def test_receives_through_a_cursor_take_one_after_the_other(reader: Reader) -> None:
    sent = reader.harness.send(b"1", b"2")
    for number in (0, 1):
        assert bodies(reader.receive()) == [b"%d" % (number + 1)]
        assert reader.cursor.position == sent.lookup_ids[number]
        assert reader.state() is CursorState.UNREAD


@SPEC("MQDMPR-3.2.7.4-02", "MQDMPR-3.1.7.1.10-05")
def test_a_receive_behind_the_last_message_finds_nothing(reader: Reader) -> None:
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        reader.receive()
    assert (reader.state(), reader.cursor.position) == (CursorState.UNREAD, START)
    reader.harness.send(b"1")
    assert bodies(reader.receive()) == [b"1"]


@SPEC("MQDMPR-3.2.7.4-03", "MQDMPR-3.2.7.5-01", "MQDMPR-3.1.7.1.10-06")
def test_a_waiting_receive_through_a_cursor_takes_the_arrival(reader: Reader) -> None:
    read = reader.receive(timeout=5)
    assert reader.state() is CursorState.WAIT_RECEIVE
    sent = reader.harness.send(b"1")
    assert [event.read for event in reader.harness.take_events(ReadSatisfied)] == [read]
    assert reader.state() is CursorState.UNREAD
    assert reader.cursor.position == sent.lookup_ids[0]
    assert reader.harness.contents() == []


@SPEC("MQDMPR-3.2.7.6-01", "MQDMPR-3.2.7.6-02", "MQDMPR-3.1.7.1.10-06")
def test_after_a_timeout_at_the_end_the_cursor_finds_what_comes_later(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"1", priority=0)
    reader.receive()
    reader.receive(timeout=5)
    harness.advance(5)
    assert [event.code for event in harness.take_events(ReadEnded)] == [Hresult.MQ_ERROR_IO_TIMEOUT]
    assert reader.state() is CursorState.UNREAD
    assert reader.cursor.end == harness.qm.state.sequence.last
    harness.send(b"2", priority=7)
    assert bodies(reader.receive()) == [b"2"]


@SPEC("MQDMPR-3.1.1.2-21")
def test_the_end_is_behind_every_message_that_was_there(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"1")
    other = harness.open(RECEIVE)
    locked = harness.qm.traffic.dequeue_many(other, two_phase=True)
    assert isinstance(locked, Read)
    # Nothing can be received: the cursor advances past the last message.
    reader.receive(timeout=5)
    harness.advance(5)
    harness.qm.traffic.end_many(other, [locked.messages[0].lookup_id], delete=False)
    with refused("MQ_ERROR_MESSAGE_NOT_FOUND"):
        reader.receive()
    harness.send(b"2", priority=7)
    assert bodies(reader.receive()) == [b"2"]
    assert harness.contents() == [b"1"]


@SPEC("MQDMPR-3.2.7.4-04", "MQDMPR-3.1.7.1.10-04")
def test_peek_and_receive_take_exactly_the_peeked_message(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"1", b"2", b"3")
    reader.peek()
    reader.next()
    harness.send(b"urgent", priority=7)
    assert bodies(reader.receive()) == [b"2"]
    assert reader.state() is CursorState.UNREAD
    assert harness.contents() == [b"urgent", b"1", b"3"]


@SPEC("MQDMPR-3.2.7.4-05", "MQDMPR-3.1.7.1.10-04")
def test_a_receive_of_a_message_that_somebody_took_says_so(reader: Reader) -> None:
    sent = reader.harness.send(b"1", b"2")
    reader.peek()
    take(reader.harness, sent.lookup_ids[0])
    with refused("MQ_ERROR_MESSAGE_ALREADY_RECEIVED"):
        reader.receive()
    assert reader.state() is CursorState.READ
    assert reader.harness.contents() == [b"2"]


@SPEC("MQDMPR-3.2.7.6-03")
def test_a_second_operation_while_the_cursor_waits_is_refused(reader: Reader) -> None:
    reader.peek(timeout=9)
    for operation in (reader.peek, reader.next, reader.receive):
        with refused("MQ_ERROR_ILLEGAL_CURSOR_ACTION"):
            operation()
    assert reader.state() is CursorState.WAIT_PEEK
    reader.harness.send(b"1")
    reader.harness.settle()
    assert reader.state() is CursorState.READ


@SPEC("MQDMPR-3.1.7.1.2-01")
def test_closing_a_cursor_ends_its_reads_only(reader: Reader) -> None:
    harness = reader.harness
    mine = reader.peek(timeout=9)
    other = harness.qm.traffic.peek_many(reader.descriptor, timeout=9)
    harness.qm.close_cursor(reader.cursor)
    assert [event.read for event in harness.take_events(ReadEnded)] == [mine]
    assert list(harness.qm.find_queue(ORDERS).waiting) == [other]
    assert reader.descriptor.cursors == {}


@SPEC("MQDMPR-3.1.7.1.6-04")
def test_closing_a_queue_closes_its_cursors(reader: Reader) -> None:
    reader.peek(timeout=9)
    reader.harness.qm.close_queue(reader.descriptor)
    assert reader.descriptor.cursors == {}
    assert not reader.harness.qm.find_queue(ORDERS).waiting


def test_a_waiting_cursor_gets_an_arrival_that_stands_in_front_of_it(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"low", priority=0)
    reader.peek()
    reader.next(timeout=9)
    sent = harness.send(b"high", priority=7)
    harness.settle()
    assert reader.cursor.position == sent.lookup_ids[0]


def test_a_cursor_goes_on_waiting_when_another_took_the_arrival(reader: Reader) -> None:
    harness = reader.harness
    harness.send(b"1")
    taker = Reader(harness)
    for each in (taker, reader):
        each.peek()
    taker.next(timeout=1)
    harness.advance(1)
    harness.take_events(ReadEnded)
    taking = taker.receive(timeout=9)
    waiting = reader.next(timeout=9)
    harness.send(b"2")
    assert [event.read for event in harness.take_events(ReadSatisfied)] == [taking]
    assert list(harness.qm.find_queue(ORDERS).waiting) == [waiting]
    assert harness.contents() == [b"1"]


def test_a_cursor_reads_with_peek_access_only(harness: Harness) -> None:
    harness.send(b"1")
    descriptor = harness.open(PEEK)
    cursor = harness.qm.open_cursor(descriptor)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.traffic.dequeue_many(descriptor, cursor=cursor)
