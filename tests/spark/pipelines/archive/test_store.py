"""How a batch gets into an archive, and what is left when a run is killed on the way."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.pipelines.messages import BILLS, ORDERS, frame, planned, rows

from openmsmq.spark.pipelines.archive.data_files import Facts, Layout
from openmsmq.spark.pipelines.archive.manifest import Loss, Manifest, Range, Step
from openmsmq.spark.pipelines.archive.store import Archive, check_planned, read_archive
from openmsmq.spark.pipelines.archive.tables import FORMATS
from openmsmq.spark.pipelines.archive.verify import verify_archive
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BRACES = r"DIRECT=OS:node\private$\br{x}"


class Killed(BaseException):
    """Stands for the end of the process."""


def kill(*_: object) -> None:
    raise Killed


def add(spark: "SparkSession", archive: Archive, batch: int) -> Step | None:
    """Add a batch of ten orders."""
    first = batch * 10 + 1
    sequences = range(first, first + 10)
    return archive.append(
        frame(spark, rows(ORDERS, sequences)),
        "query",
        batch,
        [planned(ORDERS, first - 1, sequences)],
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_rows_come_back_as_they_were(spark: "SparkSession", tmp_path: Path, kind: str) -> None:
    # Names of the folder and of a queue that Spark would take for patterns.
    archive = Archive.open_or_create(tmp_path / "arch[1] 5%", kind)
    # The day changes in the middle: noon and half a day of seconds.
    sequences = range(12 * 3600 - 5, 12 * 3600 + 5)
    given = rows(ORDERS, sequences), rows(BRACES, range(1, 4), kind="journal")
    archive.append(
        frame(spark, *given),
        "query",
        0,
        [planned(ORDERS, 0, sequences), planned(BRACES, 0, range(1, 4))],
    )
    assert {(file.date, file.queue, file.rows) for file in archive.manifest.files()} == {
        ("2026-03-01", ORDERS, 5),
        ("2026-03-02", ORDERS, 5),
        ("2026-03-01", BRACES, 3),
    }
    back = read_archive(spark, archive.path)
    names = given[0].schema.names
    expected = [tuple(row[name] for name in names) for each in given for row in each.to_pylist()]
    found = back.select(*names).toArrow().cast(given[0].schema).to_pylist()
    key = names.index("seq")
    assert sorted((tuple(row[name] for name in names) for row in found), key=lambda r: r[key]) == (
        sorted(expected, key=lambda row: row[key])
    )
    assert verify_archive(spark, archive.path).complete


def test_a_batch_that_comes_again_is_added_once(spark: "SparkSession", tmp_path: Path) -> None:
    archive = Archive.open_or_create(tmp_path)
    assert add(spark, archive, 0) is not None
    assert add(spark, archive, 0) is None
    assert add(spark, Archive.open(tmp_path), 0) is None
    assert read_archive(spark, tmp_path).count() == 10


@pytest.mark.parametrize("kind", FORMATS)
def test_a_run_killed_after_the_files_and_before_the_table_is_undone(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    archive = Archive.open_or_create(tmp_path, kind)
    add(spark, archive, 0)
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "begin", kill)
        with pytest.raises(Killed):
            add(spark, archive, 1)
    found = verify_archive(spark, tmp_path)
    assert found.complete
    assert (found.messages, len(found.leftovers)) == (10, 1)
    again = Archive.open(tmp_path)
    again.recover()
    add(spark, again, 1)
    found = verify_archive(spark, tmp_path)
    assert (found.complete, found.messages, found.leftovers) == (True, 20, ())


@pytest.mark.parametrize("kind", FORMATS)
def test_a_run_killed_between_table_and_manifest_adds_nothing_twice(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    archive = Archive.open_or_create(tmp_path, kind)
    add(spark, archive, 0)
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "finish", kill)
        with pytest.raises(Killed):
            add(spark, archive, 1)
    again = Archive.open(tmp_path)
    again.recover()
    add(spark, again, 1)
    found = verify_archive(spark, tmp_path)
    assert (found.complete, found.messages, found.leftovers) == (True, 20, ())
    assert table_rows(tmp_path, kind) in (None, 20)


def table_rows(path: Path, kind: str) -> int | None:
    """How many rows others see who read the table without the manifest."""
    if kind == "delta":
        from deltalake import DeltaTable

        return int(DeltaTable(path / "data").to_pyarrow_table().num_rows)
    if kind == "iceberg":
        from pyiceberg.catalog.sql import SqlCatalog

        with SqlCatalog("openmsmq", uri=f"sqlite:///{path}/catalog.db") as catalog:
            return int(catalog.load_table("openmsmq.messages").scan().to_arrow().num_rows)
    return None


@pytest.mark.parametrize(
    "wrong",
    [
        planned(ORDERS, 0, range(1, 12)),
        planned(ORDERS, 0, range(2, 12)),
        planned(BILLS, 0, range(1, 11)),
    ],
    ids=["one more", "another one", "another queue"],
)
def test_rows_that_were_not_planned_are_refused(
    spark: "SparkSession", tmp_path: Path, wrong: Range
) -> None:
    archive = Archive.open_or_create(tmp_path)
    with pytest.raises(PipelineError, match="were planned"):
        archive.append(frame(spark, rows(ORDERS, range(1, 11))), "query", 0, [wrong])
    assert archive.manifest.files() == []


def facts(*counts: tuple[str, range]) -> list[Facts]:
    """What tasks would tell about files with these sequences."""
    return [
        Facts("", queue, "2026-03-01", len(each), 1, "", planned(queue, 0, each).digest)
        for queue, each in counts
    ]


def test_less_than_planned_is_taken_only_when_the_loss_is_accepted() -> None:
    wanted = [planned(ORDERS, 0, range(1, 11)), planned(BILLS, 3, range(4, 6))]
    came = facts((ORDERS, range(3, 11)))
    with pytest.raises(PipelineError, match="10 messages were planned, and 8 came") as caught:
        check_planned(wanted, came)
    assert "--accept-loss" in caught.value.remedy
    ranges, losses = check_planned(wanted, came, accept_loss=True)
    assert [(each.queue, each.after, each.upto, each.count) for each in ranges] == [
        (ORDERS, 0, 10, 8),
        (BILLS, 3, 5, 0),
    ]
    assert ranges[0].digest == came[0].digest
    assert [each.text for each in losses] == [
        f"{ORDERS}: (0, 10] had 10 messages when it was planned, and 8 came",
        f"{BILLS}: (3, 5] had 2 messages when it was planned, and 0 came",
    ]


@pytest.mark.parametrize(
    "came", [facts((ORDERS, range(2, 12))), facts((ORDERS, range(1, 12))), facts((BILLS, range(1)))]
)
def test_other_messages_than_planned_are_no_loss_that_can_be_accepted(came: list[Facts]) -> None:
    wanted = [planned(ORDERS, 0, range(1, 11))] if came[0].queue == ORDERS else []
    with pytest.raises(PipelineError, match="were planned"):
        check_planned(wanted, came, accept_loss=True)


def test_a_stream_that_begins_again_is_refused(spark: "SparkSession", tmp_path: Path) -> None:
    archive = Archive.open_or_create(tmp_path)
    add(spark, archive, 0)
    sequences = range(1, 11)
    with pytest.raises(PipelineError, match="archived up to sequence 10"):
        archive.append(
            frame(spark, rows(ORDERS, sequences)), "other", 0, [planned(ORDERS, 0, sequences)]
        )


def test_another_incarnation_of_a_queue_is_taken(spark: "SparkSession", tmp_path: Path) -> None:
    archive = Archive.open_or_create(tmp_path)
    add(spark, archive, 0)
    sequences = range(1, 4)
    again = replace(planned(ORDERS, 0, sequences), incarnation="b-1")
    archive.append(frame(spark, rows(ORDERS, sequences)), "query", 1, [again])
    found = verify_archive(spark, tmp_path)
    assert found.mismatches == ()
    assert len(found.gaps) == 1
    assert "created again" in found.gaps[0]


def test_a_verification_names_losses_that_were_accepted(
    spark: "SparkSession", tmp_path: Path
) -> None:
    archive = Archive.open_or_create(tmp_path)
    sequences = range(1, 11)
    archive.append(
        frame(spark, rows(ORDERS, range(1, 8))),
        "query",
        0,
        [planned(ORDERS, 0, sequences)],
        losses=[Loss(BILLS, "b", 3, "the queue was deleted")],
        accept_loss=True,
    )
    found = verify_archive(spark, tmp_path)
    assert (found.complete, found.messages, len(found.accepted)) == (True, 7, 2)
    summary = found.summary()
    assert "is complete but for 2 losses that were accepted" in summary.headline
    (facts, *listed) = summary.objects()
    assert facts["accepted_losses"] == 2
    assert [row["kind"] for row in listed if "kind" in row] == ["accepted loss"] * 2


def test_folders_of_queues_are_no_patterns() -> None:
    folder = Layout(hive=True).folder(r"DIRECT=OS:a\b[1]{x}*?", "2026-03-01")
    assert folder == "date=2026-03-01/queue=DIRECT%3DOS%3Aa%5Cb%5B1%5D%7Bx%7D%2A%3F"


@pytest.mark.parametrize("name", ["data/a.parquet", "report.html", "data/0000000000-00000.parquet"])
def test_a_folder_with_other_files_does_not_become_an_archive(tmp_path: Path, name: str) -> None:
    foreign = tmp_path / name
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_bytes(b"mine")
    with only_writer(tmp_path), pytest.raises(PipelineError, match="holds other files, such as"):
        Archive.open_or_create(tmp_path)
    assert foreign.read_bytes() == b"mine"
    assert not (tmp_path / "_archive.json").exists()


def test_a_lock_and_hidden_files_do_not_keep_an_archive_away(tmp_path: Path) -> None:
    (tmp_path / "._archive.json.new").touch()
    with only_writer(tmp_path):
        assert Archive.open_or_create(tmp_path).manifest.steps == []


@pytest.mark.parametrize("kind", FORMATS)
def test_recovery_deletes_only_what_the_next_step_has_begun(tmp_path: Path, kind: str) -> None:
    archive = Archive.open_or_create(tmp_path, kind)
    names = ("0000000000-00000", "0000000001-00000", "part-00000", "0000000000-00000.c000")
    for name in names:
        path = tmp_path / "data" / "day" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"rows")
    archive.recover()
    left = {Path(path).name.removesuffix(".parquet") for path in archive.leftovers()}
    assert left == set(names[1:])


def test_a_manifest_that_lacks_its_end_is_not_recovered(tmp_path: Path) -> None:
    archive = Archive.open_or_create(tmp_path)
    data = tmp_path / "data" / "0000000000-00000.parquet"
    data.parent.mkdir()
    data.write_bytes(b"rows")
    (tmp_path / "_checkpoint" / "commits").mkdir(parents=True)
    (tmp_path / "_checkpoint" / "metadata").write_text('{"id": "query"}')
    (tmp_path / "_checkpoint" / "commits" / "0").touch()
    with pytest.raises(PipelineError, match="lacks batch 0"):
        archive.recover()
    assert data.exists()


def test_an_archive_keeps_its_format(tmp_path: Path) -> None:
    Archive.open_or_create(tmp_path, "delta")
    assert Archive.open_or_create(tmp_path).kind == "delta"
    with pytest.raises(PipelineError, match="format delta, not iceberg"):
        Archive.open_or_create(tmp_path, "iceberg")


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="no table format 'orc'"):
        Archive.open_or_create(tmp_path / "new", "orc")
    assert not (tmp_path / "new").exists()


def test_a_path_that_iceberg_cannot_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="in the format iceberg"):
        Archive.open_or_create(tmp_path / "why?", "iceberg")
    assert Archive.open_or_create(tmp_path / "why?", "delta").kind == "delta"


def test_a_directory_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="is no archive"):
        Archive.open(tmp_path)


def test_an_empty_archive_has_no_rows_to_read(spark: "SparkSession", tmp_path: Path) -> None:
    Archive.open_or_create(tmp_path)
    with pytest.raises(PipelineError, match="is empty"):
        read_archive(spark, tmp_path)


def test_there_is_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        only_writer(tmp_path),
        pytest.raises(PipelineError, match="another process"),
        only_writer(tmp_path),
    ):
        pass
    with only_writer(tmp_path):
        pass
