"""Ranges of a queue by arrival sequence, and staged batches, for pipelines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from openmsmq.client.backend import Backend, Block, Handle
from openmsmq.client.browsed_message import BrowsedMessage, Page
from openmsmq.client.message import Message
from openmsmq.client.operations import Operation
from openmsmq.client.properties import Info
from openmsmq.wire.codes.queue_error import QueueError

from .queue import HeldMessages, Progress, QueueLogic

STAGE_BYTES: Final = 1024 * 1024
STAGE_MESSAGES: Final = 1000


@dataclass(frozen=True, slots=True)
class RangeInfo:
    """The contents of a queue, by arrival sequence; 0 where there is none.

    Attributes:
        incarnation: differs when the queue was deleted and created again.
        first, last: sequence of the first and the last visible message.
        stable: nothing at or below it becomes visible later.
        count, bytes: of visible messages.
        locked: messages that a reader has taken and not decided on.
        lock_holders: the holders of locked or uncommitted messages, with counts.
    """

    incarnation: str
    first: int
    stable: int
    last: int
    count: int
    bytes: int
    # Queue managers of earlier versions send fewer fields.
    locked: int = 0
    lock_holders: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RangePlan:
    """A range up to `end`; the digest of its ids does not depend on their order.

    Attributes:
        lookup_ids: of its messages, from a server that reads by lookup id only; else empty.
    """

    end: int
    count: int
    bytes: int
    digest: str
    lookup_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Leased:
    """Messages that one lease moved into the subqueue of a consumer; `done`: no more are left."""

    subqueue: str
    count: int
    bytes: int
    done: bool


class Published(NamedTuple):
    """The result of a commit of a batch: whether it was new, and the place of its messages.

    Attributes:
        first, last: their arrival sequences, in the order in which they were staged and without
            gaps if all went to one queue; 0 if it was not new and not the last batch.
    """

    new: bool
    first: int
    last: int


class LastBatch(NamedTuple):
    """The number of the batch that a producer published last, -1 for none; see `Published`."""

    batch: int
    first: int
    last: int


class BatchCheck(NamedTuple):
    """The packets that a destination would refuse, by index, and the bytes of the others."""

    refused: dict[int, QueueError]
    bytes: int


class RangesLogic:
    """The range operations of one queue."""

    def __init__(self, queue: QueueLogic) -> None:
        self._queue = queue
        self._requests = queue.backend.ranges

    def info(self) -> Operation[RangeInfo]:
        """First, stable and last sequence, and the holders of locks."""
        handle = yield from self._queue.opened_to_read()
        return msgspec.convert((yield from self._requests.info(handle)), RangeInfo)

    def plan(
        self, after: int, upto: int | None, max_rows: int | None, max_bytes: int | None
    ) -> Operation[RangePlan]:
        """The next range after `after`, below the stable mark and within the limits."""
        handle = yield from self._queue.opened_to_read()
        plan = yield from self._requests.plan(handle, after, upto, max_rows, max_bytes)
        return msgspec.convert(plan, RangePlan)

    def split(self, after: int, upto: int, parts: int) -> Operation[list[int]]:
        """Ends of consecutive ranges of about equal bytes."""
        handle = yield from self._queue.opened_to_read()
        return (yield from self._requests.split(handle, after, upto, parts))

    def browse(
        self,
        lookup_id: int | None,
        count: int,
        head_bytes: int | None,
        *,
        backwards: bool,
        hidden: bool,
    ) -> Operation[Page]:
        """Messages after a lookup id, or before it, some at a time until there are enough."""
        handle = yield from self._queue.opened_to_read()
        messages: list[BrowsedMessage] = []
        more = True
        while more and len(messages) < count:
            page = yield from self._requests.browse(
                handle,
                lookup_id,
                count - len(messages),
                head_bytes,
                backwards=backwards,
                hidden=hidden,
            )
            messages = page.messages + messages if backwards else messages + page.messages
            more = page.more
            if messages:
                lookup_id = messages[0 if backwards else -1].lookup_id
        return Page(messages, more)

    def find(self, identifier: bytes) -> Operation[BrowsedMessage | None]:
        """The message with an identifier, whatever its state."""
        handle = yield from self._queue.opened_to_read()
        lookup_id = yield from self._requests.find(handle, identifier)
        if lookup_id is None:
            return None
        page = yield from self._requests.browse(
            handle, lookup_id - 1, 1, None, backwards=False, hidden=False
        )
        # It may have left the queue meanwhile; then the next one is here.
        return next((each for each in page.messages if each.lookup_id == lookup_id), None)

    def acknowledge(self, base: int, upto: int, progress: Progress | None) -> Operation[int]:
        """Receive a range, step by step; return the count."""
        handle = yield from self._queue.opened("receive")
        return (
            yield from _in_steps(lambda: self._requests.acknowledge(handle, base, upto), progress)
        )

    def lease(self, consumer: str, token: int, max_rows: int, max_bytes: int) -> Operation[Leased]:
        """Move the next messages into the subqueue of a consumer."""
        handle = yield from self._queue.opened("receive")
        leased = yield from self._requests.lease(handle, consumer, token, max_rows, max_bytes)
        return msgspec.convert(leased, Leased)

    def release(self, consumer: str, token: int, progress: Progress | None) -> Operation[int]:
        """Move the messages of a consumer back, step by step; return the count."""
        handle = yield from self._queue.opened("receive")
        return (
            yield from _in_steps(lambda: self._requests.release(handle, consumer, token), progress)
        )

    def pin(self, base: int, upto: int, seconds: float) -> Operation[None]:
        """Keep a range from expiring."""
        handle = yield from self._queue.opened("receive")
        yield from self._requests.pin(handle, base, upto, seconds)


def _in_steps(step: Callable[[], Operation[Info]], progress: Progress | None) -> Operation[int]:
    """Take steps until one is the last; return the count."""
    count: int = 0
    while True:
        answer = yield from step()
        count += answer["count"]
        if progress is not None:
            progress(count)
        if answer["done"]:
            return count


class RangeStream:
    """The blocks of a range, streamed by the queue manager."""

    def __init__(
        self,
        queue: QueueLogic,
        after: int,
        upto: int,
        block_rows: int,
        block_bytes: int,
        lookup_ids: Sequence[int] = (),
        head_bytes: int | None = None,
    ) -> None:
        self._queue = queue
        self._fields = (after, upto, block_rows, block_bytes, lookup_ids, head_bytes)
        self._handle: Handle | None = None
        self._request = 0
        self._ended = False

    def next_block(self) -> Operation[Block | None]:
        """The next block; None after the last one."""
        requests = self._queue.backend.ranges
        if self._handle is None:
            self._handle = yield from self._queue.opened_to_read()
            self._request = requests.peek(self._handle, *self._fields)
        if self._ended:
            return None
        # A refusal ends it, too.
        self._ended = True
        block = yield from requests.next_block(self._request)
        self._ended = block is None
        return block

    def close(self) -> None:
        """Drop the blocks that are no longer needed."""
        handle = self._handle
        if handle is not None and not self._ended:
            self._ended = True
            if handle.channel is self._queue.backend.channel:
                self._queue.backend.ranges.drop(self._request)


class ProducerLogic:
    """Batches of one producer: staged piece by piece, published whole and once."""

    def __init__(self, backend: Backend, name: str) -> None:
        self._backend = backend
        self._name = name
        self._queues: dict[str, QueueLogic] = {}

    def stage(
        self,
        batch: int,
        partition: int,
        attempt: int,
        destination: str,
        messages: Iterable[Message],
        *,
        transactional: bool | None,
    ) -> Operation[int]:
        """Keep messages for a batch; return the count."""
        queue = self._queues.get(destination)
        if queue is None:
            queue = self._queues[destination] = QueueLogic(self._backend, destination)
        if transactional is None:
            transactional = bool((yield from queue.is_transactional()))
        builder = yield from queue.packet_builder(transactional=transactional)
        packets = map(builder.build, messages)
        return (yield from self.stage_packets(batch, partition, attempt, destination, packets))

    def stage_packets(
        self, batch: int, partition: int, attempt: int, destination: str, packets: Iterable[bytes]
    ) -> Operation[int]:
        """Keep packets that the caller has built for a batch; return the count."""
        requests = self._backend.ranges
        part: list[bytes] = []
        size = count = 0
        for packet in packets:
            part.append(packet)
            size += len(packet)
            count += 1
            if size >= STAGE_BYTES or len(part) >= STAGE_MESSAGES:
                yield from requests.stage(self._name, batch, partition, attempt, destination, part)
                part, size = [], 0
        if part:
            yield from requests.stage(self._name, batch, partition, attempt, destination, part)
        yield from self._backend.flush()
        return count

    def commit(
        self,
        batch: int,
        stages: Iterable[tuple[int, int]],
        *,
        received: HeldMessages | None = None,
        lookup_ids: Sequence[int] = (),
    ) -> Operation["Published"]:
        """Publish a batch, and remove held messages in the same step."""
        source = None if received is None else received.handle
        result = yield from self._backend.ranges.commit(
            self._name, batch, list(stages), source, list(lookup_ids)
        )
        return Published(not result["repeated"], result["first"], result["last"])

    def last_batch(self) -> Operation["LastBatch"]:
        """The batch that was published last."""
        last = yield from self._backend.ranges.last_batch(self._name)
        return LastBatch(last["batch"], last["first"], last["last"])

    def check(
        self, destination: str, packets: Sequence[bytes], *, queue_bytes: int, manager_bytes: int
    ) -> Operation["BatchCheck"]:
        """Find the packets that a destination would refuse."""
        result = yield from self._backend.ranges.check_batch(
            destination, list(packets), queue_bytes, manager_bytes
        )
        refused = {
            index: QueueError(code, text, cause=cause, remedy=remedy)
            for index, code, text, cause, remedy in result["refused"]
        }
        return BatchCheck(refused, result["bytes"])

    def abort(self, batch: int, stages: Iterable[tuple[int, int]] | None) -> Operation[None]:
        """Delete the named stages of a batch, or all."""
        named = None if stages is None else list(stages)
        yield from self._backend.ranges.abort(self._name, batch, named)
