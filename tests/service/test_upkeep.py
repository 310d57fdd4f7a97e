"""The store's own steps: one at a time, beside the commits."""

import threading

import pytest
from tests.service.fake_store import FakeStep, FakeStore
from tests.service.loops import run, until

from openmsmq.service.upkeep import Upkeep
from openmsmq.store.interface import Finding


class Owner:
    def __init__(self, store: FakeStore) -> None:
        self.stepped = 0
        self.found: list[Finding] = []
        self.failures: list[Exception] = []
        self.upkeep = Upkeep(
            store, stepped=self.step, found=self.found.append, failed=self.failures.append
        )

    def step(self) -> None:
        self.stepped += 1


def test_steps_are_made_one_at_a_time() -> None:
    async def main() -> None:
        store = FakeStore()
        owner = Owner(store)
        go = threading.Event()
        done: list[str] = []
        store.steps = [
            FakeStep(lambda: done.append(str(go.wait(10))), lambda: done.append("finished")),
            FakeStep(lambda: done.append("second"), lambda: None),
        ]
        owner.upkeep.look()
        owner.upkeep.look()
        assert len(store.steps) == 1
        go.set()
        await until(lambda: owner.stepped == 1)
        assert done == ["True", "finished"]
        owner.upkeep.look()
        await until(lambda: owner.stepped == 2)
        await owner.upkeep.close()

    run(main)


def test_when_nothing_is_due_the_store_is_not_asked_all_the_time() -> None:
    async def main() -> None:
        store = FakeStore()
        owner = Owner(store)
        for _ in range(1000):
            owner.upkeep.look()
        assert len(store.log) < 100
        await owner.upkeep.close()

    run(main)


def test_damage_that_a_step_found_is_told() -> None:
    async def main() -> None:
        store = FakeStore()
        owner = Owner(store)
        finding = Finding("segment", 512, "damaged")
        store.steps = [FakeStep(lambda: store.findings.append(finding), lambda: None)]
        owner.upkeep.look()
        await until(lambda: owner.stepped == 1)
        assert owner.found == [finding]
        await owner.upkeep.close()

    run(main)


@pytest.mark.parametrize("where", ["run", "finish"])
def test_a_step_that_fails_ends_it(where: str) -> None:
    def fail() -> None:
        raise OSError(5, "I/O error")

    def fine() -> None: ...

    async def main() -> None:
        store = FakeStore()
        owner = Owner(store)
        step = FakeStep(fail, fine) if where == "run" else FakeStep(fine, fail)
        store.steps = [step, FakeStep(fine, fine)]
        owner.upkeep.look()
        await until(lambda: bool(owner.failures))
        owner.upkeep.look()
        assert len(store.steps) == 1
        assert owner.stepped == 0
        await owner.upkeep.close()

    run(main)


def test_the_end_waits_for_the_step_that_is_under_way() -> None:
    async def main() -> None:
        store = FakeStore()
        owner = Owner(store)
        go = threading.Event()
        done: list[str] = []
        store.steps = [FakeStep(lambda: done.append(str(go.wait(10))), lambda: done.append("end"))]
        owner.upkeep.look()
        owner.upkeep.end()
        threading.Timer(0.05, go.set).start()
        await owner.upkeep.close()
        assert done == ["True", "end"]

    run(main)
