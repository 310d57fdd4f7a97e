"""Which packets stay in memory and which leave it."""

from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.harness import ORDERS, RECEIVE, SEND, USER, Harness, packet

from openmsmq.core.model.lanes import BLOCK, Lane, Lanes
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.settings import Settings
from openmsmq.store.memory_store import MemoryScratch, MemoryStore
from openmsmq.wire.errors import StoreError
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import TxSequenceID

EXPRESS = 0
RECOVERABLE = 1
MODES = (EXPRESS, RECOVERABLE)
FLOW = r".\private$\flow"
SIZE = len(packet(b"0", delivery_mode=EXPRESS))
HEADER = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)


class Spy(MemoryScratch):
    """Counts the writes, and has no space when it is told so."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[int] = []
        self.full = False

    def put_many(self, packets: Sequence[bytes]) -> list[int]:
        self.writes.append(len(packets))
        if self.full:
            raise StoreError(f"no space for {len(packets)} packets")
        return super().put_many(packets)


class SpiedStore(MemoryStore):
    """Counts the packets that are read back."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def read_many(self, keys: Sequence[int]) -> list[bytes]:
        self.reads += len(keys)
        return super().read_many(keys)


class Case:
    """A queue manager that keeps some messages in memory, each of `SIZE` bytes.

    With small blocks, few messages make many of them.
    """

    def __init__(self, messages: int, *, block: int = BLOCK) -> None:
        self.store = SpiedStore()
        self.budget = messages * SIZE
        self.harness = Harness(self.store, settings=Settings(memory_budget=self.budget))
        self.scratch = self.harness.qm.state.scratch = Spy()
        self.harness.create().lanes = Lanes(block)
        self.harness.create(FLOW)

    @property
    def memory(self) -> int:
        return self.harness.qm.state.memory

    def send(self, number: int, name: str = ORDERS, mode: int = EXPRESS, priority: int = 3) -> None:
        """Messages arrive, and the turn ends."""
        contents = [b"%d" % (index % 10) for index in range(number)]
        self.harness.send(*contents, name=name, delivery_mode=mode, priority=priority)
        self.harness.settle()
        self.harness.flush()

    def in_memory(self, name: str = ORDERS) -> str:
        """`m` for a packet in memory and `-` for one elsewhere, in queue order."""
        queue = self.harness.qm.find_queue(name)
        return "".join("-" if message.packet is None else "m" for message in queue.lanes)

    def lane(self, name: str = ORDERS) -> Lane:
        (lane,) = [lane for lane in self.harness.qm.find_queue(name).lanes.lanes if lane]
        return lane


def check_what_leaves(mode: int) -> Case:
    case = Case(16)
    case.send(12, mode=mode)
    case.send(4, FLOW, mode=mode)
    assert (case.in_memory(), case.in_memory(FLOW)) == ("m" * 12, "m" * 4)
    case.send(1, FLOW, mode=mode)
    # An eighth of the budget is free again.
    assert (case.in_memory(), case.in_memory(FLOW)) == ("m" * 9 + "---", "m" * 5)
    assert case.memory == 14 * SIZE
    return case


def test_express_packets_leave_from_the_end_of_the_deepest_queue_in_one_write() -> None:
    case = check_what_leaves(EXPRESS)
    assert case.scratch.writes == [3]
    assert case.harness.drain() == [b"%d" % (index % 10) for index in range(12)]
    assert case.memory == 5 * SIZE


def test_stored_packets_leave_from_the_end_of_the_deepest_queue() -> None:
    case = check_what_leaves(RECOVERABLE)
    assert case.scratch.writes == []
    assert case.harness.drain() == [b"%d" % (index % 10) for index in range(12)]
    assert case.memory == 5 * SIZE


def test_messages_that_pass_through_stay_in_memory_beside_a_deep_queue() -> None:
    for stored in MODES:
        for passing in MODES:
            case = Case(32)
            case.send(100, mode=stored)
            case.send(8, FLOW, mode=passing)
            writes = list(case.scratch.writes)
            for _ in range(50):
                assert len(case.harness.drain(FLOW)) == 8
                case.send(8, FLOW, mode=passing)
                assert case.in_memory(FLOW) == "m" * 8
            assert case.scratch.writes == writes
            assert case.store.reads == 0


def test_the_front_of_a_deep_queue_stays_and_its_new_end_leaves() -> None:
    case = Case(16, block=4)
    case.send(17)
    assert case.in_memory() == "m" * 14 + "-" * 3
    case.send(2)
    assert case.in_memory() == "m" * 14 + "-" * 3 + "mm"
    case.send(1)
    assert case.in_memory() == "m" * 14 + "-" * 6
    case.send(1, FLOW)
    case.send(2, FLOW)
    assert case.in_memory() == "m" * 11 + "-" * 9
    assert case.in_memory(FLOW) == "mmm"


def test_messages_of_low_priority_leave_first() -> None:
    case = Case(16)
    case.send(8, priority=0)
    case.send(9, priority=7)
    assert case.in_memory() == "m" * 9 + "m" * 5 + "-" * 3


def test_memory_keeps_its_budget_whatever_arrives() -> None:
    case = Case(16)
    for number in range(1, 12):
        for name, mode in ((ORDERS, EXPRESS), (FLOW, RECOVERABLE), (ORDERS, RECOVERABLE)):
            case.send(number, name, mode)
            assert case.memory <= case.budget
    assert case.in_memory().count("m") + case.in_memory(FLOW).count("m") == case.memory // SIZE
    assert len(case.harness.drain()) == 2 * sum(range(1, 12))
    assert len(case.harness.drain(FLOW)) == sum(range(1, 12))
    assert case.memory == 0
    assert case.harness.qm.state.scratch_handles == {}


def test_no_more_than_8_mib_leave_at_once() -> None:
    harness = Harness(settings=Settings(memory_budget=128 << 20))
    harness.create()
    body = bytes(1 << 20)
    harness.send(*[body] * 128, delivery_mode=EXPRESS)
    harness.settle()
    assert 120 << 20 >= harness.qm.state.memory > 119 << 20


# Messages outside the lanes


def test_locked_packets_leave_memory_too() -> None:
    for mode in MODES:
        case = Case(8)
        case.send(8, mode=mode)
        reader = case.harness.open(RECEIVE)
        case.harness.qm.traffic.dequeue_many(reader, max_count=8, two_phase=True)
        case.send(8, FLOW, mode=mode)
        assert case.memory <= case.budget
        assert any(message.packet is None for message in reader.locked.values())
        case.harness.qm.close_queue(reader)
        assert len(case.harness.drain()) == 8


def test_delayed_and_staged_packets_leave_memory_too() -> None:
    for mode in MODES:
        packets = [packet(b"%d" % number, delivery_mode=mode) for number in range(9)]
        case = Case(8)
        harness = case.harness
        descriptor = harness.open(SEND)
        harness.qm.traffic.enqueue_many(descriptor, packets, deliver_at=harness.utc + 5)
        harness.flush()
        assert case.memory <= case.budget
        harness.qm.stages.stage("query", 0, 0, 0, ORDERS, packets, caller=USER)
        harness.flush()
        assert case.memory <= case.budget
        harness.qm.stages.commit_batch("query", 0, [(0, 0)], caller=USER)
        harness.advance(5)
        assert sorted(harness.drain()) == sorted([b"%d" % number for number in range(9)] * 2)
        assert case.memory == 0


@pytest.mark.parametrize("two_phase", [False, True])
def test_packets_of_a_transaction_stay_until_they_are_stored(*, two_phase: bool) -> None:
    case = Case(4)
    harness = case.harness
    ledger = r".\private$\ledger"
    harness.create(ledger, transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(*[b"1"] * 8, name=ledger, transaction=transaction, transaction_header=HEADER)
    harness.flush()
    pending = harness.qm.find_queue(ledger).pending.values()
    assert all(message.packet is not None for message in pending)
    if two_phase:
        harness.qm.traffic.prepare(transaction.identifier, single_phase=False)
        harness.flush()
        assert case.memory <= case.budget
    harness.qm.traffic.commit(transaction.identifier)
    harness.flush()
    assert case.memory <= case.budget
    assert harness.drain(ledger) == [b"1"] * 8


# What cannot leave


def test_without_space_for_the_scratch_file_express_messages_stay_in_memory() -> None:
    case = Case(16, block=2)
    case.scratch.full = True
    case.send(17)
    # It is not tried again with every block and every message, durable or not.
    case.send(1)
    case.send(1, FLOW, RECOVERABLE)
    assert (case.in_memory(), case.in_memory(FLOW)) == ("m" * 18, "m")
    assert case.scratch.writes == [1]
    case.scratch.full = False
    case.send(1)
    assert sum(case.scratch.writes) == 1 + 6
    for _ in range(3):
        assert case.memory <= case.budget
        case.send(1)
    assert len(case.harness.drain()) == 22
    assert case.memory == SIZE


def test_without_a_scratch_file_stored_packets_leave_memory_only() -> None:
    case = Case(0)
    case.harness.qm.state.scratch = None
    case.send(2)
    case.send(2, mode=RECOVERABLE)
    assert case.in_memory() == "mm--"
    assert len(case.harness.drain()) == 4


# Blocks that are not looked at again


def test_a_block_without_packets_in_memory_is_marked_until_it_is_gone() -> None:
    case = Case(0)
    case.send(1200)
    lane = case.lane()
    assert lane.cold == set(lane.lasts)
    assert len(lane.cold) == 3
    case.send(1)
    assert lane.cold >= set(lane.lasts)
    case.harness.drain()
    case.send(1)
    assert lane.cold == set(lane.lasts)


def test_a_message_that_is_given_back_among_marked_ones_leaves_memory() -> None:
    case = Case(2)
    case.send(1)
    reader = case.harness.open(RECEIVE)
    case.harness.qm.traffic.dequeue_many(reader, two_phase=True)
    case.send(2)
    assert (case.in_memory(), case.lane().cold) == ("--", set(case.lane().lasts))
    case.harness.qm.close_queue(reader)
    assert case.in_memory() == "m--"
    case.send(1, FLOW)
    case.send(1, FLOW)
    assert (case.in_memory(), case.in_memory(FLOW)) == ("---", "m-")
    assert len(case.harness.drain()) == 3


def test_a_marked_message_that_is_given_back_marks_no_other() -> None:
    case = Case(2)
    case.send(1)
    first, second = case.harness.open(RECEIVE), case.harness.open(RECEIVE)
    case.harness.qm.traffic.dequeue_many(first, two_phase=True)
    case.send(2)
    case.harness.qm.traffic.dequeue_many(second, max_count=2, two_phase=True)
    case.harness.qm.close_queue(first)
    case.harness.qm.close_queue(second)
    assert case.in_memory() == "m--"
    case.send(2, FLOW)
    assert (case.in_memory(), case.in_memory(FLOW)) == ("---", "m-")


STEPS = st.lists(
    st.tuples(st.sampled_from(["send", "take", "give back", "finish"]), st.integers(1, 7)),
    max_size=40,
)


@settings(max_examples=60)
@given(STEPS, st.sampled_from(MODES), st.integers(0, 12))
def test_marks_are_right_whatever_readers_do(
    steps: list[tuple[str, int]], mode: int, kept: int
) -> None:
    case = Case(kept, block=4)
    harness = case.harness
    reader = harness.open(RECEIVE)
    numbers = count()
    sent: list[bytes] = []
    received: list[bytes] = []
    for step, number in steps:
        locked = list(reader.locked)
        if step == "send":
            contents = [b"%d" % next(numbers) for _ in range(number)]
            harness.send(*contents, delivery_mode=mode)
            sent += contents
        elif step == "take" and harness.qm.find_queue(ORDERS).lanes.count:
            harness.qm.traffic.dequeue_many(reader, max_count=number, two_phase=True)
        elif step == "give back":
            harness.qm.traffic.end_many(reader, locked[::2][:number], delete=False)
        elif step == "finish":
            messages = [reader.locked[lookup_id] for lookup_id in locked[:number]]
            packets = packets_of(harness.qm.state, messages)
            received += [UserMessage(packet).body for packet in packets]
            harness.qm.traffic.end_many(reader, locked[:number], delete=True)
        harness.settle()
        harness.flush()
        assert case.memory <= case.budget
    harness.qm.close_queue(reader)
    assert sorted(harness.drain() + received) == sorted(sent)
    assert case.memory == 0
