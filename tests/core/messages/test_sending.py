"""What applications send ([MS-MQDMPR] 3.1.1.12, 3.1.7.1.9)."""

from typing import Any

import pytest
from tests.core.harness import (
    ORDERS,
    OTHER_GUID,
    QM_GUID,
    RECEIVE,
    SEND,
    START_UTC,
    STRANGER,
    USER,
    Harness,
    packet,
    refused,
    runs_of,
)

from openmsmq.core.events import ReadSatisfied
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.read import Read
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.transfer.incoming.delivery import deliver
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.limits import MAX_LABEL
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE
from openmsmq.wire.scalars import MessageIdentifier
from openmsmq.wire.security.security_header import SecurityHeader

SPEC = pytest.mark.spec


def received(harness: Harness, **properties: Any) -> UserMessage:
    """Send a message and receive it after a restart."""
    harness.send(b"body", **properties)
    harness.restart()
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    assert isinstance(read, Read)
    view = UserMessage(read.packets[0])
    assert view.body == b"body"
    return view


@SPEC("MQDMPR-3.1.7.1.9-11")
def test_a_send_is_available_at_once_and_wakes_readers(harness: Harness) -> None:
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    sent = harness.send(b"1", b"2")
    assert [event.read for event in harness.take_events(ReadSatisfied)] == [read]
    assert sent.messages[1].state == PositionState.AVAILABLE
    assert harness.contents() == [b"2"]


@SPEC("MQDMPR-3.1.1.12-02", "MQDMPR-3.1.1.12-28")
def test_messages_have_identifiers_that_never_repeat(harness: Harness) -> None:
    harness.flush()
    identifiers: list[MessageIdentifier] = []
    for _ in range(3):
        sent = harness.send(b"1", b"2", delivery_mode=0)
        if sent.depends:
            harness.flush()
        identifiers += [
            UserMessage(packet_of(harness.qm.state, each)).identifier for each in sent.messages
        ]
        assert identifiers[-2] == MessageIdentifier(QM_GUID, sent.first_ordinal)
        harness.crash()
    assert len(set(identifiers)) == 6
    assert {each.source for each in identifiers} == {QM_GUID}


@SPEC("MQDMPR-3.1.1.12-28")
def test_the_source_of_a_message_from_elsewhere_is_kept(harness: Harness) -> None:
    message = UserMessage(packet(source_queue_manager=OTHER_GUID, message_id=7))
    deliver(harness.qm.state, harness.qm.find_queue(ORDERS), runs_of(message))
    (stored,) = harness.qm.find_queue(ORDERS).lanes
    assert stored.packet == message.packet
    harness.send(b"own", source_queue_manager=OTHER_GUID, message_id=7, priority=0)
    view = UserMessage(packet_of(harness.qm.state, list(harness.qm.find_queue(ORDERS).lanes)[1]))
    assert view.source_queue_manager == QM_GUID


@SPEC("MQDMPR-3.1.1.12-47", "MQDMPR-3.1.1.12-33", "MQDMPR-3.1.1.11-04")
def test_everything_about_a_recoverable_message_survives_a_restart(harness: Harness) -> None:
    harness.advance(0.25)
    sent = harness.send(b"1", priority=5, label="x", time_to_be_received=99)
    message = sent.messages[0]
    kept = message.packet
    assert kept is not None
    assert UserMessage(kept).sent_time == int(START_UTC)
    harness.restart()
    (again,) = harness.qm.find_queue(ORDERS).lanes
    for name in ("key", "lookup_id", "size", "traits", "arrived", "expires", "state"):
        assert getattr(again, name) == getattr(message, name), name
    assert packet_of(harness.qm.state, again) == kept


@SPEC("MQDMPR-3.1.1.12-13", "MQDMPR-3.1.1.11-04", "MQDMPR-3.1.1.12-14")
def test_recoverable_messages_survive_and_express_ones_do_not(harness: Harness) -> None:
    default = packet(b"express", delivery_mode=0)
    assert UserMessage(default).delivery_mode == 0
    harness.send(b"express", delivery_mode=0)
    harness.send(b"recoverable", delivery_mode=1)
    assert harness.contents() == [b"express", b"recoverable"]
    harness.restart()
    assert harness.contents() == [b"recoverable"]


@SPEC("MQDMPR-3.1.1.11-01")
def test_a_message_goes_through_the_four_states(harness: Harness) -> None:
    assert [each.name for each in PositionState] == [
        "AVAILABLE",
        "LOCKED",
        "DELETED",
        "PURGE_PENDING",
        "HELD",
        "DELAYED",
    ]
    sent = harness.send(b"1")
    (message,) = sent.messages
    descriptor = harness.open(RECEIVE)
    states = [message.state]
    harness.qm.traffic.dequeue_many(descriptor, two_phase=True)
    states.append(message.state)
    harness.qm.traffic.purge(descriptor)
    states.append(message.state)
    harness.qm.traffic.end_many(descriptor, sent.lookup_ids, delete=True)
    states.append(message.state)
    assert states == [
        PositionState.AVAILABLE,
        PositionState.LOCKED,
        PositionState.PURGE_PENDING,
        PositionState.DELETED,
    ]


@SPEC("MQDMPR-3.1.1.12-25", "MQDMPR-3.1.1.12-26")
def test_what_applications_write_arrives_as_it_was(harness: Harness) -> None:
    view = received(
        harness,
        application_tag=0xFFFFFFFF,
        body_type=0xDEADBEEF,
        label="Größe \U0001f4e6",
        extension=bytes(range(256)),
        correlation_id=bytes(range(20)),
    )
    assert (view.application_tag, view.body_type) == (0xFFFFFFFF, 0xDEADBEEF)
    assert (view.label, view.extension) == ("Größe \U0001f4e6", bytes(range(256)))
    assert view.correlation_id == bytes(range(20))


@SPEC("MQDMPR-3.1.1.12-25", "MQDMPR-3.1.1.12-21")
def test_what_applications_leave_out_stays_empty(harness: Harness) -> None:
    view = received(harness)
    assert (view.application_tag, view.body_type, view.label) == (0, 0, "")
    assert (view.extension, view.correlation_id) == (b"", bytes(20))
    assert (view.response_queue, view.admin_queue) == (None, None)
    assert view.multi_queue_format_header is None


@SPEC("MQDMPR-3.1.1.12-07")
@pytest.mark.parametrize("message_class", [None, 0x0001, 0x01FF, 0xE1FF, 0x1234])
def test_the_class_is_normal_or_what_the_sender_set(
    harness: Harness, message_class: int | None
) -> None:
    properties = {} if message_class is None else {"message_class": message_class}
    view = received(harness, **properties)
    assert view.message_class == (message_class or MessageClass.NORMAL)


CLASSES = {
    "NORMAL": 0x0000,
    "REPORT": 0x0001,
    "ACK_REACH_QUEUE": 0x0002,
    "ORDER_ACK": 0x00FF,
    "ACK_RECEIVE": 0x4000,
    "NACK_BAD_DST_Q": 0x8000,
    "NACK_DELETED": 0x8001,
    "NACK_REACH_QUEUE_TIMEOUT": 0x8002,
    "NACK_Q_EXCEED_QUOTA": 0x8003,
    "NACK_ACCESS_DENIED": 0x8004,
    "NACK_HOP_COUNT_EXCEEDED": 0x8005,
    "NACK_BAD_SIGNATURE": 0x8006,
    "NACK_BAD_ENCRYPTION": 0x8007,
    "NACK_COULD_NOT_ENCRYPT": 0x8008,
    "NACK_NOT_TRANSACTIONAL_Q": 0x8009,
    "NACK_NOT_TRANSACTIONAL_MSG": 0x800A,
    "NACK_UNSUPPORTED_CRYPTO_PROVIDER": 0x800B,
    "NACK_SOURCE_COMPUTER_GUID_CHANGED": 0x800C,
    "NACK_Q_DELETED": 0xC000,
    "NACK_Q_PURGED": 0xC001,
    "NACK_RECEIVE_TIMEOUT": 0xC002,
    "NACK_RECEIVE_TIMEOUT_AT_SENDER": 0xC003,
    "NACK_RECEIVE_REJECTED": 0xC004,
}


@SPEC("MQDMPR-3.1.1.12-08", "MQDMPR-3.1.7.1.31-13")
@pytest.mark.parametrize(("name", "code"), CLASSES.items())
def test_every_class_of_the_specification_is_known_and_kept(
    harness: Harness, name: str, code: int
) -> None:
    assert MessageClass[name] == code
    assert received(harness, message_class=code).message_class == code


@SPEC("MQDMPR-3.1.1.12-41")
def test_headers_of_other_transports_are_passed_on(harness: Harness) -> None:
    header = SoapHeader("<h/>", "<b/>")
    view = received(harness, soap_header=header)
    assert view.soap_header == header
    assert view.srmp_envelope_header is None


@SPEC("MQDMPR-3.1.1.12-16")
@pytest.mark.parametrize("priority", range(8))
def test_a_message_has_one_of_eight_priorities(harness: Harness, priority: int) -> None:
    sent = harness.send(b"1", priority=priority)
    assert sent.messages[0].priority == priority


@SPEC("MQDMPR-3.1.1.12-16")
def test_the_default_priority_is_3_and_others_are_refused(harness: Harness) -> None:
    assert harness.send(b"1").messages[0].priority == 3
    for priority in (-1, 8):
        with pytest.raises(ValueError, match="priority"):
            harness.send(b"1", priority=priority)


@SPEC("MQDMPR-3.1.1.12-27")
def test_a_label_has_at_most_249_characters(harness: Harness) -> None:
    assert received(harness, label="x" * MAX_LABEL).label == "x" * 249
    with pytest.raises(ValueError, match="label"):
        packet(label="x" * 250)
    long = bytearray(packet(b"y" * 600, label="x" * 249))
    long[UserMessage(bytes(long)).properties_offset + 1] = 251
    with refused("MQ_ERROR_LABEL_TOO_LONG"):
        harness.qm.traffic.enqueue_many(harness.open(SEND), [bytes(long)])


@pytest.mark.parametrize("wrong", [b"", b"x" * 200, packet()[:-1], packet() + b"1234"])
def test_what_is_not_a_packet_is_refused(harness: Harness, wrong: bytes) -> None:
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        harness.qm.traffic.enqueue_many(harness.open(SEND), [packet(), wrong])
    assert harness.contents() == []


def test_a_packet_that_is_too_large_is_refused(harness: Harness) -> None:
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.qm.traffic.enqueue_many(harness.open(SEND), [bytes(MAX_PACKET_SIZE + 1)])


def identified(sender_id: bytes, kind: SenderIdType) -> bytes:
    return packet(security_header=SecurityHeader(int(kind), sender_id))


def test_a_message_names_its_own_sender_or_nobody(harness: Harness) -> None:
    descriptor = harness.open(SEND)
    own = identified(USER.sid.serialize(), SenderIdType.SID)
    harness.qm.traffic.enqueue_many(descriptor, [own, packet()])
    for wrong in (
        identified(STRANGER.sid.serialize(), SenderIdType.SID),
        identified(QM_GUID.bytes_le, SenderIdType.QM),
        identified(b"", SenderIdType.SID),
    ):
        with refused("MQ_ERROR_ACCESS_DENIED"):
            harness.qm.traffic.enqueue_many(descriptor, [wrong])
    system = harness.open(SEND, caller=SYSTEM_CALLER)
    harness.qm.traffic.enqueue_many(system, [identified(QM_GUID.bytes_le, SenderIdType.QM)])


def test_a_bulk_send_has_consecutive_ordinals_and_one_time(harness: Harness) -> None:
    sent = harness.send(*[b"%d" % n for n in range(5)])
    views = [UserMessage(packet_of(harness.qm.state, each)) for each in sent.messages]
    assert [view.message_id for view in views] == [sent.first_ordinal + n for n in range(5)]
    assert {view.sent_time for view in views} == {int(START_UTC)}


def test_an_empty_send_is_nothing(harness: Harness) -> None:
    sent = harness.qm.traffic.enqueue_many(harness.open(SEND), [])
    assert sent.messages == []


def test_a_dead_letter_queue_is_on_this_machine(harness: Harness) -> None:
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.send(b"1", deadletter_queue=r"elsewhere\private$\dead")
    assert harness.contents() == []
