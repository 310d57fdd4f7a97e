"""What every test run loads: the conformance plugin, hypothesis' settings, the soak rule."""

import gc
import os
import signal
from collections.abc import Generator
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", "tests.plugins.conformance", "tests.plugins.programs"]

# Queue managers of tests have a console only if they test it: then an option says so.
os.environ.setdefault("OPENMSMQ_CONSOLE_PORT", "off")

# A shell starts background jobs with SIGINT ignored, and commands that a test starts inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Other work on the machine must not fail a test, so nothing here is timed.
settings.register_profile(
    "default", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("default"), max_examples=5000)
settings.load_profile(os.environ.get("OPENMSMQ_HYPOTHESIS_PROFILE", "default"))

# Objects that are made before the collector looks at the youngest; Python's own number is for
# programs that have fewer.
GC_THRESHOLD: Final = 20_000


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collected tests stay, so the garbage collector need not look at their objects again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD)
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="only the long tests, marked `soak`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted: bool = config.getoption("--soak")
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        is_long = item.get_closest_marker("soak") is not None
        (kept if is_long == wanted else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
