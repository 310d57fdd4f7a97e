"""[MS-MQMQ] 2.2.20.4."""

import pytest
from hypothesis import given
from tests.wire.frames import frame_bytes
from tests.wire.strategies import session_headers

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.session_header import SessionHeader


def test_session_header_of_the_example() -> None:
    raw = frame_bytes(8)
    header, end = SessionHeader.parse(raw, 20)
    assert end == 36
    assert header == SessionHeader(1, 0, 0, 0, 0, 64, 0)
    assert header.serialize() == raw[20:]


@pytest.mark.spec("MQQB-2.2.6-03")
def test_fields_come_in_the_order_of_the_specification() -> None:
    header = SessionHeader(
        ack_sequence_number=0x0101,
        recoverable_msg_ack_seq_number=0x0202,
        recoverable_msg_ack_flags=0x04030303,
        user_msg_sequence_number=0x0505,
        recoverable_msg_seq_number=0x0606,
        window_size=0x0707,
        reserved=0x0808,
    )
    raw = bytes.fromhex("0101 0202 03030304 0505 0606 0707 0808")
    assert header.serialize() == raw
    assert SessionHeader.parse(raw) == (header, 16)


def test_the_window_is_64_messages_unless_said_otherwise() -> None:
    assert SessionHeader(0, 0, 0, 0, 0).serialize()[12:] == b"\x40\0\0\0"


@given(session_headers)
def test_parse_reverses_serialize(header: SessionHeader) -> None:
    assert SessionHeader.parse(memoryview(header.serialize())) == (header, 16)


@pytest.mark.parametrize("size", range(16))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match=f"needs 16 bytes, {size} remain"):
        SessionHeader.parse(bytes(size))
