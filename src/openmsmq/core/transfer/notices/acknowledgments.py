"""Administration acknowledgments: the fate of a message ([MS-MQQB] 3.1.7.15).

The same for every protocol and for messages that never leave the machine: the acknowledgment is a
separate message to the administration queue, local or remote.
"""

from functools import partial
from typing import Final

from openmsmq.core.messages.system_messages import send_system_message
from openmsmq.core.state import State
from openmsmq.wire.codes.message_class import (
    INSECURE_NACKS,
    NEGATIVE_BIT,
    MessageClass,
    is_acknowledgment,
)
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress
from openmsmq.wire.packets.base_header import INFINITE

from .srmp_receipts import receipt_queue

_TOO_LARGE: Final = MessageClass.NACK_MESSAGE_TOO_LARGE


def acknowledge(state: State, packet: bytes, message_class: int) -> bool:
    """Send the acknowledgment of this class for a message; return whether it could be sent.

    The caller checks whether the message asks for one.
    """
    message = UserMessage(packet)
    # [MS-MQQB] note 62: there are no acknowledgments of notices.
    if is_acknowledgment(message.message_class):
        return False
    if message_class in INSECURE_NACKS and not state.settings.send_insecure_nacks:
        return False
    admin_queue = receipt_queue(state, message, message_class)
    if admin_queue is None:
        return False
    build = partial(_build, state, message, message_class, admin_queue)
    sent = send_system_message(state, admin_queue, build, what="acknowledgment", about=message)
    return sent is not None


def _build(
    state: State,
    message: UserMessage,
    message_class: int,
    admin_queue: QueueAddress,
    ordinal: int,
) -> bytes:
    # All negative ones carry the body, unless it is secret or the reason for the refusal.
    negative = message_class & NEGATIVE_BIT and message_class != _TOO_LARGE
    secret = message.encrypted or message.private_body
    body = message.body if negative and not secret else b""
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
        message_id=ordinal,
        delivery_mode=message.delivery_mode,
        message_class=message_class,
        correlation_id=message.identifier.serialize(),
        application_tag=message.application_tag,
    )
