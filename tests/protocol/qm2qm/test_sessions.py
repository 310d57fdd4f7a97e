"""Queues opened by qmcomm, sessions of qm2qm that claim them, and how both end."""

from itertools import count
from typing import NamedTuple

import pytest
from tests.protocol.qm2qm.harness import (
    FOR_EVER,
    NAME,
    NEW,
    OLD,
    PEEK_CURRENT,
    QM2QM_PORT,
    RPC_PORT,
    Reader,
    World,
)
from tests.protocol.rpc.harness import OTHER_HOST

from openmsmq.core.model.open_queue import RemoteReadState
from openmsmq.protocol.rpc import RpcSettings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_SHARING_VIOLATION
from openmsmq.wire.codes.queue_enums import AccessMode
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, U32, Call, Stub
from openmsmq.wire.remote_read.queue_format import QueueFormat, QueueFormatType
from openmsmq.wire.rpc.status import (
    NCA_S_FAULT_CONTEXT_MISMATCH,
    NCA_S_OP_RNG_ERROR,
    NCA_S_SERVER_TOO_BUSY,
    RPC_ACCESS_DENIED,
    RPC_X_BAD_STUB_DATA,
    AuthnLevel,
)
from openmsmq.wire.rpc_interfaces import qm2qm, qmcomm
from openmsmq.wire.rpc_interfaces.common import NO_PARAMETERS, NoParameters
from openmsmq.wire.scalars import GUID_NULL

INVALID_HANDLE = int(Hresult.MQ_ERROR_INVALID_HANDLE)
INVALID_PARAMETER = int(Hresult.MQ_ERROR_INVALID_PARAMETER)
DENIED = int(Hresult.MQ_ERROR_ACCESS_DENIED)
TRANSACTION_SEQUENCE = int(Hresult.MQ_ERROR_TRANSACTION_SEQUENCE)


class One(NamedTuple):
    a: int


class Eight(NamedTuple):
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int
    h: int


def states(world: World) -> list[RemoteReadState]:
    return [each.remote_read_state for each in world.core.qm.state.descriptors.values()]


# qmcomm


@pytest.mark.spec("MQQP-1.4-01", "MQQP-2.1-06")
def test_an_opened_queue_has_one_number_that_is_not_zero(world: World, reader: Reader) -> None:
    opened = reader.open_remote()
    assert opened.result == 0
    assert opened.pdw_context == opened.dwp_queue == opened.ph_queue != 0
    assert opened.pph_context != CONTEXT_HANDLE_NULL
    assert len(world.queues) == 1


def test_numbers_are_never_zero_and_never_shared(world: World, reader: Reader) -> None:
    world.tokens = iter((0, 5, 5, 0, 6))
    assert reader.open_remote().dwp_queue == 5
    assert reader.open_remote().dwp_queue == 6


@pytest.mark.parametrize(
    ("name", "access", "share"),
    [
        (None, 1, 0),
        (NAME, 2, 0),
        (NAME, 0, 0),
        (NAME, 1, 2),
        (QueueFormat(QueueFormatType.MULTICAST, address=0x010101EA, port=8001), 1, 0),
        (QueueFormat(QueueFormatType.DL), 1, 0),
        (QueueFormat(QueueFormatType.DIRECT, text="http://qm/msmq/private$/orders"), 1, 0),
    ],
)
def test_what_remote_readers_cannot_open_is_refused(
    world: World, reader: Reader, name: QueueFormat | None, access: int, share: int
) -> None:
    opened = reader.open_remote(name=name, access=access, share=share)
    assert opened == (CONTEXT_HANDLE_NULL, 0, 0, 0, INVALID_PARAMETER)
    assert len(world.queues) == 0


def test_a_queue_that_is_not_there_is_not_opened(reader: Reader) -> None:
    name = QueueFormat(QueueFormatType.DIRECT, text=r"OS:QM\private$\missing")
    assert reader.open_remote(name=name).result == Hresult.MQ_ERROR_QUEUE_NOT_FOUND


def test_a_sharing_conflict_has_the_code_of_the_system(world: World, reader: Reader) -> None:
    assert reader.open_remote(share=1).result == 0
    assert reader.open_remote().result == STATUS_SHARING_VIOLATION
    assert len(world.queues) == 1


@pytest.mark.spec("MQQP-5-04")
def test_the_right_to_read_is_asked_for_when_the_queue_is_opened(world: World) -> None:
    assert world.client("bob").open_remote().result == DENIED


def test_a_queue_whose_handle_cannot_be_kept_is_closed_again() -> None:
    world = World(rpc=RpcSettings(max_handles=0))
    assert (
        world.client().fault(qmcomm.R_QM_OPEN_REMOTE_QUEUE, NAME, 0, 1, 0, GUID_NULL, 0)
        == NCA_S_SERVER_TOO_BUSY
    )
    assert len(world.queues) == 0


def test_closing_the_context_closes_a_queue_that_no_session_has(
    world: World, reader: Reader
) -> None:
    opened = reader.open_remote()
    assert reader.close_remote(opened.pph_context) == CONTEXT_HANDLE_NULL
    assert len(world.queues) == 0
    assert reader.claim(opened.dwp_queue).result == INVALID_PARAMETER


def test_a_null_context_cannot_be_closed(reader: Reader) -> None:
    status = reader.fault(qmcomm.R_QM_CLOSE_REMOTE_QUEUE_CONTEXT, CONTEXT_HANDLE_NULL)
    assert status == INVALID_HANDLE


def test_closing_the_context_leaves_a_claimed_queue_to_its_session(
    world: World, reader: Reader
) -> None:
    world.core.send(b"first")
    opened = reader.open_remote()
    assert reader.claim(opened.dwp_queue).result == 0
    reader.close_remote(opened.pph_context)
    assert reader.read(opened.dwp_queue, PEEK_CURRENT).body == b"first"


def test_the_name_of_a_remote_queue_is_not_told(reader: Reader) -> None:
    status = reader.fault(qmcomm.R_QM_GET_REMOTE_QUEUE_NAME)
    assert status == Hresult.MQ_ERROR_ILLEGAL_OPERATION


@pytest.mark.parametrize(
    ("port_type", "port"), [(0, RPC_PORT), (1, QM2QM_PORT), (2, 0), (3, 0), (4, 0), (0xFFFF, 0)]
)
def test_qmcomm_tells_the_ports(reader: Reader, port_type: int, port: int) -> None:
    assert reader.ask(qmcomm.R_QM_GET_RTQM_SERVER_PORT, port_type).result == port


# Sessions


@pytest.mark.spec("MQQP-3.1.4.3-01", "MQQP-3.1.4.3-11", "MQQP-2.2.1.1-01")
def test_a_session_claims_a_queue_from_another_machine(world: World) -> None:
    world.core.send(b"first")
    opened = world.client().open_remote()
    assert states(world) == [RemoteReadState.OPENED]
    supporter = world.client("bob", address=OTHER_HOST)
    claimed = supporter.claim(opened.dwp_queue)
    assert claimed.result == 0
    assert claimed.ph_context != CONTEXT_HANDLE_NULL
    assert states(world) == [RemoteReadState.READY_FOR_READ]
    assert supporter.read(opened.dwp_queue, PEEK_CURRENT).body == b"first"


@pytest.mark.spec("MQQP-3.1.4.3-05", "MQQP-3.1.4.3-06", "MQQP-5-04")
@pytest.mark.parametrize("change", [(0, 0), (1, 0), (0, 1), (2, 1)])
def test_a_number_that_qmcomm_did_not_give_out_opens_nothing(
    world: World, reader: Reader, change: tuple[int, int]
) -> None:
    world.tokens = count(1)
    number = reader.open_remote().dwp_queue
    queue, context = (number if each == 1 else each and 99 for each in change)
    claimed = reader.claim(queue, context=context)
    assert claimed == (CONTEXT_HANDLE_NULL, INVALID_PARAMETER)


def test_a_queue_is_claimed_once(reader: Reader) -> None:
    number, _ = reader.session()
    assert reader.claim(number).result == INVALID_PARAMETER


@pytest.mark.spec("MQQP-3.1.4.3-08", "MQQP-3.1.4.3-09", "MQQP-3.1.4.3-12")
def test_two_sessions_have_two_handles_and_h_queue_is_ignored(reader: Reader) -> None:
    first = reader.claim(reader.open_remote().dwp_queue, h_queue=77)
    second = reader.claim(reader.open_remote().dwp_queue, h_queue=77)
    assert first.result == second.result == 0
    assert first.ph_context != second.ph_context


@pytest.mark.spec("MQQP-3.1.4.3-02")
def test_dw_mqs_beyond_16_is_a_bad_stub(reader: Reader) -> None:
    number = reader.open_remote().dwp_queue
    unchecked = Call(2, "open", Stub(Eight, *[U32] * 8), NO_PARAMETERS)
    assert (
        reader.fault_of(unchecked, Eight(0, 0, 0, 0, 17, 0, number, number)) == RPC_X_BAD_STUB_DATA
    )


def test_a_session_whose_handle_cannot_be_kept_claims_nothing() -> None:
    world = World(rpc=RpcSettings(max_handles=1))
    reader = world.client()
    number = reader.open_remote().dwp_queue
    status = reader.fault(qm2qm.REMOTE_QM_OPEN_QUEUE, GUID_NULL, 0, 0, number, number)
    assert status == NCA_S_SERVER_TOO_BUSY
    assert world.client(address=OTHER_HOST).claim(number).result == 0


@pytest.mark.spec("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-03", "MQQP-3.1.4.4-06")
def test_a_closed_session_reads_no_more(world: World, reader: Reader) -> None:
    world.core.send(b"first")
    number, session = reader.session()
    assert reader.close(session) == 0
    assert reader.read(number, PEEK_CURRENT, call=OLD).result == INVALID_PARAMETER
    assert reader.read(number, PEEK_CURRENT, call=NEW).result == INVALID_PARAMETER
    assert reader.look_up(number, 0x40000011, 0).result == INVALID_PARAMETER
    assert reader.fault(qm2qm.REMOTE_QM_PURGE_QUEUE, number) == INVALID_HANDLE
    assert world.core.contents() == [b"first"]


@pytest.mark.spec("MQQP-3.1.4.4-04", "MQQP-3.1.4.4-05")
def test_closing_a_session_cancels_its_reads_and_closes_the_queue(
    world: World, reader: Reader
) -> None:
    opened = reader.open_remote()
    session = reader.claim(opened.dwp_queue).ph_context
    waiting = [
        reader.start(opened.dwp_queue, call=call, timeout=FOR_EVER, request_id=call.opnum)
        for call in (OLD, NEW)
    ]
    assert reader.close(session) == 0
    for each in waiting:
        outcome = reader.outcome(each)
        assert outcome is not None
        assert outcome.result == 0x400E03E9
        assert outcome.handle == CONTEXT_HANDLE_NULL
    assert len(world.queues) == 0
    assert not world.core.qm.state.descriptors
    assert reader.create_cursor(opened.dwp_queue).result == INVALID_HANDLE
    # The handle of qmcomm stands for nothing now.
    assert reader.close_remote(opened.pph_context) == CONTEXT_HANDLE_NULL


@pytest.mark.spec("MQQP-3.1.4.4-02")
def test_a_null_session_cannot_be_closed(reader: Reader) -> None:
    assert reader.close(CONTEXT_HANDLE_NULL) == INVALID_HANDLE


def test_handles_of_sessions_and_of_reads_are_not_mixed_up(world: World, reader: Reader) -> None:
    world.core.send(b"first")
    number, session = reader.session()
    read = reader.read(number)
    mismatch = NCA_S_FAULT_CONTEXT_MISMATCH
    assert reader.fault(qm2qm.REMOTE_QM_CLOSE_QUEUE, read.handle) == mismatch
    assert reader.fault(qm2qm.REMOTE_QM_END_RECEIVE, session, 2) == mismatch
    assert reader.fault(qmcomm.R_QM_CLOSE_REMOTE_QUEUE_CONTEXT, session) == mismatch
    assert reader.end(read.handle) == 0
    assert reader.close(session) == 0


# Who may use a number


@pytest.mark.spec("MQQP-5-04")
def test_a_number_of_somebody_else_gives_no_access(world: World, reader: Reader) -> None:
    world.core.send(b"first")
    number, _ = reader.session()
    cursor = reader.create_cursor(number).ph_cursor
    waiting = reader.start(number, PEEK_CURRENT, cursor=0, timeout=FOR_EVER, request_id=1)
    assert reader.outcome(waiting) is not None
    other = world.client("bob")
    assert other.read(number).result == INVALID_PARAMETER
    assert other.look_up(number, 0x40000021, 0).result == INVALID_PARAMETER
    assert other.cancel(number) == INVALID_HANDLE
    assert other.fault(qm2qm.REMOTE_QM_PURGE_QUEUE, number) == INVALID_HANDLE
    assert other.create_cursor(number).result == INVALID_HANDLE
    assert other.ask(qm2qm.REMOTE_QM_CLOSE_CURSOR, number, cursor).result == INVALID_HANDLE
    assert world.core.contents() == [b"first"]


def test_the_reader_of_a_session_may_open_cursors_as_its_opener_may(world: World) -> None:
    opener, supporter = world.client(), world.client("bob")
    number = opener.open_remote().dwp_queue
    assert supporter.create_cursor(number).result == INVALID_HANDLE
    assert opener.create_cursor(number).result == 0
    supporter.claim(number)
    assert supporter.create_cursor(number).result == 0
    assert opener.create_cursor(number).result == 0
    assert opener.read(number).result == INVALID_PARAMETER


# The ends of connections


def test_an_unclaimed_queue_dies_with_the_connection_that_opened_it(world: World) -> None:
    opener, supporter = world.client(), world.client(address=OTHER_HOST)
    number = opener.open_remote().dwp_queue
    opener.lose()
    assert len(world.queues) == 0
    assert supporter.claim(number).result == INVALID_PARAMETER


def test_a_claimed_queue_outlives_the_connection_that_opened_it(world: World) -> None:
    world.core.send(b"first")
    opener, supporter = world.client(), world.client(address=OTHER_HOST)
    number = opener.open_remote().dwp_queue
    session = supporter.claim(number).ph_context
    opener.lose()
    assert supporter.read(number, PEEK_CURRENT).body == b"first"
    assert supporter.close(session) == 0
    assert not world.core.qm.state.descriptors


@pytest.mark.spec("MQQP-3.1.6.1-01")
def test_a_lost_connection_closes_its_session(world: World) -> None:
    opener, supporter = world.client(), world.client(address=OTHER_HOST)
    opened = opener.open_remote()
    supporter.claim(opened.dwp_queue)
    supporter.start(opened.dwp_queue, timeout=FOR_EVER)
    supporter.lose()
    assert len(world.queues) == 0
    assert not world.core.qm.state.descriptors
    world.core.send(b"first")
    world.turn()
    assert world.core.contents() == [b"first"]
    opener.lose()


@pytest.mark.spec("MQQP-3.1.6.2-01")
def test_a_lost_connection_gives_back_what_it_received(world: World) -> None:
    world.core.send(b"first", b"second")
    opener, supporter = world.client(), world.client(address=OTHER_HOST)
    number, _ = opener.session()
    # The same user from another association: only the handle of the read is lost with it.
    assert supporter.read(number).body == b"first"
    assert world.core.contents() == [b"second"]
    supporter.lose()
    assert world.core.contents() == [b"first", b"second"]
    assert opener.read(number).body == b"first"


@pytest.mark.spec("MQQP-3.1.6.2-02")
@pytest.mark.parametrize("session_first", [False, True])
def test_both_handles_run_down_in_either_order(world: World, *, session_first: bool) -> None:
    world.core.send(b"first", b"second")
    owner, other = world.client(), world.client(address=OTHER_HOST)
    number, _ = owner.session()
    assert other.read(number).body == b"first"
    for each in (owner, other) if session_first else (other, owner):
        each.lose()
    assert world.core.contents() == [b"first", b"second"]
    assert not world.core.qm.state.descriptors


def test_a_receive_cannot_be_ended_once_its_session_is_closed(world: World, reader: Reader) -> None:
    world.core.send(b"first")
    number, session = reader.session()
    read = reader.read(number)
    reader.close(session)
    assert reader.end(read.handle) == TRANSACTION_SEQUENCE
    assert world.core.contents() == [b"first"]


# Authentication


@pytest.mark.spec("MQQP-5-02")
@pytest.mark.parametrize("weak", [("", AuthnLevel.NONE), ("alice", AuthnLevel.PKT_INTEGRITY)])
def test_weak_callers_are_refused_with_a_result(
    world: World, reader: Reader, weak: tuple[str, AuthnLevel]
) -> None:
    number, _ = reader.session()
    name, level = weak
    caller = world.client(name, level=level)
    assert caller.read(number, call=OLD).result == DENIED
    assert caller.read(number, call=NEW).result == DENIED
    assert caller.look_up(number, 0x40000011, 0).result == DENIED
    assert caller.claim(number).result == DENIED
    assert caller.close(CONTEXT_HANDLE_NULL) == DENIED
    assert caller.end(CONTEXT_HANDLE_NULL) == DENIED
    assert caller.cancel(number) == DENIED
    assert caller.ask(qm2qm.REMOTE_QM_CLOSE_CURSOR, number, 1).result == DENIED
    assert caller.fault(qm2qm.REMOTE_QM_PURGE_QUEUE, number) == DENIED
    assert caller.fault(qm2qm.REMOTE_QM_GET_VERSION) == DENIED


@pytest.mark.spec("MQQP-5-03", "MQQP-3.1.4.8-01")
def test_ports_are_told_to_everybody(world: World) -> None:
    caller = world.client("", level=AuthnLevel.NONE)
    assert caller.ask(qm2qm.REMOTE_QM_GET_QMQM_SERVER_PORT, 1).result == QM2QM_PORT
    assert caller.ask(qmcomm.R_QM_GET_RTQM_SERVER_PORT, 0).result == RPC_PORT


@pytest.mark.parametrize("call", [qmcomm.R_QM_OPEN_REMOTE_QUEUE, qmcomm.R_QM_GET_REMOTE_QUEUE_NAME])
def test_qmcomm_faults_weak_callers(world: World, call: Call) -> None:
    caller = world.client("", level=AuthnLevel.NONE)
    request = (NAME, 0, 1, 0, GUID_NULL, 0) if call.opnum == 2 else ()
    assert caller.fault(call, *request) == RPC_ACCESS_DENIED


@pytest.mark.spec("MQQP-5-01")
def test_a_server_may_serve_callers_without_authentication() -> None:
    world = World(level=AuthnLevel.NONE)
    caller = world.client("", level=AuthnLevel.NONE)
    assert caller.ask(qm2qm.REMOTE_QM_GET_VERSION) == (6, 1, 6531)
    # It is Anonymous Logon, to which this queue grants nothing.
    assert caller.open_remote(access=AccessMode.PEEK).result == DENIED


# Ports and versions


@pytest.mark.spec("MQQP-3.1.4.8-02", "MQQP-3.1.4.8-03", "MQQP-3.1.4.8-04")
@pytest.mark.parametrize(("port_type", "port"), [(0, RPC_PORT), (1, QM2QM_PORT), (2, 0), (3, 0)])
def test_qm2qm_tells_the_ports(reader: Reader, port_type: int, port: int) -> None:
    assert reader.ask(qm2qm.REMOTE_QM_GET_QMQM_SERVER_PORT, port_type).result == port


@pytest.mark.spec("MQQP-3.1.4.8-05")
def test_a_port_type_beyond_3_is_a_bad_stub(reader: Reader) -> None:
    unchecked = Call(7, "port", Stub(One, U32), NO_PARAMETERS)
    assert reader.fault_of(unchecked, One(4)) == RPC_X_BAD_STUB_DATA


@pytest.mark.spec("MQQP-3.1.4.9-01", "MQQP-3.1.4.9-02", "MQQP-3.1.4.9-03")
def test_the_version_is_that_of_windows_7_and_later(reader: Reader) -> None:
    version = reader.ask(qm2qm.REMOTE_QM_GET_VERSION)
    assert version[:2] == (6, 1)
    assert version.p_build_number >= 6531


@pytest.mark.spec("MQQP-3.1.4-02", "MQQP-1.7-01")
def test_there_is_no_opnum_11(reader: Reader) -> None:
    missing = Call(11, "missing", NO_PARAMETERS, NO_PARAMETERS)
    assert reader.fault_of(missing, NoParameters()) == NCA_S_OP_RNG_ERROR
