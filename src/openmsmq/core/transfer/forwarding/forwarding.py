"""Messages over HTTP that are forwarded to another machine ([MC-MQSRM] 3.1.5.1.3).

A forwarder neither numbers nor acknowledges messages: the envelope of the source is forwarded
unchanged, and the copy here ends with the answer of the next machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.management.drops import LOOP
from openmsmq.core.messages.arrivals import arrival, insert
from openmsmq.core.messages.system_messages import may_reach
from openmsmq.core.model.message import Traits
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.outbox import Result
from openmsmq.core.queues.acceptance import EnqueueStatus, check_room
from openmsmq.core.queues.opening import close_queue, open_queue
from openmsmq.core.transfer.incoming.answered_reception import NO_IDENTIFIER
from openmsmq.core.transfer.incoming.delivery import is_late, reject
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import ShareMode

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.wire.message.user_message import UserMessage
    from openmsmq.wire.names.direct_format_name import DirectFormatName

# The traits of a forwarded message: it is stored, and becomes a dead letter here.
_KEPT: Final = int(Traits.RECOVERABLE | Traits.NEGATIVE_JOURNALING)
_RECOVERABLE: Final = int(Traits.RECOVERABLE)
# A message of a stream that returns this soon has gone in a circle: a source that sends it again
# waits longer.
LOOP_SECONDS: Final = 10


class Forwarded(Result):
    """The result for a message for another machine; `left` says that there was no room for it."""

    __slots__ = ("left",)

    def __init__(self, depends: int, *, left: bool = False) -> None:
        super().__init__(depends)
        self.left = left


def forward(state: State, message: UserMessage, name: DirectFormatName) -> Forwarded:
    """Put a message into the outgoing queue of a name.

    Raises:
        QueueError: such a queue is not possible.
    """
    if is_late(state, message):
        reject(state, message, MessageClass.NACK_REACH_QUEUE_TIMEOUT)
        return Forwarded(0)
    if _came_in_a_circle(state, message):
        state.outbox.drop("message", str(name), message.packet, LOOP)
        return Forwarded(0)
    if not may_reach(state, name):
        return Forwarded(0, left=True)
    descriptor = open_queue(state, name, QueueAccessType.SEND, ShareMode.DENY_NONE, SYSTEM_CALLER)
    try:
        queue = descriptor.require(frozenset((QueueAccessType.SEND,)))
        if check_room(state, queue, len(message.packet)) is not EnqueueStatus.OK:
            return Forwarded(0, left=True)
        packet, traits, priority, expires = arrival(message, queue)
        # The source of a stream message keeps its copy, and makes the dead letter.
        kept_traits = _RECOVERABLE if message.transactional else _KEPT
        (stored,) = insert(state, queue, [(packet, traits & kept_traits, priority, expires)])
        _note(state, message)
    finally:
        close_queue(state, descriptor)
    return Forwarded(stored.stored)


def _came_in_a_circle(state: State, message: UserMessage) -> bool:
    identifier = message.identifier.serialize()
    time = state.srmp_history.time_of(identifier)
    if time is None or identifier == NO_IDENTIFIER:
        return False
    # A source sends a message of a stream again when a receipt is missing.
    return not message.transactional or state.utc - time < LOOP_SECONDS


def _note(state: State, message: UserMessage) -> None:
    identifier = message.identifier.serialize()
    if identifier != NO_IDENTIFIER:
        state.srmp_history.add(state, [identifier], stored=bool(message.delivery_mode))
