"""Iteration of the blocking client."""

import contextlib
import time
from collections.abc import Generator
from types import TracebackType
from typing import Final, Self

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.prefetch import Prefetch
from openmsmq.client.received_message import ReceivedMessage

from .connection import Connection

# A slow loop removes what it has taken this often, a fast one batch by batch.
REMOVE_SECONDS: Final = 0.05


class MessageStream:
    """The messages of a queue as they come; made by `Queue.messages`.

    In a `with` statement an exception puts the current message back in place. Without one, leaving
    the loop means that the current message was taken.
    """

    def __init__(self, connection: Connection, ahead: Prefetch, timeout: float | None) -> None:
        self._connection = connection
        self._ahead = ahead
        self._timeout = timeout
        self._current_taken = True
        self._messages = self._run()

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
        self._current_taken = kind is None
        with contextlib.suppress(*((ConnectionLost,) if kind is not None else ())):
            self.close()

    def close(self) -> None:
        """End the loop: what was not taken is back in place, what was taken is removed."""
        self._messages.close()

    def _run(self) -> Generator[ReceivedMessage, None, None]:
        ahead = self._ahead
        connection = self._connection
        clock = time.monotonic
        try:
            while True:
                batch = connection.call_waiting(self._timeout, ahead.next_batch)
                if batch is None:
                    return
                due = clock() + REMOVE_SECONDS
                for number, message in enumerate(batch, 1):
                    ahead.given = number
                    yield message
                    if clock() > due:
                        self._remove_taken()
                        due = clock() + REMOVE_SECONDS
        finally:
            if connection.usable:
                connection.call(ahead.close, current_taken=self._current_taken)

    def _remove_taken(self) -> None:
        with self._connection.lock:
            self._ahead.remove_taken()
        self._connection.flush_data()
