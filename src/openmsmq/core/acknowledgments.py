"""Administration acknowledgments: what became of a message ([MS-MQQB] 3.1.7.15).

The same for every protocol and for messages that never leave the machine: the acknowledgment is a
message of its own to the administration queue, here or elsewhere.
"""

from typing import Final

from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.base_header import INFINITE
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.message_class import INSECURE_NACKS, NEGATIVE_BIT, MessageClass
from openmsmq.wire.queue_address import NO_QUEUE
from openmsmq.wire.queue_address_names import format_name_of
from openmsmq.wire.queue_enums import ShareMode
from openmsmq.wire.queue_error import QueueError
from openmsmq.wire.user_message import UserMessage
from openmsmq.wire.user_message_builder import build_user_message

from .arrivals import arrival, insert
from .open_queue import QueueAccessType
from .opening import close_queue, open_queue
from .quota import EnqueueStatus, check_room
from .state import State

_TOO_LARGE: Final = MessageClass.NACK_MESSAGE_TOO_LARGE


def acknowledge(state: State, packet: bytes, message_class: int) -> bool:
    """Send the acknowledgment of this class for a message; return whether it could be sent.

    The message itself says whether it wants one; that is for the caller to look at.
    """
    message = UserMessage(packet)
    admin_queue = message.admin_queue
    if admin_queue is None:
        return False
    if message_class in INSECURE_NACKS and not state.settings.send_insecure_nacks:
        return False
    try:
        name = format_name_of(admin_queue)
        descriptor = open_queue(
            state, name, QueueAccessType.SEND, ShareMode.DENY_NONE, SYSTEM_CALLER
        )
    except QueueError:
        return False
    try:
        queue = descriptor.require(frozenset((QueueAccessType.SEND,)))
        acknowledgment = build_acknowledgment(state, message, message_class)
        # [MS-MQQB] 3.1.7.15: a queue that cannot take it does not get it; nobody is told.
        if queue.outgoing is None and queue.properties.transactional:
            return False
        if check_room(state, queue, len(acknowledgment)) is not EnqueueStatus.OK:
            return False
        insert(state, queue, [arrival(UserMessage(acknowledgment), queue)])
    finally:
        close_queue(state, descriptor)
    return True


def build_acknowledgment(state: State, message: UserMessage, message_class: int) -> bytes:
    """The acknowledgment of this class for a message, as a packet."""
    admin_queue = message.admin_queue
    if admin_queue is None:
        raise QueueError(Hresult.MQ_ERROR_INSUFFICIENT_PROPERTIES, "no administration queue")
    # All negative ones carry the body, unless it is secret or the reason for the refusal.
    negative = message_class & NEGATIVE_BIT and message_class != _TOO_LARGE
    body = message.body if negative and not message.encrypted else b""
    ordinal = state.ordinals.take(1, state.batch, state.batch_number) + 1
    return build_user_message(
        body=body,
        body_type=message.body_type if body else 0,
        label=message.label,
        destination_queue=admin_queue,
        response_queue=message.destination_queue or NO_QUEUE,
        source_queue_manager=state.manager.identifier,
        priority=message.priority,
        time_to_reach_queue=INFINITE,
        time_to_be_received=INFINITE,
        sent_time=int(state.utc),
        message_id=ordinal & 0xFFFFFFFF,
        delivery_mode=message.delivery_mode,
        message_class=message_class,
        correlation_id=message.identifier.serialize(),
        application_tag=message.application_tag,
    )
