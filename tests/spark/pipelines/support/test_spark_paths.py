"""Paths for Spark's readers."""

from pathlib import Path

from openmsmq.spark.pipelines.support.spark_paths import literal_path


def test_characters_of_patterns_are_escaped() -> None:
    assert literal_path(Path("/a/b[1]{x,y}*?\\")) == r"/a/b\[1\]\{x,y\}\*\?" + "\\\\"
    assert literal_path("/a/date=1/queue=%5C$!") == "/a/date=1/queue=%5C$!"


def test_paths_become_absolute() -> None:
    assert literal_path("a") == str(Path.cwd() / "a")
