"""[MS-MQMQ] 2.2.20, [MS-MQRR] 2.2.5.1: headers behind the body."""

from uuid import UUID

import pytest

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.trailing_headers import TrailingHeaders, trailing_layout
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.packets.base_header import BaseHeaderFlags

QUEUE = UUID("43CD8907-394C-8F11-4445-9078909EA0FC")
DEBUG = DebugHeader(QUEUE).serialize()
ENVELOPE = SRMPEnvelopeHeader("<e/>").serialize()
COMPOUND = CompoundMessageHeader(b"POST", 1, 2).serialize()
SOAP = SoapHeader("h", "b").serialize()
QUEUES = MultiQueueFormatHeader((MQFFormatNameElement(MQFFormatType.PUBLIC, QUEUE),)).serialize()
EVERY_FLAG = int(UserHeaderFlags.AH | UserHeaderFlags.HH | UserHeaderFlags.MQ)


def test_every_header_is_found_at_its_offset() -> None:
    before = b"body"
    packet = b"".join((before, DEBUG, ENVELOPE, COMPOUND, SOAP, QUEUES))
    envelope = 4 + len(DEBUG)
    compound = envelope + len(ENVELOPE)
    soap = compound + len(COMPOUND)
    queues = soap + len(SOAP)
    assert trailing_layout(packet, 4, BaseHeaderFlags.DH, EVERY_FLAG) == TrailingHeaders(
        4, envelope, compound, soap, queues, len(packet)
    )


@pytest.mark.parametrize(
    ("base_flags", "flags", "header", "field"),
    [
        (BaseHeaderFlags.DH, 0, DEBUG, "debug"),
        (0, UserHeaderFlags.HH, SOAP, "soap"),
        (0, UserHeaderFlags.MQ, QUEUES, "multi_queue_format"),
    ],
)
def test_an_absent_header_takes_no_space(
    base_flags: int, flags: int, header: bytes, field: str
) -> None:
    found = trailing_layout(b"body" + header, 4, base_flags, flags)._asdict()
    assert found.pop("end") == 4 + len(header)
    assert {name for name, offset in found.items() if offset} == {field}


def test_a_header_that_is_announced_and_missing_is_malformed() -> None:
    for flag in (UserHeaderFlags.AH, UserHeaderFlags.HH, UserHeaderFlags.MQ):
        with pytest.raises(MalformedPacket):
            trailing_layout(b"body", 4, 0, int(flag))
    with pytest.raises(MalformedPacket, match="DebugHeader"):
        trailing_layout(b"body", 4, BaseHeaderFlags.DH, 0)
    with pytest.raises(MalformedPacket, match="CompoundMessageHeader"):
        trailing_layout(ENVELOPE, 0, 0, UserHeaderFlags.AH)
