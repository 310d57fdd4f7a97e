"""The packet that a remote reader gets ([MS-MQRR] 2.2.5, 3.1.4.7)."""

from uuid import UUID

import pytest
from tests.core.harness import ORDERS, START_UTC, USER
from tests.core.harness import packet as harness_packet
from tests.protocol.remote_read.harness import (
    DIRECT,
    OK,
    RR_NACK,
    UNLIMITED,
    Opened,
    RemoteCase,
    message_of,
)
from tests.protocol.rpc.harness import LOCAL

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.rows.packets import packet_of
from openmsmq.protocol.remote_read.server.replies import Replies
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
from openmsmq.wire.names.queue_address import direct_address, public_address
from openmsmq.wire.packets.base_header import BaseHeader
from openmsmq.wire.remote_read.extended_address_header import HostAddressType
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.section_buffer import SectionType, join_sections
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import EVERYONE

PEEK = 0x80000000
SUB = DIRECT + ";failed"
SUB_PATH = ORDERS + ";failed"


def opened_with(*contents: bytes, **options: object) -> tuple[RemoteCase, Opened]:
    case = RemoteCase()
    case.send(*contents, **options)
    return case, case.reader().open()


# Sections


@pytest.mark.spec("MQRR-3.1.4.7-30", "MQRR-3.1.4.7-33")
@pytest.mark.parametrize("limit", [10, 11, UNLIMITED])
def test_a_whole_body_comes_in_one_section(limit: int) -> None:
    _, opened = opened_with(b"0123456789")
    response = opened.start(PEEK, dw_max_body_size=limit, dw_max_compound_message_size=0)
    (section,) = response.pp_packet_sections
    assert section.section_buffer_type is SectionType.FULL_PACKET
    assert section.section_size_alloc == section.section_size
    packet = bytes(section.section_buffer)
    assert BaseHeader.parse(packet)[0].packet_size == len(packet)
    assert UserMessage(message_of(response).packet).body == b"0123456789"


@pytest.mark.spec("MQRR-3.1.4.7-34", "MQRR-3.1.4.7-35", "MQRR-3.1.4.7-37")
@pytest.mark.parametrize("limit", [0, 1, 9])
def test_a_body_is_cut(limit: int) -> None:
    _, opened = opened_with(b"0123456789")
    (whole,) = opened.start(PEEK).pp_packet_sections
    packet = bytes(whole.section_buffer)
    body = packet.index(b"0123456789")
    response = opened.start(PEEK, dw_max_body_size=limit)
    first, second = response.pp_packet_sections
    assert first.section_buffer_type is SectionType.BINARY_FIRST_SECTION
    assert bytes(first.section_buffer) == packet[: body + limit]
    assert first.section_size_alloc == body + 10
    assert second.section_buffer_type is SectionType.BINARY_SECOND_SECTION
    assert bytes(second.section_buffer) == packet[body + 10 :]
    assert second.section_size_alloc == second.section_size
    joined = UserMessage(message_of(response).packet)
    assert joined.body == b"0123456789"[:limit] + bytes(10 - limit)


def test_an_empty_body_is_never_cut() -> None:
    _, opened = opened_with(b"")
    (section,) = opened.start(PEEK, dw_max_body_size=0).pp_packet_sections
    assert section.section_buffer_type is SectionType.FULL_PACKET


@pytest.mark.spec("MQRR-3.1.1.4-01", "MQRR-3.1.4.7-31", "MQRR-3.1.4.7-32")
def test_a_message_that_came_over_http_is_cut_by_its_own_limit() -> None:
    headers = (SRMPEnvelopeHeader("<a/>"), CompoundMessageHeader(b"POST 12345", 5, 5))
    case, opened = opened_with(b"", delivery_mode=0)
    (message,) = case.queue.lanes
    message.packet = harness_packet(b"", delivery_mode=0, srmp_headers=headers)
    response = opened.start(PEEK, dw_max_body_size=0, dw_max_compound_message_size=26)
    (whole,) = response.pp_packet_sections
    packet = bytes(whole.section_buffer)
    start = packet.index(b"POST 12345") - 16
    response = opened.start(PEEK, dw_max_compound_message_size=20)
    first, second = response.pp_packet_sections
    assert first.section_buffer_type is SectionType.SRMP_FIRST_SECTION
    assert bytes(first.section_buffer) == packet[: start + 20]
    assert first.section_size_alloc == start + 26
    assert second.section_buffer_type is SectionType.SRMP_SECOND_SECTION
    assert bytes(second.section_buffer) == packet[start + 26 :]
    assert len(join_sections(response.pp_packet_sections)) == len(packet)


# Headers


@pytest.mark.spec("MQRR-3.1.4.7-38", "MQRR-2.2.5.1-02")
def test_the_reader_gets_the_time_of_expiry() -> None:
    case, opened = opened_with(b"x", time_to_reach_queue=1000)
    packet = UserMessage(message_of(opened.start()).packet)
    assert packet.sent_time == int(START_UTC)
    assert packet.time_to_reach_queue == int(START_UTC) + 1000
    opened.end(RR_NACK)
    # What is stored is not changed.
    (stored,) = case.queue.lanes
    assert UserMessage(packet_of(case.qm.state, stored)).time_to_reach_queue == 1000


@pytest.mark.spec("MQRR-2.2.5.5-02", "MQRR-2.2.5.5-04")
@pytest.mark.parametrize(
    ("local", "kind", "address"),
    [
        ("198.51.100.7", HostAddressType.IP, bytes((198, 51, 100, 7))),
        ("2001:db8::1", HostAddressType.IPV6, bytes.fromhex("20010db8" + "00" * 11 + "01")),
    ],
)
def test_a_message_of_this_machine_has_its_address(
    local: str, kind: HostAddressType, address: bytes
) -> None:
    case, _ = opened_with(b"x")
    (message,) = case.queue.lanes
    replies = Replies(case.qm)
    for _ in range(2):
        packet = replies.packet(message, packet_of(case.qm.state, message), local)
        parsed = RemoteReadMessage.parse(bytes(packet))
        header = parsed.extended_address_header
        assert header is not None
        assert (header.address_type, header.address) == (kind, address)


def test_a_message_of_another_machine_has_no_address() -> None:
    case, _ = opened_with(b"x")
    (message,) = case.queue.lanes
    packet = bytearray(packet_of(case.qm.state, message))
    packet[16:32] = bytes(range(16))
    reply = Replies(case.qm).packet(message, bytes(packet), "198.51.100.7")
    header = RemoteReadMessage.parse(bytes(reply)).extended_address_header
    assert header is not None
    assert header.address_type == HostAddressType.NONE


@pytest.mark.spec("MQRR-2.2.5-01", "MQRR-2.2.5.2-04", "MQRR-2.2.5.2-07")
def test_four_headers_follow_the_message() -> None:
    _, opened = opened_with(b"x")
    message = message_of(opened.start())
    assert message.extension_header is not None
    assert message.extension_header.flags == 0x12
    assert message.extension_header.remaining_headers_size == 176
    assert message.dead_letter_header is None
    header = message.subqueue_header
    assert header is not None
    assert (header.abort_counter, header.move_counter, header.last_move_time) == (0, 0, 0)
    assert header.subqueue_name == header.target_subqueue_name == ""


@pytest.mark.spec("MQRR-2.2.5.3-05", "MQRR-2.2.5.3-06", "MQRR-2.2.5.3-07")
def test_moves_are_counted_and_the_subqueue_is_named() -> None:
    case, opened = opened_with(b"x")
    (message,) = case.queue.lanes
    reader = opened.reader
    number, _ = reader.open_for_move(SUB)
    case.advance(60)
    assert opened.move(number, message.lookup_id) == OK
    moved_at = int(START_UTC) + 60
    sub = reader.open(SUB)
    header = message_of(sub.start(PEEK)).subqueue_header
    assert header is not None
    assert (header.move_counter, header.last_move_time) == (1, moved_at)
    assert header.subqueue_name == "failed"
    (message,) = case.qm.find_queue(SUB_PATH).lanes
    back, _ = reader.open_for_move(DIRECT)
    case.advance(60)
    assert sub.move(back, message.lookup_id) == OK
    header = message_of(opened.start(PEEK)).subqueue_header
    assert header is not None
    assert (header.move_counter, header.last_move_time) == (2, moved_at + 60)
    assert header.subqueue_name == ""


def test_messages_that_are_sent_to_a_subqueue_by_name_carry_the_name() -> None:
    case, opened = opened_with(b"x", b"y")
    name = "n" * 32
    number, _ = opened.reader.open_for_move(f"{DIRECT};{name}")
    for message in list(case.queue.lanes):
        assert opened.move(number, message.lookup_id) == OK
    header = message_of(opened.reader.open(f"{DIRECT};{name}").start(PEEK)).subqueue_header
    assert header is not None
    # The field holds 31 characters and a NUL.
    assert header.subqueue_name == "n" * 31


@pytest.mark.spec("MQRR-2.2.5.3-04")
def test_aborts_are_counted() -> None:
    case = RemoteCase()
    path = r".\private$\ledger"
    case.core.create(path, transactional=True)
    address = direct_address(r"OS:qm\private$\ledger")
    transaction = case.qm.traffic.begin(case.core.guid())
    case.core.send(b"x", name=path, transaction=transaction, destination_queue=address)
    case.qm.traffic.commit(transaction.identifier)
    case.turn()
    local = case.core.open(QueueAccessType.RECEIVE, path)
    for _ in range(2):
        transaction = case.qm.traffic.begin(case.core.guid())
        case.qm.traffic.dequeue_many(local, timeout=0, transaction=transaction)
        case.qm.traffic.abort(transaction.identifier)
        case.turn()
    opened = case.reader().open(r"DIRECT=OS:qm\private$\ledger")
    header = message_of(opened.start(PEEK)).subqueue_header
    assert header is not None
    assert header.abort_counter == 2


@pytest.mark.spec("MQRR-2.2.5.2-03", "MQRR-2.2.5.2-05", "MQRR-2.2.5.4-01")
@pytest.mark.parametrize(("transactional", "flags"), [(False, 0x13), (True, 0x1B), (None, 0x1B)])
def test_the_dead_letter_queue_of_the_sender(*, transactional: bool | None, flags: int) -> None:
    case = RemoteCase()
    path = r".\private$\dead"
    if transactional is not None:
        case.core.create(path, transactional=transactional)
    else:
        case.core.create(path)
    case.send(b"x", deadletter_queue=path)
    if transactional is None:
        case.qm.delete_queue(case.qm.find_queue(path), caller=USER)
    message = message_of(case.reader().open().start())
    assert message.extension_header is not None
    assert message.extension_header.flags == flags
    assert message.dead_letter_header is not None
    assert message.dead_letter_header.dead_letter_path_name == r"QM\private$\dead"
    size = len(message.dead_letter_header.serialize())
    assert message.extension_header.remaining_headers_size == 176 + size


@pytest.mark.spec("MQRR-2.2.5.3-03")
def test_the_class_of_a_message_is_in_its_subqueue_header() -> None:
    case, opened = opened_with(b"x")
    (message,) = case.queue.lanes
    message.make_history().message_class = 0x8004
    header = message_of(opened.start(PEEK)).subqueue_header
    assert header is not None
    assert header.acknowledgement_class == 0x8004


def test_what_is_kept_of_many_clients_is_bounded() -> None:
    case, _ = opened_with(b"x")
    (message,) = case.queue.lanes
    replies = Replies(case.qm, names=2)
    packet = packet_of(case.qm.state, message)
    for number in range(5):
        address = f"198.51.100.{number}"
        reply = bytes(replies.packet(message, packet, address))
        assert bytes((198, 51, 100, number)) in reply
    assert len(replies) == 4


# What [MS-MQRR] 2.2.5.1 changes in the UserMessage


PUBLIC_QUEUE = UUID(int=0x1234)
AH = 0x02000000


def reply(case: RemoteCase, stored: bytes, local: str = LOCAL) -> bytes:
    """The packet for a reader who reached this machine at `local`."""
    (message,) = case.queue.lanes
    return bytes(Replies(case.qm).packet(message, stored, local))


@pytest.mark.spec("MQRR-2.2.5.1-03", "MQRR-2.2.5.1-05", "MQRR-2.2.5.1-06")
@pytest.mark.parametrize(
    ("local", "overlay"),
    [
        ("198.51.100.7", "0400 0100 00000000 c633640700000000"),
        ("2001:db8:1:2:3:4:5:6", "1000 0600 00000000 20010db800010002"),
    ],
)
def test_a_direct_destination_is_followed_by_the_address_of_the_sender(
    local: str, overlay: str
) -> None:
    case, _ = opened_with(b"x")
    (message,) = case.queue.lanes
    stored = packet_of(case.qm.state, message)
    packet = reply(case, stored, local)
    assert packet[16:32] == stored[16:32]
    assert packet[32:48] == bytes.fromhex(overlay)


@pytest.mark.spec("MQRR-2.2.5.1-04")
def test_another_destination_is_followed_by_the_guid_of_the_sender() -> None:
    case, _ = opened_with(b"x")
    stored = bytearray(harness_packet(b"x", destination_queue=public_address(PUBLIC_QUEUE)))
    stored[16:32] = case.qm.identifier.bytes_le
    packet = reply(case, bytes(stored))
    assert packet[32:48] == case.qm.identifier.bytes_le
    elsewhere = UUID(int=77).bytes_le
    stored[16:32] = elsewhere
    assert reply(case, bytes(stored))[32:48] == elsewhere


@pytest.mark.spec("MQRR-2.2.5.1.1-01", "MQRR-2.2.5.1-07")
def test_a_binary_message_has_no_srmp_headers_and_no_flag_for_them() -> None:
    _, opened = opened_with(b"x")
    message = UserMessage(message_of(opened.start(PEEK)).packet)
    assert not message.flags & AH
    assert message.srmp_envelope_header is None
    assert message.compound_message_header is None


@pytest.mark.spec("MQRR-2.2.5.1.2-01", "MQRR-2.2.5.1-07")
def test_a_message_that_came_over_http_has_both_srmp_headers() -> None:
    headers = (SRMPEnvelopeHeader("<a/>"), CompoundMessageHeader(b"POST 12345", 5, 5))
    case, opened = opened_with(b"", delivery_mode=0)
    (stored,) = case.queue.lanes
    stored.packet = harness_packet(b"", delivery_mode=0, srmp_headers=headers)
    message = UserMessage(message_of(opened.start(PEEK)).packet)
    assert message.flags & AH
    assert (message.srmp_envelope_header, message.compound_message_header) == headers
    # One header alone is not a message.
    cut = harness_packet(b"", srmp_headers=headers)
    end = cut.index(headers[1].serialize())
    alone = bytearray(cut[:end])
    alone[8:12] = len(alone).to_bytes(4, "little")
    with pytest.raises(MalformedPacket):
        UserMessage(bytes(alone)).compound_message_header  # noqa: B018 (reading it is the test)


@pytest.mark.spec("MQRR-2.2.5.1-01")
def test_all_headers_are_in_the_order_of_the_specification() -> None:
    lists = MultiQueueFormatHeader((MQFFormatNameElement(MQFFormatType.PUBLIC, PUBLIC_QUEUE),))
    transaction = TransactionHeader(0, TxSequenceID(1, 2), 3, 2)
    security = SecurityHeader(1, EVERYONE.serialize())
    soap = SoapHeader("header", "body")
    srmp = (SRMPEnvelopeHeader("<a/>"), CompoundMessageHeader(b"POST 12345", 5, 5))
    case, _ = opened_with(b"x")
    stored = harness_packet(
        b"the body",
        transaction_header=transaction,
        security_header=security,
        tracing_queue=PUBLIC_QUEUE,
        srmp_headers=srmp,
        soap_header=soap,
        multi_queue_format_header=lists,
    )
    packet = reply(case, stored)
    parts = [
        direct_address(r"OS:qm\private$\orders").serialize(),
        transaction.serialize(),
        security.serialize(),
        b"the body",
        DebugHeader(PUBLIC_QUEUE).serialize(),
        srmp[0].serialize(),
        srmp[1].serialize(),
        soap.serialize(),
        lists.serialize(),
        bytes.fromhex("0c000000b0000000"),
    ]
    position = 64
    for part in parts:
        position = packet.index(part, position) + len(part)
    _, opened = opened_with(b"y")
    plain = UserMessage(message_of(opened.start(PEEK)).packet)
    assert plain.trailing is None
    assert (plain.transaction_offset, plain.security_offset) == (0, 0)
