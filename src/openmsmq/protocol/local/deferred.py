"""Deferred answers: work outside the session carries out the request.

A handler calls `defer` and passes the result to the worker: a backup written in
a thread, a queue opened on another machine. The session continues with other requests.
Exactly one answer reaches the client: `done`, `answer` or `fail`, or a refusal when the client
cancels the request. After that, and when the client has disconnected, an answer has no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from openmsmq.core.holder import require_room
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError

from . import messages as local
from .refusals import refuse
from .session import LocalSession

MAX_DEFERRED: Final = 10_000


class Deferred:
    """The answer to one request, until it is sent.

    Args:
        stop: ends the work when the client cancels the request or disconnects; without it the work
            is finished in any case, and the request cannot be cancelled.
    """

    __slots__ = ("_request", "_session", "_stop")

    def __init__(
        self, session: LocalSession, request: local.Request, stop: Callable[[], None] | None
    ) -> None:
        self._session = session
        self._request = request
        self._stop = stop

    def done(self, value: Any = None, depends: int = 0) -> None:
        """Answer with a value, once batch `depends` is on disk."""
        self.answer(local.Done(self._request.id, value), depends)

    def answer(self, reply: local.AnyReply, depends: int = 0) -> None:
        """Answer with a reply, once batch `depends` is on disk."""
        if self._end():
            self._session.answer(reply, depends)

    def fail(self, error: QueueError | StoreError) -> None:
        """Refuse the request."""
        if self._end():
            refuse(self._session, self._request, error)

    def cancel(self) -> bool:
        """The client has cancelled it; return whether the work was stopped."""
        if self._stop is None:
            return False
        self._end()
        self._stop()
        self._session.answer(
            local.Failed(self._request.id, Hresult.MQ_ERROR_OPERATION_CANCELLED, "")
        )
        return True

    def abandon(self) -> None:
        """The client has disconnected."""
        if self._stop is not None:
            self._stop()

    def _end(self) -> bool:
        return self._session.deferred.pop(self._request.id, None) is not None


def defer(
    session: LocalSession, request: local.Request, stop: Callable[[], None] | None = None
) -> Deferred:
    """Defer the answer to a request; arguments as for `Deferred`.

    Raises:
        QueueError: too many requests of this client have deferred answers.
    """
    require_room(len(session.deferred), MAX_DEFERRED, "requests that are answered later")
    deferred = Deferred(session, request, stop)
    session.deferred[request.id] = deferred
    return deferred


def cancel_deferred(session: LocalSession, request: int) -> bool:
    """Cancel a request with a deferred answer; return whether that had an effect."""
    deferred = session.deferred.get(request)
    return deferred is not None and deferred.cancel()
