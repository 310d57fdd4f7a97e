"""The other side of an `HttpClient`, without sockets."""

from openmsmq.protocol.http import (
    Answered,
    Connect,
    Destination,
    Disconnect,
    HttpSettings,
    OutletFailed,
    OutletOpened,
)
from openmsmq.protocol.http.client import HttpClient
from openmsmq.wire.codes.queue_enums import ConnectionStatus

DESTINATION = Destination("example", 80, secure=False)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def close(response: bytes) -> bytes:
    """The response of a host that closes the connection."""
    return response.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


class Host:
    """A host; connections to it are made when a test says so."""

    def __init__(self, **settings: object) -> None:
        self.client = HttpClient(HttpSettings(**settings))  # type: ignore[arg-type]
        self.now = 1000.0
        self.connects: list[Connect] = []
        self.disconnects: list[Disconnect] = []
        self.opened: list[int] = []
        self.answers: list[tuple[object, int]] = []
        self.failures: list[OutletFailed] = []

    def look(self) -> None:
        """Take what the client asks for and tells."""
        while (event := self.client.next_event()) is not None:
            if isinstance(event, Connect):
                self.connects.append(event)
            else:
                self.disconnects.append(event)
        for told in self.client.take_events():
            if isinstance(told, OutletOpened):
                self.opened.append(told.outlet)
            elif isinstance(told, Answered):
                self.answers += told.answers
            else:
                self.failures.append(told)

    def open(self, destination: Destination = DESTINATION) -> int:
        """An outlet whose connection is there."""
        outlet = self.client.open(destination)
        self.accept()
        return outlet

    def accept(self) -> None:
        """Make the connections that were asked for."""
        self.look()
        for connect in self.connects:
            self.client.connected(connect.connection)
        self.look()

    @property
    def last(self) -> int:
        """The number of the connection that was asked for last."""
        return self.connects[-1].connection

    def refuse(self, status: ConnectionStatus, reason: str) -> None:
        self.client.connect_failed(self.last, status, reason)
        self.look()

    def post(self, outlet: int, *tokens: str) -> None:
        for token in tokens:
            self.client.post(outlet, token, "/msmq/q", "text/xml", [token.encode()])

    def take(self, number: int = 0) -> bytes:
        """What the client has written since the last look."""
        return b"".join(self.client.data_to_send(number or self.last, now=self.now))

    def bodies(self, number: int = 0) -> list[bytes]:
        """The bodies of the posts that were written since the last look."""
        return [head.split(b"\r\n\r\n")[1] for head in self.take(number).split(b"POST ")[1:]]

    def respond(self, data: bytes, number: int = 0) -> None:
        self.client.receive_data(number or self.last, data, now=self.now)
        self.look()

    def lose(self, number: int = 0) -> None:
        self.client.connection_lost(number or self.last)
        self.look()

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while (due := self.client.next_timer()) is not None and due <= end:
            self.now = due
            self.client.handle_timer(now=due)
        self.now = end
        self.look()
