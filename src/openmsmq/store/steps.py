"""The parts that maintenance is made of: I/O in one thread, what follows from it in the owner's."""

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

from openmsmq.wire.errors import StoreError

from .segments import NO_SPACE

Then = Callable[[], None]
"""What the owner does after the I/O."""


def nothing() -> None:
    """Nothing follows."""


class Task(NamedTuple):
    """Something to do, and what follows if the disk is full."""

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
    """Keeps an allocation that found no space from being tried until there is more."""

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
    """Work beside maintenance that needs files to stay: a backup."""

    @property
    def segments(self) -> Collection[int]:
        """Segments that must stay."""

    @property
    def generations(self) -> Collection[int]:
        """Snapshots that must stay."""

    def next(self) -> Task | None:
        """The next piece, or None when done."""

    def abandon(self) -> None:
        """Give up."""
