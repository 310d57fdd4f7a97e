"""Format names and the addresses that packets carry for them ([MS-MQMQ] 2.2.18.1, 2.2.19.2)."""

from typing import Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.multi_queue_format_header import MQFFormatNameElement, MQFFormatType

from .direct_format_name import DirectFormatName
from .format_name import (
    DistributionListFormatName,
    FormatName,
    MulticastFormatName,
    PrivateFormatName,
    PublicFormatName,
    SingleFormatName,
    parse_format_name,
)
from .queue_address import (
    QueueAddress,
    QueueAddressType,
    direct_address,
    private_address,
    public_address,
)
from .queue_name import Suffix

_MULTICAST: Final = "MULTICAST="


def address_of(name: FormatName) -> QueueAddress:
    """The address of a UserHeader for this name, with its GUID; the builder shortens it.

    Raises:
        QueueError: MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION if no packet can carry the name.
    """
    match name:
        case DirectFormatName():
            return direct_address(name.direct)
        case MulticastFormatName():
            # Choice: no type of address is for multicast; such a packet leaves in the form of SRMP
            # only, so that its text can stand where a direct name does.
            return direct_address(str(name))
        case PrivateFormatName(suffix=Suffix.NONE):
            return private_address(name.guid, name.number)
        case PublicFormatName(suffix=Suffix.NONE):
            return public_address(name.guid)
        case _:
            raise _unsupported(name)


def format_name_of(address: QueueAddress) -> SingleFormatName:
    """The format name of an address as `UserMessage` gives it: public, private, direct, multicast.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME if it is of another kind, or its text is not a name.
    """
    if address.type == QueueAddressType.DIRECT:
        text = address.direct or ""
        return _multicast(text) if text.startswith(_MULTICAST) else _direct(text)
    if address.guid is not None:
        if address.type == QueueAddressType.PRIVATE_ON_OTHER:
            return PrivateFormatName(address.guid, address.number)
        if address.type == QueueAddressType.PUBLIC:
            return PublicFormatName(address.guid)
    raise QueueError(
        Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"an address of type {address.type} names no queue"
    )


def element_of(name: SingleFormatName) -> MQFFormatNameElement:
    """The element of a MultiQueueFormatHeader for this name.

    Raises:
        QueueError: MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION if no element can carry the name.
    """
    match name:
        case DirectFormatName():
            return MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name=name.direct)
        case PrivateFormatName(suffix=Suffix.NONE):
            return MQFFormatNameElement(MQFFormatType.PRIVATE, name.guid, name.number)
        case PublicFormatName(suffix=Suffix.NONE):
            return MQFFormatNameElement(MQFFormatType.PUBLIC, name.guid)
        # The domain of a list cannot be carried.
        case DistributionListFormatName():
            return MQFFormatNameElement(MQFFormatType.DISTRIBUTION_LIST, name.guid)
        case _:
            raise _unsupported(name)


def format_name_of_element(element: MQFFormatNameElement) -> SingleFormatName:
    """The format name of an element.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME if the text of a direct element is no name.
    """
    match element.format_type:
        case MQFFormatType.PUBLIC:
            return PublicFormatName(element.guid)
        case MQFFormatType.PRIVATE:
            return PrivateFormatName(element.guid, element.private_queue_identifier)
        case MQFFormatType.DISTRIBUTION_LIST:
            return DistributionListFormatName(element.guid)
        case _:
            return _direct(element.format_name.removeprefix("DIRECT="))


def _direct(text: str) -> DirectFormatName:
    name = parse_format_name(f"DIRECT={text}")
    if not isinstance(name, DirectFormatName):
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, "an address with several names")
    return name


def _multicast(text: str) -> MulticastFormatName:
    name = parse_format_name(text)
    if not isinstance(name, MulticastFormatName):
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, "an address with several names")
    return name


def _unsupported(name: FormatName) -> QueueError:
    return QueueError(
        Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, f"no packet can be addressed to {name}"
    )
