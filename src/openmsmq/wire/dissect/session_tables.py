"""Names and meanings of the fields of BaseHeader, SessionHeader, internal packets and Ping."""

from typing import Final

from openmsmq.wire.packets.base_header import BASE_HEADER, PRIORITY_MASK, BaseHeaderFlags
from openmsmq.wire.packets.connection_parameters import CONNECTION_PARAMETERS_HEADER
from openmsmq.wire.packets.establish_connection import (
    ESTABLISH_CONNECTION_HEADER,
    RESERVED_MASK,
    OperatingSystemFlags,
)
from openmsmq.wire.packets.internal_header import (
    CONNECTION_REFUSED,
    INTERNAL_HEADER,
    PACKET_TYPE_MASK,
    InternalPacketType,
)
from openmsmq.wire.packets.ping import PING, PingFlags
from openmsmq.wire.packets.session_header import SESSION_HEADER

from .layout import Bits, Field, Layout
from .values import constant, duration, enum_name, milliseconds, show_guid


def _priority(value: int) -> str:
    return f"priority {value}"


def _acknowledged(flags: int) -> str:
    """Bit k acknowledges the number in the field before plus k."""
    offsets = [f"+{bit}" for bit in range(32) if flags >> bit & 1]
    if not offsets:
        return "no recoverable message"
    return "RecoverableMsgAckSeqNumber " + " ".join(offsets)


BASE: Final = Layout(
    "BaseHeader",
    BASE_HEADER,
    Field("VersionNumber", hexadecimal=True),
    Field("Reserved", constant("ignored"), hexadecimal=True),
    Field(
        "Flags",
        bits=(
            Bits(PRIORITY_MASK, "PR", _priority),
            Bits(BaseHeaderFlags.IN, "IN", ("user packet", "internal packet")),
            Bits(BaseHeaderFlags.SH, "SH", ("no SessionHeader", "SessionHeader present")),
            Bits(BaseHeaderFlags.DH, "DH", ("no DebugHeader", "DebugHeader present")),
            Bits(BaseHeaderFlags.TR, "TR", ("not traced", "tracing wanted")),
        ),
    ),
    Field("Signature", constant('"LIOR"'), hexadecimal=True),
    Field("PacketSize", constant("bytes")),
    Field("TimeToReachQueue", duration),
)

SESSION: Final = Layout(
    "SessionHeader",
    SESSION_HEADER,
    Field("AckSequenceNumber", constant("user packets received")),
    Field("RecoverableMsgAckSeqNumber", constant("first recoverable packet acknowledged, 0 none")),
    Field("RecoverableMsgAckFlags", _acknowledged, hexadecimal=True),
    Field("UserMsgSequenceNumber", constant("user packets sent")),
    Field("RecoverableMsgSeqNumber", constant("recoverable packets sent")),
    Field("WindowSize", constant("packets")),
    Field("Reserved", constant("ignored"), hexadecimal=True),
)

INTERNAL: Final = Layout(
    "InternalHeader",
    INTERNAL_HEADER,
    Field("Reserved", constant("ignored"), hexadecimal=True),
    Field(
        "Flags",
        bits=(
            Bits(PACKET_TYPE_MASK, "PT", enum_name(InternalPacketType)),
            Bits(CONNECTION_REFUSED, "CS", ("accepted", "connection refused")),
        ),
    ),
)

ESTABLISH: Final = Layout(
    "EstablishConnectionHeader",
    ESTABLISH_CONNECTION_HEADER,
    Field("ClientGuid", text=show_guid),
    Field("ServerGuid", text=show_guid),
    Field("TimeStamp", constant("milliseconds since the initiator started")),
    Field(
        "OperatingSystem",
        bits=(
            Bits(RESERVED_MASK, "RE", constant("always 16")),
            Bits(OperatingSystemFlags.SE, "SE", ("a ping was sent", "no ping was sent")),
            Bits(OperatingSystemFlags.OS, "OS", ("not server class", "server class")),
            Bits(
                OperatingSystemFlags.QS,
                "QS",
                ("", "guaranteed quality of service"),
            ),
        ),
    ),
    Field("Reserved", constant("ignored"), hexadecimal=True),
)

PARAMETERS: Final = Layout(
    "ConnectionParametersHeader",
    CONNECTION_PARAMETERS_HEADER,
    Field("RecoverableAckTimeout", milliseconds),
    Field("AckTimeout", milliseconds),
    Field("Reserved", constant("ignored"), hexadecimal=True),
    Field("WindowSize", constant("packets")),
)

PING_FIELDS: Final = Layout(
    "Ping",
    PING,
    Field(
        "Flags",
        bits=(
            Bits(PingFlags.RC, "RC", ("from a server", "not from a server")),
            Bits(PingFlags.RF, "RF", ("would accept", "would refuse")),
        ),
    ),
    Field("Signature", constant('"HU"'), hexadecimal=True),
    Field("Cookie", constant("the same in request and response")),
    Field("QMGuid", text=show_guid),
)
