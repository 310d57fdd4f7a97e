"""One call of a server: the argument of a handler, and its answer."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from openmsmq.protocol.rpc.handles import ContextHandle, Rundown
from openmsmq.wire.rpc.header import PfcFlags
from openmsmq.wire.rpc.status import FORBIDDEN_STATUSES, RPC_S_CALL_FAILED

if TYPE_CHECKING:
    from openmsmq.protocol.rpc.interface import Served
    from openmsmq.protocol.rpc.negotiation import PresentationContext
    from openmsmq.protocol.rpc.protection import Protection
    from openmsmq.security.caller import Caller
    from openmsmq.wire.rpc.status import AuthnLevel

    from .connection import ServerConnection

_DID_NOT_EXECUTE: Final = int(PfcFlags.PFC_DID_NOT_EXECUTE)


class CallState(Enum):
    """The state of a call."""

    # Its handler runs, or keeps it for later.
    OPEN = auto()
    # It is answered; the answer waits for a batch, or has been sent.
    ANSWERED = auto()
    # The client no longer wants an answer.
    ABANDONED = auto()


class ServerCall:
    """A call of a client.

    A handler answers a call once, by `reply`, `fail` or `fault`, at once or later. An answer that
    reports a change names in `depends` the batch that must be on disk first. A handler keeping the
    call sets `on_cancel`, which is called when the client cancels the call (the handler then
    answers it) and when its client no longer waits (`abandoned`; answers are ignored).

    Attributes:
        caller: the authenticated caller; Anonymous Logon without authentication.
        level: the protection of the call.
        handle: the context handle among the parameters; None without one, and for a NULL handle.
        connection: its connection.
        now: the monotonic time of its arrival.
        on_cancel: see above.
    """

    __slots__ = (
        "_state",
        "answer",
        "answer_is_fault",
        "call_id",
        "caller",
        "connection",
        "context",
        "handle",
        "level",
        "now",
        "on_cancel",
        "p_cont_id",
        "protection",
        "request",
        "served",
    )

    def __init__(
        self,
        connection: ServerConnection,
        call_id: int,
        p_cont_id: int,
        context: PresentationContext,
        served: Served,
        *,
        caller: Caller,
        level: AuthnLevel,
        protection: Protection | None,
        now: float,
    ) -> None:
        self.connection = connection
        self.call_id = call_id
        self.p_cont_id = p_cont_id
        self.context = context
        self.served = served
        self.caller = caller
        self.level = level
        self.protection = protection
        self.now = now
        self.handle: ContextHandle | None = None
        self.on_cancel: Callable[[ServerCall], None] | None = None
        # The parameters of a call that waits for its turn on its handle.
        self.request: Any = None
        self.answer = b""
        self.answer_is_fault = False
        self._state = CallState.OPEN

    @property
    def abandoned(self) -> bool:
        """Whether the client no longer wants an answer."""
        return self._state is CallState.ABANDONED

    @property
    def open(self) -> bool:
        """Whether the call still needs an answer."""
        return self._state is CallState.OPEN

    # Answers

    def reply(self, response: Any, *, depends: int = 0) -> None:
        """Answer with a response."""
        if self._state is not CallState.ABANDONED:
            stub = self.served.call.response.encode(response, self.context.syntax)
            self._finish(stub, depends)

    def fail(self, code: int, *, depends: int = 0) -> None:
        """Answer with a failure code, as a response or a fault according to the interface."""
        failure = self.served.failure
        if failure is None:
            self.fault(code, depends=depends)
        else:
            self.reply(failure(code), depends=depends)

    def fault(self, status: int, *, did_not_execute: bool = False, depends: int = 0) -> None:
        """Answer with a fault."""
        if self._state is CallState.ABANDONED:
            return
        if status in FORBIDDEN_STATUSES:
            status = RPC_S_CALL_FAILED
        self.answer_is_fault = True
        pdu = self.connection.fault_pdu(
            self.call_id,
            status,
            p_cont_id=self.p_cont_id,
            flags=_DID_NOT_EXECUTE if did_not_execute else 0,
        )
        self._finish(pdu, depends)

    def _finish(self, answer: bytes, depends: int) -> None:
        assert self._state is CallState.OPEN, "a call is answered once"  # noqa: S101
        self._state = CallState.ANSWERED
        self.answer = answer
        self.connection.call_answered(self, depends)

    def cancel(self) -> None:
        """The client asks for an answer soon (co_cancel)."""
        if self._state is CallState.OPEN and self.on_cancel is not None:
            self.on_cancel(self)

    def abandon(self) -> None:
        """Drop the answer: the client no longer waits for it."""
        was_open = self._state is CallState.OPEN
        self._state = CallState.ABANDONED
        self.answer = b""
        if was_open and self.on_cancel is not None:
            self.on_cancel(self)

    # Context handles

    def open_handle(self, value: Any, rundown: Rundown) -> bytes:
        """Create a context handle for this caller; return its 20 bytes for the response.

        Args:
            value: the object of the handle; `handle.value` in later calls.
            rundown: called with the value when the client has disconnected.

        Raises:
            RpcFault: there are too many handles, or the client has disconnected.
        """
        return self.connection.open_handle(self, value, rundown)

    def close_handle(self) -> None:
        """The handle of this call is closed; its rundown does not run."""
        if self.handle is not None:
            self.connection.close_handle(self.handle)
