"""One message to several queues: a copy for each ([MS-MQDMPR] 3.1.7.1.27)."""

from collections.abc import Sequence

from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.format_name import MultipleElementFormatName, parse_format_name
from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress
from openmsmq.wire.names.queue_address_names import address_of, element_of


def copies_for(
    views: Sequence[UserMessage], destination: str, all_destinations: str
) -> list[bytes]:
    """The messages as they go to one of several destinations; each names all of them, too."""
    address = address_of(parse_format_name(destination))
    name = parse_format_name(all_destinations)
    names = name.elements if isinstance(name, MultipleElementFormatName) else (name,)
    elements = tuple(element_of(each) for each in names)
    return [_rebuild(view, address, elements) for view in views]


def _rebuild(
    view: UserMessage, address: QueueAddress, elements: tuple[MQFFormatNameElement, ...]
) -> bytes:
    former = view.multi_queue_format_header
    debug = view.debug_header
    envelope, compound = view.srmp_envelope_header, view.compound_message_header
    return build_user_message(
        body=view.body,
        label=view.label,
        destination_queue=address,
        admin_queue=view.admin_queue or NO_QUEUE,
        response_queue=view.response_queue or NO_QUEUE,
        source_queue_manager=view.source_queue_manager,
        priority=view.priority,
        time_to_reach_queue=view.time_to_reach_queue,
        time_to_be_received=view.time_to_be_received,
        sent_time=view.sent_time,
        message_id=view.message_id,
        delivery_mode=view.delivery_mode,
        negative_journaling=view.negative_journaling,
        positive_journaling=view.positive_journaling,
        connector_type=view.connector_type,
        transaction_header=view.transaction_header,
        security_header=view.security_header,
        acknowledgments=view.acknowledgments,
        message_class=view.message_class,
        correlation_id=view.correlation_id,
        body_type=view.body_type,
        application_tag=view.application_tag,
        privacy_level=view.privacy_level,
        hash_algorithm=view.hash_algorithm,
        encryption_algorithm=view.encryption_algorithm,
        extension=view.extension,
        tracing_requested=view.tracing_requested,
        tracing_queue=debug.queue_identifier if debug else None,
        srmp_headers=(envelope, compound) if envelope and compound else None,
        soap_header=view.soap_header,
        multi_queue_format_header=MultiQueueFormatHeader(
            elements,
            former.administration if former else (),
            former.response if former else (),
            former.signature if former else b"",
        ),
    )
