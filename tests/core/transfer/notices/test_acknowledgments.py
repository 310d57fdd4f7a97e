"""Administration acknowledgments ([MS-MQDMPR] 3.1.1.12, [MS-MQQB] 3.1.7.15)."""

from typing import Any

import pytest
from tests.core.harness import (
    OTHER_GUID,
    QM_GUID,
    RECEIVE,
    USER,
    Harness,
    packet,
    runs_of,
)

from openmsmq.core.rows.packets import packet_of
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.incoming.delivery import deliver
from openmsmq.core.transfer.notices.acknowledgments import acknowledge
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import Acknowledgment
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address, private_address
from openmsmq.wire.scalars import MessageIdentifier

SPEC = pytest.mark.spec
ADMIN = r".\private$\admin"
ADMIN_ADDRESS = direct_address(r"OS:qm\private$\admin")
ACK_REACH, ACK_RECEIVE = MessageClass.ACK_REACH_QUEUE, MessageClass.ACK_RECEIVE
TIMEOUT = MessageClass.NACK_RECEIVE_TIMEOUT
REFUSED = MessageClass.NACK_NOT_TRANSACTIONAL_MSG


@pytest.fixture
def admin(harness: Harness) -> Harness:
    harness.create(ADMIN)
    return harness


def acknowledgments(harness: Harness, name: str = ADMIN) -> list[UserMessage]:
    harness.settle()
    queue = harness.qm.find_queue(name)
    return [UserMessage(packet_of(harness.qm.state, each)) for each in queue.lanes]


def classes(harness: Harness) -> list[int]:
    return [each.message_class for each in acknowledgments(harness)]


# What is asked for, and what comes on arrival and receive, on expiry, on refusal.
TABLE = {
    Acknowledgment.NONE: ([], [], []),
    Acknowledgment.POS_ARRIVAL: ([ACK_REACH], [ACK_REACH], []),
    Acknowledgment.POS_RECEIVE: ([ACK_RECEIVE], [], []),
    Acknowledgment.NEG_ARRIVAL: ([], [], [REFUSED]),
    Acknowledgment.NEG_RECEIVE: ([], [TIMEOUT], []),
    Acknowledgment.FULL_REACH_QUEUE: ([ACK_REACH], [ACK_REACH], [REFUSED]),
    Acknowledgment.NACK_RECEIVE: ([], [TIMEOUT], [REFUSED]),
    Acknowledgment.FULL_RECEIVE: ([ACK_RECEIVE], [TIMEOUT], [REFUSED]),
}
ROWS = {
    Acknowledgment.NONE: "MQDMPR-3.1.1.12-29",
    Acknowledgment.POS_ARRIVAL: "MQDMPR-3.1.1.12-30",
    Acknowledgment.POS_RECEIVE: "MQDMPR-3.1.1.12-30",
    Acknowledgment.NEG_ARRIVAL: "MQDMPR-3.1.1.12-31",
    Acknowledgment.FULL_REACH_QUEUE: "MQDMPR-3.1.1.12-31",
    Acknowledgment.NEG_RECEIVE: "MQDMPR-3.1.1.12-32",
    Acknowledgment.NACK_RECEIVE: "MQDMPR-3.1.1.12-32",
    Acknowledgment.FULL_RECEIVE: "MQDMPR-3.1.1.12-32",
}
CASES = [
    pytest.param(asked, *expected, marks=SPEC(ROWS[asked])) for asked, expected in TABLE.items()
]
Classes = list[MessageClass]


@pytest.mark.parametrize(("asked", "received", "expired", "refused"), CASES)
def test_a_sender_hears_of_what_it_asked_for(
    admin: Harness, asked: int, received: Classes, expired: Classes, refused: Classes
) -> None:
    properties: dict[str, Any] = {"acknowledgments": int(asked), "admin_queue": ADMIN_ADDRESS}
    admin.send(b"1", **properties)
    admin.drain()
    assert classes(admin) == received
    admin.drain(ADMIN)
    admin.send(b"2", time_to_be_received=5, **properties)
    admin.advance(5)
    assert classes(admin) == expired
    admin.drain(ADMIN)
    queue = admin.create(r".\private$\t", transactional=True)
    deliver(admin.qm.state, queue, runs_of(UserMessage(packet(b"3", **properties))))
    assert classes(admin) == refused


def test_an_acknowledgment_says_which_message_it_is_for(admin: Harness) -> None:
    sent = admin.send(
        b"body",
        acknowledgments=0x0F,
        admin_queue=ADMIN_ADDRESS,
        label="order 1",
        application_tag=7,
        priority=6,
    )
    (view,) = acknowledgments(admin)
    original = UserMessage(packet_of(admin.qm.state, sent.messages[0]))
    assert view.correlation_id == original.identifier.serialize()
    assert original.identifier == MessageIdentifier(QM_GUID, sent.first_ordinal)
    assert view.response_queue == original.destination_queue
    assert view.destination_queue == ADMIN_ADDRESS
    assert view.source_queue_manager == QM_GUID
    assert view.message_id != original.message_id
    assert view.delivery_mode == original.delivery_mode == 1
    assert (view.acknowledgments, view.admin_queue, view.body) == (0, None, b"")
    assert view.time_to_reach_queue == view.time_to_be_received == 0xFFFFFFFF
    assert not view.negative_journaling
    assert not view.positive_journaling
    assert (view.label, view.application_tag, view.priority) == ("order 1", 7, 6)


def test_a_negative_acknowledgment_carries_the_body(admin: Harness) -> None:
    admin.send(
        b"body", time_to_be_received=0, acknowledgments=0x08, admin_queue=ADMIN_ADDRESS, body_type=8
    )
    (view,) = acknowledgments(admin)
    assert (view.body, view.body_type) == (b"body", 8)


def test_acknowledgments_are_as_durable_as_the_message(admin: Harness) -> None:
    admin.send(b"1", acknowledgments=1, admin_queue=ADMIN_ADDRESS, delivery_mode=0)
    admin.send(b"2", acknowledgments=1, admin_queue=ADMIN_ADDRESS, delivery_mode=1)
    assert [each.delivery_mode for each in acknowledgments(admin)] == [0, 1]
    admin.restart()
    assert len(acknowledgments(admin)) == 1


def test_an_acknowledgment_is_stored_with_what_it_reports(admin: Harness) -> None:
    admin.send(b"1", acknowledgments=0x02, admin_queue=ADMIN_ADDRESS)
    admin.flush()
    admin.drain()
    taken = admin.qm.take_batch()
    assert taken is not None
    assert len(taken[1].deletes) == len(taken[1].put_keys) == 1


def test_an_acknowledgment_for_another_machine_goes_out(admin: Harness) -> None:
    elsewhere = direct_address(r"OS:elsewhere\private$\admin")
    admin.send(b"1", acknowledgments=1, admin_queue=elsewhere)
    admin.settle()
    queue = admin.qm.outgoing.find(r"DIRECT=OS:elsewhere\private$\admin")
    (message,) = queue.lanes
    view = UserMessage(packet_of(admin.qm.state, message))
    assert view.message_class == ACK_REACH
    private = private_address(OTHER_GUID, 9)
    admin.send(b"2", acknowledgments=1, admin_queue=private)
    admin.settle()
    assert admin.qm.outgoing.find(rf"PRIVATE={OTHER_GUID}\9").count == 1


@pytest.mark.parametrize("name", [r"OS:qm\private$\nothing", "not a name"])
def test_an_acknowledgment_that_cannot_be_delivered_is_dropped(admin: Harness, name: str) -> None:
    admin.send(b"1", acknowledgments=0x0F, admin_queue=direct_address(name))
    assert admin.contents() == [b"1"]
    assert admin.qm.outgoing.queues == []


def test_a_transactional_or_full_admin_queue_gets_none(admin: Harness) -> None:
    admin.create(r".\private$\t", transactional=True)
    admin.send(b"1", acknowledgments=1, admin_queue=direct_address(r"OS:qm\private$\t"))
    assert admin.contents(r".\private$\t") == []
    admin.qm.set_queue(admin.qm.find_queue(ADMIN), caller=USER, quota=0)
    admin.send(b"1", acknowledgments=1, admin_queue=ADMIN_ADDRESS)
    assert admin.contents(ADMIN) == []


def test_a_transaction_is_acknowledged_when_it_commits(admin: Harness) -> None:
    admin.create(r".\private$\t", transactional=True)
    transaction = admin.qm.traffic.begin(admin.guid())
    admin.send(
        b"1",
        name=r".\private$\t",
        transaction=transaction,
        acknowledgments=0x03,
        admin_queue=ADMIN_ADDRESS,
    )
    assert classes(admin) == []
    admin.qm.traffic.commit(transaction.identifier)
    assert classes(admin) == [ACK_REACH]
    receiving = admin.qm.traffic.begin(admin.guid())
    admin.qm.traffic.dequeue_many(admin.open(RECEIVE, r".\private$\t"), transaction=receiving)
    assert classes(admin) == [ACK_REACH]
    admin.qm.traffic.commit(receiving.identifier)
    assert classes(admin) == [ACK_REACH, ACK_RECEIVE]


@pytest.mark.parametrize(("insecure", "count"), [(False, 0), (True, 1)])
def test_nacks_that_tell_strangers_what_is_here_are_off_by_default(
    *, insecure: bool, count: int
) -> None:
    harness = Harness(settings=Settings(send_insecure_nacks=insecure))
    harness.create(ADMIN)
    message = packet(b"1", acknowledgments=0x0F, admin_queue=ADMIN_ADDRESS)
    assert acknowledge(harness.qm.state, message, MessageClass.NACK_ACCESS_DENIED) is insecure
    assert len(harness.contents(ADMIN)) == count


def test_without_an_admin_queue_there_is_nobody_to_tell(admin: Harness) -> None:
    sent = admin.send(b"1", acknowledgments=0x0F)
    assert sent.messages[0].traits >> 4 == 0
    assert not acknowledge(admin.qm.state, packet(b"1"), ACK_RECEIVE)
