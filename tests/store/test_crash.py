"""A power cut at every write and every flush: nothing finished is lost, nothing is half there."""

from collections.abc import Callable, Iterator
from random import Random

import pytest
from tests.store.model import Model, commit, deletes, held, maintain, open_store, puts
from tests.store.simulated_disk import PowerCut, SimulatedDisk

from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Store
from openmsmq.wire.batch import Batch

KEEP = (0.0, 0.6, 1.0)
"""How much of what was not flushed survives: nothing, some, all."""


class Run:
    """A store under work, and what it may hold after a power cut."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.disk = disk
        self.finished = Model()
        self.begun = Model()

    def start(self) -> FileStore:
        store = open_store(self.disk)
        self.finished = self.begun = held(store, store.recover())
        return store

    def commit(self, store: Store, batches: list[Batch]) -> None:
        self.begun = self.finished.copy()
        for batch in batches:
            self.begun.apply(batch)
        commit(store, batches)
        self.finished = self.begun

    def allowed(self) -> tuple[Model, Model]:
        return self.finished, self.begun


def small_script() -> Iterator[list[Batch]]:
    """Every kind of operation, single and grouped, in few writes."""
    batch = puts([1, 2, 3], size=700)
    batch.set_row(1, b"counter", b"1")
    yield [batch]
    change = Batch()
    change.update(2, b"moved")
    change.set_row(1, b"counter", b"2")
    yield [change, deletes([1])]
    yield [puts([4]), puts([5, 6], size=900)]
    yield [Batch()]
    last = deletes([4, 5])
    last.delete_row(1, b"counter")
    yield [last]


def long_script() -> Iterator[list[Batch]]:
    """Fills and drains segments, so that they roll, are snapshot, compacted and removed."""
    key = 10
    for turn in range(14):
        batch = puts(range(key, key + 6), size=300)
        batch.set_row(1, b"counter", b"%d" % turn)
        batch.set_row(2, b"row %d" % (turn % 5), bytes(50))
        yield [batch]
        # Most messages go soon; every sixth stays and keeps its segment from being removed.
        gone = deletes(range(key - 5, key))
        gone.update(key, b"updated %d" % turn)
        gone.delete_row(2, b"row %d" % ((turn + 3) % 5))
        yield [gone]
        key += 6


def work(run: Run, script: Callable[[], Iterator[list[Batch]]], *, tidy: bool) -> None:
    store = run.start()
    for batches in script():
        run.commit(store, batches)
        if tidy:
            maintain(store)
    store.close()


def cut_points(script: Callable[[], Iterator[list[Batch]]], *, tidy: bool) -> int:
    disk = SimulatedDisk()
    work(Run(disk), script, tidy=tidy)
    return disk.events


def recovered(disk: SimulatedDisk) -> tuple[Model, FileStore]:
    store = open_store(disk)
    return held(store, store.recover()), store


def check_usable(disk: SimulatedDisk, store: FileStore, model: Model) -> None:
    """A recovered store goes on, and the next start shows both old and new."""
    model = model.copy()
    batch = puts([1000, 1001], size=400)
    commit(store, [batch])
    model.apply(batch)
    assert recovered(disk.restart(Random(0), keep=0.0))[0] == model
    maintain(store)
    assert recovered(disk.kill())[0] == model
    store.close()
    assert recovered(disk)[0] == model


@pytest.mark.parametrize("keep", KEEP)
def test_a_power_cut_at_every_event_of_a_short_run(keep: float) -> None:
    events = cut_points(small_script, tidy=False)
    assert events > 12
    for cut_at in range(1, events + 1):
        run = Run(SimulatedDisk())
        run.disk.cut_at = cut_at
        with pytest.raises(PowerCut):
            work(run, small_script, tidy=False)
        for seed in range(4):
            disk = run.disk.restart(Random(seed), keep=keep)
            model, store = recovered(disk)
            assert model in run.allowed(), f"cut at {cut_at}: {run.disk.log[-1]}"
            check_usable(disk, store, model)


@pytest.mark.parametrize("part", range(4))
def test_a_power_cut_at_every_event_of_a_run_with_maintenance(part: int) -> None:
    events = cut_points(long_script, tidy=True)
    assert events > 200
    for cut_at in range(1 + part, events + 1, 4):
        run = Run(SimulatedDisk())
        run.disk.cut_at = cut_at
        with pytest.raises(PowerCut):
            work(run, long_script, tidy=True)
        for keep in KEEP:
            disk = run.disk.restart(Random(cut_at), keep=keep)
            model, store = recovered(disk)
            assert model in run.allowed(), f"cut at {cut_at}: {run.disk.log[-1]}"
        if cut_at % 5 == 0:
            check_usable(disk, store, model)


def test_the_long_run_does_all_kinds_of_maintenance() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    for batches in long_script():
        commit(store, batches)
        maintain(store)
    stats = store.stats()
    assert stats.snapshots > 2
    assert stats.moved_messages > 3
    assert any(line.startswith("unlink segment") for line in disk.log)


@pytest.mark.parametrize("keep", KEEP)
def test_a_power_cut_at_every_event_of_a_recovery(keep: float) -> None:
    """The first cut leaves a torn frame, the second one hits the repair."""
    events = cut_points(small_script, tidy=False)
    for cut_at in range(4, events + 1, 3):
        run = Run(SimulatedDisk())
        run.disk.cut_at = cut_at
        with pytest.raises(PowerCut):
            work(run, small_script, tidy=False)
        second_cut = 0
        while True:
            second_cut += 1
            disk = run.disk.restart(Random(cut_at), keep=0.5)
            disk.cut_at = second_cut
            try:
                recovered(disk)
            except PowerCut:
                model, _ = recovered(disk.restart(Random(second_cut), keep=keep))
                assert model in run.allowed()
            else:
                break


def test_a_process_that_dies_at_every_event_loses_nothing_it_wrote() -> None:
    """SIGKILL: everything written is in the page cache; a power cut later must not take it."""
    events = cut_points(long_script, tidy=True)
    for cut_at in range(1, events + 1, 4):
        run = Run(SimulatedDisk())
        run.disk.cut_at = cut_at
        with pytest.raises(PowerCut):
            work(run, long_script, tidy=True)
        disk = run.disk.kill()
        model, store = recovered(disk)
        assert model in run.allowed()
        # What the recovery showed is durable now, whatever else happens.
        assert recovered(disk.restart(Random(cut_at), keep=0.0))[0] == model
        # And so is what comes after it, in files that the dead process had just made.
        for key in range(1000, 1008):
            batch = puts([key], size=900)
            commit(store, [batch])
            model.apply(batch)
            assert recovered(disk.restart(Random(cut_at), keep=0.0))[0] == model


def test_what_survives_is_a_prefix_of_what_was_begun() -> None:
    """Commits begun ahead: a cut never keeps a later one without the earlier ones."""
    for cut_at in range(1, 60):
        disk = SimulatedDisk()
        store = open_store(disk)
        store.recover()
        disk.cut_at = disk.events + cut_at
        writes = [store.begin([puts([key], size=600)]) for key in range(20)]
        finished = 0
        try:
            for write in writes:
                store.write(write)
                store.finish(write)
                finished += 1
        except PowerCut:
            pass
        for seed in range(5):
            model, _ = recovered(disk.restart(Random(seed)))
            keys = list(model.messages)
            assert keys == list(range(len(keys)))
            assert finished <= len(keys) <= finished + 1
