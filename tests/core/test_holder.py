"""What one client holds, within its limits, and how all of it goes back."""

from collections.abc import Callable

import pytest
from tests.core.harness import ORDERS, RECEIVE, USER, Harness, Tag, bodies, refused

from openmsmq.core.events import ReadEnded, ReadSatisfied
from openmsmq.core.holder import Holder, HolderLimits
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ShareMode

LIMITS = HolderLimits(queues=2, cursors=1, transactions=2, waiting_reads=1)


@pytest.fixture
def holder(harness: Harness) -> Holder:
    return Holder(harness.qm, LIMITS)


def open_orders(holder: Holder, share: ShareMode = ShareMode.DENY_NONE) -> int:
    return holder.open_queue(ORDERS, RECEIVE, caller=USER, share=share)


def wait(harness: Harness, holder: Holder, number: int) -> ReadRequest:
    """A read that waits, through the first queue that is open."""
    read = harness.qm.traffic.dequeue_many(holder.descriptor(1), tag=Tag(number))
    assert isinstance(read, ReadRequest)
    holder.waiting[number] = read
    return read


def test_handles_are_not_used_again(holder: Holder) -> None:
    first = open_orders(holder)
    holder.close_queue(first)
    second = open_orders(holder)
    cursor = holder.open_cursor(second)
    assert len({first, second, cursor}) == 3
    with refused("MQ_ERROR_INVALID_HANDLE"):
        holder.descriptor(first)


def test_the_share_mode_reaches_the_queue(harness: Harness, holder: Holder) -> None:
    open_orders(holder, ShareMode.DENY_RECEIVE_SHARE)
    with refused("MQ_ERROR_SHARING_VIOLATION"):
        harness.open(RECEIVE)


def test_a_closed_queue_takes_its_own_cursors_along(harness: Harness) -> None:
    holder = Holder(harness.qm)
    one, other = open_orders(holder), open_orders(holder)
    closed, kept = holder.open_cursor(one), holder.open_cursor(other)
    holder.close_queue(one)
    with refused("MQ_ERROR_INVALID_HANDLE"):
        holder.cursor(closed)
    assert holder.cursor(kept) is not None


def test_nothing_is_number_0(holder: Holder) -> None:
    assert holder.cursor(0) is None
    assert holder.transaction(0) is None
    holder.close_cursor(0)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        holder.end(0, commit=True)


def test_a_cursor_is_closed_once(holder: Holder) -> None:
    cursor = holder.open_cursor(open_orders(holder))
    holder.close_cursor(cursor)
    with refused("MQ_ERROR_INVALID_HANDLE"):
        holder.close_cursor(cursor)


def test_a_deleted_queue_gets_no_cursor(harness: Harness, holder: Holder) -> None:
    handle = open_orders(holder)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        holder.open_cursor(handle)
    assert not holder.cursors


@pytest.mark.parametrize("number", [0, -1, 1])
def test_a_transaction_has_a_number_of_its_own(
    harness: Harness, holder: Holder, number: int
) -> None:
    holder.begin(1, harness.guid())
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        holder.begin(number, harness.guid())


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_ends_once_and_as_told(
    harness: Harness, holder: Holder, *, commit: bool
) -> None:
    path = r".\private$\pay"
    harness.create(path, transactional=True)
    holder.begin(7, harness.guid())
    harness.send(b"paid", name=path, transaction=holder.transaction(7))
    holder.end(7, commit=commit)
    assert harness.contents(path) == ([b"paid"] if commit else [])
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        holder.end(7, commit=commit)


def fill_queues(_: Harness, holder: Holder) -> None:
    for _each in range(LIMITS.queues + 1):
        open_orders(holder)


def fill_cursors(_: Harness, holder: Holder) -> None:
    handle = open_orders(holder)
    for _each in range(LIMITS.cursors + 1):
        holder.open_cursor(handle)


def fill_transactions(harness: Harness, holder: Holder) -> None:
    for number in range(1, LIMITS.transactions + 2):
        holder.begin(number, harness.guid())


def fill_reads(harness: Harness, holder: Holder) -> None:
    open_orders(holder)
    for number in range(1, LIMITS.waiting_reads + 2):
        holder.require_wait(number)
        wait(harness, holder, number)


@pytest.mark.parametrize("fill", [fill_queues, fill_cursors, fill_transactions, fill_reads])
def test_more_than_the_limit_is_refused(
    harness: Harness, holder: Holder, fill: Callable[[Harness, Holder], None]
) -> None:
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        fill(harness, holder)
    held = (len(holder.open), len(holder.cursors), len(holder.transactions), len(holder.waiting))
    assert any(count == limit for count, limit in zip(held, LIMITS, strict=True))
    assert all(count <= limit for count, limit in zip(held, LIMITS, strict=True))


def test_two_waiting_reads_cannot_have_one_number(harness: Harness) -> None:
    holder = Holder(harness.qm)
    open_orders(holder)
    wait(harness, holder, 5)
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        holder.require_wait(5)


def test_a_waiting_read_can_be_cancelled(harness: Harness, holder: Holder) -> None:
    open_orders(holder)
    read = wait(harness, holder, 5)
    assert not holder.cancel(4)
    assert holder.cancel(5)
    (event,) = harness.take_events(ReadEnded)
    assert (event.read, event.code) == (read, Hresult.MQ_ERROR_OPERATION_CANCELLED)


def test_a_read_that_ended_cannot_be_cancelled(harness: Harness, holder: Holder) -> None:
    open_orders(holder)
    wait(harness, holder, 5)
    harness.send(b"one")
    assert not holder.cancel(5)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    assert not holder.cancel(5)


def test_reads_pause_and_resume(harness: Harness, holder: Holder) -> None:
    open_orders(holder)
    wait(harness, holder, 5)
    holder.pause()
    harness.send(b"one")
    assert not harness.take_events(ReadSatisfied)
    holder.resume()
    assert len(harness.take_events(ReadSatisfied)) == 1


def test_a_stopped_holder_takes_nothing_more(harness: Harness, holder: Holder) -> None:
    open_orders(holder)
    wait(harness, holder, 5)
    holder.stop()
    holder.resume()
    harness.send(b"one")
    assert not harness.take_events(ReadSatisfied)
    assert harness.contents() == [b"one"]


def test_everything_goes_back_at_the_end(harness: Harness) -> None:
    path = r".\private$\pay"
    harness.create(path, transactional=True)
    harness.send(b"one", b"two")
    holder = Holder(harness.qm)
    locked = holder.descriptor(open_orders(holder))
    holder.open_cursor(1)
    harness.qm.traffic.dequeue_many(locked, timeout=0, two_phase=True)
    holder.begin(1, harness.guid())
    harness.send(b"unsaid", name=path, transaction=holder.transaction(1))
    received = harness.qm.traffic.dequeue_many(locked, timeout=0, two_phase=True)
    assert bodies(received) == [b"two"]
    # A read that waits must not get what goes back.
    wait(harness, holder, 9)
    holder.close()
    holder.close()
    assert harness.contents() == [b"one", b"two"]
    assert harness.contents(path) == []
    assert not harness.take_events(ReadSatisfied)
    assert (holder.open, holder.cursors, holder.transactions, holder.waiting) == ({}, {}, {}, {})
    assert (harness.qm.state.descriptors, harness.qm.state.transactions) == ({}, {})
    assert not harness.qm.find_queue(ORDERS).waiting
