"""Clients that are killed while they iterate."""

import multiprocessing
import os
import random
import threading
import time
from collections.abc import Callable
from typing import Final

import pytest
from tests.client.victim import take_until_killed

import openmsmq
from openmsmq import Message, QueueManager

ORDERS = r".\private$\orders"
KILLS: Final = 20
MANY_KILLS: Final = 100
BATCH: Final = 20
WAIT: Final = 30.0


class Survivor(threading.Thread):
    """A client that goes on, not too fast, so that the others get something."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self.got: list[bytes] = []
        self.alone = threading.Event()

    def run(self) -> None:
        with openmsmq.connect(self._address) as manager, manager.open_queue(ORDERS) as queue:
            while not self.alone.is_set():
                for message in queue.messages(timeout=0.1, prefetch=4):
                    self.got.append(message.body_bytes)
                    if not self.alone.is_set():
                        time.sleep(0.001)
            self.got += [message.body_bytes for message in queue.messages(timeout=1.0)]


class Victims:
    """Starts clients and kills them, most of them in the middle of something."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["pytest", "tests.client.victim"])
        self._chance = random.Random(7)
        self.got: list[bytes] = []

    def kill_one(self, send: Callable[[], None]) -> None:
        report, theirs = self._context.Pipe(duplex=False)
        victim = self._context.Process(
            target=take_until_killed, args=(self._address, ORDERS, theirs)
        )
        victim.start()
        theirs.close()
        deadline = time.monotonic() + WAIT
        while not report.poll(0.01) and time.monotonic() < deadline:
            send()
        told = os.read(report.fileno(), 1 << 16)
        time.sleep(self._chance.random() * 0.005)
        victim.kill()
        while part := os.read(report.fileno(), 1 << 16):
            told += part
        victim.join(WAIT)
        report.close()
        # One write is one line, whole or not at all.
        self.got += told.split(b"\n")[:-1]


@pytest.mark.parametrize("kills", [KILLS, pytest.param(MANY_KILLS, marks=pytest.mark.soak)])
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_no_message_is_lost_and_none_comes_to_a_survivor_twice(
    msmq: QueueManager, delivery: str, kills: int
) -> None:
    queue = msmq.create_queue(ORDERS)
    survivor = Survivor(msmq.address)
    survivor.start()
    victims = Victims(msmq.address)
    sent: list[bytes] = []

    def send() -> None:
        batch = [b"%d" % number for number in range(len(sent), len(sent) + BATCH)]
        queue.send_many(Message(body, delivery=delivery) for body in batch)
        sent.extend(batch)

    for _ in range(kills):
        send()
        victims.kill_one(send)
    survivor.alone.set()
    survivor.join(WAIT)
    assert not survivor.is_alive()
    assert len(survivor.got) == len(set(survivor.got))
    assert set(survivor.got) | set(victims.got) == set(sent)
    assert len(victims.got) >= kills
    assert queue.info()["messages"] == 0
