# Written by `python -m tools.facade` from asynchronous/message_stream.py; change that, not this.
"""Iteration of the blocking client."""

import contextlib
import time
from collections.abc import Generator
from types import TracebackType
from typing import Final, Self

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.prefetch import Prefetch
from openmsmq.client.received_message import ReceivedMessage

from .driver import Driver

# A slow loop removes what it has taken this often, a fast one batch by batch.
REMOVE_SECONDS: Final = 0.05


class MessageStream:
    """The messages of a queue as they arrive; returned by `Queue.messages`.

    In a `with` statement an exception puts the current message back in place. Without one,
    leaving the loop removes the current message.
    """

    def __init__(self, driver: Driver, ahead: Prefetch, timeout: float | None) -> None:
        self._driver = driver
        self._ahead = ahead
        # It knows nothing of this object, so that it ends as soon as a loop drops it.
        self._messages = take(driver, ahead, timeout)

    def __iter__(self) -> Generator[ReceivedMessage, None, None]:
        # The generator itself: one call less for each message.
        return self._messages

    def __next__(self) -> ReceivedMessage:
        return next(self._messages)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ahead.current_taken = kind is None
        with contextlib.suppress(*((ConnectionLost,) if kind is not None else ())):
            self.close()

    def ack(self, message: ReceivedMessage) -> None:
        """Remove a message of the loop, and continue with the loop.

        The removal is sent when this returns, and final after `QueueManager.flush()`.

        Raises:
            ValueError: it was removed or put back before, or the connection was lost.
        """
        self._settle(message, taken=True)

    def nack(self, message: ReceivedMessage) -> None:
        """Put a message of the loop back in place; the loop continues and may receive it again.

        Raises:
            ValueError: it was removed or put back before, or the connection was lost.
        """
        self._settle(message, taken=False)

    def _settle(self, message: ReceivedMessage, *, taken: bool) -> None:
        self._driver.step(self._ahead.settle, message, taken=taken)
        self._driver.flush_data()

    def close(self) -> None:
        """End the loop: received messages are removed, the others go back in place."""
        self._messages.close()


def take(
    driver: Driver, ahead: Prefetch, timeout: float | None
) -> Generator[ReceivedMessage, None, None]:
    """Yield the messages one by one; each is received when the next one is requested."""
    clock = time.monotonic
    try:
        while True:
            batch = driver.call_waiting(timeout, ahead.next_batch)
            if batch is None:
                return
            due = clock() + REMOVE_SECONDS
            for number, message in enumerate(batch, 1):
                ahead.given = number
                yield message
                if clock() > due:
                    driver.step(ahead.remove_taken)
                    if not (driver.flush_data() and ahead.holds_rest):
                        # The rest of the batch is back in the queue.
                        break
                    due = clock() + REMOVE_SECONDS
    finally:
        if driver.usable:
            driver.call(ahead.close)
