"""What is wrong with an archive is found."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.pipelines.messages import ORDERS, frame, planned, rows

from openmsmq.spark.pipelines.archive.manifest import Manifest
from openmsmq.spark.pipelines.archive.store import Archive
from openmsmq.spark.pipelines.archive.verify import Verification, coverage_table, verify_archive
from openmsmq.spark.pipelines.support.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def sound(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of three batches in three files."""
    path = tmp_path_factory.mktemp("sound") / "archive"
    archive = Archive.open_or_create(path)
    for batch in range(3):
        sequences = range(batch * 10 + 1, batch * 10 + 11)
        one = frame(spark, rows(ORDERS, sequences))
        archive.append(one, "query", batch, [planned(ORDERS, batch * 10, sequences)])
    return path


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(copytree(sound, tmp_path / "copy"))


def data_files(path: Path) -> list[Path]:
    return sorted((path / "data").rglob("*.parquet"))


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    with pq.ParquetFile(path) as file:
        table = file.read()
    pq.write_table(change(table), path)


def test_a_sound_archive_is_complete(spark: "SparkSession", sound: Path) -> None:
    found = verify_archive(spark, sound)
    assert found.complete
    assert (found.files, found.messages) == (3, 30)
    (covered,) = found.queues
    assert (covered.after, covered.upto, covered.messages, covered.ranges) == (0, 30, 30, 3)
    table = coverage_table([replace(covered, queue=r"DIRECT=OS:.\system$;JOURNAL")])
    assert [column.title for column in table.columns][2:4] == ["After sequence", "Up to sequence"]
    assert table.rows[0][0] == ";journal"
    assert "are of others, and nothing is missing" in table.note
    assert found.summary().headline.startswith("The archive is complete")


def test_a_file_that_is_gone_is_missing(spark: "SparkSession", copy: Path) -> None:
    gone = data_files(copy)[1]
    gone.unlink()
    found = verify_archive(spark, copy)
    assert found.missing == (str(gone.relative_to(copy)),)
    assert found.mismatches == (f"{ORDERS}: (10, 20] has 0 messages instead of 10",)
    assert not found.complete


def test_a_body_that_was_changed_is_found(spark: "SparkSession", copy: Path) -> None:
    path = data_files(copy)[0]
    data = path.read_bytes()
    with pq.ParquetFile(path) as file:
        place = file.metadata.row_group(0).column(0).data_page_offset + 20
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    found = verify_archive(spark, copy)
    assert [each.partition(":")[0] for each in found.altered] == [str(path.relative_to(copy))]
    assert not found.complete


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: table.slice(1), "has 9 messages instead of 10"),
        (
            lambda table: pa.concat_tables([table.slice(1), table.slice(1, 1)]),
            "has other messages than planned, or some twice",
        ),
        (lambda table: pa.concat_tables([table, table]), "has 20 messages instead of 10"),
    ],
    ids=["one gone", "one replaced by another", "all twice"],
)
def test_messages_that_are_gone_or_twice_are_found(
    spark: "SparkSession", copy: Path, change: Callable[[pa.Table], pa.Table], problem: str
) -> None:
    rewrite(data_files(copy)[2], change)
    found = verify_archive(spark, copy, checksums=False)
    assert found.mismatches == (f"{ORDERS}: (20, 30] {problem}",)
    assert not found.complete


def test_a_file_that_is_none_is_found(spark: "SparkSession", copy: Path) -> None:
    path = data_files(copy)[0]
    path.write_bytes(bytes(path.stat().st_size))
    found: Verification = verify_archive(spark, copy, checksums=False)
    assert len(found.altered) == 1
    assert "cannot be read" in found.altered[0]


def test_a_file_that_the_manifest_does_not_name_is_left_over(
    spark: "SparkSession", copy: Path
) -> None:
    first = data_files(copy)[0]
    (first.parent / "more.parquet").write_bytes(first.read_bytes())
    found = verify_archive(spark, copy)
    assert found.complete
    assert found.leftovers == (str(first.parent.relative_to(copy) / "more.parquet"),)


def commit(path: Path, *batches: int) -> None:
    """What Spark writes into the checkpoint."""
    checkpoint = path / "_checkpoint"
    (checkpoint / "commits").mkdir(parents=True, exist_ok=True)
    (checkpoint / "metadata").write_text('{"id": "query"}')
    for batch in batches:
        (checkpoint / "commits" / str(batch)).write_text("v1")


def test_a_manifest_that_lacks_its_end_is_found(
    spark: "SparkSession", copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(copy, 0, 1)
    document = copy / "_manifest" / "0000000002.json"
    last = document.read_bytes()
    document.unlink()
    load = Manifest.load

    def load_before_a_batch(path: Path) -> Manifest:
        manifest = load(path)
        document.write_bytes(last)
        commit(copy, 2)
        return manifest

    # A batch that is added meanwhile is no gap.
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "load", load_before_a_batch)
        found = verify_archive(spark, copy)
    assert (found.complete, found.messages) == (True, 20)
    document.unlink()
    found = verify_archive(spark, copy)
    assert found.gaps == ("batch 2 was committed and is not in the manifest",)


def test_a_damaged_manifest_is_an_error(spark: "SparkSession", copy: Path) -> None:
    (copy / "_manifest" / "0000000001.json").write_text("{}")
    with pytest.raises(PipelineError, match="is damaged"):
        verify_archive(spark, copy)
