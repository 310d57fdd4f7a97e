"""Progress bars on stderr, for people who wait: not for scripts, and not for what is quick."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from .streams import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

QUIET_SECONDS: Final = 1.0


class Update(Protocol):
    """Told how much is done, and of how much if that was not known before."""

    def __call__(self, completed: int, total: int | None = None, /) -> None: ...


@contextmanager
def progress(what: str, total: int | None, *, in_bytes: bool = False) -> Iterator[Update]:
    """A function to call with how much is done; a bar appears when it takes long.

    Args:
        what: what is going on, in a word or two.
        total: how much there is to do, None if unknown.
        in_bytes: count bytes, not messages.
    """
    if not is_terminal(sys.stderr):
        yield _nothing
        return
    bar = _Bar(what, total, in_bytes=in_bytes)
    try:
        yield bar.update
    finally:
        bar.close()


def _nothing(completed: int, total: int | None = None) -> None:
    """Takes the place of a bar where there is no terminal."""


class _Bar:
    """A bar that begins once the work takes longer than people like to wait without a word."""

    def __init__(self, what: str, total: int | None, *, in_bytes: bool) -> None:
        self._what = what
        self._total = total
        self._in_bytes = in_bytes
        self._started: float | None = None
        self._shown: Progress | None = None

    def update(self, completed: int, total: int | None = None) -> None:
        if self._shown is None:
            now = time.monotonic()
            # The clock starts with the work: a user who types messages needs no bar.
            self._started = self._started or now
            if now - self._started < QUIET_SECONDS:
                return
            self._shown = self._show()
        self._shown.update(self._shown.task_ids[0], completed=completed, total=total)

    def _show(self) -> "Progress":
        # Loaded only here: most commands are over before.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        amount: ProgressColumn = DownloadColumn() if self._in_bytes else MofNCompleteColumn()
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            amount,
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.add_task(self._what, total=self._total)
        bar.start()
        return bar

    def close(self) -> None:
        if self._shown is not None:
            self._shown.stop()
            self._shown = None
