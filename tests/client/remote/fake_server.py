"""A server of remote read without RPC: a test answers each call when it likes."""

from collections.abc import Callable
from itertools import count
from typing import Any, NoReturn, TypeVar

from openmsmq.client.operations import Operation
from openmsmq.client.remote.channel import Outcome, RemoteChannel
from openmsmq.client.remote.handle import RemoteHandle
from openmsmq.protocol.remote_read.client import (
    Ack,
    Invoke,
    ReadCall,
    Reading,
    RemoteMessage,
    RemoteQueue,
)
from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.rpc_interfaces.remote_read import R_START_RECEIVE

T = TypeVar("T")
Answer = Callable[[Any, MsmqError | None], None]


class FakeProtocol:
    """A `ReadProtocol` whose responses are messages or codes."""

    name = "fake"

    def __init__(self, *, tells_order: bool = True) -> None:
        self.tells_order = tells_order
        self.ended: list[tuple[int, Ack]] = []

    def read(self, queue: RemoteQueue, reading: Reading) -> ReadCall:
        invoke = Invoke(0, REMOTE_READ, R_START_RECEIVE, reading)
        return ReadCall(queue.next_request_id(), reading, invoke)

    def message(self, queue: RemoteQueue, read: ReadCall, response: Any) -> RemoteMessage:
        del queue, read
        if isinstance(response, Hresult):
            raise QueueError(response)
        assert isinstance(response, RemoteMessage)
        return response

    def give_back(self, queue: RemoteQueue, read: ReadCall, response: Any) -> Invoke:
        del queue, response
        return Invoke(0, REMOTE_READ, R_START_RECEIVE, read.reading)

    def end(self, queue: RemoteQueue, message: RemoteMessage, ack: Ack) -> Invoke:
        del queue
        self.ended.append((message.lookup_id, ack))
        return Invoke(0, REMOTE_READ, R_START_RECEIVE, None)

    def cancel(self, queue: RemoteQueue, request_id: int) -> Invoke:
        del queue
        return Invoke(0, REMOTE_READ, R_START_RECEIVE, request_id)

    # What reads do not call.

    def unused(self, *_: Any) -> NoReturn:
        raise AssertionError

    open = close = create_cursor = close_cursor = purge = move = unused


class FakeChannel(RemoteChannel):
    """Keeps calls until the test answers them."""

    def __init__(self) -> None:
        super().__init__("msmq://fake", None)
        self.calls: list[tuple[Reading, Answer]] = []
        self.finished: dict[int, Outcome] = {}

    def post(self, invoke: Invoke, answer: Answer) -> None:
        self.calls.append((invoke.request, answer))

    def finish(self, number: int, value: object, error: MsmqError | None) -> None:
        self.finished[number] = Outcome(value, error)

    @property
    def readings(self) -> list[Reading]:
        return [reading for reading, _ in self.calls]

    def answer(self, response: RemoteMessage | Hresult, index: int = 0) -> None:
        """Answer one of the calls on their way."""
        _, answer = self.calls.pop(index)
        answer(response, None)


class FakeServer:
    """What reads need, with one open queue."""

    def __init__(self, *, tells_order: bool = True) -> None:
        self.channel = FakeChannel()
        self.protocol = FakeProtocol(tells_order=tells_order)
        self.handle = RemoteHandle(self.channel, 1, "DIRECT=OS:fake\\q", RemoteQueue(b"\1" * 20))
        self.numbers = count(1)

    def run(self, operation: Operation[T]) -> T:
        """Run an operation that waits only for what has finished."""
        try:
            wait = next(operation)
            while True:
                wait = operation.send(self.channel.finished.pop(wait.request))
        except StopIteration as end:
            result: T = end.value
            return result
