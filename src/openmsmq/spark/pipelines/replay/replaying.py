"""Send messages of an archive or a dead-letter queue again: dry run first, and never twice."""

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from openmsmq.client.errors import ConnectionLost
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.connection import CONNECTION, ConnectionOptions
from openmsmq.spark.options.names import read_values
from openmsmq.spark.pipelines.reporting.output import write_outputs
from openmsmq.spark.pipelines.reporting.summary import Bars, Column, Inputs, Kind, Summary, Table
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.failures import explained
from openmsmq.terminal.quantities import count_text

from .filter import ReplayFilter
from .job import IS_NEW, KEEP, NEW, SENDABLE, TARGET, ReplayJob, connection_of
from .key import default_key, default_state, full_endpoint
from .sender import Outcome, Sender
from .state import ReplayState

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
        sent: messages that the queue manager has taken from this run, also those that an earlier
            one had left over.
        removed: originals that this run has removed.
        not_sendable: rows that the filters take and that cannot be sent: reports, encrypted and
            malformed messages.
        groups: the messages to send by destination, queue, class and label.
        elsewhere: those of `sent` that are for other machines: they are there only later, if they
            are not refused.
        is_memory_known: whether `already_sent` is right; a dry run without a key of its own needs
            a queue manager to know.
        inputs: what was read and how.
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
    elsewhere: int = 0
    is_memory_known: bool = True
    inputs: Inputs = ()

    def summary(self) -> Summary:
        """The outcome for people."""
        return Summary(
            "replay",
            self._headline(),
            facts=(
                (Column("selected", "Selected", Kind.COUNT), self.selected),
                (Column("already_sent", "Sent before", Kind.COUNT), self.already_sent),
                (Column("not_sendable", "Not sendable", Kind.COUNT), self.not_sendable),
                (Column("sent", "Sent", Kind.COUNT), self.sent),
                (Column("elsewhere", "Of these to other machines", Kind.COUNT), self.elsewhere),
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
            warnings=tuple(self._warnings()),
            outputs=self.outputs,
            inputs=self.inputs,
        )

    def _headline(self) -> str:
        if self.dry_run:
            waiting = count_text(self.selected - self.already_sent, "message")
            return f"Would send {waiting}; nothing was sent (--send does it)"
        sent = f"Sent {count_text(self.sent, 'message')}"
        if self.elsewhere:
            sent += f", {self.elsewhere:,} of them on the way to other machines"
        return sent

    def _warnings(self) -> Iterator[str]:
        if self.elsewhere:
            yield (
                f"{count_text(self.elsewhere, 'message')} for other machines may not have arrived "
                "yet (`openmsmq outgoing` shows what waits), and may be refused there."
            )
        if self.not_sendable:
            yield f"{self.not_sendable:,} rows are reports, encrypted or malformed, and stay out."
        if not self.is_memory_known:
            yield "No queue manager answers: what it was sent before is counted as to be sent."


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
    endpoint: str | None = None,
    options: Mapping[str, str] | None = None,
    output: str | Path | None = None,
    inputs: Inputs = (),
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
        key: names the replay; by default made of queue manager, source, destination and filter.
            The same messages are sent again only under another key.
        state: folder that remembers what was sent; by default one of the user's for the key.
        remove: remove the originals from their queue once the queue manager has taken the copies.
        endpoint: the queue manager.
        options: more options for reading and writing, such as `auth.token`.
        output: folder for the table and the report.
        inputs: what the report says that was read.

    Raises:
        PipelineError: it cannot go on; run it again to go on where it was.
    """
    started = time.monotonic()
    only = only or ReplayFilter()
    check_replay(source, only, correlation, rate, key, remove=remove)
    more = {**(options or {}), **({"endpoint": endpoint} if endpoint else {})}
    connection = ConnectionOptions.from_values(read_values(connection_of(more), CONNECTION))
    manager = None
    if send or key is None or to is not None:
        manager = ask_manager(connection, to, send=send)
    is_memory_known = not (key is None and state is None and manager is None)
    where = manager or full_endpoint(connection.endpoint)
    key = key or default_key(source, to, only, correlation, where)
    job = ReplayJob(spark, source, to, only, correlation, key, endpoint, dict(options or {}))
    folder = Path(state or default_state(key)).absolute()
    memory = ReplayState(folder)
    outcome = Outcome()
    # What another run sends meanwhile must not look new.
    with explained(), only_writer(folder) if send else nullcontext():
        if send:
            memory.claim(where)
        rows = job.rows(memory.chosen(spark), mark=mark, keep_timeouts=keep_timeouts)
        counts = _Counts.of(rows)
        if send:
            sender = Sender(job, memory, rate, remove=remove)
            outcome = sender.run(rows if counts.groups else None)
    result = ReplayResult(
        key,
        not send,
        counts.selected,
        counts.already_sent,
        counts.not_sendable,
        outcome.sent,
        outcome.removed,
        time.monotonic() - started,
        counts.groups,
        elsewhere=outcome.elsewhere,
        is_memory_known=is_memory_known,
        inputs=inputs,
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

        counted = (
            rows.groupBy(SENDABLE, IS_NEW, *GROUPS)
            .agg(
                f.count(f.lit(1)).alias("rows"),
                # A message that a source has twice is one to send.
                f.count_distinct(f.coalesce("queue", f.lit("")), f.col("id")).alias("messages"),
            )
            .collect()
        )
        can = [row for row in counted if row[SENDABLE]]
        groups = [(*(row[name] for name in GROUPS), row["messages"]) for row in can if row[IS_NEW]]
        return cls(
            sum(row["messages"] for row in can),
            sum(row["messages"] for row in can if not row[IS_NEW]),
            sum(row["rows"] for row in counted if not row[SENDABLE]),
            tuple(sorted(groups, key=lambda group: (-group[-1], *map(str, group[:-1])))),
        )


def check_replay(
    source: str,
    only: ReplayFilter,
    correlation: str,
    rate: float | None,
    key: str | None,
    *,
    remove: bool,
) -> None:
    """Refuse what cannot be, before anything is read.

    Raises:
        PipelineError: an argument has a value that cannot be used.
    """
    only.check()
    if correlation not in (KEEP, NEW):
        raise _wrong(f"correlation {correlation!r} is neither {KEEP} nor {NEW}")
    if rate is not None and not rate > 0:
        raise _wrong(f"a rate of {rate} messages a second sends nothing")
    if key is not None and (
        not 0 < len(key) <= MAX_KEY
        or not all(character.isalnum() or character in "-_." for character in key)
    ):
        raise _wrong(f"the key {key!r} is not 1 to {MAX_KEY} letters, digits, '-', '_' or '.'")
    if remove and Path(source).is_dir():
        raise _wrong("originals can be removed from a queue only, not from an archive")


def ask_manager(options: ConnectionOptions, to: str | None, *, send: bool) -> str | None:
    """The GUID of the queue manager, as far as it can be asked; refuse a wrong destination.

    Raises:
        QueueError: the queue manager does not take messages for it.
        ConnectionLost: no queue manager answers, and messages are to be sent.
    """
    try:
        # A dry run of an archive does without a queue manager, and does not wait for one.
        with open_connection(options if send else replace(options, timeout=0.0)) as manager:
            if to is not None:
                manager.open_queue(to, "send").close()
            return manager.identity.guid
    except ConnectionLost:
        if send:
            raise
        return None


def _wrong(detail: str) -> PipelineError:
    return PipelineError(
        detail, cause="An argument has a value that cannot be used.", remedy="Change it."
    )


def _chart(groups: tuple[tuple[Any, ...], ...]) -> Bars:
    totals: dict[str, int] = {}
    for group in groups:
        totals[str(group[0])] = totals.get(str(group[0]), 0) + group[-1]
    return Bars("Messages by destination", tuple(totals), tuple(map(float, totals.values())))
