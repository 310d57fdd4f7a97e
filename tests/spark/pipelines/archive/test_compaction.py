"""Small files become few; nothing is lost when it is interrupted."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.pipelines.messages import ORDERS, frame, planned, rows

from openmsmq.spark.pipelines.archive.compaction import compact_archive, small_files
from openmsmq.spark.pipelines.archive.manifest import DataFile, Manifest
from openmsmq.spark.pipelines.archive.store import Archive, read_archive
from openmsmq.spark.pipelines.archive.tables import FORMATS
from openmsmq.spark.pipelines.archive.verify import verify_archive
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Killed(BaseException):
    """Stands for the end of the process."""


def kill(*_: object) -> None:
    raise Killed


def fill(spark: "SparkSession", path: Path, kind: str) -> None:
    """An archive of two files."""
    archive = Archive.open_or_create(path, kind)
    for batch in range(2):
        sequences = range(batch * 10 + 1, batch * 10 + 11)
        archive.append(
            frame(spark, rows(ORDERS, sequences)),
            "query",
            batch,
            [planned(ORDERS, batch * 10, sequences)],
        )


@pytest.mark.parametrize("kind", FORMATS)
def test_a_compaction_that_is_killed_changes_nothing_and_goes_on_later(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    fill(spark, tmp_path, kind)
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "begin", kill)
        with pytest.raises(Killed):
            compact_archive(spark, tmp_path)
    found = verify_archive(spark, tmp_path)
    assert (found.complete, found.messages, found.files) == (True, 20, 2)
    done = compact_archive(spark, tmp_path)
    assert (done.files_before, done.files_after) == (2, 1)
    found = verify_archive(spark, tmp_path)
    assert (found.complete, found.messages, found.files, found.leftovers) == (True, 20, 1, ())
    assert read_archive(spark, tmp_path).count() == 20
    again = compact_archive(spark, tmp_path)
    assert again.files_before == again.files_after == 1


def test_a_compaction_killed_before_it_deletes_leaves_no_rows_twice(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(spark, tmp_path, "parquet")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", kill)
        with pytest.raises(Killed):
            compact_archive(spark, tmp_path)
    found = verify_archive(spark, tmp_path)
    assert (found.complete, found.files, len(found.leftovers)) == (True, 1, 2)
    archive = Archive.open(tmp_path)
    archive.recover()
    assert archive.leftovers() == []
    assert read_archive(spark, tmp_path).count() == 20


def test_nobody_compacts_while_somebody_writes(spark: "SparkSession", tmp_path: Path) -> None:
    with only_writer(tmp_path), pytest.raises(PipelineError, match="another process"):
        compact_archive(spark, tmp_path)


def test_only_small_files_of_one_queue_and_day_are_put_together() -> None:
    def file(name: str, size: int, queue: str = "q", date: str = "2026-03-01") -> DataFile:
        return DataFile(name, queue, date, 1, size, "")

    files = [
        file("a", 10),
        file("b", 60),
        file("c", 30),
        file("d", 40),
        file("e", 45),
        file("f", 10, queue="other"),
        file("g", 10, date="2026-03-02"),
    ]
    groups = [[each.path for each in group] for group in small_files(files, 100)]
    assert groups == [["a", "c", "d"]]
