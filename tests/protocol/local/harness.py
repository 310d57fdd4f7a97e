"""Clients of the local protocol without sockets: a queue manager driven by hand, sessions on it."""

from collections.abc import Callable
from typing import Any

from tests.core.harness import ADMINISTRATOR, ORDERS, STRANGER, USER, Harness, packet
from tests.protocol.local.fake_service import FakeService

from openmsmq.protocol.local import dispatch
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.session import LocalSession
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.hresult import Hresult, hresult_name
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage

__all__ = [
    "ADMINISTRATOR",
    "ORDERS",
    "OTHER",
    "STRANGER",
    "USER",
    "Client",
    "World",
    "bodies",
    "packet",
    "transactional",
]

OTHER = r".\private$\other"


class World:
    """A queue manager, its service and any number of clients."""

    def __init__(self, harness: Harness | None = None) -> None:
        self.core = harness or Harness()
        self.service = FakeService(USER)

    def client(self, caller: Caller | None = USER, *, greet: bool = True) -> "Client":
        client = Client(self, caller)
        if greet:
            client.value(local.Hello, local.VERSION)
        return client

    def turn(self) -> None:
        """Hand out what happened."""
        self.core.engine.work()

    def advance(self, seconds: float) -> None:
        self.core.advance(seconds)
        self.turn()


class Client:
    """One session; a reply is there once the batch that it depends on is durable."""

    def __init__(self, world: World, caller: Caller | None) -> None:
        self.world = world
        self.held: list[tuple[int, local.AnyReply]] = []
        self.session = LocalSession(
            world.core.qm,
            world.service,
            caller,
            lambda depends, payload: self.held.append((depends, local.decode_reply(payload))),
        )
        self._last_id = 0

    def make(self, kind: Callable[..., local.Request], *fields: Any, **named: Any) -> local.Request:
        """A request with the next id."""
        self._last_id += 1
        return kind(self._last_id, *fields, **named)

    def post(self, request: local.Request) -> None:
        """Carry out a request to its end, without waiting for the disk."""
        dispatch.receive(self.session, local.encode(request))
        while self.session.long:
            dispatch.step(self.session)
        self.world.turn()

    def replies(self, request: local.Request, *, flush: bool = True) -> list[local.AnyReply]:
        """What came as an answer so far; with `flush` everything is on disk first."""
        if flush:
            self.world.core.flush()
        durable = self.world.core.qm.state.outbox.durable_number
        found = [reply for depends, reply in self.held if depends <= durable]
        return [reply for reply in found if reply.id == request.id]

    def call(self, kind: Callable[..., local.Request], *fields: Any, **named: Any) -> Any:
        """The one reply to a request."""
        request = self.make(kind, *fields, **named)
        self.post(request)
        (reply,) = self.replies(request)
        return reply

    def value(self, kind: Callable[..., local.Request], *fields: Any, **named: Any) -> Any:
        """The value that a request was answered with."""
        request = self.make(kind, *fields, **named)
        self.post(request)
        return value_of(self.replies(request))

    def refusal(self, kind: Callable[..., local.Request], *fields: Any, **named: Any) -> str:
        """The name of the code that a request was refused with."""
        reply = self.call(kind, *fields, **named)
        assert isinstance(reply, local.Failed), reply
        assert reply.text or reply.code == Hresult.MQ_ERROR_IO_TIMEOUT
        return hresult_name(reply.code)

    # Shorter calls

    def create(self, path: str = ORDERS, **properties: Any) -> Any:
        return self.value(local.CreateQueue, path, properties)

    def open(self, access: str = "receive", name: str = ORDERS) -> int:
        handle: int = self.value(local.OpenQueue, name, access)["handle"]
        return handle

    def send(self, *contents: bytes, name: str = ORDERS, transaction: int = 0, **rest: Any) -> Any:
        handle = self.open("send", name)
        packets = [packet(body, **rest) for body in contents]
        return self.value(local.Send, handle, packets, transaction)

    def begin(self) -> int:
        request = self.make(local.BeginTransaction)
        self.post(request)
        return request.id

    def end(self, transaction: int, *, commit: bool) -> None:
        self.value(local.EndTransaction, transaction, commit)


def value_of(replies: list[local.AnyReply]) -> Any:
    """The value of an answer; of a list that came in parts, the whole."""
    *parts, last = replies
    if isinstance(last, local.Part):
        assert last.last
        assert all(isinstance(part, local.Part) and not part.last for part in parts)
        return [value for part in replies if isinstance(part, local.Part) for value in part.values]
    assert not parts
    if isinstance(last, local.Failed):
        raise QueueError(last.code, last.text)
    assert isinstance(last, local.Done)
    return last.value


def transactional() -> Client:
    """A client with a transactional queue of its own."""
    client = World().client()
    client.create(transactional=True)
    return client


def bodies(reply: object) -> list[bytes]:
    """The bodies of the messages in a reply."""
    if isinstance(reply, local.Failed):
        raise QueueError(reply.code, reply.text)
    assert isinstance(reply, local.Messages)
    return [UserMessage(each).body for each in reply.packets]
