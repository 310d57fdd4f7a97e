"""PDUs out of a stream that is cut anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.rpc.framer import PduFramer
from openmsmq.wire.rpc.header import CommonHeader, PduType, pack_pdu

PDUS = [pack_pdu(PduType.REQUEST, number, bytes(size)) for number, size in enumerate((0, 1, 40, 9))]


def drain(framer: PduFramer) -> list[bytes]:
    return list(iter(framer.next, None))


def test_whole_pdus_come_out_in_order() -> None:
    framer = PduFramer()
    framer.feed(b"".join(PDUS))
    assert drain(framer) == PDUS
    assert framer.pending_bytes == 0


def test_a_stream_that_is_cut_at_every_byte_gives_the_same_pdus() -> None:
    data = b"".join(PDUS)
    for cut in range(len(data)):
        framer = PduFramer()
        framer.feed(data[:cut])
        first = drain(framer)
        framer.feed(data[cut:])
        assert first + drain(framer) == PDUS


@given(st.lists(st.integers(1, 60)))
def test_any_cuts_give_the_same_pdus(sizes: list[int]) -> None:
    data = b"".join(PDUS)
    framer = PduFramer()
    found = []
    for size in sizes:
        framer.feed(data[:size])
        data = data[size:]
        found += drain(framer)
    framer.feed(data)
    assert found + drain(framer) == PDUS


def test_a_big_endian_length_counts() -> None:
    pdu = CommonHeader(PduType.BIND, 3, 20, 0, 1, packed_drep=bytes(4)).serialize() + bytes(4)
    framer = PduFramer()
    framer.feed(pdu + b"x")
    assert framer.next() == pdu
    assert framer.pending_bytes == 1


def test_a_length_shorter_than_the_header_is_malformed_at_its_place() -> None:
    framer = PduFramer()
    framer.feed(PDUS[2])
    assert framer.next() == PDUS[2]
    framer.feed(PDUS[1] + CommonHeader(0, 3, 15, 0, 1).serialize())
    assert framer.next() == PDUS[1]
    for _ in range(2):
        with pytest.raises(MalformedPacket) as caught:
            framer.next()
        assert caught.value.offset == len(PDUS[2]) + len(PDUS[1]) + 8
