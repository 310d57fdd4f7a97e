"""Archive queues: messages into Parquet, Delta or Iceberg, each once and provably without gaps."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from openmsmq.spark.columns import INCLUDES
from openmsmq.spark.pipelines.reporting.output import REPORT
from openmsmq.spark.pipelines.reporting.report import write_report
from openmsmq.spark.pipelines.reporting.summary import Bars, Column, Inputs, Kind, Summary, Table
from openmsmq.spark.pipelines.sources import source_text
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.failures import explained
from openmsmq.spark.pipelines.support.following import Gate, gated, interruptions, wait_for_end
from openmsmq.spark.pipelines.support.offset_log import accepted_losses, planned_ranges, query_id
from openmsmq.spark.readers.range_reader import GOING_ON
from openmsmq.terminal.progress import Update, progress
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.codes.queue_error import QueueError

from .compaction import Compaction, compact_archive
from .manifest import Step
from .store import CHECKPOINT, Archive, check_place, read_archive
from .verify import Coverage, Verification, completeness, coverage, coverage_table, verify_archive

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
        losses: what this run has accepted to be missing.
        inputs: what was read and how.
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
    losses: tuple[str, ...] = ()
    inputs: Inputs = ()

    def summary(self) -> Summary:
        """The outcome for people."""
        warnings: list[str] = []
        if self.verification is not None and not self.verification.complete:
            warnings.append("The archive is not complete; the problems are listed below.")
        if self.losses:
            warnings.append(f"Accepted: {'; '.join(self.losses)}.")
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
                    tuple(source_text(archived.queue) for archived in self.queues),
                    tuple(float(archived.messages) for archived in self.queues),
                ),
            ),
            warnings=tuple(warnings),
            outputs=(("Archive", str(self.path)), ("Report", str(self.path / REPORT))),
            inputs=self.inputs,
        )

    def _headline(self) -> str:
        if self.verification is not None and not (self.messages and self.verification.complete):
            return self.verification.summary().headline
        if not self.messages:
            total = sum(archived.messages for archived in self.queues)
            return f"Nothing new; the archive has {count_text(total, 'message')}"
        batches = "1 batch" if self.batches == 1 else f"{self.batches:,} batches"
        proof = f"; the archive {completeness(self.verification)}" if self.verification else ""
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
    accept_loss: bool = False,
    options: Mapping[str, str] | None = None,
    inputs: Inputs = (),
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
        accept_loss: go on when messages or a queue are gone that were to be archived; the manifest
            names what is missing.
        options: more options of the data source, such as `endpoint`.
        inputs: what the report says that was read.

    Raises:
        QueueError: it cannot go on; what was archived before stays as it is.
    """
    from pyspark.sql.utils import is_remote

    directory = Path(path).absolute()
    # Before there is a lock in it.
    check_place(directory)
    started = time.monotonic()
    source = {
        **queue_options(queues, queue_pattern, kind, consume, consumer_name),
        "include": ",".join(include),
        "maxMessagesPerTrigger": str(max_messages),
        "maxBytesPerTrigger": BYTES_PER_BATCH,
        **({"failOnDataLoss": "false"} if accept_loss else {}),
        **(options or {}),
    }
    with interruptions(stop) as interrupted:
        run = _remote_run if is_remote() else _run
        opened, steps, stopped = run(spark, directory, table, source, interrupted, follow=follow)
    incomplete = stopped and not follow
    return _result(
        spark,
        opened,
        steps,
        started,
        compact=compact,
        verify=verify,
        interrupted=incomplete,
        inputs=inputs,
    )


def look_after(
    spark: "SparkSession",
    path: str | Path,
    *,
    compact: bool = False,
    verify: bool = True,
    inputs: Inputs = (),
) -> ArchiveResult:
    """Put small files of an archive together, or check it, without adding anything.

    Raises:
        PipelineError: there is no archive, it is damaged, or somebody writes to it.
    """
    started = time.monotonic()
    opened = Archive.open(Path(path).absolute())
    with explained():
        return _result(spark, opened, [], started, compact=compact, verify=verify, inputs=inputs)


def _result(
    spark: "SparkSession",
    opened: Archive,
    steps: list[Step],
    started: float,
    *,
    compact: bool,
    verify: bool,
    interrupted: bool = False,
    inputs: Inputs = (),
) -> ArchiveResult:
    result = ArchiveResult(
        opened.path,
        opened.kind,
        0.0,
        len(steps),
        sum(range_.count for step in steps for range_ in step.ranges),
        sum(len(step.files) for step in steps),
        sum(file.bytes for step in steps for file in step.files),
        coverage(opened.manifest),
        compact_archive(spark, opened.path) if compact else None,
        verify_archive(spark, opened.path) if verify else None,
        interrupted,
        tuple(loss.text for step in steps for loss in step.losses),
        inputs,
    )
    result = replace(result, seconds=time.monotonic() - started)
    write_report(opened.path / REPORT, result.summary())
    return result


def _run(
    spark: "SparkSession",
    directory: Path,
    table: str | None,
    source: Mapping[str, str],
    stop: threading.Event,
    *,
    follow: bool,
) -> tuple[Archive, list[Step], bool]:
    """Archive from this process; return what was added and whether it was stopped."""
    with only_writer(directory), progress("archiving", None) as update:
        opened = Archive.open_or_create(directory, table)
        opened.recover()
        adding = _Adding(opened, update, accept_loss=_accepts_loss(source))
        gate = Gate()
        with explained():
            query = start(spark, opened, source, gated(adding, gate), follow=follow)
        try:
            stopped = wait_for_end(query, gate, stop)
        except QueueError as exc:
            if adding.fault is not None:
                raise adding.fault from None
            raise _in_own_words(exc) from exc
    return opened, adding.steps, stopped


def _remote_run(
    spark: "SparkSession",
    directory: Path,
    table: str | None,
    source: Mapping[str, str],
    stop: threading.Event,
    *,
    follow: bool,
) -> tuple[Archive, list[Step], bool]:
    """Archive from a process of the Spark Connect server, which sees the same folder."""
    with only_writer(directory):
        opened = Archive.open_or_create(directory, table)
        opened.recover()
    before = len(opened.manifest.steps)
    with explained():
        adding = RemoteAdding(directory, accept_loss=_accepts_loss(source))
        query = start(spark, opened, source, adding, follow=follow)
    try:
        stopped = wait_for_end(query, Gate(), stop)
    except QueueError as exc:
        raise _in_own_words(exc) from exc
    opened = Archive.open(directory)
    return opened, opened.manifest.steps[before:], stopped


def _accepts_loss(source: Mapping[str, str]) -> bool:
    return source.get("failOnDataLoss") == "false"


def _in_own_words(error: QueueError) -> QueueError:
    """A loss that the data source reports, with the option that an archive has for it."""
    if GOING_ON not in error.detail:
        return error
    return PipelineError(
        error.detail.partition(f". {GOING_ON}")[0],
        cause="Messages that were to be archived were removed, or their queue was.",
        remedy="Find out by whom; nothing of this batch was archived. --accept-loss "
        "(accept_loss=True) continues without them, and the manifest names what is missing.",
    )


def start(
    spark: "SparkSession",
    opened: Archive,
    source: Mapping[str, str],
    add: "Callable[[DataFrame, int], None]",
    *,
    follow: bool,
) -> "StreamingQuery":
    """Start the query; `add` gets its batches."""
    frame = spark.readStream.format("msmq").options(**source).load()
    writer = (
        frame.writeStream.queryName(f"archive {opened.identifier}")
        .option("checkpointLocation", str(opened.path / CHECKPOINT))
        .foreachBatch(add)
    )
    if follow:
        return writer.trigger(processingTime=FOLLOW_TRIGGER).start()
    return writer.trigger(availableNow=True).start()


class _Adding:
    """Adds batches, and keeps what Spark would make a text of."""

    def __init__(self, opened: Archive, update: Update, *, accept_loss: bool) -> None:
        self._archive = opened
        self._update = update
        self._accept_loss = accept_loss
        self.fault: PipelineError | None = None
        self.steps: list[Step] = []

    def __call__(self, frame: "DataFrame", batch: int) -> None:
        try:
            step = add_batch(self._archive, frame, batch, accept_loss=self._accept_loss)
        except PipelineError as exc:
            self.fault = exc
            raise
        if step is not None:
            self.steps.append(step)
            self._update(sum(range_.count for step in self.steps for range_ in step.ranges))


class RemoteAdding:
    """Adds batches in another process, the only writer of the archive as long as it lives."""

    def __init__(self, directory: Path, *, accept_loss: bool) -> None:
        self._directory = directory
        self._accept_loss = accept_loss
        self._held = ExitStack()
        self._archive: Archive | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), accept_loss=self._accept_loss), (self._directory,)

    def __call__(self, frame: "DataFrame", batch: int) -> None:
        if self._archive is None:
            self._held.enter_context(only_writer(self._directory))
            self._archive = Archive.open(self._directory)
            self._archive.recover()
        add_batch(self._archive, frame, batch, accept_loss=self._accept_loss)


def add_batch(
    archive: Archive, frame: "DataFrame", batch: int, *, accept_loss: bool = False
) -> Step | None:
    """Add a batch of the streaming query; None when it is there already."""
    checkpoint = archive.path / CHECKPOINT
    query = query_id(checkpoint) or ""
    return archive.append(
        frame,
        query,
        batch,
        planned_ranges(checkpoint, batch),
        losses=accepted_losses(checkpoint, batch),
        accept_loss=accept_loss,
    )


def queue_options(
    queues: str | Sequence[str],
    queue_pattern: str | None,
    kind: str,
    consume: str,
    consumer_name: str | None,
) -> dict[str, str]:
    """Which queues are archived and how they are consumed, as options of the data source."""
    names = [queues] if isinstance(queues, str) else list(queues)
    chosen = {"kind": kind, "consume": consume}
    if queue_pattern is not None:
        chosen["queuePattern"] = queue_pattern
    if len(names) == 1:
        chosen["queue"] = names[0]
    elif names:
        chosen["queues"] = ",".join(names)
    if consumer_name:
        chosen["consumerName"] = consumer_name
    return chosen
