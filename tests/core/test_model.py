"""Random work on a queue manager and on the reference, over each store, with crashes."""

import contextlib
from pathlib import Path
from typing import ClassVar
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.core.harness import MOVE, PEEK, RECEIVE, SEND, Harness, bodies, packet
from tests.core.invariants import check_engine
from tests.core.reference import Model, ModelMessage, ModelTransaction
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.core.model.open_queue import OpenQueueDescriptor
from openmsmq.core.model.read import MessageSeekAction, Read
from openmsmq.core.settings import Settings
from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Store
from openmsmq.store.memory_store import MemoryStore
from openmsmq.store.options import Options
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.lookup_id import SEQUENCE_MASK
from openmsmq.wire.message.user_message import UserMessage

PLAIN, TRANSACTIONAL = "plain", "transactional"
LATER = ";later"
NAMES = (PLAIN, PLAIN + LATER, TRANSACTIONAL, TRANSACTIONAL + LATER)
DIRECTORY = Path("/store")
RELATIONS = st.sampled_from(list(MessageSeekAction))


def path(name: str) -> str:
    return rf".\private$\{name}"


class QueueMachine(RuleBasedStateMachine):
    """Every rule does the same to both; the invariant compares all that can be seen."""

    make_store: ClassVar[type[Store]]

    def __init__(self) -> None:
        super().__init__()
        self.disk = SimulatedDisk()
        self.harness = Harness(
            self.open_store(), reopen=self.reopen, settings=Settings(memory_budget=3000)
        )
        self.model = Model(utc=self.harness.utc)
        self.stored = self.model.after_crash()
        self.bodies = 0
        # The last sequence number, and the last one that anybody may have heard of.
        self.last_sequence = 0
        self.said = 0
        self.descriptor: dict[str, OpenQueueDescriptor] = {}
        self.locked: dict[str, list[ModelMessage]] = {name: [] for name in NAMES}
        self.transaction_count = 0

    def open_store(self) -> Store:
        return MemoryStore()

    def reopen(self) -> Store:
        return self.harness.store

    @initialize()
    def create_queues(self) -> None:
        self.harness.create(path(PLAIN))
        self.harness.create(path(TRANSACTIONAL), transactional=True)
        self.harness.flush()
        self.open_all()

    def open_all(self) -> None:
        self.descriptor = {name: self.harness.open(RECEIVE, path(name)) for name in NAMES}
        self.locked = {name: [] for name in NAMES}

    # Help for the rules

    def send_to(
        self, name: str, count: int, transaction: str | None, **properties: int
    ) -> list[ModelMessage]:
        """Send to the queue manager; return what the model must know of it."""
        names = [b"%d" % (self.bodies + number) for number in range(count)]
        self.bodies += count
        packets = [packet(name_, **properties) for name_ in names]
        descriptor = self.harness.open(SEND, path(name))
        owner = None
        if transaction is not None:
            owner = self.harness.qm.traffic.find_transaction(UUID(transaction))
        sent = self.harness.qm.traffic.enqueue_many(descriptor, packets, owner)
        self.harness.qm.close_queue(descriptor)
        life = properties.get("time_to_be_received")
        messages = []
        for body, message in zip(names, sent.messages, strict=True):
            assert message.sequence > self.last_sequence
            self.last_sequence = message.sequence
            messages.append(
                ModelMessage(
                    body,
                    0 if transaction else properties.get("priority", 3),
                    message.sequence,
                    message.size,
                    bool(transaction or properties.get("delivery_mode", 1)),
                    None if life is None else int(self.harness.utc) + life,
                )
            )
            assert messages[-1].lookup_id == message.lookup_id
        if not sent.depends:
            self.said = self.last_sequence
        return messages

    def active(self) -> list[str]:
        return [key for key, each in self.model.transactions.items() if not each.prepared]

    # Rules

    @rule(
        count=st.integers(1, 4),
        priority=st.integers(0, 7),
        recoverable=st.booleans(),
        life=st.sampled_from([None, None, 0, 5, 50]),
    )
    def send(self, count: int, priority: int, *, recoverable: bool, life: int | None) -> None:
        properties = {"priority": priority, "delivery_mode": int(recoverable)}
        if life is not None:
            properties["time_to_be_received"] = life
        for message in self.send_to(PLAIN, count, None, **properties):
            self.model.put(PLAIN, message)
        self.model.expire()

    def new_transaction(self) -> str:
        self.transaction_count += 1
        identifier = UUID(int=self.transaction_count)
        self.harness.qm.traffic.begin(identifier)
        self.model.transactions[str(identifier)] = ModelTransaction()
        return str(identifier)

    @rule()
    def begin(self) -> None:
        self.new_transaction()

    def active_or_new(self, data: st.DataObject) -> str:
        """A transaction that goes on."""
        return (
            data.draw(st.sampled_from(self.active())) if self.active() else self.new_transaction()
        )

    @rule(count=st.integers(1, 4))
    def send_and_commit(self, count: int) -> None:
        key = self.new_transaction()
        for message in self.send_to(TRANSACTIONAL, count, key):
            self.model.transactions[key].sent.append((TRANSACTIONAL, message))
        self.harness.qm.traffic.commit(UUID(key))
        self.model.commit(key)

    @rule(data=st.data(), count=st.integers(1, 3), life=st.sampled_from([None, None, 5]))
    def send_in_transaction(self, data: st.DataObject, count: int, life: int | None) -> None:
        key = self.active_or_new(data)
        properties = {} if life is None else {"time_to_be_received": life}
        for message in self.send_to(TRANSACTIONAL, count, key, **properties):
            self.model.transactions[key].sent.append((TRANSACTIONAL, message))

    @rule(name=st.sampled_from(NAMES), count=st.integers(1, 4), two_phase=st.booleans())
    def receive(self, name: str, count: int, *, two_phase: bool) -> None:
        expected = self.model.visible(name)[:count]
        descriptor = self.descriptor[name]
        if not expected:
            with pytest.raises(QueueError, match="MQ_ERROR_IO_TIMEOUT"):
                self.harness.qm.traffic.dequeue_many(
                    descriptor, max_count=count, two_phase=two_phase, timeout=0
                )
            return
        read = self.harness.qm.traffic.dequeue_many(
            descriptor, max_count=count, two_phase=two_phase, timeout=0
        )
        assert bodies(read) == [message.body for message in expected]
        for message in expected:
            if two_phase:
                message.holder = "reader"
                self.locked[name].append(message)
            else:
                self.model.take(name, message)

    @rule(name=st.sampled_from(NAMES), delete=st.booleans())
    def end(self, name: str, *, delete: bool) -> None:
        locked = self.locked[name]
        ids = [message.lookup_id for message in locked]
        self.harness.qm.traffic.end_many(self.descriptor[name], ids, delete=delete)
        for message in locked:
            if delete:
                self.model.take(name, message)
            else:
                self.model.give_back(name, message)
        self.locked[name] = []

    @rule(
        data=st.data(),
        name=st.sampled_from(NAMES[2:]),
        count=st.integers(1, 3),
        moves=st.integers(0, 2),
    )
    def receive_in_transaction(
        self, data: st.DataObject, name: str, count: int, moves: int
    ) -> None:
        key = self.active_or_new(data)
        expected = self.model.visible(name)[:count]
        if not expected:
            return
        transaction = self.harness.qm.traffic.find_transaction(UUID(key))
        read = self.harness.qm.traffic.dequeue_many(
            self.descriptor[name], max_count=count, transaction=transaction
        )
        assert bodies(read) == [message.body for message in expected]
        for message in expected:
            message.holder = key
            self.model.transactions[key].taken.append((name, message))
        target = NAMES[5 - NAMES.index(name)]
        for message in expected[:moves]:
            self.move_locked(name, target, message, key)

    @rule(data=st.data(), pair=st.sampled_from([(0, 1), (1, 0), (2, 3), (3, 2)]))
    def move(self, data: st.DataObject, pair: tuple[int, int]) -> None:
        source, target = NAMES[pair[0]], NAMES[pair[1]]
        visible = self.model.visible(source)
        if not visible:
            return
        message = data.draw(st.sampled_from(visible))
        to = self.harness.open(MOVE, path(target))
        key = None
        if pair[0] >= 2 and self.active():
            key = data.draw(st.sampled_from([None, *self.active()]))
        owner = None if key is None else self.harness.qm.traffic.find_transaction(UUID(key))
        moved = self.harness.qm.traffic.move_many(
            self.descriptor[source], to, lookup_ids=[message.lookup_id], transaction=owner
        )
        self.harness.qm.close_queue(to)
        if key is not None:
            message.holder = key
            self.model.transactions[key].moved.append((source, target, message))
        else:
            self.arrive(source, target, message, moved.lookup_ids[0])

    @precondition(lambda self: self.active())
    @rule(data=st.data(), name=st.sampled_from(NAMES[2:]))
    def move_what_is_locked(self, data: st.DataObject, name: str) -> None:
        locked = [each for each in self.model.order(name) if each.holder is not None]
        if locked:
            message = data.draw(st.sampled_from(locked))
            key = data.draw(st.sampled_from(self.active()))
            self.move_locked(name, NAMES[5 - NAMES.index(name)], message, key)

    def move_locked(self, source: str, target: str, message: ModelMessage, key: str) -> None:
        """Move a locked message in a transaction, which must be the one that has locked it."""
        owner = self.harness.qm.traffic.find_transaction(UUID(key))
        to = self.harness.open(MOVE, path(target))
        refused = pytest.raises(QueueError, match="MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION")
        with contextlib.nullcontext() if message.holder == key else refused:
            self.harness.qm.traffic.move_many(
                self.descriptor[source], to, lookup_ids=[message.lookup_id], transaction=owner
            )
        self.harness.qm.close_queue(to)
        if message.holder == key:
            transaction = self.model.transactions[key]
            transaction.taken = [each for each in transaction.taken if each[1] is not message]
            transaction.moved = [each for each in transaction.moved if each[2] is not message]
            transaction.moved.append((source, target, message))

    def arrive(self, source: str, target: str, message: ModelMessage, lookup_id: int) -> None:
        """A moved message has a new place."""
        self.model.take(source, message)
        sequence = lookup_id & SEQUENCE_MASK
        assert sequence > self.last_sequence
        self.last_sequence = sequence
        message.sequence = sequence
        message.holder = None
        message.purged = False
        self.model.put(target, message)

    @rule(name=st.sampled_from(NAMES))
    def purge(self, name: str) -> None:
        assert self.harness.qm.traffic.purge(self.descriptor[name]).done
        self.model.purge(name)

    @precondition(lambda self: self.active())
    @rule(data=st.data())
    def prepare(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.active()))
        self.harness.qm.traffic.prepare(UUID(key), single_phase=False)
        self.model.transactions[key].prepared = True

    @precondition(lambda self: self.model.transactions)
    @rule(data=st.data(), keep=st.booleans())
    def decide(self, data: st.DataObject, *, keep: bool) -> None:
        key = data.draw(st.sampled_from(sorted(self.model.transactions)))
        transaction = self.model.transactions[key]
        if not keep:
            self.harness.qm.traffic.abort(UUID(key))
            self.model.abort(key)
            return
        self.harness.qm.traffic.commit(UUID(key))
        self.model.commit(key)
        for source, target, message in transaction.moved:
            queue = self.harness.qm.find_queue(path(target))
            found = [each for each in queue.lanes if self.harness.body(each) == message.body]
            self.arrive(source, target, message, found[0].lookup_id)

    @rule(name=st.sampled_from(NAMES), data=st.data(), relation=RELATIONS)
    def peek_by_lookup_id(
        self, name: str, data: st.DataObject, relation: MessageSeekAction
    ) -> None:
        order = self.model.order(name)
        if not order:
            return
        message = data.draw(st.sampled_from(order))
        visible = self.model.visible(name)
        before = [each for each in visible if each.lookup_id < message.lookup_id]
        after = [each for each in visible if each.lookup_id > message.lookup_id]
        expected = {
            MessageSeekAction.FIRST: visible[:1],
            MessageSeekAction.LAST: visible[-1:],
            MessageSeekAction.NEXT: after[:1],
            MessageSeekAction.PREVIOUS: before[-1:],
            MessageSeekAction.CURRENT: [message] if message in visible else [],
        }[relation]
        descriptor = self.harness.open(PEEK, path(name))
        try:
            read = self.harness.qm.traffic.read_by_lookup_id(
                descriptor, message.lookup_id, relation
            )
            found = bodies(read)
        except QueueError:
            found = []
        self.harness.qm.close_queue(descriptor)
        assert found == [each.body for each in expected]

    @rule(name=st.sampled_from(NAMES))
    def walk_with_a_cursor(self, name: str) -> None:
        descriptor = self.harness.open(PEEK, path(name))
        cursor = self.harness.qm.open_cursor(descriptor)
        found: list[bytes] = []
        ended_with = ""
        try:
            read = self.harness.qm.traffic.peek_many(descriptor, cursor=cursor, timeout=0)
            while isinstance(read, Read):
                found += bodies(read)
                read = self.harness.qm.traffic.peek_many(
                    descriptor, cursor=cursor, next_message=True, timeout=0
                )
        except QueueError as exc:
            ended_with = exc.name
        self.harness.qm.close_queue(descriptor)
        assert ended_with == "MQ_ERROR_IO_TIMEOUT"
        assert found == [message.body for message in self.model.visible(name)]

    @rule(seconds=st.sampled_from([1, 5, 60]))
    def wait(self, seconds: int) -> None:
        self.harness.advance(seconds)
        self.model.utc = self.harness.utc
        self.model.expire()

    @rule()
    def flush(self) -> None:
        self.harness.flush()
        self.said = self.last_sequence
        self.stored = self.model.after_crash()

    @rule(clean=st.booleans())
    def start_again(self, *, clean: bool) -> None:
        if clean:
            self.flush()
        self.harness.crash()
        self.last_sequence = self.said
        self.model = self.stored.after_crash()
        self.model.utc = self.harness.utc
        self.harness.advance(0)
        self.model.expire()
        self.open_all()

    @invariant()
    def everything_is_equal(self) -> None:
        if not self.descriptor:
            return
        state = self.harness.qm.state
        for name in NAMES:
            queue = self.harness.qm.find_queue(path(name))
            messages = self.model.order(name)
            assert self.harness.contents(path(name)) == [
                message.body for message in self.model.visible(name)
            ]
            assert [each.lookup_id for each in queue.lanes] == [
                message.lookup_id for message in self.model.visible(name)
            ]
            assert set(queue.locked) == {
                message.lookup_id for message in messages if message.holder is not None
            }
            assert queue.total_bytes == sum(message.size for message in messages)
            assert queue.count == len(messages)
        check_engine(self.harness.engine)
        held = [each for queue in state.queues.values() for each in queue.lanes]
        held += [each for queue in state.queues.values() for each in queue.locked.values()]
        held += [each for queue in state.queues.values() for each in queue.pending.values()]
        assert state.memory == sum(each.size for each in held if each.packet is not None)
        assert all(UserMessage(each.packet) for each in held if each.packet is not None)


class FileQueueMachine(QueueMachine):
    """The same over the file store, on a disk in memory."""

    def open_store(self) -> Store:
        return FileStore(
            DIRECTORY,
            new_store_id=bytes(16),
            options=Options(segment_size=1 << 16, snapshot_interval=1 << 15, reserve=1 << 12),
            files=self.disk,
        )

    def reopen(self) -> Store:
        self.harness.store.close()
        return self.open_store()


@pytest.mark.parametrize("machine", [QueueMachine, FileQueueMachine])
def test_the_queue_manager_does_what_the_reference_does(
    machine: type[RuleBasedStateMachine],
) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        ),
    )
