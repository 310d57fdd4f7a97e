"""One connection of a client: requests in, answers out, in the same order."""

from collections import deque
from enum import Enum, auto
from typing import Final

from .counters import Counters
from .events import CloseReason
from .request import HttpRequest
from .request_reader import Refusal, RequestReader
from .responses import CLOSE, CONTINUE, FIRST_FAILURE, KEEP, RESPONSES
from .settings import HttpSettings


class State(Enum):
    """The state of a connection."""

    # Requests are read.
    OPEN = auto()
    # The client's last request was read; answers are missing.
    FINISHING = auto()
    # A request was refused after which nothing can be read; answers are missing.
    REFUSING = auto()
    # The refusal has been sent; further bytes of the client are discarded.
    LINGERING = auto()
    # To be closed once the output has left.
    CLOSED = auto()


class Input(Enum):
    """An input of a connection."""

    LAST_REQUEST = auto()
    REFUSED = auto()
    ANSWERED = auto()
    LATE = auto()


TRANSITIONS: Final = {
    (State.OPEN, Input.LAST_REQUEST): State.FINISHING,
    (State.OPEN, Input.REFUSED): State.REFUSING,
    (State.OPEN, Input.LATE): State.CLOSED,
    (State.FINISHING, Input.ANSWERED): State.CLOSED,
    (State.FINISHING, Input.LATE): State.CLOSED,
    (State.REFUSING, Input.ANSWERED): State.LINGERING,
    (State.REFUSING, Input.LATE): State.CLOSED,
    (State.LINGERING, Input.LATE): State.CLOSED,
}

_REASONS: Final = {
    400: CloseReason.MALFORMED,
    404: CloseReason.FINISHED,
    405: CloseReason.FINISHED,
    408: CloseReason.TOO_SLOW,
}


class ServerConnection:
    """The server's side of one connection.

    `receive` takes bytes, `take_requests` returns the requests that they completed, `answer`
    answers one of them, and `take_output` returns the bytes to send. At `deadline`, a monotonic
    time, call `handle_timer`. When `state` is CLOSED, close the connection.

    Attributes:
        reason, detail: why it ends.
        body_bytes: the bodies of complete requests without an answer.
        accepted: requests that were answered with success.
        received_bytes, sent_bytes: over the connection so far.
    """

    __slots__ = (
        "_bodies",
        "_counters",
        "_first",
        "_output",
        "_output_bytes",
        "_reader",
        "_requests",
        "_settings",
        "_since",
        "_statuses",
        "_unread",
        "accepted",
        "address",
        "body_bytes",
        "deadline",
        "detail",
        "number",
        "reason",
        "received_bytes",
        "secure",
        "sent_bytes",
        "state",
    )

    def __init__(
        self,
        number: int,
        address: str,
        settings: HttpSettings,
        counters: Counters,
        *,
        secure: bool,
        now: float,
    ) -> None:
        self.number = number
        self.address = address
        self.secure = secure
        self._settings = settings
        self._counters = counters
        self._reader = RequestReader(settings)
        self.state = State.OPEN
        self.reason = CloseReason.FINISHED
        self.detail = ""
        self._requests: list[HttpRequest] = []
        # The statuses of requests in order, 0 without an answer, and the sizes of their bodies;
        # `_first` is the sequence of the first of them.
        self._statuses: deque[int] = deque()
        self._bodies: deque[int] = deque()
        self.body_bytes = 0
        self.accepted = 0
        self.received_bytes = 0
        self.sent_bytes = 0
        self._first = 0
        self._output: list[bytes] = []
        self._output_bytes = 0
        # The time since which a request is being read.
        self._since = now
        # Whether output was pending when the timer was last due, and still is.
        self._unread = False
        self.deadline = now + settings.header_seconds

    # Requests

    def receive(self, data: bytes, now: float) -> None:
        """Process bytes."""
        self.received_bytes += len(data)
        if self.state is not State.OPEN:
            return
        reader = self._reader
        if not reader.in_request:
            self._since = now
        try:
            reader.feed(data)
        except Refusal as refusal:
            self._take_entries()
            self.refuse(refusal.status, refusal.detail)
        else:
            self._take_entries()
            if reader.finished and not reader.in_request:
                self._move(Input.LAST_REQUEST)
            self._flush()
        self._set_deadline(now)

    def _take_entries(self) -> None:
        entries, self._reader.entries = self._reader.entries, []
        sequence = self._first + len(self._statuses)
        for entry in entries:
            if isinstance(entry, int):
                self._add(entry, 0)
            else:
                entry.connection = self.number
                entry.sequence = sequence
                entry.address = self.address
                entry.secure = self.secure
                self._requests.append(entry)
                self._add(0, len(entry.body))
            sequence += 1

    def _add(self, status: int, size: int) -> None:
        self._statuses.append(status)
        self._bodies.append(size)
        self.body_bytes += size

    def take_requests(self) -> list[HttpRequest]:
        """The requests completed since the last call, in order."""
        requests, self._requests = self._requests, []
        return requests

    @property
    def held_bytes(self) -> int:
        """The bodies of requests without an answer, including the one that is being read."""
        return self.body_bytes + self._reader.body_bytes

    @property
    def may_read(self) -> bool:
        """Whether more bytes are accepted at the moment."""
        settings = self._settings
        return (
            len(self._statuses) < settings.max_unanswered
            and self.body_bytes < settings.max_unanswered_bytes
            and self._output_bytes < settings.max_output_bytes
        )

    # Answers

    def answer(self, sequence: int, status: int) -> None:
        """Answer a request; its response leaves after those of the requests before it."""
        self._statuses[sequence - self._first] = status
        self._flush()

    def answer_all(self, requests: list[HttpRequest], status: int) -> None:
        """Answer several requests with the same status."""
        first = self._first
        for request in requests:
            self._statuses[request.sequence - first] = status
        self._flush()

    def refuse(self, status: int, detail: str) -> None:
        """Answer the request that is being read, after all others, and read nothing more."""
        self.reason = _REASONS.get(status, CloseReason.TOO_LARGE)
        self.detail = detail
        self._move(Input.REFUSED)
        self._add(status, 0)
        self._flush()

    def overload(self) -> None:
        """Answer 503 to the requests that were not taken, and to the one that is being read."""
        for request in self.take_requests():
            self.answer(request.sequence, 503)
        if self.state is State.OPEN and self._reader.in_request:
            self.refuse(503, "the requests of all clients hold too many bytes")

    def _flush(self) -> None:
        """Write the responses that need not wait for an earlier request."""
        statuses = self._statuses
        while statuses and statuses[0]:
            status = statuses.popleft()
            self._counters.answers[status] += 1
            self.accepted += status < FIRST_FAILURE
            self.body_bytes -= self._bodies.popleft()
            self._first += 1
            if self.state is not State.OPEN and not statuses:
                self._write(RESPONSES[status | CLOSE])
                self._move(Input.ANSWERED)
            else:
                self._write(RESPONSES[status | KEEP if self._reader.keep else status])
        if not statuses and self._reader.wants_continue:
            self._reader.wants_continue = False
            self._write(CONTINUE)

    def _write(self, data: bytes) -> None:
        self._output.append(data)
        self._output_bytes += len(data)

    def _move(self, happened: Input) -> None:
        self.state = TRANSITIONS[self.state, happened]

    def take_output(self, now: float) -> list[bytes]:
        """The bytes to send."""
        output, self._output = self._output, []
        if output:
            self.sent_bytes += self._output_bytes
            self._output_bytes = 0
            self._unread = False
            # A request that waited behind these answers has its full time again.
            self._since = now
            self._set_deadline(now)
        return output

    # Time

    def _set_deadline(self, now: float) -> None:
        settings, reader = self._settings, self._reader
        if self.state is State.LINGERING:
            self.deadline = now + settings.linger_seconds
        elif self._statuses or self._output:
            self.deadline = now + settings.write_seconds
        elif not reader.in_request:
            self.deadline = now + settings.idle_seconds
        elif not reader.in_body:
            self.deadline = self._since + settings.header_seconds
        else:
            seconds = reader.body_bytes / settings.min_bytes_per_second
            self.deadline = self._since + settings.request_seconds + seconds

    def handle_timer(self, now: float) -> None:
        """Handle the timer at `deadline`."""
        if self.state is State.LINGERING:
            self._move(Input.LATE)
        elif self._output:
            if self._unread:
                self.reason = CloseReason.NOT_READING
                self._move(Input.LATE)
            self._unread = True
            self.deadline = now + self._settings.write_seconds
        elif self._statuses:
            self.deadline = now + self._settings.write_seconds
        elif self._reader.in_request:
            self.refuse(408, "the request is not complete in time")
            self.deadline = now + self._settings.write_seconds
        else:
            self.reason = CloseReason.IDLE
            self._move(Input.LATE)
