"""The thread that writes: jobs in order, faults reported to the loop."""

from tests.service.loops import run, until

from openmsmq.service.host import StoreThread


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
