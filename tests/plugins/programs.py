"""Programs of the system that tests need: without one a test is skipped, or fails where CI has all.

The reason of such a skip names the package, `(Debian: NAME)`; tests/programs.txt lists them all.
"""

import os
from collections.abc import Generator
from typing import Final

import pytest

VARIABLE: Final = "OPENMSMQ_REQUIRE_PROGRAMS"
SIGN: Final = "(Debian: "


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if os.environ.get(VARIABLE) == "1" and report.skipped and SIGN in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped, but {VARIABLE} is set: {report.longrepr}"
    return report
