"""One message to several queues: a copy for each ([MS-MQDMPR] 3.1.7.1.27)."""

from collections.abc import Sequence

from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.format_name import (
    MulticastFormatName,
    MultipleElementFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_address_names import address_of, element_of


def copies_for(
    views: Sequence[UserMessage], destination: str, all_destinations: str
) -> list[bytes]:
    """The messages for one of several destinations; each names all of them, too."""
    address = address_of(parse_format_name(destination))
    name = parse_format_name(all_destinations)
    names = name.elements if isinstance(name, MultipleElementFormatName) else (name,)
    # No element of a MultiQueueFormatHeader can carry a multicast address.
    elements = tuple(
        element_of(format_name)
        for format_name in names
        if not isinstance(format_name, MulticastFormatName)
    )
    return [
        rebuild(
            view,
            destination_queue=address,
            multi_queue_format_header=_naming(view.multi_queue_format_header, elements),
        )
        for view in views
    ]


def _naming(
    former: MultiQueueFormatHeader | None, elements: tuple[MQFFormatNameElement, ...]
) -> MultiQueueFormatHeader:
    """The header that names all destinations; its other contents stay."""
    if former is None:
        return MultiQueueFormatHeader(elements, (), (), b"")
    # A signed list stays as its signer wrote it.
    names = former.destination if former.signature else elements
    return MultiQueueFormatHeader(names, former.administration, former.response, former.signature)
