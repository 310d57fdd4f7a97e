"""What is always true of a queue manager between two steps, whatever happened.

What is counted while it changes is compared with what is there: bytes, messages, places, locks,
names, timers, streams. `check_engine` looks at everything, which costs a few microseconds for each
message. `Watch.step` is for runs of many steps.
"""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import Final

from openmsmq.core.messages.due_times import due_time
from openmsmq.core.model.lanes import Lane
from openmsmq.core.model.message import (
    NEVER,
    STAGED,
    Message,
    PositionState,
    is_awaiting_final_ack,
)
from openmsmq.core.model.open_queue import OpenQueueDescriptor
from openmsmq.core.model.queue import JOURNALS, Queue, QueueRole
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.state import State
from openmsmq.core.transactions.transactions import OperationType, Transaction, TransactionState
from openmsmq.core.transfer.incoming.streams import NO_QUEUE_NUMBER
from openmsmq.engine.engine import Engine
from openmsmq.wire.lookup_id import SEQUENCE_BITS


def check_invariants(manager: QueueManager) -> None:
    """Compare everything that a queue manager counts with what it has."""
    state = manager.state
    for number, queue in state.queues.items():
        assert queue.number == number
        check_queue(queue)
    for queue in state.deleted.values():
        assert queue.number not in state.queues
        check_queue(queue)
    check_totals(state)
    check_names(state)
    check_memory(manager)
    check_locks(state)
    check_timers(state)
    check_schedule(state)
    check_streams(state)
    check_outbox(state)
    checks = manager.incoming.checks
    assert checks.waiting >= 0
    assert (checks.waiting == 0) == (checks.bytes == 0)


def check_engine(engine: Engine) -> None:
    """The queue manager of an engine, and what the engine itself keeps.

    Raises:
        AssertionError: something is not as it must be.
    """
    check_invariants(engine.manager)
    check_gate(engine)


def check_gate(engine: Engine) -> None:
    """What waits for the disk waits for a batch that is not there yet."""
    gate = engine.gate
    outbox = engine.manager.state.outbox
    assert gate.durable_number <= outbox.durable_number
    assert all(depends > gate.durable_number for depends in gate._held)
    assert all(depends <= outbox.number for depends in gate._held)
    assert all(gate._held.values())
    if engine.writing is not None:
        assert engine.writing[0] <= outbox.number - 1
    assert engine._waiting_bytes >= 0


# What says that the messages of a queue are others than before.
_LOOKS: Final = attrgetter("lanes.count", "total_bytes", "reserved_bytes", "expected")


class Watch:
    """Looks at an engine after every step, at what is likely to have changed.

    Batches each time; totals, locks and the messages of a queue when counts or bytes are others
    than before; and everything now and then.
    """

    def __init__(self, engine: Engine, every: int = 100) -> None:
        self._engine = engine
        self._every = every
        self._steps = 0
        self._queues: dict[int, object] = {}
        self._rest: object = None

    def step(self) -> None:
        """Something happened."""
        self._steps += 1
        if self._steps % self._every == 0:
            check_engine(self._engine)
            return
        state = self._engine.manager.state
        rest = _looks_of_the_rest(state)
        changed = rest != self._rest
        self._rest = rest
        queues = self._queues
        for number, queue in state.queues.items():
            looks = _LOOKS(queue)
            if queues.get(number) != looks:
                queues[number] = looks
                changed = True
                check_queue(queue)
        if changed:
            check_totals(state)
            check_locks(state)
        check_outbox(state)
        check_gate(self._engine)


def _looks_of_the_rest(state: State) -> object:
    """What totals and locks depend on besides the queues that are there."""
    totals = state.totals
    operations = [len(transaction.operations) for transaction in state.transactions.values()]
    return (
        *(totals.queues, totals.messages, totals.bytes, totals.outgoing_messages),
        *(totals.awaiting_final_ack, totals.delayed_messages, totals.delayed_bytes),
        *(totals.journal_bytes, len(state.queues), len(state.deleted), operations),
    )


# Queues


def check_queue(queue: Queue) -> None:
    """The messages of one queue: each in its place, and all of them counted."""
    size = 0
    lanes = queue.lanes
    assert lanes.count == sum(lane.count for lane in lanes.lanes if lane is not None), queue.path
    for index, lane in enumerate(lanes.lanes):
        if lane is not None and lane.count:
            size += _check_lane(queue, lane, index)
        elif lane is not None:
            assert not lane.ids
            assert not lane.blocks
            assert not lane.lasts
    for lookup_id, message in queue.locked.items():
        assert message.lookup_id == lookup_id
        assert message.queue is queue
        assert message.state != PositionState.AVAILABLE
        assert message.holder is not None, f"{queue.path}: locked by no one"
        assert lanes.get(lookup_id) is None, f"{queue.path}: locked and visible"
        size += message.size
    assert queue.total_bytes == size, f"{queue.path}: {queue.total_bytes} bytes, not {size}"
    aside = [*queue.pending.values(), *queue.delayed.values()]
    reserved = sum(message.size for message in aside)
    for lookup_id, message in queue.delayed.items():
        assert (message.lookup_id, message.queue) == (lookup_id, queue)
        assert message.state == PositionState.DELAYED
    assert queue.reserved_bytes == reserved, f"{queue.path}: {queue.reserved_bytes} reserved"
    assert all(queue.locked.get(key) is message for key, message in queue.peekable.items())
    for read in queue.waiting:
        assert read.waiting, f"{queue.path}: an ended read waits"
        assert read.descriptor.queue is queue
        assert not read.descriptor.closed
    for handle, descriptor in queue.descriptors.items():
        assert descriptor.queue is queue
        assert descriptor.handle == handle
        assert not descriptor.closed
    assert queue.expected >= 0
    assert (queue.outgoing is not None) == (queue.role is QueueRole.OUTGOING)


def _check_lane(queue: Queue, lane: Lane, index: int) -> int:
    """One lane in order; returns the bytes of its messages."""
    assert lane.count == sum(map(len, lane.ids))
    assert lane.lasts == [ids[-1] for ids in lane.ids]
    all_ids = [lookup_id for ids in lane.ids for lookup_id in ids]
    assert all_ids == sorted(set(all_ids)), f"{queue.path}: not in order"
    assert all_ids[0] >> SEQUENCE_BITS == all_ids[-1] >> SEQUENCE_BITS == index
    messages = [message for block in lane.blocks for message in block]
    assert [message.lookup_id for message in messages] == all_ids
    size = 0
    for message in messages:
        assert message.queue is queue
        assert message.state == PositionState.AVAILABLE, f"{queue.path}: {message.state}"
        assert message.holder is None
        size += message.size
    for last, block in zip(lane.lasts, lane.blocks, strict=True):
        if last in lane.cold:
            assert all(message.packet is None for message in block), f"{queue.path}: {last} is warm"
    return size


def check_totals(state: State) -> None:
    """Every total is what adding up the queues gives."""
    totals = state.totals
    users = messages = size = delayed = delayed_size = journal_size = 0
    for queue in (*state.queues.values(), *state.deleted.values()):
        users += queue.role is QueueRole.USER and not queue.deleted
        messages += queue.count
        size += queue.total_bytes
        if queue.delayed:
            delayed += len(queue.delayed)
            delayed_size += sum(message.size for message in queue.delayed.values())
        if queue.role in JOURNALS:
            journal_size += queue.total_bytes
    outgoing = awaiting = 0
    for queue in state.outgoing.values():
        outgoing += queue.count
        awaiting += sum(map(is_awaiting_final_ack, queue.locked.values()))
    assert totals.queues == users
    assert totals.messages == messages
    assert totals.bytes == size
    assert totals.outgoing_messages == outgoing
    assert totals.awaiting_final_ack == awaiting
    assert totals.delayed_messages == delayed
    assert totals.delayed_bytes == delayed_size
    assert totals.journal_bytes == journal_size


def check_names(state: State) -> None:
    """Every name leads to a queue that is there."""
    for table in (state.paths, state.private_numbers, state.identifiers, state.outgoing):
        for name, queue in table.items():
            assert state.queues.get(queue.number) is queue, f"{name} leads nowhere"
    for queue in state.queues.values():
        if queue.role is QueueRole.USER:
            assert state.paths[queue.path.casefold()] is queue
    for handle, descriptor in state.descriptors.items():
        assert descriptor.handle == handle
        if descriptor.queue is not None:
            assert descriptor.queue.descriptors.get(handle) is descriptor


# Messages


def everywhere(manager: QueueManager) -> list[Message]:
    """Every message that the queue manager has, in a queue or on its way into one."""
    messages: list[Message] = []
    for queue in (*manager.state.queues.values(), *manager.state.deleted.values()):
        messages += queue.lanes
        messages += queue.locked.values()
        messages += queue.pending.values()
        messages += queue.delayed.values()
    for staged in manager.stages.messages():
        messages += [message for message in staged if message.state == STAGED]
    return messages


def check_memory(manager: QueueManager) -> None:
    """Packets in memory are counted, those elsewhere can be found."""
    state = manager.state
    messages = everywhere(manager)
    keys = Counter(message.key for message in messages)
    assert max(keys.values(), default=1) == 1, "one message stands in two places"
    for message in messages:
        if message.packet is None and not message.recoverable:
            assert message.key in state.scratch_handles, "an express packet is nowhere"
        assert message.stored <= state.outbox.number
    assert all(key in keys for key in state.scratch_handles)
    in_memory = sum(message.size for message in messages if message.packet is not None)
    assert state.memory == in_memory, f"{state.memory} bytes in memory, not {in_memory}"


def check_locks(state: State) -> None:
    """Who holds a message knows it, and what a transaction holds is locked for it."""
    held: dict[Transaction, set[int]] = {}
    expected: Counter[int] = Counter()
    for identifier, transaction in state.transactions.items():
        assert transaction.identifier == identifier
        assert transaction.state is not TransactionState.FINISHED
        keys = held[transaction] = set()
        for operation in transaction.operations:
            for message in operation.messages:
                keys.add(message.key)
                queue = message.queue
                if queue.deleted and operation.operation_type is not OperationType.ENQUEUE:
                    # It leaves with its queue, and the transaction goes on without it.
                    continue
                # A send whose time ran out before its commit is dequeued while it is pending.
                is_there = queue.pending.get(message.lookup_id) is message
                if operation.operation_type is not OperationType.ENQUEUE:
                    is_there |= queue.locked.get(message.lookup_id) is message
                assert is_there, f"{queue.path}: not locked"
                assert message.holder is transaction
            if operation.target is not None:
                expected[operation.target.number] += len(operation.messages)
    for queue in state.queues.values():
        assert queue.expected == expected[queue.number], f"{queue.path}: {queue.expected} expected"
        if not queue.locked and not queue.pending:
            continue
        for message in [*queue.locked.values(), *queue.pending.values()]:
            holder = message.holder
            if isinstance(holder, Transaction):
                assert message.key in held.get(holder, ()), (
                    f"{queue.path}: forgotten by its transaction"
                )
            elif isinstance(holder, OpenQueueDescriptor):
                assert holder.locked.get(message.lookup_id) is message


def check_timers(state: State) -> None:
    """Reads that wait are in the heap if they have a deadline; messages expire in their second."""
    heap = state.waits._heap
    assert all(heap[(at - 1) // 2][:2] <= entry[:2] for at, entry in enumerate(heap) if at)
    waiting = {id(read) for queue in state.queues.values() for read in queue.waiting}
    assert all(id(read) in waiting for _, _, read in heap if read.waiting)
    buckets = state.expiry._buckets
    assert set(buckets) == set(state.expiry._seconds)
    for bucket in buckets.values():
        for key, message in bucket.items():
            assert message.key == key
            assert message.expires != NEVER
            assert message.state != PositionState.DELETED, "a deleted message has a timer"


def check_schedule(state: State) -> None:
    """Every message that waits for a time is looked at then, and no other is."""
    schedule = state.schedule
    heap = set(schedule._heap)
    for key, (time, message) in schedule.entries.items():
        assert message.key == key
        assert message.state != PositionState.DELETED, "a deleted message is scheduled"
        assert (time, key) in heap
    for queue in state.queues.values():
        assert all(message.key in schedule.entries for message in queue.delayed.values())
        if queue.role is QueueRole.SUBQUEUE:
            for message in (*queue.lanes, *queue.locked.values()):
                if due_time(message) is not None:
                    assert message.key in schedule.entries, f"{queue.path}: never looked at"


# Streams and batches


def check_streams(state: State) -> None:
    """Every stream is counted, for its address too, and stands under its key."""
    addresses: Counter[str] = Counter()
    for queue in state.queues.values():
        for key, stream in queue.incoming.items():
            assert (stream.key, stream.queue) == (key, queue.number)
            addresses[stream.address] += 1
    for stream in state.abandoned_streams:
        assert stream.queue == NO_QUEUE_NUMBER
        addresses[stream.address] += 1
    count = state.stream_count
    assert count.total == addresses.total()
    assert count._by_address == addresses
    history = state.message_history
    groups = list(history._groups)
    assert history._count == sum(len(group.identifiers) for group in groups)
    assert len(history) <= history._count
    times = [group.time for group in groups]
    assert all(group.identifiers for group in groups)
    assert len(times) == len(groups)


def check_outbox(state: State) -> None:
    """Batches become durable in order; nothing depends on one that is not begun."""
    outbox = state.outbox
    assert outbox.durable_number < outbox.number
    assert all(event.depends <= outbox.number for event in outbox.events)
