"""A pytest plugin: runs the chosen tests of a trial in their order and says how far it is.

The environment names two files: OPENMSMQ_TRIAL_TESTS has the tests with the seconds that each may
take, OPENMSMQ_TRIAL_PROGRESS gets a line for each test that begins or fails.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

# A mutant may ask for memory without end.
MEMORY_BYTES: Final = 4 << 30
TESTS: Final[dict[str, float]] = json.loads(Path(os.environ["OPENMSMQ_TRIAL_TESTS"]).read_text())
ORDER: Final = {test: number for number, test in enumerate(TESTS)}
PROGRESS: Final = Path(os.environ["OPENMSMQ_TRIAL_PROGRESS"])

# pytest has put its own finder before that of the changed module, and it would find the file.
sys.meta_path.sort(key=lambda finder: type(finder).__name__ != "ChangedFinder")


def _tell(word: str, test: str) -> None:
    with PROGRESS.open("a", encoding="utf-8") as file:
        file.write(json.dumps([word, test, time.time()]) + "\n")


def pytest_configure() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    # The same examples each time, and none kept: they belong to wrong code.
    settings.register_profile(
        "mutants", settings.get_profile("default"), database=None, derandomize=True
    )
    settings.load_profile("mutants")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    chosen = [item for item in items if item.nodeid in ORDER]
    chosen.sort(key=lambda item: ORDER[item.nodeid])
    for item in chosen:
        item.add_marker(pytest.mark.timeout(TESTS[item.nodeid]), append=False)
    items[:] = chosen


def pytest_runtest_logstart(nodeid: str) -> None:
    _tell("began", nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _tell("timeout" if "Timeout" in report.longreprtext else "failed", report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _tell("failed", report.nodeid)


def pytest_sessionfinish() -> None:
    name = os.environ["OPENMSMQ_MUTANT"]
    module = sys.modules.get(name)
    if module is not None and type(module.__loader__).__name__ != "ChangedLoader":
        _tell("unchanged", name)
