"""The eight frames of [MS-MQQB] 4.1: every field, and the same bytes again from the fields."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from openmsmq.wire.message.message_properties_header import MessagePropertiesHeader
from openmsmq.wire.message.user_header import UserHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.base_header import SIGNATURE, VERSION_NUMBER, BaseHeader, BaseHeaderFlags
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.packets.framer import Framer
from openmsmq.wire.packets.internal_header import InternalHeader
from openmsmq.wire.packets.ping import PING_SIGNATURE, Ping, PingFlags
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import SID

VECTORS = Path(__file__).parents[1] / "vectors" / "mqqb-frames.json"
# JSON objects: the names of the fields are data here.
Fields = dict[str, Any]
FRAMES: list[Fields] = json.loads(VECTORS.read_text())["frames"]
PREFIX, BODY_SIZE, PADDING = 222, 2000, 2


def frame_bytes(number: int) -> bytes:
    """The bytes of a frame, with the part of frame 7 that the document leaves out."""
    frame = FRAMES[number - 1]
    raw = bytes.fromhex(frame["hex"])
    if not frame["complete"]:
        rebuild = frame["rebuild"]
        unit = bytes.fromhex(rebuild["body_unit_hex"])
        raw = raw[: rebuild["prefix_bytes"]] + unit * rebuild["body_units"]
        raw += bytes(rebuild["padding_bytes"])
    return raw


def guid_text(guid: UUID) -> str:
    return f"{{{guid}}}".upper()


def bits(value: int, mask: int) -> int:
    return int(value & mask != 0)


def base_fields(raw: bytes) -> Fields:
    header, end = BaseHeader.parse(raw)
    assert end == 16
    return {
        "VersionNumber": VERSION_NUMBER,
        "Reserved": header.reserved,
        "Flags": header.flags,
        "Flags.PR": header.priority,
        **{f"Flags.{flag.name}": bits(header.flags, flag) for flag in BaseHeaderFlags},
        "Signature": SIGNATURE,
        "PacketSize": header.packet_size,
        "TimeToReachQueue": header.time_to_reach_queue,
    }


def internal_fields(raw: bytes) -> Fields:
    header, end = InternalHeader.parse(raw, 16)
    assert end == 20
    return {
        "BaseHeader": base_fields(raw),
        "InternalHeader": {
            "Reserved": int.from_bytes(raw[16:18], "little"),
            "Flags": int.from_bytes(raw[18:20], "little"),
            "Flags.PT": int(header.packet_type),
            "Flags.CS": int(header.connection_refused),
        },
    }


def ping_fields(raw: bytes) -> Fields:
    ping, end = Ping.parse(raw)
    assert end == len(raw)
    return {
        "Flags": int.from_bytes(raw[0:2], "little"),
        "Flags.RC": bits(ping.flags, PingFlags.RC),
        "Flags.RF": bits(ping.flags, PingFlags.RF),
        "Signature": PING_SIGNATURE,
        "Cookie": ping.cookie,
        "QMGuid": guid_text(ping.qm_guid),
    }


def establish_connection_fields(raw: bytes) -> Fields:
    packet, end = EstablishConnection.parse(raw)
    assert end == len(raw)
    system = packet.operating_system
    (padding,) = set(raw[60:])
    return internal_fields(raw) | {
        "EstablishConnectionHeader": {
            "ClientGuid": guid_text(packet.client_guid),
            "ServerGuid": guid_text(packet.server_guid),
            "TimeStamp": packet.time_stamp,
            "OperatingSystem": int.from_bytes(raw[56:58], "little"),
            "OperatingSystem.RE": raw[56],
            **{f"OperatingSystem.{flag.name}": bits(system, flag) for flag in OperatingSystemFlags},
            "Reserved": int.from_bytes(raw[58:60], "little"),
            "PaddingByte": padding,
            "PaddingLength": len(raw[60:]),
        }
    }


def connection_parameters_fields(raw: bytes) -> Fields:
    packet, end = ConnectionParameters.parse(raw)
    assert end == len(raw)
    return internal_fields(raw) | {
        "ConnectionParametersHeader": {
            "RecoverableAckTimeout": packet.recoverable_ack_timeout,
            "AckTimeout": packet.ack_timeout,
            "Reserved": int.from_bytes(raw[28:30], "little"),
            "WindowSize": packet.window_size,
        }
    }


def session_ack_fields(raw: bytes) -> Fields:
    packet, end = SessionAck.parse(raw)
    assert end == len(raw)
    header = packet.session_header
    return internal_fields(raw) | {
        "SessionHeader": {
            "AckSequenceNumber": header.ack_sequence_number,
            "RecoverableMsgAckSeqNumber": header.recoverable_msg_ack_seq_number,
            "RecoverableMsgAckFlags": header.recoverable_msg_ack_flags,
            "UserMsgSequenceNumber": header.user_msg_sequence_number,
            "RecoverableMsgSeqNumber": header.recoverable_msg_seq_number,
            "WindowSize": header.window_size,
            "Reserved": header.reserved,
        }
    }


def user_message_fields(raw: bytes) -> Fields:
    message = UserMessage(raw)
    return {
        "BaseHeader": base_fields(raw),
        "UserHeader": user_header_fields(message),
        "SecurityHeader": security_header_fields(message),
        "MessagePropertiesHeader": message_properties_fields(message),
    }


def user_header_fields(message: UserMessage) -> Fields:
    flags = message.flags
    header, end = UserHeader.parse(message.packet, 16)
    assert end == message.security_offset
    assert message.destination_queue == header.destination_queue
    return {
        "SourceQueueManager": guid_text(message.source_queue_manager),
        "QueueManagerAddress": guid_text(message.queue_manager_address),
        "TimeToBeReceived": message.time_to_be_received,
        "SentTime": message.sent_time,
        "MessageID": message.message_id,
        "Flags": flags,
        "Flags.RC": message.routing_count,
        "Flags.DM": message.delivery_mode,
        "Flags.JN": int(message.negative_journaling),
        "Flags.JP": int(message.positive_journaling),
        "Flags.DQ": header.destination_queue.type,
        "Flags.AQ": header.admin_queue.type,
        "Flags.RQ": header.response_queue.type,
        "Flags.SH": int(message.security_header is not None),
        "Flags.TH": int(message.transaction_header is not None),
        "Flags.MP": bits(flags, 0x00200000),
        "Flags.CQ": int(message.connector_type is not None),
        "Flags.MQ": int(message.multi_queue_format_header is not None),
        "Flags.HH": int(message.soap_header is not None),
        "DestinationQueue": {
            "type": "DirectQueueFormatName",
            "Length": int.from_bytes(message.packet[64:66], "little"),
            "DirectFormatName": header.destination_queue.direct,
        },
    }


def security_header_fields(message: UserMessage) -> Fields:
    header = message.security_header
    assert header is not None
    assert header.provider_info is None
    return {
        "Flags": header.flags,
        "Flags.ST": header.sender_id_type,
        "Flags.AU": bits(header.flags, 0x0010),
        "Flags.EB": int(message.encrypted),
        "Flags.DE": bits(header.flags, 0x0040),
        "Flags.AI": bits(header.flags, 0x0080),
        "Flags.AS": message.authentication_level,
        "SenderIdSize": len(header.security_id),
        "EncryptionKeySize": len(header.encryption_key),
        "SignatureSize": len(header.signature),
        "SenderCertSize": len(header.sender_cert),
        "ProviderInfoSize": 0,
        "SecurityID": str(SID.parse(header.security_id)[0]),
    }


def message_properties_fields(message: UserMessage) -> Fields:
    header, end = MessagePropertiesHeader.parse(message.packet, message.properties_offset)
    assert end == message.end == len(message.packet)
    assert (header.label, header.body) == (message.label, message.body)
    return {
        "Flags": message.acknowledgments,
        "LabelLength": message.packet[message.properties_offset + 1],
        "MessageClass": message.message_class,
        "CorrelationID": message.correlation_id.hex(),
        "BodyType": message.body_type,
        "ApplicationTag": message.application_tag,
        "MessageSize": message.message_size,
        "AllocationBodySize": message.allocation_body_size,
        "PrivacyLevel": message.privacy_level,
        "HashAlgorithm": message.hash_algorithm,
        "EncryptionAlgorithm": message.encryption_algorithm,
        "ExtensionSize": len(message.extension),
        "Label": message.label + "\0",
    }


DECODERS = {
    "Ping": ping_fields,
    "EstablishConnection": establish_connection_fields,
    "ConnectionParameters": connection_parameters_fields,
    "UserMessage": user_message_fields,
    "SessionAck": session_ack_fields,
}


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(1, marks=pytest.mark.spec("MQQB-4.1.1-01")),
        pytest.param(2, marks=pytest.mark.spec("MQQB-4.1.2-01")),
        pytest.param(3, marks=pytest.mark.spec("MQQB-4.1.3-01", "MQQB-4.1.3-02")),
        pytest.param(4, marks=pytest.mark.spec("MQQB-4.1.4-01")),
        pytest.param(5, marks=pytest.mark.spec("MQQB-4.1.5-01")),
        pytest.param(6, marks=pytest.mark.spec("MQQB-4.1.6-01")),
        pytest.param(7, marks=pytest.mark.spec("MQQB-4.1.7-01", "MQQB-4.1.7-03", "MQQB-4.1.7-04")),
        pytest.param(8, marks=pytest.mark.spec("MQQB-4.1.8-01")),
    ],
)
def test_every_field_is_as_the_specification_has_it(number: int) -> None:
    frame = FRAMES[number - 1]
    assert DECODERS[frame["packet"]](frame_bytes(number)) == frame["fields"]


@pytest.mark.parametrize("number", [1, 2])
def test_pings_rebuild_except_unused_bits(number: int) -> None:
    fields = FRAMES[number - 1]["fields"]
    flags = fields["Flags.RC"] * PingFlags.RC | fields["Flags.RF"] * PingFlags.RF
    ping = Ping(PingFlags(flags), fields["Cookie"], UUID(fields["QMGuid"]))
    raw = bytearray(frame_bytes(number))
    raw[0] &= 0x03
    raw[1] = 0
    assert ping.serialize() == raw


@pytest.mark.parametrize("number", [3, 4])
def test_establish_connections_rebuild_except_the_reserved_byte(number: int) -> None:
    fields = FRAMES[number - 1]["fields"]["EstablishConnectionHeader"]
    packet = EstablishConnection(
        UUID(fields["ClientGuid"]),
        UUID(fields["ServerGuid"]),
        fields["TimeStamp"],
        OperatingSystemFlags(fields["OperatingSystem"] & 0xFF00),
    )
    assert packet.serialize() == without_reserved(frame_bytes(number))


@pytest.mark.parametrize("number", [5, 6])
def test_connection_parameters_rebuild_except_the_reserved_byte(number: int) -> None:
    fields = FRAMES[number - 1]["fields"]["ConnectionParametersHeader"]
    packet = ConnectionParameters(
        fields["RecoverableAckTimeout"], fields["AckTimeout"], fields["WindowSize"]
    )
    assert packet.serialize() == without_reserved(frame_bytes(number))


def test_the_session_ack_rebuilds_except_the_reserved_byte() -> None:
    packet = SessionAck(SessionHeader(*FRAMES[7]["fields"]["SessionHeader"].values()))
    assert packet.serialize() == without_reserved(frame_bytes(8))


def test_the_user_message_rebuilds_with_the_repair() -> None:
    raw = frame_bytes(7)
    assert raw.startswith(bytes.fromhex(FRAMES[6]["hex"]))
    fields = FRAMES[6]["fields"]
    base, user = fields["BaseHeader"], fields["UserHeader"]
    security, properties = fields["SecurityHeader"], fields["MessagePropertiesHeader"]
    packet = build_user_message(
        destination_queue=direct_address(user["DestinationQueue"]["DirectFormatName"]),
        source_queue_manager=UUID(user["SourceQueueManager"]),
        queue_manager_address=UUID(user["QueueManagerAddress"]),
        priority=base["Flags.PR"],
        time_to_reach_queue=base["TimeToReachQueue"],
        time_to_be_received=user["TimeToBeReceived"],
        sent_time=user["SentTime"],
        message_id=user["MessageID"],
        routing_count=user["Flags.RC"],
        delivery_mode=user["Flags.DM"],
        security_header=SecurityHeader(
            security["Flags"], SID.from_text(security["SecurityID"]).serialize()
        ),
        acknowledgments=properties["Flags"],
        message_class=properties["MessageClass"],
        correlation_id=bytes.fromhex(properties["CorrelationID"]),
        body_type=properties["BodyType"],
        application_tag=properties["ApplicationTag"],
        privacy_level=properties["PrivacyLevel"],
        hash_algorithm=properties["HashAlgorithm"],
        encryption_algorithm=properties["EncryptionAlgorithm"],
        label=properties["Label"].rstrip("\0"),
        body="a".encode("utf-16-le") * 1000,
    )
    assert packet == raw


@pytest.mark.spec("MQQB-4.1.7-02", "MQQB-4.1.7-05")
def test_the_parts_of_the_user_message_add_up() -> None:
    message = UserMessage(frame_bytes(7))
    offsets = FRAMES[6]["offsets"]
    assert message.security_offset == offsets["SecurityHeader"] == 16 + 48 + 28
    assert message.properties_offset == offsets["MessagePropertiesHeader"] == 92 + 44
    assert message.body_offset == offsets["MessageBody"] == 136 + 56 + 30 == PREFIX
    assert message.body_end + PADDING == PREFIX + BODY_SIZE + PADDING == 2224
    assert message.end == len(message.packet) == FRAMES[6]["declared_packet_size"]


def test_the_frames_of_the_session_are_framed_from_one_stream() -> None:
    packets = [frame_bytes(number) for number in range(3, 9)]
    assert Framer().feed(b"".join(packets)) == [(packet, None) for packet in packets]


def without_reserved(raw: bytes) -> bytes:
    """A packet with 0 in the byte that Windows leaves uninitialised."""
    return raw[:1] + b"\0" + raw[2:]
