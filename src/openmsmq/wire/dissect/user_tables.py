"""Names and meanings of the fields of a UserMessage up to the body."""

from typing import Final

from openmsmq.wire.codes.algorithms import EncryptionAlgorithm, HashAlgorithm
from openmsmq.wire.codes.message_class import MEANINGS, class_name, http_status
from openmsmq.wire.codes.message_enums import Authenticated, PrivacyLevel
from openmsmq.wire.message.body_type import body_type_name
from openmsmq.wire.message.message_properties_header import MESSAGE_PROPERTIES, AcknowledgmentFlags
from openmsmq.wire.message.transaction_header import (
    TRANSACTION_HEADER,
    TRANSACTION_ID_MASK,
    TransactionHeaderFlags,
)
from openmsmq.wire.message.user_header import (
    ADMIN_SHIFT,
    DELIVERY_MODE_MASK,
    DESTINATION_SHIFT,
    RESPONSE_SHIFT,
    ROUTING_COUNT_MASK,
    USER_HEADER,
    UserHeaderFlags,
)
from openmsmq.wire.names.queue_address import QueueAddressType
from openmsmq.wire.security.security_header import (
    AUTHENTICATION_MASK,
    SECURITY_HEADER,
    SENDER_ID_TYPE_MASK,
    SecurityHeaderFlags,
)

from .layout import Bits, Field, Layout
from .values import (
    code_name,
    constant,
    duration,
    enum_name,
    show_guid,
    show_identifier,
    utc_time,
)

_ADDRESS: Final = enum_name(QueueAddressType)

# The addresses that follow the fixed part, in order, and where their types are in Flags.
ADDRESSES: Final = (
    ("DestinationQueue", DESTINATION_SHIFT),
    ("AdminQueue", ADMIN_SHIFT),
    ("ResponseQueue", RESPONSE_SHIFT),
)


def message_class(value: int) -> str:
    """Name and meaning of a message class."""
    status = http_status(value)
    meaning = MEANINGS.get(value) or ("" if status is None else f"HTTP status {status}")
    return f"{class_name(value)}: {meaning}" if meaning else class_name(value)


USER: Final = Layout(
    "UserHeader",
    USER_HEADER,
    Field("SourceQueueManager", text=show_guid),
    Field("QueueManagerAddress", text=show_guid),
    Field("TimeToBeReceived", duration),
    Field("SentTime", utc_time),
    Field("MessageID", constant("ordinal at the source queue manager")),
    Field(
        "Flags",
        bits=(
            Bits(ROUTING_COUNT_MASK, "RC", constant("routing servers passed")),
            Bits(DELIVERY_MODE_MASK, "DM", ("express", "recoverable")),
            Bits(UserHeaderFlags.JN, "JN", ("no dead letter", "dead letter on failure")),
            Bits(UserHeaderFlags.JP, "JP", ("no copy in the journal", "copy in the journal")),
            Bits(7 << DESTINATION_SHIFT, "DQ", _ADDRESS),
            Bits(7 << ADMIN_SHIFT, "AQ", _ADDRESS),
            Bits(7 << RESPONSE_SHIFT, "RQ", _ADDRESS),
            Bits(UserHeaderFlags.SH, "SH", ("no SecurityHeader", "SecurityHeader present")),
            Bits(UserHeaderFlags.TH, "TH", ("no TransactionHeader", "TransactionHeader present")),
            Bits(
                UserHeaderFlags.MP,
                "MP",
                ("no MessagePropertiesHeader", "MessagePropertiesHeader present"),
            ),
            Bits(UserHeaderFlags.CQ, "CQ", ("no ConnectorType", "ConnectorType present")),
            Bits(
                UserHeaderFlags.MQ,
                "MQ",
                ("no MultiQueueFormatHeader", "MultiQueueFormatHeader present"),
            ),
            Bits(UserHeaderFlags.AH, "AH", ("no SRMP headers", "SRMP headers present")),
            Bits(UserHeaderFlags.HH, "HH", ("no SoapHeader", "SoapHeader present")),
        ),
    ),
)

TRANSACTION: Final = Layout(
    "TransactionHeader",
    TRANSACTION_HEADER,
    Field(
        "Flags",
        bits=(
            Bits(
                TransactionHeaderFlags.CG, "CG", ("no ConnectorQMGuid", "ConnectorQMGuid present")
            ),
            Bits(TransactionHeaderFlags.FA, "FA", ("no FinalAck wanted", "FinalAck wanted")),
            Bits(TransactionHeaderFlags.FM, "FM", ("not the first", "first in its transaction")),
            Bits(TransactionHeaderFlags.LM, "LM", ("not the last", "last in its transaction")),
            Bits(TRANSACTION_ID_MASK, "ID", constant("tag of the transaction")),
        ),
    ),
    Field("TxSequenceID.Ordinal"),
    Field("TxSequenceID.TimeStamp", utc_time),
    Field("TxSequenceNumber", constant("place in the sequence, from 1")),
    Field("PreviousTxSequenceNumber", constant("the message before in the sequence, 0 none")),
)

SECURITY: Final = Layout(
    "SecurityHeader",
    SECURITY_HEADER,
    Field(
        "Flags",
        bits=(
            Bits(SENDER_ID_TYPE_MASK, "ST", ("no sender", "SID", "queue manager")),
            Bits(SecurityHeaderFlags.AU, "AU", ("", "authenticated")),
            Bits(SecurityHeaderFlags.EB, "EB", ("body is clear", "body is encrypted")),
            Bits(SecurityHeaderFlags.DE, "DE", ("provider is named", "default crypto provider")),
            Bits(SecurityHeaderFlags.AI, "AI", ("", "SecurityData present")),
            Bits(AUTHENTICATION_MASK, "AS", enum_name(Authenticated)),
        ),
    ),
    Field("SenderIdSize", constant("bytes")),
    Field("EncryptionKeySize", constant("bytes")),
    Field("SignatureSize", constant("bytes")),
    Field("SenderCertSize", constant("bytes")),
    Field("ProviderInfoSize", constant("bytes")),
)

PROPERTIES: Final = Layout(
    "MessagePropertiesHeader",
    MESSAGE_PROPERTIES,
    Field(
        "Flags",
        bits=(
            Bits(AcknowledgmentFlags.PA, "PA", ("", "acknowledge arrival")),
            Bits(AcknowledgmentFlags.PR, "PR", ("", "acknowledge receipt")),
            Bits(AcknowledgmentFlags.NA, "NA", ("", "report failure to arrive")),
            Bits(AcknowledgmentFlags.NR, "NR", ("", "report failure to be received")),
        ),
    ),
    Field("LabelLength", constant("characters with the NUL")),
    Field("MessageClass", message_class, hexadecimal=True),
    Field("CorrelationID", text=show_identifier),
    Field("BodyType", body_type_name, hexadecimal=True),
    Field("ApplicationTag"),
    Field("MessageSize", constant("bytes of body")),
    Field("AllocationBodySize", constant("bytes kept for the body")),
    Field("PrivacyLevel", code_name(PrivacyLevel)),
    Field("HashAlgorithm", code_name(HashAlgorithm), hexadecimal=True),
    Field("EncryptionAlgorithm", code_name(EncryptionAlgorithm), hexadecimal=True),
    Field("ExtensionSize", constant("bytes")),
)
