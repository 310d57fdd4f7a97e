"""RemoteRead as an RPC interface: binds, transfer syntaxes, context handles and levels."""

import struct
from itertools import count
from uuid import UUID

import pytest
from tests.core.harness import USER
from tests.protocol.remote_read.harness import (
    ACCESS_DENIED,
    CANCELLED,
    DIRECT,
    FOR_EVER,
    OK,
    PEEK,
    RECEIVE,
    Opened,
    Reader,
    RemoteCase,
    open_request,
)
from tests.protocol.rpc.harness import NDR_ID, PORT, element
from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext

from openmsmq.core.queues.permissions import change_queue_permissions
from openmsmq.protocol.qm2qm.server import OpenedQueues, QmcommServer
from openmsmq.protocol.qm2qm.server.ports import Ports
from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.protocol.rpc import ClientConnection, ClientSecurity, RpcFault, endpoint
from openmsmq.protocol.rpc.client.settings import ClientSettings
from openmsmq.security.permissions import PermissionChange
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.endpoints import QMCOMM, REMOTE_READ
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, NDR, NDR64, Call
from openmsmq.wire.ndr.syntax import TransferSyntax
from openmsmq.wire.rpc.bind import BindAck
from openmsmq.wire.rpc.status import NCA_S_FAULT_CONTEXT_MISMATCH, RPC_ACCESS_DENIED, AuthnLevel
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc_interfaces import qmcomm
from openmsmq.wire.rpc_interfaces import remote_read as rr
from openmsmq.wire.scalars import GUID_NULL
from openmsmq.wire.security.sid import ANONYMOUS

THIS = UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28")
PRIVACY = AuthnLevel.PKT_PRIVACY


# Binds


@pytest.mark.spec("MQRR-1.9-01")
@pytest.mark.parametrize(
    ("uuid", "version", "result"),
    [
        (THIS, 1, (0, 0)),
        (THIS, 0, (2, 1)),
        (THIS, 2, (2, 1)),
        (THIS, 1 | 1 << 16, (2, 1)),
        (UUID(int=THIS.int + 1), 1, (2, 1)),
    ],
)
def test_the_interface_has_one_uuid_and_one_version(
    uuid: UUID, version: int, result: tuple[int, int]
) -> None:
    (pdu,) = RemoteCase().link().bind(element(0, SyntaxId.of(uuid, version), NDR_ID))
    (answer,) = BindAck.parse(pdu, 16)[0].p_result_list
    assert (answer.result, answer.reason) == result


@pytest.mark.spec("MQRR-1.9-01")
def test_a_client_asks_for_the_uuid_and_the_version() -> None:
    (bind,) = ClientConnection((REMOTE_READ,)).data_to_send()
    assert THIS.bytes_le + struct.pack("<HH", 1, 0) in bind


@pytest.mark.spec("MQRR-2.2-01")
@pytest.mark.parametrize("syntaxes", [(NDR,), (NDR64,), (NDR64, NDR)])
def test_a_queue_is_read_in_either_transfer_syntax(syntaxes: tuple[TransferSyntax, ...]) -> None:
    case = RemoteCase()
    case.send(b"first")
    security = ClientSecurity(AUTH_TYPE, PRIVACY, lambda: FakeContext("alice"))
    settings = ClientSettings(transfer_syntaxes=syntaxes)
    connection = ClientConnection((REMOTE_READ,), security=security, settings=settings)
    opened = Reader(case, case.link(), connection).open()
    assert opened.body() == b"first"
    assert opened.end() == OK
    assert case.bodies() == []


# Context handles


class Both(Reader):
    """A client of RemoteRead and of qmcomm over one connection."""

    def __init__(self, case: RemoteCase) -> None:
        numbers = count(1)
        queues = OpenedQueues(
            case.qm,
            RemoteReadSettings(),
            random_bytes=lambda size: next(numbers).to_bytes(size, "little"),
        )
        ports = Ports(rpc=lambda: PORT, qm2qm=lambda: 0)
        other = QmcommServer(case.qm, queues, ports=ports, minimum_level=PRIVACY)
        case.endpoint = endpoint(PORT, (case.remote.interface, other.interface))
        security = ClientSecurity(AUTH_TYPE, PRIVACY, lambda: FakeContext("alice"))
        connection = ClientConnection((REMOTE_READ, QMCOMM), security=security)
        super().__init__(case, case.link(), connection)

    def open_by_qmcomm(self) -> bytes:
        name = open_request().p_queue_format
        request = qmcomm.QMOpenRemoteQueueRequest(name, 1, RECEIVE, 0, GUID_NULL, 0)
        call = self.connection.call(QMCOMM, qmcomm.R_QM_OPEN_REMOTE_QUEUE, request)
        handle: bytes = self.answer(call).pph_context
        return handle

    def close_by_qmcomm(self, handle: bytes) -> bytes:
        request = qmcomm.QMCloseRemoteQueueContext(handle)
        call = self.connection.call(QMCOMM, qmcomm.R_QM_CLOSE_REMOTE_QUEUE_CONTEXT, request)
        closed: bytes = self.answer(call).pph_context
        return closed


@pytest.mark.spec("MQRR-2.2.4.1-02")
def test_a_handle_is_of_one_interface_and_of_any_of_its_types() -> None:
    case = RemoteCase()
    client = Both(case)
    foreign, own = client.open_by_qmcomm(), client.open()
    mismatch = NCA_S_FAULT_CONTEXT_MISMATCH
    assert client.fault(rr.R_CREATE_CURSOR, rr.HandleRequest(foreign)) == mismatch
    assert client.fault(rr.R_CLOSE_QUEUE, rr.CloseQueueRequest(foreign)) == mismatch
    with pytest.raises(RpcFault) as caught:
        client.close_by_qmcomm(own.handle)
    assert caught.value.status == mismatch
    # R_CloseQueue has the serialized type, the others have the other one; so have both opens.
    _, target = client.open_for_move(DIRECT)
    for opened in (own, target):
        assert client.result(rr.R_CREATE_CURSOR, rr.HandleRequest(opened.handle)) == OK
        assert opened.close().result == OK
    assert client.close_by_qmcomm(foreign) == CONTEXT_HANDLE_NULL


@pytest.mark.spec("MQRR-2.2.4.2-01")
def test_of_closes_at_the_same_time_one_runs() -> None:
    case = RemoteCase()
    reader = case.reader()
    opened = reader.open()
    request = rr.CloseQueueRequest(opened.handle)
    waits = opened.begin(ul_timeout=FOR_EVER)
    # All in one turn, before the first is answered.
    closes = [reader.connection.call(REMOTE_READ, rr.R_CLOSE_QUEUE, request) for _ in range(3)]
    late = reader.connection.call(REMOTE_READ, rr.R_CREATE_CURSOR, rr.HandleRequest(opened.handle))
    assert reader.answer(closes[0]) == (CONTEXT_HANDLE_NULL, OK)
    assert reader.answer(waits).result == CANCELLED
    for call in (*closes[1:], late):
        with pytest.raises(RpcFault) as caught:
            reader.answer(call)
        assert caught.value.status == NCA_S_FAULT_CONTEXT_MISMATCH
    assert not case.queue.descriptors


@pytest.mark.spec("MQRR-2.2.4.2-01")
def test_a_purge_under_way_ends_with_the_handle() -> None:
    case = RemoteCase(RemoteReadSettings(purge_step=1))
    reader = case.reader()
    case.send(b"1", b"2", b"3")
    opened = reader.open()
    purge = reader.begin(rr.R_PURGE_QUEUE, rr.HandleRequest(opened.handle))
    assert reader.answer(purge) is None
    assert opened.close().result == OK
    case.advance(0)
    assert reader.answer(purge).result == Hresult.MQ_ERROR_INVALID_HANDLE
    left = case.bodies()
    case.advance(1)
    assert case.bodies() == left == [b"2", b"3"]


@pytest.mark.spec("MQRR-3.1.4.2-18")
def test_there_is_no_limit_of_client_identifiers() -> None:
    reader = RemoteCase().reader()
    handles = {
        reader.do(rr.R_OPEN_QUEUE, open_request(p_client_id=UUID(int=number))).pph_context
        for number in range(300)
    }
    assert len(handles) == 300


# Levels


@pytest.mark.spec("MQRR-3.1.4.2-24", "MQRR-5.1-01")
@pytest.mark.parametrize("workgroup", [0, 1])
@pytest.mark.parametrize("call", [rr.R_OPEN_QUEUE, rr.R_OPEN_QUEUE_FOR_MOVE])
def test_privacy_is_the_least_level_for_members_of_workgroups_and_of_domains(
    call: Call, workgroup: int
) -> None:
    case = RemoteCase()
    request = open_request(f_workgroup=workgroup)
    for reader in (case.reader(name=""), case.reader(level=AuthnLevel.PKT_INTEGRITY)):
        assert reader.fault(call, request) == RPC_ACCESS_DENIED
    assert case.reader().do(call, request).pph_context != CONTEXT_HANDLE_NULL


def granted(case: RemoteCase, right: QueueRight) -> None:
    change_queue_permissions(
        case.qm.state, case.queue, PermissionChange.GRANT, ANONYMOUS, right, caller=USER
    )


@pytest.mark.spec("MQRR-3.1.4.2-25", "MQRR-3.1.4.2-26")
@pytest.mark.parametrize("workgroup", [0, 1])
def test_a_server_that_takes_level_none_lets_anonymous_logon_do_what_it_may(
    workgroup: int,
) -> None:
    case = RemoteCase(level=AuthnLevel.NONE)
    case.send(b"first")
    reader = case.reader(name="")
    peek, receive = (
        open_request(access=access, f_workgroup=workgroup) for access in (PEEK, RECEIVE)
    )
    assert reader.fault(rr.R_OPEN_QUEUE, peek) == ACCESS_DENIED
    granted(case, QueueRight.PEEK_MESSAGE)
    opened = Opened(reader, reader.do(rr.R_OPEN_QUEUE, peek).pph_context)
    assert opened.body(0x80000000) == b"first"
    assert reader.fault(rr.R_OPEN_QUEUE, receive) == ACCESS_DENIED
    granted(case, QueueRight.RECEIVE_MESSAGE)
    opened = Opened(reader, reader.do(rr.R_OPEN_QUEUE, receive).pph_context)
    assert opened.body() == b"first"
