"""Random work beside watchers: what they put together from samples is what is there."""

import contextlib
from array import array

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.core.harness import ADMINISTRATOR, RECEIVE, SEND, USER, Harness, Tag, packet
from tests.protocol.local.fake_service import METRICS, PROCESS

from openmsmq.core.management.sample_records import COLUMNS
from openmsmq.core.messages.delayed import cancel
from openmsmq.core.model.change_marks import KEPT_SAMPLES
from openmsmq.core.model.open_queue import OpenQueueDescriptor
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.model.read import Read
from openmsmq.core.queues.acceptance import count_refused
from openmsmq.wire.codes.queue_error import QueueError

NAMES = tuple(rf".\private$\{name}" for name in ("one", "two", "three"))
SUBQUEUE = r".\private$\one;later"
WATCHERS = 3
Row = dict[str, float]


def truth(queue: Queue) -> Row:
    """The counts of a queue, each looked up by itself."""
    journal = queue.journal
    return {
        "messages": queue.count,
        "bytes": queue.total_bytes,
        "locked_messages": len(queue.locked),
        "delayed_messages": len(queue.delayed),
        "journal_messages": journal.count if journal is not None else 0,
        "journal_bytes": journal.total_bytes if journal is not None else 0,
        "oldest_arrived": min((message.arrived for message in queue.lanes), default=0.0),
        "quota": queue.family.properties.quota,
        "readers": sum(each.access == RECEIVE for each in queue.descriptors.values()),
        "waiting_reads": len(queue.waiting),
        "arrived_messages": queue.counters.arrived_messages,
        "aborted_messages": queue.counters.aborted,
        "last_refused": queue.counters.last_refused,
    }


def family_of(reader: OpenQueueDescriptor) -> Queue | None:
    """The queue that is open, or of which a subqueue is."""
    return None if reader.queue is None else reader.queue.family


class Watcher:
    """Somebody who keeps what samples say."""

    def __init__(self) -> None:
        self.since = 0
        self.rows: dict[int, Row] = {}

    def look(self, harness: Harness) -> None:
        parts = harness.qm.management.sample(self.since, PROCESS, METRICS, caller=ADMINISTRATOR)
        for sampled in (each for part in parts for each in part):
            if sampled.part == "head":
                self.since = sampled.number
                if sampled.complete:
                    self.rows = {}
                for number in sampled.removed:
                    self.rows.pop(number, None)
            elif sampled.part == "queues":
                columns = {
                    name: array(code, sampled.columns[name]) for name, code in COLUMNS.items()
                }
                for row, number in enumerate(columns["number"]):
                    self.rows[number] = {name: column[row] for name, column in columns.items()}


class SamplingMachine(RuleBasedStateMachine):
    """Whatever happens, each watcher knows all that is there after its next look."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = Harness()
        self.watchers = [Watcher() for _ in range(WATCHERS)]
        self.readers: list[OpenQueueDescriptor] = []
        self.read: list[tuple[OpenQueueDescriptor, list[int]]] = []

    @initialize()
    def create_queues(self) -> None:
        for name in NAMES:
            self.harness.create(name)

    @rule(name=st.sampled_from(NAMES), journal=st.booleans())
    def create_again(self, name: str, *, journal: bool) -> None:
        queue = self.harness.qm.find_queue(name)
        for reader in [each for each in self.readers if family_of(each) is queue]:
            self.close(reader)
        self.harness.qm.delete_queue(queue, caller=USER)
        self.harness.create(name, journaling=journal)

    @rule(name=st.sampled_from(NAMES), quota=st.integers(1000, 2000))
    def set_quota(self, name: str, quota: int) -> None:
        self.harness.qm.set_queue(self.harness.qm.find_queue(name), caller=USER, quota=quota)

    @rule(name=st.sampled_from(NAMES), priority=st.integers(0, 7), seconds=st.integers(0, 3))
    def send(self, name: str, priority: int, seconds: int) -> None:
        self.harness.advance(seconds)
        self.harness.send(b"1", b"2", name=name, priority=priority)

    @rule(name=st.sampled_from(NAMES))
    def send_what_expires(self, name: str) -> None:
        self.harness.send(b"3", name=name, time_to_be_received=3)

    @rule(name=st.sampled_from(NAMES))
    def refuse(self, name: str) -> None:
        queue = self.harness.qm.find_queue(name)
        count_refused(self.harness.qm.state, queue, "NACK_ACCESS_DENIED", 1)

    @rule(name=st.sampled_from((*NAMES, SUBQUEUE)))
    def open(self, name: str) -> None:
        self.readers.append(self.harness.open(RECEIVE, name))

    def close(self, reader: OpenQueueDescriptor) -> None:
        self.readers.remove(reader)
        self.read = [each for each in self.read if each[0] is not reader]
        self.harness.qm.close_queue(reader)

    @precondition(lambda self: self.readers)
    @rule(data=st.data())
    def close_one(self, data: st.DataObject) -> None:
        self.close(data.draw(st.sampled_from(self.readers)))

    @precondition(lambda self: self.readers)
    @rule(data=st.data(), two_phase=st.booleans())
    def receive(self, data: st.DataObject, *, two_phase: bool) -> None:
        reader = data.draw(st.sampled_from(self.readers))
        # A reader that waits may get it first.
        with contextlib.suppress(QueueError):
            found = self.harness.qm.traffic.dequeue_many(reader, two_phase=two_phase, timeout=0.0)
            assert isinstance(found, Read)
            if two_phase:
                self.read.append((reader, [message.lookup_id for message in found.messages]))

    @precondition(lambda self: self.read)
    @rule(delete=st.booleans())
    def end(self, *, delete: bool) -> None:
        reader, lookup_ids = self.read.pop()
        self.harness.qm.traffic.end_many(reader, lookup_ids, delete=delete)

    @rule(name=st.sampled_from(NAMES))
    def open_and_close(self, name: str) -> None:
        """What was read comes back before anybody looks."""
        reader = self.harness.open(RECEIVE, name)
        with contextlib.suppress(QueueError):
            self.harness.qm.traffic.dequeue_many(reader, two_phase=True, timeout=0.0)
        self.harness.qm.close_queue(reader)

    @precondition(lambda self: self.readers)
    @rule(data=st.data())
    def wait_for_a_message(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(self.readers))
        if reader.queue is not None and not reader.queue.lanes.count:
            self.harness.qm.traffic.dequeue_many(reader, timeout=60.0, tag=Tag(None))

    @rule(name=st.sampled_from(NAMES), cancelled=st.booleans())
    def send_for_later(self, name: str, *, cancelled: bool) -> None:
        sender = self.harness.open(SEND, name)
        deliver_at = self.harness.utc + 3
        sent = self.harness.qm.traffic.enqueue_many(sender, [packet()], deliver_at=deliver_at)
        self.harness.qm.close_queue(sender)
        if cancelled:
            queue = self.harness.qm.find_queue(name)
            cancel(self.harness.qm.state, queue, [sent.messages[0].lookup_id], "test")

    @rule(watcher=st.integers(0, WATCHERS - 1), times=st.sampled_from((1, 1, KEPT_SAMPLES)))
    def look(self, watcher: int, times: int) -> None:
        self.harness.settle()
        for _ in range(times):
            self.watchers[watcher].look(self.harness)
        left_out = (QueueRole.JOURNAL, QueueRole.OUTGOING)
        expected = {
            queue.number: truth(queue)
            for queue in self.harness.qm.state.queues.values()
            if queue.role not in left_out
        }
        rows = self.watchers[watcher].rows
        assert rows.keys() == expected.keys()
        for number, row in expected.items():
            assert {name: rows[number][name] for name in row} == row


def test_samples_put_together_are_what_is_there() -> None:
    run_state_machine_as_test(
        SamplingMachine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
