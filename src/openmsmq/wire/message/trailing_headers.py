"""The optional headers after the body of a UserMessage: their order and where each one lies."""

from typing import Final, NamedTuple

from openmsmq.wire.packets.base_header import BaseHeaderFlags

from .debug_header import DebugHeader
from .multi_queue_format_header import MultiQueueFormatHeader
from .soap_header import SoapHeader
from .srmp_headers import compound_message_header_end, srmp_envelope_header_end
from .user_header import UserHeaderFlags

_DH: Final = int(BaseHeaderFlags.DH)
_AH: Final = int(UserHeaderFlags.AH)
_HH: Final = int(UserHeaderFlags.HH)
_MQ: Final = int(UserHeaderFlags.MQ)
OPTIONAL_AFTER_BODY: Final = _AH | _HH | _MQ


class TrailingHeaders(NamedTuple):
    """Offset of each header, 0 when it is absent, and the end of the last one."""

    debug: int
    srmp_envelope: int
    compound_message: int
    soap: int
    multi_queue_format: int
    end: int


def trailing_layout(packet: bytes, offset: int, base_flags: int, flags: int) -> TrailingHeaders:
    """Parse every header that the flags of BaseHeader and UserHeader announce, in order."""
    view = memoryview(packet)
    debug = srmp_envelope = compound_message = soap = multi_queue_format = 0
    if base_flags & _DH:
        debug = offset
        offset = DebugHeader.parse(view, offset)[1]
    if flags & _AH:
        srmp_envelope = offset
        compound_message = srmp_envelope_header_end(packet, offset)
        offset = compound_message_header_end(packet, compound_message)
    if flags & _HH:
        soap = offset
        offset = SoapHeader.parse(view, offset)[1]
    if flags & _MQ:
        multi_queue_format = offset
        offset = MultiQueueFormatHeader.parse(view, offset)[1]
    return TrailingHeaders(debug, srmp_envelope, compound_message, soap, multi_queue_format, offset)
