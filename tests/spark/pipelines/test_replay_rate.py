"""The rate of a replay: never more, and nothing is made up for after a delay."""

import itertools
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from tests.cli.runner import run

from openmsmq.spark.pipelines.replay import sender as replay_sender
from openmsmq.spark.pipelines.replay.replaying import ReplayResult
from openmsmq.spark.pipelines.replay.sender import CHUNK_ROWS, Sender
from openmsmq.spark.pipelines.replay.state import Run


class Clock:
    """Time that passes when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Memory:
    """Plans in chunks, and writes nothing down."""

    def __init__(self, folder: Path, messages: int) -> None:
        self._folder = folder
        self._messages = messages
        self.chunk_rows = 0

    def runs(self) -> list[Run]:
        return []

    def plan(self, _rows: Any, chunk_rows: int) -> Run:
        self.chunk_rows = chunk_rows
        return Run(self._folder, self._messages, -(-self._messages // chunk_rows))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(replay_sender, "time", made)
    monkeypatch.setattr(replay_sender, "numbered", lambda rows: rows)
    return made


def published(
    clock: Clock,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    rate: float | None,
    work: list[float],
) -> tuple[Memory, list[tuple[float, int]]]:
    """When how many messages were published, if sending the chunks takes so long."""
    memory = Memory(folder, 4 * len(work) - 1)
    took = iter(work)
    found: list[tuple[float, int]] = []

    def send(_self: Sender, run: Run, number: int) -> int:
        clock.now += next(took)
        count = min(memory.chunk_rows, run.messages - number * memory.chunk_rows)
        found.append((clock.now, count))
        return count

    monkeypatch.setattr(Sender, "_send", send)
    nothing: Any = None
    planned: Any = memory
    rows: Any = SimpleNamespace()
    done = Sender(nothing, planned, rate, remove=False).run(rows)
    assert (done.sent, done.removed) == (memory._messages, 0)
    return memory, found


def test_a_chunk_waits_for_the_one_before_and_never_catches_up(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two messages a second, in chunks of two seconds; the second takes a minute.
    memory, found = published(clock, tmp_path, monkeypatch, 2.0, [0.5, 60.0, 0.1, 0.1])
    assert memory.chunk_rows == 4
    assert [count for _, count in found] == [4, 4, 4, 3]
    for (before, count), (then, _) in itertools.pairwise(found):
        assert count / (then - before) <= 2.0
    # Nobody waits behind the last one, nor longer than needed between others.
    assert clock.now == pytest.approx(100 + 0.5 + 2 + 60 + 2 + 0.1 + 2 + 0.1)


def test_without_a_rate_nobody_waits(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, _ = published(clock, tmp_path, monkeypatch, None, [1.5])
    assert memory.chunk_rows == CHUNK_ROWS
    assert clock.now == 101.5


@pytest.mark.parametrize(("given", "code"), [("2.5", 0), ("0", 2), ("-1", 2), ("fast", 2)])
def test_the_command_takes_a_rate(given: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float | None] = []

    def replay(*_arguments: object, rate: float | None, **_options: object) -> ReplayResult:
        rates.append(rate)
        return ReplayResult("key", True, 0, 0, 0, 0, 0, 0.0, ())

    monkeypatch.setattr("openmsmq.spark.pipelines.replay.replaying.replay", replay)
    # No queue manager runs here that could be asked.
    monkeypatch.setattr("openmsmq.cli.pipeline.replay.begin_checks", Mock())
    monkeypatch.setattr("openmsmq.cli.pipeline.replay.spark_session", nullcontext)
    assert run("pipeline", "replay", ";deadletter", "--rate", given).code == code
    assert rates == ([2.5] if code == 0 else [])
