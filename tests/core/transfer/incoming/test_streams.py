"""Transactional streams of other queue managers: limits, and when one is forgotten."""

from struct import pack
from uuid import UUID

import pytest
from tests.core.directory_harness import QM1, Machine, shared_file
from tests.core.harness import USER, Harness

from openmsmq.core.model.queue import Queue
from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.incoming.stream_order import StreamPosition
from openmsmq.core.transfer.incoming.streams import (
    MAX_NAME,
    NEVER_LATE,
    NO_QUEUE_NUMBER,
    ROW_VERSION,
    TOO_LONG,
    TOO_MANY,
    TOO_MANY_OF_ADDRESS,
    IncomingTransactionalTransferInfo,
    add_stream,
    find_stream,
    forget_stream,
    store_stream,
)
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.errors import StoreError

PAY = r".\private$\pay"
NAME = r"OS:QM\private$\pay"
DAY = 86_400
ONE, SEVEN = (1).to_bytes(8), (7).to_bytes(8)


def stream_of(
    queue: Queue, number: int, address: str = "10.0.0.1"
) -> IncomingTransactionalTransferInfo:
    return IncomingTransactionalTransferInfo(queue.number, NAME, UUID(int=number), address=address)


def old_row(queue: int, name: str, sequence: int = 5) -> tuple[bytes, bytes]:
    """A stream as version 0.1.0 stored it."""
    key = pack("<I", queue) + UUID(int=1).bytes_le + name.casefold().encode()
    value = pack("<QIdIHI", sequence, 3, 1.5, 2, len(name), 99)
    return key, value + name.encode() + b"10.0.0.9"


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
    stream.accept(StreamPosition(ONE, 1), late_after, harness.utc)
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
    known.accept(StreamPosition(SEVEN, 5), NEVER_LATE, harness.utc)
    store_stream(harness.qm.state, known)
    harness.qm.delete_queue(pay, caller=USER)
    assert pay.incoming == {}
    harness.restart()
    pay = harness.create(PAY, transactional=True)
    # Only when somebody asks: names that nobody uses stay where they are.
    assert pay.incoming == {}
    found = find_stream(harness.qm.state, pay, stream_of(pay, 1))
    assert (found.sequence_identifier, found.sequence_number) == (SEVEN, 5)
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
    queue = machine.qm.create_queue(path, caller=USER, transactional=True).value
    key, row = old_row(queue.number, queue.path)
    machine.qm.state.outbox.batch.set_row(Table.STREAMS_OF_0_1_0, key, row)
    number = queue.properties.private_queue_number
    names = {PAY: f"PRIVATE={QM1}\\{number:x}", r".\pay": f"PUBLIC={queue.properties.identifier}"}
    for _ in range(2):
        machine.restart()
        (stream,) = machine.qm.find_queue(path).incoming.values()
        assert stream.format_name == names[path]
        assert (stream.sequence_identifier, stream.sequence_number) == ((5).to_bytes(8), 3)
    rows = machine.store.recover(None).rows
    assert [key for table, key, _ in rows if table == Table.STREAMS] == [stream.key]
    assert [key for table, key, _ in rows if table == Table.STREAMS_OF_0_1_0] == []


def test_a_row_of_version_0_1_0_is_read_whole() -> None:
    stream = IncomingTransactionalTransferInfo.parse_old(*old_row(7, NAME))
    assert stream == IncomingTransactionalTransferInfo(
        *(7, NAME, UUID(int=1), Transport.BINARY, (5).to_bytes(8), 3, 1.5, 2, "10.0.0.9"),
        late_after=99,
    )
    # It began with a message that was refused: no sequence.
    assert IncomingTransactionalTransferInfo.parse_old(*old_row(7, NAME, 0)) != stream


def test_abandoned_streams_of_version_0_1_0_stay_abandoned(harness: Harness, pay: Queue) -> None:
    batch = harness.qm.state.outbox.batch
    batch.set_row(Table.STREAMS_OF_0_1_0, *old_row(NO_QUEUE_NUMBER, NAME))
    for _ in range(2):
        harness.restart()
        (stream,) = harness.qm.state.abandoned_streams
        assert (stream.queue, stream.format_name) == (NO_QUEUE_NUMBER, NAME)
        assert harness.qm.state.stream_count.of("10.0.0.9") == 1
    pay = harness.qm.find_queue(PAY)
    found = find_stream(harness.qm.state, pay, stream_of(pay, 1))
    assert found.sequence_number == 3


def test_a_row_says_everything(harness: Harness, pay: Queue) -> None:
    stream = IncomingTransactionalTransferInfo(
        pay.number, "HTTP://qm/msmq/private$/pay", UUID(int=1), Transport.HTTP, address="10.0.0.1"
    )
    first = StreamPosition(
        bytes(16) + ONE, 1, starts=True, receipts_to="http://sender/msmq/private$/order_queue$"
    )
    stream.accept(first, 1000, 5.0)
    stream.accept(StreamPosition(bytes(16) + ONE, 2, 1), 2000, 6.0)
    stream.reject(7.0)
    add_stream(harness.qm.state, pay, stream)
    store_stream(harness.qm.state, stream)
    harness.restart()
    (found,) = harness.qm.find_queue(PAY).incoming.values()
    assert found == stream
    assert found.receipts_to == "http://sender/msmq/private$/order_queue$"
    assert (found.transport, found.sequence_identifier) == (Transport.HTTP, bytes(16) + ONE)


def test_streams_of_two_transports_are_different_ones() -> None:
    binary = IncomingTransactionalTransferInfo(1, NAME, UUID(int=1), Transport.BINARY)
    http = IncomingTransactionalTransferInfo(1, NAME, UUID(int=1), Transport.HTTP)
    assert binary.key != http.key
    assert binary.sender_and_name != http.sender_and_name


@pytest.mark.parametrize(("at", "value"), [(0, ROW_VERSION + 1), (0, 0), (1, 77)])
def test_a_row_of_a_later_version_is_refused_with_what_to_do(
    harness: Harness, pay: Queue, at: int, value: int
) -> None:
    stream = stream_of(pay, 1)
    row = bytearray(stream.serialize())
    row[at] = value
    harness.qm.state.outbox.batch.set_row(Table.STREAMS, stream.key, bytes(row))
    with pytest.raises(StoreError, match=f"version {row[0]}, transport {row[1]}") as error:
        harness.restart()
    assert error.value.cause == "A later version of openmsmq has used this data directory."
    assert "restore a backup" in error.value.remedy


def test_a_row_of_a_queue_that_does_not_exist_stops_the_start(harness: Harness, pay: Queue) -> None:
    stream = stream_of(pay, 1)
    stream.queue = 99
    harness.qm.state.outbox.batch.set_row(Table.STREAMS, stream.key, stream.serialize())
    with pytest.raises(StoreError, match="is in queue 99, which does not exist"):
        harness.restart()


def test_a_name_that_is_too_long_has_no_stream(harness: Harness, pay: Queue) -> None:
    stream = stream_of(pay, 1)
    stream.format_name = "x" * (MAX_NAME + 1)
    assert add_stream(harness.qm.state, pay, stream) == TOO_LONG
    stream.format_name = "x" * MAX_NAME
    assert add_stream(harness.qm.state, pay, stream) is None


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
    stream.accept(StreamPosition(ONE, 1), 500, 1.0)
    stream.accept(StreamPosition(ONE, 2), 300, 2.0)
    assert stream.late_after == 500
    stream.accept(StreamPosition(ONE, 3), NEVER_LATE + 1000, 3.0)
    assert stream.late_after == NEVER_LATE
    again = IncomingTransactionalTransferInfo.parse(stream.key, stream.serialize())
    assert again == stream
