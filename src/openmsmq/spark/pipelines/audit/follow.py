"""The audit of streams: verdicts as they change, periodic sums, a report at the end."""

import importlib.util
import json
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from openmsmq.care.durable import write_durably
from openmsmq.spark.pipelines.reporting.output import write_outputs
from openmsmq.spark.pipelines.reporting.summary import Inputs, Summary
from openmsmq.spark.pipelines.sources import stream_sources, united
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.failures import explained
from openmsmq.spark.pipelines.support.following import Gate, gated, interruptions, wait_for_end
from openmsmq.spark.pipelines.support.spark_paths import literal_path

from .auditing import AuditResult, summarize
from .stream import KEEP, audit_stream, latest_verdicts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

VERDICTS: Final = "verdicts"
# Readers of a folder of Parquet files pass over what begins so.
NEW: Final = "_new"
CHECKPOINT: Final = "_checkpoint"
SOURCES: Final = "_sources.json"
# Timers make a batch of every trigger, also where nothing has come.
TRIGGER: Final = "5 seconds"
# Counting reads all verdicts: it must not take more than a part of the time.
COUNT_SECONDS: Final = 2.0
COUNT_SHARE: Final = 0.2

Tell = Callable[[Summary], None]


def follow_audit(
    spark: "SparkSession",
    sends: Sequence[str],
    evidence: Sequence[str],
    output: str | Path,
    *,
    endpoint: str | None = None,
    options: Mapping[str, str] | None = None,
    keep: timedelta = KEEP,
    stop: threading.Event | None = None,
    tell: Tell | None = None,
    inputs: Inputs = (),
) -> AuditResult:
    """Find out what becomes of each sent message, until Ctrl-C, SIGTERM or `stop`.

    Run it again with the same folder to go on where it was.

    Args:
        spark: a session whose workers see `output` and reach the queue managers.
        sends: queues with what was sent, as texts; archives do not grow, and are refused.
        evidence: queues that tell what became of it, as for `audit`.
        output: folder for the tables `verdicts` and `messages`, the report, and how far it is.
        endpoint: the usual queue manager.
        options: more options of the data source, such as `auth.tokenFile`.
        keep: how long a message is remembered after the last event about it.
        stop: ends it when it is set, also from another thread.
        tell: told the sums whenever they have changed, but not too often.
        inputs: what the report says that was read.

    Raises:
        QueueError: it cannot go on; run it again to go on where it was.
    """
    folder = Path(output).absolute()
    check_follow(folder, sends, evidence)
    with only_writer(folder), explained():
        _remember_sources(folder, sends, evidence)
        sent = united(stream_sources(spark, sends, endpoint=endpoint, options=options))
        known = stream_sources(spark, evidence, endpoint=endpoint, options=options)
        run = _Run(folder, audit_stream(sent, known, keep=keep))
        with interruptions(stop) as interrupted:
            run.follow(interrupted, tell)
        result = run.result()
        outputs = (("Table verdicts", str(folder / VERDICTS)),)
        final_summary = replace(result.summary, outputs=outputs, inputs=inputs)
        summary = write_outputs(final_summary, {"messages": result.verdicts}, folder)
    return replace(result, summary=summary)


@dataclass(frozen=True)
class VerdictWriter:
    """Writes the verdicts of a batch.

    Others read the folder meanwhile: a batch appears whole, or not at all if it has no news, which
    is so every few seconds; and it stays as it is, because a batch that is repeated says the same.
    """

    folder: Path

    def __call__(self, frame: "DataFrame", batch: int) -> None:
        target = self.folder / f"batch={batch}"
        new = self.folder / NEW
        frame.repartition(1).write.mode("overwrite").parquet(str(new))
        has_news = any(pq.read_metadata(path).num_rows for path in new.glob("*.parquet"))
        if has_news and not target.exists():
            new.rename(target)
        else:
            shutil.rmtree(new)


class _Run:
    """One run of the streaming query."""

    def __init__(self, folder: Path, stream: "DataFrame") -> None:
        self._folder = folder
        self._stream = stream
        self._gate = Gate()
        self._counted: set[str] = set()
        self._count_at = 0.0

    def follow(self, stop: threading.Event, tell: Tell | None) -> None:
        """Return when somebody has ended it."""
        (self._folder / VERDICTS).mkdir(exist_ok=True)
        query = self._start()
        wait_for_end(query, self._gate, stop, lambda: self._tell_news(tell))

    def _start(self) -> "StreamingQuery":
        return (
            self._stream.writeStream.queryName(f"audit {self._folder.name}")
            .option("checkpointLocation", str(self._folder / CHECKPOINT))
            .foreachBatch(gated(VerdictWriter(self._folder / VERDICTS), self._gate))
            .trigger(processingTime=TRIGGER)
            .start()
        )

    def _tell_news(self, tell: Tell | None) -> None:
        if tell is None or time.monotonic() < self._count_at:
            return
        written = {path.name for path in (self._folder / VERDICTS).glob("batch=*")}
        if written != self._counted:
            started = time.monotonic()
            tell(self.result().summary)
            self._counted = written
            took = time.monotonic() - started
            self._count_at = time.monotonic() + max(COUNT_SECONDS, took / COUNT_SHARE)

    def result(self) -> AuditResult:
        """What is known of every message until now."""
        schema = self._stream.schema
        reader = self._stream.sparkSession.read.schema(schema)
        stored = reader.parquet(literal_path(self._folder / VERDICTS)).select(*schema.names)
        verdicts = latest_verdicts(stored).cache()
        try:
            summary, counts, lost = summarize(verdicts)
        finally:
            verdicts.unpersist()
        return AuditResult(verdicts, counts, sum(counts.values()), lost, 0, summary)


def check_follow(folder: Path, sends: Sequence[str], evidence: Sequence[str]) -> None:
    """See that an audit can be followed, or gone on with, in this folder.

    Raises:
        PipelineError: a package is missing, or the folder has the audit of other sources.
    """
    if importlib.util.find_spec("google.protobuf") is None:
        raise PipelineError(
            "an audit that follows cannot start",
            cause="Spark keeps the state of streams with protobuf, which is not installed.",
            remedy="Install it: pip install 'openmsmq[connect]'.",
        )
    path = folder / SOURCES
    sources = _sources(sends, evidence)
    if path.exists() and (before := json.loads(path.read_bytes())) != sources:
        raise PipelineError(
            f"{folder} has the audit of other sources: {_names(before)}",
            cause="An audit continues with the sources that it began with, in their order.",
            remedy="Name the same sources again, or another folder.",
        )


def _remember_sources(folder: Path, sends: Sequence[str], evidence: Sequence[str]) -> None:
    """Spark knows the sources of a checkpoint by their number only."""
    path = folder / SOURCES
    if not path.exists():
        sources = _sources(sends, evidence)
        write_durably(path, json.dumps(sources, indent=1).encode() + b"\n")


def _sources(sends: Sequence[str], evidence: Sequence[str]) -> dict[str, list[str]]:
    return {"sends": list(sends), "evidence": list(evidence)}


def _names(sources: dict[str, list[str]]) -> str:
    return "; ".join(f"{name} {', '.join(texts)}" for name, texts in sources.items())
