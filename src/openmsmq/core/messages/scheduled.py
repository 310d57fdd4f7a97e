"""Scheduled work: delayed messages appear, retried ones return, removed ones are deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import PositionState
from openmsmq.core.queues.creation import drop_if_unused
from openmsmq.core.tracing import note_messages
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.history_record import Happening

from .delayed import appear
from .delete_reasons import delete_messages
from .due_times import REMOVED, due_time
from .positions import move_now

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

# The number of messages per call.
SCHEDULED_STEP: Final = 1_000
# A message that a reader holds is looked at again after this time.
_BUSY_SECONDS: Final = 5.0
_AVAILABLE: Final = int(PositionState.AVAILABLE)
_DELAYED: Final = int(PositionState.DELAYED)
_PURGED: Final = int(MessageClass.NACK_Q_PURGED)


def handle_schedule(state: State) -> None:
    """Do what is due."""
    delayed: dict[Queue, list[Message]] = {}
    for message in state.schedule.due(state.utc, SCHEDULED_STEP):
        queue = message.queue
        if message.state == _DELAYED:
            delayed.setdefault(queue, []).append(message)
        elif message.state != _AVAILABLE:
            state.schedule.start(message, state.utc + _BUSY_SECONDS)
        else:
            _leave(state, queue, message)
    for queue, messages in delayed.items():
        appear(state, queue, messages)


def _leave(state: State, queue: Queue, message: Message) -> None:
    """A message leaves the subqueue where it stayed for a limited time."""
    time = due_time(message)
    if time is None:
        # The policy was removed: the message stays.
        return
    if time > state.utc:
        state.schedule.start(message, time)
        return
    queue.lanes.remove(message)
    if queue.subqueue_name == REMOVED:
        delete_messages(state, queue, [message], _PURGED)
    else:
        moved = move_now(state, queue, message, queue.family)
        note_messages(state, Happening.MOVED, queue.family, (moved,))
        drop_if_unused(state, queue)
