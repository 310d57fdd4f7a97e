"""The building blocks of maintenance: I/O in one thread, the completion in the owner's."""

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

from openmsmq.wire.errors import StoreError

from .segments import NO_SPACE

Then = Callable[[], None]
"""The completion, run by the owner after the I/O."""


def nothing() -> None:
    """No completion."""


class Task(NamedTuple):
    """A task, and the completion if the disk is full."""

    do: Callable[[], Then]
    full: Then = nothing


class TaskStep:
    """A task as a step."""

    __slots__ = ("_do", "_ended", "_next")

    def __init__(self, task: Task, ended: Then) -> None:
        self._do, self._next = task
        self._ended = ended

    def run(self) -> None:
        try:
            self._next = self._do()
        except OSError as exc:
            if exc.errno not in NO_SPACE:
                raise StoreError(f"{exc.filename or 'the store'}: {exc.strerror or exc}") from exc

    def finish(self) -> None:
        self._ended()
        self._next()


class Gate:
    """Delays the retry of an allocation that found no space until there is more."""

    __slots__ = ("_free_bytes", "closed")

    def __init__(self) -> None:
        self.closed = False
        self._free_bytes = 0

    def opens(self, free_bytes: int, size: int) -> bool:
        return free_bytes >= size and not (self.closed and free_bytes <= self._free_bytes)

    def close(self, free_bytes: int) -> None:
        self.closed = True
        self._free_bytes = free_bytes


class Job(Protocol):
    """Work besides maintenance that needs files to be kept: a backup."""

    @property
    def segments(self) -> Collection[int]:
        """Segments to be kept."""

    @property
    def generations(self) -> Collection[int]:
        """Snapshots to be kept."""

    def next(self) -> Task | None:
        """The next piece, or None when done."""

    def abandon(self) -> None:
        """Cancel."""
