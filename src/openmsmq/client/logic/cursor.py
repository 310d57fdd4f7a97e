"""Cursors: looking at every message of a queue without taking any."""

from typing import Final

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.local.backend import GRACE_SECONDS
from openmsmq.client.local.channel import RequestChannel
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult

from .operations import Operation, Wait, failure, messages
from .queue import QueueLogic

# Requests on their way at a time: few at first, for those who look at one message only.
FIRST_WINDOW: Final = 8
LARGEST_WINDOW: Final = 256
_BEHIND_THE_LAST: Final = (
    Hresult.MQ_ERROR_IO_TIMEOUT,
    Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
)


class CursorLogic:
    """Looks at every message in queue order; many requests are on their way at a time."""

    def __init__(self, queue: QueueLogic) -> None:
        self._queue = queue
        self._channel: RequestChannel | None = None
        self._handle = 0
        self._number = 0
        self._action = "peek"
        self._window = FIRST_WINDOW

    def next_batch(self, timeout: float | None) -> Operation[list[ReceivedMessage] | None]:
        """The next messages; None when there is none in time."""
        channel = yield from self._begin()
        found = yield from self._read(channel, 0.0, self._window)
        self._window = min(2 * self._window, LARGEST_WINDOW)
        if not found and timeout != 0:
            # Alone: what is asked for behind it is refused while it waits.
            found = yield from self._read(channel, timeout, 1)
        return found or None

    def _read(
        self, channel: RequestChannel, timeout: float | None, window: int
    ) -> Operation[list[ReceivedMessage]]:
        asked = [self._ask(channel, self._action, timeout)]
        # Behind the last message these are refused.
        asked += [self._ask(channel, "peek_next", 0.0) for _ in range(window - 1)]
        found: list[ReceivedMessage] = []
        self._action = "peek_next"
        try:
            while asked:
                limit = None if timeout is None or found else timeout + GRACE_SECONDS
                reply = yield Wait(asked[0], limit)
                if reply is None:
                    raise channel.lose(f"{channel.description} has not answered in time.")
                del asked[0]
                if isinstance(reply, local.Failed):
                    self._action = "peek"
                    if reply.code not in _BEHIND_THE_LAST:
                        raise failure(reply)
                else:
                    found += messages(reply)
        finally:
            for request in asked:
                if channel.fault is None:
                    channel.withdraw(request, 0)
        return found

    def _begin(self) -> Operation[RequestChannel]:
        backend = self._queue.backend
        if self._channel is None:
            handle = yield from self._queue.opened_to_read()
            self._handle = handle.number
            self._number = yield from backend.call(local.OpenCursor, self._handle)
            self._channel = backend.channel
        elif self._channel is not backend.channel:
            raise ConnectionLost("the cursor was lost with its connection; open another one")
        backend.channel.check()
        return self._channel

    def _ask(self, channel: RequestChannel, action: str, timeout: float | None) -> int:
        request = local.Receive(
            channel.next_id(),
            self._handle,
            action=action,
            timeout=timeout,
            cursor=self._number,
        )
        channel.post(request)
        return request.id

    def close(self) -> None:
        """Forget the cursor; nobody waits for it."""
        channel, self._channel = self._channel, None
        if channel is not None and channel.fault is None and channel is self._queue.backend.channel:
            close = local.CloseCursor(channel.next_id(), self._handle, self._number)
            channel.post_in_background(close)
