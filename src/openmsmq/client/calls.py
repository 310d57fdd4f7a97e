"""What blocking and asynchronous clients share: requests, the meaning of replies, prefetching."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from openmsmq.protocol.local.messages import (
    AnyReply,
    Done,
    EndReceive,
    Failed,
    Messages,
    Receive,
    Request,
    Send,
)
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.format_name import parse_format_name
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_address import QueueAddress
from openmsmq.wire.queue_address_names import address_of
from openmsmq.wire.queue_error import QueueError

from .errors import ReceiveTimeout
from .message import Message, ReceivedMessage
from .packets import PacketBuilder

SINGLE: Final = -1
MAX_REQUEST_BYTES: Final = 1024 * 1024
MAX_REQUEST_MESSAGES: Final = 1000
RECEIVE_BYTES: Final = 1024 * 1024
NO_COUNTERS: Final = (0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a queue manager tells at the start of a connection."""

    name: str
    guid: str
    sid: bytes
    version: str

    @classmethod
    def from_reply(cls, reply: AnyReply) -> "Identity":
        value = done(reply)
        return cls(value["name"], value["guid"], value["sid"], value["version"])


@dataclass(frozen=True, slots=True)
class OpenHandle:
    """A queue that is open at the queue manager."""

    handle: int
    format_name: str
    addresses: tuple[QueueAddress, ...]
    transactional: bool | None


def raise_failure(reply: AnyReply) -> None:
    """Turn a refusal into the exception that says why."""
    if isinstance(reply, Failed):
        if reply.code == Hresult.MQ_ERROR_IO_TIMEOUT:
            raise ReceiveTimeout("no message came in time")
        raise QueueError(Hresult(reply.code), reply.text)


def done(reply: AnyReply) -> Any:
    """The value of an answer."""
    raise_failure(reply)
    if not isinstance(reply, Done):
        raise MsmqError(f"the queue manager answered with {type(reply).__name__}")
    return reply.value


def messages(reply: AnyReply) -> list[ReceivedMessage]:
    """The messages of an answer."""
    raise_failure(reply)
    if not isinstance(reply, Messages):
        raise MsmqError(f"the queue manager answered with {type(reply).__name__}")
    if not reply.counters:
        return list(map(ReceivedMessage, reply.packets, reply.lookup_ids, reply.arrived_times))
    counters = {index: rest for index, *rest in reply.counters}
    return [
        ReceivedMessage(packet, lookup_id, arrived, tuple(counters.get(index, NO_COUNTERS)))  # type: ignore[arg-type] # three numbers
        for index, packet, lookup_id, arrived in zip(
            count(), reply.packets, reply.lookup_ids, reply.arrived_times, strict=False
        )
    ]


def open_handle(value: dict[str, Any]) -> OpenHandle:
    """What the queue manager says of a queue that it has opened."""
    return OpenHandle(
        value["handle"],
        value["format_name"],
        tuple(address_of(parse_format_name(name)) for name in value["destinations"]),
        value["transactional"],
    )


def split_packets(packets: Sequence[bytes]) -> list[list[bytes]]:
    """Parts of at most a thousand packets and about a mebibyte each."""
    parts: list[list[bytes]] = []
    part: list[bytes] = []
    size = 0
    for packet in packets:
        if part and (size + len(packet) > MAX_REQUEST_BYTES or len(part) >= MAX_REQUEST_MESSAGES):
            parts.append(part)
            part, size = [], 0
        part.append(packet)
        size += len(packet)
    if part:
        parts.append(part)
    return parts


class SendBuffer:
    """Sends whose answers nobody waits for yet: packed together, in bounded number.

    A refusal is raised by the next call that looks at the answers.
    """

    def __init__(self, builder: PacketBuilder, next_id: Callable[[], int]) -> None:
        self._builder = builder
        self._next_id = next_id
        self._packets: list[bytes] = []
        self._bytes = 0
        self._target: tuple[int, int] | None = None
        self._closed: list[Request] = []
        self.unanswered: deque[int] = deque()

    def add(self, message: Message, queue: OpenHandle, transaction: int) -> None:
        """Add a message; it leaves with `take`."""
        target = (queue.handle, transaction)
        if target != self._target:
            self._close()
            self._target = target
        packet = self._builder.build(message, queue.addresses[0], transactional=transaction != 0)
        self._packets.append(packet)
        self._bytes += len(packet)
        if self._bytes >= MAX_REQUEST_BYTES or len(self._packets) >= MAX_REQUEST_MESSAGES:
            self._close()

    @property
    def full(self) -> bool:
        """Whether enough came together to be worth a request."""
        return bool(self._closed) or self._bytes >= 64 * 1024

    def take(self) -> list[Request]:
        """The requests to post; their ids join `unanswered`."""
        self._close()
        requests, self._closed = self._closed, []
        self.unanswered.extend(request.id for request in requests)
        return requests

    def _close(self) -> None:
        if self._packets and self._target is not None:
            handle, transaction = self._target
            self._closed.append(Send(self._next_id(), handle, self._packets, transaction))
            self._packets = []
            self._bytes = 0


class Prefetch:
    """Messages fetched ahead of the caller.

    What is here is locked in the queue. A message counts as taken when the caller asks for the
    one behind it; then it is removed for good, many at a time.
    """

    def __init__(self, handle: int, next_id: Callable[[], int], size: int) -> None:
        self._handle = handle
        self._next_id = next_id
        self._chunk = max(size // 2, 1)
        self._ready: deque[ReceivedMessage] = deque()
        self._taken: list[int] = []
        self._current: int | None = None
        self.outstanding: deque[int] = deque()

    def __len__(self) -> int:
        return len(self._ready)

    def next(self) -> ReceivedMessage | None:
        """The next message that is here."""
        if self._current is not None:
            self._taken.append(self._current)
            self._current = None
        if not self._ready:
            return None
        message = self._ready.popleft()
        self._current = message.lookup_id
        return message

    def requests(self, timeout: float | None) -> list[Request]:
        """What to post now: removals that came together, and reads that fill up again."""
        posts: list[Request] = []
        wants = len(self._ready) < self._chunk and len(self.outstanding) < 2
        if self._taken and (len(self._taken) >= self._chunk or not self._ready):
            posts.append(self.end())
        if wants and (not self.outstanding or self._ready):
            request = Receive(
                self._next_id(),
                self._handle,
                count=self._chunk,
                max_bytes=RECEIVE_BYTES,
                timeout=timeout,
                two_phase=True,
            )
            self.outstanding.append(request.id)
            posts.append(request)
        return posts

    def add(self, reply: AnyReply) -> None:
        """The answer to the oldest read is here."""
        self.outstanding.popleft()
        self._ready.extend(messages(reply))

    def end(self) -> EndReceive:
        """Remove for good what the caller has taken."""
        taken, self._taken = self._taken, []
        return EndReceive(self._next_id(), self._handle, taken, delete=True)

    def close(self) -> list[EndReceive]:
        """End: the message that the caller has last is taken, what it has not seen goes back."""
        self.next()
        unseen = [message.lookup_id for message in self._ready]
        if self._current is not None:
            unseen.insert(0, self._current)
            self._current = None
        self._ready.clear()
        posts = []
        if self._taken:
            posts.append(self.end())
        if unseen:
            posts.append(EndReceive(self._next_id(), self._handle, unseen, delete=False))
        return posts
