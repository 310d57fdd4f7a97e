"""From bytes to the function that carries out the request."""

from typing import Final

import msgspec

from openmsmq.wire.errors import ProtocolViolation
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_error import QueueError

from . import admin_requests, message_requests, queue_requests, range_requests
from . import messages as local
from .session import Handlers, LocalSession

HANDLERS: Final[Handlers] = {
    **queue_requests.HANDLERS,
    **message_requests.HANDLERS,
    **range_requests.HANDLERS,
    **admin_requests.HANDLERS,
}


def receive(session: LocalSession, payload: bytes | memoryview) -> None:
    """Carry out one request.

    Raises:
        ProtocolViolation: bytes that are no request, or a request out of turn; hang up.
    """
    try:
        request = local.decode_request(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise ProtocolViolation(f"not a request of the local protocol: {exc}") from exc
    if not session.greeted:
        greet(session, request)
        return
    handler = HANDLERS.get(type(request))
    if handler is None:
        raise ProtocolViolation(f"{type(request).__name__} is out of turn")
    try:
        handler(session, request)
    except QueueError as exc:
        session.fail(request.id, exc)
    except (ValueError, OverflowError) as exc:
        session.fail(request.id, QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, str(exc)))


def greet(session: LocalSession, request: local.AnyRequest) -> None:
    """The first request: both sides say who they are."""
    if not isinstance(request, local.Hello):
        raise ProtocolViolation("the first request must be Hello")
    if request.version != local.VERSION:
        raise ProtocolViolation(
            f"version {request.version} of the local protocol; this is version {local.VERSION}"
        )
    if session.caller is None:
        session.caller = session.service.authenticate(request.token)
        if session.caller is None:
            raise ProtocolViolation("the token is not known")
    session.greeted = True
    status = session.service.status()
    session.done(
        request.id,
        {
            "name": status["name"],
            "guid": status["guid"],
            "version": status["version"],
            "sid": session.caller.sid.serialize(),
        },
    )
