"""Collect which rows of docs/conformance the tests prove, and print how far they do.

`@pytest.mark.spec("MQQB-2.2.3.1-04")` names the rows. An unknown row, or more than three on a
test, is a collection error. Under xdist the workers collect and the controller adds up: what a
test proves travels with its reports. What a test proves of code that nothing else reaches does not
count.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Final, cast

import pytest
from rich.console import Console
from tests.plugins.verdict import fail_session, is_worker
from tools.catalogue import CATALOGUES, RESULTS, Catalogue, without_unreached, write_results
from tools.conformance_report import terminal_table
from tools.reachability.spec_tests import unreached_by_test

PROPERTY: Final = "conformance"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption(
        "--conformance", action="store_true", help="print the figures and write the results"
    )
    group.addoption(
        "--spec", metavar="PREFIX", help="only tests of the rows whose id begins with PREFIX"
    )
    group.addoption("--conformance-catalogues", type=Path, default=CATALOGUES, metavar="FOLDER")
    group.addoption("--conformance-results", type=Path, default=RESULTS, metavar="FILE")


def pytest_configure(config: pytest.Config) -> None:
    catalogue = Catalogue.read(config.getoption("--conformance-catalogues"))
    config.pluginmanager.register(Conformance(config, catalogue), "openmsmq-conformance")


def rows_of(item: pytest.Item) -> list[str]:
    """The rows that a test names, itself or through its class or module, each once."""
    return list(dict.fromkeys(id_ for mark in item.iter_markers("spec") for id_ in mark.args))


class Conformance:
    """The plugin with the state of one run."""

    def __init__(self, config: pytest.Config, catalogue: Catalogue) -> None:
        self.config = config
        self.catalogue = catalogue
        self.results: dict[str, dict[str, str]] = {}
        self.uncollected: set[str] = set()
        self.session: pytest.Session | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self,
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        faults = []
        for node in report.result or ():
            if isinstance(node, pytest.Item) and (ids := rows_of(node)):
                faults += [f"{node.nodeid}: {fault}" for fault in self.catalogue.faults_of(ids)]
                # The name is kept too: xdist adds the group to the node id later on.
                node.user_properties.append((PROPERTY, [node.nodeid, *ids]))
        if faults:
            report.outcome = "failed"
            report.longrepr = "\n".join(faults)
            report.result = []
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.uncollected.add(report.nodeid)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if prefix := self.config.getoption("--spec"):
            kept = [item for item in items if any(id_.startswith(prefix) for id_ in rows_of(item))]
            self.config.hook.pytest_deselected(items=[item for item in items if item not in kept])
            items[:] = kept

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == PROPERTY:
                test, *ids = cast("list[str]", value)
                for id_ in ids:
                    tests = self.results.setdefault(id_, {})
                    tests[test] = outcome_after(tests.get(test), report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if is_worker(self.config) or not self.config.getoption("--conformance"):
            return
        terminalreporter.section("conformance")
        if self.uncollected:
            # Rows would look untested that are not.
            terminalreporter.write_line(
                f"Not counted: {', '.join(sorted(self.uncollected))} could not be collected.",
                red=True,
            )
            return
        self.results = without_unreached(self.results, unreached_by_test(self.config.rootpath))
        write_results(self.results, self.config.getoption("--conformance-results"))
        prefix = self.config.getoption("--spec") or ""
        names = [
            name
            for name in self.catalogue.specifications()
            if prefix.startswith(name) or name.startswith(prefix)
        ]
        console = Console(force_terminal=terminalreporter.hasmarkup, width=100)
        with console.capture() as capture:
            console.print(terminal_table(self.catalogue, self.results, names))
        terminalreporter.write(capture.get())
        for fault in (*self.catalogue.faults, *self.catalogue.tested_exclusions(self.results)):
            terminalreporter.write_line(fault, red=True)
            assert self.session is not None  # the session has started
            fail_session(self.session, terminalreporter, "docs/conformance", fault)


def outcome_after(before: str | None, report: pytest.TestReport) -> str:
    """The outcome of a test when one more of its phases is done: only its call makes it pass."""
    # An expected failure is reported as skipped or passed, yet it proves nothing.
    if report.failed or hasattr(report, "wasxfail"):
        return "failed"
    if report.when == "call":
        return report.outcome
    if report.when == "setup":
        return "skipped" if report.skipped else "unfinished"
    return before or "unfinished"
