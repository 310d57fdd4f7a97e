"""Data files of an archive: written by Spark's tasks, with the facts that the manifest needs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from openmsmq.care.durable import file_sha256, sync_file
from openmsmq.spark.columns import COLUMNS
from openmsmq.spark.readers.offsets import digest_of
from openmsmq.wire.lookup_id import digest_text

DATE: Final = "date"
QUEUE: Final = "queue"
STEP: Final = "archive_step"
SEQUENCE: Final = "seq"
PARTITION_COLUMNS: Final = (DATE, QUEUE)
DAY_MICROSECONDS: Final = 86_400_000_000
ROW_GROUP_BYTES: Final = 32 << 20
# What a task keeps in memory for all its files together before it writes some of it.
BUFFERED_BYTES: Final = 128 << 20
COMPRESSION: Final = "zstd"
# Spark and pyarrow undo this when they read the names of partitions. Brackets and braces are not
# among them: Spark would take the path for a pattern.
_UNCHANGED: Final = " ,;!@+-_.~()$&'"

FACTS: Final = pa.schema(
    [
        ("path", pa.string()),
        ("queue", pa.string()),
        ("date", pa.string()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("sha256", pa.string()),
        ("digest", pa.string()),
    ]
)
FACTS_DDL: Final = (
    "path string, queue string, date string, rows bigint, bytes bigint, sha256 string, "
    "digest string"
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a task says about a file that it has written."""

    path: str
    queue: str
    date: str
    rows: int
    bytes: int
    sha256: str
    digest: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Read the row of `FACTS` that a task has made."""
        return cls(**{name: row[name] for name in FACTS.names})


@dataclass(frozen=True, slots=True)
class Layout:
    """How files are laid out.

    Attributes:
        hive: folders `date=…/queue=…`, and files without these two columns, as plain Parquet
            readers like it; else the files have all columns, as tables with a log need it.
        small_integers: whether integers of 8 bits stay as they are.
    """

    hive: bool
    small_integers: bool = True

    def folder(self, queue: str, date: str) -> str:
        """The folder of a queue and a day, relative to that of the data."""
        if self.hive:
            return f"{DATE}={date}/{QUEUE}={partition_text(queue)}"
        return f"{date}"

    def arrange(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The columns that stand in a file."""
        if self.hive:
            return batch.drop_columns(list(PARTITION_COLUMNS))
        if self.small_integers:
            return batch
        return batch.cast(widened(batch.schema))


def widened(schema: pa.Schema) -> pa.Schema:
    """The schema with 32 bits for integers of 8, which not all tables have."""
    return pa.schema(
        (column.name, pa.int32() if column.type == pa.int8() else column.type) for column in schema
    )


def partition_text(value: str) -> str:
    """The value of a partition as part of a path."""
    return "".join(
        character if character.isalnum() or character in _UNCHANGED else quote(character, safe="")
        for character in value
    )


@dataclass(slots=True)
class _Open:
    """A file that is being written, and rows that wait to be written."""

    path: Path
    writer: pq.ParquetWriter | None = None
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    waiting_bytes: int = 0
    rows: int = 0
    digest: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        sequences = batch.column(SEQUENCE).to_numpy(zero_copy_only=False)
        self.digest += digest_of(sequences.astype(np.uint64))
        self.waiting.append(batch)
        self.waiting_bytes += batch.nbytes
        self.rows += batch.num_rows

    def flush(self) -> None:
        if not self.waiting:
            return
        if self.writer is None:
            self.writer = pq.ParquetWriter(
                self.path, self.waiting[0].schema, compression=COMPRESSION
            )
        self.writer.write_table(pa.Table.from_batches(self.waiting))
        self.waiting, self.waiting_bytes = [], 0

    def facts(self, queue: str, date: str) -> Facts:
        """Close the file; return when it is on disk."""
        self.flush()
        if self.writer is not None:
            self.writer.close()
        sync_file(self.path)
        size = self.path.stat().st_size
        text = digest_text(self.digest)
        return Facts(str(self.path), queue, date, self.rows, size, file_sha256(self.path), text)


class FileWriter:
    """Writes rows into one file for each queue and day."""

    def __init__(self, staging: Path, layout: Layout) -> None:
        self._staging = staging
        self._layout = layout
        self._open: dict[tuple[str, str], _Open] = {}

    def write(self, batch: pa.RecordBatch) -> None:
        """Take rows that have the columns `queue` and `date`."""
        for (queue, date), part in parts(batch):
            self.write_part(queue, date, self._layout.arrange(part))

    def write_part(self, queue: str, date: str, part: pa.RecordBatch) -> None:
        """Take rows of one queue and day, with the columns that stand in a file."""
        file = self._open.get((queue, date))
        if file is None:
            path = self._staging / f"{uuid4().hex}.parquet"
            file = self._open[queue, date] = _Open(path)
        file.add(part)
        if file.waiting_bytes >= ROW_GROUP_BYTES:
            file.flush()
        while sum(file.waiting_bytes for file in self._open.values()) > BUFFERED_BYTES:
            max(self._open.values(), key=lambda file: file.waiting_bytes).flush()

    def close(self) -> Iterator[Facts]:
        """End all files; say what is in them."""
        for (queue, date), file in self._open.items():
            yield file.facts(queue, date)


def parts(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, str], pa.RecordBatch]]:
    """The rows of each queue and day of a batch."""
    if not batch.num_rows:
        return
    queues = batch.column(QUEUE).dictionary_encode()
    dates = batch.column(DATE).dictionary_encode()
    key = queues.indices.to_numpy().astype(np.int64) * len(dates.dictionary)
    key += dates.indices.to_numpy()
    for code in np.unique(key):
        queue, date = divmod(int(code), len(dates.dictionary))
        chosen = batch if len(batch) == (key == code).sum() else batch.filter(pa.array(key == code))
        yield (queues.dictionary[queue].as_py(), dates.dictionary[date].as_py().isoformat()), chosen


def with_date(batch: pa.RecordBatch, step: int) -> pa.RecordBatch:
    """The rows, followed by the day (UTC) of their arrival and the step of the manifest."""
    micros = batch.column("arrived_time").cast(pa.int64())
    days = np.floor_divide(micros.to_numpy(zero_copy_only=False), DAY_MICROSECONDS)
    date = pa.array(days.astype(np.int32)).cast(pa.date32())
    steps = pa.array(np.full(batch.num_rows, step, np.int64))
    schema = batch.schema.append(pa.field(DATE, pa.date32())).append(pa.field(STEP, pa.int64()))
    return pa.record_batch([*batch.columns, date, steps], schema=schema).cast(plain(schema))


def plain(schema: pa.Schema) -> pa.Schema:
    """The schema with our types, whatever Spark has made of them: zone UTC, plain strings."""
    return pa.schema(
        (field.name, COLUMNS[field.name].type if field.name in COLUMNS else field.type)
        for field in schema
    )


def facts_batch(facts: Iterable[Facts]) -> pa.RecordBatch:
    """Facts as rows of `FACTS`."""
    rows = [{name: getattr(fact, name) for name in FACTS.names} for fact in facts]
    return pa.RecordBatch.from_pylist(rows, schema=FACTS)


def file_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """The rows of one file; without the columns that its folder names."""
    with pq.ParquetFile(path) as file:
        return file.read(columns)


def step_facts(table: pa.Table) -> Iterator[tuple[int, int, int, int, int]]:
    """Step, count, digest, first and last sequence of each step in a table of these columns."""
    steps = table.column(STEP).to_numpy()
    sequences = table.column(SEQUENCE).to_numpy()
    for step in np.unique(steps):
        of_step = sequences[steps == step]
        yield (
            int(step),
            len(of_step),
            digest_of(of_step.astype(np.uint64)),
            int(of_step.min()),
            int(of_step.max()),
        )
