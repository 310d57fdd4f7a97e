"""Names and meanings of the fields of the headers after the body."""

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from openmsmq.wire.message.debug_header import DEBUG_HEADER, QUEUE_TYPE_MASK
from openmsmq.wire.message.multi_queue_format_header import MQF_ADDRESS_HEADER, MQF_SIGNATURE_HEADER
from openmsmq.wire.message.soap_header import SECTION
from openmsmq.wire.message.srmp_headers import COMPOUND_MESSAGE_HEADER, SRMP_ENVELOPE_HEADER
from openmsmq.wire.remote_read.dead_letter_header import DEAD_LETTER_HEADER
from openmsmq.wire.remote_read.extended_address_header import (
    EXTENDED_ADDRESS_HEADER,
    HostAddressType,
)
from openmsmq.wire.remote_read.extension_header import EXTENSION_HEADER, ExtensionHeaderFlags
from openmsmq.wire.remote_read.subqueue_header import (
    ACKNOWLEDGEMENT_CLASS_MASK,
    ACKNOWLEDGEMENT_CLASS_SHIFT,
    SUBQUEUE_HEADER,
)

from .layout import Bits, Field, Layout
from .user_tables import message_class
from .values import constant, enum_name, utc_time

_RESERVED: Final = Field("Reserved", constant("ignored"), hexadecimal=True)
_RESERVED_BYTES: Final = Field("Reserved")


def show_name(raw: bytes) -> tuple[str, str]:
    """Text in a field of fixed size, filled up with NULs."""
    text = raw.decode("utf-16-le", "replace").partition("\0")[0]
    return text, "" if text else "none"


def host_address(kind: int, raw: bytes) -> str:
    """An address of an ExtendedAddressHeader, empty when the type says that there is none."""
    if kind == HostAddressType.IP:
        return str(IPv4Address(raw[:4]))
    return str(IPv6Address(raw[:16])) if kind == HostAddressType.IPV6 else ""


DEBUG: Final = Layout(
    "DebugHeader",
    DEBUG_HEADER,
    Field("Flags", bits=(Bits(QUEUE_TYPE_MASK, "QT", ("no queue", "public queue")),)),
    _RESERVED,
)

SRMP_ENVELOPE: Final = Layout(
    "SRMPEnvelopeHeader",
    SRMP_ENVELOPE_HEADER,
    Field("HeaderId"),
    _RESERVED,
    Field("DataLength", constant("characters with the NUL")),
)

COMPOUND_MESSAGE: Final = Layout(
    "CompoundMessageHeader",
    COMPOUND_MESSAGE_HEADER,
    Field("HeaderId"),
    _RESERVED,
    Field("HTTPBodySize", constant("bytes of Data")),
    Field("MsgBodySize", constant("bytes of message body")),
    Field("MsgBodyOffset", constant("where the message body is in Data")),
)

SOAP_SECTIONS: Final = tuple(
    Layout(
        "SoapHeader",
        SECTION,
        Field(f"{name}SectionID", hexadecimal=True),
        _RESERVED,
        Field(f"{name}DataLength", constant("characters with the NUL")),
    )
    for name in ("Header", "Body")
)

MQF_ADDRESSES: Final = Layout(
    "MQFAddressHeader",
    MQF_ADDRESS_HEADER,
    Field("HeaderSize", constant("bytes")),
    Field("HeaderID", hexadecimal=True),
    _RESERVED,
    Field("ElementCount", constant("queues")),
)

MQF_SIGNATURE: Final = Layout(
    "MQFSignatureHeader",
    MQF_SIGNATURE_HEADER,
    Field("ID", hexadecimal=True),
    _RESERVED,
    Field("Size", constant("bytes")),
)

EXTENSION: Final = Layout(
    "ExtensionHeader",
    EXTENSION_HEADER,
    Field("HeaderSize", constant("bytes")),
    Field("RemainingHeadersSize", constant("bytes of headers follow")),
    Field(
        "Flags",
        bits=(
            Bits(ExtensionHeaderFlags.DL, "DL", ("", "DeadLetterHeader present")),
            Bits(ExtensionHeaderFlags.SQ, "SQ", ("", "SubqueueHeader present")),
            Bits(ExtensionHeaderFlags.DI, "DI", ("", "the dead-letter queue is not valid")),
            Bits(ExtensionHeaderFlags.EA, "EA", ("", "ExtendedAddressHeader present")),
        ),
    ),
    _RESERVED_BYTES,
)

SUBQUEUE: Final = Layout(
    "SubqueueHeader",
    SUBQUEUE_HEADER,
    Field("HeaderSize", constant("bytes")),
    Field(
        "Flags",
        bits=(
            Bits(
                ACKNOWLEDGEMENT_CLASS_MASK << ACKNOWLEDGEMENT_CLASS_SHIFT,
                "AcknowledgementClass",
                message_class,
            ),
        ),
    ),
    Field("AbortCounter", constant("aborted receives")),
    Field("MoveCounter", constant("moves")),
    Field("LastMoveTime", utc_time),
    Field("SubqueueName", text=show_name),
    Field("TargetSubqueueName", text=show_name),
)

DEAD_LETTER: Final = Layout(
    "DeadLetterHeader", DEAD_LETTER_HEADER, Field("HeaderSize", constant("bytes"))
)

EXTENDED_ADDRESS: Final = Layout(
    "ExtendedAddressHeader",
    EXTENDED_ADDRESS_HEADER,
    Field("HeaderSize", constant("bytes")),
    Field("AddressLength", constant("bytes")),
    Field("AddressType", enum_name(HostAddressType)),
    Field("AddressScope"),
    Field("Address"),
)
