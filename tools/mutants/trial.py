"""Run the tests that reach a mutant, nearest and fastest first, until one fails."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from tools.catalogue import ROOT

from .mutant import Mutant
from .recording import Recording

SITE: Final = Path(__file__).parent / "site"
LIMIT_SECONDS: Final = 60.0
# A test that takes so many times as long as it did, and so many seconds more, hangs.
PATIENCE: Final = 10
PATIENCE_SECONDS: Final = 10.0
# Files whose tests run together: the nearest first, then some more, then all the others.
STAGES: Final = (2, 12, 10_000)
COMMAND: Final = (
    *(sys.executable, "-m", "pytest", "-q", "-x", "-p", "tools.mutants.trial_plugin"),
    *("-p", "no:cacheprovider", "--tb=short"),
)
NO_TESTS: Final = 5
USAGE: Final = 4

# What happened, to which test, and when.
Event: TypeAlias = tuple[str, str, float]


class Verdict(StrEnum):
    """What the tests say of a mutant."""

    CAUGHT = "caught"
    # It never ends, or not in many times the usual time: somebody would notice.
    TIMEOUT = "timeout"
    SURVIVED = "survived"
    # Tests were left when the time was over, and none had failed.
    UNDECIDED = "undecided"
    UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict, the test that gave it, and how many ran in which time."""

    verdict: Verdict
    test: str = ""
    tests: int = 0
    seconds: float = 0.0

    @property
    def is_caught(self) -> bool:
        return self.verdict in (Verdict.CAUGHT, Verdict.TIMEOUT)


def nearness(mutated: str, file: str) -> int:
    """How far a file of tests is from a module: 0 is its own, 3 is another package."""
    module = Path(mutated)
    tests = Path(file).relative_to("tests")
    name = tests.stem.removeprefix("test_")
    if tests.parent == module.parent:
        if name == module.stem:
            return 0
        return 1 if module.stem in name or name in module.stem else 2
    return 2 if tests.parts[0] == module.parts[0] else 3


def stages(mutant: Mutant, tests: Iterable[str], seconds: dict[str, float]) -> Iterator[list[str]]:
    """The tests in the order in which they run, in groups of files."""
    by_file: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda test: seconds[test]):
        by_file.setdefault(test.partition("::")[0], []).append(test)
    # Of equally near files the one that is over first.
    path = mutant.identity.path
    files = sorted(
        by_file,
        key=lambda file: (nearness(path, file), sum(seconds[test] for test in by_file[file])),
    )
    start = 0
    for number in STAGES:
        group = files[start : start + number]
        start += number
        if group:
            chosen = [test for file in group for test in by_file[file]]
            yield sorted(
                chosen,
                key=lambda test: (nearness(path, test.partition("::")[0]), seconds[test]),
            )


class Trial:
    """Tries one mutant."""

    def __init__(self, mutant: Mutant, recording: Recording) -> None:
        self.mutant = mutant
        self.recording = recording
        self.start = 0.0
        self.ran = 0

    def run(self) -> Outcome:
        # Not before: a trial may have waited for its turn.
        self.start = time.monotonic()
        site = self.mutant.site
        lines = range(site.line, site.end + 1)
        tests = self.recording.tests_of(self.mutant.path, lines)
        if not tests:
            return Outcome(Verdict.UNREACHED)
        for stage in stages(self.mutant, tests, self.recording.seconds):
            with TemporaryDirectory(prefix="mutant-") as scratch:
                outcome = self._stage(stage, Path(scratch))
            if outcome.verdict is not Verdict.SURVIVED:
                return outcome
        return self._outcome(Verdict.SURVIVED)

    def _outcome(self, verdict: Verdict, test: str = "") -> Outcome:
        return Outcome(verdict, test, self.ran, round(time.monotonic() - self.start, 1))

    def _stage(self, tests: list[str], scratch: Path) -> Outcome:
        left = self.start + LIMIT_SECONDS - time.monotonic()
        if left <= 0:
            return self._outcome(Verdict.UNDECIDED)
        progress = scratch / "progress"
        progress.touch()
        process = self._pytest(tests, scratch)
        try:
            code = process.wait(left)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        events: list[Event] = [
            tuple(json.loads(line)) for line in progress.read_text().splitlines()
        ]
        self.ran += sum(word == "began" for word, _, _ in events)
        return self._judge(code, events, scratch)

    def _pytest(self, tests: list[str], scratch: Path) -> "subprocess.Popen[bytes]":
        seconds = self.recording.seconds
        allowed = {test: seconds[test] * PATIENCE + PATIENCE_SECONDS for test in tests}
        (scratch / "tests").write_text(json.dumps(allowed))
        (scratch / "code").write_bytes(self.mutant.code())
        environ = {
            **os.environ,
            "PYTHONPATH": str(SITE),
            "OPENMSMQ_MUTANT": self.mutant.module,
            "OPENMSMQ_MUTANT_FILE": str(self.mutant.path),
            "OPENMSMQ_MUTANT_CODE": str(scratch / "code"),
            "OPENMSMQ_TRIAL_TESTS": str(scratch / "tests"),
            "OPENMSMQ_TRIAL_PROGRESS": str(scratch / "progress"),
        }
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        with (scratch / "log").open("wb") as log:
            return subprocess.Popen(
                [*COMMAND, f"--basetemp={scratch}/t", *files],
                cwd=ROOT,
                env=environ,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _judge(self, code: int | None, events: Sequence[Event], scratch: Path) -> Outcome:
        if any(word == "unchanged" for word, _, _ in events):
            raise SystemExit(f"mutants: the tests ran {self.mutant.module} as it is in the file")
        for word, test, _ in events:
            if word != "began":
                return self._outcome(Verdict.TIMEOUT if word == "timeout" else Verdict.CAUGHT, test)
        last = events[-1][1] if events else ""
        if code is None:
            hangs = bool(last) and time.time() - events[-1][2] > (
                self.recording.seconds[last] * PATIENCE + PATIENCE_SECONDS
            )
            return self._outcome(Verdict.TIMEOUT if hangs else Verdict.UNDECIDED, last)
        if code == USAGE:
            raise SystemExit(f"mutants: pytest did not start:\n{(scratch / 'log').read_text()}")
        if code in (0, NO_TESTS):
            return self._outcome(Verdict.SURVIVED)
        return self._outcome(Verdict.CAUGHT, last)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a trial with everything that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
