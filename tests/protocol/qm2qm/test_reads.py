"""Reads by RemoteQMStartReceive and RemoteQMStartReceive2, their ends and their cancels."""

import pytest
from tests.core.harness import ORDERS, START_UTC, USER
from tests.protocol.qm2qm.harness import (
    FOR_EVER,
    NEW,
    OLD,
    PEEK_CURRENT,
    PEEK_NEXT,
    RECEIVE,
    RR_ACK,
    RR_NACK,
    Reader,
    World,
)

from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.protocol.rpc import RpcSettings
from openmsmq.wire.codes.endpoints import QM2QM
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_PARAMETER, STATUS_NOT_FOUND
from openmsmq.wire.codes.queue_enums import AccessMode
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, Call
from openmsmq.wire.rpc.status import NCA_S_FAULT_CONTEXT_MISMATCH, NCA_S_SERVER_TOO_BUSY
from openmsmq.wire.rpc_interfaces import qm2qm

INVALID_HANDLE = int(Hresult.MQ_ERROR_INVALID_HANDLE)
INVALID_PARAMETER = int(Hresult.MQ_ERROR_INVALID_PARAMETER)
TIMEOUT = int(Hresult.MQ_ERROR_IO_TIMEOUT)
CANCELLED = 0x400E03E9
BOTH = pytest.mark.parametrize("call", [OLD, NEW], ids=lambda call: call.name)


# Receives and peeks


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-04", "MQQP-3.1.4.1-11", "MQQP-3.1.4.1-33")
def test_a_receive_locks_the_first_message_until_it_is_ended(
    world: World, reader: Reader, call: Call
) -> None:
    world.core.send(b"first", b"second")
    number, _ = reader.session()
    read = reader.read(number, call=call)
    assert read.body == b"first"
    assert read.handle != CONTEXT_HANDLE_NULL
    assert world.core.contents() == [b"second"]
    world.advance(86400.0)
    assert world.core.contents() == [b"second"]
    assert reader.end(read.handle) == 0
    assert world.core.drain() == [b"second"]


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-05", "MQQP-3.1.4.1-08", "MQQP-3.1.4.1-13")
def test_a_peek_leaves_the_message_and_has_no_handle(
    world: World, reader: Reader, call: Call
) -> None:
    world.core.send(b"first", b"second")
    number, _ = reader.session(access=AccessMode.PEEK)
    for _ in range(2):
        read = reader.read(number, PEEK_CURRENT, call=call)
        assert read.body == b"first"
        assert read.handle == CONTEXT_HANDLE_NULL
    assert world.core.drain() == [b"first", b"second"]


@pytest.mark.spec("MQQP-3.1.4.1-30")
def test_a_session_that_may_only_peek_receives_nothing(world: World, reader: Reader) -> None:
    world.core.send(b"first")
    number, _ = reader.session(access=AccessMode.PEEK)
    read = reader.read(number)
    assert read.result == Hresult.MQ_ERROR_ACCESS_DENIED
    assert read.handle == CONTEXT_HANDLE_NULL
    assert world.core.contents() == [b"first"]


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-29", "MQQP-2.2.2.1-14", "MQQP-3.1.4.10-11")
def test_the_packet_is_the_user_message_alone(world: World, reader: Reader, call: Call) -> None:
    world.core.send(b"x" * 1001, time_to_reach_queue=500, label="a label")
    number, _ = reader.session()
    read = reader.read(number, PEEK_CURRENT, call=call)
    message = read.packet
    data = bytes(read.desc.lp_buffer)
    assert int.from_bytes(data[8:12], "little") == len(data) == message.end
    assert message.body == b"x" * 1001
    assert message.label == "a label"
    # It stays relative, other than in the answers of RemoteRead.
    assert message.time_to_reach_queue == 500
    assert UserMessage(data).source_queue_manager == world.core.qm.identifier


@BOTH
@pytest.mark.spec("MQQP-2.2.2.1-11", "MQQP-2.2.2.1-12", "MQQP-3.1.4.1-02")
def test_the_answer_repeats_the_request_and_tells_the_arrival(
    world: World, reader: Reader, call: Call
) -> None:
    world.core.send(b"first")
    number, _ = reader.session()
    world.advance(7.0)
    desc = reader.read(number, PEEK_CURRENT, call=call, request_id=5).desc
    assert desc[:6] == (number, 0, PEEK_CURRENT, 0, number, 5)
    assert desc.dw_arrive_time == int(START_UTC)
    assert desc.reserved == 1
    failed = reader.read(number, PEEK_CURRENT, call=call, queue=1).desc
    assert failed == (number, 0, PEEK_CURRENT, 0, 1, 1, 1, 0, 0, None)


@pytest.mark.spec("MQQP-3.1.4.10-04", "MQQP-2.2.2.2-02", "MQQP-3.1.4.10-03")
def test_the_newer_call_tells_the_sequence_of_the_message(world: World, reader: Reader) -> None:
    world.core.send(b"first", priority=6)
    number, _ = reader.session()
    (message,) = world.core.qm.find_queue(ORDERS).lanes
    read = reader.read(number)
    assert message.lookup_id >> 56
    assert read.sequential_id == message.lookup_id & 0x00FFFFFFFFFFFFFF


# Checks


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-19", "MQQP-3.1.4.1-20", "MQQP-3.1.4.10-06")
def test_dw_queue_must_be_the_queue(world: World, reader: Reader, call: Call) -> None:
    world.core.send(b"first")
    number, _ = reader.session()
    assert reader.read(number, call=call, queue=0).result == INVALID_PARAMETER
    assert reader.read(number, call=call, queue=number + 1).result == INVALID_PARAMETER
    assert reader.read(0, call=call).result == INVALID_PARAMETER
    assert world.core.contents() == [b"first"]


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-23", "MQQP-3.1.4.1-31")
def test_a_queue_without_a_session_is_not_read(world: World, reader: Reader, call: Call) -> None:
    world.core.send(b"first")
    number = reader.open_remote().dwp_queue
    assert reader.read(number, call=call).result == INVALID_PARAMETER


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-17")
@pytest.mark.parametrize("action", [0x40000010, 0x40000022, 7])
def test_other_actions_are_refused(world: World, reader: Reader, call: Call, action: int) -> None:
    world.core.send(b"first")
    number, _ = reader.session()
    assert reader.read(number, action, call=call).result == INVALID_PARAMETER


@pytest.mark.spec("MQQP-3.1.4.10-05")
def test_a_missing_description_is_refused(reader: Reader) -> None:
    response = reader.ask(NEW, qm2qm.RemoteReadDesc2(None, 7))
    assert response == (CONTEXT_HANDLE_NULL, (None, 0), INVALID_HANDLE)


@pytest.mark.spec("MQQP-3.1.4.1-25")
def test_the_checks_have_an_order(world: World, reader: Reader) -> None:
    number, _ = reader.session()
    reader.start(number, timeout=FOR_EVER)
    # Running id before PEEK_NEXT without a cursor, before the session, before the cursor.
    assert reader.read(number, PEEK_NEXT).result == INVALID_PARAMETER
    assert reader.read(number, PEEK_NEXT, request_id=2).result == STATUS_INVALID_PARAMETER
    unclaimed = reader.open_remote().dwp_queue
    assert reader.read(unclaimed, PEEK_NEXT).result == STATUS_INVALID_PARAMETER
    assert reader.read(unclaimed, PEEK_NEXT, cursor=9).result == INVALID_PARAMETER
    assert world.core.contents() == []


# Waits


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-10")
def test_an_empty_queue_times_out_at_once_without_a_timeout(reader: Reader, call: Call) -> None:
    number, _ = reader.session()
    read = reader.read(number, call=call)
    assert (read.handle, read.desc.lp_buffer) == (CONTEXT_HANDLE_NULL, None)
    assert read.result == TIMEOUT


@BOTH
@pytest.mark.spec("MQQP-3.1.2-01", "MQQP-3.1.4.1-10", "MQQP-2.2.2.1-08")
def test_a_wait_is_counted_in_milliseconds(world: World, reader: Reader, call: Call) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, call=call, timeout=1500)
    longer = reader.start(number, call=call, timeout=2500, request_id=2)
    world.advance(1.4)
    assert reader.outcome(waiting) is None
    world.advance(0.2)
    outcome = reader.outcome(waiting)
    assert outcome is not None
    assert outcome.result == TIMEOUT
    assert reader.outcome(longer) is None


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-09", "MQQP-3.1.1.3-01")
def test_a_message_that_comes_ends_the_wait_and_other_calls_go_on(
    world: World, reader: Reader, call: Call
) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, call=call, timeout=FOR_EVER)
    assert reader.ask(qm2qm.REMOTE_QM_GET_VERSION) == (6, 1, 6531)
    world.core.send(b"late")
    outcome = reader.outcome(waiting)
    assert outcome is not None
    assert outcome.body == b"late"
    assert reader.end(outcome.handle) == 0
    assert world.core.drain() == []


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-21", "MQQP-3.1.4.1-26", "MQQP-3.1.4.10-07")
def test_a_request_id_names_one_running_read(reader: Reader, call: Call) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, call=call, timeout=FOR_EVER)
    assert reader.read(number, call=call).result == INVALID_PARAMETER
    assert reader.outcome(waiting) is None


@pytest.mark.spec("MQQP-3.1.4.1-22")
def test_a_request_id_may_run_on_another_queue(world: World, reader: Reader) -> None:
    first, second = reader.session()[0], reader.session()[0]
    waiting = [reader.start(each, timeout=FOR_EVER) for each in (first, second)]
    world.core.send(b"first", b"second")
    outcomes = [reader.outcome(each) for each in waiting]
    assert [each and each.body for each in outcomes] == [b"first", b"second"]


@pytest.mark.spec("MQQP-3.1.4.1-27", "MQQP-3.1.4.1-28")
def test_a_request_id_is_free_when_the_call_has_returned(world: World, reader: Reader) -> None:
    world.core.send(b"first", b"second")
    number, _ = reader.session()
    first, second = reader.read(number), reader.read(number)
    assert (first.body, second.body) == (b"first", b"second")
    assert reader.end(second.handle) == 0
    assert reader.end(first.handle, RR_NACK) == 0
    assert world.core.contents() == [b"first"]
    assert reader.cancel(number) == INVALID_HANDLE


def test_a_client_may_have_so_many_reads_waiting() -> None:
    world = World(settings=RemoteReadSettings(max_waiting_reads=1))
    reader = world.client()
    number, _ = reader.session()
    reader.start(number, timeout=FOR_EVER)
    refused = reader.read(number, timeout=FOR_EVER, request_id=2)
    assert refused.result == Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES
    assert reader.cancel(number, 2) == Hresult.MQ_ERROR


def test_a_read_that_its_client_abandons_takes_nothing(world: World, reader: Reader) -> None:
    number, _ = reader.session()
    second = world.client()
    second.start(number, timeout=FOR_EVER)
    # The message is on its way to the read when the connection breaks.
    world.core.send(b"first")
    second.lose()
    assert world.core.contents() == [b"first"]
    assert reader.read(number).body == b"first"


def test_a_receive_without_room_for_its_handle_gives_the_message_back() -> None:
    world = World(rpc=RpcSettings(max_handles=2))
    world.core.send(b"first")
    reader = world.client()
    number, _ = reader.session()
    desc = qm2qm.RemoteReadDesc(number, 0, RECEIVE, 0, number, 1)
    assert reader.fault(OLD, desc) == NCA_S_SERVER_TOO_BUSY
    assert world.core.contents() == [b"first"]


# The end of a receive


@pytest.mark.spec("MQQP-3.1.4.2-03", "MQQP-3.1.4.2-06", "MQQP-2.2.1.2-01")
def test_an_acknowledged_message_is_gone(world: World, reader: Reader) -> None:
    world.core.send(b"first")
    number, session = reader.session()
    read = reader.read(number)
    assert reader.end(read.handle, RR_ACK) == 0
    reader.close(session)
    world.core.restart()
    assert world.core.contents() == []
    status = reader.fault(qm2qm.REMOTE_QM_END_RECEIVE, read.handle, RR_ACK)
    assert status == NCA_S_FAULT_CONTEXT_MISMATCH


@pytest.mark.spec("MQQP-3.1.4.2-04")
def test_a_refused_message_is_there_for_the_next_reader(world: World, reader: Reader) -> None:
    world.core.send(b"first", b"second")
    number, _ = reader.session()
    assert reader.end(reader.read(number).handle, RR_NACK) == 0
    assert world.core.contents() == [b"first", b"second"]


@pytest.mark.spec("MQQP-3.1.4.2-05")
def test_a_null_receive_cannot_be_ended(reader: Reader) -> None:
    assert reader.end(CONTEXT_HANDLE_NULL) == INVALID_HANDLE


@pytest.mark.spec("MQQP-3.1.4.2-07")
def test_a_message_that_is_not_locked_any_more_cannot_be_ended(
    world: World, reader: Reader
) -> None:
    world.core.send(b"first")
    number, _ = reader.session()
    read = reader.read(number)
    world.core.qm.delete_queue(world.core.qm.find_queue(ORDERS), caller=USER)
    assert reader.end(read.handle) == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE


# Cancels


@BOTH
@pytest.mark.parametrize("action", [RECEIVE, PEEK_CURRENT])
@pytest.mark.spec("MQQP-3.1.4.6-05", "MQQP-3.1.4.6-06", "MQQP-3.1.4.10-12")
def test_a_waiting_read_is_cancelled_from_a_second_connection(
    world: World, reader: Reader, call: Call, action: int
) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, action, call=call, timeout=FOR_EVER)
    second = world.client(join=reader)
    assert second.cancel(number) == 0
    outcome = reader.outcome(waiting)
    assert outcome is not None
    assert (outcome.result, outcome.handle) == (CANCELLED, CONTEXT_HANDLE_NULL)
    assert (outcome.desc.lp_buffer, outcome.desc.dw_request_id) == (None, 1)


@pytest.mark.spec("MQQP-3.1.4.6-02", "MQQP-3.1.4.6-03", "MQQP-3.1.4.6-04")
def test_a_cancel_that_fits_no_read_is_refused(reader: Reader) -> None:
    number, _ = reader.session()
    assert reader.cancel(number) == INVALID_HANDLE
    reader.start(number, timeout=FOR_EVER)
    assert reader.cancel(number, queue=0) == INVALID_PARAMETER
    assert reader.cancel(number, queue=number + 1) == INVALID_PARAMETER
    assert reader.cancel(number + 1) == INVALID_HANDLE
    assert reader.cancel(number, 2) == Hresult.MQ_ERROR


@pytest.mark.spec("MQQP-3.1.4.6-07")
def test_a_cancelled_read_is_forgotten_at_once(world: World, reader: Reader) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, timeout=FOR_EVER)
    assert reader.cancel(number) == 0
    again = reader.start(number, timeout=FOR_EVER)
    assert reader.outcome(waiting) is not None
    assert reader.outcome(again) is None
    world.core.send(b"first")
    outcome = reader.outcome(again)
    assert outcome is not None
    assert outcome.body == b"first"


@pytest.mark.spec("MQQP-3.1.4.6-06")
def test_a_read_that_has_its_message_is_not_cancelled(world: World, reader: Reader) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, timeout=FOR_EVER)
    world.core.send(b"first")
    # The cancel arrives in the turn in which the read was satisfied.
    assert reader.cancel(number) == STATUS_NOT_FOUND
    outcome = reader.outcome(waiting)
    assert outcome is not None
    assert outcome.body == b"first"


def test_a_new_read_keeps_its_id_when_a_cancelled_one_ends(world: World, reader: Reader) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, timeout=FOR_EVER)
    # Both in one turn: the answer to the first read comes after the second began.
    cancel = qm2qm.CancelReceiveRequest(number, number, 1)
    reader.connection.call(QM2QM, qm2qm.REMOTE_QM_CANCEL_RECEIVE, cancel)
    again = reader.start(number, timeout=FOR_EVER)
    outcome = reader.outcome(waiting)
    assert outcome is not None
    assert outcome.result == CANCELLED
    assert reader.read(number).result == INVALID_PARAMETER
    world.core.send(b"first")
    outcome = reader.outcome(again)
    assert outcome is not None
    assert outcome.body == b"first"


def test_co_cancel_ends_a_read(reader: Reader) -> None:
    number, _ = reader.session()
    waiting = reader.start(number, timeout=FOR_EVER)
    reader.connection.cancel(waiting)
    outcome = reader.outcome(waiting)
    assert outcome is not None
    assert outcome.result == CANCELLED
    assert reader.cancel(number) == INVALID_HANDLE
