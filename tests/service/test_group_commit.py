"""Group commit: batches in order, one flush at a time, nothing said before its time."""

import asyncio
from collections.abc import Callable

import pytest
from tests.service.fake_store import FakeStore
from tests.service.loops import run, until

from openmsmq.service.group_commit import GroupCommit
from openmsmq.service.store_thread import StoreThread
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError


class Owner:
    """Makes batches as a queue manager does."""

    def __init__(self, store: FakeStore, durable: Callable[[int], None] | None = None) -> None:
        self.store = store
        self.batch = Batch()
        self.number = 1
        self.durable: list[int] = []
        self.failures: list[Exception] = []
        self.between = 0
        store.recover(None)
        self.commit = GroupCommit(
            store,
            take_batch=self.take_batch,
            durable=durable or self.durable.append,
            between=self.look,
            failed=self.failures.append,
        )

    def look(self) -> None:
        self.between += 1

    def put(self, key: int) -> None:
        self.batch.put(key, b"record", b"packet")

    def take_batch(self) -> tuple[int, Batch] | None:
        if not self.batch:
            return None
        taken = self.number, self.batch
        self.batch = Batch()
        self.number += 1
        return taken


def test_a_lone_batch_is_written_at_once() -> None:
    async def main() -> None:
        owner = Owner(FakeStore())
        owner.put(1)
        owner.commit.kick()
        await until(lambda: owner.durable == [1])
        owner.commit.close()

    run(main)


def test_what_comes_during_a_flush_goes_into_the_next() -> None:
    async def main() -> None:
        store = FakeStore()
        store.slow = True
        owner = Owner(store)
        owner.put(1)
        owner.commit.kick()
        for key in range(2, 6):
            owner.put(key)
            owner.commit.kick()
        await asyncio.sleep(0.02)
        assert owner.durable == []
        assert owner.commit.writing
        store.let_go()
        await until(lambda: owner.durable == [1])
        store.let_go()
        await until(lambda: owner.durable == [1, 2])
        assert store.sizes == [1, 4]
        owner.commit.close()

    run(main)


def test_nothing_is_durable_before_the_write_returned() -> None:
    async def main() -> None:
        store = FakeStore()
        store.slow = True
        owner = Owner(store)
        owner.put(1)
        owner.commit.kick()
        store.entered.acquire()
        assert "finish" not in store.log
        assert owner.durable == []
        store.let_go()
        await owner.commit.drain()
        assert store.log == ["begin", "write", "finish"]
        owner.commit.close()

    run(main)


@pytest.mark.parametrize("where", ["begin", "write", "finish", "begin!", "write!", "finish!"])
def test_a_fault_ends_everything_at_once(where: str) -> None:
    async def main() -> None:
        store = FakeStore()
        store.fail_in = where
        owner = Owner(store)
        owner.put(1)
        owner.commit.kick()
        await until(lambda: bool(owner.failures))
        assert isinstance(owner.failures[0], RuntimeError if where.endswith("!") else StoreError)
        assert owner.durable == []
        store.fail_in = ""
        owner.put(2)
        owner.commit.kick()
        await owner.commit.drain()
        assert owner.durable == []
        assert len(owner.failures) == 1
        owner.commit.close()

    run(main)


def test_a_fault_of_whoever_hears_that_it_is_durable_is_a_fault() -> None:
    async def main() -> None:
        def durable(number: int) -> None:
            raise ValueError(number)

        owner = Owner(FakeStore(), durable)
        owner.put(1)
        owner.commit.kick()
        await until(lambda: bool(owner.failures))
        assert isinstance(owner.failures[0], ValueError)
        owner.commit.close()

    run(main)


def test_drain_waits_for_everything_that_was_built() -> None:
    async def main() -> None:
        store = FakeStore()
        store.slow = True
        owner = Owner(store)
        owner.put(1)
        owner.commit.kick()
        owner.put(2)
        drained = asyncio.ensure_future(owner.commit.drain())
        store.let_go()
        await until(lambda: owner.durable == [1])
        assert not drained.done()
        store.let_go()
        await drained
        assert owner.durable == [1, 2]
        owner.commit.close()

    run(main)


def test_the_store_writes_for_itself_only_when_it_wants_and_nobody_else_does() -> None:
    async def main() -> None:
        store = FakeStore()
        owner = Owner(store)
        owner.commit.write_own()
        assert store.log == []
        store.own_writes = 2
        store.slow = True
        owner.put(1)
        owner.commit.kick()
        owner.commit.write_own()
        assert store.sizes == [1]
        store.let_go()
        await until(lambda: not owner.commit.writing)
        owner.commit.write_own()
        assert store.sizes == [1, 0]
        store.let_go()
        await owner.commit.drain()
        assert owner.durable == [1]
        store.fail_in = "begin"
        owner.commit.write_own()
        assert len(owner.failures) == 1
        owner.commit.close()

    run(main)


def test_others_have_their_chance_between_writes() -> None:
    async def main() -> None:
        store = FakeStore()
        owner = Owner(store)
        for key in range(5):
            owner.put(key)
            await owner.commit.drain()
        assert owner.between >= 5
        owner.commit.close()

    run(main)


def test_a_thread_does_its_jobs_in_order_and_tells_what_went_wrong() -> None:
    async def main() -> None:
        thread = StoreThread("test")
        done: list[tuple[str, str]] = []

        def job(name: str) -> None:
            def work() -> None:
                if name == "bad":
                    raise KeyError(name)

            thread.start(work, lambda error: done.append((name, type(error).__name__)))

        for name in ("one", "bad", "two"):
            job(name)
        await until(lambda: len(done) == 3)
        assert done == [("one", "NoneType"), ("bad", "KeyError"), ("two", "NoneType")]
        thread.close()

    run(main)


def test_a_thread_survives_the_end_of_its_loop() -> None:
    threads: list[StoreThread] = []

    async def main() -> None:
        threads.append(StoreThread("test"))

    run(main)
    threads[0].start(lambda: None, lambda _: None)
    threads[0].close()
