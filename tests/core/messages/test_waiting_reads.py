"""Who gets a message that somebody waits for ([MS-MQDMPR] 3.1.7.2.2, 3.1.7.1.17)."""

import pytest
from tests.core.harness import ORDERS, PEEK, RECEIVE, USER, Harness, Tag, bodies, refused

from openmsmq.core.events import ReadEnded, ReadSatisfied
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.core.settings import Settings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_NOT_FOUND
from openmsmq.wire.errors import StoreError
from openmsmq.wire.message.user_message import UserMessage

SPEC = pytest.mark.spec
OTHER = r".\private$\other"


def named(read: ReadRequest) -> object:
    assert isinstance(read.tag, Tag)
    return read.tag.name


def waiting(harness: Harness) -> list[object]:
    return [named(read) for read in harness.qm.find_queue(ORDERS).waiting]


def served(harness: Harness) -> list[tuple[object, list[bytes]]]:
    return [
        (named(event.read), [UserMessage(packet).body for packet in event.packets])
        for event in harness.take_events(ReadSatisfied)
    ]


@SPEC("MQDMPR-3.1.1.16-04", "MQDMPR-3.1.7.2.2-02")
def test_waiting_receives_are_served_first_come_first_served(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    for tag in (1, 2, 3):
        harness.qm.traffic.dequeue_many(descriptor, tag=Tag(tag))
    harness.send(b"a")
    assert served(harness) == [(1, [b"a"])]
    assert waiting(harness) == [2, 3]
    harness.send(b"b", b"c")
    assert served(harness) == [(2, [b"b"]), (3, [b"c"])]


def test_readers_of_several_descriptors_take_turns(harness: Harness) -> None:
    one, two = harness.open(RECEIVE), harness.open(RECEIVE)
    for tag, descriptor in enumerate((one, two, one)):
        harness.qm.traffic.dequeue_many(descriptor, tag=Tag(tag))
    harness.send(b"a", b"b", b"c")
    assert [tag for tag, _ in served(harness)] == [0, 1, 2]


@SPEC("MQDMPR-3.1.7.1.15-06", "MQDMPR-3.1.7.2.2-03")
def test_a_message_serves_all_peeks_in_turn_and_then_one_receive(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    harness.qm.traffic.peek_many(descriptor, tag=Tag("peek 1"))
    harness.qm.traffic.peek_many(descriptor, tag=Tag("peek 2"))
    harness.qm.traffic.dequeue_many(descriptor, tag=Tag("receive 1"))
    harness.qm.traffic.peek_many(descriptor, tag=Tag("peek 3"))
    harness.qm.traffic.dequeue_many(descriptor, tag=Tag("receive 2"))
    harness.send(b"a")
    assert [tag for tag, _ in served(harness)] == ["peek 1", "peek 2", "receive 1"]
    assert waiting(harness) == ["peek 3", "receive 2"]


@SPEC("MQDMPR-3.1.7.3.7-01")
def test_serving_goes_on_in_the_queue_of_the_message_only(harness: Harness) -> None:
    harness.create(OTHER)
    harness.qm.traffic.peek_many(harness.open(PEEK), tag=Tag("here"))
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), tag=Tag("here, too"))
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, OTHER), tag=Tag("elsewhere"))
    harness.send(b"a")
    assert [tag for tag, _ in served(harness)] == ["here", "here, too"]
    assert len(harness.qm.find_queue(OTHER).waiting) == 1


def test_a_waiting_bulk_receive_takes_all_that_comes_together(harness: Harness) -> None:
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), max_count=10, tag=Tag(1))
    harness.send(b"a", b"b", b"c")
    assert served(harness) == [(1, [b"a", b"b", b"c"])]


def test_each_read_gives_up_in_its_own_time(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    for timeout in (60, 5, 30):
        harness.qm.traffic.dequeue_many(descriptor, timeout=timeout, tag=Tag(timeout))
    for seconds, ended in ((4.9, []), (0.1, [5]), (24.9, []), (0.1, [30]), (30, [60])):
        harness.advance(seconds)
        assert [event.read.tag for event in harness.take_events(ReadEnded)] == [*map(Tag, ended)]


@SPEC("MQDMPR-3.1.7.1.17-01", "MQDMPR-3.1.7.3.5-01")
def test_a_cancelled_read_ends_with_the_code_of_the_canceller(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    read = harness.qm.traffic.dequeue_many(descriptor, timeout=5, tag=Tag("mine"))
    assert (
        harness.qm.traffic.cancel(harness.qm.find_queue(ORDERS), Tag("mine"), 0x1234)
        == Hresult.MQ_OK
    )
    assert [(event.read, event.code) for event in harness.take_events(ReadEnded)] == [
        (read, 0x1234)
    ]
    assert harness.qm.next_timer() is None
    harness.send(b"1")
    assert harness.contents() == [b"1"]
    assert harness.take_events(ReadSatisfied) == []


@SPEC("MQDMPR-3.1.7.1.17-02", "MQDMPR-3.1.7.1.17-03")
def test_only_the_read_with_the_same_tag_is_cancelled(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    queue = harness.qm.find_queue(ORDERS)
    tags = Tag("a"), None, Tag("b")
    reads = [harness.qm.traffic.dequeue_many(descriptor, tag=tag) for tag in tags]
    assert harness.qm.traffic.cancel(queue, Tag("c"), 1) == STATUS_NOT_FOUND == 0xC0000225
    assert harness.qm.traffic.cancel(queue, None, 1) == STATUS_NOT_FOUND
    assert list(queue.waiting) == reads
    assert harness.qm.traffic.cancel(queue, Tag("b"), 1) == Hresult.MQ_OK
    assert list(queue.waiting) == reads[:2]


@SPEC("MQDMPR-3.1.7.1.6-03")
def test_closing_cancels_the_reads_of_the_descriptor(harness: Harness) -> None:
    closed, other = harness.open(RECEIVE), harness.open(RECEIVE)
    read = harness.qm.traffic.dequeue_many(closed, tag=Tag(1))
    kept = harness.qm.traffic.dequeue_many(other, tag=Tag(2))
    harness.qm.close_queue(closed)
    ended = harness.take_events(ReadEnded)
    assert [(event.read, event.code) for event in ended] == [
        (read, Hresult.MQ_ERROR_OPERATION_CANCELLED)
    ]
    assert list(harness.qm.find_queue(ORDERS).waiting) == [kept]


@SPEC("MQDMPR-3.1.7.1.4-05")
def test_readers_of_a_deleted_queue_do_not_hang(harness: Harness) -> None:
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    ended = harness.take_events(ReadEnded)
    assert [(event.read, event.code) for event in ended] == [
        (read, Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE)
    ]


def test_a_read_in_a_transaction_that_is_over_takes_nothing(harness: Harness) -> None:
    harness.create(OTHER, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE, OTHER), transaction=transaction)
    assert isinstance(read, ReadRequest)
    harness.qm.traffic.abort(transaction.identifier)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=OTHER, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    assert [event.code for event in harness.take_events(ReadEnded)] == [
        Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    ]
    assert harness.contents(OTHER) == [b"1"]


def test_a_closed_descriptor_is_refused(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    harness.qm.close_queue(descriptor)
    harness.qm.close_queue(descriptor)
    with refused("MQ_ERROR_INVALID_HANDLE"):
        harness.qm.traffic.dequeue_many(descriptor)


def test_a_descriptor_that_closes_gives_back_what_it_locked_in_place(harness: Harness) -> None:
    harness.send(b"1", b"2")
    descriptor = harness.open(RECEIVE)
    assert bodies(harness.qm.traffic.dequeue_many(descriptor, two_phase=True)) == [b"1"]
    harness.qm.close_queue(descriptor)
    assert harness.contents() == [b"1", b"2"]


def test_a_paused_read_is_passed_over_until_it_resumes(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    first = harness.qm.traffic.dequeue_many(descriptor, tag=Tag(1), timeout=None)
    harness.qm.traffic.dequeue_many(descriptor, tag=Tag(2), timeout=None)
    assert isinstance(first, ReadRequest)
    harness.qm.traffic.pause_reads([first])
    harness.send(b"a")
    assert served(harness) == [(2, [b"a"])]
    harness.send(b"b")
    assert served(harness) == []
    harness.qm.traffic.resume_reads([first])
    assert served(harness) == [(1, [b"b"])]


def test_a_resumed_read_waits_on_in_its_place(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    reads = [
        harness.qm.traffic.dequeue_many(descriptor, tag=Tag(tag), timeout=None) for tag in (1, 2)
    ]
    paused = [read for read in reads if isinstance(read, ReadRequest)]
    harness.qm.traffic.pause_reads(paused)
    harness.qm.traffic.resume_reads(paused)
    assert served(harness) == []
    harness.send(b"a")
    assert served(harness) == [(1, [b"a"])]
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    harness.qm.traffic.resume_reads(paused)
    assert served(harness) == []


def test_a_read_through_a_cursor_is_not_paused(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    cursor = harness.qm.open_cursor(descriptor)
    read = harness.qm.traffic.peek_many(descriptor, tag=Tag(1), timeout=None, cursor=cursor)
    assert isinstance(read, ReadRequest)
    harness.qm.traffic.pause_reads([read])
    harness.send(b"a")
    assert served(harness) == [(1, [b"a"])]


def test_a_waiting_read_of_a_message_that_cannot_be_read_back_ends() -> None:
    harness = Harness(settings=Settings(memory_budget=0))
    harness.create()
    harness.send(b"a")
    holder, waiting = harness.open(RECEIVE), harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(holder, two_phase=True)
    harness.qm.traffic.dequeue_many(waiting, tag=Tag(1), timeout=None)

    class Broken:
        def read_many(self, keys: object) -> list[bytes]:  # noqa: ARG002 - as stores have it
            raise StoreError("damaged")

    harness.flush()
    harness.qm.state.packets = Broken()
    harness.qm.close_queue(holder)
    (ended,) = harness.take_events(ReadEnded)
    assert ended.code == Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED
    assert harness.qm.find_queue(ORDERS).lanes.count == 1


def test_a_later_reader_does_not_overtake_one_that_waits(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    waiting = harness.qm.traffic.dequeue_many(descriptor, timeout=9)
    # The turn in which the message arrives is not over yet.
    harness.send(b"1", b"2")
    assert bodies(harness.qm.traffic.dequeue_many(descriptor, timeout=0)) == [b"2"]
    (event,) = harness.take_events(ReadSatisfied)
    assert event.read is waiting


def test_a_waiting_reader_is_served_at_the_end_of_the_turn(harness: Harness) -> None:
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), timeout=9)
    harness.send(b"1")
    taken = harness.qm.take_batch()
    assert taken is not None
    assert taken[1].put_keys
    (event,) = harness.take_events(ReadSatisfied)
    assert event.depends == taken[0]
