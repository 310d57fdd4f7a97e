"""Threads for checks: several at a time, errors reach the loop, nothing outlives the host."""

import asyncio
import threading
from functools import partial

import pytest
from tests.core.fake_verifier import SIGNED, FakeVerifier
from tests.core.harness import ORDERS, USER, packet
from tests.core.peers import ORIGIN
from tests.service.hosted import Hosted
from tests.service.loops import run, until

from openmsmq.core.transfer.incoming.received import Received
from openmsmq.service.workers import Workers
from openmsmq.wire.message.user_message_run import split_runs


def test_jobs_run_beside_each_other_and_their_errors_are_told() -> None:
    async def main() -> None:
        workers = Workers("test", 2)
        both = threading.Barrier(2, timeout=10)
        done: list[Exception | None] = []

        def meet(error: Exception | None) -> None:
            both.wait()
            if error is not None:
                raise error

        fault = ArithmeticError("fault")
        workers.start(partial(meet, None), done.append)
        workers.start(partial(meet, fault), done.append)
        await until(lambda: len(done) == 2)
        assert set(done) == {None, fault}
        await workers.close()

    run(main)


def test_jobs_that_were_not_begun_are_dropped_at_the_end() -> None:
    async def main() -> None:
        workers = Workers("test", 1)
        go = threading.Event()
        done: list[str] = []

        def wait() -> None:
            go.wait(10)

        workers.start(wait, lambda _: done.append("first"))
        workers.start(lambda: None, lambda _: done.append("second"))
        asyncio.get_running_loop().call_later(0.01, go.set)
        await workers.close()
        await until(lambda: done == ["first"])
        await asyncio.sleep(0)
        assert done == ["first"]

    run(main)


class Owner:
    """A transport that counts what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[object, Received]] = []

    def received(self, read: object, received: Received, *, now: float) -> None:
        assert now
        self.told.append((read, received))

    def take(self, *_arguments: object) -> bool:
        return False


@pytest.mark.parametrize("body", [b"good", b"fault"])
def test_the_host_has_messages_checked_in_a_thread(body: bytes) -> None:
    async def main() -> None:
        hosted = Hosted(verifier=FakeVerifier())
        hosted.manager.create_queue(ORDERS, caller=USER)
        owner = Owner()
        inlet = hosted.manager.incoming.open_inlet(owner, acknowledgments=owner)
        message = packet(body, security_header=SIGNED)
        hosted.host.tick()
        assert inlet.receive(split_runs([message]), ORIGIN, "read") is None
        hosted.host.wake()
        await until(lambda: bool(owner.told))
        ((read, received),) = owner.told
        assert read == "read"
        assert received.complete == (body == b"good")
        assert received.fault == ("" if received.complete else "ArithmeticError: fault")
        assert hosted.manager.find_queue(ORDERS).count == received.complete
        await hosted.host.close()

    run(main)
