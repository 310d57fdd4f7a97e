"""The calls of both protocols: what is sent, and what the answers mean."""

from itertools import count
from typing import Any
from uuid import UUID

import pytest
from tests.client.local.peer import packet
from tests.protocol.remote_read.client.scripted import run

from openmsmq.protocol.remote_read.client import (
    Access,
    Ack,
    ClientIdentity,
    Qm2QmProtocol,
    ReadCall,
    Reading,
    ReadProtocol,
    RemoteQueue,
    RemoteReadProtocol,
    ShareMode,
    check,
    queue_error,
)
from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.wire.codes.endpoints import QM2QM, QMCOMM
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import LookupAction, ReceiveAction
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.remote_read.extension_header import ExtensionHeader, ExtensionHeaderFlags
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType
from openmsmq.wire.remote_read.subqueue_header import SUBQUEUE_HEADER_SIZE, SubqueueHeader
from openmsmq.wire.rpc_interfaces import qm2qm, qmcomm, remote_read
from openmsmq.wire.rpc_interfaces.common import ResultResponse

CONTEXT = bytes(4) + bytes(range(1, 17))
GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
FORMAT = QueueFormat.from_format_name(parse_format_name(r"DIRECT=OS:h\private$\q"))
IDENTITY = ClientIdentity(GUID, process_id=77)
CANCELLED = 0x400E03E9
MQRR = RemoteReadProtocol(1, IDENTITY)
MQQP = Qm2QmProtocol(1, 2, IDENTITY, has_sequences=True, numbers=count(1))
OLD_MQQP = Qm2QmProtocol(1, 2, IDENTITY, has_sequences=False, numbers=count(1))
NOT_SUPPORTED = Hresult.MQ_ERROR_OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER


def remote_queue(**options: Any) -> RemoteQueue:
    return RemoteQueue(CONTEXT, **options)


def only_step(steps: Any) -> Any:
    return next(steps)


# RemoteRead


@pytest.mark.spec("MQRR-3.2.4.1-01", "MQRR-3.1.4.2-16", "MQRR-3.1.4.2-21")
def test_open_names_the_queue_and_the_client_and_keeps_the_handle() -> None:
    steps = MQRR.open(FORMAT, Access.RECEIVE, ShareMode.DENY_SHARE)
    request = only_step(steps).request
    assert request == remote_read.OpenQueueRequest(FORMAT, 1, 1, GUID, 1, 6, 1, 7600, 1)
    with pytest.raises(StopIteration) as end:
        steps.send(remote_read.OpenQueueResponse(CONTEXT))
    assert end.value.value.context == CONTEXT


@pytest.mark.spec("MQRR-3.1.4.11-02")
def test_queue_to_move_to_is_opened_shared_for_moves() -> None:
    steps = MQRR.open(FORMAT, Access.MOVE, ShareMode.DENY_SHARE)
    step = only_step(steps)
    assert (step.call.opnum, step.request.dw_access, step.request.dw_share_mode) == (11, 4, 0)
    with pytest.raises(StopIteration) as end:
        steps.send(remote_read.OpenQueueForMoveResponse(9, CONTEXT))
    assert end.value.value.move_context == 9


@pytest.mark.spec("MQRR-3.1.4.2-04")
@pytest.mark.parametrize("code", [0xC00E0003, 0xC00E0009, 0xC00E0025, 0xC00E0006])
def test_thrown_result_of_an_open_is_raised(code: int) -> None:
    with pytest.raises(QueueError) as refused:
        run(MQRR.open(FORMAT, Access.PEEK, ShareMode.DENY_NONE), [("R_OpenQueue", RpcFault(code))])
    assert refused.value.code == code


@pytest.mark.spec("MQRR-3.2.4.13-01", "MQRR-3.2.4.13-02", "MQRR-3.1.4.5-04")
def test_close_closes_cursors_first_and_drops_the_handle() -> None:
    queue = remote_queue()
    queue.cursors.add(3)
    closed = remote_read.CloseQueueResponse(CONTEXT_HANDLE_NULL, 0)
    run(MQRR.close(queue), [("R_CloseCursor", ResultResponse(0)), ("R_CloseQueue", closed)])
    assert queue.context == CONTEXT_HANDLE_NULL
    assert not queue.cursors


@pytest.mark.spec("MQRR-3.2.4.8-01", "MQRR-3.2.4.12-02", "MQRR-3.1.4.4-04")
def test_cursor_is_kept_until_it_is_closed_and_not_after_a_failure() -> None:
    queue = remote_queue()
    made = remote_read.CreateCursorResponse(5, 0)
    assert run(MQRR.create_cursor(queue), [("R_CreateCursor", made)]) == 5
    assert queue.cursors == {5}
    assert MQRR.close_cursor(queue, 5).request == remote_read.CloseCursorRequest(CONTEXT, 5)
    assert not queue.cursors
    refused = remote_read.CreateCursorResponse(6, 0xC00E0007)
    with pytest.raises(QueueError):
        run(MQRR.create_cursor(queue), [("R_CreateCursor", refused)])
    assert not queue.cursors


@pytest.mark.spec("MQRR-3.2.4.3-01", "MQRR-3.1.4.7-27")
def test_reads_have_different_request_ids() -> None:
    queue = remote_queue()
    reading = Reading(ReceiveAction.PEEK_CURRENT, 1500, max_body_size=9)
    first, second = MQRR.read(queue, reading), MQRR.read(queue, reading)
    assert first.invoke.request == remote_read.StartReceiveRequest(
        CONTEXT, 0, 0, ReceiveAction.PEEK_CURRENT, 1500, first.request_id, 9, 9
    )
    assert first.request_id != second.request_id
    assert first.invoke.waits
    assert not MQRR.read(queue, reading._replace(timeout=0)).invoke.waits


@pytest.mark.spec("MQRR-3.2.4.9-01", "MQRR-3.2.4.10.1-01")
def test_reads_by_cursor_have_no_lookup_id() -> None:
    for action in (ReceiveAction.PEEK_NEXT, ReceiveAction.RECEIVE):
        request = MQRR.read(remote_queue(), Reading(action, cursor=4)).invoke.request
        assert (request.h_cursor, request.lookup_id) == (4, 0)


@pytest.mark.spec("MQRR-3.2.4.10.2-01")
def test_receives_of_a_transaction_by_cursor_have_no_lookup_id() -> None:
    queue, identifier = remote_queue(), bytes(range(16))
    call = MQRR.read_in(identifier, queue, Reading(ReceiveAction.RECEIVE, cursor=4))
    request = call.invoke.request
    assert (call.invoke.call.opnum, request.h_cursor, request.lookup_id) == (13, 4, 0)
    assert request.p_transaction_id == identifier
    ended = MQRR.end_in_transaction(queue, call.request_id, Ack.RR_ACK)
    assert (ended.call.opnum, ended.request.dw_request_id) == (15, call.request_id)


def test_reads_that_receive_are_those_that_lock() -> None:
    assert Reading(LookupAction.RECEIVE_PREV, 0, 5).receives
    assert not Reading(ReceiveAction.PEEK_NEXT, cursor=4).receives


def section(data: bytes) -> tuple[SectionBuffer, ...]:
    return (SectionBuffer(SectionType.FULL_PACKET, len(data), data),)


def read(
    protocol: ReadProtocol, queue: RemoteQueue, action: Any = ReceiveAction.RECEIVE
) -> ReadCall:
    return protocol.read(queue, Reading(ReceiveAction.RECEIVE))


@pytest.mark.spec("MQRR-2.2.5.2-09")
def test_lookup_id_is_rebuilt_from_sequence_and_priority() -> None:
    queue = remote_queue()
    call = read(MQRR, queue)
    response = remote_read.StartReceiveResponse(1000, 9, section(packet(1)), 0)
    message = MQRR.message(queue, call, response)
    # The priority is 3.
    assert message.lookup_id == 4 << 56 | 9
    assert (message.arrived, message.request_id) == (1000, call.request_id)
    assert message.counters == (0, 0, 0)


def test_counters_come_from_the_subqueue_header() -> None:
    subqueue = SubqueueHeader(0, 2, 3, 4, "retry")
    extension = ExtensionHeader(SUBQUEUE_HEADER_SIZE, ExtensionHeaderFlags.SQ)
    data = RemoteReadMessage(packet(1), extension, subqueue).serialize()
    response = remote_read.StartReceiveResponse(1000, 9, section(data), 0)
    queue = remote_queue()
    assert MQRR.message(queue, read(MQRR, queue), response).counters == (2, 3, 4)


def test_counters_are_those_of_each_message() -> None:
    protocol, queue = RemoteReadProtocol(1, IDENTITY), remote_queue()
    extension = ExtensionHeader(SUBQUEUE_HEADER_SIZE, ExtensionHeaderFlags.SQ)
    found = []
    for move_count in (3, 3, 4, None, 4):
        subqueue = None if move_count is None else SubqueueHeader(0, 2, move_count, 4, "retry")
        headers = None if subqueue is None else extension
        data = RemoteReadMessage(packet(1), headers, subqueue).serialize()
        response = remote_read.StartReceiveResponse(1000, 9, section(data), 0)
        found.append(protocol.message(queue, read(protocol, queue), response).counters[1])
    assert found == [3, 3, 4, 0, 4]


@pytest.mark.spec("MQRR-2.2.6-05")
def test_sections_are_joined_with_the_body_stretched() -> None:
    data = packet(1)
    cut = len(data) - 4
    sections = (
        SectionBuffer(SectionType.BINARY_FIRST_SECTION, cut, data[: cut - 4]),
        SectionBuffer(SectionType.BINARY_SECOND_SECTION, 4, data[cut:]),
    )
    queue = remote_queue()
    response = remote_read.StartReceiveResponse(1000, 9, sections, 0)
    message = MQRR.message(queue, read(MQRR, queue), response)
    assert message.packet == data[: cut - 4] + bytes(4) + data[cut:]


@pytest.mark.spec("MQRR-3.1.4.7-40")
@pytest.mark.parametrize("code", [0xC00E001B, 0xC00E0088, 0xC00E0008])
def test_failed_read_raises_its_code(code: int) -> None:
    queue = remote_queue()
    with pytest.raises(QueueError) as refused:
        MQRR.message(queue, read(MQRR, queue), remote_read.StartReceiveResponse(0, 0, (), code))
    assert refused.value.code == code


@pytest.mark.spec("MQRR-3.2.4.4.1-01", "MQRR-3.1.4.7-04")
def test_message_is_acknowledged_or_given_back_when_it_cannot_be_rebuilt() -> None:
    queue = remote_queue()
    call = read(MQRR, queue)
    broken = remote_read.StartReceiveResponse(0, 9, (), 0)
    with pytest.raises(MalformedPacket):
        MQRR.message(queue, call, broken)
    nack = MQRR.give_back(queue, call, broken)
    assert nack.request == remote_read.EndReceiveRequest(CONTEXT, 1, call.request_id)
    whole = remote_read.StartReceiveResponse(0, 9, section(packet(1)), 0)
    ack = MQRR.end(queue, MQRR.message(queue, call, whole), Ack.RR_ACK)
    assert ack.request == remote_read.EndReceiveRequest(CONTEXT, 2, call.request_id)
    assert ack.call.opnum == 9


@pytest.mark.spec("MQRR-3.2.4.11-01")
def test_cancel_names_the_read() -> None:
    cancel = MQRR.cancel(remote_queue(), 7)
    assert cancel.request == remote_read.CancelReceiveRequest(CONTEXT, 7)
    assert not cancel.waits


@pytest.mark.spec("MQRR-3.1.4.10-13", "MQRR-3.2.4.6-01", "MQRR-3.1.4.10-02")
def test_move_without_a_transaction_has_a_zero_xactuow() -> None:
    move = MQRR.move(remote_queue(), remote_queue(move_context=9), 5)
    assert move.request == remote_read.MoveMessageRequest(CONTEXT, 9, 5, bytes(16))


def test_purge_names_the_queue() -> None:
    assert MQRR.purge(remote_queue()).request == remote_read.HandleRequest(CONTEXT)


@pytest.mark.spec("MQRR-1.7-02")
def test_missing_opnum_is_not_supported_by_the_remote_computer() -> None:
    assert queue_error(RpcFault(0x1C010002)).code == NOT_SUPPORTED


def test_faults_say_what_they_mean_for_the_queue() -> None:
    assert queue_error(RpcFault(0x1C00001A)).code == Hresult.MQ_ERROR_STALE_HANDLE
    assert queue_error(RpcFault(0x6F7)).code == Hresult.MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE


# qm2qm

OPENED = qmcomm.QMOpenRemoteQueueResponse(CONTEXT, 0x100, 0x100, 0x100, 0)


@pytest.mark.spec("MQQP-3.2.4.1-03", "MQQP-3.2.4.1-05", "MQQP-3.1.4.3-04")
def test_open_hands_the_values_of_qmcomm_to_qm2qm() -> None:
    # Any: steps of all kinds.
    steps: Any = MQQP.open(FORMAT, Access.RECEIVE, ShareMode.DENY_NONE)
    ask = only_step(steps)
    assert ask.request == qmcomm.QMOpenRemoteQueueRequest(FORMAT, 77, 1, 0, GUID, 0)
    claim = steps.send(OPENED)
    assert claim.request == qm2qm.OpenQueueRequest(GUID, 0, 0x100, 0x100, 0x100)
    close = steps.send(qm2qm.OpenQueueResponse(CONTEXT, 0))
    assert (close.call.name, close.connection) == ("R_QMCloseRemoteQueueContext", 1)
    with pytest.raises(StopIteration) as end:
        steps.send(qmcomm.QMCloseRemoteQueueContext(CONTEXT_HANDLE_NULL))
    assert (end.value.value.context, end.value.value.handle) == (CONTEXT, 0x100)


def test_refused_open_of_qmcomm_and_of_qm2qm_is_raised() -> None:
    refusals: tuple[Any, ...] = (OPENED._replace(result=0xC00E0025), RpcFault(0xC00E0025))
    for refused in refusals:
        with pytest.raises(QueueError) as error:
            run(
                MQQP.open(FORMAT, Access.PEEK, ShareMode.DENY_NONE),
                [("R_QMOpenRemoteQueue", refused)],
            )
        assert error.value.code == Hresult.MQ_ERROR_ACCESS_DENIED


def test_moves_are_not_supported_by_qm2qm() -> None:
    with pytest.raises(QueueError) as refused:
        run(MQQP.open(FORMAT, Access.MOVE, ShareMode.DENY_NONE), [])
    assert refused.value.code == NOT_SUPPORTED
    with pytest.raises(QueueError):
        MQQP.move(remote_queue(), remote_queue(), 1)


@pytest.mark.spec("MQQP-3.2.4.9-02", "MQQP-3.1.4.4-08", "MQQP-3.1.4.5-04")
def test_close_closes_cursors_and_the_session() -> None:
    queue = remote_queue(handle=0x100)
    queue.cursors.add(3)
    closed = qm2qm.CloseQueueResponse(CONTEXT_HANDLE_NULL, 0)
    script = [("RemoteQMCloseCursor", ResultResponse(0)), ("RemoteQMCloseQueue", closed)]
    run(MQQP.close(queue), script)
    assert queue.context == CONTEXT_HANDLE_NULL


def desc(queue: int, request_id: int, data: bytes | None) -> qm2qm.RemoteReadDesc:
    return qm2qm.RemoteReadDesc(
        queue, 0, 0, 0, queue, request_id, 1, dw_arrive_time=1000, lp_buffer=data
    )


@pytest.mark.spec("MQQP-3.2.4.3-03", "MQQP-2.2.2.1-04", "MQQP-2.2.2.1-05")
def test_receive_sends_no_buffer() -> None:
    queue = remote_queue(handle=0x100)
    call = MQQP.read(queue, Reading(ReceiveAction.RECEIVE, 0xFFFFFFFF))
    sent = call.invoke.request.lp_remote_read_desc2
    assert sent == qm2qm.RemoteReadDesc2(
        qm2qm.RemoteReadDesc(0x100, 0, 0, 0xFFFFFFFF, 0x100, call.request_id)
    )
    assert call.invoke.call.opnum == 9
    assert call.invoke.waits


@pytest.mark.spec("MQQP-3.2.4.2-02")
def test_old_server_is_read_by_opnum_0_and_tells_no_lookup_ids() -> None:
    queue = remote_queue(handle=0x100)
    call = OLD_MQQP.read(queue, Reading(ReceiveAction.RECEIVE))
    assert call.invoke.call.opnum == 0
    response = qm2qm.StartReceiveResponse(CONTEXT, desc(0x100, call.request_id, packet(1)), 0)
    message = OLD_MQQP.message(queue, call, response)
    assert message.lookup_id == 4 << 56 | call.number
    assert (OLD_MQQP.tells_order, MQQP.tells_order, MQRR.tells_order) == (False, True, True)
    with pytest.raises(QueueError) as refused:
        OLD_MQQP.read(queue, Reading(LookupAction.PEEK_CURRENT, 0, 5))
    assert refused.value.code == NOT_SUPPORTED


@pytest.mark.spec("MQQP-3.1.4.1-17", "MQQP-3.1.4.11-06")
def test_lookup_is_opnum_10_without_cursor_and_time_out() -> None:
    call = MQQP.read(remote_queue(handle=0x100), Reading(LookupAction.PEEK_NEXT, 0, 5))
    assert call.invoke.call.opnum == 10
    assert call.invoke.request.lookup_id == 5
    inner = call.invoke.request.lp_remote_read_desc2.p_remote_read_desc
    assert (inner.h_cursor, inner.ul_timeout) == (0, 0)


@pytest.mark.spec("MQQP-3.2.4.2-05", "MQQP-3.2.4.3-02")
def test_message_of_qm2qm_is_rebuilt_and_acknowledged_by_its_own_handle() -> None:
    queue = remote_queue(handle=0x100)
    call = read(MQQP, queue)
    data = desc(0x100, call.request_id, packet(1))
    response = qm2qm.StartReceive2Response(CONTEXT, qm2qm.RemoteReadDesc2(data, 9), 0)
    message = MQQP.message(queue, call, response)
    assert (message.lookup_id, message.arrived) == (4 << 56 | 9, 1000)
    assert message.packet == packet(1)
    ack = MQQP.end(queue, message, Ack.RR_ACK)
    assert ack.request == qm2qm.EndReceiveRequest(CONTEXT, 2)


@pytest.mark.parametrize("inner", [None, desc(0x100, 1, None)])
def test_read_without_a_message_is_malformed_and_given_back(inner: Any) -> None:
    queue = remote_queue(handle=0x100)
    call = read(MQQP, queue)
    response = qm2qm.StartReceive2Response(CONTEXT, qm2qm.RemoteReadDesc2(inner, 9), 0)
    with pytest.raises(MalformedPacket):
        MQQP.message(queue, call, response)
    assert MQQP.give_back(queue, call, response).request == qm2qm.EndReceiveRequest(CONTEXT, 1)


@pytest.mark.spec("MQQP-3.1.4.6-08", "MQQP-3.2.4.7-01")
def test_cancelled_read_is_an_error_although_its_severity_bit_is_clear() -> None:
    queue = remote_queue(handle=0x100)
    cancel = MQQP.cancel(queue, 7)
    assert cancel.request == qm2qm.CancelReceiveRequest(0x100, 0x100, 7)
    with pytest.raises(QueueError) as refused:
        check(ResultResponse(CANCELLED))
    assert refused.value.code == Hresult.MQ_ERROR_OPERATION_CANCELLED


@pytest.mark.spec("MQQP-2.2.2.1-06", "MQQP-3.2.4.8-01")
def test_cursor_is_made_by_qmcomm_and_closed_by_qm2qm() -> None:
    queue = remote_queue(handle=0x100)
    create = only_step(MQQP.create_cursor(queue))
    assert (create.connection, create.interface) == (1, QMCOMM)
    made = qmcomm.QMCreateRemoteCursorResponse(5, 0)
    assert run(MQQP.create_cursor(queue), [("R_QMCreateRemoteCursor", made)]) == 5
    close = MQQP.close_cursor(queue, 5)
    assert (close.connection, close.interface) == (2, QM2QM)
    assert close.request == qm2qm.CloseCursorRequest(0x100, 5)


@pytest.mark.spec("MQQP-3.2.4.4-01")
def test_purge_names_the_queue_handle_of_qmcomm() -> None:
    assert MQQP.purge(remote_queue(handle=0x100)).request == qm2qm.PurgeQueueRequest(0x100)
