"""Clients of remote read, killed at random while they loop over a queue of a real process."""

import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.adversity.remote_victim import ACKNOWLEDGED, ASKED_ON, TAKEN, read_until_killed
from tests.adversity.zygote import Zygote
from tests.interop.loopback import new_address

import openmsmq
from openmsmq import Message

QUEUE = r".\private$\orders"
PORTS = ("binary", "ping", "qm2qm", "epm", "http", "https", "console", "local")
WAIT = 30.0
# What is sent before each kill.
BATCH = 150


@contextmanager
def serving(folder: Path) -> Iterator[tuple[openmsmq.QueueManager, str]]:
    """A queue manager in a process of its own: a local connection, and its address for RPC."""
    config, ready = folder / "qm.toml", folder / "ready.json"
    settings = {
        "data": str(folder / "data"),
        "name": "ALPHA",
        "bind": new_address(),
        "rpc_port": 0,
        "rpc_minimum_level": "none",
        "log_level": "warning",
        **{f"{port}_port": "off" for port in PORTS},
    }
    config.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in settings.items()))
    with Zygote(folder / "log") as zygote:
        pid = zygote.start("serve", "--config", str(config), "--ready-file", str(ready))
        end = time.monotonic() + WAIT
        while not ready.exists():
            assert time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.005)
        rpc = json.loads(ready.read_text())["rpc"]
        with openmsmq.connect(str(folder / "data" / "openmsmq.sock")) as manager:
            yield manager, f"msmq://{rpc}"
        os.kill(pid, signal.SIGTERM)
        assert zygote.wait(pid) == 0


class Victims:
    """Starts clients, kills them, and keeps what they said.

    Attributes:
        taken: what clients had, the same message perhaps several times.
        acknowledged: what a client knew to be gone.
        due: what was taken and for certain not acknowledged, and has to come again.
    """

    def __init__(self, address: str, seed: int) -> None:
        self._address = address
        self._chance = random.Random(seed)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["pytest", "tests.adversity.remote_victim"])
        self.taken: list[bytes] = []
        self.acknowledged: set[bytes] = set()
        self.due: set[bytes] = set()

    def kill_one(self) -> None:
        report, theirs = self._context.Pipe(duplex=False)
        seed = self._chance.randrange(1 << 30)
        victim = self._context.Process(
            target=read_until_killed, args=(self._address, QUEUE, seed, theirs)
        )
        victim.start()
        theirs.close()
        assert report.poll(WAIT), "the client has not begun"
        # Now and then before it has said anything more than its first message.
        time.sleep(self._chance.choice((0, 0.005, 0.05)) * self._chance.random())
        victim.kill()
        said = b""
        while part := os.read(report.fileno(), 1 << 16):
            said += part
        victim.join(WAIT)
        assert victim.exitcode == -signal.SIGKILL
        report.close()
        self._note([tuple(line.rsplit(b" ", 1)) for line in said.split(b"\n")[:-1]])

    def _note(self, lines: list[tuple[bytes, ...]]) -> None:
        taken = [body for what, body in lines if what == TAKEN]
        self.came(taken)
        self.taken += taken
        self.acknowledged.update(body for what, body in lines if what == ACKNOWLEDGED)
        self.due.update(set(taken) - {body for what, body in lines if what == ASKED_ON})

    def came(self, bodies: list[bytes]) -> None:
        """A client got messages."""
        assert len(bodies) == len(set(bodies)), "a client got a message twice"
        again = self.acknowledged.intersection(bodies)
        assert not again, f"acknowledged, and came again: {again}"
        self.due.difference_update(bodies)


def kill_clients(folder: Path, kills: int, seed: int) -> Victims:
    """Kill clients one after the other; a survivor reads the rest."""
    sent: list[bytes] = []
    with serving(folder) as (manager, address):
        queue = manager.create_queue(QUEUE)
        manager.grant(QUEUE, "anonymous", ["receive", "peek"])
        victims = Victims(address, seed)
        for _ in range(kills):
            batch = [b"%d" % number for number in range(len(sent), len(sent) + BATCH)]
            queue.send_many([Message(body, delivery="recoverable") for body in batch])
            sent += batch
            victims.kill_one()
        with (
            openmsmq.connect(address, timeout=WAIT) as remote,
            remote.open_queue(QUEUE, "receive") as survivor,
        ):
            rest = [message.body_bytes for message in survivor.messages(timeout=1)]
        assert queue.info()["messages"] == 0
    victims.came(rest)
    assert not victims.due, f"not acknowledged, and did not come again: {victims.due}"
    missing = set(sent) - set(rest) - set(victims.taken)
    assert not missing, f"lost: {missing}"
    assert set(rest) <= set(sent)
    return victims


def assert_worth_it(victims: Victims, kills: int) -> None:
    """Clients were killed with messages, and some knew what was gone."""
    assert len(victims.taken) >= kills
    assert len(victims.taken) > len(set(victims.taken)), "no message came again"
    assert victims.acknowledged


def test_ten_killed_readers_lose_nothing_and_get_nothing_twice(tmp_path: Path) -> None:
    assert_worth_it(kill_clients(tmp_path, kills=10, seed=1), 10)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [2, 3])
def test_a_hundred_killed_readers_lose_nothing_and_get_nothing_twice(
    tmp_path: Path, seed: int
) -> None:
    assert_worth_it(kill_clients(tmp_path, kills=100, seed=seed), 100)
