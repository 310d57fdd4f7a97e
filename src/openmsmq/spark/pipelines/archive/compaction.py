"""Compaction: merges small files into few large ones; can be interrupted without loss."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from openmsmq.spark.pipelines.reporting.progress import progress
from openmsmq.spark.pipelines.support.durable import only_writer

from .data_files import FACTS_DDL, Facts, FileWriter, Layout, facts_batch
from .manifest import COMPACTION, DataFile
from .store import Archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TARGET_BYTES: Final = 128 << 20
READ_ROWS: Final = 2000


@dataclass(frozen=True, slots=True)
class Compaction:
    """What `compact_archive` has done."""

    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int


def compact_archive(
    spark: "SparkSession", path: str | Path, *, target_bytes: int = TARGET_BYTES
) -> Compaction:
    """Put small files of the same queue and day together.

    Parquet files that were replaced are deleted; Delta and Iceberg keep them for older versions
    of the table, until `vacuum` or the expiry of snapshots deletes them.

    Args:
        spark: does the work.
        path: the archive.
        target_bytes: how large a file should become; one that is half as large stays as it is.

    Raises:
        PipelineError: there is no archive, or somebody writes to it.
    """
    directory = Path(path)
    with only_writer(directory), progress(spark, "compact", 1) as step:
        archive = Archive.open(directory)
        archive.recover()
        before = archive.manifest.files()
        groups = small_files(before, target_bytes)
        if groups:
            step(f"{sum(map(len, groups))} files")
            _merge(spark, archive, groups)
        after = archive.manifest.files()
    return Compaction(
        len(before),
        len(after),
        sum(file.bytes for file in before),
        sum(file.bytes for file in after),
    )


def small_files(files: list[DataFile], target_bytes: int) -> list[list[DataFile]]:
    """Groups of files to put together: of one queue and day, up to the target size."""
    by_place: dict[tuple[str, str], list[DataFile]] = defaultdict(list)
    for file in files:
        if file.bytes < target_bytes // 2:
            by_place[file.queue, file.date].append(file)
    groups: list[list[DataFile]] = []
    for files_here in by_place.values():
        group: list[DataFile] = []
        for file in files_here:
            if group and sum(other.bytes for other in group) + file.bytes > target_bytes:
                groups.append(group)
                group = []
            group.append(file)
        groups.append(group)
    return [group for group in groups if len(group) > 1]


def _merge(spark: "SparkSession", archive: Archive, groups: list[list[DataFile]]) -> None:
    root = archive.path.absolute()
    layout = archive.table.layout
    staging = archive.staging()
    rows = [
        ([str(root / file.path) for file in group], group[0].queue, group[0].date)
        for group in groups
    ]
    frame = spark.createDataFrame(rows, "paths array<string>, queue string, date string")

    def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                paths = [Path(path) for path in row["paths"]]
                yield facts_batch(merge_files(paths, row["queue"], row["date"], staging, layout))

    merged = frame.repartition(len(rows)).mapInArrow(merge, FACTS_DDL).collect()
    facts = [Facts.from_row(row.asDict()) for row in merged]
    old = tuple(file for group in groups for file in group)
    step = archive.new_step(COMPACTION)
    schema = pq.read_schema(root / old[0].path)
    files = archive.place(step.number, facts)
    archive.commit(replace(step, files=files, removed=old), schema)
    if not archive.table.keeps_removed_files:
        for file in old:
            (root / file.path).unlink()


def merge_files(
    paths: list[Path], queue: str, date: str, staging: Path, layout: Layout
) -> Iterator[Facts]:
    """Write the rows of some files of one queue and day into one."""
    writer = FileWriter(staging, layout)
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(READ_ROWS):
                writer.write_part(queue, date, batch)
    yield from writer.close()
