"""The long runs: tests marked `soak`, many examples of properties, compiled code, old Spark, fuzz.

Each is a job of its own. What passed is kept in build/soak/state.json, so that the next run goes
on where this one was interrupted or failed; a change of the code starts over.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tools.catalogue import ROOT

FOLDER: Final = ROOT / "build" / "soak"
PYTEST: Final = (sys.executable, "-m", "pytest", "-q")
JOB_TIMEOUT_SECONDS: Final = 4 * 3600
FUZZ_RUNS: Final = 10
GUIDED_FUZZ_SECONDS: Final = 600
STOP_SECONDS: Final = 20
INTERRUPTED: Final = 130
SHOWN_LINES: Final = 40


@dataclass(frozen=True, slots=True)
class Job:
    """A command with a name that stays the same from run to run."""

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)


def collected(*selection: str) -> list[str]:
    """The node ids of the tests that pytest finds."""
    command = [*PYTEST, "--collect-only", *selection]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # Code 5 says that there is no such test, which is no fault here.
    if done.returncode not in (0, 5):
        raise SystemExit(f"soak: the tests cannot be collected:\n{done.stdout}{done.stderr}")
    return [line for line in done.stdout.splitlines() if "::" in line]


def all_jobs(code: str) -> Iterator[Job]:
    patient = (*PYTEST, "--timeout", str(JOB_TIMEOUT_SECONDS))
    for test in collected("--soak"):
        yield Job(f"soak {test}", (*patient, "--soak", test))
    many_examples = {"OPENMSMQ_HYPOTHESIS_PROFILE": "soak"}
    for file in sorted({test.partition("::")[0] for test in collected("-m", "hypothesis")}):
        yield Job(f"properties {file}", (*patient, "-m", "hypothesis", file), many_examples)
    fuzz = (sys.executable, "-m", "tools.fuzz")
    # Other code gets other inputs; the same code goes on with its own.
    first_seed = int(code[:8], 16)
    for number in range(FUZZ_RUNS):
        yield Job(f"fuzz {number + 1} of {FUZZ_RUNS}", (*fuzz, "--seed", str(first_seed + number)))
    yield Job("oldest Spark", (sys.executable, "-m", "tools.oldest_spark"))
    yield Job("compiled modules", (sys.executable, "-m", "tools.compile", "--test"))
    yield Job("fuzz guided by coverage", (*fuzz, "--atheris", str(GUIDED_FUZZ_SECONDS)))


def fingerprint(folders: Iterable[Path]) -> str:
    """A digest of all code, so that results of other code are not taken for ours."""
    digest = hashlib.sha256(sys.version.encode())
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"{path.relative_to(folder.parent)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


class State:
    """Which jobs have passed, kept in a file."""

    def __init__(self, path: Path, code: str) -> None:
        self.path = path
        self.code = code
        self.passed: dict[str, float] = {}

    def load(self, *, other_code: bool = False) -> None:
        """Take over what passed before, if the code is the same or `other_code` will do."""
        if self.path.exists():
            kept = json.loads(self.path.read_text())
            if other_code or kept["code"] == self.code:
                self.passed = kept["passed"]

    def keep(self, job: Job, seconds: float) -> None:
        self.passed[job.name] = round(seconds, 1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"code": self.code, "passed": self.passed}, indent=1))
        new.replace(self.path)


def run_job(job: Job, log: Path) -> int:
    """Run a job with its output in `log`, in a process group of its own; stop it if interrupted."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            job.command,
            cwd=ROOT,
            env={**os.environ, **job.environ},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise


def run_all(jobs: Sequence[Job], state: State, console: Console) -> int:
    """Run the jobs that have not passed yet and return how many failed."""
    failed = 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("soak", total=len(jobs))
        for number, job in enumerate(jobs):
            progress.update(task, description=job.name, completed=number)
            if job.name in state.passed:
                continue
            log = state.path.parent / f"{hashlib.sha256(job.name.encode()).hexdigest()[:12]}.log"
            start = time.monotonic()
            code = run_job(job, log)
            seconds = time.monotonic() - start
            if code == 0:
                state.keep(job, seconds)
                console.print(f"passed  {job.name} ({seconds:.1f} s)", markup=False)
                continue
            failed += 1
            tail = log.read_text(errors="replace").splitlines()[-SHOWN_LINES:]
            console.print(f"FAILED  {job.name} ({seconds:.1f} s), log in {log}", markup=False)
            console.print("\n".join(tail), markup=False, highlight=False)
    return failed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="jobs whose name has TEXT in it")
    parser.add_argument("--list", action="store_true", help="show the jobs and what has passed")
    parser.add_argument("--restart", action="store_true", help="forget what has passed")
    parser.add_argument("--keep", action="store_true", help="keep it although the code changed")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    console = Console()
    state = State(
        FOLDER / "state.json", fingerprint([ROOT / "src", ROOT / "tests", ROOT / "tools"])
    )
    if not options.restart:
        state.load(other_code=options.keep)
    jobs = [job for job in all_jobs(state.code) if options.only in job.name]
    if options.list:
        for job in jobs:
            print("passed " if job.name in state.passed else "to do  ", job.name)
        return 0
    before = sum(job.name in state.passed for job in jobs)
    console.print(f"{len(jobs)} jobs, {before} of them passed already")
    try:
        failed = run_all(jobs, state, console)
    except KeyboardInterrupt:
        console.print("Interrupted. `make soak` goes on from here.")
        return INTERRUPTED
    console.print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
