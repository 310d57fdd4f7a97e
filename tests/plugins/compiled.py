"""What `make compile TEST=1` loads: tests that compiled modules make impossible are skipped.

Compiled classes cannot be derived from in Python, and their functions cannot be replaced.
"""

from collections.abc import Generator
from typing import Final

import pytest

_DERIVED: Final = "interpreted classes cannot inherit from compiled"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="it replaces what is compiled")
    for item in items:
        if item.get_closest_marker("interpreted") is not None:
            item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: "pytest.CallInfo[None]",
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and call.excinfo is not None and _DERIVED in str(call.excinfo.value):
        report.outcome = "skipped"
        report.longrepr = (__file__, 0, f"Skipped: {_DERIVED}")
    return report
