"""Cursors: browsing the messages of a queue without taking any."""

from typing import Final

from openmsmq.client.backend import GRACE_SECONDS, Handle, Read, not_answered
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Operation
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .queue import QueueLogic

# Messages per request: few at first, for a caller that looks at one only.
FIRST_WINDOW: Final = 8
_AFTER_THE_LAST: Final = (
    Hresult.MQ_ERROR_IO_TIMEOUT,
    Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
)


class CursorLogic:
    """Returns every message in queue order; requests many at a time."""

    def __init__(self, queue: QueueLogic) -> None:
        self._queue = queue
        self._handle: Handle | None = None
        self._number = 0
        self._action = "peek"
        self._window = min(FIRST_WINDOW, queue.backend.window)

    def next_batch(self, timeout: float | None) -> Operation[list[ReceivedMessage] | None]:
        """The next messages; None when none arrives in time."""
        handle = yield from self._begin()
        messages = yield from self._read(handle, 0.0, self._window)
        self._window = min(2 * self._window, self._queue.backend.window)
        if not messages and timeout != 0:
            # Alone: further requests would be refused while it waits.
            messages = yield from self._read(handle, timeout, 1)
        return messages or None

    def _read(
        self, handle: Handle, timeout: float | None, window: int
    ) -> Operation[list[ReceivedMessage]]:
        backend = self._queue.backend
        count = min(window, backend.cursor_read)
        first = Read(self._action, count, timeout, cursor=self._number)
        requests = [backend.ask(handle, first)]
        # After the last message these are refused.
        further = Read("peek_next", cursor=self._number)
        requests += [backend.ask(handle, further) for _ in range(window // count - 1)]
        messages: list[ReceivedMessage] = []
        self._action = "peek_next"
        try:
            while requests:
                limit = None if timeout is None or messages else timeout + GRACE_SECONDS
                try:
                    part = yield from backend.answer(requests[0], limit)
                except QueueError as exc:
                    del requests[0]
                    self._action = "peek"
                    if exc.code not in _AFTER_THE_LAST:
                        raise
                else:
                    if part is None:
                        raise not_answered(backend.channel)
                    del requests[0]
                    messages += part
        finally:
            for request in requests:
                if handle.channel.fault is None:
                    backend.withdraw(request, None)
        return messages

    def _begin(self) -> Operation[Handle]:
        backend = self._queue.backend
        if self._handle is None:
            handle = yield from self._queue.opened_to_read()
            self._number = yield from backend.open_cursor(handle)
            self._handle = handle
        elif self._handle.channel is not backend.channel:
            raise ConnectionLost("the cursor was lost with its connection; open another one")
        backend.check()
        return self._handle

    def close(self) -> None:
        """Close the cursor, without waiting for the answer."""
        handle, self._handle = self._handle, None
        # A queue that was closed meanwhile has closed its cursors.
        if handle is not None and self._queue.has_open(handle) and not handle.channel.fault:
            self._queue.backend.close_cursor(handle, self._number)
