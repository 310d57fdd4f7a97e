"""The other end of a channel, for tests without sockets: reads requests, writes replies."""

from typing import Generic, TypeVar

from openmsmq.client.backend import Identity
from openmsmq.client.local.backend import LocalBackend
from openmsmq.client.local.channel import RequestChannel
from openmsmq.client.logic.queue import QueueLogic
from openmsmq.client.operations import Operation, Wait
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import FrameBuffer, frame
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address_names import address_of

T = TypeVar("T")
R = TypeVar("R", bound=local.Request)

GUID = "{11111111-2222-3333-4444-555555555555}"
ORDERS = r"DIRECT=OS:alpha\private$\orders"


def packet(number: int) -> bytes:
    """A message whose label is its number."""
    destination = address_of(parse_format_name(ORDERS))
    return build_user_message(destination_queue=destination, label=str(number), body=b"body")


class Running(Generic[T]):
    """An operation under way."""

    def __init__(self, operation: Operation[T]) -> None:
        self._operation = operation
        self.ended = False
        self.result: T
        self.wait: Wait
        self.go_on(None)

    def go_on(self, reply: local.AnyReply | None) -> None:
        """Feed in what it waits for; None is nothing in time, or the start."""
        try:
            self.wait = self._operation.send(reply)
        except StopIteration as end:
            self.ended = True
            self.result = end.value

    def throw(self, error: BaseException) -> None:
        """Fail while it waits."""
        self._operation.throw(error)


class Peer:
    """A channel with a backend, and the queue manager that it thinks it talks to."""

    def __init__(self, *, reconnects: bool = False) -> None:
        self.now = 1000.0
        self.backend = LocalBackend("test", lambda: self.now, timeout=None, reconnects=reconnects)
        self.backend.introduce(Identity("alpha", GUID, "S-1-1-0", "1"), b"")
        self.channel: RequestChannel
        self._frames: FrameBuffer
        self.connect()

    def connect(self) -> None:
        """Begin a new channel, as after a loss."""
        self.channel = self.backend.channel = RequestChannel("test")
        self._frames = FrameBuffer()

    def requests(self) -> list[local.AnyRequest]:
        """What was posted since the last call."""
        payloads = self._frames.feed(bytes(self.channel.data_to_send()))
        return [local.decode_request(payload) for payload in payloads]

    def request(self, kind: type[R]) -> R:
        """The one request that was posted, of this kind."""
        (request,) = self.requests()
        assert isinstance(request, kind)
        return request

    def opened_and(self, kind: type[R]) -> R:
        """The request of this kind that was posted with the opening of its queue before it."""
        opening, request = self.requests()
        assert isinstance(opening, local.OpenToSend)
        assert isinstance(request, kind)
        return request

    def answer(self, *replies: local.AnyReply) -> None:
        """Send replies."""
        for reply in replies:
            self.channel.receive_data(frame(local.encode(reply)))

    def go_on(self, running: Running[T], reply: local.AnyReply) -> None:
        """Answer what an operation waits for."""
        self.answer(reply)
        assert self.channel.is_over(running.wait)
        running.go_on(self.channel.take(running.wait.request))

    def start(self, operation: Operation[T]) -> Running[T]:
        """Start an operation, and open the queue that it wants open."""
        running = Running(operation)
        self.open(running)
        return running

    def open(self, running: Running[T]) -> None:
        """Answer an operation that opens its queue."""
        request = self.request(local.OpenQueue)
        assert running.wait == Wait(request.id)
        self.go_on(running, opened(request.id))

    def queue(self) -> QueueLogic:
        return QueueLogic(self.backend, r".\private$\orders")


def opened(request: int, handle: int = 7) -> local.Done:
    """The answer to OpenQueue."""
    value = {
        "handle": handle,
        "format_name": ORDERS,
        "destinations": [ORDERS],
        "transactional": False,
    }
    return local.Done(request, value)


def found(request: int, *numbers: int) -> local.Messages:
    """The answer to a read: messages with these lookup ids."""
    packets = [packet(number) for number in numbers]
    return local.Messages(request, packets, list(numbers), [1.0] * len(numbers), [])
