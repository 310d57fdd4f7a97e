"""One connection to another host: posts out, statuses in, in the same order."""

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from .destination import Destination, Route
from .response_reader import BadResponse, ResponseReader
from .responses import FIRST_FAILURE
from .settings import HttpSettings

# The number of bytes of requests sent at once.
_MOST_BYTES: Final = 256 * 1024


class Post:
    """A request in transit.

    Attributes:
        outlet: the number of the outlet that it belongs to.
        token: identifies it to the outlet's owner.
        parts: the bytes of the request.
        size: of all parts.
    """

    __slots__ = ("outlet", "parts", "size", "token")

    def __init__(self, outlet: int, token: object, parts: Sequence[bytes], size: int) -> None:
        self.outlet = outlet
        self.token = token
        self.parts = parts
        self.size = size


class ConnectionState(Enum):
    """The state of a connection to another host."""

    # There is no connection; a post opens one.
    CLOSED = auto()
    CONNECTING = auto()
    OPEN = auto()


class ClientConnection:
    """A place in the pool of a destination: at most one connection at a time.

    The first request on a connection is sent alone. If its response says that the peer
    speaks HTTP/1.1 and keeps the connection, further requests are pipelined.

    Attributes:
        number: of the connection; 0 without one.
        outlets: the numbers of the outlets that post here.
        unsent: waiting posts.
        sent: posts without a response.
        deadline: the time limit of the response to the first of them; None without one.
        accepted: posts that were answered with success on the connection.
        received_bytes, sent_bytes: over the connection so far.
    """

    __slots__ = (
        "_pipelines",
        "_reader",
        "_settings",
        "accepted",
        "deadline",
        "destination",
        "number",
        "outlets",
        "received_bytes",
        "route",
        "sent",
        "sent_bytes",
        "state",
        "unsent",
    )

    def __init__(self, destination: Destination, route: Route, settings: HttpSettings) -> None:
        self.destination = destination
        self.route = route
        self._settings = settings
        self.number = 0
        self.state = ConnectionState.CLOSED
        self.outlets: list[int] = []
        self.unsent: deque[Post] = deque()
        self.sent: deque[Post] = deque()
        self.deadline: float | None = None
        self._reset()

    def _reset(self) -> None:
        self._reader = ResponseReader(self._settings.max_response_bytes)
        self._pipelines = False
        self.deadline = None
        self.accepted = 0
        self.received_bytes = 0
        self.sent_bytes = 0

    def connecting(self, number: int) -> None:
        """A connection with this number is being made."""
        self.number = number
        self.state = ConnectionState.CONNECTING
        self._reset()

    def closed(self) -> list[Post]:
        """The connection has ended; return the posts without a response."""
        self.number = 0
        self.state = ConnectionState.CLOSED
        self.deadline = None
        unanswered, self.sent = list(self.sent), deque()
        return unanswered

    @property
    def finished(self) -> bool:
        """Whether the peer answers no more requests on this connection."""
        return self._reader.finished

    def receive(self, data: bytes, now: float) -> list[tuple[Post, int]]:
        """Process bytes; return the answered posts, with their statuses.

        Raises:
            BadResponse: the peer does not speak HTTP.
        """
        reader = self._reader
        self.received_bytes += len(data)
        reader.feed(data)
        statuses, reader.statuses = reader.statuses, []
        if len(statuses) > len(self.sent):
            raise BadResponse("there is no request for it")
        if statuses:
            self.accepted += sum([status < FIRST_FAILURE for status in statuses])
            self._pipelines = reader.version == "1.1"
            awaits_more = len(self.sent) > len(statuses)
            self.deadline = now + self._settings.response_seconds if awaits_more else None
        return [(self.sent.popleft(), status) for status in statuses]

    def take_output(self, now: float) -> list[bytes]:
        """The bytes of the next posts to send, in one piece."""
        output: list[bytes] = []
        most = self._settings.max_pipelined if self._pipelines else 1
        size = 0
        while self.unsent and len(self.sent) < most and size < _MOST_BYTES:
            post = self.unsent.popleft()
            self.sent.append(post)
            output += post.parts
            size += post.size
        if not output:
            return output
        self.sent_bytes += size
        if self.deadline is None:
            self.deadline = now + self._settings.response_seconds
        return [b"".join(output)]
