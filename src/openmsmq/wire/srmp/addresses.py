"""Queues as envelopes name them and as packets do: URLs, and format names after `MSMQ:`."""

from typing import Final

from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.multi_queue_format_header import (
    MAX_ELEMENT_COUNT,
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.names.format_name import (
    MultipleElementFormatName,
    SingleFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    QueueAddressType,
    direct_address,
)
from openmsmq.wire.names.queue_address_names import address_of, element_of, format_name_of

from .envelope import Msmq
from .formats import fault, is_web

PREFIX: Final = "MSMQ:"
DIRECT_PREFIX: Final = "DIRECT="


def read_queue(text: str, field: str) -> QueueAddress:
    """The address of a queue: of a URL, or of a format name with or without `MSMQ:` before it.

    Raises:
        MalformedPacket: the text is neither, or no packet can carry the name.
    """
    if is_web(text):
        return direct_address(text)
    try:
        return address_of(_format_name(text, field))
    except QueueError as exc:
        raise fault(field, 0, text, "the name of a queue") from exc


def write_queue(address: QueueAddress | None) -> str:
    """The text for a queue: a URL, or a format name after `MSMQ:`; empty for no queue.

    Args:
        address: as `UserMessage` gives it.
    """
    if address is None:
        return ""
    if address.type != QueueAddressType.DIRECT:
        return f"{PREFIX}{format_name_of(address)}"
    direct = address.direct or ""
    return direct if is_web(direct) else f"{PREFIX}{DIRECT_PREFIX}{direct}"


def url_of(address: QueueAddress | None) -> str:
    """The URL that an address holds; empty if it holds none."""
    if address is None or address.type != QueueAddressType.DIRECT:
        return ""
    direct = address.direct or ""
    return direct if is_web(direct) else ""


def read_lists(msmq: Msmq) -> MultiQueueFormatHeader | None:
    """The header for <DestinationMqf>, <AdminMqf> and <ResponseMqf>; None if there are none.

    Raises:
        MalformedPacket: there are too many names, or one is not the name of a queue.
    """
    lists = (msmq.destination_mqf, msmq.admin_mqf, msmq.response_mqf)
    count = sum(map(len, lists))
    if not count:
        return None
    if count > MAX_ELEMENT_COUNT:
        raise MalformedPacket("Msmq.DestinationMqf", 0, f"more than {MAX_ELEMENT_COUNT} names")
    destination, administration, response = (
        tuple([_element(name) for name in names]) for names in lists
    )
    return MultiQueueFormatHeader(destination, administration, response)


def write_names(elements: tuple[MQFFormatNameElement, ...]) -> tuple[str, ...]:
    """The texts for the queues of one list: URLs, and other format names as they are."""
    names = [element.format_name for element in elements]
    urls = [name.removeprefix(DIRECT_PREFIX) for name in names]
    return tuple(url if is_web(url) else name for url, name in zip(urls, names, strict=True))


def _element(text: str) -> MQFFormatNameElement:
    if is_web(text):
        return MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name=text)
    try:
        return element_of(_format_name(text, "Msmq.DestinationMqf"))
    except QueueError as exc:
        raise fault("Msmq.DestinationMqf", 0, text, "the name of a queue") from exc


def _format_name(text: str, field: str) -> SingleFormatName:
    name = parse_format_name(text.removeprefix(PREFIX))
    if isinstance(name, MultipleElementFormatName):
        raise fault(field, 0, text, "the name of one queue")
    return name
