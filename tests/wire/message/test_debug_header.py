"""[MS-MQMQ] 2.2.20.8."""

from uuid import UUID

import pytest
from hypothesis import given
from tests.wire.strategies import debug_headers

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.debug_header import DebugHeader

GUID = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")


@pytest.mark.parametrize(
    ("header", "raw"),
    [
        (DebugHeader(), bytes(4)),
        (DebugHeader(GUID), bytes.fromhex("01000000") + GUID.bytes_le),
    ],
)
def test_layout(header: DebugHeader, raw: bytes) -> None:
    assert header.serialize() == raw
    assert DebugHeader.parse(b"\xff" + raw, 1) == (header, 1 + len(raw))


@given(debug_headers)
def test_parse_reverses_serialize(header: DebugHeader) -> None:
    raw = header.serialize()
    assert DebugHeader.parse(memoryview(raw)) == (header, len(raw))


def test_unused_bits_are_ignored() -> None:
    assert DebugHeader.parse(bytes.fromhex("fcffffff")) == (DebugHeader(), 4)
    assert DebugHeader.parse(bytes.fromhex("fdffffff") + GUID.bytes_le) == (DebugHeader(GUID), 20)


@pytest.mark.parametrize("queue_type", [2, 3])
def test_an_undefined_queue_type_is_malformed(queue_type: int) -> None:
    with pytest.raises(MalformedPacket, match=f"QT at offset 0: {queue_type} is not defined"):
        DebugHeader.parse(bytes([queue_type]) + bytes(19))


@pytest.mark.parametrize("size", range(20))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match="remain"):
        DebugHeader.parse(DebugHeader(GUID).serialize()[:size])
