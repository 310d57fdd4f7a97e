"""Starting from what the store has ([MS-MQDMPR] 3.1.3)."""

from dataclasses import replace

import pytest
from tests.core.harness import ORDERS, RECEIVE, Harness, bodies

from openmsmq.core.management.counters import Counters
from openmsmq.core.model.message import record_of
from openmsmq.core.outbox import Outbox, Reservation
from openmsmq.core.rows.tables import Table
from openmsmq.store.interface import Progress, Recovery
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.batch import RESTORED_KEY, STORE_TABLE, Batch
from openmsmq.wire.errors import StoreError

SPEC = pytest.mark.spec


class RestoredStore(MemoryStore):
    """Says that the files came out of a backup."""

    def recover(self, progress: Progress | None = None) -> Recovery:
        return replace(super().recover(progress), restored=True)


@SPEC("MQDMPR-3.1.1-01", "MQDMPR-3.1.1.12-13")
def test_a_start_changes_nothing_that_was_stored(harness: Harness) -> None:
    harness.send(b"1", b"2", priority=1)
    harness.send(b"3", priority=6)
    harness.flush()
    rows = {(table, key): value for table, key, value in harness.store.recover(None).rows}
    messages = list(harness.store.recover(None).messages)
    harness.restart()
    harness.restart()
    again = harness.store.recover(None)
    assert list(again.messages) == messages
    volatile = {(Table.MANAGER, b"sequence"), (Table.MANAGER, b"ordinal")}
    assert {
        (table, key): value for table, key, value in again.rows if (table, key) not in volatile
    } == {key: value for key, value in rows.items() if key not in volatile}


def test_a_restored_copy_goes_on_with_other_numbers() -> None:
    harness = Harness(RestoredStore())
    harness.create()
    sent = harness.send(b"1")
    harness.qm.state.outbox.batch.set_row(Table.SEQUENCES, b"outgoing", b"state")
    harness.flush()
    before = (harness.qm.state.sequence.last, sent.first_ordinal)
    harness.crash()
    taken = harness.qm.take_batch()
    assert taken is not None
    assert taken[1].rows[STORE_TABLE, RESTORED_KEY] is None
    assert taken[1].rows[Table.SEQUENCES, b"outgoing"] is None
    sent = harness.send(b"2")
    assert harness.qm.state.sequence.last > before[0] + (1 << 39)
    assert sent.first_ordinal > before[1] + (1 << 27)
    assert harness.contents() == [b"1", b"2"]


def test_a_message_in_no_queue_stops_the_start(harness: Harness) -> None:
    sent = harness.send(b"1")
    harness.flush()
    batch = Batch()
    message = sent.messages[0]
    message.queue.number = 999
    batch.update(message.key, record_of(message))
    harness.store.finish(harness.store.begin([batch]))
    with pytest.raises(StoreError, match="queue 999, which does not exist"):
        harness.crash()


def test_a_queue_number_is_never_used_again(harness: Harness) -> None:
    numbers = {queue.number for queue in harness.qm.queues}
    harness.restart()
    created = harness.create(r".\private$\new")
    assert created.number not in numbers


def test_moved_messages_are_recovered_in_their_new_place(harness: Harness) -> None:
    sent = harness.send(b"1", b"2", b"3")
    later = harness.open(RECEIVE, ORDERS + ";later")
    source = harness.open(RECEIVE)
    harness.qm.traffic.move_many(source, later, lookup_ids=sent.lookup_ids[:1])
    harness.qm.traffic.move_many(later, source)
    assert harness.contents() == [b"2", b"3", b"1"]
    harness.restart()
    assert harness.contents() == [b"2", b"3", b"1"]
    assert bodies(harness.qm.traffic.dequeue_many(harness.open(RECEIVE), max_count=3)) == [
        b"2",
        b"3",
        b"1",
    ]


# Numbers that never repeat


def test_a_reservation_is_written_ahead_of_its_use() -> None:
    numbers = Reservation(b"n", 100, None)
    outbox = Outbox(Counters())
    assert numbers.take(10, outbox) == 0
    assert (numbers.last, numbers.depends()) == (10, 1)
    outbox.take_batch()
    numbers.durable(1)
    assert numbers.depends() == 0
    numbers.take(40, outbox)
    assert not outbox.batch
    numbers.take(20, outbox)
    assert outbox.take_batch() is not None
    assert numbers.depends() == 0
    numbers.take(60, outbox)
    assert numbers.depends() == 2
    numbers.durable(2)
    assert numbers.depends() == 0


def test_after_a_crash_every_reserved_number_counts_as_used() -> None:
    numbers = Reservation(b"n", 100, None)
    outbox = Outbox(Counters())
    numbers.take(10, outbox)
    again = Reservation(b"n", 100, outbox.batch.rows[Table.MANAGER, b"n"])
    assert again.last >= numbers.last
    assert again.take(1, Outbox(Counters())) >= 110


def test_more_numbers_than_a_block_are_reserved_together() -> None:
    numbers = Reservation(b"n", 100, None)
    outbox = Outbox(Counters())
    assert numbers.take(1000, outbox) == 0
    assert Reservation(b"n", 100, outbox.batch.rows[Table.MANAGER, b"n"]).last == 1100
