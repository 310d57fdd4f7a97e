"""Histograms of the process."""

import asyncio
import os
import resource
import shutil
import time
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from openmsmq.core.management.records import Histogram

# The interval of measurements of the event loop.
LAG_SECONDS: Final = 0.1
LAG_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
FLUSH_BOUNDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
BATCH_BOUNDS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0)
_PAGE_BYTES: Final = resource.getpagesize()
_STATM: Final = Path("/proc/self/statm")
_FILES: Final = Path("/proc/self/fd")


class Meter:
    """Counts values by size. One thread adds; others may read."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def read(self) -> Histogram:
        return Histogram(bounds=self._bounds, counts=tuple(self._counts), sum=self._sum)


class LoopLag:
    """The delay of timers of the event loop."""

    def __init__(self) -> None:
        self.meter: Final = Meter(LAG_BOUNDS)
        self._loop = asyncio.get_running_loop()
        self._due = 0.0
        self._timer: asyncio.TimerHandle
        self._set()

    def _set(self) -> None:
        self._due = time.monotonic() + LAG_SECONDS
        self._timer = self._loop.call_later(LAG_SECONDS, self._fired)

    def _fired(self) -> None:
        self.meter.add(max(time.monotonic() - self._due, 0.0))
        self._set()

    def close(self) -> None:
        self._timer.cancel()


def memory_sizes() -> tuple[int, int]:
    """Virtual and resident bytes of this process; 0 where the system does not report them."""
    try:
        words = _STATM.read_text().split()
    except OSError:
        return 0, 0
    return int(words[0]) * _PAGE_BYTES, int(words[1]) * _PAGE_BYTES


def open_files() -> int:
    """The number of open files of this process; 0 where the system does not report it."""
    try:
        return len(os.listdir(_FILES))  # noqa: PTH208 - a list of names is all that is needed
    except OSError:
        return 0


def free_bytes(folder: Path) -> int:
    """The free space of the disk of a folder; 0 if unknown."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
