"""Measure branch coverage of the packages that must be covered whole, and fail the run if not.

Loaded with `-p` from the command line, before any module of ours is imported: the modules of these
packages are measured while they are imported, and then only the tests that are about them. What a
test of something else happens to touch is not tested by it, and measuring makes collection and
tests take twice as long. Under xdist each worker measures itself and the controller adds up.
"""

import io
import os
import shutil
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Final

import coverage
import pytest
from tests.plugins.verdict import fail_session, is_worker

ROOT: Final = Path(__file__).resolve().parents[2]
# The environment, because options are not known yet when measuring starts.
DATA: Final = Path(os.environ.get("OPENMSMQ_COVERAGE_DATA", ROOT / "build" / "coverage"))
PACKAGES: Final = "openmsmq.wire,openmsmq.protocol"
COVERED_WHOLE: Final = os.environ.get("OPENMSMQ_COVERED_WHOLE", PACKAGES).split(",")
# The folders of `tests` that are about them.
MEASURED: Final = frozenset(("wire", "protocol", "engine", "client", "security"))


def new_measurement(*, own_file: bool) -> coverage.Coverage:
    """A measurement; each process that measures writes a file of its own."""
    return coverage.Coverage(
        data_file=str(DATA / "data"),
        data_suffix=own_file,
        branch=True,
        source_pkgs=COVERED_WHOLE,
        config_file=False,
    )


class Measuring:
    """The measurement of this process, which is on only now and then."""

    def __init__(self) -> None:
        self.measurement = new_measurement(own_file=True)
        self._depth = 0

    @contextmanager
    def on(self) -> Iterator[None]:
        """Measure what happens inside; one inside another changes nothing."""
        self._depth += 1
        if self._depth == 1:
            self.measurement.start()
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self.measurement.stop()


class MeasuredImports(MetaPathFinder):
    """Finds the modules of some packages as others would, and measures while they are executed."""

    def __init__(self, measuring: Measuring, packages: Sequence[str]) -> None:
        self._measuring = measuring
        self._packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not any(f"{fullname}.".startswith(f"{package}.") for package in self._packages):
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(fullname, path, target)):
                self._measure(spec)
                return spec
        return None

    def _measure(self, spec: ModuleSpec) -> None:
        def exec_module(module: ModuleType) -> None:
            with self._measuring.on():
                execute(module)

        assert spec.loader is not None  # these packages have their files
        execute = spec.loader.exec_module
        spec.loader.exec_module = exec_module  # type: ignore[method-assign]


MEASURING: Final = Measuring()
sys.meta_path.insert(0, MeasuredImports(MEASURING, COVERED_WHOLE))


def pytest_configure(config: pytest.Config) -> None:
    if not is_worker(config):
        shutil.rmtree(DATA, ignore_errors=True)
        DATA.mkdir(parents=True)
    config.pluginmanager.register(CoverageGate(config), "openmsmq-coverage")


def is_partial(session: pytest.Session) -> bool:
    """Tell whether something other than the whole suite ran to its end."""
    config = session.config
    options = ("keyword", "markexpr", "spec", "deselect", "lf", "stepwise", "soak")
    return (
        config.args_source is not pytest.Config.ArgsSource.TESTPATHS
        or any(config.getoption(option, None) for option in options)
        or bool(session.shouldstop or session.shouldfail)
    )


def combined_report(file: io.StringIO) -> float:
    """Add up what all processes measured; print what is missing and return the percentage."""
    whole = new_measurement(own_file=False)
    try:
        whole.combine()
        return whole.report(file=file, show_missing=True, skip_covered=True, precision=2)
    except coverage.exceptions.NoDataError as exc:
        file.write(f"{exc}\n")
        return 0.0


class CoverageGate:
    """The plugin with the session it judges."""

    def __init__(self, config: pytest.Config) -> None:
        # The controller of a distributed run executes no test, so it has nothing to save.
        self.executes = not config.getoption("numprocesses", None)
        self.session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        *folders, _ = item.path.relative_to(item.config.rootpath).parts
        about = [folder for folder in folders if folder != "tests"][:1]
        if not MEASURED.issuperset(about):
            return (yield)
        with MEASURING.on():
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        if self.executes:
            MEASURING.measurement.save()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.session is None or is_worker(self.session.config):
            return
        terminalreporter.section("branch coverage")
        names = ", ".join(COVERED_WHOLE)
        report = io.StringIO()
        percent = combined_report(report)
        if percent == 100:
            terminalreporter.write_line(f"{names}: 100 %", green=True)
            return
        terminalreporter.write(report.getvalue())
        if is_partial(self.session):
            terminalreporter.write_line("Not judged: only a part of the tests ran.")
            return
        verdict = f"{names}: {percent:.2f} %, not 100 %"
        terminalreporter.write_line(verdict, red=True)
        fail_session(self.session, terminalreporter, "branch coverage", verdict)
