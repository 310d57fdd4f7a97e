"""A data source `msmq` that kills somebody once, at a named point.

It is registered by the driver program of the kill tests. Python workers of Spark import this module
to unpickle its readers and writers, and what `OPENMSMQ_KILL` says is installed then.
"""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from openmsmq.client.blocking.ranges import Producer, Ranges
from openmsmq.client.logic.ranges import Leased
from openmsmq.protocol.local.messages import Block
from openmsmq.spark.publishing import Staging
from openmsmq.spark.source import MsmqDataSource
from openmsmq.spark.stream_reader import StreamReader
from openmsmq.spark.writer import StreamWriter

VARIABLE = "OPENMSMQ_KILL"
DRIVER = "OPENMSMQ_KILL_DRIVER"


class KillingReader(StreamReader):
    """Pickled by its name, so that whoever reads imports this module."""


class KillingWriter(StreamWriter):
    """The same for those who write."""


class KillingSource(MsmqDataSource):
    """`msmq` with the reader and the writer of this module."""

    def streamReader(self, schema: Any) -> StreamReader:  # noqa: N802 - Spark's name
        made = super().streamReader(schema)
        made.__class__ = KillingReader
        return made

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802, FBT001 - Spark's
        made = super().streamWriter(schema, overwrite)
        made.__class__ = KillingWriter
        return made


class Killer:
    """Kills once in all processes that share the marker file."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.point: str = plan["point"]
        self._victim: str = plan["victim"]
        self._marker = Path(plan["marker"])
        self._queue_manager = Path(plan["queue_manager"])
        self._after: int = plan["after"]
        self._seen = 0

    def here(self) -> None:
        """The named point is reached in this process."""
        self._seen += 1
        if self._seen <= self._after:
            return
        try:
            self._marker.touch(exist_ok=False)
        except FileExistsError:
            return
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


def install(killer: Killer) -> None:
    """Patch our classes in this process."""
    HOOKS[killer.point](killer)


def replace(owner: type, name: str, new: Callable[..., Any]) -> None:
    setattr(owner, name, new)


def after_lease(killer: Killer) -> None:
    lease = Ranges.lease

    def patched(self: Ranges, *args: Any, **kwargs: Any) -> Leased:
        leased = lease(self, *args, **kwargs)
        if leased.count:
            killer.here()
        return leased

    replace(Ranges, "lease", patched)


def after_offset_log(killer: Killer) -> None:
    partitions = StreamReader.partitions

    def patched(self: StreamReader, *args: Any) -> Any:
        killer.here()
        return partitions(self, *args)

    replace(StreamReader, "partitions", patched)


def mid_read(killer: Killer) -> None:
    peek = Ranges.peek

    def patched(self: Ranges, after: int, upto: int, **_kwargs: Any) -> Iterator[Block]:
        for block in peek(self, after, upto, block_rows=100):
            yield block
            killer.here()

    replace(Ranges, "peek", patched)


def after_stage(killer: Killer) -> None:
    finish = Staging.finish

    def patched(self: Staging) -> tuple[int, int] | None:
        stage = finish(self)
        killer.here()
        return stage

    replace(Staging, "finish", patched)


def after_commit_batch(killer: Killer) -> None:
    commit = Producer.commit

    def patched(self: Producer, *args: Any) -> bool:
        is_new = commit(self, *args)
        killer.here()
        return is_new

    replace(Producer, "commit", patched)


def after_commit_log(killer: Killer) -> None:
    latest = StreamReader.latestOffset

    def patched(self: StreamReader, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        # Spark asks with this start when everything up to it is in its commit log.
        if any(entry["seq"] > entry["base"] for entry in start["queues"].values()):
            killer.here()
        return latest(self, start, limit)

    replace(StreamReader, "latestOffset", patched)


def mid_ack(killer: Killer) -> None:
    acknowledge = Ranges.acknowledge

    def patched(self: Ranges, base: int, upto: int, *args: Any) -> int:
        first = self.info().first
        if base < first < upto:
            acknowledge(self, base, (first + upto) // 2)
            killer.here()
        return acknowledge(self, base, upto, *args)

    replace(Ranges, "acknowledge", patched)


HOOKS = {
    "after lease": after_lease,
    "after offset log": after_offset_log,
    "mid-read": mid_read,
    "after stage": after_stage,
    "after commit_batch": after_commit_batch,
    "after commit log": after_commit_log,
    "mid-ack": mid_ack,
}

if VARIABLE in os.environ:
    install(Killer(json.loads(os.environ[VARIABLE])))
