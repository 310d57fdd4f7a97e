"""Calls of a client against a server, in memory."""

import pytest
from tests.protocol.rpc.harness import (
    ADD,
    ECHO,
    FAIL,
    HOLD,
    MISSING,
    SECRET,
    STORE,
    STRANGE,
    TEST,
    THROW,
    Case,
    Number,
    Octets,
)

from openmsmq.protocol.rpc import ConnectionClosed, InterfaceUnknown, RpcFault, RpcSettings
from openmsmq.protocol.rpc.client import Answered, Bound, Closed, Failed
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.ndr import NDR, NDR64
from openmsmq.wire.rpc.status import (
    NCA_S_OP_RNG_ERROR,
    NCA_S_SERVER_TOO_BUSY,
    RPC_ACCESS_DENIED,
    RPC_S_CALL_FAILED,
    AuthnLevel,
)

LEVELS = (
    AuthnLevel.CONNECT,
    AuthnLevel.PKT,
    AuthnLevel.PKT_INTEGRITY,
    AuthnLevel.PKT_PRIVACY,
)


def test_a_call_is_answered() -> None:
    client = Case().client()
    assert client.events == [Bound()]
    assert client.call(ADD, Number(4)) == Answered(call_id=2, response=Number(5))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("legs", [2, 3, 4, 5])
@pytest.mark.parametrize("size", [0, 1, 16, 20_000])
def test_every_level_and_number_of_legs_carries_calls(
    level: AuthnLevel, legs: int, size: int
) -> None:
    client = Case(legs=legs).client(name="alice", level=level)
    assert client.events == [Bound()]
    data = bytes(index % 251 for index in range(size))
    for _ in range(3):
        event = client.call(ECHO, Octets(data))
        assert event.response.octets == data


def test_a_wrong_name_is_refused_at_each_number_of_legs() -> None:
    for legs in (2, 4):
        client = Case(legs=legs).client(name="mallory")
        assert isinstance(client.events[-1], Closed)
    client = Case(legs=3).client(name="mallory")
    assert client.events == [Bound()]
    # The last leg has no answer, so the first call shows it.
    event = client.call(ADD, Number(1))
    failure = client.events[1]
    assert isinstance(failure, Failed)
    assert isinstance(failure.error, RpcFault)
    assert failure.error.status == RPC_ACCESS_DENIED
    assert isinstance(event, Closed)


def test_a_level_that_is_too_low_is_refused_before_the_method() -> None:
    case = Case()
    low = case.client(name="alice", level=AuthnLevel.PKT_INTEGRITY).call(SECRET, Number(1))
    assert low.error.status == RPC_ACCESS_DENIED
    assert low.error.did_not_execute
    assert case.client(name="alice").call(SECRET, Number(1)).response == Number(1)
    assert case.client().call(SECRET, Number(1)).error.status == RPC_ACCESS_DENIED


def test_failures_are_returned_or_thrown_as_the_table_says() -> None:
    client = Case().client()
    assert client.call(FAIL, Number(Hresult.MQ_ERROR_IO_TIMEOUT)).response == Number(
        Hresult.MQ_ERROR_IO_TIMEOUT
    )
    assert client.call(THROW, Number(1)).error.status == Hresult.MQ_ERROR_QUEUE_NOT_FOUND
    thrown = client.call(THROW, Number(0x1C00000D)).error
    assert (thrown.status, thrown.did_not_execute) == (0x1C00000D, True)
    # A status that no server may send is replaced.
    assert client.call(THROW, Number(0xC0000005)).error.status == RPC_S_CALL_FAILED


def test_an_opnum_out_of_the_table_is_a_fault() -> None:
    error = Case().client().call(MISSING, Number(1)).error
    assert (error.status, error.did_not_execute) == (NCA_S_OP_RNG_ERROR, True)
    assert str(error) == "nca_s_op_rng_error (0x1c010002)"


def test_an_interface_that_is_not_there_fails_the_bind() -> None:
    client = Case().client(interfaces=[STRANGE])
    (closed,) = client.events
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, InterfaceUnknown)
    with pytest.raises(ConnectionClosed):
        client.connection.call(STRANGE, ADD, Number(1))


def test_an_interface_that_is_missing_beside_others_fails_its_calls_only() -> None:
    client = Case().client(interfaces=[STRANGE, TEST])
    with pytest.raises(InterfaceUnknown):
        client.connection.call(STRANGE, ADD, Number(1))
    assert client.call(ADD, Number(1)).response == Number(2)


def test_ndr64_carries_calls_where_ndr_is_not_offered() -> None:
    from openmsmq.protocol.rpc import ClientSettings

    case = Case()
    only = case.client(settings=ClientSettings(transfer_syntaxes=(NDR64,)))
    assert only.call(ECHO, Octets(b"abc")).response.octets == b"abc"
    both = case.client(settings=ClientSettings(transfer_syntaxes=(NDR64, NDR)))
    assert both.call(ECHO, Octets(b"abc")).response.octets == b"abc"


def test_an_answer_waits_for_its_batch() -> None:
    case = Case()
    client = case.client()
    later = client.connection.call(TEST, STORE, Number(2))
    sooner = client.connection.call(TEST, STORE, Number(1))
    at_once = client.connection.call(TEST, ADD, Number(0))
    assert client.move() == [Answered(call_id=at_once, response=Number(1))]
    case.gate.open(1)
    assert client.move() == [Answered(call_id=sooner, response=Number(1))]
    case.gate.open(2)
    assert client.move() == [Answered(call_id=later, response=Number(2))]
    assert case.server.total_calls == 0


def test_a_call_is_answered_later() -> None:
    case = Case()
    client = case.client()
    first = client.connection.call(TEST, HOLD, Number(1))
    second = client.connection.call(TEST, HOLD, Number(2))
    assert client.move() == []
    assert case.server.total_calls == 2
    case.held[2].reply(Number(22))
    assert client.move() == [Answered(call_id=second, response=Number(22))]
    case.held[1].fail(7)
    assert client.move() == [Answered(call_id=first, response=Number(7))]
    assert case.server.total_calls == 0


def test_a_call_that_is_answered_later_waits_for_its_batch() -> None:
    case = Case()
    client = case.client()
    call_id = client.connection.call(TEST, HOLD, Number(1))
    client.move()
    case.held[1].reply(Number(9), depends=1)
    assert client.move() == []
    case.gate.open(1)
    assert client.move() == [Answered(call_id=call_id, response=Number(9))]
    assert case.server.total_calls == 0


def test_calls_that_wait_are_limited() -> None:
    case = Case(RpcSettings(max_calls=2, max_total_calls=3))
    client, other = case.client(), case.client()
    for number in (1, 2):
        client.connection.call(TEST, HOLD, Number(number))
    assert client.call(HOLD, Number(3)).error.status == NCA_S_SERVER_TOO_BUSY
    other.connection.call(TEST, HOLD, Number(4))
    assert other.call(HOLD, Number(5)).error.status == NCA_S_SERVER_TOO_BUSY
    case.held[1].reply(Number(1))
    case.held[2].reply(Number(2))
    client.move()
    assert client.call(ADD, Number(1)).response == Number(2)
