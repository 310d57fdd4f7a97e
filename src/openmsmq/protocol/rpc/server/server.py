"""The RPC server of a process: all connections, their limits, and their shared state."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from openmsmq.protocol.carrier import Gate
from openmsmq.protocol.rpc.associations import Associations
from openmsmq.protocol.rpc.interface import ServedInterface
from openmsmq.protocol.rpc.settings import RpcSettings
from openmsmq.protocol.timer_heap import TimerHeap
from openmsmq.security.mechanism import SecurityContext

from .connection import ServerConnection
from .events import CloseReason, Disconnect, LoggedOn, ServerEvent
from .security import Acceptors
from .state import State

_NOTHING: Final[list[bytes]] = []


@dataclass(slots=True, eq=False)
class Endpoint:
    """A port and its interfaces.

    Attributes:
        port: the port as known to clients; set once the listener has it.
        interfaces: by their UUIDs.
    """

    port: int
    interfaces: dict[UUID, ServedInterface]


def endpoint(port: int, interfaces: Sequence[ServedInterface]) -> Endpoint:
    """An endpoint with these interfaces."""
    return Endpoint(port, {served.interface.uuid: served for served in interfaces})


class Timers(Protocol):
    """An interface that has timers of its own."""

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""


class Counters:
    """Counters of a server, for mgmt and metrics.

    Attributes:
        calls_in: calls that began.
        faults: calls and PDUs that were answered with a fault.
        packets_in, packets_out: PDUs.
        connected: accepted connections.
        refused: connections over a limit, or from an address whose logons failed.
        logons: clients that have authenticated.
        closed: connections that the server ended, by reason.
    """

    __slots__ = (
        "calls_in",
        "closed",
        "connected",
        "faults",
        "logons",
        "packets_in",
        "packets_out",
        "refused",
    )

    def __init__(self) -> None:
        self.calls_in = 0
        self.packets_in = 0
        self.packets_out = 0
        self.faults = 0
        self.connected = 0
        self.refused = 0
        self.logons = 0
        self.closed = dict.fromkeys(CloseReason, 0)


class RpcServer:
    """All connections of clients; without sockets, they are numbered from 1.

    Bytes go in by `receive_data` and come out by `data_to_send`; connections to close are in
    `next_event`. The time is passed to each call, and timers are in `next_timer`.

    Args:
        settings: the limits.
        acceptors: creates security contexts, by auth_type.
        random_bytes: creates unguessable numbers.
        gate: holds answers until their effects are on disk; None if nothing is ever stored.
        delay: seconds to wait before a client of this address is examined; None refuses it.
    """

    def __init__(
        self,
        settings: RpcSettings,
        *,
        acceptors: Acceptors,
        random_bytes: Callable[[int], bytes],
        gate: Gate | None = None,
        delay: Callable[[str], float | None] | None = None,
    ) -> None:
        self.settings = settings
        self.acceptors = acceptors
        self.random_bytes = random_bytes
        self.gate = gate
        self._delay = delay
        self.associations = Associations(settings, random_bytes)
        self.counters = Counters()
        # Calls without an answer, and bytes of requests whose last fragment is missing.
        self.total_calls = 0
        self.unfinished_bytes = 0
        self._connections: dict[int, ServerConnection] = {}
        self._addresses: dict[str, int] = {}
        # Connections that have not bound or not authenticated yet, the oldest first, with the
        # time at which they are closed.
        self._pending: dict[int, float] = {}
        # Connections of addresses whose logons failed, and the end of each delay.
        self._delayed: set[int] = set()
        self._delays = TimerHeap()
        self._last_number = 0
        self._ready: list[int] = []
        self._events: deque[ServerEvent] = deque()
        self._timers: list[Timers] = []
        self._stopped = False

    def __len__(self) -> int:
        return len(self._connections)

    # Calls of the shell

    def accept(
        self, address: str, *, local_address: str, endpoint: Endpoint, now: float
    ) -> int | None:
        """A client connected; return the number of the connection, or None to refuse it."""
        settings = self.settings
        count = self._addresses.get(address, 0)
        if (
            self._stopped
            or len(self._connections) >= settings.max_connections
            or count >= settings.max_connections_per_address
        ):
            self.counters.refused += 1
            return None
        delay = 0.0 if self._delay is None else self._delay(address)
        if delay is None:
            self.counters.refused += 1
            return None
        self.counters.connected += 1
        if len(self._pending) >= settings.max_unbound:
            self._close(next(iter(self._pending)), CloseReason.NOT_BOUND)
        self._last_number += 1
        number = self._last_number
        if delay:
            self._delayed.add(number)
            self._delays.set(number, now + delay)
        self._addresses[address] = self._addresses.get(address, 0) + 1
        connection = ServerConnection(self, number, address, local_address, endpoint)
        self._connections[number] = connection
        self._pending[number] = now + delay + settings.bind_seconds
        return number

    def receive_data(self, number: int, data: bytes, *, now: float) -> None:
        """Bytes arrived."""
        connection = self._connections.get(number)
        if connection is None:
            return
        if number in self._delayed:
            connection.keep_data(data)
        else:
            connection.receive_data(data, now)

    def may_read(self, number: int) -> bool:
        """Whether to read from a connection."""
        connection = self._connections.get(number)
        return connection is None or (connection.may_read and number not in self._delayed)

    def connection_lost(self, number: int, *, now: float) -> None:  # noqa: ARG002 - as elsewhere
        """A client closed the connection, or it broke."""
        connection = self._connections.get(number)
        if connection is not None:
            self._remove(connection)
            connection.connection_lost()

    @property
    def has_output(self) -> bool:
        """Whether there are events, or connections that may have output."""
        return bool(self._events or self._ready)

    def take_ready(self) -> Sequence[int]:
        """The connections that may have output since the last call."""
        ready, self._ready = self._ready, []
        return ready

    def data_to_send(self, number: int, *, now: float) -> list[bytes]:
        """The next bytes to send; work that waited for the client to read continues afterwards."""
        connection = self._connections.get(number)
        if connection is None or number in self._delayed:
            return _NOTHING
        data = connection.data_to_send()
        if data and connection.has_input:
            connection.process(now)
        return data

    def next_event(self) -> ServerEvent | None:
        """The oldest event that was not fetched yet."""
        return self._events.popleft() if self._events else None

    def add_timers(self, timers: Timers) -> None:
        """Run the timers of an interface."""
        self._timers.append(timers)

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""
        due = self._delays.next() if self._delayed else None
        for deadline in self._pending.values():
            # The oldest is the first.
            due = deadline if due is None else min(due, deadline)
            break
        for timers in self._timers:
            time = timers.next_timer()
            if time is not None and (due is None or time < due):
                due = time
        return due

    def handle_timer(self, *, now: float) -> None:
        """Close connections that do not bind or authenticate; run the timers of interfaces."""
        for timers in self._timers:
            timers.handle_timer(now=now)
        for number in self._delays.take_due(now):
            assert isinstance(number, int)  # noqa: S101 - from `accept`
            self._delayed.discard(number)
            self._connections[number].process(now)
        for number, deadline in list(self._pending.items()):
            if deadline > now:
                break
            self._close(number, CloseReason.NOT_BOUND)

    def stop(self) -> None:
        """Accept no more, and close all connections; their calls are cancelled."""
        self._stopped = True
        for number in list(self._connections):
            self._close(number, CloseReason.STOPPED)

    # Calls of connections

    def mark_ready(self, connection: ServerConnection) -> None:
        """A connection has output."""
        self._ready.append(connection.number)

    def progressed(self, connection: ServerConnection, now: float) -> None:
        """A connection bound or authenticated, or began an authentication."""
        self._pending.pop(connection.number, None)
        if connection.state is State.BOUND and not connection.settled:
            self._pending[connection.number] = now + self.settings.bind_seconds

    def logged_on(self, connection: ServerConnection, context: SecurityContext, level: int) -> None:
        """A client has authenticated."""
        self.counters.logons += 1
        self._events.append(
            LoggedOn(
                connection=connection.number,
                address=connection.address,
                identity=context.identity,
                sid=str(context.caller.sid),
                level=level,
            )
        )

    def disconnect(
        self, connection: ServerConnection, data: list[bytes], reason: CloseReason, detail: str
    ) -> None:
        """A connection ends once these bytes have been sent."""
        self._remove(connection)
        self.counters.closed[reason] += 1
        self._events.append(
            Disconnect(
                connection=connection.number,
                data=data,
                reason=reason,
                detail=detail,
                identity=connection.identity,
            )
        )

    def _close(self, number: int, reason: CloseReason) -> None:
        self._connections[number].close(reason)

    def _remove(self, connection: ServerConnection) -> None:
        del self._connections[connection.number]
        self._pending.pop(connection.number, None)
        if connection.number in self._delayed:
            self._delayed.discard(connection.number)
            self._delays.set(connection.number, None)
        count = self._addresses[connection.address] - 1
        if count:
            self._addresses[connection.address] = count
        else:
            del self._addresses[connection.address]
