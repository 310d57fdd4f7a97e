"""Dead letters are sent again while the job and the queue manager are killed: each once."""

import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.running import PROGRAM, SECONDS, Manager
from tests.interop.loopback import new_address

import openmsmq
from openmsmq.care.jobs import load_job, undo_job

PLAIN = r"private$\plain"
ORDERED = r"private$\ordered"
# Lines of the journal between two kills: there are enough of them for every kill.
GAP = (2, 9)


class Pair:
    """Two queue managers: dead letters are at the first, half of them were for the second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.addresses = {name: new_address() for name in ("alpha", "beta")}
        self.managers: dict[str, Manager] = {}
        self.environment = {"OPENMSMQ_JOBS": str(folder / "jobs")}

    def start(self, name: str) -> None:
        options = ("--bind", self.addresses[name], "--binary-port", "1801", "--name", name)
        self.managers[name] = Manager(self.folder / name, *options)

    def kill(self, name: str) -> None:
        self.managers[name].process.kill()
        self.managers[name].process.wait(SECONDS)
        self.start(name)

    def connect(self, name: str) -> openmsmq.QueueManager:
        return openmsmq.connect(self.managers[name].socket, wait=SECONDS)

    def stop(self) -> None:
        for manager in self.managers.values():
            assert manager.stop() == 0

    def names(self) -> dict[str, str]:
        """The four kinds of destinations, as alpha knows them."""
        away = self.addresses["beta"]
        return {
            "local plain": rf".\{PLAIN}",
            "local ordered": rf".\{ORDERED}",
            "remote plain": rf"DIRECT=TCP:{away}\{PLAIN}",
            "remote ordered": rf"DIRECT=TCP:{away}\{ORDERED}",
        }

    def create(self, name: str) -> None:
        with self.connect(name) as manager:
            manager.create_queue(rf".\{PLAIN}")
            manager.create_queue(rf".\{ORDERED}", transactional=True)

    def let_die(self, count: int) -> None:
        """Make so many dead letters of each kind."""
        with self.connect("alpha") as manager:
            for kind, name in self.names().items():
                limits = {"time_to_reach_queue": 1} if "remote" in kind else {}
                messages = (
                    openmsmq.Message(
                        f"{kind} {number}",
                        dead_letter=True,
                        delivery="recoverable",
                        time_to_be_received=None if limits else 0,
                        **limits,  # type: ignore[arg-type]
                    )
                    for number in range(count)
                )
                single = "single" if "ordered" in kind else None
                manager.open_queue(name, "send").send_many(messages, transaction=single)
            wait_for(lambda: dead(manager) == 4 * count)

    def bodies(self, name: str) -> Counter[str]:
        with self.connect(name) as manager:
            found: Counter[str] = Counter()
            for queue in (PLAIN, ORDERED):
                with manager.open_queue(rf".\{queue}", "peek") as opened:
                    found.update(str(message.body) for message in opened.cursor())
            return found


def dead(manager: openmsmq.QueueManager) -> int:
    return sum(manager.open_queue(name).count() for name in (";deadletter", ";deadxact"))


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def run_with_kills(pair: Pair, kills: int, chance: random.Random) -> str:
    """Run the job until it ends, killing it and its queue manager; return its number."""
    socket = pair.managers["alpha"].socket
    command = ["deadletter", "retry", "--limits", "lift", "--json", "--step", "20", "--yes"]
    identifier = ""
    while True:
        process = subprocess.Popen(
            [PROGRAM, *command, "--socket", socket],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**pair.managers["alpha"].environment, **pair.environment},
        )
        if not identifier:
            # The job is there once it was planned.
            wait_for(lambda: list(pair.folder.glob("jobs/*/plan.json")))
            identifier = next(pair.folder.glob("jobs/*/plan.json")).parent.name
            command = ["job", "resume", identifier, "--json"]
        journal = pair.folder / "jobs" / identifier / "journal.jsonl"
        steps = journal.read_bytes().count(b"\n") if journal.exists() else 0
        # Some steps later, so that kills fall between and within them.
        wanted = steps + chance.randrange(*GAP)
        while kills and process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") >= wanted:
                kills -= 1
                if chance.random() < 0.5:
                    process.send_signal(signal.SIGKILL)
                    break
                pair.kill("alpha")
                wanted += chance.randrange(*GAP)
            time.sleep(0.002)
        out, err = process.communicate(timeout=SECONDS)
        if process.returncode == -signal.SIGKILL:
            continue
        assert process.returncode == 0, err
        report = json.loads(out)
        assert (report["refused"], report["gone"], report["left"]) == (0, 0, 0)
        assert kills == 0, f"{kills} kills were not made"
        return identifier


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("count", "kills"),
    [
        (500, 20),
        pytest.param(5000, 20, marks=pytest.mark.soak),
        pytest.param(5000, 200, marks=pytest.mark.soak),
    ],
)
def test_killed_retries_send_each_dead_letter_once(tmp_path: Path, count: int, kills: int) -> None:
    pair = Pair(tmp_path)
    pair.start("alpha")
    pair.create("alpha")
    pair.let_die(count)
    pair.start("beta")
    pair.create("beta")
    identifier = run_with_kills(pair, kills, random.Random(17))
    with pair.connect("alpha") as alpha:
        assert dead(alpha) == 0
    wait_for(lambda: pair.bodies("beta").total() >= 2 * count)
    for name, place in (("alpha", "local"), ("beta", "remote")):
        expected = {
            f"{place} {kind} {number}" for kind in ("plain", "ordered") for number in range(count)
        }
        found = pair.bodies(name)
        assert set(found) == expected
        assert set(found.values()) == {1}
    undo_of_what_stayed_here(pair, identifier, count)
    pair.stop()


def undo_of_what_stayed_here(pair: Pair, identifier: str, count: int) -> None:
    """Those of this machine go back, what was sent to the other one is gone."""
    with pair.connect("alpha") as alpha:
        report = undo_job(alpha, load_job(pair.folder / "jobs" / identifier))
        assert (report.undone, report.gone) == (2 * count, 2 * count)
        assert dead(alpha) == 2 * count
    assert pair.bodies("alpha").total() == 0
