"""The HTTP client of a queue manager: outlets to other hosts, over a small pool for each host."""

from collections import deque
from collections.abc import Sequence
from itertools import groupby
from typing import Final, cast

from openmsmq.protocol.timer_heap import TimerHeap
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .client_connection import ClientConnection, ConnectionState, Post
from .destination import Destination, bracketed, route_to
from .events import (
    Answered,
    CloseReason,
    Connect,
    Disconnect,
    Event,
    OutletEvent,
    OutletFailed,
    OutletOpened,
)
from .request_writer import HeadWriter
from .response_reader import BadResponse
from .settings import HttpSettings

_NOTHING: Final[list[bytes]] = []


class Outlet:
    """The use of a host by one owner; its posts arrive in order, on one connection at a time.

    Attributes:
        opened: whether the owner was told that the host is connected.
        unanswered, unanswered_bytes: its posts without a response.
        heads: writes the heads of posts to the target of the last one.
    """

    __slots__ = ("connection", "heads", "number", "opened", "unanswered", "unanswered_bytes")

    def __init__(self, number: int, connection: ClientConnection) -> None:
        self.number = number
        self.connection = connection
        self.opened = False
        self.unanswered = 0
        self.unanswered_bytes = 0
        self.heads: HeadWriter | None = None


class HttpClient:
    """Outlets and connections to other hosts; without sockets, connections have even numbers.

    `open` creates an outlet, `post` sends a request through it, and `take_events` returns the
    results. A connection that the peer closes between requests is silently opened again;
    an outlet fails when its host is unreachable, or does not answer a request.
    """

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._outlets: dict[int, Outlet] = {}
        self._pools: dict[Destination, list[ClientConnection]] = {}
        self._connections: dict[int, ClientConnection] = {}
        self._last_outlet = 0
        self._last_number = 0
        self._ready: dict[int, None] = {}
        self._events: deque[Event] = deque()
        self._outlet_events: list[OutletEvent] = []
        self._timers = TimerHeap()

    def __len__(self) -> int:
        return len(self._connections)

    # Administration

    @property
    def connections(self) -> list[ClientConnection]:
        """Every connection that is open or being opened."""
        return list(self._connections.values())

    def hang_up(self, number: int) -> bool:
        """Close a connection; return whether it exists. Outlets with unanswered posts fail."""
        connection = self._connections.get(number)
        if connection is None:
            return False
        status, why = ConnectionStatus.SEND_FAILURE, CloseReason.HUNG_UP
        self._broken(connection, why, status, f"{connection.destination}: {why}")
        return True

    # Calls of the user of HTTP

    def open(self, destination: Destination) -> int:
        """Create an outlet to a host; `OutletOpened` or `OutletFailed` follows.

        Returns:
            its number.
        """
        self._last_outlet += 1
        connection = self._choose(destination)
        outlet = Outlet(self._last_outlet, connection)
        self._outlets[outlet.number] = outlet
        connection.outlets.append(outlet.number)
        if connection.state is ConnectionState.OPEN:
            self._timers.set(connection.number, connection.deadline)
            self._tell_opened(connection)
        elif connection.state is ConnectionState.CLOSED:
            self._connect(connection)
        return outlet.number

    def _choose(self, destination: Destination) -> ClientConnection:
        """The connection that the fewest outlets use; a new one if the limit allows it."""
        pool = self._pools.setdefault(destination, [])
        chosen = min(pool, key=lambda connection: len(connection.outlets), default=None)
        full = len(pool) >= self._settings.max_connections_per_host
        if chosen is not None and (full or not chosen.outlets):
            return chosen
        route = route_to(destination, self._settings.proxy)
        chosen = ClientConnection(destination, route, self._settings)
        pool.append(chosen)
        return chosen

    def proxy_of(self, number: int) -> str:
        """The proxy that answers the posts of an outlet in place of its host, or forwards them.

        Empty without one, and behind a tunnel, where only the host answers.
        """
        route = self._outlets[number].connection.route
        return f"{bracketed(route.host)}:{route.port}" if route.prefix else ""

    def room(self, number: int) -> int:
        """The number of further requests that an outlet takes; 0 if it has ended."""
        outlet = self._outlets.get(number)
        settings = self._settings
        if outlet is None or outlet.unanswered_bytes >= settings.max_pipelined_bytes:
            return 0
        return settings.max_pipelined - outlet.unanswered

    def post(
        self, number: int, token: object, target: str, content_type: str, body: Sequence[bytes]
    ) -> None:
        """Send a request; its response is identified by the token.

        Args:
            number: an outlet that has room.
            body: the parts of the body.
        """
        outlet = self._outlets[number]
        connection = outlet.connection
        length = sum([len(part) for part in body])
        heads = outlet.heads
        if heads is None or heads.target != target:
            heads = HeadWriter(connection.destination, connection.route, target)
            outlet.heads = heads
        head = heads.write(content_type, length)
        post = Post(number, token, (head, *body), len(head) + length)
        connection.unsent.append(post)
        outlet.unanswered += 1
        outlet.unanswered_bytes += post.size
        if connection.state is ConnectionState.CLOSED:
            self._connect(connection)
        else:
            self._ready[connection.number] = None

    def close(self, number: int, *, now: float, hang_up: bool = False) -> None:
        """Close an outlet; its posts may still arrive, and its responses are ignored.

        Args:
            hang_up: close its connection, too, unless another outlet uses it.
        """
        outlet = self._outlets.pop(number, None)
        if outlet is None:
            return
        connection = outlet.connection
        connection.outlets.remove(number)
        connection.unsent = deque(post for post in connection.unsent if post.outlet != number)
        if connection.outlets:
            return
        if hang_up or connection.state is not ConnectionState.OPEN:
            self._hang_up(connection, CloseReason.FINISHED, "")
            self._forget(connection)
        elif connection.deadline is None:
            self._timers.set(connection.number, now + self._settings.keep_seconds)

    def take_events(self) -> list[OutletEvent]:
        """The events of outlets since the last call."""
        events, self._outlet_events = self._outlet_events, []
        return events

    # Calls of the shell

    def connected(self, number: int) -> None:
        """A requested connection is open."""
        connection = self._connections.get(number)
        if connection is not None:
            connection.state = ConnectionState.OPEN
            self._ready[number] = None
            self._tell_opened(connection)

    def connect_failed(self, number: int, status: ConnectionStatus, reason: str) -> None:
        """A requested connection failed."""
        connection = self._connections.get(number)
        if connection is not None:
            self._removed(connection)
            self._fail(connection, list(connection.outlets), [], status, reason)

    def receive_data(self, number: int, data: bytes, *, now: float) -> None:
        """Bytes arrived."""
        connection = self._connections.get(number)
        if connection is None:
            return
        try:
            answers = connection.receive(data, now)
        except BadResponse as exc:
            where = connection.destination
            reason = f"the response of {where} cannot be understood: {exc}"
            why = CloseReason.BAD_RESPONSE
            self._broken(connection, why, ConnectionStatus.NOT_READY_FAILURE, reason)
            return
        self._tell_answers(answers)
        if connection.finished:
            self._finish(connection)
        else:
            self._watch(connection, now)
            self._ready[number] = None

    def connection_lost(self, number: int) -> None:
        """The peer closed the connection, or it broke."""
        connection = self._connections.get(number)
        if connection is not None:
            reason = f"{connection.destination} closed the connection before its response"
            why = CloseReason.FINISHED
            self._broken(connection, why, ConnectionStatus.SEND_FAILURE, reason)

    @property
    def has_output(self) -> bool:
        """Whether there are responses or events to take, or bytes to send."""
        return bool(self._outlet_events or self._ready or self._events)

    def take_ready(self) -> list[int]:
        """The connections that may have output since the last call."""
        ready, self._ready = list(self._ready), {}
        return ready

    def data_to_send(self, number: int, *, now: float) -> list[bytes]:
        """The next bytes to send; empty while nothing waits."""
        connection = self._connections.get(number)
        if connection is None or connection.state is not ConnectionState.OPEN:
            return _NOTHING
        output = connection.take_output(now)
        if output:
            self._timers.set(number, connection.deadline)
        return output

    def next_event(self) -> Event | None:
        """The next connection to open or to close."""
        return self._events.popleft() if self._events else None

    def stop(self) -> None:
        """Close every connection; outlets end without an event."""
        self._outlets.clear()
        for connection in list(self._connections.values()):
            self._hang_up(connection, CloseReason.STOPPED, "")
        self._pools.clear()

    # Time

    def next_timer(self) -> float | None:
        """The time at which `handle_timer` must be called next."""
        return self._timers.next()

    def handle_timer(self, *, now: float) -> None:
        """Fail late responses, and close unused connections."""
        for owner in self._timers.take_due(now):
            connection = self._connections[cast(int, owner)]
            if connection.deadline is None:
                self._hang_up(connection, CloseReason.IDLE, "")
                self._forget(connection)
                continue
            seconds = self._settings.response_seconds
            reason = f"no response from {connection.destination} within {seconds:g} seconds"
            why = CloseReason.NO_RESPONSE
            self._broken(connection, why, ConnectionStatus.NOT_READY_FAILURE, reason)

    # Connections

    def _connect(self, connection: ClientConnection) -> None:
        self._last_number += 2
        number = self._last_number
        connection.connecting(number)
        self._connections[number] = connection
        destination = connection.destination
        self._events.append(
            Connect(
                connection=number,
                route=connection.route,
                host=destination.host,
                secure=destination.secure,
            )
        )

    def _watch(self, connection: ClientConnection, now: float) -> None:
        """Set the timer of a connection after responses."""
        deadline = connection.deadline
        if deadline is None and not connection.outlets:
            deadline = now + self._settings.keep_seconds
        self._timers.set(connection.number, deadline)

    def _removed(self, connection: ClientConnection) -> list[Post]:
        """A connection has ended; return its posts without a response."""
        number = connection.number
        del self._connections[number]
        self._ready.pop(number, None)
        self._timers.set(number, None)
        return connection.closed()

    def _hang_up(
        self, connection: ClientConnection, reason: CloseReason, detail: str
    ) -> list[Post]:
        number = connection.number
        if not number:
            return []
        self._events.append(Disconnect(connection=number, reason=reason, detail=detail))
        return self._removed(connection)

    def _forget(self, connection: ClientConnection) -> None:
        """Drop a connection that no outlet uses from its pool."""
        pool = self._pools[connection.destination]
        pool.remove(connection)
        if not pool:
            del self._pools[connection.destination]

    def _finish(self, connection: ClientConnection) -> None:
        """The peer closes the connection after its last response.

        RFC 9112 9.6: it has not processed the requests after that, so they are sent again.
        """
        unanswered = self._hang_up(connection, CloseReason.FINISHED, "")
        connection.unsent.extendleft(reversed(unanswered))
        self._go_on(connection)

    def _broken(
        self,
        connection: ClientConnection,
        why: CloseReason,
        status: ConnectionStatus,
        reason: str,
    ) -> None:
        """A connection ended without the responses to sent requests: their outlets fail."""
        unanswered = self._hang_up(connection, why, reason)
        failed = list(dict.fromkeys([post.outlet for post in unanswered]))
        self._fail(connection, failed, unanswered, status, reason)

    # Outlets

    def _fail(
        self,
        connection: ClientConnection,
        numbers: list[int],
        unanswered: list[Post],
        status: ConnectionStatus,
        reason: str,
    ) -> None:
        """End outlets; others of the same connection continue."""
        posts = [*unanswered, *connection.unsent]
        for number in numbers:
            if self._outlets.pop(number, None) is None:
                # Its owner has closed it.
                continue
            connection.outlets.remove(number)
            tokens = [post.token for post in posts if post.outlet == number]
            self._outlet_events.append(
                OutletFailed(outlet=number, status=status, reason=reason, unanswered=tokens)
            )
        connection.unsent = deque(
            [post for post in connection.unsent if post.outlet in self._outlets]
        )
        self._go_on(connection)

    def _go_on(self, connection: ClientConnection) -> None:
        """Connect again for waiting posts, or remove an unused place."""
        if connection.unsent:
            self._connect(connection)
        elif not connection.outlets:
            self._forget(connection)

    def _tell_opened(self, connection: ClientConnection) -> None:
        for number in connection.outlets:
            outlet = self._outlets[number]
            if not outlet.opened:
                outlet.opened = True
                self._outlet_events.append(OutletOpened(outlet=number))

    def _tell_answers(self, answers: list[tuple[Post, int]]) -> None:
        for number, group in groupby(answers, lambda answer: answer[0].outlet):
            outlet = self._outlets.get(number)
            if outlet is not None:
                statuses = []
                for post, status in group:
                    statuses.append((post.token, status))
                    outlet.unanswered_bytes -= post.size
                outlet.unanswered -= len(statuses)
                self._outlet_events.append(Answered(outlet=number, answers=statuses))
