"""A progress bar on stderr while a pipeline runs: its steps, and Spark's tasks within a step."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.terminal.streams import is_terminal

if TYPE_CHECKING:
    from pyspark import StatusTracker
    from pyspark.sql import SparkSession
    from rich.progress import Progress as RichProgress

POLL_SECONDS: Final = 0.3


class Step(Protocol):
    """Told what a pipeline does next."""

    def __call__(self, what: str, /) -> None: ...


def silent(_what: str, /) -> None:
    """Shows nothing."""


@contextmanager
def progress(spark: "SparkSession", title: str, steps: int) -> Iterator[Step]:
    """A function to call at the beginning of each step; the bar is there on a terminal only.

    Args:
        spark: the session whose tasks are counted within a step.
        title: what runs, in a word or two.
        steps: how many steps there are.
    """
    if not is_terminal(sys.stderr):
        yield silent
        return
    bar = _Bar(title, steps)
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, bar, stop), daemon=True)
    watcher.start()
    try:
        yield bar.step
    finally:
        stop.set()
        watcher.join()
        bar.close()


class _Bar:
    """Steps done of all, moved on between them by the share of tasks done."""

    def __init__(self, title: str, steps: int) -> None:
        self._title = title
        self._done = -1
        self._shown = _rich_progress()
        self._task = self._shown.add_task(title, total=steps)
        self._shown.start()

    def step(self, what: str, /) -> None:
        self._done += 1
        self._shown.update(self._task, completed=self._done, description=f"{self._title}: {what}")

    def within(self, share: float) -> None:
        self._shown.update(self._task, completed=max(self._done, 0) + min(share, 1.0))

    def close(self) -> None:
        self._shown.stop()


def _rich_progress() -> "RichProgress":
    # Loaded only here, where somebody looks.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _watch(spark: "SparkSession", bar: _Bar, stop: threading.Event) -> None:
    tracker = _tracker(spark)
    while tracker is not None and not stop.wait(POLL_SECONDS):
        completed, total = tasks(tracker)
        if total:
            bar.within(completed / total)


def _tracker(spark: "SparkSession") -> "StatusTracker | None":
    from pyspark.sql.utils import is_remote

    # Spark Connect does not tell how far its tasks are to other threads.
    return None if is_remote() else spark.sparkContext.statusTracker()


def tasks(tracker: "StatusTracker") -> tuple[int, int]:
    """How many tasks of the stages that run now are done, and how many there are."""
    infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    known = [info for info in infos if info is not None]
    return sum(i.numCompletedTasks for i in known), sum(i.numTasks for i in known)
