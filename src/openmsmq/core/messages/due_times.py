"""The times at which a message appears, returns or is removed by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import PositionState
from openmsmq.core.model.queue import QueueRole

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

# Subqueues in which messages do not stay.
RETRY: Final = "retry"
REMOVED: Final = "removed"
# The time during which removed messages can be put back.
REMOVED_SECONDS: Final = 24 * 3600
_DELAYED: Final = int(PositionState.DELAYED)


def due_time(message: Message) -> float | None:
    """The time at which the message needs work; None for never."""
    if message.state == _DELAYED:
        # It arrives then.
        return message.arrived
    queue = message.queue
    if queue.role is not QueueRole.SUBQUEUE or message.history is None:
        return None
    # LastMoveTime has whole seconds only; a move is an arrival, whose time is exact.
    name = queue.subqueue_name
    if name == REMOVED:
        return message.arrived + REMOVED_SECONDS
    policy = queue.family.policy
    if name == RETRY and policy.active:
        return message.arrived + policy.retry_cycle_delay
    return None


def schedule(state: State, message: Message) -> None:
    """Schedule the message for its next due time."""
    time = due_time(message)
    if time is not None:
        state.schedule.start(message, time)


def schedule_retries(state: State, queue: Queue) -> None:
    """The policy of a queue has changed: messages in its subqueue `retry` return accordingly."""
    for subqueue in queue.subqueues.values():
        if subqueue.subqueue_name == RETRY:
            for message in (*subqueue.lanes, *subqueue.locked.values()):
                schedule(state, message)
