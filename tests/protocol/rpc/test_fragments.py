"""Requests in fragments: split anywhere, too long, out of order, never ending."""

import pytest
from tests.protocol.rpc.harness import (
    ADD,
    ECHO,
    HOLD,
    OCTETS,
    Case,
    Link,
    Number,
    Octets,
    bind_pdu,
    fault,
    fragment,
    request_pdu,
    response,
)

from openmsmq.protocol.rpc import CloseReason, RpcSettings
from openmsmq.wire.ndr import NDR
from openmsmq.wire.rpc.header import WHOLE, CommonHeader, PduType, PfcFlags, pack_pdu
from openmsmq.wire.rpc.status import (
    NCA_S_PROTO_ERROR,
    NCA_S_UNK_IF,
    RPC_ACCESS_DENIED,
    RPC_S_NO_CALL_ACTIVE,
    RPC_X_BAD_STUB_DATA,
)

FIRST = int(PfcFlags.PFC_FIRST_FRAG)
LAST = int(PfcFlags.PFC_LAST_FRAG)
CANCEL = int(PfcFlags.PFC_PENDING_CANCEL)
MULTIPLEXED = WHOLE | int(PfcFlags.PFC_CONC_MPX)
OBJECT = int(PfcFlags.PFC_OBJECT_UUID)
MIB = 1024 * 1024


def pieces(stub: bytes, size: int) -> list[bytes]:
    """The fragments of an echo."""
    parts = [stub[start : start + size] for start in range(0, len(stub), size)]
    return [
        fragment(
            part,
            ECHO.opnum,
            flags=(FIRST if not index else 0) | (LAST if index == len(parts) - 1 else 0),
        )
        for index, part in enumerate(parts)
    ]


def closed_by(link: Link) -> CloseReason:
    assert link.closed is not None
    return link.closed.reason


def test_bind_and_calls_split_at_every_byte_are_answered() -> None:
    stub = OCTETS.encode(Octets(b"0123456789"), NDR)
    data = b"".join((bind_pdu(), *pieces(stub, 7), request_pdu(ADD, Number(1), call_id=2)))
    expected = Case().link().send(data)
    assert len(expected) == 3
    for cut in range(len(data)):
        link = Case().link()
        assert link.send(data[:cut]) + link.send(data[cut:]) == expected
    link = Case().link()
    assert [pdu for byte in data for pdu in link.send(bytes((byte,)))] == expected


def test_a_long_request_and_its_long_response_travel_in_fragments() -> None:
    data = bytes(index % 253 for index in range(100_000))
    link = Case().link().bound()
    answer = link.send(b"".join(pieces(OCTETS.encode(Octets(data), NDR), 5840 - 24)))
    headers = [CommonHeader.parse(pdu)[0] for pdu in answer]
    assert all(header.frag_length <= 5840 for header in headers)
    assert [header.pfc_flags for header in headers] == ([FIRST] + [0] * (len(headers) - 2) + [LAST])
    # [MS-RPCE] 2.2.2.6: each fragment says what is left.
    hints = [int.from_bytes(pdu[16:20], "little") for pdu in answer]
    assert hints == [100_012 - 5816 * index for index in range(len(hints))]
    assert response(ECHO, answer).octets == data


def test_four_mib_are_taken_and_one_byte_more_is_not() -> None:
    for size, taken in ((4 * MIB, True), (4 * MIB + 1, False)):
        case = Case()
        link = case.link().bound()
        stub = OCTETS.encode(Octets(b"x"), NDR).ljust(size, b"\0")
        answer = link.send(b"".join(pieces(stub, 5816)))
        if taken:
            assert response(ECHO, answer).octets == b"x"
        else:
            error = fault(answer)
            assert (error.status, error.pfc_flags) == (RPC_ACCESS_DENIED, WHOLE)
            assert closed_by(link) is CloseReason.ACCESS_DENIED
        assert case.server.unfinished_bytes == 0


def test_a_request_that_announces_too_much_is_refused_with_its_first_fragment() -> None:
    link = Case().link().bound()
    assert link.send(fragment(b"", ADD.opnum, flags=FIRST, alloc_hint=4 * MIB)) == []
    link = Case().link().bound()
    error = fault(link.send(fragment(b"", ADD.opnum, flags=FIRST, alloc_hint=4 * MIB + 1)))
    assert error.status == RPC_ACCESS_DENIED
    # One that is not cut may say what it likes.
    link = Case().link().bound()
    stub = ADD.request.encode(Number(1), NDR)
    assert response(ADD, link.send(fragment(stub, ADD.opnum, alloc_hint=0xFFFFFFFF))) == Number(2)


def test_unfinished_requests_are_limited_together() -> None:
    case = Case(RpcSettings(max_unfinished_bytes=1000))
    links = [case.link().bound() for _ in range(3)]
    for link in links[:2]:
        assert link.send(fragment(bytes(400), flags=FIRST)) == []
    assert fault(links[2].send(fragment(bytes(400), flags=FIRST))).status == RPC_ACCESS_DENIED
    assert case.server.unfinished_bytes == 800
    links[0].lose()
    assert case.server.unfinished_bytes == 400


def test_a_fragment_longer_than_agreed_is_a_protocol_error() -> None:
    link = Case().link().bound()
    assert response(ADD, link.send(fragment(bytes(5840 - 24)))) == Number(1)
    link = Case().link().bound()
    error = fault(link.send(fragment(bytes(5840 - 23))))
    assert (error.status, error.p_cont_id, error.pfc_flags) == (NCA_S_PROTO_ERROR, 0, WHOLE)


@pytest.mark.parametrize("flags", [0, LAST])
def test_a_fragment_of_no_call_is_a_protocol_error(flags: int) -> None:
    link = Case().link().bound()
    error = fault(link.send(fragment(b"", flags=flags, call_id=7)))
    assert (error.status, error.call_id, error.p_cont_id) == (NCA_S_PROTO_ERROR, 7, 0)
    assert closed_by(link) is CloseReason.PROTOCOL_ERROR


def test_a_fragment_of_no_call_on_a_multiplexed_connection_names_its_context() -> None:
    link = Case().link().bound(flags=MULTIPLEXED)
    assert fault(link.send(fragment(b"", flags=0, p_cont_id=9))).status == NCA_S_UNK_IF
    assert link.closed is None
    error = fault(link.send(fragment(b"", flags=0, call_id=7)))
    assert (error.status, error.call_id) == (NCA_S_PROTO_ERROR, 7)


def test_late_fragments_of_old_calls_are_ignored() -> None:
    link = Case().link().bound()
    link.call(ADD, Number(1), call_id=200)
    assert link.send(fragment(b"", flags=LAST, call_id=51)) == []
    assert link.send(fragment(b"", flags=LAST, call_id=200)) == []
    assert fault(link.send(fragment(b"", flags=LAST, call_id=50))).status == NCA_S_PROTO_ERROR


def test_a_second_first_fragment_is_a_protocol_error() -> None:
    for extra in (0, 0x08, int(PfcFlags.PFC_MAYBE)):
        link = Case().link().bound()
        assert link.send(fragment(b"", flags=FIRST | extra, call_id=2)) == []
        error = fault(link.send(fragment(b"", flags=FIRST | extra, call_id=2)))
        assert (error.status, error.call_id) == (NCA_S_PROTO_ERROR, 2)


@pytest.mark.parametrize("flags", [FIRST, LAST, WHOLE, 0])
def test_fragments_of_two_calls_are_not_mixed(flags: int) -> None:
    link = Case().link().bound()
    link.send(fragment(b"", flags=FIRST, call_id=50))
    error = fault(link.send(fragment(b"", flags=flags, call_id=51)))
    assert (error.status, error.call_id) == (NCA_S_PROTO_ERROR, 50)
    link = Case().link().bound(flags=MULTIPLEXED)
    link.send(fragment(b"", flags=FIRST, call_id=50))
    error = fault(link.send(fragment(b"", flags=flags, call_id=51)))
    assert (error.status, error.call_id) == (NCA_S_PROTO_ERROR, 51)


def test_a_cancelled_first_fragment_is_refused_and_later_ones_are_not() -> None:
    link = Case().link().bound()
    error = fault(link.send(fragment(b"", flags=FIRST | CANCEL)))
    assert error.status == RPC_S_NO_CALL_ACTIVE
    assert error.pfc_flags & PfcFlags.PFC_DID_NOT_EXECUTE
    link = Case().link().bound()
    stub = ADD.request.encode(Number(1), NDR)
    assert link.send(fragment(stub[:2], flags=FIRST)) == []
    assert response(ADD, link.send(fragment(stub[2:], flags=LAST | CANCEL))) == Number(2)


def test_cancel_and_orphaned_between_fragments_are_ignored() -> None:
    for ptype in (PduType.CO_CANCEL, PduType.ORPHANED):
        link = Case().link().bound()
        stub = ADD.request.encode(Number(1), NDR)
        assert link.send(fragment(stub[:2], flags=FIRST)) == []
        assert link.send(pack_pdu(ptype, 1, b"")) == []
        assert response(ADD, link.send(fragment(stub[2:], flags=LAST))) == Number(2)


def test_call_ids_do_not_fall_and_are_not_used_twice_at_a_time() -> None:
    case = Case()
    link = case.link().bound()
    for call_id in (5, 5, 6):
        assert response(ADD, link.call(ADD, Number(1), call_id=call_id)) == Number(2)
    assert fault(link.call(ADD, Number(1), call_id=5)).status == NCA_S_PROTO_ERROR
    link = case.link().bound()
    assert link.call(HOLD, Number(1), call_id=9) == []
    assert fault(link.call(ADD, Number(1), call_id=9)).status == NCA_S_PROTO_ERROR


def test_an_object_uuid_is_skipped() -> None:
    link = Case().link().bound()
    stub = ADD.request.encode(Number(1), NDR)
    pdu = fragment(bytes(16) + stub, flags=WHOLE | OBJECT)
    assert response(ADD, link.send(pdu)) == Number(2)
    error = fault(link.send(fragment(bytes(15), flags=WHOLE | OBJECT, call_id=2)))
    assert error.status == NCA_S_PROTO_ERROR


def test_a_request_without_its_header_is_a_protocol_error() -> None:
    link = Case().link().bound()
    assert fault(link.send(pack_pdu(PduType.REQUEST, 1, b"1234"))).status == NCA_S_PROTO_ERROR


def test_a_stub_that_does_not_decode_is_a_fault_and_the_connection_stays() -> None:
    link = Case().link().bound()
    error = fault(link.send(fragment(b"123")))
    assert error.status == RPC_X_BAD_STUB_DATA
    assert error.pfc_flags & PfcFlags.PFC_DID_NOT_EXECUTE
    assert response(ADD, link.call(ADD, Number(1), call_id=2)) == Number(2)


def test_a_length_shorter_than_the_header_closes_the_connection() -> None:
    link = Case().link().bound()
    assert link.send(CommonHeader(0, 3, 15, 0, 1).serialize()) == []
    assert closed_by(link) is CloseReason.PROTOCOL_ERROR
