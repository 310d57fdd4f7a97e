"""Send messages of an archive or a dead-letter queue again: dry run first, and never twice."""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from openmsmq.cli.quantities import count_text
from openmsmq.client.errors import ConnectionLost
from openmsmq.spark.connection import open_connection
from openmsmq.spark.connection_options import CONNECTION, ConnectionOptions
from openmsmq.spark.option_names import read_values

from .durable import only_writer
from .errors import PipelineError
from .failures import explained
from .output import write_outputs
from .replay_filter import ReplayFilter
from .replay_job import IS_NEW, KEEP, NEW, SENDABLE, TARGET, ReplayJob
from .replay_sender import Sender
from .replay_state import ReplayState
from .summary import Bars, Column, Kind, Summary, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_KEY: Final = 100
GROUPS: Final = (TARGET, "queue", "class_name", "label")


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What `replay` has done, or would do.

    Attributes:
        selected: messages that the filters take and that can be sent.
        already_sent: those of them that an earlier run with the same key has sent.
        sent: messages that this run has sent, also those that an earlier one had left over.
        removed: originals that this run has removed.
        not_sendable: rows that the filters take and that cannot be sent: reports, encrypted and
            malformed messages.
        groups: the messages to send by destination, queue, class and label.
    """

    key: str
    dry_run: bool
    selected: int
    already_sent: int
    not_sendable: int
    sent: int
    removed: int
    seconds: float
    groups: tuple[tuple[Any, ...], ...]
    outputs: tuple[tuple[str, str], ...] = ()

    def summary(self) -> Summary:
        """The outcome for people."""
        waiting = self.selected - self.already_sent
        headline = (
            f"Would send {count_text(waiting, 'message')}; nothing was sent (--send does it)"
            if self.dry_run
            else f"Sent {count_text(self.sent, 'message')}"
        )
        warnings = (
            (f"{self.not_sendable:,} rows are reports, encrypted or malformed, and stay out.",)
            if self.not_sendable
            else ()
        )
        return Summary(
            "replay",
            headline,
            facts=(
                (Column("selected", "Selected", Kind.COUNT), self.selected),
                (Column("already_sent", "Sent before", Kind.COUNT), self.already_sent),
                (Column("not_sendable", "Not sendable", Kind.COUNT), self.not_sendable),
                (Column("sent", "Sent", Kind.COUNT), self.sent),
                (Column("removed", "Originals removed", Kind.COUNT), self.removed),
                (Column("dry_run", "Dry run"), self.dry_run),
                (Column("key", "Key"), self.key),
                (Column("seconds", "Time", Kind.SECONDS), self.seconds),
            ),
            tables=(
                Table(
                    "groups",
                    "Messages to send",
                    (
                        Column("destination", "Destination"),
                        Column("queue", "From"),
                        Column("class_name", "Class"),
                        Column("label", "Label"),
                        Column("messages", "Messages", Kind.COUNT),
                    ),
                    self.groups,
                    adds_up=True,
                ),
            ),
            charts=(_chart(self.groups),),
            warnings=warnings,
            outputs=self.outputs,
        )


def replay(
    spark: "SparkSession",
    source: str,
    *,
    to: str | None = None,
    send: bool = False,
    only: ReplayFilter | None = None,
    correlation: str = KEEP,
    keep_timeouts: bool = True,
    mark: bool = True,
    rate: float | None = None,
    key: str | None = None,
    state: str | Path | None = None,
    remove: bool = False,
    transaction: str | None = None,
    endpoint: str | None = None,
    options: Mapping[str, str] | None = None,
    output: str | Path | None = None,
) -> ReplayResult:
    """Send messages again, each of them once for each key, or say what would be sent.

    Args:
        spark: a session whose workers reach the queue manager and see `state`.
        source: the folder of an archive or of decoded messages, or a queue such as `;deadletter`.
        to: where all of them go; without it, each to the queue that it was sent to.
        send: send them; without it nothing is sent and nothing is written.
        only: which messages.
        correlation: "keep" the correlation id, or a "new" one: the id of the original.
        keep_timeouts: give the copies as much time as the originals had; else they never expire.
        mark: leave a mark in the extension; `read_mark` finds it.
        rate: how many messages a second at most.
        key: names the replay; by default made of source, destination and filter. The same
            messages are sent again only under another key.
        state: folder that remembers what was sent; by default one of the user's for the key.
        remove: remove the originals from their queue once they were sent.
        transaction: as the option of the data source.
        endpoint: the queue manager.
        options: more options for reading and writing, such as `auth.token`.
        output: folder for the table and the report.

    Raises:
        PipelineError: it cannot go on; run it again to go on where it was.
    """
    started = time.monotonic()
    _check(source, correlation, rate, key, remove=remove)
    only = only or ReplayFilter()
    key = key or default_key(source, to, only, correlation)
    job = ReplayJob(spark, source, to, only, correlation, key, endpoint, dict(options or {}))
    check_destination(job, send=send)
    folder = Path(state or default_state(key)).absolute()
    memory = ReplayState(folder)
    with explained():
        rows = job.rows(memory.chosen(spark), mark=mark, keep_timeouts=keep_timeouts)
        counts = _Counts.of(rows)
    sent = removed = 0
    if send:
        with only_writer(folder), explained():
            sender = Sender(job, memory, rate, transaction, remove=remove)
            sent, removed = sender.run(rows if counts.groups else None)
    result = ReplayResult(
        key,
        not send,
        counts.selected,
        counts.already_sent,
        counts.not_sendable,
        sent,
        removed,
        time.monotonic() - started,
        counts.groups,
    )
    if output is None:
        return result
    table = spark.createDataFrame(
        [*counts.groups],
        "destination string, queue string, class_name string, label string, messages bigint",
    )
    written = write_outputs(result.summary(), {"groups": table}, Path(output))
    return replace(result, outputs=written.outputs)


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many messages there are of each kind."""

    selected: int
    already_sent: int
    not_sendable: int
    groups: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, rows: "DataFrame") -> "_Counts":
        from pyspark.sql import functions as f

        found = (
            rows.groupBy(SENDABLE, IS_NEW, *GROUPS)
            .agg(
                f.count(f.lit(1)).alias("rows"),
                # A message that a source has twice is one to send.
                f.count_distinct(f.coalesce("queue", f.lit("")), f.col("id")).alias("messages"),
            )
            .collect()
        )
        can = [row for row in found if row[SENDABLE]]
        groups = [(*(row[name] for name in GROUPS), row["messages"]) for row in can if row[IS_NEW]]
        return cls(
            sum(row["messages"] for row in can),
            sum(row["messages"] for row in can if not row[IS_NEW]),
            sum(row["rows"] for row in found if not row[SENDABLE]),
            tuple(sorted(groups, key=lambda group: (-group[-1], *map(str, group[:-1])))),
        )


def default_key(source: str, to: str | None, only: ReplayFilter, correlation: str) -> str:
    """The key of a replay that has no other: what is sent, where to and how."""
    told = json.dumps([source, to, only.to_dict(), correlation], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def default_state(key: str) -> Path:
    """The folder of the user that remembers what was sent under a key."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "openmsmq" / "replay" / key


def _check(
    source: str, correlation: str, rate: float | None, key: str | None, *, remove: bool
) -> None:
    """Refuse what cannot be, before anything is read."""
    if correlation not in (KEEP, NEW):
        raise _wrong(f"correlation {correlation!r} is neither {KEEP} nor {NEW}")
    if rate is not None and not rate > 0:
        raise _wrong(f"a rate of {rate} messages a second sends nothing")
    if key is not None and (
        not 0 < len(key) <= MAX_KEY or not all(each.isalnum() or each in "-_." for each in key)
    ):
        raise _wrong(f"the key {key!r} is not 1 to {MAX_KEY} letters, digits, '-', '_' or '.'")
    if remove and Path(source).is_dir():
        raise _wrong("originals can be removed from a queue only, not from an archive")


def check_destination(job: ReplayJob, *, send: bool) -> None:
    """Refuse a destination that is not there, as far as somebody can be asked.

    Raises:
        QueueError: the queue manager does not take messages for it.
        ConnectionLost: nobody answers, and messages are to be sent.
    """
    if job.to is None:
        return
    names = {name.lower() for name in CONNECTION}
    given = {name: value for name, value in job.options.items() if name.lower() in names}
    options = ConnectionOptions.from_values(read_values(given, CONNECTION))
    try:
        # A dry run of an archive does without a queue manager, and does not wait for one.
        with open_connection(options if send else replace(options, timeout=0.0)) as manager:
            manager.open_queue(job.to, "send").close()
    except ConnectionLost:
        if send:
            raise


def _wrong(detail: str) -> PipelineError:
    return PipelineError(
        detail, cause="An argument has a value that cannot be used.", remedy="Change it."
    )


def _chart(groups: tuple[tuple[Any, ...], ...]) -> Bars:
    totals: dict[str, int] = {}
    for group in groups:
        totals[str(group[0])] = totals.get(str(group[0]), 0) + group[-1]
    return Bars("Messages by destination", tuple(totals), tuple(map(float, totals.values())))
