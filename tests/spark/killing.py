"""The data source `msmq-killing`: it is `msmq`, but kills somebody once, at a named point.

Its option `kill` says whom and where; `Killer` has the keys.
"""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import InputPartition, WriterCommitMessage

from openmsmq.client.blocking.ranges import Producer, Ranges
from openmsmq.client.logic.ranges import Leased
from openmsmq.protocol.local.messages import Block
from openmsmq.spark.readers.stream_reader import StreamReader
from openmsmq.spark.source import MsmqDataSource
from openmsmq.spark.writers.publishing import Staging
from openmsmq.spark.writers.writer import StreamWriter

FORMAT = "msmq-killing"
# The process group of the driver, for those who are to kill it.
DRIVER = "OPENMSMQ_KILL_DRIVER"
BLOCK_ROWS = 20


class Killer:
    """Kills once in all processes that share the marker files.

    Args:
        plan: the `point`, the `victim`, how often the point is passed before it counts (`after`),
            the start of the names of files that count (`marker`), and the file with the process
            id of the queue manager (`queue_manager`).
    """

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.point: str = plan["point"]
        self._victim: str = plan["victim"]
        self._markers = [Path(f"{plan['marker']}{number}") for number in range(plan["after"] + 1)]
        self._queue_manager = Path(plan["queue_manager"])

    @property
    def has_killed(self) -> bool:
        return self._markers[-1].exists()

    def here(self) -> None:
        """The named point is reached in this process."""
        for marker in self._markers:
            try:
                marker.touch(exist_ok=False)
            except FileExistsError:
                continue
            if marker == self._markers[-1]:
                self._kill()
            return

    def _kill(self) -> None:
        if self._victim == "queue manager":
            os.kill(int(self._queue_manager.read_text()), signal.SIGKILL)
            return
        if self._victim == "driver":
            os.killpg(int(os.environ[DRIVER]), signal.SIGKILL)
        elif self._victim == "jvm":
            os.kill(java_above(os.getpid()), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)


def java_above(pid: int) -> int:
    """The JVM that a Python worker belongs to."""
    while Path(f"/proc/{pid}/comm").read_text().strip() != "java":
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


class KillingReader(StreamReader):
    """Each call is made with the hook in place."""

    killer: Killer

    def latestOffset(self, *args: Any) -> dict[str, Any]:  # noqa: N802 - Spark's name
        with armed(self.killer):
            return super().latestOffset(*args)

    def partitions(self, *args: Any) -> list[InputPartition]:
        with armed(self.killer):
            return super().partitions(*args)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with armed(self.killer):
            yield from super().read(partition)

    def commit(self, end: dict[str, Any]) -> None:
        with armed(self.killer):
            super().commit(end)


class KillingWriter(StreamWriter):
    """The same for those who write."""

    killer: Killer

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        with armed(self.killer):
            return super().write(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        with armed(self.killer):
            super().commit(messages, batchId)


class KillingSource(MsmqDataSource):
    """`msmq` with the reader and the writer of this module."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._plan = json.loads(options["kill"])
        super().__init__({name: value for name, value in options.items() if name != "kill"})

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> Any:  # noqa: N802 - Spark's name
        return self._armed(super().streamReader(schema), KillingReader)

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802, FBT001 - Spark's
        return self._armed(super().streamWriter(schema, overwrite), KillingWriter)

    def _armed(self, made: Any, kind: type) -> Any:
        made.__class__ = kind
        made.killer = Killer(self._plan)
        return made


# The points


def after_lease(killer: Killer, lease: Callable[..., Leased]) -> Callable[..., Leased]:
    def patched(*args: Any, **kwargs: Any) -> Leased:
        leased = lease(*args, **kwargs)
        if leased.count:
            killer.here()
        return leased

    return patched


def before(killer: Killer, original: Callable[..., Any]) -> Callable[..., Any]:
    def patched(*args: Any) -> Any:
        killer.here()
        return original(*args)

    return patched


def after(killer: Killer, original: Callable[..., Any]) -> Callable[..., Any]:
    def patched(*args: Any) -> Any:
        result = original(*args)
        killer.here()
        return result

    return patched


def mid_read(killer: Killer, peek: Callable[..., Iterator[Block]]) -> Callable[..., Any]:
    def patched(*args: Any, **kwargs: Any) -> Iterator[Block]:
        for block in peek(*args, **(kwargs | {"block_rows": BLOCK_ROWS})):
            yield block
            killer.here()

    return patched


def after_commit_log(killer: Killer, latest: Callable[..., Any]) -> Callable[..., Any]:
    def patched(self: StreamReader, start: dict[str, Any], limit: Any) -> Any:
        # Spark asks with this start when everything up to it is in its commit log.
        if any(entry["seq"] > entry["base"] for entry in start["queues"].values()):
            killer.here()
        return latest(self, start, limit)

    return patched


def mid_ack(killer: Killer, acknowledge: Callable[..., int]) -> Callable[..., int]:
    def patched(self: Ranges, base: int, upto: int, *args: Any) -> int:
        first = self.info().first
        if base < first < upto:
            acknowledge(self, base, (first + upto) // 2)
            killer.here()
        return acknowledge(self, base, upto, *args)

    return patched


class Hook(NamedTuple):
    """A method, and what is put around it."""

    owner: type
    name: str
    around: Callable[[Killer, Callable[..., Any]], Callable[..., Any]]


HOOKS = {
    "after lease": Hook(Ranges, "lease", after_lease),
    # Spark asks for partitions when the end of the batch is in its offset log.
    "after offset log": Hook(StreamReader, "partitions", before),
    "mid-read": Hook(Ranges, "peek", mid_read),
    "after stage": Hook(Staging, "finish", after),
    "after commit_batch": Hook(Producer, "commit", after),
    "after commit log": Hook(StreamReader, "latestOffset", after_commit_log),
    "mid-ack": Hook(Ranges, "acknowledge", mid_ack),
}


@contextmanager
def armed(killer: Killer) -> Iterator[None]:
    """Have the hook in place in this process, which may serve others later."""
    hook = HOOKS[killer.point]
    original = getattr(hook.owner, hook.name)
    setattr(hook.owner, hook.name, hook.around(killer, original))
    try:
        yield
    finally:
        setattr(hook.owner, hook.name, original)
