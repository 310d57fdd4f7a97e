"""Building a message again from what another one says, with changes."""

from typing import Unpack

from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress
from openmsmq.wire.scalars import GUID_NULL

from .user_message import UserMessage
from .user_message_builder import UserMessageOptions, build_user_message


def options_of(message: UserMessage) -> UserMessageOptions:
    """Everything that a message has beside destination, body and label."""
    debug = message.debug_header
    envelope, compound = message.srmp_envelope_header, message.compound_message_header
    return UserMessageOptions(
        admin_queue=message.admin_queue or NO_QUEUE,
        response_queue=message.response_queue or NO_QUEUE,
        source_queue_manager=message.source_queue_manager,
        queue_manager_address=message.queue_manager_address,
        priority=message.priority,
        time_to_reach_queue=message.time_to_reach_queue,
        time_to_be_received=message.time_to_be_received,
        sent_time=message.sent_time,
        message_id=message.message_id,
        routing_count=message.routing_count,
        delivery_mode=message.delivery_mode,
        negative_journaling=message.negative_journaling,
        positive_journaling=message.positive_journaling,
        connector_type=message.connector_type,
        transaction_header=message.transaction_header,
        security_header=message.security_header,
        acknowledgments=message.acknowledgments,
        message_class=message.message_class,
        correlation_id=message.correlation_id,
        body_type=message.body_type,
        application_tag=message.application_tag,
        privacy_level=message.privacy_level,
        private_body=message.private_body,
        hash_algorithm=message.hash_algorithm,
        encryption_algorithm=message.encryption_algorithm,
        extension=message.extension,
        tracing_requested=message.tracing_requested,
        tracing_queue=debug.queue_identifier if debug else None,
        srmp_headers=(envelope, compound) if envelope and compound else None,
        soap_header=message.soap_header,
        multi_queue_format_header=message.multi_queue_format_header,
    )


def rebuild(
    message: UserMessage,
    *,
    destination_queue: QueueAddress | None = None,
    unaddressed: bool = False,
    **changes: Unpack[UserMessageOptions],
) -> bytes:
    """Build the packet of a message again, with other values for what is named.

    Reserved bits and padding become zero, as does what the receiver noted about the signature.

    Args:
        message: what is taken over.
        destination_queue: instead of the one of `message`, whose QueueManagerAddress goes with it.
        unaddressed: without a destination, which a queue manager writes.
        changes: other values by name.

    Raises:
        ValueError: the message has no destination, or a value does not fit its field.
    """
    options = options_of(message)
    if destination_queue is not None or unaddressed:
        options["queue_manager_address"] = GUID_NULL
    options.update(changes)
    address = destination_queue or message.destination_queue or NO_QUEUE
    body = message.packet[message.body_offset : message.body_end]
    size: int | None = message.message_size
    if not body and not options["srmp_headers"]:
        # The body of a message of SRMP is in the compound message, which is left behind.
        body, size = message.body, None
    return build_user_message(
        body=body,
        label=message.label,
        message_size=size,
        destination_queue=None if unaddressed else address,
        **options,
    )
