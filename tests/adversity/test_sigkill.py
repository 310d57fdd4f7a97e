"""A queue manager killed at random moments under load loses nothing that it acknowledged."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from tests.adversity.ledger import Ledger
from tests.adversity.workload import NOISE, PLAIN, SECOND, TRANSACTIONAL, Load, contents
from tests.adversity.zygote import Zygote
from tests.server.raw_client import RawClient

START_SECONDS = 60.0


class Victim:
    """A queue manager that is started and killed over and over."""

    def __init__(self, folder: Path, zygote: Zygote) -> None:
        self._zygote = zygote
        self.socket = folder / "data" / "openmsmq.sock"
        self._ready = folder / "ready.json"
        config = folder / "qm.toml"
        # Small files, so that every kind of maintenance happens between two crashes.
        config.write_text("segment_bytes = 1048576\nmemory_budget_bytes = 1048576\n")
        self._arguments = (
            *("serve", "--config", str(config), "--data", str(folder / "data")),
            *("--name", "ALPHA", "--ready-file", str(self._ready)),
            *("--binary-port", "off", "--ping-port", "off", "--log-level", "warning"),
        )
        self._pid = 0

    def start(self) -> None:
        self._ready.unlink(missing_ok=True)
        self._pid = self._zygote.start(*self._arguments)

    def wait_until_ready(self) -> None:
        end = time.monotonic() + START_SECONDS
        while not self._ready.exists():
            assert time.monotonic() < end, "the queue manager does not start"
            time.sleep(0.002)

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        assert self._zygote.wait(self._pid) == -signal.SIGKILL

    def stop(self) -> None:
        os.kill(self._pid, signal.SIGTERM)
        assert self._zygote.wait(self._pid) == 0


def kill_under_load(folder: Path, kills: int, seed: int) -> Ledger:
    """Start, load, kill; after each start everything acknowledged is there, once."""
    chance = random.Random(seed)
    ledger = Ledger()
    with Zygote(folder / "log") as zygote:
        victim = Victim(folder, zygote)
        for round_number in range(kills + 1):
            victim.start()
            if 0 < round_number < kills and chance.random() < 0.2:
                # Also while it recovers.
                time.sleep(chance.uniform(0, 0.1))
                victim.kill()
                continue
            victim.wait_until_ready()
            with RawClient.connect(victim.socket) as client:
                if round_number == 0:
                    for queue in (PLAIN, TRANSACTIONAL, SECOND, NOISE):
                        transactional = queue in (TRANSACTIONAL, SECOND)
                        client.create(queue, transactional=transactional)
                ledger.check(contents(client, ledger))
            if round_number == kills:
                break
            load = Load(victim.socket, ledger, seed * 10_000 + round_number)
            time.sleep(chance.uniform(0.01, 0.35))
            victim.kill()
            load.join()
        victim.stop()
        victim.start()
        victim.wait_until_ready()
        with RawClient.connect(victim.socket) as client:
            ledger.check(contents(client, ledger))
        victim.stop()
    return ledger


def assert_worth_it(ledger: Ledger) -> None:
    """The kills met all kinds of changes."""
    for change in (
        f"nowhere to {PLAIN}",
        f"{PLAIN} to nowhere",
        f"{PLAIN} to {PLAIN};aside",
        f"nowhere to {TRANSACTIONAL}",
        f"{TRANSACTIONAL} to nowhere",
        f"{SECOND} to nowhere",
    ):
        assert ledger.counts[change] > 0, (change, ledger.counts)
    assert ledger.counts["open: took effect"] + ledger.counts["open: did not"] > 0


def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    assert_worth_it(kill_under_load(tmp_path, kills=20, seed=1))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 7))
def test_hundreds_of_kills_lose_nothing(tmp_path: Path, seed: int) -> None:
    ledger = kill_under_load(tmp_path, kills=50, seed=seed)
    assert_worth_it(ledger)
    print(dict(ledger.counts))
