"""One SparkSession for all tests of this folder, in one process of a distributed run."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.server.raw_client import ROOT

import openmsmq.spark
from openmsmq.cli.pipeline.command import CONF

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))
            # A session that a timeout cuts off in the middle of a call is of no use to later tests.
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(600))


def python_path() -> str:
    """So that workers find the modules of tests, too."""
    return os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> Iterator[None]:
    """Every JVM of these tests lives for minutes: good machine code would come too late."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path())
        # A task that fails is tried once more: workers get killed.
        session = openmsmq.spark.session(
            "local[2,2]", app_name="openmsmq tests", **CONF, **{"spark.sql.shuffle.partitions": 2}
        )
    yield session
    session.stop()
