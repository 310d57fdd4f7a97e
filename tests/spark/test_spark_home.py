"""The SPARK_HOME that spares Spark's Python processes a second each."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from openmsmq.spark.own_folder import folder_for, own_folder
from openmsmq.spark.spark_home import PARTS, installed_spark, link_parts, spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = {"spark.master": "local[2]"}
PACKAGE = Path(pyspark.__file__).parent


def test_workers_import_the_installed_pyspark_and_not_the_zip(spark: "SparkSession") -> None:
    def where(_: object) -> list[str]:
        import pyspark

        return [pyspark.__file__]

    assert spark.sparkContext.parallelize([1], 1).mapPartitions(where).collect() == [
        pyspark.__file__
    ]


def test_the_home_has_the_parts_of_spark_but_its_python(tmp_path: Path) -> None:
    home = link_parts(PACKAGE, tmp_path / "home")
    assert sorted(path.name for path in home.iterdir()) == sorted(PARTS)
    assert (home / "bin" / "spark-submit").is_file()
    assert (home / "jars").samefile(PACKAGE / "jars")


def test_links_that_are_right_stay_and_others_are_replaced(tmp_path: Path) -> None:
    home = link_parts(PACKAGE, tmp_path)
    (home / "bin").unlink()
    (home / "bin").symlink_to("/nowhere")
    kept = (home / "jars").lstat().st_ino
    assert link_parts(PACKAGE, tmp_path) == home
    assert (home / "bin").samefile(PACKAGE / "bin")
    assert (home / "jars").lstat().st_ino == kept


def test_it_is_made_in_our_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)  # no virtual environment
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    home = spark_home(LOCAL, environ)
    assert home == folder_for(environ, "spark", PACKAGE)
    assert home.parent == tmp_path / "openmsmq"


@pytest.mark.parametrize(
    ("settings", "environ"),
    [
        ({"spark.master": "spark://host:7077"}, {}),
        ({"spark.remote": "sc://host"}, {}),
        ({}, {}),
        (LOCAL, {"SPARK_HOME": "/opt/spark"}),
        (LOCAL, {"PYSPARK_PYTHON": "/usr/bin/python3"}),
        (LOCAL | {"spark.pyspark.python": "/usr/bin/python3"}, {}),
    ],
    ids=["cluster", "remote", "submitted", "given", "other interpreter", "other setting"],
)
def test_elsewhere_spark_finds_its_own(settings: dict[str, str], environ: dict[str, str]) -> None:
    assert spark_home(settings, environ) is None


def test_where_no_links_can_be_made_spark_finds_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    (tmp_path / "openmsmq").touch()
    assert spark_home(LOCAL, {"XDG_CACHE_HOME": str(tmp_path)}) is None


def test_a_pyspark_from_elsewhere_is_not_counted_on(tmp_path: Path) -> None:
    """Such as one on the path of this process alone: its workers may not find it."""
    assert installed_spark() == PACKAGE
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").touch()
    code = "from openmsmq.spark.spark_home import installed_spark; print(installed_spark())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None\n"


def test_our_folder_is_inside_a_virtual_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert own_folder({}) == tmp_path / "share" / "openmsmq"
