"""Messages that the queue manager itself sends: into a queue of its own, or to another machine."""

from collections.abc import Callable

from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.queue_address import QueueAddress
from openmsmq.wire.queue_address_names import format_name_of
from openmsmq.wire.queue_enums import ShareMode
from openmsmq.wire.queue_error import QueueError
from openmsmq.wire.user_message import UserMessage

from .arrivals import arrival, insert
from .open_queue import QueueAccessType
from .opening import close_queue, open_queue
from .quota import EnqueueStatus, check_room
from .state import State

Build = Callable[[int], bytes]
"""Makes the packet with the ordinal that the message gets."""


def send_system_message(state: State, address: QueueAddress, build: Build) -> bool:
    """Send a message of the queue manager; return whether a queue took it.

    [MS-MQQB] 3.1.7.15: a queue that cannot take it does not get it; nobody is told.
    """
    try:
        descriptor = open_queue(
            state,
            format_name_of(address),
            QueueAccessType.SEND,
            ShareMode.DENY_NONE,
            SYSTEM_CALLER,
        )
    except QueueError:
        return False
    try:
        queue = descriptor.require(frozenset((QueueAccessType.SEND,)))
        if queue.outgoing is None and queue.properties.transactional:
            return False
        ordinal = state.ordinals.take(1, state.batch, state.batch_number) + 1
        packet = build(ordinal & 0xFFFFFFFF)
        if check_room(state, queue, len(packet)) is not EnqueueStatus.OK:
            return False
        insert(state, queue, [arrival(UserMessage(packet), queue)])
    finally:
        close_queue(state, descriptor)
    return True
