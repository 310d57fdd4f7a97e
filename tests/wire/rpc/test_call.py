"""Requests, responses and faults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.rpc.call import CallHeader, Fault, pack_call, unpack_call
from openmsmq.wire.rpc.header import PduType, PfcFlags

longs = st.integers(0, 0xFFFFFFFF)
bytes_ = st.integers(0, 255)
shorts = st.integers(0, 0xFFFF)
# nca_s_proto_error for call 5, not executed.
FAULT = bytes.fromhex("0500032310000000200000000500000020000000000000000b00011c00000000")


def test_the_fault_vector_is_read_and_rebuilt() -> None:
    fault, end = Fault.parse(FAULT)
    assert fault == Fault(5, 0x1C01000B, 0x23)
    assert end == 32
    assert fault.serialize() == FAULT


@given(longs, longs, bytes_, shorts, bytes_)
def test_every_fault_comes_back(a: int, b: int, c: int, d: int, e: int) -> None:
    fault = Fault(a, b, c, d, e)
    assert Fault.parse(fault.serialize())[0] == fault


def test_a_request_header_is_read() -> None:
    data = pack_call(
        PduType.REQUEST,
        3,
        7,
        frag_length=30,
        auth_length=0,
        alloc_hint=6,
        p_cont_id=1,
        opnum=2,
    )
    assert CallHeader.parse(data) == (CallHeader(0, 3, 7, 6, 1, 2, 24), 24)
    assert unpack_call(data, 0) == (5, 0, 0, 3, 0x10, 30, 0, 7, 6, 1, 2)


def test_an_object_uuid_stands_before_the_stub_of_a_request_only() -> None:
    flags = int(PfcFlags.PFC_OBJECT_UUID)
    sizes = {"frag_length": 40, "auth_length": 0, "alloc_hint": 0, "p_cont_id": 0}
    request = pack_call(PduType.REQUEST, flags, 1, **sizes)
    assert CallHeader.parse(request + bytes(16))[0].stub_start == 40
    with pytest.raises(MalformedPacket):
        CallHeader.parse(request + bytes(15))
    response = pack_call(PduType.RESPONSE, flags, 1, **sizes)
    assert CallHeader.parse(response)[0].stub_start == 24


def test_what_is_cut_off_is_malformed() -> None:
    for size in range(32):
        with pytest.raises(MalformedPacket):
            Fault.parse(FAULT[:size])
    for size in range(24):
        with pytest.raises(MalformedPacket):
            CallHeader.parse(FAULT[:size])
