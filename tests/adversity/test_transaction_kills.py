"""SIGKILL of a program and of two queue managers in transactions that span both."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.adversity.zygote import ROOT, Zygote
from tests.interop.loopback import new_address

import openmsmq

QUEUE: Final = r".\private$\orders"
PORTS: Final = ("binary", "ping", "qm2qm", "epm", "http", "https", "console", "local")
WAIT: Final = 60.0
BATCH: Final = 6


class Managed:
    """A queue manager in a process of its own, which is killed and started again."""

    def __init__(self, zygote: Zygote, folder: Path, address: str, other: str) -> None:
        self._zygote = zygote
        self._config = folder / "qm.toml"
        self.socket = str(folder / "data" / "openmsmq.sock")
        settings = {
            "data": str(folder / "data"),
            "bind": address,
            "rpc_port": 2103,
            "rpc_minimum_level": "none",
            "coordinator_hosts": [other],
            "coordinator_retry_seconds": 0.1,
            "coordinator_max_retry_seconds": 0.5,
            "log_level": "warning",
            **{f"{port}_port": "off" for port in PORTS},
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        self._config.write_text("\n".join(lines))
        self.start()

    def start(self) -> None:
        self._pid = self._zygote.start("serve", "--config", str(self._config))

    def connect(self) -> openmsmq.QueueManager:
        return openmsmq.connect(self.socket, wait=WAIT)

    def restart(self) -> None:
        """Kill it, and start it again."""
        os.kill(self._pid, signal.SIGKILL)
        self._zygote.wait(self._pid)
        self.start()

    def stop(self) -> None:
        os.kill(self._pid, signal.SIGTERM)
        self._zygote.wait(self._pid)


class Program:
    """A program that moves orders from one machine to the other in transactions."""

    def __init__(self, home: Managed, orders: str) -> None:
        self._command = [sys.executable, "-m", "tests.adversity.transaction_victims"]
        self._command += [home.socket, orders, QUEUE]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, cwd=ROOT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()


@contextmanager
def machines(folder: Path) -> Iterator[tuple[Managed, Managed, str]]:
    """Two queue managers, and the name of the queue on the second."""
    addresses = new_address(), new_address()
    for name in ("home", "far"):
        (folder / name).mkdir()
    with Zygote(folder / "log") as zygote:
        home = Managed(zygote, folder / "home", *addresses)
        far = Managed(zygote, folder / "far", *reversed(addresses))
        for each in (home, far):
            with each.connect() as manager:
                manager.create_queue(QUEUE, transactional=True)
                manager.grant(QUEUE, "anonymous", ["full"])
        yield home, far, rf"DIRECT=TCP:{addresses[1]}\private$\orders"
        home.stop()
        far.stop()


def count_bodies(machine: Managed) -> Counter[bytes]:
    with machine.connect() as manager, manager.open_queue(QUEUE, "peek") as queue:
        return Counter(message.body_bytes for message in queue.cursor())


def is_settled(machine: Managed) -> bool:
    with machine.connect() as manager:
        return not any(each["state"] != "active" for each in manager.transactions())


def storm(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    sent: list[bytes] = []
    with machines(folder) as (home, far, orders):
        program = Program(home, orders)
        try:
            for number in range(kills):
                batch = [f"{number}-{each}".encode() for each in range(BATCH)]
                with far.connect() as manager, manager.open_queue(QUEUE, "send") as queue:
                    queue.send_many(batch, transaction="single")
                sent += batch
                time.sleep(chance.uniform(0.0, 0.4))
                chance.choice((home, far, program)).restart()
            end = time.monotonic() + WAIT
            while count_bodies(far) or not (is_settled(home) and is_settled(far)):
                assert time.monotonic() < end, (count_bodies(far), count_bodies(home))
                time.sleep(0.2)
        finally:
            program.kill()
        assert count_bodies(home) == Counter(sent)


def test_kills_lose_nothing_and_leave_nobody_in_doubt(tmp_path: Path) -> None:
    storm(tmp_path, kills=10, seed=3)


@pytest.mark.soak
def test_many_kills_lose_nothing_and_leave_nobody_in_doubt(tmp_path: Path) -> None:
    storm(tmp_path, kills=100, seed=4)
