"""The state of replays: the selected messages, and those that were sent.

Each run records all its messages in numbered chunks before it sends any. A chunk is sent under a
name made of its messages, which the queue manager accepts once, and is then recorded as sent. The
next run completes a run that was killed.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from openmsmq.care.durable import make_directory, sync_tree, write_durably
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.spark_paths import literal_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHUNK: Final = "chunk"
POSITION: Final = "position"
# What tells one message from another, also in an archive of several queues.
IDENTITY: Final = ("queue", "id")
_PLAN: Final = "plan"
_DESCRIPTION: Final = "plan.json"
_SENT: Final = "sent"
_REMOVED: Final = "removed"
_MANAGER: Final = "queue-manager"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a replay: a plan of messages in chunks."""

    folder: Path
    messages: int
    chunks: int

    def frame(self, spark: "SparkSession") -> "DataFrame":
        """All messages of the plan."""
        return spark.read.parquet(literal_path(self.folder / _PLAN))

    def chunk(self, spark: "SparkSession", number: int) -> "DataFrame":
        """The messages of one chunk in one partition, in their order."""
        return (
            self.frame(spark)
            .filter(f"{CHUNK} = {number}")
            .repartition(1)
            .sortWithinPartitions(POSITION)
        )

    def is_sent(self, number: int) -> bool:
        """Whether a chunk was sent."""
        return self._mark(_SENT, number).exists()

    def is_removed(self, number: int) -> bool:
        """Whether the originals of a chunk were removed."""
        return self._mark(_REMOVED, number).exists()

    def note_sent(self, number: int) -> None:
        """Remember that a chunk was sent."""
        write_durably(self._mark(_SENT, number), b"")

    def note_removed(self, number: int) -> None:
        """Remember that the originals of a chunk were removed."""
        write_durably(self._mark(_REMOVED, number), b"")

    def open_chunks(self, *, remove: bool) -> Iterator[int]:
        """Chunks with something left to do."""
        for number in range(self.chunks):
            if not self.is_sent(number) or (remove and not self.is_removed(number)):
                yield number

    def _mark(self, what: str, number: int) -> Path:
        return self.folder / f"{what}-{number:08d}"


class ReplayState:
    """The runs of all replays with the same key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def claim(self, manager: str) -> None:
        """Keep other queue managers from getting what this one was to get.

        Raises:
            PipelineError: an earlier run with this folder has sent through another one.
        """
        self.check(manager)
        path = self._folder / _MANAGER
        if not path.exists():
            write_durably(path, manager.encode())

    def check(self, manager: str) -> None:
        """See that no other queue manager got what this one is to get.

        Raises:
            PipelineError: an earlier run with this folder has sent through another one.
        """
        path = self._folder / _MANAGER
        if path.exists() and (recorded := path.read_text()) != manager:
            raise PipelineError(
                f"{self._folder} remembers what the queue manager {recorded} was sent, "
                f"not {manager}",
                cause="The key or the folder was used for another queue manager before.",
                remedy="Name another key, and another folder if you name one.",
            )

    def runs(self) -> list[Run]:
        """The runs whose plan is complete."""
        runs: list[Run] = []
        for path in sorted(self._folder.glob(f"run-*/{_DESCRIPTION}")):
            document = json.loads(path.read_bytes())
            runs.append(Run(path.parent, document["messages"], document["chunks"]))
        return runs

    def chosen(self, spark: "SparkSession") -> "DataFrame | None":
        """The messages of all runs by their identity; None when there was none."""
        frames = [run.frame(spark).select(*IDENTITY) for run in self.runs()]
        if not frames:
            return None
        united = frames[0]
        for frame in frames[1:]:
            united = united.unionAll(frame)
        return united

    def plan(self, rows: "DataFrame", chunk_rows: int) -> Run:
        """Write down what is going to be sent: `rows`, numbered by `POSITION` from 0 on."""
        from pyspark.sql import functions as f

        runs = self.runs()
        folder = self._folder / f"run-{len(runs):06d}"
        # A plan without its description was not finished, and nothing of it was sent.
        shutil.rmtree(folder, ignore_errors=True)
        make_directory(folder)
        chunked = rows.withColumn(CHUNK, f.floor(f.col(POSITION) / chunk_rows))
        chunked.write.partitionBy(CHUNK).parquet(str(folder / _PLAN))
        # Spark does not wait for the disk, and the plan must outlast what is sent of it.
        sync_tree(folder / _PLAN)
        messages = rows.sparkSession.read.parquet(literal_path(folder / _PLAN)).count()
        run = Run(folder, messages, -(-messages // chunk_rows))
        document = {"messages": run.messages, "chunks": run.chunks}
        write_durably(folder / _DESCRIPTION, json.dumps(document).encode() + b"\n")
        return run


def chunk_name(key: str, identities: Iterable[tuple[str | None, str]]) -> str:
    """The name under which the queue manager takes a chunk once: its messages and the key."""
    digest = hashlib.sha256()
    for queue, message_id in sorted((queue or "", message) for queue, message in identities):
        digest.update(f"{queue}\0{message_id}\0".encode())
    return f"replay/{key}/{digest.hexdigest()[:32]}"
