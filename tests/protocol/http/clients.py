"""A client of an `HttpServer` without sockets."""

from openmsmq.protocol.http import CloseReason, HttpRequest, HttpSettings
from openmsmq.protocol.http.server import HttpServer

START = b"POST /msmq/private$/orders HTTP/1.1\r\nHost: example\r\nContent-Type: text/xml\r\n"


def post(body: bytes, *fields: bytes) -> bytes:
    """A whole request."""
    lines = b"".join(field + b"\r\n" for field in fields)
    return START + lines + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A whole request in chunks."""
    pieces = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return START + b"Transfer-Encoding: chunked\r\n\r\n" + pieces + end


class Client:
    """One connection to a server; `now` is the time of everything that happens."""

    def __init__(self, server: HttpServer | None = None, **limits: float) -> None:
        self.server = server or HttpServer(HttpSettings(**limits))  # type: ignore[arg-type]
        self.now = 1000.0
        number = self.server.accept("10.0.0.1", secure=False, now=self.now)
        assert number is not None
        self.number = number
        self.requests: list[HttpRequest] = []
        self.output = b""
        self.closed: CloseReason | None = None
        self.detail = ""

    def send(self, data: bytes) -> "Client":
        """Send bytes, and take what the server hands over and answers."""
        self.server.receive_data(self.number, data, now=self.now)
        self.requests += self.server.take_requests()
        return self.look()

    def look(self) -> "Client":
        """Take what the server has written."""
        if self.number in self.server.take_ready():
            self.output += b"".join(self.server.data_to_send(self.number, now=self.now))
        while (event := self.server.next_event()) is not None:
            self.output += b"".join(event.data)
            self.closed, self.detail = event.reason, event.detail
        return self

    def answer(self, *statuses: int) -> "Client":
        """Answer the oldest requests."""
        for status in statuses:
            self.server.answer(self.requests.pop(0), status)
        return self.look()

    def wait(self, seconds: float) -> "Client":
        """Let time pass; timers are handled at their times."""
        end = self.now + seconds
        while (due := self.server.next_timer()) is not None and due <= end:
            self.now = due
            self.server.handle_timer(now=due)
            self.look()
        self.now = end
        return self

    @property
    def statuses(self) -> list[int]:
        """The statuses of all responses so far."""
        lines = self.output.split(b"\r\n")
        return [int(line.split()[1]) for line in lines if line.startswith(b"HTTP/")]

    @property
    def bodies(self) -> list[bytes]:
        return [request.body for request in self.requests]
