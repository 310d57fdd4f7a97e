"""Transactional sequences of outgoing queues, without a protocol."""

from tests.core.harness import Harness

from openmsmq.core.model.message import Message
from openmsmq.core.model.queue import Queue
from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.outgoing.sequences import end_sequence, number_messages

THERE = r"DIRECT=OS:there\private$\orders"


def send(harness: Harness, *contents: bytes, two_phase: bool = False) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(*contents, name=THERE, transaction=transaction)
    if two_phase:
        harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
        harness.restart()
    harness.qm.traffic.commit(transaction.identifier)


def queue_of(harness: Harness) -> Queue:
    return harness.qm.outgoing.find(THERE)


def places(messages: list[Message]) -> list[tuple[int, int]]:
    return [
        (message.history.tx_sequence_id & 0xFFFFFFFF, message.history.tx_sequence_number)
        for message in messages
        if message.history is not None
    ]


def test_committed_messages_are_numbered_and_keep_their_numbers() -> None:
    harness = Harness()
    send(harness, b"1", b"2")
    harness.restart()
    send(harness, b"3")
    assert places(list(queue_of(harness).lanes)) == [(1, 1), (1, 2), (1, 3)]


def test_a_prepared_transaction_is_numbered_when_it_commits() -> None:
    harness = Harness()
    send(harness, b"1", two_phase=True)
    harness.restart()
    assert places(list(queue_of(harness).lanes)) == [(1, 1)]


def test_an_ended_sequence_leaves_no_row_and_its_number_is_not_used_again() -> None:
    harness = Harness()
    send(harness, b"1")
    end_sequence(harness.qm.state, queue_of(harness))
    end_sequence(harness.qm.state, queue_of(harness))
    harness.flush()
    rows = [key for table, key, _ in harness.store.recover(None).rows if table == Table.SEQUENCES]
    assert rows == [b""]
    harness.restart()
    send(harness, b"2")
    assert places(list(queue_of(harness).lanes)) == [(1, 1), (2, 1)]


def test_only_transactional_messages_of_outgoing_queues_are_numbered() -> None:
    harness = Harness()
    local = harness.create()
    harness.send(b"1")
    harness.send(b"2", name=THERE)
    for queue in (local, queue_of(harness)):
        number_messages(harness.qm.state, queue, list(queue.lanes))
        assert places(list(queue.lanes)) == []
    end_sequence(harness.qm.state, local)
