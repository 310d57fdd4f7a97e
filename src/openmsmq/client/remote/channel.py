"""The connections to one server of remote read, without sockets.

A *link* is one of them. What a request asks for is a task: a generator of steps (`run`), or calls
with a function for the answer (`post`). Everything happens when bytes come or a link is lost.
"""

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, Final, NamedTuple, TypeVar

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Wait
from openmsmq.protocol.remote_read.client import Connect, Invoke, Step, Steps
from openmsmq.protocol.rpc.client import Answered, Bound, ClientConnection, ClientSecurity, Failed
from openmsmq.protocol.rpc.client.settings import ClientSettings
from openmsmq.protocol.rpc.errors import ConnectionClosed
from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.ndr.syntax import NDR, NDR64

T = TypeVar("T")

# [MS-MQRR] 2.2, [MS-MQQP] 2.2: both transfer syntaxes are offered, and the server chooses.
_SETTINGS: Final = ClientSettings(transfer_syntaxes=(NDR, NDR64))

# Any: the response of any operation.
Answer = Callable[[Any, MsmqError | None], None]


class Outcome(NamedTuple):
    """What became of a request."""

    value: Any  # Of any request.
    error: MsmqError | None

    def result(self) -> Any:
        """The value.

        Raises:
            MsmqError: it failed.
        """
        if self.error is not None:
            raise self.error
        return self.value


class Link:
    """One connection to a port of the server; a transport opens it and moves its bytes."""

    __slots__ = (
        "_answers",
        "authenticated",
        "bound",
        "closing",
        "connection",
        "interfaces",
        "port",
    )

    def __init__(
        self,
        port: int,
        interfaces: tuple[RpcInterface, ...],
        connection: ClientConnection,
        bound: Answer,
        *,
        authenticated: bool,
    ) -> None:
        self.port: Final = port
        self.interfaces: Final = interfaces
        self.connection: Final = connection
        self.authenticated: Final = authenticated
        # Called once, when the bind is done or refused.
        self.bound: Answer | None = bound
        # Whether a transport hangs up as soon as everything is written.
        self.closing = False
        self._answers: dict[int, Answer] = {}

    def call(self, invoke: Invoke, answer: Answer) -> None:
        """Make a call."""
        try:
            number = self.connection.call(invoke.interface, invoke.call, invoke.request)
        except MsmqError as exc:
            answer(None, exc)
        else:
            self._answers[number] = answer

    @property
    def idle(self) -> bool:
        """Whether no call waits for its answer."""
        return not self._answers

    def settle(self) -> None:
        """Look at everything that happened."""
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, Answered):
                self._answers.pop(event.call_id)(event.response, None)
            elif isinstance(event, Failed):
                self._answers.pop(event.call_id)(None, event.error)
            else:
                bound, self.bound = self.bound, None
                if bound is not None:
                    bound(None, None if isinstance(event, Bound) else event.error)
                self.closing = self.closing or not isinstance(event, Bound)


class RemoteChannel:
    """A `client.backend.Channel` of one server; `run` and `post` make requests.

    Args:
        description: where the server is, for error texts.
        security: how links are authenticated; None for Anonymous Logon.
    """

    def __init__(self, description: str, security: ClientSecurity | None) -> None:
        self.description: Final = description
        self._security = security
        # Why links cannot be authenticated.
        self._refusal: MsmqError | None = None
        self.next_id: Final = count(1).__next__
        self.fault: ConnectionLost | None = None
        self.fate_unknown = False
        self.told = False
        self.held_bytes: Final = 0
        self.arrivals = 0
        # Links that a transport has to open.
        self.new_links: Final[deque[Link]] = deque()
        self._links: dict[int, Link] = {}
        # The link for calls that may not stand behind one that waits, by the link of that.
        self._side_links: dict[int, Link] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._dropped: set[int] = set()
        # Background calls that are not answered yet, and what was refused of them.
        self.background: Final[set[int]] = set()
        self._failures: deque[MsmqError] = deque()
        # Called when time passes; the backend gives back what was held for too long.
        self.on_timer: Callable[[float], float | None] = lambda now: None  # noqa: ARG005

    @property
    def needs_preparation(self) -> bool:
        """Whether `prepare` has something to do that may take long."""
        return self._security is not None and self._security.prepare is not None

    def prepare(self) -> None:
        """Get what authenticates links, as a ticket; what fails is told when one is made."""
        assert self._security is not None  # noqa: S101 - see `needs_preparation`
        assert self._security.prepare is not None  # noqa: S101 - see `needs_preparation`
        try:
            self._security.prepare()
        except MsmqError as exc:
            self._refusal = exc

    # Requests

    def run(self, steps: Steps[T], number: int = 0) -> int:
        """Go through steps; return the number of the request."""
        number = number or self.next_id()
        self._advance(number, steps, None, None)
        return number

    def _advance(
        self, number: int, steps: Steps[T], value: object, error: MsmqError | None
    ) -> None:
        try:
            step: Step = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as end:
            self.finish(number, end.value, None)
        except MsmqError as exc:
            self.finish(number, None, exc)
        else:
            self._take_step(step, lambda value, error: self._advance(number, steps, value, error))

    def _take_step(self, step: Step, answer: Answer) -> None:
        if isinstance(step, Invoke):
            self.post(step, answer)
        elif isinstance(step, Connect):
            self._connect(step, answer)
        else:
            self._links.pop(step.connection).closing = True
            answer(None, None)

    def _connect(self, step: Connect, answer: Answer) -> None:
        number = self.next_id()

        def bound(_: object, error: MsmqError | None) -> None:
            if error is not None:
                # A refused bind is an answer: when its link closes, nothing is lost.
                self._links.pop(number, None)
            answer(number, error)

        try:
            link = self._new_link(
                step.port, step.interfaces, bound, authenticated=step.authenticated
            )
        except MsmqError as exc:
            # There is no ticket for the server.
            answer(None, exc)
            return
        self._links[number] = link

    def _new_link(
        self,
        port: int,
        interfaces: tuple[RpcInterface, ...],
        bound: Answer,
        *,
        authenticated: bool,
        assoc_group_id: int = 0,
    ) -> Link:
        if authenticated and self._refusal is not None:
            raise self._refusal
        connection = ClientConnection(
            interfaces,
            security=self._security if authenticated else None,
            assoc_group_id=assoc_group_id,
            settings=_SETTINGS,
        )
        link = Link(port, interfaces, connection, bound, authenticated=authenticated)
        self.new_links.append(link)
        return link

    def post(self, invoke: Invoke, answer: Answer) -> None:
        """Make a call whose answer goes to a function."""
        link = self._links.get(invoke.connection)
        if link is None:
            answer(None, ConnectionClosed(f"{self.description}: the connection is closed"))
            return
        if not (invoke.waits or link.connection.multiplexed or link.idle):
            link = self._side_link(invoke.connection, link)
        link.call(invoke, answer)

    def _side_link(self, number: int, link: Link) -> Link:
        """A second link of the same association: the first takes one call at a time."""
        side = self._side_links.get(number)
        if side is None:
            side = self._side_links[number] = self._new_link(
                link.port,
                link.interfaces,
                lambda _, error: None if error is None else self._lost(str(error)),
                authenticated=link.authenticated,
                assoc_group_id=link.connection.assoc_group_id,
            )
        return side

    def finish(self, number: int, value: object, error: MsmqError | None) -> None:
        """A request is over."""
        self.arrivals += 1
        if number in self.background:
            self.background.discard(number)
            if error is not None:
                self._failures.append(error)
        elif number in self._dropped:
            self._dropped.discard(number)
        else:
            self._outcomes[number] = Outcome(value, error)

    def drop(self, number: int) -> None:
        """Nothing waits for a request any more."""
        if self._outcomes.pop(number, None) is None:
            self._dropped.add(number)

    def check(self) -> None:
        """Raise what was refused in the background.

        Raises:
            MsmqError: the oldest refusal.
        """
        if self._failures:
            raise self._failures.popleft()

    # What a transport calls

    @property
    def has_data(self) -> bool:
        """Whether there may be something to write or to open: only a transport knows more."""
        return self.fault is None

    def links(self) -> list[Link]:
        """All links that are open or to be opened."""
        return [*self._links.values(), *self._side_links.values()]

    def receive(self, link: Link, data: bytes) -> None:
        """Bytes came over a link."""
        link.connection.receive_data(data)
        link.settle()

    def lose_link(self, link: Link, reason: str) -> None:
        """A link is gone, or could not be opened."""
        binding = link.bound is not None
        link.connection.connection_lost(reason)
        link.settle()
        if not binding and link in self.links():
            self._lost(reason)

    def _lost(self, reason: str) -> None:
        self.lose(
            f"the connection to {self.description} was lost: {reason}. What was received and not "
            "acknowledged is back in its queue."
        )

    # `Channel`

    def data_to_send(self) -> bytearray:
        """Nothing: links have their own."""
        return bytearray()

    def space(self) -> memoryview:
        """Nothing is read here: links have their own."""
        return memoryview(b"")

    def filled(self, count: int) -> list[int]:  # noqa: ARG002 - the interface of channels
        return []

    def receive_data(self, data: bytes) -> list[int]:  # noqa: ARG002 - the interface of channels
        return []

    def is_over(self, wait: Wait) -> bool:
        """Whether what an operation waits for has come."""
        return wait.request in self._outcomes or (
            not wait.request and self.arrivals > wait.arrivals
        )

    def take(self, request: int) -> Outcome | None:
        """What became of a request, if that is known."""
        return self._outcomes.pop(request, None)

    def lose(self, text: str) -> ConnectionLost:
        """The server is gone; the first reason counts."""
        if self.fault is None:
            self.fault = ConnectionLost(text)
            self.fate_unknown = bool(self.background)
            # The server gives back what was locked only when no link of the association is left.
            for link in self.links():
                link.closing = True
            self.arrivals += 1
        return self.fault

    def close_sends(self) -> None:
        """Nothing is sent."""
