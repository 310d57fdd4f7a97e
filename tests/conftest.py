"""What every test run loads: the conformance plugin, hypothesis' settings, the soak rule."""

import os

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", "tests.plugins.conformance", "tests.plugins.programs"]

# Queue managers of tests have a console only if they test it: then an option says so.
os.environ.setdefault("OPENMSMQ_CONSOLE_PORT", "off")

# Other work on the machine must not fail a test, so nothing here is timed.
settings.register_profile(
    "default", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("default"), max_examples=5000)
settings.load_profile(os.environ.get("OPENMSMQ_HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="only the long tests, marked `soak`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted: bool = config.getoption("--soak")
    left_out = [item for item in items if (item.get_closest_marker("soak") is not None) != wanted]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
