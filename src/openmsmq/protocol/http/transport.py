"""All HTTP connections of a queue manager, as one protocol without sockets."""

from typing import Final

from openmsmq.core.model.timers import earlier
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .client import HttpClient
from .events import Event
from .server import HttpServer
from .settings import HttpSettings


class HttpTransport:
    """The server and the client of one queue manager.

    The user of HTTP calls `server` and `client`. All other methods are for the shell: odd numbers
    are connections of the server, even ones those of the client.
    """

    __slots__ = ("client", "server")

    def __init__(self, settings: HttpSettings) -> None:
        self.server: Final = HttpServer(settings)
        self.client: Final = HttpClient(settings)

    def connected(self, number: int, address: str, *, now: float) -> None:  # noqa: ARG002 - as for every protocol
        """A requested connection is open."""
        self.client.connected(number)

    def connect_failed(self, number: int, status: ConnectionStatus, reason: str) -> None:
        """A requested connection failed; the reason is for users."""
        self.client.connect_failed(number, status, reason)

    def receive_data(self, number: int, data: bytes, *, now: float) -> None:
        """Bytes arrived."""
        if number & 1:
            self.server.receive_data(number, data, now=now)
        else:
            self.client.receive_data(number, data, now=now)

    def may_read(self, number: int) -> bool:
        """Whether more bytes of a connection are accepted at the moment."""
        return number & 1 == 0 or self.server.may_read(number)

    def connection_lost(self, number: int) -> None:
        """The peer closed the connection, or it broke."""
        if number & 1:
            self.server.connection_lost(number)
        else:
            self.client.connection_lost(number)

    @property
    def has_output(self) -> bool:
        """Whether there are requests, responses or events to take, or bytes to send."""
        return self.server.has_output or self.client.has_output

    def take_ready(self) -> list[int]:
        """The connections that may have output since the last call."""
        return self.server.take_ready() + self.client.take_ready()

    def data_to_send(self, number: int, *, now: float) -> list[bytes]:
        """The next bytes to send; empty while nothing waits."""
        if number & 1:
            return self.server.data_to_send(number, now=now)
        return self.client.data_to_send(number, now=now)

    def next_event(self) -> Event | None:
        """The next connection to open or to close."""
        return self.server.next_event() or self.client.next_event()

    def next_timer(self) -> float | None:
        """The time at which `handle_timer` must be called next."""
        return earlier(self.server.next_timer(), self.client.next_timer())

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""
        self.server.handle_timer(now=now)
        self.client.handle_timer(now=now)

    def stop(self) -> None:
        """Close every connection."""
        self.server.stop()
        self.client.stop()
