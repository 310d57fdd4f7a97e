"""Counters and times that a producer, a consumer and the driver of a benchmark share.

A file in memory, without locks: each slot has one writer. `perf_counter` is the same clock in all
processes of a machine.
"""

import contextlib
import mmap
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

T = TypeVar("T")
# Python 3.11 cannot subscript it yet.
Board: TypeAlias = "memoryview[float]"

BODY_SIZE: Final = 1024
BODY: Final = os.urandom(BODY_SIZE)
IN_FLIGHT: Final = 1000
"""How many durable messages may be unconfirmed."""
ACKNOWLEDGE_EVERY: Final = 100
WINDOW: Final = 20_000
"""How far the producer may be ahead of the consumer; so this is no race into memory."""
PAUSE_SECONDS: Final = 0.0005

now: Final = time.perf_counter


class Slot(IntEnum):
    """What is where."""

    CONSUMER_READY = 0
    PRODUCER_READY = 1
    GO = 2
    STOP = 3
    RECEIVED = 4
    FIRST_RECEIVED = 5
    SENT = 6
    STARTED = 7
    FINISHED = 8


_STOP: Final = int(Slot.STOP)
_RECEIVED: Final = int(Slot.RECEIVED)
_FIRST_RECEIVED: Final = int(Slot.FIRST_RECEIVED)


def open_board(path: Path) -> Board:
    """The slots in a board file."""
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0)).cast("d")


@contextlib.contextmanager
def new_board() -> Iterator[tuple[Path, Board]]:
    """A board of zeros that goes away at the end."""
    shared = Path("/dev/shm")  # noqa: S108 - memory of this machine; the name below is random
    folder = shared if shared.is_dir() else Path(tempfile.gettempdir())
    handle, name = tempfile.mkstemp(prefix="bench-", dir=folder)
    os.write(handle, bytes(8 * len(Slot)))
    os.close(handle)
    try:
        yield Path(name), open_board(Path(name))
    finally:
        Path(name).unlink()


def wait_for(board: Board, slot: Slot) -> None:
    """Sleep until the slot is set."""
    while not board[slot]:
        time.sleep(PAUSE_SECONDS)


def persist(connect: Callable[[], T], seconds: float = 90.0) -> T:
    """Call until it works: the broker may still be starting."""
    end = now() + seconds
    while True:
        try:
            return connect()
        except Exception:
            if now() > end:
                raise
            time.sleep(0.005)


class Producer:
    """When a producing program may send, and how many messages."""

    def __init__(self, board: Board, *, count: int = 0, window: int = WINDOW) -> None:
        self._board = board
        self._count = count
        self._window = window
        self.sent = 0

    def start(self) -> None:
        """The connection is there: wait for the driver."""
        self._board[Slot.PRODUCER_READY] = 1
        wait_for(self._board, Slot.GO)
        self._board[Slot.STARTED] = now()

    def room(self, wanted: int) -> int:
        """How many messages to send now, -1 when it is over; sleeps when it is none."""
        board = self._board
        if board[_STOP]:
            return -1
        if self._count:
            return min(wanted, self._count - self.sent) or -1
        room = min(wanted, self._window - (self.sent - int(board[_RECEIVED])))
        if room <= 0:
            time.sleep(PAUSE_SECONDS)
            return 0
        return room

    def finish(self) -> None:
        """Everything is sent, and confirmed where there are confirms."""
        self._board[Slot.SENT] = self.sent
        self._board[Slot.FINISHED] = now()


class Consumer:
    """Counts what a consuming program received."""

    __slots__ = ("_board", "received")

    def __init__(self, board: Board) -> None:
        self._board = board
        self.received = 0

    def start(self, *, wait: bool) -> None:
        """Ready to consume; with `wait`, not before the driver says so."""
        self._board[Slot.CONSUMER_READY] = 1
        if wait:
            wait_for(self._board, Slot.GO)

    def hit(self, body: bytes) -> None:
        """One message is here."""
        if len(body) != BODY_SIZE:
            raise ValueError(f"a body of {len(body)} bytes")
        self.received += 1
        self._board[_RECEIVED] = self.received
        if self.received == 1:
            self._board[_FIRST_RECEIVED] = now()
