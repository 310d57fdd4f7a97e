"""Messages sent by the queue manager itself: into a local queue, or to another machine."""

from collections.abc import Callable
from typing import Final

from openmsmq.core.management.drops import IS_TRANSACTIONAL, OVER_QUOTA, TOO_MANY_OUTGOING
from openmsmq.core.model.message import Message
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.queues.acceptance import EnqueueStatus, check_room
from openmsmq.core.queues.names import find_queue
from openmsmq.core.queues.opening import close_queue, open_queue
from openmsmq.core.state import State
from openmsmq.core.transfer.outgoing.unused import drop_unused_outgoing
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.codes.hresult import hresult_name
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.stamping import MAX_ORDINAL, address_to_owner
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import SingleFormatName
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.names.queue_address_names import format_name_of

from .arrivals import arrival, insert

# The packet that is logged when no message is the cause.
NO_MESSAGE: Final = bytes(64)

Build = Callable[[int], bytes]
"""Makes the packet with the ordinal that the message gets."""


def send_system_message(
    state: State, address: QueueAddress, build: Build, *, what: str, about: UserMessage | None
) -> Message | None:
    """Send a message of the queue manager; None if no queue took it.

    [MS-MQQB] 3.1.7.15: a queue that cannot take it does not get it; its sender is not told.

    Args:
        what: the kind of message, such as an acknowledgment.
        about: the message that caused it, if any.
    """
    packet_about = about.packet if about is not None else NO_MESSAGE
    try:
        name = format_name_of(address)
        if not may_reach(state, name):
            state.outbox.drop(what, str(name), packet_about, TOO_MANY_OUTGOING)
            return None
        descriptor = open_queue(
            state, name, QueueAccessType.SEND, ShareMode.DENY_NONE, SYSTEM_CALLER
        )
    except QueueError as exc:
        state.outbox.drop(
            what, address.direct or str(address.guid), packet_about, hresult_name(exc.code)
        )
        return None
    try:
        queue = descriptor.require(frozenset((QueueAccessType.SEND,)))
        if queue.outgoing is None and queue.properties.transactional:
            state.outbox.drop(what, queue.path, packet_about, IS_TRANSACTIONAL)
            return None
        ordinal = state.ordinals.take(1, state.outbox) + 1
        packet = address_to_owner(build(ordinal & MAX_ORDINAL), queue.properties.queue_manager)
        if check_room(state, queue, len(packet)) is not EnqueueStatus.OK:
            state.outbox.drop(what, queue.path, packet_about, OVER_QUOTA)
            return None
        (message,) = insert(state, queue, [arrival(UserMessage(packet), queue)])
        # The caller reports something in this batch, so it waits even for an unstored message.
        message.stored = state.outbox.changed()
    finally:
        close_queue(state, descriptor)
    return message


def may_reach(state: State, name: SingleFormatName) -> bool:
    """Whether a name needs no new outgoing queue, or one more may be created.

    Senders choose the destination of acknowledgments, so their number is limited.
    """
    if len(state.outgoing) < state.settings.max_outgoing_queues:
        return True
    if name.key in state.outgoing or find_queue(state, name) is not None:
        return True
    return drop_unused_outgoing(state)
