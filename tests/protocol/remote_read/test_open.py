"""R_GetServerPort, R_OpenQueue and R_CloseQueue ([MS-MQRR] 3.1.4.1 to 3.1.4.3)."""

from uuid import UUID

import pytest
from tests.core.harness import QM_GUID, USER
from tests.protocol.remote_read.harness import (
    CANCELLED,
    DIRECT,
    FOR_EVER,
    INVALID_HANDLE,
    MOVE,
    NOT_AVAILABLE,
    NOT_FOUND,
    OK,
    PEEK,
    RECEIVE,
    RemoteCase,
    open_request,
)
from tests.protocol.rpc.harness import PORT

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.protocol.rpc import RpcFault, RpcSettings
from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_NOT_FOUND
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, Call
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.rpc.status import (
    NCA_S_FAULT_CONTEXT_MISMATCH,
    NCA_S_OP_RNG_ERROR,
    NCA_S_SERVER_TOO_BUSY,
    RPC_ACCESS_DENIED,
    AuthnLevel,
)
from openmsmq.wire.rpc_interfaces import remote_read as rr
from openmsmq.wire.rpc_interfaces.common import NoParameters


@pytest.mark.spec("MQRR-3.1.4.1-01", "MQRR-3.1.4.1-05")
def test_the_port_is_that_of_the_interface_and_stays() -> None:
    case = RemoteCase()
    assert case.reader(name="").port() == PORT
    assert case.reader().port() == PORT


@pytest.mark.spec("MQRR-1.7-01", "MQRR-3.1.4-04")
def test_the_interface_has_fifteen_calls() -> None:
    operations = RemoteCase().remote.interface.operations
    assert sorted(operations) == [0, *range(2, 16)]
    for opnum, served in operations.items():
        assert served.call is rr.CALLS[opnum]


def test_opnum_1_and_16_do_not_exist() -> None:
    reader = RemoteCase().reader()
    for opnum in (1, 16):
        call = rr.R_GET_SERVER_PORT._replace(opnum=opnum)
        assert reader.fault(call, NoParameters()) == NCA_S_OP_RNG_ERROR


@pytest.mark.spec("MQRR-3.1.4.2-02", "MQRR-3.1.4.2-15")
def test_two_opens_give_two_handles() -> None:
    reader = RemoteCase().reader()
    first, second = reader.open(), reader.open()
    assert len(first.handle) == 20
    assert CONTEXT_HANDLE_NULL not in (first.handle, second.handle)
    assert first.handle != second.handle


@pytest.mark.spec("MQRR-3.1.4.2-03", "MQRR-3.1.4.2-06", "MQRR-3.1.4.2-07")
@pytest.mark.parametrize(
    "queue_format",
    [
        QueueFormat(0),
        QueueFormat(5, guid=QM_GUID),
        QueueFormat(6, guid=QM_GUID),
        QueueFormat(7, address=1, port=80),
        QueueFormat(3, text="no name"),
        QueueFormat(3, 5, text=r"OS:qm\private$\orders"),
        QueueFormat(4, guid=QM_GUID),
    ],
)
@pytest.mark.parametrize("call", [rr.R_OPEN_QUEUE, rr.R_OPEN_QUEUE_FOR_MOVE])
def test_a_name_that_cannot_be_read_remotely_is_an_invalid_parameter(
    call: Call, queue_format: QueueFormat
) -> None:
    reader = RemoteCase().reader()
    request = open_request(p_queue_format=queue_format)
    assert reader.fault(call, request) == Hresult.MQ_ERROR_INVALID_PARAMETER


@pytest.mark.spec("MQRR-2.2.3-01")
@pytest.mark.parametrize("kind", [5, 6, 7])
def test_names_of_other_kinds_do_not_belong_here(kind: int) -> None:
    reader = RemoteCase().reader()
    request = open_request(p_queue_format=QueueFormat(kind, guid=QM_GUID, address=1, port=80))
    assert reader.fault(rr.R_OPEN_QUEUE, request) == 0xC00E0006


@pytest.mark.spec("MQRR-2.2.3-02")
@pytest.mark.parametrize("name", ["HTTP://qm/msmq/private$/orders", "HTTPS://qm/msmq/q"])
def test_of_the_direct_names_only_tcp_and_os_can_be_read(name: str) -> None:
    reader = RemoteCase().reader()
    assert reader.fault(rr.R_OPEN_QUEUE, open_request(f"DIRECT={name}")) == 0xC00E0006


@pytest.mark.spec("MQRR-3.1.4.2-08", "MQRR-3.1.4.11-03")
@pytest.mark.parametrize(
    "name",
    [
        r"DIRECT=OS:qm\private$\other",
        r"DIRECT=OS:elsewhere\private$\orders",
        r"DIRECT=TCP:203.0.113.9\private$\orders",
        f"PUBLIC={UUID(int=77)}",
        f"PRIVATE={UUID(int=77)}\\00000001",
        f"PRIVATE={QM_GUID}\\0000ffff",
        f"MACHINE={UUID(int=77)};DEADLETTER",
    ],
)
def test_a_queue_that_is_not_here_is_not_found(name: str) -> None:
    reader = RemoteCase().reader()
    for call in (rr.R_OPEN_QUEUE, rr.R_OPEN_QUEUE_FOR_MOVE):
        assert reader.fault(call, open_request(name)) == Hresult.MQ_ERROR_QUEUE_NOT_FOUND


@pytest.mark.spec("MQRR-3.1.4.2-09")
@pytest.mark.parametrize(
    ("access", "kind"),
    [
        (RECEIVE, QueueAccessType.RECEIVE),
        (PEEK, QueueAccessType.PEEK),
        (0, QueueAccessType.PEEK),
        (2, QueueAccessType.PEEK),
        (MOVE, QueueAccessType.PEEK),
        (RECEIVE | PEEK, QueueAccessType.PEEK),
        (0x81, QueueAccessType.PEEK),
    ],
)
def test_every_access_but_receive_is_peek(access: int, kind: QueueAccessType) -> None:
    case = RemoteCase()
    case.reader().open(access=access)
    assert [each.access for each in case.queue.descriptors.values()] == [kind]


@pytest.mark.spec("MQRR-3.1.4.11-04")
@pytest.mark.parametrize("access", [MOVE, RECEIVE, PEEK, 0])
def test_an_open_for_moves_is_one_whatever_the_access(access: int) -> None:
    case = RemoteCase()
    case.reader().do(rr.R_OPEN_QUEUE_FOR_MOVE, open_request(access=access))
    assert [each.access for each in case.queue.descriptors.values()] == [QueueAccessType.MOVE]


@pytest.mark.spec("MQRR-3.1.4.2-12", "MQRR-3.1.4.2-13", "MQRR-3.1.4.2-14")
@pytest.mark.parametrize("share", [1, 2, 0xFFFFFFFF])
def test_an_exclusive_open_shuts_others_out_until_it_is_closed(share: int) -> None:
    case = RemoteCase()
    first, second = case.reader(), case.reader()
    exclusive = first.open(share=share)
    for request in (open_request(), open_request(share=share)):
        assert second.fault(rr.R_OPEN_QUEUE, request) == Hresult.MQ_ERROR_SHARING_VIOLATION
    assert case.server.associations.handles.count == 1
    assert exclusive.close().result == OK
    shared = second.open()
    assert first.fault(rr.R_OPEN_QUEUE, open_request(share=1)) == 0xC00E0009
    first.open()
    shared.close()


@pytest.mark.spec("MQRR-2.1-05", "MQRR-3.1.4.2-14")
def test_the_caller_needs_the_right() -> None:
    case = RemoteCase()
    bob = case.reader(name="bob")
    for access in (RECEIVE, PEEK):
        request = open_request(access=access)
        assert bob.fault(rr.R_OPEN_QUEUE, request) == Hresult.MQ_ERROR_ACCESS_DENIED
    assert bob.fault(rr.R_OPEN_QUEUE_FOR_MOVE, open_request()) == Hresult.MQ_ERROR_ACCESS_DENIED
    case.reader(name="alice").open()


@pytest.mark.spec("MQRR-2.1-04", "MQRR-3.1.4.2-27")
def test_everybody_may_bind_and_weak_calls_are_refused() -> None:
    case = RemoteCase()
    for reader in (
        case.reader(name=""),
        case.reader(level=AuthnLevel.CONNECT),
        case.reader(level=AuthnLevel.PKT_INTEGRITY),
    ):
        assert reader.port() == PORT
        assert reader.fault(rr.R_OPEN_QUEUE, open_request()) == RPC_ACCESS_DENIED
    case.reader(level=AuthnLevel.PKT_PRIVACY).open()


def test_every_call_but_that_for_the_port_has_the_least_level() -> None:
    operations = RemoteCase(level=AuthnLevel.PKT_INTEGRITY).remote.interface.operations
    levels = {opnum: served.minimum_level for opnum, served in operations.items()}
    assert levels.pop(0) == AuthnLevel.NONE
    assert set(levels.values()) == {AuthnLevel.PKT_INTEGRITY}


def test_without_a_least_level_a_caller_without_a_name_gets_what_the_queue_grants() -> None:
    case = RemoteCase(level=AuthnLevel.NONE)
    reader = case.reader(name="")
    assert reader.fault(rr.R_OPEN_QUEUE, open_request()) == Hresult.MQ_ERROR_ACCESS_DENIED


@pytest.mark.spec("MQRR-3.1.4.2-17", "MQRR-3.1.4.2-20", "MQRR-3.1.4.2-22")
@pytest.mark.parametrize("routing", [0, 1])
def test_who_the_client_says_it_is_does_not_matter(routing: int) -> None:
    reader = RemoteCase().reader()
    for number, version in ((0, (0, 0, 0)), (1, (5, 2, 3790)), (2, (255, 255, 65535))):
        major, minor, build = version
        request = open_request(
            p_client_id=UUID(int=number),
            f_non_routing_server=routing,
            major=major,
            minor=minor,
            build_number=build,
            f_workgroup=number % 2,
        )
        reader.do(rr.R_OPEN_QUEUE, request)


@pytest.mark.spec("MQRR-3.1.4.11-07")
def test_who_opens_for_moves_does_not_matter_either() -> None:
    reader = RemoteCase().reader()
    for number in range(3):
        request = open_request(
            p_client_id=UUID(int=number), f_non_routing_server=0, major=number, f_workgroup=0
        )
        reader.do(rr.R_OPEN_QUEUE_FOR_MOVE, request)


@pytest.mark.parametrize(
    "name",
    [DIRECT, DIRECT + ";urgent", DIRECT + ";JOURNAL", f"PRIVATE={QM_GUID}\\{{number:08x}}"],
)
def test_a_queue_has_many_names(name: str) -> None:
    case = RemoteCase()
    numbers = case.qm.state.private_numbers
    (number,) = [number for number, queue in numbers.items() if queue is case.queue]
    case.reader().open(name.format(number=number))
    (descriptor,) = case.qm.state.descriptors.values()
    assert descriptor.queue is not None
    assert descriptor.queue.family is case.queue


@pytest.mark.parametrize(
    "name",
    [
        "DIRECT=OS:qm\\SYSTEM$;DEADXACT",
        f"MACHINE={QM_GUID};DEADLETTER",
        f"MACHINE={QM_GUID};JOURNAL",
    ],
)
def test_the_queues_of_the_machine_are_for_its_administrators(name: str) -> None:
    case = RemoteCase()
    assert case.reader().fault(rr.R_OPEN_QUEUE, open_request(name)) == 0xC00E0025
    case.reader(name="root").open(name)


@pytest.mark.spec("MQRR-3.1.4.3-02", "MQRR-3.1.4.3-03", "MQRR-3.1.4.3-06")
def test_a_closed_handle_is_null_and_unknown() -> None:
    case = RemoteCase()
    reader = case.reader()
    _, target = reader.open_for_move(DIRECT + ";sub")
    for opened in (reader.open(), target):
        assert opened.close() == (CONTEXT_HANDLE_NULL, OK)
        with pytest.raises(RpcFault) as caught:
            opened.close()
        assert caught.value.status == NCA_S_FAULT_CONTEXT_MISMATCH
    assert case.server.associations.handles.count == 0
    assert len(case.remote.move_targets) == 0
    assert not case.queue.descriptors


def test_closing_the_null_handle_is_answered() -> None:
    reader = RemoteCase().reader()
    response = reader.do(rr.R_CLOSE_QUEUE, rr.CloseQueueRequest(CONTEXT_HANDLE_NULL))
    assert response == (CONTEXT_HANDLE_NULL, INVALID_HANDLE)


@pytest.mark.spec("MQRR-3.1.4.3-04", "MQRR-3.1.4.3-05")
def test_a_close_ends_reads_and_gives_back_what_was_received() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open()
    case.send(b"first", b"second")
    assert opened.body() == b"first"
    assert opened.body(dw_request_id=2) == b"second"
    opened.cursor()
    waits = opened.begin(dw_request_id=3, ul_timeout=FOR_EVER)
    assert reader.answer(waits) is None
    assert opened.close().result == OK
    assert reader.answer(waits).result == CANCELLED
    assert case.bodies() == [b"first", b"second"]
    assert not case.queue.descriptors
    assert len(case.remote.pending) == 0
    assert (
        opened.on(reader).reader.fault(rr.R_END_RECEIVE, rr.EndReceiveRequest(opened.handle, 2, 1))
        == NCA_S_FAULT_CONTEXT_MISMATCH
    )


def test_handles_of_others_are_refused() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open()
    case.send(b"x")
    group = reader.connection.assoc_group_id
    # Another association, and another caller in the same one.
    for stranger in (case.reader(), case.reader(name="bob", group=group)):
        foreign = opened.on(stranger)
        for call, request in (
            (rr.R_START_RECEIVE, opened.request()),
            (rr.R_CREATE_CURSOR, rr.HandleRequest(opened.handle)),
            (rr.R_CLOSE_CURSOR, rr.CloseCursorRequest(opened.handle, 1)),
            (rr.R_PURGE_QUEUE, rr.HandleRequest(opened.handle)),
            (rr.R_CANCEL_RECEIVE, rr.CancelReceiveRequest(opened.handle, 1)),
            (rr.R_END_RECEIVE, rr.EndReceiveRequest(opened.handle, 1, 1)),
            (rr.R_MOVE_MESSAGE, rr.MoveMessageRequest(opened.handle, 1, 1, bytes(16))),
            (rr.R_CLOSE_QUEUE, rr.CloseQueueRequest(opened.handle)),
        ):
            assert foreign.reader.fault(call, request) == NCA_S_FAULT_CONTEXT_MISMATCH
    assert case.bodies() == [b"x"]
    # The same caller over a second connection of the association.
    assert opened.on(case.reader(group=group)).body() == b"x"


@pytest.mark.spec("MQRR-3.1.4.7-22", "MQRR-3.1.4.10-05", "MQRR-3.1.4.14-06")
def test_an_unknown_handle_reads_moves_and_rejects_nothing() -> None:
    case = RemoteCase()
    case.send(b"x")
    reader = case.reader()
    handle = bytes(4) + b"\7" * 16
    for call, request in (
        (rr.R_START_RECEIVE, rr.StartReceiveRequest(handle, 0, 0, 0, 0, 1, 0, 0)),
        (rr.R_MOVE_MESSAGE, rr.MoveMessageRequest(handle, 1, 1, bytes(16))),
        (
            rr.R_SET_USER_ACKNOWLEDGEMENT_CLASS,
            rr.SetUserAcknowledgementClassRequest(handle, 1, 0xC004),
        ),
    ):
        assert reader.fault(call, request) == NCA_S_FAULT_CONTEXT_MISMATCH
    assert case.bodies() == [b"x"]


@pytest.mark.spec("MQRR-3.1.4.4-03", "MQRR-3.1.4.6-04", "MQRR-3.1.4.8-06")
def test_an_unknown_handle_is_a_fault_in_every_call() -> None:
    case = RemoteCase()
    case.send(b"x")
    reader = case.reader()
    for handle in (CONTEXT_HANDLE_NULL, b"\0" * 4 + b"\7" * 16):
        for call, request in (
            (rr.R_CREATE_CURSOR, rr.HandleRequest(handle)),
            (rr.R_PURGE_QUEUE, rr.HandleRequest(handle)),
            (rr.R_CANCEL_RECEIVE, rr.CancelReceiveRequest(handle, 1)),
            (rr.R_MOVE_MESSAGE, rr.MoveMessageRequest(handle, 1, 1, bytes(16))),
            (
                rr.R_SET_USER_ACKNOWLEDGEMENT_CLASS,
                rr.SetUserAcknowledgementClassRequest(handle, 1, 0),
            ),
        ):
            assert reader.fault(call, request) == NCA_S_FAULT_CONTEXT_MISMATCH
    assert case.bodies() == [b"x"]


def test_an_open_that_gets_no_handle_is_closed_again() -> None:
    case = RemoteCase(rpc=RpcSettings(max_handles=1))
    reader = case.reader()
    reader.open()
    assert reader.fault(rr.R_OPEN_QUEUE, open_request()) == NCA_S_SERVER_TOO_BUSY
    assert reader.fault(rr.R_OPEN_QUEUE_FOR_MOVE, open_request()) == NCA_S_SERVER_TOO_BUSY
    assert len(case.queue.descriptors) == 1
    assert len(case.remote.move_targets) == 0


@pytest.mark.spec("MQRR-3.1.6.1-01", "MQRR-3.1.6.2-01", "MQRR-3.1.6.2-02")
def test_a_client_that_is_gone_gives_everything_back_once_and_in_place() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open(share=1)
    case.send(b"1", b"2", b"3")
    assert opened.body() == b"1"
    assert opened.body(dw_request_id=2) == b"2"
    cursor = opened.cursor()
    assert opened.body(0x80000000, h_cursor=cursor) == b"3"
    reader.link.lose()
    assert case.bodies() == [b"1", b"2", b"3"]
    assert len(case.remote.pending) == 0
    assert not case.queue.descriptors
    other = case.reader().open(share=1)
    case.advance(1000)
    assert case.bodies() == [b"1", b"2", b"3"]
    assert other.body() == b"1"


def test_a_client_that_is_gone_while_it_waits_leaves_no_read_behind() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open()
    opened.begin(ul_timeout=FOR_EVER)
    opened.begin(0x80000000, ul_timeout=FOR_EVER, dw_request_id=2)
    assert len(case.queue.waiting) == 2
    reader.link.lose()
    assert not case.queue.waiting
    case.send(b"x")
    assert case.bodies() == [b"x"]


def test_handles_live_as_long_as_one_connection_of_the_association() -> None:
    case = RemoteCase()
    first = case.reader()
    opened = first.open()
    second = case.reader(group=first.connection.assoc_group_id)
    case.send(b"x", b"y")
    assert opened.body() == b"x"
    opened.begin(ul_timeout=FOR_EVER, dw_request_id=3, lookup_id=0)
    first.link.lose()
    assert opened.on(second).end() == OK
    second.link.lose()
    assert case.bodies() == [b"y"]


def test_a_queue_that_is_deleted_is_not_available() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open()
    cursor = opened.cursor()
    case.send(b"x")
    opened.body()
    waits = opened.begin(ul_timeout=FOR_EVER, dw_request_id=2)
    case.qm.delete_queue(case.queue, caller=USER)
    assert reader.answer(waits).result == NOT_AVAILABLE
    assert opened.failure(dw_request_id=3) == NOT_AVAILABLE
    assert opened.failure(0x80000001, h_cursor=cursor) == NOT_AVAILABLE
    assert opened.purge() == NOT_AVAILABLE
    assert opened.cancel(2) == STATUS_NOT_FOUND
    assert opened.end() == NOT_FOUND
    response = reader.do(rr.R_CREATE_CURSOR, rr.HandleRequest(opened.handle))
    assert response == (0, NOT_AVAILABLE)
    assert opened.close().result == OK


def test_a_message_of_a_deleted_queue_is_not_given_back() -> None:
    case = RemoteCase()
    opened = case.reader().open()
    case.send(b"x")
    opened.body()
    case.qm.delete_queue(case.queue, caller=USER)
    case.advance(1000)
    assert len(case.remote.pending) == 0


def test_a_message_for_a_handle_that_is_closed_in_the_same_turn_stays() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open()
    waits = opened.begin(ul_timeout=FOR_EVER)
    case.core.send(b"x")
    # The cancel comes too late, the close does not: both in one turn, with the message.
    cancel = rr.CancelReceiveRequest(opened.handle, 1)
    reader.connection.call(REMOTE_READ, rr.R_CANCEL_RECEIVE, cancel)
    close = reader.begin(rr.R_CLOSE_QUEUE, rr.CloseQueueRequest(opened.handle))
    assert reader.answer(close).result == OK
    assert reader.answer(waits).result == CANCELLED
    assert case.bodies() == [b"x"]
    assert len(case.remote.pending) == 0


def test_a_message_for_a_client_that_is_gone_in_the_same_turn_stays() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open()
    second = case.reader(group=reader.connection.assoc_group_id)
    opened.begin(ul_timeout=FOR_EVER)
    case.core.send(b"x")
    # The read is over when the connection goes, but the handle is not.
    reader.link.lose()
    assert case.bodies() == [b"x"]
    assert opened.on(second).body() == b"x"
    second.link.lose()
    assert case.bodies() == [b"x"]
