"""The packets of the demonstration: the example of the specification, and one of every kind."""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageOptions, build_user_message
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.packets.order_ack import (
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
    order_queue,
)
from openmsmq.wire.packets.ping import Ping, PingFlags
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader
from openmsmq.wire.remote_read.extended_address_header import ExtendedAddressHeader, HostAddressType
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader
from openmsmq.wire.security.sid import AUTHENTICATED_USERS

_HERE: Final = UUID("6f1c2d3e-4a5b-4c6d-8e9f-0a1b2c3d4e5f")
_THERE: Final = UUID("9b8a7c6d-5e4f-4a3b-9c2d-1e0f9a8b7c6d")
_QUEUE: Final = UUID("0d1e2f3a-4b5c-4d6e-8f70-8192a3b4c5d6")
_SENT: Final = 1_700_000_000
_SEQUENCE: Final = TxSequenceID(_SENT, 1)
_HTTP: Final = b"POST /msmq/private$/orders HTTP/1.1\r\nHost: example\r\n\r\n<order/>"


class ExampleFrame(NamedTuple):
    """A packet of the example session."""

    section: str
    direction: str
    data: bytes


def example_frames() -> list[ExampleFrame]:
    """The packets of [MS-MQQB] 4.1, in order."""
    path = files(__package__) / "data" / "example_frames.json"
    frames = []
    for frame in json.loads(path.read_text("utf-8"))["frames"]:
        data = bytes.fromhex(frame["hex"])
        # The specification leaves out the rest of one body, which repeats.
        if "rest" in frame:
            rest = frame["rest"]
            data += bytes.fromhex(rest["unit"]) * rest["count"] + bytes(rest["padding"])
        frames.append(ExampleFrame(frame["section"], frame["direction"], data))
    return frames


class RoundTrip(NamedTuple):
    """A packet as it was made, and as it is made again from what was read in it."""

    kind: str
    data: bytes
    again: bytes

    @property
    def equal(self) -> bool:
        return self.data == self.again


def round_trips() -> Iterator[RoundTrip]:
    """A packet of every kind, and a message with every header."""
    ping = Ping(PingFlags.RC, 7, _HERE).serialize()
    yield RoundTrip("Ping", ping, Ping.parse(ping)[0].serialize())
    opening = EstablishConnection(
        _HERE, _THERE, 4711, OperatingSystemFlags.SE | OperatingSystemFlags.OS
    ).serialize()
    yield RoundTrip(
        "EstablishConnection", opening, EstablishConnection.parse(opening)[0].serialize()
    )
    parameters = ConnectionParameters(1500, 120_000, 64).serialize()
    yield RoundTrip(
        "ConnectionParameters", parameters, ConnectionParameters.parse(parameters)[0].serialize()
    )
    ack = SessionAck(SessionHeader(3, 2, 1, 5, 2)).serialize()
    yield RoundTrip("SessionAck", ack, SessionAck.parse(ack)[0].serialize())
    for kind, options in _messages():
        yield _message(kind, _build(options))
    yield _message("OrderAck", _order_ack())
    yield _message("FinalAck", _final_ack())
    remote = _remote_read()
    yield RoundTrip("remote read", remote, RemoteReadMessage.parse(remote).serialize())


def _message(kind: str, packet: bytes) -> RoundTrip:
    return RoundTrip(kind, packet, rebuild(UserMessage(packet)))


def _build(options: UserMessageOptions) -> bytes:
    every: UserMessageOptions = {
        "source_queue_manager": _HERE,
        "message_id": 42,
        "sent_time": _SENT,
    }
    return build_user_message(
        destination_queue=direct_address("OS:server\\private$\\orders"),
        label="order 1",
        body="<order>1</order>".encode("utf-16-le"),
        **(every | {"body_type": 8} | options),
    )


def _messages() -> Iterator[tuple[str, UserMessageOptions]]:
    """What tells the kinds of messages apart."""
    yield "express message", {"priority": 5}
    yield "recoverable message", {"delivery_mode": 1, "positive_journaling": True}
    yield (
        "message with queues",
        {
            "admin_queue": private_address(_HERE, 9),
            "response_queue": public_address(_QUEUE),
            "acknowledgments": 5,
            "correlation_id": MessageIdentifier(_THERE, 7).serialize(),
            "connector_type": _QUEUE,
        },
    )
    yield (
        "transactional message",
        {
            "delivery_mode": 1,
            "priority": 0,
            "transaction_header": TransactionHeader(
                TransactionHeaderFlags.FM | TransactionHeaderFlags.LM, _SEQUENCE, 2, 1
            ),
        },
    )
    yield "signed message", {"security_header": _signed()}
    yield "traced message", {"tracing_requested": True, "tracing_queue": _QUEUE}
    yield "acknowledgment", {"message_class": MessageClass.NACK_ACCESS_DENIED}
    yield "message with SOAP", {"soap_header": SoapHeader("<h/>", "<b/>")}
    yield "message to several queues", {"multi_queue_format_header": _several_queues()}
    start = _HTTP.index(b"<order")
    compound = CompoundMessageHeader(_HTTP, len(_HTTP) - start, start)
    yield "message over HTTP", {"srmp_headers": (SRMPEnvelopeHeader("<se:Envelope/>"), compound)}


def _signed() -> SecurityHeader:
    return SecurityHeader(
        SenderIdType.SID,
        security_id=AUTHENTICATED_USERS.serialize(),
        signature=bytes(range(64)),
        sender_cert=bytes(range(100)),
        provider_info=ProviderInfo(1, "Microsoft Base Cryptographic Provider v1.0"),
    )


def _several_queues() -> MultiQueueFormatHeader:
    return MultiQueueFormatHeader(
        destination=(
            MQFFormatNameElement(MQFFormatType.PUBLIC, _QUEUE),
            MQFFormatNameElement(MQFFormatType.PRIVATE, _THERE, 9),
            MQFFormatNameElement(MQFFormatType.DISTRIBUTION_LIST, _QUEUE),
            MQFFormatNameElement(
                MQFFormatType.DIRECT, direct_format_name="TCP:192.0.2.1\\private$\\orders"
            ),
        ),
        response=(MQFFormatNameElement(MQFFormatType.PUBLIC, _QUEUE),),
        signature=bytes(range(32)),
    )


def _order_ack() -> bytes:
    return build_order_ack(
        OrderAck(_SEQUENCE, 12),
        order_queue(_HERE),
        source_queue_manager=_THERE,
        message_id=8,
        sent_time=_SENT,
    )


def _final_ack() -> bytes:
    return build_final_ack(
        FinalAck(_SEQUENCE, 12, 11, _HERE, 42),
        MessageClass.ACK_RECEIVE,
        order_queue(_HERE),
        source_queue_manager=_THERE,
        message_id=9,
        sent_time=_SENT,
    )


def _remote_read() -> bytes:
    return RemoteReadMessage.build(
        UserMessage(_build({"time_to_reach_queue": 3600})),
        subqueue_header=SubqueueHeader(move_counter=1, subqueue_name="retry"),
        extended_address_header=ExtendedAddressHeader(HostAddressType.IP, bytes((192, 0, 2, 7))),
        dead_letter_header=DeadLetterHeader(r".\private$\lost"),
        source=_THERE,
    ).serialize()
