"""An archive on disk: its table, its manifest, and the steps that add a batch.

The files of a step are written and moved to their place, the step is recorded as begun, the table
adds the files, and the step ends. After a run that was killed, the next run ends its step or
deletes its files.
"""

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import pyarrow as pa

from openmsmq.care.durable import LOCK, make_directory, sync_directory, write_durably
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.offset_log import lost_batches
from openmsmq.spark.pipelines.support.spark_paths import literal_path
from openmsmq.wire.lookup_id import digest_text

from .data_files import (
    FACTS_DDL,
    PARTITION_COLUMNS,
    STEP,
    Facts,
    FileWriter,
    Layout,
    facts_batch,
    plain,
    with_date,
)
from .manifest import BATCH, DataFile, Loss, Manifest, Range, Step, range_name
from .tables import DATA, PARQUET, ArchiveTable, archive_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VERSION: Final = 1
DESCRIPTION: Final = "_archive.json"
STAGING: Final = "_staging"
CHECKPOINT: Final = "_checkpoint"
_FILE_NAME: Final = re.compile(r"(\d{10})-\d{5}\.parquet")
NEEDED_COLUMNS: Final = ("queue", "seq", "arrived_time")


class Archive:
    """An archive that this process alone writes to; see `only_writer`.

    Attributes:
        path: its directory, which all Spark workers see under the same name.
        kind: the table format.
    """

    def __init__(self, path: Path, kind: str, identifier: str) -> None:
        self.path = path
        self.kind = kind
        self.identifier = identifier
        self.table: ArchiveTable = archive_table(kind, path)
        self.manifest = Manifest.load(path)

    @classmethod
    def open(cls, path: Path) -> "Archive":
        """An archive that is there.

        Raises:
            PipelineError: there is none, or it is damaged.
        """
        description = path / DESCRIPTION
        if not description.exists():
            raise PipelineError(
                f"{path} is no archive",
                cause=f"There is no {DESCRIPTION} in it.",
                remedy="Name the directory that `openmsmq pipeline archive` has written.",
            )
        document = json.loads(description.read_bytes())
        if document["v"] != VERSION:
            raise PipelineError(
                f"the archive {path} has version {document['v']}",
                cause="A newer openmsmq has made it.",
                remedy="Update openmsmq.",
            )
        return cls(path, document["table"], document["id"])

    @classmethod
    def open_or_create(cls, path: Path, kind: str | None = None) -> "Archive":
        """An archive that is there, or a new one in this format, by default Parquet.

        Raises:
            PipelineError: it has another format, or the directory is used for something else.
        """
        if not (path / DESCRIPTION).exists():
            kind = kind or PARQUET
            archive_table(kind, path)
            make_directory(path)
            check_place(path)
            document = {"v": VERSION, "id": str(uuid4()), "table": kind}
            write_durably(path / DESCRIPTION, json.dumps(document).encode() + b"\n")
        archive = cls.open(path)
        if kind is not None and kind != archive.kind:
            raise PipelineError(
                f"the archive {path} is in the format {archive.kind}, not {kind}",
                cause="The format of an archive does not change.",
                remedy=f"Leave the format out, or write a new archive for {kind}.",
            )
        return archive

    def recover(self) -> None:
        """End or undo what a run that was killed has left behind.

        Raises:
            PipelineError: the manifest lacks its end, so that its files would seem left behind.
        """
        lost = lost_batches(self.path / CHECKPOINT, self.manifest)
        if lost:
            raise PipelineError(
                f"the manifest of {self.path} lacks batch {lost[0]}, which is in the archive",
                cause="Files of the folder _manifest were deleted, or only copied in part.",
                remedy="Bring the folder _manifest back from a copy of the archive.",
            )
        pending = self.manifest.pending()
        if pending is not None and self.table.has(pending):
            self.manifest.finish(pending)
        self.manifest.forget_pending()
        shutil.rmtree(self.path / STAGING, ignore_errors=True)
        for path in self.leftovers():
            if self._is_own(path):
                (self.path / path).unlink()

    def _is_own(self, leftover: str) -> bool:
        """Whether the step that comes next had begun to write a file, or a compaction left it."""
        name = _FILE_NAME.fullmatch(Path(leftover).name)
        is_next = name is not None and int(name[1]) == len(self.manifest.steps)
        return is_next or leftover in self.manifest.removed()

    def leftovers(self) -> list[str]:
        """Data files that the manifest does not name, as relative paths."""
        known = {file.path for file in self.manifest.files()}
        if self.table.keeps_removed_files:
            known |= self.manifest.removed()
        data = self.path / DATA
        # Tables keep their log beside the files: Delta in _delta_log, Iceberg in metadata.
        paths = (
            path.relative_to(self.path)
            for path in data.rglob("*.parquet")
            if not any(part.startswith("_") for part in path.relative_to(data).parts)
        )
        return sorted(str(path) for path in paths if str(path) not in known)

    def append(
        self,
        frame: "DataFrame",
        query: str,
        batch: int,
        planned: Sequence[Range],
        *,
        losses: Sequence[Loss] = (),
        accept_loss: bool = False,
    ) -> Step | None:
        """Add a batch; None when it is there already.

        Args:
            frame: the rows of the batch.
            query: identifier of the streaming query.
            batch: number of the batch.
            planned: what the batch has of each queue, as the queue manager has told.
            losses: what is missing before this batch, and was accepted.
            accept_loss: take less than was planned, and write down that it is less.

        Raises:
            PipelineError: the rows are not those that were planned, or were archived before.
        """
        if self.manifest.has_batch(query, batch):
            return None
        self._check_new(planned)
        number = len(self.manifest.steps)
        staging = self.staging()
        write = partial(write_rows, staging=staging, layout=self.table.layout, step=number)
        rows = frame.mapInArrow(write, FACTS_DDL).collect()
        facts = [Facts.from_row(row.asDict()) for row in rows]
        ranges, lacking = check_planned(planned, facts, accept_loss=accept_loss)
        step = replace(
            self.new_step(BATCH),
            query=query,
            batch=batch,
            ranges=tuple(ranges),
            files=self.place(number, facts),
            losses=(*losses, *lacking),
        )
        return self.commit(step, arrow_schema(frame))

    def place(self, number: int, facts: Iterable[Facts]) -> tuple[DataFile, ...]:
        """Move files that tasks have written to their place."""
        files: list[DataFile] = []
        folders: set[Path] = set()
        for index, file_facts in enumerate(sorted(facts, key=lambda item: (item.date, item.queue))):
            folder = self.path / DATA / self.table.layout.folder(file_facts.queue, file_facts.date)
            make_directory(folder)
            target = folder / file_name(number, index)
            Path(file_facts.path).replace(target)
            folders.add(folder)
            path = str(target.relative_to(self.path))
            files.append(
                DataFile(
                    path,
                    file_facts.queue,
                    file_facts.date,
                    file_facts.rows,
                    file_facts.bytes,
                    file_facts.sha256,
                )
            )
        for folder in folders:
            sync_directory(folder)
        shutil.rmtree(self.path / STAGING, ignore_errors=True)
        return tuple(files)

    def commit(self, step: Step, schema: pa.Schema) -> Step:
        """Make a step count."""
        self.manifest.begin(step)
        if step.files:
            self.table.commit(step, schema)
        self.manifest.finish(step)
        return step

    def new_step(self, kind: str) -> Step:
        """The next step of the manifest, empty yet."""
        return Step(
            len(self.manifest.steps),
            kind,
            self.identifier,
            self.manifest.last_digest,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def staging(self) -> Path:
        """An empty directory for the files of a step."""
        staging = self.path / STAGING / uuid4().hex
        make_directory(staging)
        return staging.absolute()

    def _check_new(self, planned: Iterable[Range]) -> None:
        ends = self.manifest.ends()
        for range_ in planned:
            end = ends.get((range_.queue, range_.incarnation), 0)
            if range_.after < end:
                raise PipelineError(
                    f"{range_.queue} is archived up to sequence {end}, and the stream begins "
                    f"again after {range_.after}",
                    cause=f"The folder {CHECKPOINT} of the archive was deleted or replaced.",
                    remedy="Bring it back from a copy, or write a new archive.",
                )


def check_place(path: Path) -> None:
    """Make no archive of a folder that holds other things: recovery deletes files in it.

    Raises:
        PipelineError: it does.
    """
    names = sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []
    others = [name for name in names if name != LOCK and not name.startswith(".")]
    if others and DESCRIPTION not in names:
        raise PipelineError(
            f"{path} is no archive and holds other files, such as {others[0]}",
            cause=f"A new archive needs a folder of its own, and there is no {DESCRIPTION} here.",
            remedy="Name an empty folder or a new one; nothing was changed.",
        )


def file_name(step: int, index: int) -> str:
    """The name of a data file, which tells whose it is."""
    return f"{step:010d}-{index:05d}.parquet"


def write_rows(
    batches: Iterator[pa.RecordBatch], staging: Path, layout: Layout, step: int
) -> Iterator[pa.RecordBatch]:
    """The part of a task: write its rows into files, say what is in them."""
    writer = FileWriter(staging, layout)
    for batch in batches:
        writer.write(with_date(batch, step))
    yield facts_batch(writer.close())


def check_planned(
    planned: Iterable[Range], facts: Iterable[Facts], *, accept_loss: bool = False
) -> tuple[list[Range], list[Loss]]:
    """Compare what was written with what the queue manager had planned.

    Args:
        accept_loss: whether there may be less of it.

    Returns:
        The ranges with what they really have, and what they lack.

    Raises:
        PipelineError: it is something else.
    """
    counts: dict[str, int] = {}
    digests: dict[str, int] = {}
    for file in facts:
        queue = range_name(file.queue)
        counts[queue] = counts.get(queue, 0) + file.rows
        digests[queue] = digests.get(queue, 0) + int(file.digest, 16)
    ranges: list[Range] = []
    losses: list[Loss] = []
    for range_ in planned:
        count = counts.pop(range_name(range_.queue), 0)
        digest = digest_text(digests.get(range_name(range_.queue), 0))
        is_same = count == range_.count and (not count or digest == range_.digest)
        ranges.append(range_ if is_same else replace(range_, count=count, digest=digest))
        if not is_same:
            if not accept_loss or count >= range_.count:
                raise _not_planned(range_.queue, range_.count, count)
            text = (
                f"({range_.after}, {range_.upto}] had {range_.count} messages when it was planned"
            )
            text = f"{range_.queue}: {text}, and {count} came"
            losses.append(Loss(range_.queue, range_.incarnation, range_.after, text))
    for queue, count in counts.items():
        raise _not_planned(queue, 0, count)
    return ranges, losses


def _not_planned(queue: str, planned: int, came: int) -> PipelineError:
    return PipelineError(
        f"{queue}: {planned} messages were planned, and {came} came, or others",
        cause="Somebody received, purged or lost messages between plan and read.",
        remedy="Nothing of this batch was archived. See the log of the queue manager, or accept "
        "that messages are missing: --accept-loss.",
    )


def arrow_schema(frame: "DataFrame") -> pa.Schema:
    """The schema of the files that are made from a frame, with all columns.

    Raises:
        PipelineError: a column is missing that an archive needs.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(frame.schema, timezone="UTC")
    missing = [name for name in NEEDED_COLUMNS if name not in schema.names]
    if missing:
        raise PipelineError(
            f"the columns {', '.join(missing)} are missing",
            cause="An archive needs at least the headers of the messages.",
            remedy="Add headers to the parts that are included.",
        )
    extended = schema.append(pa.field("date", pa.date32())).append(pa.field(STEP, pa.int64()))
    return plain(extended)


def read_archive(spark: "SparkSession", path: str | Path) -> "DataFrame":
    """The messages of an archive, whatever its format, as a DataFrame.

    Reads the files that the manifest names and no others.

    Raises:
        PipelineError: there is no archive, or it is empty.
    """
    archive = Archive.open(Path(path))
    files = [literal_path(archive.path / file.path) for file in archive.manifest.files()]
    if not files:
        raise PipelineError(
            f"the archive {path} is empty",
            cause="There were no messages when it was made.",
            remedy="Run `openmsmq pipeline archive` again when there are.",
        )
    reader = spark.read
    if archive.table.layout.hive:
        # Without it, a queue named 0042 would become a number.
        first = spark.read.parquet(files[0]).schema
        for name, kind in zip(PARTITION_COLUMNS, ("date", "string"), strict=True):
            first = first.add(name, kind)
        reader = reader.schema(first).option("basePath", str((archive.path / DATA).absolute()))
    return reader.parquet(*files)
