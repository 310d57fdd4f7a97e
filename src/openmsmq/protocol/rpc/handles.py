"""Context handles of a server, and the order of calls on each (C706 5.1.6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from openmsmq.wire.rpc.status import NCA_S_FAULT_CONTEXT_MISMATCH, NCA_S_SERVER_TOO_BUSY

from .errors import RpcFault

if TYPE_CHECKING:
    from openmsmq.security.caller import Caller

    from .interface import ServedInterface
    from .server.call import ServerCall

# Any: the object of an interface under a handle.
Rundown = Callable[[Any], None]


class ContextHandle:
    """An object that a server keeps for a client between calls.

    Attributes:
        wire: the 20 bytes that identify it to the client.
        value: the object.
        closed: whether it was closed or run down.
    """

    __slots__ = (
        "caller",
        "closed",
        "draining",
        "interface",
        "rundown",
        "running",
        "value",
        "waiting",
        "wire",
    )

    def __init__(
        self,
        wire: bytes,
        value: Any,
        *,
        interface: ServedInterface,
        caller: Caller,
        rundown: Rundown,
    ) -> None:
        self.wire = wire
        self.value = value
        self.interface = interface
        self.caller = caller
        self.rundown = rundown
        self.closed = False
        # The serialized call that runs, and those that wait for it.
        # Whether a loop runs the waiting calls, so that an answer inside it starts no other.
        self.draining = False
        self.running: ServerCall | None = None
        self.waiting: deque[ServerCall] | None = None

    def enter(self, call: ServerCall) -> bool:
        """A serialized call wants to run; return whether it may run now."""
        if self.running is None and not self.draining:
            self.running = call
            return True
        if self.waiting is None:
            self.waiting = deque()
        self.waiting.append(call)
        return False

    def leave(self, call: ServerCall) -> None:
        """A serialized call has ended, or no longer wants to run."""
        if self.running is call:
            self.running = None
        elif self.waiting is not None and call in self.waiting:
            self.waiting.remove(call)

    def next(self) -> ServerCall | None:
        """The serialized call that runs now; None while another runs or none waits."""
        if self.running is not None or not self.waiting:
            return None
        self.running = self.waiting.popleft()
        return self.running


class HandleCount:
    """The number of handles in all associations."""

    __slots__ = ("count", "limit")

    def __init__(self, limit: int) -> None:
        self.count = 0
        self.limit = limit


class Handles:
    """The context handles of one association.

    A handle is valid for the interface, the association and the caller that made it.
    """

    __slots__ = ("_handles", "_limit", "_total")

    def __init__(self, limit: int, total: HandleCount) -> None:
        self._limit = limit
        self._total = total
        self._handles: dict[bytes, ContextHandle] = {}

    def add(self, handle: ContextHandle) -> None:
        """Keep a new handle.

        Raises:
            RpcFault: nca_s_server_too_busy, there are too many.
        """
        total = self._total
        if len(self._handles) >= self._limit or total.count >= total.limit:
            raise RpcFault(NCA_S_SERVER_TOO_BUSY, f"{len(self._handles)} context handles are open")
        total.count += 1
        self._handles[handle.wire] = handle

    def find(self, wire: bytes, interface: ServedInterface, caller: Caller) -> ContextHandle:
        """The handle named in a call.

        Raises:
            RpcFault: nca_s_fault_context_mismatch, it is unknown or belongs to another.
        """
        handle = self._handles.get(wire)
        if (
            handle is None
            or handle.interface is not interface
            # Mostly it is the same object; comparing names is slower.
            or (handle.caller is not caller and handle.caller.sid != caller.sid)
        ):
            raise RpcFault(NCA_S_FAULT_CONTEXT_MISMATCH)
        return handle

    def close(self, handle: ContextHandle) -> None:
        """Remove a handle without its rundown."""
        if not handle.closed:
            handle.closed = True
            del self._handles[handle.wire]
            self._total.count -= 1

    def values(self) -> list[Any]:
        """The objects of the handles."""
        return [handle.value for handle in self._handles.values()]

    def run_down(self) -> None:
        """The client has disconnected: run all handles down, the newest first."""
        for handle in list(reversed(self._handles.values())):
            self.close(handle)
            handle.rundown(handle.value)
