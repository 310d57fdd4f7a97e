"""Messages in queue order from any place, for administrators: includes locked and delayed ones."""

from __future__ import annotations

from heapq import merge, nlargest, nsmallest
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import PositionState
from openmsmq.core.model.open_queue import MAY_PEEK, OpenQueueDescriptor
from openmsmq.core.model.read import Browsed, Read
from openmsmq.core.transactions.transactions import Transaction

from .reading import queue_to_read
from .taking import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

_AVAILABLE: Final = int(PositionState.AVAILABLE)
_DELAYED: Final = int(PositionState.DELAYED)
_LOOKUP_ID: Final = attrgetter("lookup_id")
# Smaller and larger than every lookup id.
BEFORE_ALL: Final = -1
AFTER_ALL: Final = 1 << 64


def browse(
    state: State,
    descriptor: OpenQueueDescriptor,
    lookup_id: int | None,
    *,
    backwards: bool,
    max_count: int,
    max_bytes: int,
    hidden: bool = False,
) -> Browsed:
    """The messages after a lookup id, or before it, in queue order.

    Args:
        lookup_id: the place; None is the beginning, or the end when backwards.
        max_count: the largest number of messages.
        max_bytes: the largest total size; at least one message is returned.
        hidden: return only messages that readers do not see.
    """
    queue = queue_to_read(state, descriptor, MAY_PEEK)
    most = max_count + 1
    if backwards:
        place = AFTER_ALL if lookup_id is None else lookup_id
        candidates = _before(queue, place, most, hidden=hidden)
    else:
        place = BEFORE_ALL if lookup_id is None else lookup_id
        candidates = _after(queue, place, most, hidden=hidden)
    messages: list[Message] = []
    more = False
    for message in candidates:
        max_bytes -= message.size
        more = len(messages) == max_count or (max_bytes < 0 and bool(messages))
        if more:
            break
        messages.append(message)
    if not messages:
        return Browsed(Read([], [], state.outbox.seen()), [], more=False)
    if backwards:
        messages.reverse()
    states = [
        (index, "delayed", "")
        if message.state == _DELAYED
        else (index, "locked", holder_name(message.holder))
        for index, message in enumerate(messages)
        if message.state != _AVAILABLE
    ]
    return Browsed(show(state, messages), states, more=more)


def _after(queue: Queue, lookup_id: int, count: int, *, hidden: bool) -> Iterator[Message]:
    visible = iter(()) if hidden else _visible_after(queue, lookup_id)
    if not queue.locked and not queue.delayed:
        return visible
    later = [message for other_id, message in _hidden(queue) if other_id > lookup_id]
    return merge(visible, nsmallest(count, later, key=_LOOKUP_ID), key=_LOOKUP_ID)


def _before(queue: Queue, lookup_id: int, count: int, *, hidden: bool) -> Iterator[Message]:
    visible = iter(()) if hidden else _visible_before(queue, lookup_id)
    if not queue.locked and not queue.delayed:
        return visible
    earlier = [message for other_id, message in _hidden(queue) if other_id < lookup_id]
    in_front = nlargest(count, earlier, key=_LOOKUP_ID)
    return merge(visible, in_front, key=_LOOKUP_ID, reverse=True)


def _hidden(queue: Queue) -> Iterator[tuple[int, Message]]:
    """The messages hidden from readers, by lookup id."""
    return chain(queue.locked.items(), queue.delayed.items())


def _visible_after(queue: Queue, lookup_id: int) -> Iterator[Message]:
    message = queue.lanes.after(lookup_id)
    while message is not None:
        yield message
        message = queue.lanes.after(message.lookup_id)


def _visible_before(queue: Queue, lookup_id: int) -> Iterator[Message]:
    message = queue.lanes.before(lookup_id)
    while message is not None:
        yield message
        message = queue.lanes.before(message.lookup_id)


def holder_name(holder: object) -> str:
    """The holder of a locked message, in words."""
    if isinstance(holder, Transaction):
        return f"transaction {{{str(holder.identifier).upper()}}}"
    if isinstance(holder, OpenQueueDescriptor):
        return f"reader {holder.handle} ({holder.caller.sid})"
    # Delivered messages that wait for a final acknowledgment describe themselves.
    return holder if isinstance(holder, str) else "unknown"
