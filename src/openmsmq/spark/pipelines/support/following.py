"""Streaming queries that users end: the current batch is completed first."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from .failures import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

LOOK_SECONDS: Final = 0.3
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """A batch that is not begun because its query is about to end."""


class Gate:
    """What batches pass through, until it is closed."""

    def __init__(self) -> None:
        self._one_batch = threading.Lock()
        self._closed = False

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The time of one batch.

        Raises:
            Interrupted: the gate is closed; Spark offers the batch again when it is started again.
        """
        with self._one_batch:
            if self._closed:
                raise Interrupted("the query is about to end")
            yield

    def close(self) -> None:
        """Return when the batch that runs has ended; none begins from now on."""
        self._closed = True
        with self._one_batch:
            pass


def gated(
    work: "Callable[[DataFrame, int], None]", gate: Gate
) -> "Callable[[DataFrame, int], None]":
    """The work of a batch through a gate; over Spark Connect it is done elsewhere, and without."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return work

    def pass_gate(frame: "DataFrame", batch: int) -> None:
        with gate.batch():
            work(frame, batch)

    return pass_gate


@contextmanager
def interruptions(stop: threading.Event | None = None) -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, instead of what they do otherwise.

    PySpark cancels all jobs at Ctrl-C, in the middle of a batch. A second one still does that.

    Args:
        stop: the event, if others set it, too.
    """
    event = stop or threading.Event()
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread gets signals.
        yield event
        return
    # None stands for a handler that is not Python's, and cannot be put back.
    before = {number: signal.getsignal(number) or signal.SIG_DFL for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def interrupt(_number: int, _frame: object) -> None:
        restore()
        event.set()

    for number in _SIGNALS:
        signal.signal(number, interrupt)
    try:
        yield event
    finally:
        restore()


def wait_for_end(
    query: "StreamingQuery",
    gate: Gate,
    stop: threading.Event,
    look: Callable[[], None] = lambda: None,
) -> bool:
    """Return when a query has ended, or was stopped between two batches because of `stop`.

    Args:
        look: called again and again meanwhile.

    Returns:
        Whether it was stopped.

    Raises:
        QueueError: the query has failed.
    """
    with explained():
        while not query.awaitTermination(LOOK_SECONDS):  # type: ignore[arg-type]  # takes fractions
            if stop.is_set():
                gate.close()
                failed = query.exception()
                query.stop()
                # A batch that came to the closed gate has failed because of us.
                if failed is not None and Interrupted.__name__ not in str(failed):
                    raise failed
                return True
            look()
    return False
