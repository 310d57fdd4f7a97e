"""Removal of unused outgoing queues: misspelt hosts do not stay listed for ever."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from openmsmq.core.events import QueueDeleted
from openmsmq.core.rows.queue_rows import forget_queue
from openmsmq.wire.names.format_name import parse_format_name

from .sequences import end_sequence

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

# The number of outgoing queues checked to make room for another.
UNUSED_SEARCH: Final = 64
# The number checked in one call of `forget_unused`.
UNUSED_STEP: Final = 1_000


def is_unused(queue: Queue) -> bool:
    """Whether an outgoing queue is empty and unreferenced; a paused one is kept."""
    outgoing = queue.outgoing
    return (
        outgoing is not None
        and outgoing.may_transmit
        and outgoing.sequence is None
        and not queue.count
        and not queue.pending
        and not queue.delayed
        and not queue.descriptors
        and not queue.expected
    )


def forget_outgoing(state: State, queue: Queue) -> None:
    """Remove an empty outgoing queue from the list; the next message to its name adds it again."""
    outgoing = queue.outgoing
    if outgoing is None:
        return
    del state.outgoing[parse_format_name(outgoing.destination_format_name).key]
    del state.queues[queue.number]
    end_sequence(state, queue)
    forget_queue(state, queue)
    state.outbox.tell(QueueDeleted(queue=queue, depends=state.outbox.number))


def drop_unused_outgoing(state: State) -> bool:
    """Remove one unused outgoing queue to make room; return whether one was found.

    Only some are checked each time, in turn.
    """
    for key, queue in list(islice(state.outgoing.items(), UNUSED_SEARCH)):
        if is_unused(queue):
            forget_outgoing(state, queue)
            return True
        del state.outgoing[key]
        state.outgoing[key] = queue
    return False


def forget_unused(state: State) -> None:
    """Remove the outgoing queues that are unused and were so at the last check.

    Many are checked in several calls.
    """
    if not state.outgoing or state.now < state.unused_look_at:
        return
    if not state.unused_to_look_at:
        state.unused_to_look_at = list(state.outgoing.values())
    queues = state.unused_to_look_at
    for queue in queues[-UNUSED_STEP:]:
        outgoing = queue.outgoing
        if outgoing is not None and queue.number in state.queues:
            unused = is_unused(queue)
            if unused and outgoing.unused:
                forget_outgoing(state, queue)
            outgoing.unused = unused
    del queues[-UNUSED_STEP:]
    if not queues:
        state.unused_look_at = state.now + state.settings.unused_outgoing_seconds
