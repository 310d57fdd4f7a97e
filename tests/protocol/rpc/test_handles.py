"""Context handles: whose they are, how long they live, and the order of calls on them."""

import pytest
from tests.protocol.rpc.harness import (
    CLOSE,
    HOLD,
    OPEN,
    OTHER_HOST,
    TEST,
    USE,
    WAIT,
    Case,
    Client,
    Handle,
    HandleResult,
    Number,
)

from openmsmq.protocol.rpc import RpcFault, RpcSettings, Served, ServerCall, serve
from openmsmq.protocol.rpc.client import Answered
from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.rpc.status import (
    NCA_S_FAULT_CONTEXT_MISMATCH,
    NCA_S_SERVER_TOO_BUSY,
    RPC_S_CALL_FAILED,
)

NULL = Handle(CONTEXT_HANDLE_NULL)


def opened(client: Client, number: int) -> Handle:
    handle = client.call(OPEN, Number(number)).response
    assert isinstance(handle, Handle)
    return handle


def refused(client: Client, handle: Handle) -> bool:
    error = client.call(USE, handle).error
    return isinstance(error, RpcFault) and error.status == NCA_S_FAULT_CONTEXT_MISMATCH


def test_a_handle_stands_for_its_value_until_it_is_closed() -> None:
    case = Case()
    client = case.client()
    handle = opened(client, 7)
    assert len(handle.handle) == 20
    assert handle.handle[:4] == bytes(4)
    assert client.call(USE, handle).response == Number(7)
    closed = client.call(CLOSE, handle).response
    assert closed == HandleResult(CONTEXT_HANDLE_NULL, 0)
    assert refused(client, handle)
    assert case.rundowns == []
    assert case.server.associations.handles.count == 0


def test_unknown_forged_and_null_handles_are_refused() -> None:
    case = Case()
    client = case.client()
    handle = opened(client, 7).handle
    for wrong in (
        CONTEXT_HANDLE_NULL,
        b"\x01" + handle[1:],
        handle[:-1] + b"\x55",
        b"\xff" * 20,
    ):
        assert refused(client, Handle(wrong))
    # Where it may be NULL, the method answers.
    assert client.call(CLOSE, NULL).response == HandleResult(CONTEXT_HANDLE_NULL, 0)
    assert case.seen == [None]


def test_a_handle_is_valid_in_its_association_only() -> None:
    case = Case()
    first = case.client()
    handle = opened(first, 7)
    group = first.connection.assoc_group_id
    assert refused(case.client(), handle)
    assert refused(case.client(address=OTHER_HOST), handle)
    assert case.client(assoc_group_id=group).call(USE, handle).response == Number(7)


def test_a_handle_is_valid_for_its_caller_only() -> None:
    case = Case()
    alice = case.client(name="alice")
    handle = opened(alice, 7)
    group = alice.connection.assoc_group_id
    assert refused(case.client(name="bob", assoc_group_id=group), handle)
    assert refused(case.client(assoc_group_id=group), handle)
    assert case.client(name="alice", assoc_group_id=group).call(USE, handle).response == Number(7)


def test_a_handle_is_valid_for_its_interface_only() -> None:
    case = Case()
    other = RpcInterface(TEST.uuid.__class__(int=5))
    served = serve(
        other, "other", (Served(USE, lambda call, _: call.reply(Number(1)), handle="handle"),)
    )
    case.endpoint.interfaces[other.uuid] = served
    client = case.client(interfaces=(TEST, other))
    handle = opened(client, 7)
    assert client.call(USE, handle, other).error.status == NCA_S_FAULT_CONTEXT_MISMATCH
    assert client.call(USE, handle).response == Number(7)


def test_handles_run_down_with_the_last_connection_newest_first() -> None:
    case = Case()
    first = case.client()
    second = case.client(assoc_group_id=first.connection.assoc_group_id)
    opened(first, 1)
    opened(second, 2)
    opened(first, 3)
    first.link.lose()
    assert case.rundowns == []
    second.link.lose()
    assert case.rundowns == [3, 2, 1]
    assert case.server.associations.handles.count == 0


def test_handles_are_limited_in_a_group_and_in_all() -> None:
    case = Case(RpcSettings(max_handles=2, max_total_handles=3))
    first, second = case.client(), case.client(address=OTHER_HOST)
    for number in (1, 2):
        opened(first, number)
    assert first.call(OPEN, Number(3)).error.status == NCA_S_SERVER_TOO_BUSY
    opened(second, 4)
    assert second.call(OPEN, Number(5)).error.status == NCA_S_SERVER_TOO_BUSY
    first.link.lose()
    opened(second, 6)


def test_serialized_calls_on_a_handle_run_one_at_a_time() -> None:
    case = Case()
    client = case.client()
    handle = opened(client, 7)
    for _ in range(3):
        client.connection.call(TEST, WAIT, handle)
    client.move()
    assert len(case.waiting) == 1
    # Others are not held up.
    assert client.call(USE, handle).response == Number(7)
    for number in range(3):
        case.waiting[number].reply(Number(number))
        assert client.move()[-1].response == Number(number)  # type: ignore[union-attr]
    assert len(case.waiting) == 3


def test_a_thousand_serialized_calls_run_without_deep_recursion() -> None:
    case = Case(RpcSettings(max_calls=2000))
    client = case.client()
    handle = opened(client, 7)
    client.connection.call(TEST, WAIT, handle)
    for _ in range(1000):
        client.connection.call(TEST, CLOSE, Handle(handle.handle))
    client.move()
    assert len(case.seen) == 0
    case.waiting[0].reply(Number(1))
    events = client.move()
    assert isinstance(events[0], Answered)
    assert len(events) == 1001
    # The first one closed the handle; it is not there for the others.
    assert case.seen == [7]
    statuses = {event.error.status for event in events[2:]}  # type: ignore[union-attr]
    assert statuses == {NCA_S_FAULT_CONTEXT_MISMATCH}


def test_a_call_that_waits_for_its_turn_goes_with_its_connection() -> None:
    case = Case()
    first = case.client()
    handle = opened(first, 7)
    second = case.client(assoc_group_id=first.connection.assoc_group_id)
    first.connection.call(TEST, WAIT, handle)
    first.move()
    for client in (second, second, first):
        client.connection.call(TEST, WAIT, handle)
        client.move()
    assert len(case.waiting) == 1
    second.link.lose()
    case.waiting[0].reply(Number(1))
    first.move()
    assert len(case.waiting) == 2
    assert case.waiting[1].connection.number == first.link.number


def test_the_next_call_runs_when_the_connection_of_the_first_is_lost() -> None:
    case = Case()
    first = case.client()
    handle = opened(first, 7)
    second = case.client(assoc_group_id=first.connection.assoc_group_id)
    for client in (first, second):
        client.connection.call(TEST, WAIT, handle)
        client.move()
    first.link.lose()
    assert [call.connection.number for call in case.waiting] == [
        first.link.number,
        second.link.number,
    ]


def test_no_handle_is_made_or_closed_for_a_client_that_is_gone() -> None:
    case = Case()
    client = case.client()
    client.connection.call(TEST, HOLD, Number(1))
    client.connection.call(TEST, WAIT, opened(client, 5))
    client.move()
    held, waiting = case.held[1], case.waiting[0]
    client.link.lose()
    assert case.rundowns == [5]
    with pytest.raises(RpcFault) as caught:
        held.open_handle(1, case.rundowns.append)
    assert caught.value.status == RPC_S_CALL_FAILED
    held.close_handle()
    waiting.close_handle()
    waiting.close_handle()
    waiting.reply(Number(1))
    waiting.fault(1)
    assert waiting.abandoned


def test_a_handle_that_is_closed_twice_is_closed() -> None:
    case = Case()
    client = case.client()
    handle = opened(client, 5)
    for _ in range(2):
        client.connection.call(TEST, WAIT, handle)
    client.move()
    for _ in range(2):
        case.waiting[0].close_handle()
    assert case.server.associations.handles.count == 0
    case.waiting[0].reply(Number(1))
    assert client.move()[-1].error.status == NCA_S_FAULT_CONTEXT_MISMATCH  # type: ignore[union-attr]


def test_an_opnum_is_served_once() -> None:
    def handler(call: ServerCall, request: object) -> None: ...

    with pytest.raises(AssertionError, match="served twice"):
        serve(TEST, "test", (Served(USE, handler), Served(USE, handler)))


def test_a_server_shows_its_clients_and_what_they_hold() -> None:
    case = Case()
    first, second = case.client(), case.client()
    for number in (3, 4):
        first.call(OPEN, Number(number))
    associations = list(case.server.associations)
    assert [each.number for each in associations] == [1, 2]
    assert [each.handles.values() for each in associations] == [[3, 4], []]
    assert [len(each.connections) for each in associations] == [1, 1]
    second.link.lose()
    assert [each.number for each in case.server.associations] == [1]
