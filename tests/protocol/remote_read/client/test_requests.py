"""What a client says about itself, what its reads by MS-MQQP hold, and what it ignores."""

from itertools import count
from typing import Any
from uuid import UUID

import pytest
from tests.client.local.peer import packet

from openmsmq.protocol.remote_read.client import (
    Access,
    Ack,
    ClientIdentity,
    Qm2QmProtocol,
    Reading,
    RemoteQueue,
    RemoteReadProtocol,
    ShareMode,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ReceiveAction
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.remote_read.extension_header import ExtensionHeader, ExtensionHeaderFlags
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType
from openmsmq.wire.remote_read.subqueue_header import SUBQUEUE_HEADER_SIZE, SubqueueHeader
from openmsmq.wire.rpc_interfaces import qm2qm, qmcomm, remote_read

CONTEXT = bytes(4) + bytes(range(1, 17))
READ_CONTEXT = bytes(4) + bytes(range(17, 33))
GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
FORMAT = QueueFormat.from_format_name(parse_format_name(r"DIRECT=OS:h\private$\q"))
MQRR = RemoteReadProtocol(1, ClientIdentity(GUID))
NUMBER = 0x100


def mqqp(*, has_sequences: bool = True) -> Qm2QmProtocol:
    return Qm2QmProtocol(1, 2, ClientIdentity(GUID), has_sequences=has_sequences, numbers=count(1))


def queue() -> RemoteQueue:
    return RemoteQueue(CONTEXT, handle=NUMBER)


# Opens


@pytest.mark.spec("MQRR-3.1.4.2-19", "MQRR-3.1.4.2-23")
@pytest.mark.parametrize("access", [Access.RECEIVE, Access.PEEK, Access.MOVE])
@pytest.mark.parametrize("workgroup", [False, True])
def test_client_is_not_a_routing_server_and_says_whether_it_is_in_a_domain(
    access: Access, *, workgroup: bool
) -> None:
    protocol = RemoteReadProtocol(1, ClientIdentity(GUID, workgroup=workgroup))
    request = next(protocol.open(FORMAT, access, ShareMode.DENY_NONE)).request  # type: ignore[union-attr]
    assert (request.f_non_routing_server, request.f_workgroup) == (1, int(workgroup))
    # openmsmq is a member of no domain.
    assert ClientIdentity().workgroup


@pytest.mark.spec("MQQP-3.2.4.1-02")
def test_client_of_qm2qm_is_neither_routing_nor_directory_server() -> None:
    # Any: steps of all kinds.
    steps: Any = mqqp().open(FORMAT, Access.RECEIVE, ShareMode.DENY_NONE)
    assert next(steps).request.dw_mqs == 0
    found = qmcomm.QMOpenRemoteQueueResponse(CONTEXT, NUMBER, NUMBER, NUMBER, 0)
    assert steps.send(found).request.dw_mqs == 0


# Reads by qm2qm


def sent(call: Any) -> tuple[qm2qm.RemoteReadDesc, int]:
    """REMOTEREADDESC and SequentialId of a read."""
    request = call.invoke.request
    if isinstance(request, qm2qm.StartReceiveRequest):
        return request.lp_remote_read_desc, 0
    desc2 = request.lp_remote_read_desc2
    return desc2.p_remote_read_desc, desc2.sequential_id


@pytest.mark.spec("MQQP-3.2.4.2-03")
@pytest.mark.parametrize("has_sequences", [False, True])
def test_peek_sends_action_and_time_out_and_nothing_else(*, has_sequences: bool) -> None:
    opened, protocol = queue(), mqqp(has_sequences=has_sequences)
    reading = Reading(ReceiveAction.PEEK_CURRENT, 1500)
    first, second = protocol.read(opened, reading), protocol.read(opened, reading)
    assert first.invoke.call.opnum == (9 if has_sequences else 0)
    desc, sequential_id = sent(first)
    assert desc == qm2qm.RemoteReadDesc(NUMBER, 0, 0x80000000, 1500, NUMBER, first.request_id)
    assert (desc.lp_buffer, sequential_id) == (None, 0)
    assert sent(second)[0].dw_request_id != desc.dw_request_id


@pytest.mark.spec("MQQP-3.2.4.5-01")
@pytest.mark.parametrize("action", [ReceiveAction.PEEK_CURRENT, ReceiveAction.PEEK_NEXT])
def test_peek_by_cursor_names_the_cursor(action: ReceiveAction) -> None:
    desc, _ = sent(mqqp().read(queue(), Reading(action, 7, cursor=4)))
    assert (desc.h_cursor, desc.ul_action, desc.ul_timeout) == (4, action, 7)
    assert action in (0x80000000, 0x80000001)


@pytest.mark.spec("MQQP-3.2.4.6-01")
def test_receive_by_cursor_names_the_cursor_and_is_acknowledged() -> None:
    opened, protocol = queue(), mqqp()
    call = protocol.read(opened, Reading(ReceiveAction.RECEIVE, cursor=4))
    desc, _ = sent(call)
    assert (desc.h_cursor, desc.ul_action) == (4, 0)
    message = protocol.message(opened, call, answer(desc))
    ack = protocol.end(opened, message, Ack.RR_ACK)
    assert ack.request == qm2qm.EndReceiveRequest(READ_CONTEXT, 2)


def answer(desc: qm2qm.RemoteReadDesc, result: int = 0, **fields: Any) -> Any:
    desc = desc._replace(lp_buffer=packet(1), dw_arrive_time=1000, **fields)
    return qm2qm.StartReceive2Response(READ_CONTEXT, qm2qm.RemoteReadDesc2(desc, 9), result)


@pytest.mark.spec("MQQP-2.2.2.1-13")
@pytest.mark.parametrize("ack", [0, 1, 2])
def test_acknowledgment_in_an_answer_is_ignored(ack: int) -> None:
    opened, protocol = queue(), mqqp()
    call = protocol.read(opened, Reading(ReceiveAction.RECEIVE))
    desc, _ = sent(call)
    assert desc.e_ack_nack == 0
    message = protocol.message(opened, call, answer(desc, e_ack_nack=ack))
    assert (message.packet, message.context) == (packet(1), READ_CONTEXT)


@pytest.mark.spec("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-32")
@pytest.mark.parametrize("code", [0xC00E001B, 0xC00E0088, 0xC000000D, 0x80004005, 0xFFFFFFFF])
def test_failed_read_has_no_message_whatever_came_with_it(code: int) -> None:
    opened, protocol = queue(), mqqp()
    call = protocol.read(opened, Reading(ReceiveAction.RECEIVE))
    with pytest.raises(QueueError) as refused:
        protocol.message(opened, call, answer(sent(call)[0], code))
    assert refused.value.code == code


@pytest.mark.spec("MQQP-2.2.2.1-09", "MQQP-2.2.2.1-10")
def test_request_id_is_used_once_and_a_cancel_names_it() -> None:
    opened, protocol = queue(), mqqp()
    reading = Reading(ReceiveAction.RECEIVE, 1000)
    calls = [protocol.read(opened, reading) for _ in range(100)]
    ids = [sent(call)[0].dw_request_id for call in calls]
    assert len(set(ids)) == 100
    cancels = [protocol.cancel(opened, call.request_id).request for call in calls]
    assert cancels == [qm2qm.CancelReceiveRequest(NUMBER, NUMBER, each) for each in ids]


# What a reader of RemoteRead ignores


def message_of(subqueue: SubqueueHeader, flags: int) -> Any:
    extension = ExtensionHeader(SUBQUEUE_HEADER_SIZE, ExtensionHeaderFlags(flags))
    data = RemoteReadMessage(packet(1), extension, subqueue).serialize()
    section = SectionBuffer(SectionType.FULL_PACKET, len(data), data)
    call = MQRR.read(queue(), Reading(ReceiveAction.RECEIVE))
    response = remote_read.StartReceiveResponse(1000, 9, (section,), 0)
    return MQRR.message(queue(), call, response)


@pytest.mark.spec("MQRR-2.2.5.3-09")
def test_subqueue_header_without_a_name_is_ignored() -> None:
    flags = ExtensionHeaderFlags.SQ
    assert message_of(SubqueueHeader(0, 2, 3, 4, "retry"), flags).counters == (2, 3, 4)
    assert message_of(SubqueueHeader(0, 2, 3, 4), flags).counters == (0, 0, 0)


@pytest.mark.spec("MQRR-2.2.5.2-06")
def test_invalid_dead_letter_queue_without_its_header_is_ignored() -> None:
    subqueue = SubqueueHeader(0, 2, 3, 4, "retry")
    plain = message_of(subqueue, ExtensionHeaderFlags.SQ)
    flagged = message_of(subqueue, ExtensionHeaderFlags.SQ | ExtensionHeaderFlags.DI)
    assert flagged == plain._replace(request_id=flagged.request_id)


def test_codes_of_both_protocols_for_a_cancelled_read_are_one() -> None:
    opened, protocol = queue(), mqqp()
    call = protocol.read(opened, Reading(ReceiveAction.RECEIVE, 1000))
    with pytest.raises(QueueError) as refused:
        protocol.message(opened, call, answer(sent(call)[0], 0x400E03E9))
    assert refused.value.code == Hresult.MQ_ERROR_OPERATION_CANCELLED
