"""Dispatch: from bytes to the function that carries out the request."""

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from openmsmq.core.holder import require_room
from openmsmq.core.management.queue_infos import guid_text
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import ProtocolViolation, StoreError

from . import admin_requests, message_requests, queue_requests, range_requests
from . import messages as local
from .refusals import refuse
from .session import MAX_LONG, Handlers, LocalSession, Long

HANDLERS: Final[Handlers] = {
    **queue_requests.HANDLERS,
    **message_requests.HANDLERS,
    **range_requests.HANDLERS,
    **admin_requests.HANDLERS,
}


class NotLetIn(ProtocolViolation):
    """A client that could not authenticate."""


def receive(session: LocalSession, payload: bytes | memoryview) -> None:
    """Carry out one request; a long one is left to `step`.

    Raises:
        ProtocolViolation: invalid bytes, or a request out of turn; close the connection.
    """
    try:
        request = local.decode_request(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as malformed:
        raise ProtocolViolation(f"not a request of the local protocol: {malformed}") from malformed
    if not session.greeted:
        greet(session, request)
        return
    handler = HANDLERS.get(type(request))
    if handler is None:
        raise ProtocolViolation(f"{type(request).__name__} is out of turn")
    session.manager.counters.client_requests.add((type(request).__name__,))
    try:
        steps = handler(session, request)
        if steps is not None:
            require_room(len(session.long), MAX_LONG, "long requests")
            session.long.append(Long(request, steps))
    except (QueueError, StoreError) as exc:
        refuse(session, request, exc)


def step(session: LocalSession) -> None:
    """One step of the longest waiting of the long requests; there must be one."""
    long = session.long.popleft()
    try:
        next(long.steps)
    except StopIteration:
        return
    except (QueueError, StoreError) as exc:
        refuse(session, long.request, exc)
        return
    session.long.append(long)


def greet(session: LocalSession, request: local.AnyRequest) -> None:
    """The first request: both sides identify themselves.

    Raises:
        ProtocolViolation: it is not a greeting.
        NotLetIn: the client is unknown.
    """
    if not isinstance(request, local.Hello):
        raise ProtocolViolation("the first request must be Hello")
    if request.version != local.VERSION:
        reason = f"version {request.version} of the local protocol; this is version {local.VERSION}"
        session.fail(request.id, QueueError(Hresult.MQ_ERROR_UNSUPPORTED_OPERATION, reason))
        raise ProtocolViolation(reason)
    if session.caller is None:
        session.caller = session.service.authenticate(request.token)
        if session.caller is None:
            refusal = AccessDenied(
                "the token is not known",
                cause="The token is not in local_tokens of the queue manager, or was changed.",
                remedy="Ask the administrator of the queue manager for a token.",
            )
            session.fail(request.id, refusal)
            raise NotLetIn(str(refusal))
    if request.act_for:
        act_for(session, request)
    session.greeted = True
    manager = session.manager
    welcome = local.Welcome(
        name=manager.name,
        guid=guid_text(manager.identifier),
        version=session.service.version,
        sid=session.caller.sid_bytes,
        names=manager.own_names,
        directory=manager.directory_integrated,
        signature_form=manager.signature_forms[0],
        srmp_signature_form=manager.signature_forms[1],
    )
    session.done(request.id, welcome)


def act_for(session: LocalSession, request: local.Hello) -> None:
    """Let the client act as another principal from now on; only an administrator may.

    Raises:
        NotLetIn: it may not, or there is no such principal.
    """
    try:
        session.manager.management.require_administrator(session.identity(), "act for others")
        session.caller = session.service.caller_named(request.act_for)
    except QueueError as exc:
        session.fail(request.id, exc)
        raise NotLetIn(str(exc)) from exc


class Intake(Protocol):
    """Counts the bytes of requests; implemented by the engine."""

    def take_in(self, size: int) -> None:
        """Count the bytes of requests that were carried out."""


class HostedSession:
    """A session that sets the time before each request, and counts its bytes in the engine.

    Args:
        tick: calls `Engine.enter` with the time.
    """

    __slots__ = ("_engine", "_session", "_tick")

    def __init__(self, engine: Intake, tick: Callable[[], object], session: LocalSession) -> None:
        self._engine = engine
        self._tick = tick
        self._session = session

    @property
    def greeted(self) -> bool:
        return self._session.greeted

    @property
    def busy(self) -> bool:
        """Whether there are long requests, for `step`."""
        return bool(self._session.long)

    def receive(self, payload: bytes | memoryview) -> None:
        """Carry out one request."""
        self._tick()
        self._engine.take_in(len(payload))
        receive(self._session, payload)

    def step(self) -> None:
        """Carry out one step of a long request."""
        self._tick()
        step(self._session)

    def pause(self) -> None:
        """The client does not read its replies."""
        self._session.holder.pause()

    def resume(self) -> None:
        """The client reads again."""
        self._tick()
        self._session.holder.resume()

    def stop(self) -> None:
        """The client is about to be disconnected."""
        self._session.holder.stop()

    def close(self) -> None:
        """Release all resources of the client."""
        self._tick()
        self._session.close()
