"""Cursors: looking at every message of a queue without taking any."""

from typing import Final

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult

from .link import GRACE_SECONDS
from .operations import Operation, Wait, failure, messages
from .queue import QueueLogic
from .session import Session

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
        self._session: Session | None = None
        self._handle = 0
        self._number = 0
        self._action = "peek"
        self._window = FIRST_WINDOW

    def next_batch(self, timeout: float | None) -> Operation[list[ReceivedMessage] | None]:
        """The next messages; None when there is none in time."""
        session = yield from self._begin()
        found = yield from self._read(session, 0.0, self._window)
        self._window = min(2 * self._window, LARGEST_WINDOW)
        if not found and timeout != 0:
            # Alone: what is asked for behind it is refused while it waits.
            found = yield from self._read(session, timeout, 1)
        return found or None

    def _read(
        self, session: Session, timeout: float | None, window: int
    ) -> Operation[list[ReceivedMessage]]:
        asked = [self._ask(session, self._action, timeout)]
        # Behind the last message these are refused.
        asked += [self._ask(session, "peek_next", 0.0) for _ in range(window - 1)]
        found: list[ReceivedMessage] = []
        self._action = "peek_next"
        try:
            while asked:
                limit = None if timeout is None or found else timeout + GRACE_SECONDS
                reply = yield Wait(asked[0], limit)
                if reply is None:
                    raise session.lose(f"{session.description} has not answered in time.")
                del asked[0]
                if isinstance(reply, local.Failed):
                    self._action = "peek"
                    if reply.code not in _BEHIND_THE_LAST:
                        raise failure(reply)
                else:
                    found += messages(reply)
        finally:
            for request in asked:
                if session.fault is None:
                    session.withdraw(request, 0)
        return found

    def _begin(self) -> Operation[Session]:
        link = self._queue.link
        if self._session is None:
            handle = yield from self._queue.opened_to_read()
            self._handle = handle.number
            self._number = yield from link.call(local.OpenCursor, self._handle)
            self._session = link.session
        elif self._session is not link.session:
            raise ConnectionLost("the cursor was lost with its connection; open another one")
        link.session.check()
        return self._session

    def _ask(self, session: Session, action: str, timeout: float | None) -> int:
        request = local.Receive(
            session.next_id(),
            self._handle,
            action=action,
            timeout=timeout,
            cursor=self._number,
        )
        session.post(request)
        return request.id

    def close(self) -> None:
        """Forget the cursor; nobody waits for it."""
        session, self._session = self._session, None
        if session is not None and session.fault is None and session is self._queue.link.session:
            close = local.CloseCursor(session.next_id(), self._handle, self._number)
            session.post_in_background(close)
