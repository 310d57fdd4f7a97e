"""A SparkSession: on this machine by default, or on another master."""

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .errors import SparkUnavailable
from .java import java_home
from .spark_home import spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER: Final = "local[*]"
CONF: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
LOGGING: Final = Path(__file__).with_name("log4j2.properties")
# A driver that talks to itself only: no name look-ups, no ports open to others. One machine needs
# no 200 parts of a shuffle, each of which has its own files where a stream keeps its state.
LOCAL_CONF: Final = {
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# The JVM is already there when spark-submit runs us, and so is the master.
UNDER_SPARK_SUBMIT: Final = "PYSPARK_GATEWAY_PORT"


def session(
    master: str | None = None, *, app_name: str = "openmsmq", **conf: str | int | bool
) -> "SparkSession":
    """Return a SparkSession, an existing one or a new one.

    Sets `JAVA_HOME`, `PYSPARK_PYTHON` and similar variables in the environment of this process.

    Args:
        master: a Spark master (`local[2]`, `spark://host:7077`) or a Spark Connect address
            (`sc://host`). Without it `$SPARK_REMOTE`, then `$MASTER`, then all of this machine.
        app_name: the name that Spark shows.
        conf: Spark settings, as `**{"spark.sql.shuffle.partitions": 8}`.

    Raises:
        SparkUnavailable: PySpark or Java is missing.
    """
    check_installed()
    settings = spark_settings(master, conf, os.environ)
    remote = settings.get("spark.remote")
    if UNDER_SPARK_SUBMIT not in os.environ and (remote is None or remote.startswith("local")):
        os.environ["JAVA_HOME"] = str(java_home())
    # Workers run this interpreter: any other may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if "spark.driver.bindAddress" in settings:
        # Spark looks up the name of the machine unless told its address, and not all have one.
        os.environ.setdefault("SPARK_LOCAL_IP", settings["spark.driver.bindAddress"])
    # Imported here, because it takes a second and is there with the extra `spark` only.
    from pyspark.sql import SparkSession

    # PySpark refuses a master and a remote address together; the settings have the right one.
    changes: dict[str, str | None] = {"SPARK_REMOTE": None, "MASTER": None}
    if home := spark_home(settings, os.environ):
        changes["SPARK_HOME"] = str(home)
    with changed_variables(changes):
        builder = SparkSession.builder.appName(app_name)
        for key, value in settings.items():
            builder.config(key, value)
        return builder.getOrCreate()


def check_installed() -> None:
    """Check that PySpark is installed.

    Raises:
        SparkUnavailable: it is not.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise SparkUnavailable(
            "PySpark is not installed", "Install it: pip install 'openmsmq[spark]'"
        )


def spark_settings(
    master: str | None, conf: Mapping[str, str | int | bool], environ: Mapping[str, str]
) -> dict[str, str]:
    """Return all settings: the master, our defaults for it, and those of the caller."""
    where = place(master, environ)
    is_local = where.get("spark.master", "").startswith("local")
    defaults = {} if "spark.remote" in where else {**CONF, **quiet_logs()}
    settings = {key: spark_text(value) for key, value in conf.items()}
    return {**defaults, **(LOCAL_CONF if is_local else {}), **where, **settings}


def quiet_logs() -> dict[str, str]:
    return {"spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={LOGGING.as_uri()}"'}


def place(master: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    """The setting of the master; none under spark-submit."""
    if master is not None:
        return {"spark.remote" if master.startswith("sc://") else "spark.master": master}
    if remote := environ.get("SPARK_REMOTE"):
        return {"spark.remote": remote}
    if named := environ.get("MASTER"):
        return {"spark.master": named}
    return {} if UNDER_SPARK_SUBMIT in environ else {"spark.master": DEFAULT_MASTER}


def spark_text(value: str | int | bool) -> str:  # noqa: FBT001 - a setting's value may be a bool
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextlib.contextmanager
def changed_variables(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Set environment variables temporarily, or remove those whose value is None."""
    before = {name: os.environ.get(name) for name in changes}
    set_variables(changes)
    try:
        yield
    finally:
        set_variables(before)


def set_variables(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
