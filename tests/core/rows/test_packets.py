"""Packets in memory and read back."""

from collections.abc import Sequence

import pytest
from tests.core.harness import ORDERS, PEEK, RECEIVE, SEND, Harness, bodies, packet

from openmsmq.core.settings import Settings
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.errors import StoreError
from openmsmq.wire.names.queue_address import direct_address


def small(budget: int) -> Harness:
    harness = Harness(settings=Settings(memory_budget=budget))
    harness.create()
    return harness


def in_memory(harness: Harness) -> list[bool]:
    return [message.packet is not None for message in harness.qm.find_queue(ORDERS).lanes]


def test_stored_packets_leave_memory_above_the_budget_the_last_first() -> None:
    harness = small(400)
    harness.send(b"1", b"2", b"3", b"4")
    assert in_memory(harness) == [True] * 4
    harness.flush()
    assert in_memory(harness) == [True, True, False, False]
    assert harness.qm.state.memory <= 400
    descriptor = harness.open(RECEIVE)
    assert bodies(harness.qm.traffic.peek_many(descriptor, max_count=4)) == [b"1", b"2", b"3", b"4"]
    assert bodies(harness.qm.traffic.dequeue_many(descriptor, max_count=4)) == [
        b"1",
        b"2",
        b"3",
        b"4",
    ]
    assert harness.qm.state.memory == 0


def test_a_packet_stays_in_memory_until_its_batch_is_durable() -> None:
    harness = small(0)
    harness.send(b"1")
    first = harness.qm.take_batch()
    harness.send(b"2")
    assert first is not None
    harness.store.finish(harness.store.begin([first[1]]))
    harness.qm.durable(first[0])
    assert in_memory(harness) == [False, True]
    assert harness.contents() == [b"1", b"2"]


def test_express_packets_above_the_budget_go_to_the_scratch_file() -> None:
    harness = small(400)
    harness.send(b"1", b"2", b"3", delivery_mode=0)
    harness.send(b"4", delivery_mode=0)
    harness.settle()
    assert harness.qm.state.memory <= 400
    assert harness.contents() == [b"1", b"2", b"3", b"4"]
    assert bodies(harness.qm.traffic.peek_many(harness.open(PEEK), max_count=9)) == [
        b"1",
        b"2",
        b"3",
        b"4",
    ]
    assert harness.drain() == [b"1", b"2", b"3", b"4"]
    assert harness.qm.state.scratch_handles == {}
    assert harness.qm.state.memory == 0


class DamagedStore(MemoryStore):
    """Cannot read anything back."""

    def read_many(self, keys: Sequence[int]) -> list[bytes]:
        raise StoreError(f"message {keys[0]} is damaged")


def test_a_message_that_cannot_be_read_stays_in_its_queue() -> None:
    harness = Harness(DamagedStore())
    harness.create()
    harness.send(b"1", b"2")
    harness.restart()
    descriptor = harness.open(RECEIVE)
    cursor = harness.qm.open_cursor(descriptor)
    for read_through in (None, cursor):
        with pytest.raises(StoreError, match="damaged"):
            harness.qm.traffic.dequeue_many(descriptor, cursor=read_through)
    assert harness.qm.find_queue(ORDERS).lanes.count == 2


def test_packets_of_recovered_messages_are_read_when_somebody_asks() -> None:
    harness = small(1 << 20)
    harness.send(b"1", b"2")
    harness.restart()
    assert in_memory(harness) == [False, False]
    assert harness.qm.state.memory == 0
    assert harness.drain() == [b"1", b"2"]


def test_the_arrival_of_a_spilled_message_is_acknowledged() -> None:
    harness = small(0)
    harness.create(r".\private$\admin")
    harness.send(
        b"1",
        delivery_mode=0,
        acknowledgments=1,
        admin_queue=direct_address(r"OS:qm\private$\admin"),
    )
    assert len(harness.contents(r".\private$\admin")) == 1


def test_a_mixed_send_spills_the_express_messages_only() -> None:
    harness = small(0)
    descriptor = harness.open(SEND)
    harness.qm.traffic.enqueue_many(descriptor, [packet(b"1", delivery_mode=0), packet(b"2")])
    harness.settle()
    assert in_memory(harness) == [False, True]
    assert harness.drain() == [b"1", b"2"]
