"""A pytest plugin: records which test reaches which line of the sources, and how long it takes.

The environment says where to: OPENMSMQ_RECORDING is a file for coverage's data, in which each test
is a context; the outcomes and times go beside it as JSON.
"""

import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import coverage
import pytest

DATA: Final = Path(os.environ["OPENMSMQ_RECORDING"])
MEASUREMENT: Final = coverage.Coverage(
    data_file=str(DATA),
    branch=False,
    include=os.environ["OPENMSMQ_RECORDED"].split(os.pathsep),
    config_file=False,
)
MEASUREMENT.start()
SECONDS: dict[str, float] = {}
FAILED: set[str] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    MEASUREMENT.switch_context(item.nodeid)
    start = time.perf_counter()
    try:
        return (yield)
    finally:
        SECONDS[item.nodeid] = round(time.perf_counter() - start, 4)
        MEASUREMENT.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed:
        FAILED.add(report.nodeid)


def pytest_sessionfinish() -> None:
    MEASUREMENT.stop()
    MEASUREMENT.save()
    passed = {test: seconds for test, seconds in SECONDS.items() if test not in FAILED}
    DATA.with_suffix(".json").write_text(json.dumps(passed))
