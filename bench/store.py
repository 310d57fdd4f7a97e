"""The file store beside a bare loop of writes and flushes of the same bytes.

Reproduce with `python -m bench store` (or `make bench`); add `--json` for one object per line.

The floor writes 100 packets of 1 KiB with one `pwritev` and one `fdatasync` into a preallocated
file. Ours builds a batch of 100 messages with records, encodes it, writes and flushes it, indexes
it, and does the maintenance that falls due. The floor of deletes writes and flushes as many bytes
as ours does. Floor and ours take turns, many short rounds each; the figures are medians over the
rounds. What the owner's thread does for a message is measured without the disk, too, and starts
with 200,000 live messages.

`python -m bench.store 1000000` says how long starts with that many take, and how much memory.
"""

import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Final

from bench.report import Result
from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Write
from openmsmq.wire.batch import Batch

GROUP: Final = 100
GROUPS_PER_ROUND: Final = 20
ROUNDS: Final = 60
STARTED: Final = 200_000
LIMIT: Final = 2.0
SEGMENT: Final = 64 << 20
_RECORD: Final = bytes(range(48))
_PACKETS: Final = [os.urandom(1024) for _ in range(GROUP)]


class Floor:
    """Writes and flushes, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT)
        self._offset = SEGMENT

    def write(self, buffers: list[bytes]) -> None:
        size = sum(map(len, buffers))
        if self._offset + size > SEGMENT:
            os.ftruncate(self._fd, 0)
            os.posix_fallocate(self._fd, 0, SEGMENT)
            os.fsync(self._fd)
            self._offset = 0
        os.pwritev(self._fd, buffers, self._offset)
        os.fdatasync(self._fd)
        self._offset += size

    def close(self) -> None:
        os.close(self._fd)


class Ours:
    """A file store with the maintenance that a service would do beside it."""

    def __init__(self, path: Path) -> None:
        self.store = FileStore(path, new_store_id=os.urandom(16))
        list(self.store.recover().messages)
        self.keys = count(1 << 40)
        self.live: list[int] = []

    def put(self) -> None:
        batch = Batch()
        put = batch.put
        for packet, key in zip(_PACKETS, self.keys, strict=False):
            put(key, _RECORD, packet)
        self.live += batch.put_keys
        self.commit(self.store.begin([batch]))

    def delete(self) -> None:
        batch = Batch()
        delete = batch.delete
        for key in self.live[:GROUP]:
            delete(key)
        del self.live[:GROUP]
        self.commit(self.store.begin([batch]))

    def commit(self, write: Write) -> None:
        self.store.write(write)
        self.store.finish(write)

    def maintain(self) -> None:
        while (step := self.store.maintain()) is not None:
            step.run()
            step.finish()


def timed(work: Callable[[], None], times: int) -> float:
    start = perf_counter()
    for _ in range(times):
        work()
    return perf_counter() - start


def in_turn(
    floor: Callable[[], None], ours: Callable[[], None], maintain: Callable[[], None]
) -> tuple[float, float]:
    """Seconds for one group, of the floor and of ours."""
    floors: list[float] = []
    times: list[float] = []
    for _ in range(ROUNDS):
        floors.append(timed(floor, GROUPS_PER_ROUND))
        times.append(timed(ours, GROUPS_PER_ROUND) + timed(maintain, 1))
    return (
        statistics.median(floors) / GROUPS_PER_ROUND,
        statistics.median(times) / GROUPS_PER_ROUND,
    )


def disk(directory: Path) -> list[Result]:
    """Puts and deletes with flushes, beside the floor."""
    floor = Floor(directory / "floor")
    ours = Ours(directory / "store")
    ours.maintain()
    results: list[Result] = []
    small = [bytes(64 + 8 * GROUP + 32)]
    for name, work, bare in (
        ("put, 1 KiB, 100 a flush", ours.put, _PACKETS),
        ("delete, 100 a flush", ours.delete, small),
    ):
        lowest, time = in_turn(partial(floor.write, bare), work, ours.maintain)
        results.append(Result(f"{name}: floor", GROUP / lowest))
        results.append(Result(name, GROUP / time, time / lowest, LIMIT))
    floor.close()
    ours.store.close()
    return results


def owner(directory: Path) -> list[Result]:
    """What the event loop's thread spends on a message: building the batch, begin and finish.

    Processor time of the thread, so that neither the disk nor other programs count.
    """
    ours = Ours(directory / "owner")
    keys = [next(ours.keys) for _ in range(GROUP * ROUNDS)]
    spent: dict[str, list[float]] = {"put": [], "delete": []}
    for name, times in spent.items():
        for first in range(0, len(keys), GROUP):
            chosen = keys[first : first + GROUP]
            start = thread_time()
            batch = Batch()
            if name == "put":
                put = batch.put
                for packet, key in zip(_PACKETS, chosen, strict=True):
                    put(key, _RECORD, packet)
            else:
                delete = batch.delete
                for key in chosen:
                    delete(key)
            write = ours.store.begin([batch])
            begun = thread_time()
            ours.store.write(write)
            written = thread_time()
            ours.store.finish(write)
            times.append(begun - start + thread_time() - written)
    ours.store.close()
    return [
        Result(f"{name}: what the owner's thread could do", GROUP / statistics.median(times))
        for name, times in spent.items()
    ]


def start_with(directory: Path, messages: int) -> list[Result]:
    """Starts with many live messages: from a snapshot, and from the log alone."""
    ours = Ours(directory / "clean")
    for _ in range(messages // GROUP):
        ours.put()
    shutil.copytree(directory / "clean", directory / "killed")
    ours.store.close()
    results: list[Result] = []
    for name, place in (("a snapshot", "clean"), ("the log alone", "killed")):
        start = perf_counter()
        store = FileStore(directory / place, new_store_id=bytes(16))
        keys = [key for key, _, _ in store.recover().messages]
        results.append(Result(f"start from {name}", len(keys) / (perf_counter() - start)))
    start = perf_counter()
    for first in range(0, len(keys), GROUP):
        store.read_many(keys[first : first + GROUP])
    results.append(Result("read back, 100 at a time", len(keys) / (perf_counter() - start)))
    store.close()
    return results


def run() -> list[Result]:
    """Every figure, in a directory under build/ (a disk, where /tmp may be memory)."""
    build = Path("build")
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-store-", dir=build) as name:
        directory = Path(name)
        return [*disk(directory), *owner(directory), *start_with(directory, STARTED)]


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _many(messages: int) -> None:
    """Time and memory of starts with this many messages, each in a process of its own."""
    build = Path("build")
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-store-", dir=build) as name:
        ours = Ours(Path(name))
        for _ in range(messages // GROUP):
            ours.put()
            ours.maintain()
        for how in ("after a kill", "after a clean stop"):
            if how == "after a clean stop":
                ours.store.close()
            else:
                # As a killed process leaves it: the lock is free, nothing else is done.
                ours.store._lock.close()
            child = os.fork()
            if not child:
                before = _resident_bytes()
                start = perf_counter()
                used = process_time()
                store = FileStore(Path(name), new_store_id=bytes(16))
                found = sum(1 for _ in store.recover().messages)
                seconds = perf_counter() - start
                used = process_time() - used
                size = (_resident_bytes() - before) / found
                print(
                    f"{found:,} messages {how}: {seconds:.2f} s, {used:.2f} s of processor time, "
                    f"{size:.0f} bytes a message",
                    flush=True,
                )
                os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    _many(int(sys.argv[1]) if len(sys.argv) > 1 else STARTED)
