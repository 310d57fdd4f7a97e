"""Notes for the history: one record for what happens together."""

import pytest
from tests.core.harness import MOVE, ORDERS, QM_GUID, RECEIVE, USER, Harness, packet

from openmsmq.core.model.read import Read
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.settings import Settings
from openmsmq.wire.history_record import Happening, HistoryReader, HistoryRecord
from openmsmq.wire.message.user_message import UserMessage


@pytest.fixture
def harness() -> Harness:
    harness = Harness(settings=Settings(keep_history=True))
    harness.create()
    return harness


def noted(harness: Harness) -> list[tuple[str, int, int, str]]:
    """What was noted: what, first key, how many, where."""
    reader = HistoryReader()
    harness.settle()
    harness.qm.trace.forget_names()
    records = list(reader.read(harness.qm.trace.take()))
    return [
        (Happening(each.kind).name, each.key, each.messages, reader.names.get(each.place, ""))
        for each in records
    ]


def last(harness: Harness) -> HistoryRecord:
    return list(HistoryReader().read(harness.qm.trace.take()))[-1]


def test_messages_that_arrive_and_leave_together_are_one_record(harness: Harness) -> None:
    sent = harness.send(*[b"x"] * 100)
    record = last(harness)
    assert record.kind == Happening.ARRIVED
    assert (record.messages, record.ordinal) == (100, sent.first_ordinal)
    assert record.source == QM_GUID.bytes_le
    assert record.utc == harness.utc
    first = record.key
    harness.drain()
    received = last(harness)
    assert (received.kind, received.key, received.messages) == (Happening.RECEIVED, first, 100)


def test_gaps_make_records_of_their_own(harness: Harness) -> None:
    ids = harness.send(b"a", b"b", b"c", b"d").lookup_ids
    first = last(harness).key
    reader = harness.open(RECEIVE)
    harness.qm.traffic.hold_many(reader, [ids[0], ids[1], ids[3]])
    harness.qm.traffic.end_many(reader, [ids[0], ids[1], ids[3]], delete=True)
    assert [each[:3] for each in noted(harness)] == [
        ("RECEIVED", first, 2),
        ("RECEIVED", first + 3, 1),
    ]


def test_moves_aborts_and_removals(harness: Harness) -> None:
    harness.create(r".\private$\t", transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"a", name=r".\private$\t", transaction=transaction)
    harness.qm.traffic.commit(transaction.identifier)
    first = last(harness).key
    other = harness.qm.traffic.begin(harness.guid())
    reader = harness.open(RECEIVE, r".\private$\t")
    harness.qm.traffic.dequeue_many(reader, transaction=other, timeout=0)
    harness.qm.traffic.abort(other.identifier)
    assert [each[0] for each in noted(harness)] == ["ABORTED"]
    held = harness.open(MOVE, r".\private$\t;held")
    harness.qm.traffic.move_many(reader, held)
    third = harness.qm.traffic.begin(harness.guid())
    back = harness.open(MOVE, r".\private$\t")
    harness.qm.traffic.move_many(
        harness.open(RECEIVE, r".\private$\t;held"), back, transaction=third
    )
    harness.qm.traffic.commit(third.identifier)
    assert [each[:3] for each in noted(harness)] == [("MOVED", first, 1)] * 2
    harness.qm.traffic.purge(reader)
    removed = last(harness)
    assert (removed.kind, removed.reason) == (Happening.REMOVED, 0xC001)


def test_what_a_policy_does_is_noted(harness: Harness) -> None:
    harness.qm.set_queue(
        harness.qm.find_queue(ORDERS),
        caller=USER,
        receive_error_handling="move",
        receive_retry_count=0,
        retry_cycle_delay=60,
        max_retry_cycles=1,
    )
    harness.send(b"a")
    first = last(harness).key
    harness.qm.trace.forget_names()
    reader = harness.open(RECEIVE)
    for _ in range(2):
        read = harness.qm.traffic.dequeue_many(reader, timeout=0, two_phase=True)
        assert isinstance(read, Read)
        lookup_id = read.messages[0].lookup_id
        harness.qm.traffic.end_many(reader, [lookup_id], delete=False, handed=[lookup_id])
        harness.advance(61)
    orders = "private$\\orders"
    assert noted(harness) == [
        ("ABORTED", first, 1, orders),
        ("MOVED", first, 1, f"{orders};retry"),
        ("MOVED", first, 1, orders),
        ("ABORTED", first, 1, orders),
        ("MOVED", first, 1, f"{orders};poison"),
    ]


def test_nothing_is_noted_without_a_history() -> None:
    harness = Harness()
    harness.create()
    harness.send(b"a")
    harness.drain()
    assert harness.qm.trace.take() == b""


def test_a_dropped_copy_is_noted(harness: Harness) -> None:
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, journaling=True)
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, journal_quota=0)
    sent = harness.send(b"a")
    harness.drain()
    (dropped,) = [
        each
        for each in HistoryReader().read(harness.qm.trace.take())
        if each.kind == Happening.DROPPED
    ]
    assert (dropped.ordinal, dropped.source) == (sent.first_ordinal, QM_GUID.bytes_le)


def test_messages_that_arrive_from_the_disk_are_noted_with_their_identifiers() -> None:
    """Packets of staged messages that are stored are not in memory any more."""
    harness = Harness(settings=Settings(keep_history=True, memory_budget=0))
    harness.create()
    stages = harness.qm.stages
    stages.stage("query", 0, 0, 0, ORDERS, [packet(b"a"), packet(b"b")], caller=USER)
    harness.flush()
    stages.commit_batch("query", 0, [(0, 0)], caller=USER)
    record = last(harness)
    assert (record.kind, record.messages) == (Happening.ARRIVED, 2)
    assert record.source == QM_GUID.bytes_le
    stored = [packet_of(harness.qm.state, each) for each in harness.qm.find_queue(ORDERS).lanes]
    ordinals = [UserMessage(each).identifier.ordinal for each in stored]
    assert ordinals == [record.ordinal, record.ordinal + 1]
