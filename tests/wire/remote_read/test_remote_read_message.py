"""[MS-MQRR] 2.2.5."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import QueueAddress, direct_address, public_address
from openmsmq.wire.packets.base_header import INFINITE
from openmsmq.wire.packets.session_header import SessionHeader
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader
from openmsmq.wire.remote_read.extended_address_header import (
    AddressOverlay,
    ExtendedAddressHeader,
    HostAddressType,
)
from openmsmq.wire.remote_read.extension_header import ExtensionHeader, ExtensionHeaderFlags
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import EVERYONE

HOST = UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
QUEUE = UUID("3c3a6aeb-f567-4143-87d3-85cf4d68ceb4")
DIRECT = direct_address("OS:host\\private$\\q")
ADDRESS = ExtendedAddressHeader(HostAddressType.IP, bytes([127, 0, 0, 2]))
SUBQUEUE = SubqueueHeader(abort_counter=1, subqueue_name="poison")
DEAD_LETTER = DeadLetterHeader("host\\private$\\dead")
SRMP = (SRMPEnvelopeHeader("<a/>"), CompoundMessageHeader(b"POST / HTTP/1.1\r\n\r\nbody!", 5, 19))


def user_packet(destination: QueueAddress = DIRECT, **options: int) -> bytes:
    return build_user_message(
        destination_queue=destination,
        label="label",
        body=b"body!",
        sent_time=options.get("sent_time", 1000),
        time_to_reach_queue=options.get("time_to_reach_queue", 60),
    )


def srmp_packet(soap: SoapHeader | None = None) -> bytes:
    return build_user_message(destination_queue=DIRECT, srmp_headers=SRMP, soap_header=soap)


def build(
    packet: bytes,
    dead_letter: DeadLetterHeader | None = None,
    subqueue: SubqueueHeader = SUBQUEUE,
    address: ExtendedAddressHeader = ADDRESS,
) -> RemoteReadMessage:
    return RemoteReadMessage.build(
        UserMessage(packet),
        subqueue_header=subqueue,
        extended_address_header=address,
        dead_letter_header=dead_letter,
        source=HOST,
    )


@pytest.mark.spec("MQRR-2.2.5-01", "MQRR-2.2.5.1-09")
@pytest.mark.parametrize("dead_letter", [None, DEAD_LETTER])
def test_headers_follow_the_user_message_in_order(dead_letter: DeadLetterHeader | None) -> None:
    message = build(user_packet(), dead_letter)
    raw = message.serialize()
    end = len(user_packet())
    assert raw[end:].startswith(b"\x0c\0\0\0")
    assert raw[end + 12 :].startswith(SUBQUEUE.serialize())
    rest = b"" if dead_letter is None else dead_letter.serialize()
    assert raw[end + 160 :] == rest + ADDRESS.serialize()
    assert int.from_bytes(raw[8:12], "little") == len(raw)
    assert raw[64:end] == user_packet()[64:]
    assert RemoteReadMessage.parse(raw) == message


@pytest.mark.parametrize(
    ("dead_letter", "size", "flags"),
    [
        pytest.param(
            None,
            176,
            0x12,
            marks=pytest.mark.spec("MQRR-2.2.5.2-02", "MQRR-2.2.5.2-04", "MQRR-2.2.5.2-07"),
        ),
        pytest.param(
            DEAD_LETTER,
            176 + len(DEAD_LETTER.serialize()),
            0x13,
            marks=pytest.mark.spec("MQRR-2.2.5.2-02", "MQRR-2.2.5.2-03"),
        ),
    ],
)
def test_extension_header(dead_letter: DeadLetterHeader | None, size: int, flags: int) -> None:
    message = build(user_packet(), dead_letter)
    assert message.extension_header == ExtensionHeader(size, ExtensionHeaderFlags(flags))


@pytest.mark.spec("MQRR-2.2.5.2-05", "MQRR-2.2.5.2-06")
def test_an_invalid_dead_letter_queue() -> None:
    invalid = RemoteReadMessage.build(
        UserMessage(user_packet()),
        subqueue_header=SUBQUEUE,
        extended_address_header=ADDRESS,
        dead_letter_header=DEAD_LETTER,
        dead_letter_invalid=True,
        source=HOST,
    )
    assert invalid.serialize()[len(user_packet()) + 8] == 0x1B
    assert RemoteReadMessage.parse(invalid.serialize()).dead_letter_invalid
    assert not build(user_packet(), DEAD_LETTER).dead_letter_invalid
    raw = bytearray(build(user_packet()).serialize())
    raw[len(user_packet()) + 8] |= 0x08
    assert not RemoteReadMessage.parse(bytes(raw)).dead_letter_invalid


@pytest.mark.spec("MQRR-2.2.5.2-09")
def test_a_packet_may_end_after_the_user_message() -> None:
    message = RemoteReadMessage.parse(user_packet())
    assert message == RemoteReadMessage(user_packet())
    assert message.serialize() == user_packet()
    assert message.subqueue is None
    assert message.address is None
    assert not message.dead_letter_invalid


@pytest.mark.spec("MQRR-2.2.5.1-02", "MQRR-3.1.4.7-38")
@pytest.mark.parametrize(
    ("sent_time", "time_to_reach_queue", "expiry"),
    [(1000, 60, 1060), (1000, INFINITE, INFINITE), (0xFFFFFF00, 0x100, INFINITE)],
)
def test_time_to_reach_queue_is_absolute(
    sent_time: int, time_to_reach_queue: int, expiry: int
) -> None:
    packet = user_packet(sent_time=sent_time, time_to_reach_queue=time_to_reach_queue)
    assert build(packet).user_message.time_to_reach_queue == expiry


@pytest.mark.spec("MQRR-2.2.5.1-03", "MQRR-2.2.5.1-05")
def test_a_direct_destination_has_the_address_of_the_source() -> None:
    message = build(user_packet())
    assert message.packet[32:48].hex() == "04000100000000007f00000200000000"
    assert message.address_overlay == AddressOverlay(HostAddressType.IP, bytes([127, 0, 0, 2]))
    unknown = build(user_packet(), address=ExtendedAddressHeader())
    assert unknown.packet[32:48] == bytes(16)
    assert unknown.address_overlay is None


@pytest.mark.spec("MQRR-2.2.5.1-04")
def test_another_destination_has_the_guid_of_the_source() -> None:
    message = build(user_packet(public_address(QUEUE)))
    assert message.packet[32:48] == HOST.bytes_le
    assert message.address_overlay is None


@pytest.mark.spec("MQRR-2.2.5.3-09")
def test_without_a_name_the_subqueue_header_is_ignored() -> None:
    assert build(user_packet()).subqueue == SUBQUEUE
    assert build(user_packet(), subqueue=SubqueueHeader(abort_counter=1)).subqueue is None


@pytest.mark.spec("MQRR-2.2.5.5-03")
def test_without_a_type_the_extended_address_is_ignored() -> None:
    assert build(user_packet()).address == ADDRESS
    assert build(user_packet(), address=ExtendedAddressHeader()).address is None


@pytest.mark.spec("MQRR-2.2.5.1-08")
def test_a_session_header_is_there_when_sh_is_set() -> None:
    built = build(user_packet())
    message = RemoteReadMessage(
        built.packet,
        built.extension_header,
        built.subqueue_header,
        None,
        built.extended_address_header,
        SessionHeader(1, 2, 3, 4, 5),
    )
    raw = message.serialize()
    assert raw[2] & 0x10
    assert RemoteReadMessage.parse(raw) == message
    assert not built.serialize()[2] & 0x10
    with_flag = bytearray(user_packet())
    with_flag[2] |= 0x10
    assert build(bytes(with_flag)).packet[2] & 0x10 == 0


@pytest.mark.spec("MQRR-2.2.5.1.2-01")
@pytest.mark.parametrize("soap", [None, SoapHeader("h", "b")])
def test_a_message_that_came_over_http(soap: SoapHeader | None) -> None:
    raw = build(srmp_packet(soap)).serialize()
    message = RemoteReadMessage.parse(raw)
    assert message == build(srmp_packet(soap))
    view = message.user_message
    assert view.flags & 0x02000000
    assert (view.srmp_envelope_header, view.compound_message_header) == SRMP
    assert view.body == b"body!"


@pytest.mark.spec("MQRR-2.2.5.1.1-01")
def test_a_binary_message_has_no_srmp_headers() -> None:
    view = RemoteReadMessage.parse(build(user_packet()).serialize()).user_message
    assert not view.flags & 0x02000000
    assert view.srmp_envelope_header is None
    assert view.compound_message_header is None


@pytest.mark.spec("MQRR-2.2.5.1-01")
def test_the_order_of_all_headers() -> None:
    lists = MultiQueueFormatHeader((MQFFormatNameElement(MQFFormatType.PUBLIC, QUEUE),))
    transaction = TransactionHeader(0, TxSequenceID(1, 2), 3, 2)
    security = SecurityHeader(1, EVERYONE.serialize())
    packet = build_user_message(
        destination_queue=DIRECT,
        transaction_header=transaction,
        security_header=security,
        body=b"body",
        tracing_queue=QUEUE,
        srmp_headers=SRMP,
        soap_header=SoapHeader("header", "body"),
        multi_queue_format_header=lists,
    )
    built = build(packet)
    session = SessionHeader(1, 2, 3, 4, 5)
    raw = replace(built, session_header=session).serialize()
    parts = [
        DIRECT.serialize(),
        transaction.serialize(),
        security.serialize(),
        b"body",
        DebugHeader(QUEUE).serialize(),
        SRMP[0].serialize(),
        SRMP[1].serialize(),
        SoapHeader("header", "body").serialize(),
        lists.serialize(),
        session.serialize(),
        bytes.fromhex("0c000000b0000000"),
    ]
    position = 64
    for part in parts:
        position = raw.index(part, position) + len(part)
    assert RemoteReadMessage.parse(raw).session_header == session
    plain = RemoteReadMessage.parse(build(user_packet()).serialize()).user_message
    assert plain.trailing is None
    assert (plain.transaction_offset, plain.security_offset) == (0, 0)


def test_a_compound_message_may_be_without_padding() -> None:
    user = srmp_packet()
    message = build(user)
    raw = message.serialize()
    # Data has 24 bytes: make it 23, without the padding that belongs to it.
    start = raw.index(SRMP[1].serialize())
    shorter = bytearray(raw[: len(user) - 1] + raw[len(user) :])
    shorter[start + 4] = 23
    shorter[start + 8] = 4
    shorter[8:12] = len(shorter).to_bytes(4, "little")
    found = RemoteReadMessage.parse(bytes(shorter))
    assert found.subqueue_header == SUBQUEUE
    assert found.user_message.body == b"body"
    assert len(found.packet) == len(user)
    assert RemoteReadMessage.parse(found.serialize()) == found


def test_a_compound_message_may_end_the_packet() -> None:
    assert RemoteReadMessage.parse(srmp_packet()) == RemoteReadMessage(srmp_packet())


def test_sizes_of_0_and_no_flags_are_tolerated() -> None:
    raw = bytearray(user_packet() + ExtensionHeader(0, ExtensionHeaderFlags(0)).serialize())
    raw[8:12] = len(raw).to_bytes(4, "little")
    message = RemoteReadMessage.parse(bytes(raw))
    assert message.extension_header == ExtensionHeader(0, ExtensionHeaderFlags(0))
    assert message.subqueue_header is None


def test_packet_size_may_count_the_user_message_only() -> None:
    raw = build(user_packet()).serialize()
    raw = raw[:8] + len(user_packet()).to_bytes(4, "little") + raw[12:]
    assert RemoteReadMessage.parse(raw) == build(user_packet())


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 13, "ExtensionHeader.HeaderSize", 0),
        (4, 175, "ExtensionHeader.RemainingHeadersSize", 4),
        (8, 0x02, "ExtensionHeader.RemainingHeadersSize", 4),
        (8, 0x13, "DeadLetterHeader.DeadLetterPathName", 164),
        (12, 1, "SubqueueHeader.HeaderSize", 12),
        (160, 1, "ExtendedAddressHeader.HeaderSize", 160),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    raw = bytearray(build(user_packet()).serialize())
    raw[len(user_packet()) + position] = value
    with pytest.raises(MalformedPacket) as caught:
        RemoteReadMessage.parse(bytes(raw))
    assert caught.value.field == field
    assert caught.value.offset == len(user_packet()) + offset


@given(st.data())
def test_a_cut_packet_is_malformed(data: st.DataObject) -> None:
    raw = build(user_packet(), DEAD_LETTER).serialize()
    with pytest.raises(MalformedPacket):
        RemoteReadMessage.parse(raw[: data.draw(st.integers(0, len(raw) - 1))])


def test_an_overlay_that_is_no_address_is_malformed() -> None:
    message = RemoteReadMessage.parse(user_packet()[:32] + HOST.bytes_le + user_packet()[48:])
    with pytest.raises(MalformedPacket, match=r"UserHeader\.AddressType at offset 34"):
        message.address_overlay  # noqa: B018 (reading it is the test)
