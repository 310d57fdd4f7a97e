"""[MS-MQMQ] 2.2.5."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.sequence_info import SequenceInfo

RAW = bytes.fromhex("feffffffffffffff 02000000 01000000")


def test_layout() -> None:
    assert SequenceInfo.parse(RAW) == (SequenceInfo(-2, 2, 1), 16)
    assert SequenceInfo(-2, 2, 1).serialize() == RAW


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFF))
def test_parse_reverses_serialize(seq_id: int, seq_no: int, prev_no: int) -> None:
    info = SequenceInfo(seq_id, seq_no, prev_no)
    assert SequenceInfo.parse(memoryview(b"?" + info.serialize()), 1) == (info, 17)


@pytest.mark.parametrize("size", range(16))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SequenceInfo.parse(RAW[:size])
