"""A client's connection against bytes of a server."""

from itertools import product
from typing import Any

import pytest
from tests.protocol.rpc.harness import (
    ADD,
    ECHO,
    HOLD,
    STRANGE,
    TEST,
    Case,
    Number,
    Octets,
)
from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext

from openmsmq.protocol.rpc import (
    ClientConnection,
    ClientSecurity,
    ClientSettings,
    ConnectionClosed,
    InterfaceUnknown,
    RpcFault,
)
from openmsmq.protocol.rpc.client import Answered, Bound, Closed, Failed
from openmsmq.protocol.rpc.client.connection import _TABLE, State
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.wire.errors import MalformedPacket, ProtocolViolation
from openmsmq.wire.ndr import NDR, NDR64
from openmsmq.wire.rpc.bind import Bind, BindAck, BindNak, ResultElement
from openmsmq.wire.rpc.call import CallHeader, Fault, pack_call
from openmsmq.wire.rpc.header import (
    MAX_CALL_ID,
    WHOLE,
    CommonHeader,
    PduType,
    PfcFlags,
    pack_pdu,
)
from openmsmq.wire.rpc.sec_trailer import SecTrailer
from openmsmq.wire.rpc.status import AuthnLevel, ContextResult, RejectReason
from openmsmq.wire.rpc.syntax import NULL_SYNTAX

MULTIPLEXED = WHOLE | int(PfcFlags.PFC_CONC_MPX)
ACCEPTED = ResultElement(ContextResult.ACCEPTANCE, 0, NULL_SYNTAX)
NO_FEATURES = ResultElement(ContextResult.PROVIDER_REJECTION, 2, NULL_SYNTAX)
FEATURES = ResultElement(ContextResult.NEGOTIATE_ACK, 3, NULL_SYNTAX)


def ack(*results: ResultElement, ptype: int = PduType.BIND_ACK, **options: Any) -> bytes:
    flags = options.get("flags", MULTIPLEXED)
    body = BindAck(4096, options.get("size", 4096), 77, "135", results or (ACCEPTED, FEATURES))
    return pack_pdu(ptype, 1, body.serialize(), flags=flags, verifier=options.get("verifier", b""))


def answer(call_id: int, stub: bytes = b"\x05\0\0\0", flags: int = WHOLE) -> bytes:
    sizes = {"frag_length": 24 + len(stub), "auth_length": 0, "alloc_hint": 0, "p_cont_id": 0}
    return pack_call(PduType.RESPONSE, flags, call_id, **sizes) + stub


def bound(**options: Any) -> ClientConnection:
    connection = ClientConnection([TEST])
    connection.receive_data(ack(**options))
    assert connection.next_event() == Bound()
    connection.data_to_send()
    return connection


def events(connection: ClientConnection) -> list[Any]:
    return list(iter(connection.next_event, None))


def closing_error(connection: ClientConnection) -> Exception:
    event = events(connection)[-1]
    assert isinstance(event, Closed)
    assert connection.closed
    return event.error


@pytest.mark.parametrize(("state", "ptype"), list(product(list(State)[:3], range(24))))
def test_a_pdu_without_a_row_ends_the_connection(state: State, ptype: int) -> None:
    connection = ClientConnection([TEST])
    connection.state = state
    if (state, ptype) in _TABLE:
        return
    connection.receive_data(pack_pdu(ptype, 1, bytes(8)))
    assert isinstance(closing_error(connection), ProtocolViolation)
    connection.receive_data(pack_pdu(ptype, 1, bytes(8)))
    connection.connection_lost()
    assert events(connection) == []


def test_the_bind_offers_interfaces_and_features_with_multiplexing() -> None:
    connection = ClientConnection([TEST, STRANGE], assoc_group_id=9)
    (pdu,) = connection.data_to_send()
    header, start = CommonHeader.parse(pdu)
    assert header.pfc_flags == MULTIPLEXED
    bind, _ = Bind.parse(pdu[start:])
    assert (bind.assoc_group_id, len(bind.p_context_elem)) == (9, 3)


def test_what_the_server_agrees_to_is_known() -> None:
    connection = bound()
    assert connection.assoc_group_id == 77
    assert connection.multiplexed
    assert connection.keeps_on_orphan
    plain = ClientConnection([TEST])
    plain.receive_data(ack(ACCEPTED, NO_FEATURES, flags=WHOLE))
    assert not plain.multiplexed
    assert not plain.keeps_on_orphan


@pytest.mark.parametrize(("reason", "text"), [(8, "not_recognized"), (99, "99")])
def test_a_refused_bind_fails_all_calls(reason: int, text: str) -> None:
    connection = ClientConnection([TEST])
    call_id = connection.call(TEST, ADD, Number(1))
    connection.receive_data(pack_pdu(PduType.BIND_NAK, 1, BindNak(reason).serialize()))
    failed, closed = events(connection)
    assert failed.call_id == call_id
    assert not failed.error.was_sent
    assert text in str(closed.error)
    assert RejectReason(8).name.lower().endswith("not_recognized")


def test_a_bind_that_accepts_nothing_is_an_unknown_interface() -> None:
    connection = ClientConnection([TEST])
    connection.call(TEST, ADD, Number(1))
    connection.receive_data(ack(NO_FEATURES, NO_FEATURES))
    failed, closed = events(connection)
    assert isinstance(failed.error, InterfaceUnknown)
    assert isinstance(closed.error, InterfaceUnknown)


def test_of_two_accepted_syntaxes_the_first_is_used() -> None:
    connection = ClientConnection([TEST], settings=ClientSettings(transfer_syntaxes=(NDR, NDR64)))
    connection.receive_data(ack(ACCEPTED, ACCEPTED, FEATURES))
    connection.data_to_send()
    connection.call(TEST, ADD, Number(1))
    (pdu,) = connection.data_to_send()
    assert CallHeader.parse(pdu)[0].p_cont_id == 0


def test_an_interface_that_was_not_accepted_fails_its_queued_calls() -> None:
    connection = ClientConnection([TEST, STRANGE])
    bad = connection.call(STRANGE, ADD, Number(1))
    good = connection.call(TEST, ADD, Number(1))
    connection.receive_data(ack(ACCEPTED, NO_FEATURES, FEATURES) + answer(good))
    first, second, third = events(connection)
    assert first == Bound()
    assert isinstance(second, Failed)
    assert second.call_id == bad
    assert third == Answered(call_id=good, response=Number(5))


@pytest.mark.parametrize(
    "data",
    [
        ack(ACCEPTED),
        pack_pdu(PduType.BIND_ACK, 1, b"short"),
        CommonHeader(PduType.BIND_ACK, 3, 15, 0, 1).serialize(),
        CommonHeader(PduType.BIND_ACK, 3, 16, 9, 1).serialize(),
    ],
)
def test_a_malformed_answer_ends_the_connection(data: bytes) -> None:
    connection = ClientConnection([TEST])
    connection.receive_data(data)
    assert isinstance(closing_error(connection), MalformedPacket)


@pytest.mark.parametrize(("offset", "value"), [(0, 4), (4, 0x11)])
def test_another_version_or_representation_ends_the_connection(offset: int, value: int) -> None:
    connection = ClientConnection([TEST])
    data = bytearray(ack())
    data[offset] = value
    connection.receive_data(bytes(data))
    assert isinstance(closing_error(connection), ProtocolViolation)


def test_without_multiplexing_calls_go_one_after_another() -> None:
    connection = ClientConnection([TEST])
    first, second, third = (connection.call(TEST, ADD, Number(n)) for n in range(3))
    connection.receive_data(ack(flags=WHOLE))
    _, request = connection.data_to_send()
    assert CallHeader.parse(request)[0].call_id == first
    connection.receive_data(answer(first))
    (request,) = connection.data_to_send()
    assert CallHeader.parse(request)[0].call_id == second
    connection.receive_data(Fault(second, 5, WHOLE).serialize())
    (request,) = connection.data_to_send()
    assert CallHeader.parse(request)[0].call_id == third
    kinds = [type(event) for event in events(connection)]
    assert kinds == [Bound, Answered, Failed]


def test_responses_come_in_fragments_and_in_any_order() -> None:
    connection = bound()
    first, second = (connection.call(TEST, ADD, Number(n)) for n in range(2))
    connection.receive_data(answer(second, b"\x07\0", 1))
    connection.receive_data(answer(first))
    connection.receive_data(answer(second, b"\0\0", 2))
    assert events(connection) == [
        Answered(call_id=first, response=Number(5)),
        Answered(call_id=second, response=Number(7)),
    ]


def test_a_response_comes_in_three_fragments() -> None:
    connection = bound()
    call_id = connection.call(TEST, ADD, Number(1))
    for octets, flags in ((b"\x07", 1), (b"\0\0", 0), (b"\0", 2)):
        assert events(connection) == []
        connection.receive_data(answer(call_id, octets, flags))
    assert events(connection) == [Answered(call_id=call_id, response=Number(7))]


def test_fragments_are_as_long_as_the_server_takes_them() -> None:
    connection = bound(size=2048)
    connection.call(TEST, ECHO, Octets(bytes(5000)))
    assert [len(pdu) for pdu in connection.data_to_send()] == [2048, 2048, 5012 - 2 * 2024 + 24]
    tiny = bound(size=0)
    tiny.call(TEST, ECHO, Octets(bytes(1000)))
    assert max(map(len, tiny.data_to_send())) == 304


def test_a_response_without_room_for_its_header_ends_the_connection() -> None:
    connection = bound()
    connection.call(TEST, ADD, Number(1))
    connection.receive_data(pack_pdu(PduType.RESPONSE, 2, bytes(7)))
    assert isinstance(closing_error(connection), MalformedPacket)


def test_a_response_that_is_too_long_ends_the_connection() -> None:
    connection = ClientConnection([TEST], settings=ClientSettings(max_response_bytes=10))
    connection.receive_data(ack())
    connection.receive_data(answer(connection.call(TEST, ADD, Number(1)), bytes(10), 1))
    assert not connection.closed
    call_id = connection.call(TEST, ADD, Number(1))
    connection.receive_data(answer(call_id, bytes(11), 1))
    assert isinstance(closing_error(connection), ProtocolViolation)


def test_a_response_that_does_not_decode_fails_its_call_only() -> None:
    connection = bound()
    call_id = connection.call(TEST, ADD, Number(1))
    connection.receive_data(answer(call_id, b"x"))
    (failed,) = events(connection)
    assert isinstance(failed.error, MalformedPacket)
    assert not connection.closed


def test_answers_to_calls_that_are_not_waited_for_are_ignored() -> None:
    connection = bound()
    connection.receive_data(answer(99) + Fault(98, 5, WHOLE).serialize())
    assert events(connection) == []


def test_a_lost_connection_says_which_calls_may_have_run() -> None:
    connection = bound(flags=WHOLE)
    sent, queued = (connection.call(TEST, ADD, Number(n)) for n in range(2))
    connection.connection_lost("cable cut")
    first, second, closed = events(connection)
    assert (first.call_id, first.error.was_sent) == (sent, True)
    assert (second.call_id, second.error.was_sent) == (queued, False)
    assert str(closed.error) == "cable cut"
    with pytest.raises(ConnectionClosed, match="cable cut"):
        connection.call(TEST, ADD, Number(1))


def test_a_call_that_was_not_sent_fails_once() -> None:
    connection = ClientConnection([TEST])
    queued = connection.call(TEST, ADD, Number(1))
    connection.connection_lost("cable cut")
    connection.cancel(queued)
    connection.orphan(queued)
    failed, closed = events(connection)
    assert failed.call_id == queued
    assert str(closed.error) == "cable cut"


def test_call_ids_end_at_the_largest_number() -> None:
    connection = bound()
    connection._last_call_id = MAX_CALL_ID - 1
    assert connection.call(TEST, ADD, Number(1)) == MAX_CALL_ID
    with pytest.raises(ConnectionClosed, match="no more call ids"):
        connection.call(TEST, ADD, Number(1))


def test_a_call_is_cancelled_on_the_wire_once_it_was_sent() -> None:
    connection = ClientConnection([TEST])
    first, second = (connection.call(TEST, HOLD, Number(n)) for n in range(2))
    connection.cancel(second)
    connection.orphan(first)
    failed = events(connection)
    assert [event.call_id for event in failed] == [second, first]
    assert all(isinstance(event.error, ConnectionClosed) for event in failed)
    connection.cancel(99)
    connection.orphan(99)
    connection.receive_data(ack())
    third = connection.call(TEST, HOLD, Number(3))
    connection.data_to_send()
    connection.cancel(third)
    connection.orphan(third)
    kinds = [CommonHeader.parse(pdu)[0].ptype for pdu in connection.data_to_send()]
    assert kinds == [PduType.CO_CANCEL, PduType.ORPHANED]
    connection.receive_data(answer(third))
    assert events(connection) == [Bound()]


def test_a_server_that_shuts_down_is_left_when_nothing_waits() -> None:
    connection = bound()
    shutdown = pack_pdu(PduType.SHUTDOWN, 1, b"")
    call_id = connection.call(TEST, ADD, Number(1))
    connection.receive_data(shutdown + answer(call_id))
    assert not connection.closed
    connection.receive_data(shutdown)
    assert isinstance(closing_error(connection), ConnectionClosed)


# Authentication


def security(level: AuthnLevel, *, legs: int = 3) -> ClientSecurity:
    return ClientSecurity(AUTH_TYPE, level, lambda: FakeContext("alice", legs=legs))


def token(data: bytes) -> bytes:
    return SecTrailer(AUTH_TYPE, AuthnLevel.PKT_PRIVACY, 0).serialize() + data


def test_header_signing_is_asked_for_where_it_protects() -> None:
    for level in AuthnLevel.CONNECT, AuthnLevel.PKT, AuthnLevel.PKT_INTEGRITY:
        (pdu,) = ClientConnection([TEST], security=security(level)).data_to_send()
        wanted = level >= AuthnLevel.PKT_INTEGRITY
        assert bool(CommonHeader.parse(pdu)[0].pfc_flags & 4) == wanted


def test_a_server_that_does_not_authenticate_is_refused() -> None:
    for data in (ack(), ack(verifier=token(b"9"))):
        connection = ClientConnection([TEST], security=security(AuthnLevel.PKT_PRIVACY))
        connection.receive_data(data)
        assert isinstance(closing_error(connection), AuthenticationFailed)


def test_a_server_that_ends_the_authentication_too_early_is_refused() -> None:
    class Endless(FakeContext):
        def step(self, token: bytes) -> bytes:
            return b"" if token else b"first"

    way = ClientSecurity(AUTH_TYPE, AuthnLevel.PKT_PRIVACY, lambda: Endless("alice"))
    connection = ClientConnection([TEST], security=way)
    connection.receive_data(ack(verifier=token(b"2")))
    assert "too early" in str(closing_error(connection))


def test_a_mechanism_of_one_leg_is_complete_with_the_bind() -> None:
    connection = ClientConnection([TEST], security=security(AuthnLevel.CONNECT, legs=1))
    connection.receive_data(ack())
    assert connection.next_event() == Bound()


def test_credentials_that_the_server_refuses_end_the_connection() -> None:
    for legs, data in ((3, b""), (4, ack(verifier=token(b"2")))):
        connection = ClientConnection([TEST], security=security(AuthnLevel.PKT_PRIVACY, legs=legs))
        connection.receive_data(data + Fault(1, 5, WHOLE).serialize())
        error = closing_error(connection)
        assert isinstance(error, RpcFault)
        assert error.status == 5
        assert "refused the credentials" in str(error)


def test_a_response_without_its_signature_ends_the_connection() -> None:
    connection = ClientConnection([TEST], security=security(AuthnLevel.PKT_PRIVACY))
    call_id = connection.call(TEST, ADD, Number(1))
    connection.receive_data(ack(verifier=token(b"2")) + answer(call_id))
    assert "without a signature" in str(closing_error(connection))


def test_a_response_that_was_changed_ends_the_connection() -> None:
    case = Case()
    client = case.client(name="alice")
    client.connection.call(TEST, ADD, Number(1))
    pdus = client.link.send(b"".join(client.connection.data_to_send()))
    changed = bytearray(pdus[0])
    changed[26] ^= 1
    client.connection.receive_data(bytes(changed))
    failed, closed = events(client.connection)
    assert isinstance(failed.error, AuthenticationFailed)
    assert isinstance(closed.error, AuthenticationFailed)


def test_a_verifier_at_level_connect_is_skipped() -> None:
    connection = ClientConnection([TEST], security=security(AuthnLevel.CONNECT))
    connection.receive_data(ack(verifier=token(b"2")))
    call_id = connection.call(TEST, ADD, Number(1))
    stub = b"\x05\0\0\0pad!"
    trailer = SecTrailer(AUTH_TYPE, AuthnLevel.CONNECT, 0, 4).serialize() + bytes(16)
    sizes = {"frag_length": 24 + 8 + 24, "auth_length": 16, "alloc_hint": 0, "p_cont_id": 0}
    header = pack_call(PduType.RESPONSE, WHOLE, call_id, **sizes)
    connection.receive_data(header + stub + trailer)
    assert events(connection)[-1] == Answered(call_id=call_id, response=Number(5))


def test_without_header_signing_the_first_request_repeats_its_header() -> None:
    case = Case()
    client = case.client(name="alice")
    connection = ClientConnection([TEST], security=security(AuthnLevel.PKT_INTEGRITY))
    connection.receive_data(ack(verifier=token(b"2"), flags=MULTIPLEXED))
    connection.data_to_send()
    connection.call(TEST, ADD, Number(1))
    connection.call(TEST, ADD, Number(1))
    first, second = connection.data_to_send()
    assert b"\x03\x40\x10\x00" in first
    # It says nevertheless that it has offered header signing: the server may not have seen that.
    assert b"\x01\x00\x04\x00\x01\x00\x00\x00" in first
    assert len(second) < len(first)
    assert client.call(ADD, Number(1)).response == Number(2)


def test_errors_say_what_happened() -> None:
    assert str(RpcFault(0x1234)) == "fault (0x00001234)"
    assert str(RpcFault(5, "why")) == "access denied (0x00000005): why"
