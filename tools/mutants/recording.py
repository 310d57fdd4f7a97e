"""Which test reaches which line, recorded once and kept in build/mutants.

Tests are recorded file by file, and again when the file has changed. The sources of that time are
kept beside it, so that lines can be followed to where they are now; what a change of the sources
made tests reach anew is seen only by recording everything again. Left out are tests that start
Spark, terminals or many processes, and simulations, which take long.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from coverage import CoverageData

from tools.catalogue import ROOT

from .mutant import RECORDED, SOURCES

TESTS: Final = ROOT / "tests"
FOLDERS: Final = (
    *("wire", "security", "directory", "core", "protocol", "engine", "store", "net", "service"),
    *("client", "interop", "fuzz"),
)
# Files in one session of pytest: as many as to pay for its start, few enough to lose when stopped.
FILES_PER_SESSION: Final = 12
COMMAND: Final = (
    *(sys.executable, "-m", "pytest", "-q", "-p", "tools.mutants.recorder"),
    *("-p", "no:cacheprovider", "--timeout", "300"),
)


def digest(paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def test_files(folders: Iterable[str]) -> dict[str, str]:
    """The files with tests below some folders of tests/, and what is in them."""
    paths = [path for name in folders for path in sorted((TESTS / name).rglob("test_*.py"))]
    return {path.relative_to(ROOT).as_posix(): digest([path]) for path in paths}


def followed(old: list[str], new: list[str]) -> dict[int, list[int]]:
    """For each line of a changed text the lines of the old one that it was, both from 1.

    A line that was rewritten is any line of the passage it replaces, an added one the line before.
    """
    lines: dict[int, list[int]] = {}
    for tag, start, end, first, last in SequenceMatcher(None, old, new, False).get_opcodes():
        for offset, line in enumerate(range(first, last)):
            if tag == "equal":
                lines[line + 1] = [start + offset + 1]
            elif tag == "replace":
                lines[line + 1] = list(range(start + 1, end + 1))
            else:
                lines[line + 1] = [start]
    return lines


@dataclass(slots=True)
class Session:
    """What one run of pytest recorded.

    Args:
        name: of its data in the folder.
        sources: which copy of the sources it ran.
        files: the files with tests, with their digests.
        seconds: the tests that passed, with the time they took.
    """

    name: str
    sources: str
    files: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict)


class Recording:
    """The newest session of each file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}
        self._reached: dict[Path, dict[int, set[str]]] = {}

    def load(self) -> None:
        manifests = list(self.folder.glob("*.manifest"))
        for manifest in sorted(manifests, key=lambda path: path.stat().st_mtime_ns):
            self._take(Session(**json.loads(manifest.read_text())))

    def _take(self, session: Session) -> None:
        for file in session.files:
            for test in [test for test in self.seconds if test.startswith(f"{file}::")]:
                del self.seconds[test]
            self._sessions[file] = session
        self.seconds |= session.seconds

    def missing(self, files: dict[str, str]) -> list[str]:
        return [
            file
            for file, content in files.items()
            if file not in self._sessions or self._sessions[file].files[file] != content
        ]

    def record(self, files: dict[str, str], jobs: int, recorded: Callable[[int], None]) -> None:
        """Record what is missing of these files; `recorded` is told how many are done."""
        missing = self.missing(files)
        chunks = [
            missing[start : start + FILES_PER_SESSION]
            for start in range(0, len(missing), FILES_PER_SESSION)
        ]
        sources = self._keep_sources()
        with ThreadPoolExecutor(jobs) as pool:
            sessions = [
                pool.submit(self._run, sources, {name: files[name] for name in chunk})
                for chunk in chunks
            ]
            for session in sessions:
                self._take(session.result())
                recorded(len(session.result().files))

    def _keep_sources(self) -> str:
        """Copy the sources as they are now, if that was not done before."""
        name = digest(sorted(path for part in RECORDED for path in (SOURCES / part).rglob("*.py")))
        copy = self.folder / name
        if not copy.exists():
            for part in RECORDED:
                shutil.copytree(SOURCES / part, copy / part)
        return name

    def _run(self, sources: str, files: dict[str, str]) -> Session:
        key = json.dumps([sources, files]).encode()
        session = Session(hashlib.sha256(key).hexdigest()[:12], sources, files)
        data = self.folder / f"{session.name}.data"
        data.unlink(missing_ok=True)
        environ = {
            **os.environ,
            "OPENMSMQ_RECORDING": str(data),
            "OPENMSMQ_RECORDED": os.pathsep.join(f"{SOURCES / name}/*" for name in RECORDED),
        }
        # A short path, because tests make sockets there, whose names must not be long.
        with (
            TemporaryDirectory(prefix="mutants-") as scratch,
            data.with_suffix(".log").open("wb") as log,
        ):
            subprocess.run(
                [*COMMAND, f"--basetemp={scratch}/t", *files],
                cwd=ROOT,
                env=environ,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        times = data.with_suffix(".json")
        if not times.exists():
            raise SystemExit(f"mutants: nothing was recorded, see {data.with_suffix('.log')}")
        session.seconds = json.loads(times.read_text())
        data.with_suffix(".manifest").write_text(json.dumps(asdict(session)))
        return session

    def tests_of(self, path: Path, lines: range) -> set[str]:
        """The tests that run one of the lines of a file."""
        if path not in self._reached:
            self._reached[path] = self._read(path)
        reached = self._reached[path]
        return {test for line in lines for test in reached.get(line, ())}

    def _read(self, path: Path) -> dict[int, set[str]]:
        reached: dict[int, set[str]] = {}
        new = path.read_text(encoding="utf-8").splitlines()
        moves: dict[str, dict[int, list[int]]] = {}
        for session in {id(session): session for session in self._sessions.values()}.values():
            if session.sources not in moves:
                moves[session.sources] = followed(self._old_lines(session.sources, path), new)
            data = CoverageData(str(self.folder / f"{session.name}.data"))
            data.read()
            contexts = data.contexts_by_lineno(str(path))
            data.close()
            for line, before in moves[session.sources].items():
                tests = {test for place in before for test in contexts.get(place, ())}
                current = {test for test in tests if self._is_current(test, session)}
                if current:
                    reached.setdefault(line, set()).update(current)
        return reached

    def _old_lines(self, sources: str, path: Path) -> list[str]:
        old = self.folder / sources / path.relative_to(SOURCES)
        return old.read_text(encoding="utf-8").splitlines() if old.exists() else []

    def _is_current(self, test: str, session: Session) -> bool:
        return test in self.seconds and self._sessions.get(test.partition("::")[0]) is session
