"""Ranges of messages by arrival sequence, for pipelines that read first and remove later.

A range is `after` < sequence <= `upto`. Nothing at or below the stable mark becomes visible later,
so the part of a range below it can only shrink.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Final

from openmsmq.core.messages.browsing import browse, holder_name
from openmsmq.core.messages.delete_reasons import ACK_RECEIVE, delete_messages
from openmsmq.core.messages.positions import changes
from openmsmq.core.messages.reading import queue_to_read
from openmsmq.core.messages.taking import show
from openmsmq.core.model.message import Message
from openmsmq.core.model.open_queue import MAY_PEEK, MAY_RECEIVE, OpenQueueDescriptor
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import Browsed, Read
from openmsmq.core.state import State
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.lookup_id import SEQUENCE_MASK, digest_of_sequence, digest_text

ACKNOWLEDGE_STEP: Final = 10_000
MAX_PIN_SECONDS: Final = 30 * 24 * 3600.0
_SEQUENCE: Final = attrgetter("sequence")


@dataclass(frozen=True, slots=True)
class Pin:
    """A planned range that does not expire before `until`."""

    base: int
    upto: int
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeInfo:
    """The contents of a queue, by sequence numbers; 0 where there is none."""

    incarnation: str
    first: int
    stable: int
    last: int
    count: int
    size: int
    # Messages that a reader has taken and not decided on.
    locked: int
    # The holders of locked or uncommitted messages, and how many each holds.
    lock_holders: dict[str, int]
    depends: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A range up to `end`: how many messages, how many bytes, and a digest of their ids.

    The digest does not depend on the order.
    """

    end: int
    count: int
    size: int
    digest: str
    depends: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """One step of receiving a range."""

    count: int
    done: bool
    depends: int


class Ranges:
    """The range operations of a queue manager; all need the ordinary access to the queue."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def info(self, descriptor: OpenQueueDescriptor) -> RangeInfo:
        """First, stable and last sequence number of the queue, and the holders of locks in it."""
        queue = queue_to_read(self._state, descriptor, MAY_PEEK)
        first, last = _bounds(queue)
        return RangeInfo(
            incarnation=f"{self._state.manager.identifier}-{queue.number}",
            first=first,
            stable=stable_mark(self._state, queue),
            last=last,
            count=queue.lanes.count,
            size=queue.total_bytes,
            locked=len(queue.locked),
            lock_holders=_lock_holders(queue),
            depends=self._state.outbox.seen(),
        )

    def plan(
        self,
        descriptor: OpenQueueDescriptor,
        after: int,
        *,
        upto: int | None = None,
        max_rows: int | None = None,
        max_bytes: int | None = None,
    ) -> Plan:
        """The next range after `after`, below the stable mark and within the limits.

        At least one message is planned if there is any. Without messages, `end` is `after`.
        """
        queue = queue_to_read(self._state, descriptor, MAY_PEEK)
        stable = stable_mark(self._state, queue)
        messages = by_arrival(queue, after, stable if upto is None else min(upto, stable))
        count = size = digest = 0
        end = after
        for message in islice(messages, None if max_rows is None else max(max_rows, 1)):
            if max_bytes is not None and count and size + message.size > max_bytes:
                break
            end = message.lookup_id & SEQUENCE_MASK
            count += 1
            size += message.size
            digest += digest_of_sequence(end)
        return Plan(
            end=end,
            count=count,
            size=size,
            digest=digest_text(digest),
            depends=self._state.outbox.seen(),
        )

    def split(
        self, descriptor: OpenQueueDescriptor, after: int, upto: int, parts: int
    ) -> list[int]:
        """Up to `parts` ends of consecutive ranges of about equal bytes; the last is `upto`."""
        queue = queue_to_read(self._state, descriptor, MAY_PEEK)
        messages = list(by_arrival(queue, after, upto))
        share = sum(message.size for message in messages) / max(parts, 1)
        ends: list[int] = []
        size = 0
        for message in messages:
            size += message.size
            if size >= share * (len(ends) + 1) and len(ends) < parts - 1:
                ends.append(message.sequence)
        if not ends or ends[-1] != upto:
            ends.append(upto)
        return ends

    def peek(
        self,
        descriptor: OpenQueueDescriptor,
        after: int,
        upto: int,
        *,
        max_rows: int = 2000,
        max_bytes: int = 4 * 1024 * 1024,
    ) -> Read | None:
        """The next messages of a range in the order of arrival; None when there are no more.

        Continue with `after` = the sequence of the last one.
        """
        queue = queue_to_read(self._state, descriptor, MAY_PEEK)
        messages: list[Message] = []
        for message in islice(by_arrival(queue, after, upto), max(max_rows, 1)):
            max_bytes -= message.size
            if max_bytes < 0 and messages:
                break
            messages.append(message)
        return show(self._state, messages) if messages else None

    def browse(
        self,
        descriptor: OpenQueueDescriptor,
        lookup_id: int | None,
        *,
        backwards: bool,
        max_count: int,
        max_bytes: int,
        hidden: bool = False,
    ) -> Browsed:
        """The messages after a lookup id, or before it, in queue order; see `browse`."""
        return browse(
            self._state,
            descriptor,
            lookup_id,
            backwards=backwards,
            max_count=max_count,
            max_bytes=max_bytes,
            hidden=hidden,
        )

    def acknowledge(
        self,
        descriptor: OpenQueueDescriptor,
        base: int,
        upto: int,
        *,
        limit: int = ACKNOWLEDGE_STEP,
    ) -> Acknowledged:
        """Receive the rest of a range, in steps: call again until it is done.

        Cumulative and idempotent. It is a receive like any other: journal and acknowledgments
        follow.
        """
        queue = queue_to_read(self._state, descriptor, MAY_RECEIVE)
        messages = list(islice(by_arrival(queue, base, upto), limit))
        for message in messages:
            queue.lanes.remove(message)
        if messages:
            delete_messages(self._state, queue, messages, ACK_RECEIVE)
        done = len(messages) < limit
        if done:
            queue.pins = [pin for pin in queue.pins if pin.base != base or pin.upto > upto]
        depends = changes(self._state, messages)
        return Acknowledged(count=len(messages), done=done, depends=depends)

    def pin(self, descriptor: OpenQueueDescriptor, base: int, upto: int, *, seconds: float) -> None:
        """Keep a range from expiring until it is acknowledged or the time is over."""
        if not 0 < seconds <= MAX_PIN_SECONDS or upto <= base:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER,
                f"{seconds} seconds for the range {base} to {upto}; up to {MAX_PIN_SECONDS:.0f}",
            )
        queue = queue_to_read(self._state, descriptor, MAY_RECEIVE)
        queue.pins = [pin for pin in queue.pins if pin.base != base]
        queue.pins.append(Pin(base, upto, self._state.utc + seconds))


def stable_mark(state: State, queue: Queue) -> int:
    """The sequence number up to which no hidden message can become visible."""
    smallest = state.sequence.last + 1
    for ids in (queue.locked, queue.pending):
        for lookup_id in ids:
            smallest = min(smallest, lookup_id & SEQUENCE_MASK)
    return smallest - 1


def by_arrival(queue: Queue, after: int, upto: int) -> Iterator[Message]:
    """The visible messages of a range in the order of arrival."""
    lanes: list[Iterator[Message]] = queue.lanes.arrivals(after, upto)
    return lanes[0] if len(lanes) == 1 else merge(*lanes, key=_SEQUENCE)


def _bounds(queue: Queue) -> tuple[int, int]:
    """The smallest and the largest sequence number of the visible messages."""
    ends = queue.lanes.lane_ends()
    first = min((first.sequence for first, _ in ends), default=0)
    return first, max((last.sequence for _, last in ends), default=0)


def _lock_holders(queue: Queue) -> dict[str, int]:
    holders: dict[str, int] = {}
    messages: Iterable[Message] = (*queue.locked.values(), *queue.pending.values())
    for message in messages:
        name = holder_name(message.holder)
        holders[name] = holders.get(name, 0) + 1
    return holders
