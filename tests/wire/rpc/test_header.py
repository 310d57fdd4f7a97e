"""The common header, in both byte orders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.rpc.header import CommonHeader, PduType, pack_pdu

# C706 12.6.3.1, a bind of 72 bytes with call id 1.
VECTOR = bytes.fromhex("05000b03100000004800000001000000")

bytes_ = st.integers(0, 255)
shorts = st.integers(0, 0xFFFF)


def test_the_vector_is_read_and_rebuilt() -> None:
    header, end = CommonHeader.parse(VECTOR)
    assert header == CommonHeader(PduType.BIND, 3, 72, 0, 1)
    assert header.is_little_endian
    assert end == 16
    assert header.serialize() == VECTOR


def test_a_big_endian_header_is_read() -> None:
    data = bytes.fromhex("05000b03000000000048000000000001")
    header, _ = CommonHeader.parse(data)
    assert (header.frag_length, header.call_id) == (72, 1)
    assert not header.is_little_endian
    assert header.serialize() == data


@given(
    bytes_, bytes_, shorts, shorts, st.integers(0, 0xFFFFFFFF), st.binary(min_size=4, max_size=4)
)
def test_every_header_that_fits_comes_back(
    ptype: int, flags: int, size: int, auth: int, call_id: int, drep: bytes
) -> None:
    header = CommonHeader(ptype, flags, size, auth, call_id, 5, 1, drep)
    if size < 16 + auth:
        with pytest.raises(MalformedPacket, match="auth_length"):
            CommonHeader.parse(header.serialize())
    else:
        assert CommonHeader.parse(header.serialize()) == (header, 16)


def test_a_header_that_is_cut_off_is_malformed() -> None:
    for size in range(16):
        with pytest.raises(MalformedPacket):
            CommonHeader.parse(VECTOR[:size])


def test_a_pdu_says_its_lengths() -> None:
    header, _ = CommonHeader.parse(pack_pdu(PduType.AUTH3, 9, bytes(4), verifier=bytes(8 + 5)))
    assert (header.frag_length, header.auth_length) == (16 + 4 + 8 + 5, 5)
    assert CommonHeader.parse(pack_pdu(PduType.CO_CANCEL, 9, b""))[0].auth_length == 0
