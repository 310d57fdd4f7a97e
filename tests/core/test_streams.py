"""Transactional streams of other queue managers: limits, and when one is forgotten."""

from uuid import UUID

import pytest
from tests.core.harness import USER, Harness

from openmsmq.core.queue import Queue
from openmsmq.core.streams import TOO_MANY, TOO_MANY_OF_ADDRESS
from openmsmq.core.transfer_info import NEVER_LATE, IncomingTransactionalTransferInfo

PAY = r".\private$\pay"
NAME = r"OS:QM\private$\pay"
DAY = 86_400


def stream_of(
    queue: Queue, number: int, address: str = "10.0.0.1"
) -> IncomingTransactionalTransferInfo:
    return IncomingTransactionalTransferInfo(queue.number, NAME, UUID(int=number), address=address)


def begin(
    harness: Harness,
    queue: Queue,
    number: int,
    address: str = "10.0.0.1",
    *,
    late_after: int = NEVER_LATE,
) -> str | None:
    """The first message of a stream is accepted, if there is room for the stream."""
    stream = stream_of(queue, number, address)
    stream.accept(1, 1, late_after, harness.utc)
    reason = harness.qm.incoming.add_stream(queue, stream)
    if reason is None:
        harness.qm.incoming.store_stream(stream)
    return reason


def senders(harness: Harness) -> set[int]:
    streams = harness.qm.find_queue(PAY).incoming.values()
    return {stream.sender_identifier.int for stream in streams}


@pytest.fixture
def pay(harness: Harness) -> Queue:
    return harness.create(PAY, transactional=True)


def test_one_address_has_a_limit_and_all_together_have_one(harness: Harness, pay: Queue) -> None:
    harness.settings.max_streams_per_address = 2
    harness.settings.max_streams = 3
    assert [begin(harness, pay, each) for each in (1, 2)] == [None, None]
    assert begin(harness, pay, 3) == TOO_MANY_OF_ADDRESS
    assert begin(harness, pay, 4, "10.0.0.2") is None
    assert begin(harness, pay, 5, "10.0.0.3") == TOO_MANY
    assert senders(harness) == {1, 2, 4}


def test_the_limits_hold_after_a_restart(harness: Harness, pay: Queue) -> None:
    harness.settings.max_streams_per_address = 2
    begin(harness, pay, 1)
    begin(harness, pay, 2)
    harness.restart()
    pay = harness.qm.find_queue(PAY)
    assert begin(harness, pay, 3) == TOO_MANY_OF_ADDRESS
    assert begin(harness, pay, 3, "10.0.0.2") is None


def test_streams_that_are_gone_make_room(harness: Harness, pay: Queue) -> None:
    harness.settings.max_streams_per_address = 2
    begin(harness, pay, 1)
    begin(harness, pay, 2)
    harness.qm.incoming.forget_stream(pay, pay.incoming[stream_of(pay, 1).key])
    assert begin(harness, pay, 3) is None
    # Those of a queue go with it.
    harness.qm.delete_queue(pay, caller=USER)
    assert harness.qm.state.stream_count.total == 0
    pay = harness.create(PAY, transactional=True)
    assert [begin(harness, pay, each) for each in (4, 5)] == [None, None]
    harness.restart()
    assert senders(harness) == {4, 5}


@pytest.mark.parametrize(
    ("life", "days", "known"),
    [
        (4 * DAY, 89, True),
        (4 * DAY, 91, False),
        # A copy of its last message could still come in time.
        (100 * DAY, 91, True),
        (100 * DAY, 102, False),
        (NEVER_LATE, 10_000, True),
    ],
)
def test_a_stream_is_forgotten_when_unused_and_all_its_messages_are_late(
    harness: Harness, pay: Queue, life: int, days: int, *, known: bool
) -> None:
    begin(harness, pay, 1, late_after=min(int(harness.utc) + life, NEVER_LATE))
    harness.advance(days * DAY)
    harness.qm.incoming.forget_old_streams()
    assert senders(harness) == ({1} if known else set())
    harness.restart()
    assert senders(harness) == ({1} if known else set())
    assert harness.qm.state.stream_count.of("10.0.0.1") == int(known)


def test_a_stream_is_late_after_the_last_of_its_messages() -> None:
    stream = IncomingTransactionalTransferInfo(1, NAME, UUID(int=1))
    stream.accept(1, 1, 500, 1.0)
    stream.accept(1, 2, 300, 2.0)
    assert stream.late_after == 500
    stream.accept(1, 3, NEVER_LATE + 1000, 3.0)
    assert stream.late_after == NEVER_LATE
    again = IncomingTransactionalTransferInfo.parse(stream.key, stream.serialize())
    assert again == stream
