"""Transactional streams of other queue managers: limits, and when one is forgotten."""

from uuid import UUID

import pytest
from tests.core.directory_harness import QM1, Machine, shared_file
from tests.core.harness import USER, Harness

from openmsmq.core.model.queue import Queue
from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.streams import (
    TOO_MANY,
    TOO_MANY_OF_ADDRESS,
    add_stream,
    find_stream,
    forget_stream,
    store_stream,
)
from openmsmq.core.transfer.transfer_info import NEVER_LATE, IncomingTransactionalTransferInfo

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
    reason = add_stream(harness.qm.state, queue, stream)
    if reason is None:
        store_stream(harness.qm.state, stream)
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


def test_a_forgotten_stream_makes_room(harness: Harness, pay: Queue) -> None:
    harness.settings.max_streams_per_address = 2
    begin(harness, pay, 1)
    begin(harness, pay, 2)
    forget_stream(harness.qm.state, pay.incoming[stream_of(pay, 1).key])
    assert begin(harness, pay, 3) is None
    assert senders(harness) == {2, 3}


@pytest.mark.spec("MQQB-3.1.1.3.1-06", "MQQB-3.1.1.3.1-07")
def test_a_stream_outlives_its_queue_and_goes_on_with_the_next_of_its_name(
    harness: Harness, pay: Queue
) -> None:
    begin(harness, pay, 1)
    begin(harness, pay, 2)
    (known, _) = pay.incoming.values()
    known.accept(7, 5, NEVER_LATE, harness.utc)
    store_stream(harness.qm.state, known)
    harness.qm.delete_queue(pay, caller=USER)
    assert pay.incoming == {}
    harness.restart()
    pay = harness.create(PAY, transactional=True)
    # Only when somebody asks: names that nobody uses stay where they are.
    assert pay.incoming == {}
    found = find_stream(harness.qm.state, pay, stream_of(pay, 1))
    assert (found.sequence_identifier, found.sequence_number) == (7, 5)
    assert senders(harness) == {1}
    harness.restart()
    assert senders(harness) == {1}
    assert [stream.sender_identifier.int for stream in harness.qm.state.abandoned_streams] == [2]
    assert harness.qm.state.stream_count.total == 2


def test_streams_without_a_queue_make_room_the_longest_unused_first(
    harness: Harness, pay: Queue
) -> None:
    harness.settings.max_streams_per_address = 3
    harness.settings.max_streams = 5
    for number in (1, 2, 3):
        begin(harness, pay, number)
        harness.advance(1)
    begin(harness, pay, 4, "10.0.0.2")
    harness.qm.delete_queue(pay, caller=USER)
    # This one is used again, and the order outlasts a start.
    harness.advance(1)
    (first, *_) = harness.qm.state.abandoned_streams
    first.reject(harness.utc)
    store_stream(harness.qm.state, first)
    harness.restart()
    nowhere = harness.qm.state.abandoned_streams
    pay = harness.create(PAY, transactional=True)

    def left() -> list[int]:
        return [stream.sender_identifier.int for stream in nowhere]

    assert begin(harness, pay, 5) is None
    assert left() == [3, 4, 1]
    assert begin(harness, pay, 6, "10.0.0.2") is None
    assert left() == [3, 4, 1]
    # One more in all: that of another address goes if it is the oldest.
    assert begin(harness, pay, 7, "10.0.0.3") is None
    assert left() == [4, 1]
    assert begin(harness, pay, 8) is None
    assert left() == [1]
    assert begin(harness, pay, 9) is None
    assert left() == []
    assert begin(harness, pay, 10) == TOO_MANY_OF_ADDRESS
    assert begin(harness, pay, 10, "10.0.0.4") == TOO_MANY
    assert harness.qm.state.stream_count.total == 5
    harness.restart()
    assert senders(harness) == {5, 6, 7, 8, 9}


@pytest.mark.parametrize("path", [PAY, r".\pay"])
def test_a_stream_of_version_0_1_0_gets_the_name_that_its_sender_uses(path: str) -> None:
    """It had the path of the queue, if the sender used no direct name."""
    machine = Machine(shared_file()).provision()
    queue = machine.qm.create_queue(path, caller=USER, transactional=True)
    stream = IncomingTransactionalTransferInfo(queue.number, queue.path, UUID(int=1), 5, 1)
    add_stream(machine.qm.state, queue, stream)
    store_stream(machine.qm.state, stream)
    number = queue.properties.private_queue_number
    names = {PAY: f"PRIVATE={QM1}\\{number:x}", r".\pay": f"PUBLIC={queue.properties.identifier}"}
    for _ in range(2):
        machine.restart()
        (stream,) = machine.qm.find_queue(path).incoming.values()
        assert stream.format_name == names[path]
        assert (stream.sequence_identifier, stream.sequence_number) == (5, 1)
    rows = [key for table, key, _ in machine.store.recover(None).rows if table == Table.STREAMS]
    assert rows == [stream.key]


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
