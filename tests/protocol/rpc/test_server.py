"""All connections of a server: limits, cancellation, clients that do not read, timers, the end."""

from itertools import count, product

import pytest
from tests.protocol.rpc.harness import (
    ADD,
    ECHO,
    HOLD,
    HOST,
    LOCAL,
    OTHER_HOST,
    STORE,
    TEST,
    Case,
    Link,
    Number,
    Octets,
    bind_pdu,
    fault,
    request_pdu,
    response,
)
from tests.protocol.rpc.test_security import verifier

from openmsmq.protocol.rpc import CloseReason, RpcServer, RpcSettings
from openmsmq.protocol.rpc.client import Answered
from openmsmq.protocol.rpc.server.connection import _TABLE
from openmsmq.protocol.rpc.server.state import State
from openmsmq.wire.rpc.header import CommonHeader, PduType, pack_pdu
from openmsmq.wire.rpc.status import NCA_S_PROTO_ERROR

KIB = 1024


def reason(link: Link) -> CloseReason | None:
    link.receive()
    return link.closed.reason if link.closed is not None else None


@pytest.mark.parametrize(
    ("state", "ptype"), list(product((State.CONNECTED, State.BOUND), range(24)))
)
def test_a_pdu_without_a_row_is_a_protocol_error(state: State, ptype: int) -> None:
    link = Case().link()
    if state is State.BOUND:
        link.bound()
    pdus = link.send(pack_pdu(ptype, 3, bytes(8)))
    if (state, ptype) in _TABLE:
        return
    error = fault(pdus)
    assert (error.status, error.call_id) == (NCA_S_PROTO_ERROR, 3)
    assert reason(link) is CloseReason.PROTOCOL_ERROR


def test_a_closed_connection_takes_nothing() -> None:
    case = Case()
    link = case.link()
    link.send(pack_pdu(99, 1, b""))
    assert link.closed is not None
    assert link.send(bind_pdu()) == []
    assert case.server.may_read(link.number)
    link.lose()
    assert len(case.server) == 0


def test_a_connection_is_closed_once() -> None:
    case = Case()
    link = case.link()
    connection = case.server._connections[link.number]
    for _ in range(2):
        connection.close(CloseReason.STOPPED)
    assert reason(link) is CloseReason.STOPPED
    assert case.server.next_event() is None


def test_connections_are_limited_in_all_and_per_address() -> None:
    case = Case(RpcSettings(max_connections=3, max_connections_per_address=2))
    for address in (HOST, HOST, OTHER_HOST):
        case.link(address)

    def accept(address: str) -> int | None:
        return case.server.accept(
            address, local_address=LOCAL, endpoint=case.endpoint, now=case.now
        )

    assert accept("192.0.2.9") is None
    case.links[2].lose()
    assert accept(HOST) is None
    assert accept("192.0.2.9") is not None
    case.links[0].lose()
    assert accept(HOST) is not None


def test_the_oldest_unbound_connection_gives_way() -> None:
    case = Case(RpcSettings(max_unbound=2))
    bound = case.link().bound()
    first, second, third = case.link(), case.link(), case.link()
    assert reason(first) is CloseReason.NOT_BOUND
    assert [reason(link) for link in (bound, second, third)] == [None] * 3


def test_a_client_that_does_not_bind_or_authenticate_is_closed() -> None:
    case = Case(RpcSettings(bind_seconds=10.0))
    silent, bound, authenticating, refused = (case.link() for _ in range(4))
    bound.bound()
    case.now = 5.0
    late = case.link()
    authenticating.bind(verifier=verifier(b"alice:1"))
    refused.bind(verifier=verifier(b"x"))
    assert case.server.next_timer() == 10.0
    case.now = 10.0
    case.server.handle_timer(now=case.now)
    assert reason(silent) is CloseReason.NOT_BOUND
    assert reason(late) is None
    assert case.server.next_timer() == 15.0
    case.server.handle_timer(now=15.0)
    assert reason(late) is reason(authenticating) is CloseReason.NOT_BOUND
    assert reason(bound) is None
    assert case.server.next_timer() is None


def test_a_held_call_is_cancelled_and_answered() -> None:
    case = Case()
    client = case.client()
    call_id = client.connection.call(TEST, HOLD, Number(1))
    client.move()
    client.connection.cancel(call_id)
    client.move()
    (call,) = case.cancelled
    assert call.open
    assert not call.abandoned
    call.fail(99)
    assert not call.open
    assert client.move() == [Answered(call_id=call_id, response=Number(99))]
    # Too late, and for calls that never were.
    assert client.link.send(pack_pdu(PduType.CO_CANCEL, call_id, b"")) == []
    assert client.link.send(pack_pdu(PduType.ORPHANED, call_id, b"")) == []
    assert len(case.cancelled) == 1


def test_an_orphaned_call_has_no_answer() -> None:
    case = Case()
    client = case.client()
    call_id = client.connection.call(TEST, HOLD, Number(1))
    client.move()
    client.connection.orphan(call_id)
    client.move()
    (call,) = case.cancelled
    assert call.abandoned
    call.reply(Number(1))
    call.fault(5)
    assert client.move() == []
    assert case.server.total_calls == 0
    assert client.call(ADD, Number(1)).response == Number(2)


def test_an_answer_that_waits_for_its_batch_is_dropped_with_its_call() -> None:
    case = Case()
    client = case.client()
    call_id = client.connection.call(TEST, STORE, Number(1))
    client.move()
    connection = case.server._connections[client.link.number]
    assert connection.reply_bytes == 4
    # It cannot be cancelled any more.
    client.connection.cancel(call_id)
    client.move()
    client.connection.orphan(call_id)
    client.move()
    assert connection.reply_bytes == 0
    case.gate.open(1)
    assert client.move() == []


def test_held_calls_are_cancelled_when_the_connection_is_lost() -> None:
    case = Case()
    client = case.client()
    for number in (1, 2):
        client.connection.call(TEST, HOLD, Number(number))
    client.connection.call(TEST, STORE, Number(1))
    client.move()
    client.link.lose()
    client.link.lose()
    assert len(case.cancelled) == 2
    assert all(call.abandoned for call in case.cancelled)
    assert case.server.total_calls == 0
    case.gate.open(1)
    case.held[1].reply(Number(1))
    assert case.server.take_ready() == []


def test_a_call_without_a_way_to_cancel_it_is_left_alone() -> None:
    case = Case()
    client = case.client()
    call_id = client.connection.call(TEST, HOLD, Number(1))
    client.move()
    case.held[1].on_cancel = None
    client.connection.cancel(call_id)
    client.connection.orphan(call_id)
    client.move()
    assert case.held[1].abandoned


def test_reading_pauses_while_a_client_does_not_take_its_replies() -> None:
    case = Case(RpcSettings(pause_reply_bytes=64 * KIB))
    server = case.server
    link = case.link().bound()
    big = request_pdu(ECHO, Octets(bytes(5000)))
    requests = b"".join(
        big[:12] + number.to_bytes(4, "little") + big[16:] for number in range(1, 101)
    )
    server.receive_data(link.number, requests, now=0.0)
    connection = server._connections[link.number]
    # What is answered is bounded; the rest waits in place.
    assert 64 * KIB < connection.reply_bytes < 70 * KIB
    assert not server.may_read(link.number)
    assert connection.has_input
    answers = link.receive()
    assert len(answers) == 100
    assert server.may_read(link.number)
    assert connection.reply_bytes == 0


def test_a_client_that_never_takes_its_replies_is_closed() -> None:
    case = Case(RpcSettings(max_reply_bytes=10 * KIB))
    link = case.link().bound()
    for number in range(1, 5):
        case.server.receive_data(
            link.number, request_pdu(HOLD, Number(number), call_id=number), now=0.0
        )
    connection = case.server._connections[link.number]
    connection.reply_bytes = 10 * KIB
    case.held[1].reply(Number(1))
    assert link.receive() == []
    assert reason(link) is CloseReason.NOT_READING
    assert len(case.cancelled) == 3


def test_a_malformed_header_in_any_pdu_is_answered() -> None:
    for ptype in (PduType.CO_CANCEL, PduType.REQUEST):
        link = Case().link().bound()
        pdu = CommonHeader(ptype, 3, 16, 9, 4).serialize()
        assert fault(link.send(pdu)).status == NCA_S_PROTO_ERROR


def test_stopping_closes_all_connections_and_accepts_no_more() -> None:
    case = Case()
    client = case.client()
    client.connection.call(TEST, HOLD, Number(1))
    client.move()
    case.server.stop()
    assert reason(client.link) is CloseReason.STOPPED
    assert case.cancelled[0].abandoned
    assert case.server.accept(HOST, local_address=LOCAL, endpoint=case.endpoint, now=0.0) is None
    assert len(case.server) == 0


def test_a_server_without_a_gate_answers_at_once() -> None:
    case = Case()
    case.server.gate = None
    link = case.link().bound()
    assert response(STORE, link.call(STORE, Number(5))) == Number(5)


def test_the_connections_of_a_server_are_those_that_are_marked_ready() -> None:
    case = Case()
    first, second = case.link(), case.link()
    case.server.receive_data(second.number, bind_pdu(), now=0.0)
    assert case.server.take_ready() == [second.number]
    assert case.server.take_ready() == []
    assert case.server.data_to_send(first.number, now=0.0) == []


def test_clients_of_an_address_whose_logons_failed_wait() -> None:
    case = Case()
    waits = {HOST: 2.0, OTHER_HOST: 0.0}
    numbers = count(1)
    case.server = RpcServer(
        RpcSettings(),
        acceptors={},
        random_bytes=lambda size: next(numbers).to_bytes(size, "little"),
        delay=lambda address: waits[address],
    )
    waiting, other = case.link(), case.link(OTHER_HOST)
    assert other.bind()
    assert waiting.bind() == []
    assert not case.server.may_read(waiting.number)
    assert case.server.next_timer() == 2.0
    case.server.handle_timer(now=1.9)
    assert waiting.receive() == []
    case.now = 2.0
    case.server.handle_timer(now=2.0)
    (ack,) = waiting.receive()
    assert ack[2] == PduType.BIND_ACK
    assert case.server.may_read(waiting.number)


def test_too_many_failed_logons_of_an_address_refuse_its_connections() -> None:
    case = Case()
    case.server = RpcServer(
        RpcSettings(), acceptors={}, random_bytes=bytes, delay=lambda _address: None
    )
    number = case.server.accept(HOST, local_address=LOCAL, endpoint=case.endpoint, now=0.0)
    assert number is None
    assert len(case.server) == 0


def test_a_connection_that_ends_while_it_waits_is_forgotten() -> None:
    case = Case()
    case.server = RpcServer(
        RpcSettings(), acceptors={}, random_bytes=bytes, delay=lambda _address: 5.0
    )
    link = case.link()
    link.lose()
    case.server.handle_timer(now=5.0)
    assert case.server.next_timer() is None
