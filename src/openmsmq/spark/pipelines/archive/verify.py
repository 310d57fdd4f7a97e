"""Checks an archive against its manifest: files, counts, digests and ranges."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from openmsmq.care.durable import file_sha256
from openmsmq.spark.pipelines.reporting.progress import progress
from openmsmq.spark.pipelines.reporting.summary import Column, Kind, Summary, Table, Value
from openmsmq.spark.pipelines.sources import source_text
from openmsmq.spark.pipelines.support.offset_log import committed_batches, lost_batches
from openmsmq.spark.pipelines.support.parallelism import parallelism
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.lookup_id import digest_text

from .data_files import SEQUENCE, STEP, file_table, step_facts
from .manifest import DataFile, Manifest, Range, gaps, range_name
from .store import CHECKPOINT, Archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES_PER_TASK: Final = 4
_FOUND: Final = pa.schema(
    [
        ("path", pa.string()),
        ("problem", pa.string()),
        ("step", pa.int64()),
        ("rows", pa.int64()),
        ("digest", pa.string()),
        ("first", pa.int64()),
        ("last", pa.int64()),
    ]
)
_FOUND_DDL: Final = (
    "path string, problem string, step bigint, rows bigint, digest string, first bigint, "
    "last bigint"
)


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify_archive` has found.

    Attributes:
        missing: files that the manifest names and that are not there.
        altered: files that are not as they were written, with what is wrong.
        mismatches: ranges whose messages are not in the files as planned.
        gaps: what no range covers, or two do.
        accepted: what is missing for a reason that was known and accepted.
        leftovers: files that the manifest does not name; no reader of the manifest sees them.
        queues: what the archive has of each queue.
    """

    path: Path
    files: int
    messages: int
    missing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    mismatches: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    queues: tuple["Coverage", ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all planned messages are there, as they were, once, but for accepted losses."""
        return not (self.missing or self.altered or self.mismatches or self.gaps)

    def summary(self) -> Summary:
        """The outcome for people."""
        problems = (
            *((text, "missing file") for text in self.missing),
            *((text, "altered file") for text in self.altered),
            *((text, "messages") for text in self.mismatches),
            *((text, "gap") for text in self.gaps),
        )
        state = (
            completeness(self) if self.complete else f"has {count_text(len(problems), 'problem')}"
        )
        return Summary(
            "archive",
            f"The archive {state}: {count_text(self.messages, 'message')} in "
            f"{count_text(self.files, 'file')}",
            facts=(
                (Column("complete", "Complete"), self.complete),
                (Column("accepted_losses", "Accepted losses", Kind.COUNT), len(self.accepted)),
                (Column("messages", "Messages", Kind.COUNT), self.messages),
                (Column("files", "Files", Kind.COUNT), self.files),
                (
                    Column("leftovers", "Files outside the manifest", Kind.COUNT),
                    len(self.leftovers),
                ),
            ),
            tables=(
                Table(
                    "problems",
                    "Problems",
                    (Column("problem", "Problem"), Column("kind", "Kind")),
                    (*problems, *((text, "accepted loss") for text in self.accepted)),
                ),
                coverage_table(self.queues),
            ),
            outputs=(("Archive", str(self.path)),),
        )


def completeness(verification: Verification) -> str:
    """How complete an archive without problems is."""
    count = len(verification.accepted)
    losses = "a loss that was" if count == 1 else f"{count:,} losses that were"
    return f"is complete but for {losses} accepted" if count else "is complete"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an archive has of one queue: `after` < arrival sequence <= `upto`, without gaps."""

    queue: str
    incarnation: str
    after: int
    upto: int
    messages: int
    ranges: int


def coverage_table(queues: Iterable[Coverage]) -> Table:
    """What there is of each queue, as a table."""
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (
            source_text(entry.queue),
            entry.incarnation,
            entry.after,
            entry.upto,
            entry.ranges,
            entry.messages,
        )
        for entry in queues
    )
    return Table(
        "coverage",
        "Ranges of arrival sequences",
        (
            Column("queue", "Queue"),
            Column("incarnation", "Incarnation"),
            Column("after", "After sequence", Kind.NUMBER),
            Column("upto", "Up to sequence", Kind.NUMBER),
            Column("ranges", "Ranges", Kind.COUNT),
            Column("messages", "Messages", Kind.COUNT),
        ),
        rows,
        adds_up=True,
        note="Sequences count what arrives in all queues of a machine: numbers in between that are "
        "not of this queue are of others, and nothing is missing.",
    )


def coverage(manifest: Manifest) -> tuple[Coverage, ...]:
    """What the archive has of each queue and incarnation."""
    by_queue: dict[tuple[str, str], list[Range]] = defaultdict(list)
    for _, range_ in manifest.ranges():
        by_queue[range_.queue, range_.incarnation].append(range_)
    return tuple(
        Coverage(
            queue,
            incarnation,
            min(range_.after for range_ in ranges),
            max(range_.upto for range_ in ranges),
            sum(range_.count for range_ in ranges),
            len(ranges),
        )
        for (queue, incarnation), ranges in by_queue.items()
    )


def verify_archive(
    spark: "SparkSession", path: str | Path, *, checksums: bool = True
) -> Verification:
    """Compare the files of an archive with its manifest, and the ranges with each other.

    Args:
        spark: reads the files.
        path: the archive.
        checksums: whether files are read in full; else counts and sequences only.

    Raises:
        PipelineError: there is no archive, or its manifest is damaged.
    """
    # In this order: a batch that is added meanwhile is in the manifest before it is committed.
    committed = committed_batches(Path(path) / CHECKPOINT)
    archive = Archive.open(Path(path))
    manifest = archive.manifest
    files = manifest.files()
    with progress(spark, "verify", 2) as step:
        step("files")
        facts = _inspect(spark, archive, files, checksums=checksums)
        step("ranges")
        problems = {row["path"]: row["problem"] for row in facts if row["problem"]}
        missing = tuple(path for path in problems if not (archive.path / path).exists())
        ranges = [range_ for _, range_ in manifest.ranges()]
        losses = manifest.losses()
        lost = lost_batches(archive.path / CHECKPOINT, manifest, committed)
        return Verification(
            archive.path,
            len(files),
            sum(row["rows"] or 0 for row in facts),
            missing=missing,
            altered=tuple(f"{p}: {why}" for p, why in problems.items() if p not in missing),
            mismatches=tuple(_mismatches(manifest, files, facts)),
            gaps=(
                *gaps(ranges, losses),
                *(f"batch {batch} was committed and is not in the manifest" for batch in lost),
            ),
            accepted=tuple(loss.text for loss in losses),
            leftovers=tuple(archive.leftovers()),
            queues=coverage(manifest),
        )


def _inspect(
    spark: "SparkSession", archive: Archive, files: list[DataFile], *, checksums: bool
) -> list[dict[str, Any]]:
    if not files:
        return []
    root = archive.path.absolute()
    rows = [(file.path, file.rows, file.bytes, file.sha256) for file in files]
    tasks = max(1, min(len(rows) // FILES_PER_TASK, parallelism(spark) * 4))
    frame = spark.createDataFrame(rows, "path string, rows bigint, bytes bigint, sha256 string")

    def inspect(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                facts = [*inspect_file(root, row, checksums=checksums)]
                yield pa.RecordBatch.from_pylist(facts, schema=_FOUND)

    collected = frame.repartition(tasks).mapInArrow(inspect, _FOUND_DDL).collect()
    return [row.asDict() for row in collected]


def inspect_file(root: Path, file: dict[str, Any], *, checksums: bool) -> Iterator[dict[str, Any]]:
    """What a file holds of each step, or what is wrong with it."""
    path = root / file["path"]
    empty = dict.fromkeys(_FOUND.names) | {"path": file["path"]}
    try:
        size = path.stat().st_size
        if size != file["bytes"]:
            yield empty | {"problem": f"it has {size} bytes instead of {file['bytes']}"}
        elif checksums and file_sha256(path) != file["sha256"]:
            yield empty | {"problem": "its content was changed"}
        table = file_table(path, [STEP, SEQUENCE])
    except (OSError, pa.ArrowException, KeyError) as exc:
        yield empty | {"problem": f"it cannot be read: {exc}"}
        return
    for step, rows, digest, first, last in step_facts(table):
        yield empty | {
            "step": step,
            "rows": rows,
            "digest": digest_text(digest),
            "first": first,
            "last": last,
        }


@dataclass(slots=True)
class _Sum:
    rows: int = 0
    digest: int = 0
    bounds: list[int] = field(default_factory=list)


def _mismatches(
    manifest: Manifest, files: list[DataFile], rows: list[dict[str, Any]]
) -> Iterator[str]:
    """Ranges whose messages are not what was planned, and messages of no range."""
    queues = {file.path: range_name(file.queue) for file in files}
    sums: dict[tuple[int, str], _Sum] = defaultdict(_Sum)
    for row in rows:
        if row["step"] is not None:
            total = sums[row["step"], queues[row["path"]]]
            total.rows += row["rows"]
            total.digest += int(row["digest"], 16)
            total.bounds += [row["first"], row["last"]]
    for number, range_ in manifest.ranges():
        total = sums.pop((number, range_name(range_.queue)), _Sum())
        where = f"{range_.queue}: ({range_.after}, {range_.upto}]"
        if total.rows != range_.count:
            yield f"{where} has {total.rows} messages instead of {range_.count}"
        elif total.rows and digest_text(total.digest) != range_.digest:
            yield f"{where} has other messages than planned, or some twice"
        elif (
            total.bounds
            and not range_.after < min(total.bounds) <= max(total.bounds) <= range_.upto
        ):
            yield f"{where} has messages from outside"
    for (number, queue), total in sums.items():
        yield f"{queue}: {total.rows} messages of step {number} belong to no range"
