"""The HTTP server of a queue manager: all accepted connections, and their limits."""

from collections import deque
from typing import Final, cast

from openmsmq.protocol.timer_heap import TimerHeap

from .counters import Counters
from .events import CloseReason, Disconnect
from .request import HttpRequest
from .server_connection import ServerConnection, State
from .settings import HttpSettings

_NOTHING: Final[list[bytes]] = []


class HttpServer:
    """Connections of clients; without sockets, they have odd numbers.

    `take_requests` returns the complete requests of all reads since the last call;
    each gets one `answer`, at any time and in any order. Answers on a closed connection
    are ignored.
    """

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self.counters: Final = Counters()
        self._connections: dict[int, ServerConnection] = {}
        self._addresses: dict[str, int] = {}
        self._last_number = -1
        self._ready: dict[int, None] = {}
        self._requests: list[HttpRequest] = []
        self._events: deque[Disconnect] = deque()
        self._timers = TimerHeap()
        self._held_bytes = 0
        self._stopped = False

    def __len__(self) -> int:
        return len(self._connections)

    # Administration

    @property
    def connections(self) -> list[ServerConnection]:
        """Every connection."""
        return list(self._connections.values())

    @property
    def held_bytes(self) -> int:
        """The bodies of all requests without an answer."""
        return self._held_bytes

    def hang_up(self, number: int) -> bool:
        """Close a connection; return whether it exists."""
        connection = self._connections.get(number)
        if connection is None:
            return False
        self._remove(connection, CloseReason.HUNG_UP)
        return True

    # Calls of the user of HTTP

    def take_requests(self) -> list[HttpRequest]:
        """The complete requests since the last call, those of each connection in order."""
        requests, self._requests = self._requests, []
        return requests

    def answer(self, request: HttpRequest, status: int) -> None:
        """Answer a request with one of the statuses in `responses.RESPONSES`."""
        connection = self._connections.get(request.connection)
        if connection is not None:
            before = connection.body_bytes
            connection.answer(request.sequence, status)
            self._held_bytes += connection.body_bytes - before
            self._changed(connection)

    def answer_all(self, requests: list[HttpRequest], status: int) -> None:
        """Answer requests of one connection, at least one, with the same status."""
        connection = self._connections.get(requests[0].connection)
        if connection is not None:
            before = connection.body_bytes
            connection.answer_all(requests, status)
            self._held_bytes += connection.body_bytes - before
            self._changed(connection)

    # Calls of the shell

    def accept(self, address: str, *, secure: bool, now: float) -> int | None:
        """A client connected; return the number of the connection, or None to refuse it."""
        settings = self._settings
        count = self._addresses.get(address, 0)
        if (
            self._stopped
            or len(self._connections) >= settings.max_connections
            or count >= settings.max_connections_per_address
        ):
            self.counters.refused += 1
            return None
        self.counters.connected += 1
        self._addresses[address] = count + 1
        self._last_number += 2
        number = self._last_number
        connection = ServerConnection(
            number, address, settings, self.counters, secure=secure, now=now
        )
        self._connections[number] = connection
        self._timers.set(number, connection.deadline)
        return number

    def receive_data(self, number: int, data: bytes, *, now: float) -> None:
        """Bytes arrived."""
        connection = self._connections.get(number)
        if connection is None:
            return
        others = self._held_bytes - connection.held_bytes
        connection.receive(data, now)
        if others + connection.held_bytes > self._settings.max_total_bytes:
            connection.overload()
        self._held_bytes = others + connection.held_bytes
        self._requests += connection.take_requests()
        self._timers.set(number, connection.deadline)
        self._changed(connection)

    def may_read(self, number: int) -> bool:
        """Whether more bytes of a connection are accepted at the moment."""
        connection = self._connections.get(number)
        return connection is None or connection.may_read

    def connection_lost(self, number: int) -> None:
        """The client closed the connection, or it broke."""
        connection = self._connections.get(number)
        if connection is not None:
            self._remove(connection, connection.reason)

    @property
    def has_output(self) -> bool:
        """Whether there are requests or events to take, or bytes to send."""
        return bool(self._requests or self._ready or self._events)

    def take_ready(self) -> list[int]:
        """The connections that may have output since the last call."""
        ready, self._ready = list(self._ready), {}
        return ready

    def data_to_send(self, number: int, *, now: float) -> list[bytes]:
        """The next bytes to send; empty if there are none for now."""
        connection = self._connections.get(number)
        if connection is None:
            return _NOTHING
        output = connection.take_output(now)
        if output:
            self._timers.set(number, connection.deadline)
        return output

    def next_event(self) -> Disconnect | None:
        """The next connection to close."""
        return self._events.popleft() if self._events else None

    def stop(self) -> None:
        """Close every connection, and accept no more."""
        self._stopped = True
        for connection in list(self._connections.values()):
            self._remove(connection, CloseReason.STOPPED)

    # Time

    def next_timer(self) -> float | None:
        """The time at which `handle_timer` must be called next."""
        return self._timers.next()

    def handle_timer(self, *, now: float) -> None:
        """Close idle or slow connections."""
        for owner in self._timers.take_due(now):
            connection = self._connections[cast(int, owner)]
            connection.handle_timer(now)
            self._timers.set(owner, connection.deadline)
            self._changed(connection)

    def _changed(self, connection: ServerConnection) -> None:
        """A connection may have output, or is to be closed."""
        if connection.state is State.CLOSED:
            self._remove(connection, connection.reason)
        else:
            self._ready[connection.number] = None

    def _remove(self, connection: ServerConnection, reason: CloseReason) -> None:
        number, address = connection.number, connection.address
        self.counters.closed[reason] += 1
        del self._connections[number]
        self._ready.pop(number, None)
        self._timers.set(number, None)
        self._held_bytes -= connection.held_bytes
        count = self._addresses[address] - 1
        if count:
            self._addresses[address] = count
        else:
            del self._addresses[address]
        data = () if reason is CloseReason.NOT_READING else tuple(connection.take_output(0.0))
        self._events.append(
            Disconnect(connection=number, reason=reason, detail=connection.detail, data=data)
        )
