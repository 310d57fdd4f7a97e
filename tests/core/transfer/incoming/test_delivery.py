"""Messages that other machines bring ([MS-MQDMPR] 3.1.1.5)."""

from functools import partial
from typing import Any

import pytest
from tests.core.harness import ORDERS, OTHER_GUID, STRANGER, USER, Harness, packet, runs_of

from openmsmq.core.transfer.incoming.delivery import deliver, reject
from openmsmq.core.transfer.incoming.stream_order import StreamPosition
from openmsmq.core.transfer.incoming.streams import (
    IncomingTransactionalTransferInfo,
    add_stream,
)
from openmsmq.security.access_check import QUEUE_MAPPING
from openmsmq.security.default_descriptor import allow
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_descriptor import Acl, SecurityDescriptor
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import ANONYMOUS, EVERYONE

SPEC = pytest.mark.spec
PAY = r".\private$\pay"
ADMIN = r".\private$\admin"
HEADER = TransactionHeader(0, TxSequenceID(5, 1), 1, 0)
ACCEPTED = MessageClass.ACK_REACH_QUEUE


def message(body: bytes = b"1", **properties: Any) -> UserMessage:
    return UserMessage(packet(body, source_queue_manager=OTHER_GUID, **properties))


def test_a_delivered_message_is_stored_as_it_came(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    one = message(b"1", message_id=5)
    delivered = deliver(harness.qm.state, queue, runs_of(one, message(b"2")))
    assert delivered.classes == [ACCEPTED, ACCEPTED]
    assert delivered.depends == harness.qm.state.outbox.number
    first = queue.lanes.first()
    assert first is not None
    assert first.packet == one.packet
    harness.restart()
    assert harness.contents() == [b"1", b"2"]


@SPEC("MQDMPR-3.1.1.12-09")
def test_a_queue_refuses_what_does_not_fit_and_says_which(harness: Harness) -> None:
    pay = harness.create(PAY, transactional=True)
    plain = harness.qm.find_queue(ORDERS)
    offer = partial(deliver, harness.qm.state)
    transactional = message(transaction_header=HEADER)
    assert offer(plain, runs_of(transactional)).classes == [MessageClass.NACK_NOT_TRANSACTIONAL_Q]
    assert offer(pay, runs_of(message())).classes == [MessageClass.NACK_NOT_TRANSACTIONAL_MSG]
    assert offer(pay, runs_of(transactional)).classes == [ACCEPTED]
    assert (plain.count, pay.count) == (0, 1)
    assert plain.counters.refused == {"NACK_NOT_TRANSACTIONAL_Q": 1}
    assert pay.counters.refused == {"NACK_NOT_TRANSACTIONAL_MSG": 1}


def test_a_message_that_took_too_long_is_refused(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    late = message(sent_time=int(harness.utc) - 11, time_to_reach_queue=10)
    on_time = message(sent_time=int(harness.utc) - 10, time_to_reach_queue=10)
    classes = deliver(harness.qm.state, queue, runs_of(late, on_time)).classes
    assert classes == [MessageClass.NACK_REACH_QUEUE_TIMEOUT, ACCEPTED]
    # It has expired: the queue had no part in it.
    assert queue.counters.refused == {}


def test_a_full_queue_refuses_and_the_sender_hears_of_it(harness: Harness) -> None:
    harness.create(ADMIN)
    queue = harness.create(r".\private$\full", quota=0)
    wanted = message(
        b"body", acknowledgments=0x04, admin_queue=direct_address(r"OS:qm\private$\admin")
    )
    classes = deliver(harness.qm.state, queue, runs_of(wanted, message())).classes
    assert classes == [MessageClass.NACK_Q_EXCEED_QUOTA] * 2
    assert queue.counters.refused == {"NACK_Q_EXCEED_QUOTA": 2}
    assert queue.counters.last_refused == harness.utc
    assert harness.contents(ADMIN) == [b"body"]


def test_the_sender_needs_the_right_to_write(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    descriptor = SecurityDescriptor(
        owner=USER.sid, dacl=Acl((allow(USER.sid, QUEUE_MAPPING.all_rights),))
    )
    harness.qm.set_queue(queue, caller=USER, security=descriptor.serialize())
    known = SecurityHeader(int(SenderIdType.SID), USER.sid.serialize())
    other = SecurityHeader(int(SenderIdType.SID), STRANGER.sid.serialize())
    machine = SecurityHeader(int(SenderIdType.QM), OTHER_GUID.bytes_le)
    messages = [message(security_header=each) for each in (known, other, machine)]
    denied = MessageClass.NACK_ACCESS_DENIED
    classes = deliver(harness.qm.state, queue, runs_of(*messages, message())).classes
    assert classes == [ACCEPTED, denied, denied, denied]


@SPEC("MQDMPR-3.1.1.12-40")
def test_who_does_not_say_who_it_is_is_anonymous(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    everyone = SecurityDescriptor(
        owner=USER.sid, dacl=Acl((allow(EVERYONE, QueueRight.WRITE_MESSAGE),))
    )
    harness.qm.set_queue(queue, caller=USER, security=everyone.serialize())
    machine = SecurityHeader(int(SenderIdType.QM), OTHER_GUID.bytes_le)
    classes = deliver(
        harness.qm.state, queue, runs_of(message(), message(security_header=machine))
    ).classes
    assert classes == [ACCEPTED, ACCEPTED]


def test_a_queue_manager_as_sender_is_everyone_and_not_anonymous(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    anonymous = SecurityDescriptor(
        owner=USER.sid, dacl=Acl((allow(ANONYMOUS, QueueRight.WRITE_MESSAGE),))
    )
    harness.qm.set_queue(queue, caller=USER, security=anonymous.serialize())
    machine = SecurityHeader(int(SenderIdType.QM), OTHER_GUID.bytes_le)
    arriving = runs_of(message(), message(security_header=machine))
    classes = deliver(harness.qm.state, queue, arriving).classes
    assert classes == [ACCEPTED, MessageClass.NACK_ACCESS_DENIED]


@SPEC("MQDMPR-3.1.1.5-01", "MQDMPR-3.1.1.5-03")
def test_a_stream_is_stored_with_its_message(harness: Harness) -> None:
    queue = harness.create(PAY, transactional=True)
    harness.flush()
    stream = IncomingTransactionalTransferInfo(queue.number, r"OS:QM\private$\pay", OTHER_GUID)
    sequence = HEADER.tx_sequence_id.value.to_bytes(8)
    stream.accept(StreamPosition(sequence, 1), 2_000_000_000, harness.utc)
    assert add_stream(harness.qm.state, queue, stream) is None
    deliver(harness.qm.state, queue, runs_of(message(transaction_header=HEADER)), [stream])
    taken = harness.qm.take_batch()
    assert taken is not None
    assert len(taken[1].put_keys) == 1
    assert len(taken[1].rows) == 1
    harness.store.finish(harness.store.begin([taken[1]]))
    harness.crash()
    queue = harness.qm.find_queue(PAY)
    assert list(queue.incoming.values()) == [stream]
    assert stream.sender_identifier == OTHER_GUID
    assert (stream.sequence_identifier, stream.sequence_number) == (sequence, 1)
    assert harness.contents(PAY) == [b"1"]
    harness.qm.delete_queue(queue, caller=USER)
    harness.create(PAY, transactional=True)
    harness.restart()
    assert harness.qm.find_queue(PAY).incoming == {}


@SPEC("MQDMPR-3.1.1.5-02")
def test_a_stream_counts_rejections_until_a_message_is_accepted() -> None:
    stream = IncomingTransactionalTransferInfo(1, "OS:qm\\q", OTHER_GUID)
    stream.reject(10.0)
    stream.reject(20.0)
    assert (stream.reject_count, stream.last_access_time) == (2, 20.0)
    stream.accept(StreamPosition(b"7", 3), 100, 30.0)
    assert (stream.reject_count, stream.last_access_time) == (0, 30.0)
    again = IncomingTransactionalTransferInfo.parse(stream.key, stream.serialize())
    assert again == stream


def test_a_sender_can_be_told_of_a_rejection(harness: Harness) -> None:
    harness.create(ADMIN)
    admin = direct_address(r"OS:qm\private$\admin")
    wanted = message(acknowledgments=0x04, admin_queue=admin)
    reject(harness.qm.state, wanted, MessageClass.NACK_HOP_COUNT_EXCEEDED)
    reject(harness.qm.state, message(), MessageClass.NACK_HOP_COUNT_EXCEEDED)
    assert len(harness.contents(ADMIN)) == 1
