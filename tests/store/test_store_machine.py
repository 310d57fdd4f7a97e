"""Random work, restarts and power cuts against a model of plain dicts."""

from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from tests.store.model import Model, commit, held, maintain, open_store
from tests.store.simulated_disk import PowerCut, SimulatedDisk

from openmsmq.store.committer import FileWrite
from openmsmq.store.interface import Step
from openmsmq.wire.batch import Batch


class StoreMachine(RuleBasedStateMachine):
    """A file store on a simulated disk, with commits and steps in flight."""

    keys: Bundle[int] = Bundle("keys")

    @initialize()
    def start(self) -> None:
        self.disk = SimulatedDisk()
        self.store = open_store(self.disk)
        self.store.recover()
        self.model = Model()
        self.next_key = 1
        self.batch = Batch()
        self.in_flight: list[tuple[FileWrite, Batch]] = []
        self.step: Step | None = None

    # The owner

    @rule(
        target=keys,
        sizes=st.lists(st.integers(0, 1500), min_size=1, max_size=4),
        record=st.binary(max_size=20),
    )
    def put(self, sizes: list[int], record: bytes) -> MultipleResults[int]:
        first = self.next_key
        for size in sizes:
            self.batch.put(self.next_key, record, Random(self.next_key).randbytes(size))
            self.next_key += 1
        return multiple(*range(first, self.next_key))

    @rule(key=keys, record=st.binary(max_size=40))
    def update(self, key: int, record: bytes) -> None:
        self.batch.update(key, record)

    @rule(key=consumes(keys))
    def delete(self, key: int) -> None:
        self.batch.delete(key)

    @rule(table=st.integers(0, 3), key=st.sampled_from([b"a", b"b"]), value=st.binary(max_size=99))
    def set_row(self, table: int, key: bytes, value: bytes) -> None:
        self.batch.set_row(table, key, value)

    @rule(table=st.integers(0, 3), key=st.sampled_from([b"a", b"b"]))
    def delete_row(self, table: int, key: bytes) -> None:
        self.batch.delete_row(table, key)

    @rule()
    def begin(self) -> None:
        self.in_flight.append((self.store.begin([self.batch]), self.batch))
        self.batch = Batch()

    @precondition(lambda self: self.in_flight)
    @rule()
    def write_and_finish(self) -> None:
        write, batch = self.in_flight.pop(0)
        self.store.write(write)
        self.store.finish(write)
        self.model.apply(batch)

    @rule()
    def commit_own_work(self) -> None:
        self.in_flight.append((self.store.begin([]), Batch()))

    @precondition(lambda self: self.step is None)
    @rule()
    def begin_step(self) -> None:
        self.step = self.store.maintain()
        if self.step is not None:
            self.step.run()

    @precondition(lambda self: self.step is not None)
    @rule()
    def finish_step(self) -> None:
        assert self.step is not None
        self.step.finish()
        self.step = None

    # Restarts

    def settle(self) -> None:
        while self.in_flight:
            self.write_and_finish()
        if self.step is not None:
            self.finish_step()

    @rule(tidy=st.booleans())
    def stop_and_start(self, tidy: bool) -> None:  # noqa: FBT001 - drawn
        self.settle()
        if tidy:
            maintain(self.store)
        self.store.close()
        self.recover(self.disk, [self.model])

    @rule(seed=st.integers(0, 99), events=st.integers(1, 12), keep=st.sampled_from([0, 0.5, 1]))
    def power_cut(self, seed: int, events: int, keep: float) -> None:
        """The power goes while the commits in flight are written, or after."""
        self.disk.cut_at = self.disk.events + events
        allowed = [self.model]
        try:
            while self.in_flight:
                after = self.model.copy()
                after.apply(self.in_flight[0][1])
                allowed = [self.model, after]
                self.write_and_finish()
                allowed = [self.model]
            maintain(self.store)
        except PowerCut:
            pass
        self.recover(self.disk.restart(Random(seed), keep=keep), allowed)

    def recover(self, disk: SimulatedDisk, allowed: list[Model]) -> None:
        self.disk = disk
        self.store = open_store(disk)
        recovery = self.store.recover()
        found = held(self.store, recovery)
        assert found in allowed
        self.model = found
        self.in_flight = []
        self.batch = Batch()
        self.step = None

    # What always holds

    @invariant()
    def finished_messages_can_be_read(self) -> None:
        if hasattr(self, "store"):
            keys = list(self.model.messages)[:20]
            packets = [self.model.messages[key][1] for key in keys]
            assert self.store.read_many(keys) == packets
            stats = self.store.stats()
            assert stats.messages == len(self.model.messages)
            assert stats.message_bytes == sum(
                len(packet) for _, packet in self.model.messages.values()
            )
            assert stats.rows == len(self.model.rows)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.settle()
            commit(self.store, [])
            maintain(self.store)
            live = sum(len(packet) + 100 for _, packet in self.model.messages.values())
            assert self.store.stats().disk_bytes < 2 * live + 16 * 4096


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
