"""Sending the chunks of a replay, each once, and removing the originals of sent messages."""

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.connection import CONNECTION, ConnectionOptions
from openmsmq.spark.options.names import read_values
from openmsmq.spark.options.records import ReadOptions
from openmsmq.spark.pipelines.sources import parse_queue
from openmsmq.spark.readers.queue_selection import select_queues
from openmsmq.terminal.progress import progress
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .job import SENT_COLUMNS, TARGET, ReplayJob, numbered
from .state import IDENTITY, ReplayState, Run, chunk_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHUNK_ROWS: Final = 10_000
# How long a chunk takes at the wanted rate, so that the rate is even.
CHUNK_SECONDS: Final = 2.0


class Outcome(NamedTuple):
    """How many messages were sent, how many originals removed, and what is for other machines."""

    sent: int = 0
    removed: int = 0
    elsewhere: int = 0


class Sender:
    """Sends the chunks of runs."""

    def __init__(
        self, job: ReplayJob, memory: ReplayState, rate: float | None, *, remove: bool
    ) -> None:
        self._job = job
        self._memory = memory
        self._rate = rate
        self._remove = remove
        self._elsewhere = 0
        # Whether a queue is on another machine.
        self._far: dict[str, bool] = {}

    def run(self, rows: "DataFrame | None") -> Outcome:
        """Finish earlier runs, then send what is new."""
        runs = self._memory.runs()
        if rows is not None:
            chunk = CHUNK_ROWS
            if self._rate is not None:
                chunk = min(chunk, max(1, int(self._rate * CHUNK_SECONDS)))
            runs.append(self._memory.plan(numbered(rows), chunk))
        chunks = [(run, number) for run in runs for number in run.open_chunks(remove=self._remove)]
        sent = removed = 0
        # No catching up after a delay: that would be more than the rate.
        due = time.monotonic()
        with progress("replaying", sum(run.messages for run in runs) or None) as update:
            for run, number in chunks:
                if not run.is_sent(number):
                    time.sleep(max(0.0, due - time.monotonic()))
                    count = self._send(run, number)
                    sent += count
                    due = time.monotonic() + (count / self._rate if self._rate else 0.0)
                    update(sent)
                if self._remove:
                    removed += self._remove_originals(run, number)
        return Outcome(sent, removed, self._elsewhere)

    def _send(self, run: Run, number: int) -> int:
        job = self._job
        rows = run.chunk(job.spark, number)
        collected = rows.select(*IDENTITY, TARGET).collect()
        (
            rows.selectExpr(f"{TARGET} as queue", *SENT_COLUMNS)
            .write.format("msmq")
            .options(**job.options)
            .option("idempotencyKey", chunk_name(job.key, [(row[0], row[1]) for row in collected]))
            # Nobody here knows what a queue of another machine takes, but the original did.
            .option("transactionalColumn", "transactional")
            .mode("append")
            .save()
        )
        run.note_sent(number)
        self._elsewhere += self._count_far([row[2] for row in collected])
        return len(collected)

    def _count_far(self, names: Collection[str]) -> int:
        """How many of these queues, one for each message, are on other machines."""
        unknown = set(names) - self._far.keys()
        if unknown:
            values = read_values(self._job.connection(), CONNECTION)
            with open_connection(ConnectionOptions.from_values(values)) as manager:
                for name in unknown:
                    with manager.open_queue(name, "send") as queue:
                        self._far[name] = queue.is_transactional() is None
        return sum(self._far[name] for name in names)

    def _remove_originals(self, run: Run, number: int) -> int:
        if run.is_removed(number):
            return 0
        job = self._job
        rows = run.chunk(job.spark, number).select("lookup_id", "id").collect()
        source_options = parse_queue(job.source, job.endpoint).options()
        options = ReadOptions.parse({**job.connection(), **source_options})
        removed = 0
        with open_connection(options.connection) as manager:
            (source,) = select_queues(manager, options)
            with manager.open_queue(source.opened_as, "receive") as queue:
                for lookup_id, message_id in rows:
                    try:
                        # Nothing else is taken, not even where a queue was made again.
                        if queue.peek_by_lookup_id(lookup_id).id == message_id:
                            queue.receive_by_lookup_id(lookup_id)
                            removed += 1
                    except QueueError as exc:
                        if exc.code != Hresult.MQ_ERROR_MESSAGE_NOT_FOUND:
                            raise
            manager.flush()
        run.note_removed(number)
        return removed
