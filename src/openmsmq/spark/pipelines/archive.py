"""Archive queues: messages into Parquet, Delta or Iceberg, once each, provably without gaps."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from openmsmq.cli.progress import Update, progress
from openmsmq.cli.quantities import count_text
from openmsmq.spark.columns import INCLUDES
from openmsmq.wire.queue_error import QueueError

from .archive_store import CHECKPOINT, Archive, read_archive
from .compaction import Compaction, compact_archive
from .durable import only_writer
from .errors import PipelineError
from .failures import explained
from .following import Gate, interruptions, wait_for_end
from .manifest import Step
from .offset_log import planned_ranges, query_id
from .output import REPORT
from .report import write_report
from .summary import Bars, Column, Kind, Summary, Table
from .verify import Coverage, Verification, coverage, coverage_table, verify_archive

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = [
    "ArchiveResult",
    "archive",
    "compact_archive",
    "look_after",
    "read_archive",
    "verify_archive",
]

MESSAGES_PER_BATCH: Final = 200_000
BYTES_PER_BATCH: Final = "1g"
FOLLOW_TRIGGER: Final = "1 second"


@dataclass(frozen=True, slots=True)
class ArchiveResult:
    """What `archive` has done.

    Attributes:
        batches, messages, files, bytes: what this run has added.
        queues: what the whole archive has of each queue.
        verification: what was found afterwards, if asked for.
        interrupted: whether it was ended before everything was there.
    """

    path: Path
    table: str
    seconds: float
    batches: int
    messages: int
    files: int
    bytes: int
    queues: tuple[Coverage, ...]
    compaction: Compaction | None = None
    verification: Verification | None = None
    interrupted: bool = False

    def summary(self) -> Summary:
        """The outcome for people."""
        warnings: list[str] = []
        if self.verification is not None and not self.verification.complete:
            warnings.append("The archive is not complete; the problems are listed below.")
        if self.interrupted:
            warnings.append("Interrupted: run it again to archive the rest.")
        tables: tuple[Table, ...] = (coverage_table(self.queues),)
        if self.verification is not None:
            tables = self.verification.summary().tables
        return Summary(
            "archive",
            self._headline(),
            facts=(
                (Column("messages", "New messages", Kind.COUNT), self.messages),
                (Column("batches", "Batches", Kind.COUNT), self.batches),
                (Column("files", "New files", Kind.COUNT), self.files),
                (Column("bytes", "New on disk", Kind.BYTES), self.bytes),
                (Column("seconds", "Time", Kind.SECONDS), self.seconds),
                (Column("table", "Table format"), self.table),
                *self._more_facts(),
            ),
            tables=tables,
            charts=(
                Bars(
                    "Messages in the archive by queue",
                    tuple(each.queue for each in self.queues),
                    tuple(float(each.messages) for each in self.queues),
                ),
            ),
            warnings=tuple(warnings),
            outputs=(("Archive", str(self.path)), ("Report", str(self.path / REPORT))),
        )

    def _headline(self) -> str:
        if self.verification is not None and not (self.messages and self.verification.complete):
            return self.verification.summary().headline
        if not self.messages:
            total = sum(each.messages for each in self.queues)
            return f"Nothing new; the archive has {count_text(total, 'message')}"
        batches = "1 batch" if self.batches == 1 else f"{self.batches:,} batches"
        proof = "; the archive is complete" if self.verification is not None else ""
        return f"Archived {count_text(self.messages, 'message')} in {batches}{proof}"

    def _more_facts(self) -> tuple[tuple[Column, str | int | bool], ...]:
        facts: list[tuple[Column, str | int | bool]] = []
        if self.compaction is not None:
            column = Column("files_after_compaction", "Files after compaction", Kind.COUNT)
            facts.append((column, self.compaction.files_after))
        if self.verification is not None:
            facts.append((Column("complete", "Complete"), self.verification.complete))
        return tuple(facts)


def archive(
    spark: "SparkSession",
    path: str | Path,
    *,
    queues: str | Sequence[str] = (),
    queue_pattern: str | None = None,
    kind: str = "queue",
    consume: str = "none",
    consumer_name: str | None = None,
    table: str | None = None,
    include: Sequence[str] = INCLUDES,
    max_messages: int = MESSAGES_PER_BATCH,
    follow: bool = False,
    stop: threading.Event | None = None,
    compact: bool = False,
    verify: bool = False,
    options: Mapping[str, str] | None = None,
) -> ArchiveResult:
    r"""Add what is in the queues now to an archive, and remove it from them if asked to.

    Run it again to add what has come since. Messages are removed only when they are on disk.

    Args:
        spark: a session whose workers see `path` and reach the queue manager.
        path: directory of the archive, on a file system; made if it is not there.
        queues: path or format names; one of `queues` and `queue_pattern`, unless `kind` says it.
        queue_pattern: such as `private$\orders*`.
        kind: "queue", "journal", "deadletter", "xact_deadletter" or "outgoing".
        consume: "none" leaves the messages there, "exclusive" and "lease" remove them.
        consumer_name: needed with "lease".
        table: "parquet", "delta" or "iceberg"; an archive that is there keeps its own.
        include: which parts of the messages; without "packet" they cannot be sent again exactly.
        max_messages: how many messages a batch has at most.
        follow: go on until Ctrl-C, SIGTERM or `stop`, which let the batch that runs end.
        stop: ends it when it is set, also from another thread.
        compact: put small files together at the end.
        verify: check the whole archive at the end.
        options: more options of the data source, such as `endpoint`.

    Raises:
        QueueError: it cannot go on; what was archived before stays as it is.
    """
    _check_session()
    directory = Path(path).absolute()
    started = time.monotonic()
    source = {
        **_queue_options(queues, queue_pattern, kind),
        "consume": consume,
        "include": ",".join(include),
        "maxMessagesPerTrigger": str(max_messages),
        "maxBytesPerTrigger": BYTES_PER_BATCH,
        **({"consumerName": consumer_name} if consumer_name else {}),
        **(options or {}),
    }
    with only_writer(directory), progress("archiving", None) as update:
        opened = Archive.open_or_create(directory, table)
        opened.recover()
        run = _Run(opened, update)
        with interruptions(stop) as interrupted:
            with explained():
                query = run.start(spark, source, follow=follow)
            stopped = run.wait(query, interrupted)
    incomplete = stopped and not follow
    return _result(
        spark, opened, run.steps, started, compact=compact, verify=verify, interrupted=incomplete
    )


def look_after(
    spark: "SparkSession", path: str | Path, *, compact: bool = False, verify: bool = True
) -> ArchiveResult:
    """Put small files of an archive together, or check it, without adding anything.

    Raises:
        PipelineError: there is no archive, it is damaged, or somebody writes to it.
    """
    started = time.monotonic()
    opened = Archive.open(Path(path).absolute())
    with explained():
        return _result(spark, opened, [], started, compact=compact, verify=verify)


def _result(
    spark: "SparkSession",
    opened: Archive,
    steps: list[Step],
    started: float,
    *,
    compact: bool,
    verify: bool,
    interrupted: bool = False,
) -> ArchiveResult:
    result = ArchiveResult(
        opened.path,
        opened.kind,
        0.0,
        len(steps),
        sum(each.count for step in steps for each in step.ranges),
        sum(len(step.files) for step in steps),
        sum(file.bytes for step in steps for file in step.files),
        coverage(opened.manifest),
        compact_archive(spark, opened.path) if compact else None,
        verify_archive(spark, opened.path) if verify else None,
        interrupted,
    )
    result = replace(result, seconds=time.monotonic() - started)
    write_report(opened.path / REPORT, result.summary())
    return result


class _Run:
    """One run of the streaming query that archives."""

    def __init__(self, opened: Archive, update: Update) -> None:
        self._archive = opened
        self._update = update
        self._gate = Gate()
        self._fault: PipelineError | None = None
        self.steps: list[Step] = []

    def start(
        self, spark: "SparkSession", source: Mapping[str, str], *, follow: bool
    ) -> "StreamingQuery":
        frame = spark.readStream.format("msmq").options(**source).load()
        writer = (
            frame.writeStream.queryName(f"archive {self._archive.identifier}")
            .option("checkpointLocation", str(self._archive.path / CHECKPOINT))
            .foreachBatch(self._batch_function())
        )
        trigger = (
            writer.trigger(processingTime=FOLLOW_TRIGGER)
            if follow
            else writer.trigger(availableNow=True)
        )
        return trigger.start()

    def _batch_function(self) -> "Callable[[DataFrame, int], None]":
        def add(frame: "DataFrame", batch: int) -> None:
            try:
                with self._gate.batch():
                    self._add(frame, batch)
            except PipelineError as exc:
                # Spark makes a text of it; whoever called gets the error itself.
                self._fault = exc
                raise

        return add

    def _add(self, frame: "DataFrame", batch: int) -> None:
        checkpoint = self._archive.path / CHECKPOINT
        query = query_id(checkpoint) or ""
        step = self._archive.append(frame, query, batch, planned_ranges(checkpoint, batch))
        if step is not None:
            self.steps.append(step)
            self._update(sum(each.count for done in self.steps for each in done.ranges))

    def wait(self, query: "StreamingQuery", stop: threading.Event) -> bool:
        """Return when the query has ended; say whether `stop` has ended it."""
        try:
            return wait_for_end(query, self._gate, stop)
        except QueueError:
            if self._fault is not None:
                raise self._fault from None
            raise


def _check_session() -> None:
    from pyspark.sql.utils import is_remote

    if is_remote():
        raise PipelineError(
            "an archive cannot be written over Spark Connect",
            cause="The driver keeps the manifest, and over Spark Connect it is another process.",
            remedy="Run it where the driver is, with a Spark master.",
        )


def _queue_options(
    queues: str | Sequence[str], queue_pattern: str | None, kind: str
) -> dict[str, str]:
    names = [queues] if isinstance(queues, str) else list(queues)
    chosen = {"kind": kind}
    if queue_pattern is not None:
        chosen["queuePattern"] = queue_pattern
    if len(names) == 1:
        chosen["queue"] = names[0]
    elif names:
        chosen["queues"] = ",".join(names)
    return chosen
