"""Long runs are kept, resumed and reported."""

import io
import signal
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from tools.catalogue import ROOT
from tools.soak import Job, State, fingerprint, run_all

CONSOLE = Console(quiet=True)


def job(name: str, code: str) -> Job:
    return Job(name, (sys.executable, "-c", code))


def counting(name: str, file: Path, *, code: int = 0) -> Job:
    """A job that adds a letter to a file each time it runs."""
    return job(name, f"import sys; open({str(file)!r}, 'a').write('x'); sys.exit({code})")


def test_what_passed_is_not_run_again_and_what_failed_is(tmp_path: Path) -> None:
    jobs = [counting("good", tmp_path / "good"), counting("bad", tmp_path / "bad", code=1)]
    for _ in range(2):
        state = State(tmp_path / "state.json", "code")
        state.load()
        assert run_all(jobs, state, CONSOLE) == 1
    assert (tmp_path / "good").read_text() == "x"
    assert (tmp_path / "bad").read_text() == "xx"


def test_other_code_starts_over_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    State(path, "old").keep(job("good", ""), 1.25)
    changed = State(path, "new")
    changed.load()
    assert changed.passed == {}
    changed.load(other_code=True)
    assert changed.passed == {"good": 1.2}


def test_the_end_of_a_failed_job_is_shown(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), record=True, width=200)
    jobs = [job("bad", "raise SystemExit('the reason')")]
    assert run_all(jobs, State(tmp_path / "state.json", "code"), console) == 1
    text = console.export_text()
    assert "FAILED  bad" in text
    assert "the reason" in text


def test_an_interrupted_run_stops_its_job_and_keeps_what_passed(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from rich.console import Console
from tools.soak import Job, State, run_all
slow = "import signal, sys, time\\n" \\
    "signal.signal(signal.SIGTERM, lambda *_: (open('stopped', 'w'), sys.exit(1)))\\n" \\
    "open('started', 'w').close()\\ntime.sleep(60)"
import tools.soak
tools.soak.ROOT = Path({str(tmp_path)!r})
jobs = [Job("good", (sys.executable, "-c", "")), Job("slow", (sys.executable, "-c", slow))]
run_all(jobs, State(Path({str(tmp_path / "state.json")!r}), "code"), Console(quiet=True))
"""
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert (tmp_path / "stopped").exists()
    state = State(tmp_path / "state.json", "code")
    state.load()
    assert list(state.passed) == ["good"]


def test_the_fingerprint_follows_names_and_contents(tmp_path: Path) -> None:
    file = tmp_path / "src" / "a.py"
    file.parent.mkdir()
    file.write_text("a = 1\n")
    first = fingerprint([tmp_path / "src"])
    assert fingerprint([tmp_path / "src"]) == first
    file.write_text("a = 2\n")
    second = fingerprint([tmp_path / "src"])
    file.rename(file.with_name("b.py"))
    assert len({first, second, fingerprint([tmp_path / "src"])}) == 3
