"""Ctrl-C anywhere in a call of the blocking client: it ends, nothing hangs, no message is lost."""

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

import openmsmq
from openmsmq import client

QUEUE = r".\private$\orders"
CLIENT = str(Path(client.__file__).parent)
TEXTS = [str(number) for number in range(6)]
# Far more than anything takes here.
WAIT = 20.0
# How many places are tried, at random.
POINTS = 60
SEED = 1


class Interruption:
    """Raises KeyboardInterrupt in the thread that starts it, where Python looks for signals.

    That is where a function begins and behind each call, here of those that the client makes.
    """

    def __init__(self, point: int) -> None:
        self.count = 0
        self._point = point

    def start(self) -> None:
        sys.setprofile(self._happened)

    def stop(self) -> None:
        sys.setprofile(None)

    def _happened(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # A generator that is dropped looks for none.
        if event == "c_call" or code.co_name == "<genexpr>":
            return
        if code.co_filename.startswith(CLIENT):
            self.count += 1
            if self.count == self._point:
                raise KeyboardInterrupt


class Server:
    """A queue manager with one queue, and its address for the client that is interrupted."""

    def __init__(self, manager: openmsmq.QueueManager, *, remote: bool) -> None:
        self.queue = manager.create_queue(QUEUE)
        self.address = str(manager.address)
        if remote:
            manager.grant(QUEUE, "Anonymous Logon", ["full"])
            port = manager.status()["endpoints"]["rpc"].rpartition(":")[2]
            self.address = f"msmq://127.0.0.1:{port}"

    def holds(self, given: list[object]) -> bool:
        """Whether each message was given or comes back to the queue soon."""
        deadline = time.monotonic() + WAIT
        left: list[object] = []
        while set(left) | set(given) != set(TEXTS) and time.monotonic() < deadline:
            left += [message.body for message in self.queue.receive_many(10, timeout=0.02)]
        self.queue.purge()
        return set(left) | set(given) == set(TEXTS)


@pytest.fixture
def manager() -> Iterator[openmsmq.QueueManager]:
    with openmsmq.embedded(rpc_port=0, rpc_minimum_level="none") as manager:
        yield manager


def interrupted(server: Server, point: int, work: Callable[[openmsmq.Queue], object]) -> int | None:
    """Do something with the queue that ends amidst; how many instructions it had if it did not."""
    interruption = Interruption(point)
    ended: list[BaseException | None] = []

    def run() -> None:
        try:
            with openmsmq.connect(server.address, timeout=WAIT) as manager:
                queue = manager.open_queue(QUEUE)
                interruption.start()
                try:
                    work(queue)
                finally:
                    interruption.stop()
        except BaseException as exc:  # noqa: BLE001 - it is what this is about
            ended.append(exc)
        else:
            ended.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(WAIT)
    assert not thread.is_alive(), f"it hangs after an interruption at {point}"
    assert ended[0] is None or isinstance(ended[0], KeyboardInterrupt), (point, ended)
    return interruption.count if ended[0] is None else None


def bodies(messages: list[openmsmq.ReceivedMessage]) -> list[object]:
    return [message.body for message in messages]


def points(total: int) -> list[int]:
    return sorted(random.Random(SEED).sample(range(1, total + 1), min(POINTS, total)))


@pytest.mark.parametrize("remote", [False, True])
def test_a_loop_can_be_interrupted_anywhere(
    manager: openmsmq.QueueManager, *, remote: bool
) -> None:
    server = Server(manager, remote=remote)
    given: list[openmsmq.ReceivedMessage] = []

    def work(queue: openmsmq.Queue) -> None:
        for message in queue.messages(timeout=0, prefetch=4):
            given.append(message)  # noqa: PERF402 - each as soon as it is there

    server.queue.send_many(TEXTS)
    total = interrupted(server, 0, work)
    assert total is not None
    assert bodies(given) == TEXTS
    for point in points(total):
        given.clear()
        server.queue.send_many(TEXTS)
        interrupted(server, point, work)
        assert server.holds(bodies(given)), (point, bodies(given))


def test_sending_can_be_interrupted_anywhere(manager: openmsmq.QueueManager) -> None:
    server = Server(manager, remote=False)

    def work(queue: openmsmq.Queue) -> None:
        queue.send(TEXTS[0])
        queue.send_many(TEXTS[1:])

    total = interrupted(server, 0, work)
    assert total is not None
    assert bodies(server.queue.receive_many(10, timeout=0)) == TEXTS
    for point in points(total):
        interrupted(server, point, work)
        arrived = bodies(server.queue.receive_many(10, timeout=0.02))
        assert arrived == TEXTS[: len(arrived)], point
