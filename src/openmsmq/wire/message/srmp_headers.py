"""SRMPEnvelopeHeader and CompoundMessageHeader: what a message that came over HTTP keeps of it
([MS-MQRR] 2.2.5.1.2)."""

from codecs import utf_16_le_decode
from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import pad4, padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.wide_text import NUL, WCHAR_SIZE, parse_text, serialize_text

SRMP_ENVELOPE_HEADER: Final = Struct("<HHI")
SRMP_ENVELOPE_HEADER_SIZE: Final = 8
COMPOUND_MESSAGE_HEADER: Final = Struct("<HHIII")
COMPOUND_MESSAGE_HEADER_SIZE: Final = 16
# The specification gives no HeaderId values; these two were accepted by Windows.
SRMP_ENVELOPE_HEADER_ID: Final = 0
COMPOUND_MESSAGE_HEADER_ID: Final = 500


@dataclass(frozen=True, slots=True)
class SRMPEnvelopeHeader:
    """The SRMP envelope, as text."""

    data: str
    header_id: int = SRMP_ENVELOPE_HEADER_ID

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        data_offset = require(buf, offset, SRMP_ENVELOPE_HEADER_SIZE, "SRMPEnvelopeHeader")
        header_id, _, data_length = SRMP_ENVELOPE_HEADER.unpack_from(buf, offset)
        # DataLength counts WCHARs, so its product with 2 must not be taken modulo 2**32.
        size = data_length * WCHAR_SIZE
        end = require(buf, data_offset, size, "SRMPEnvelopeHeader.Data")
        data = parse_text(buf, data_offset, size, "SRMPEnvelopeHeader.Data")
        return cls(data, header_id), padded_end(buf, offset, end)

    def serialize(self) -> bytes:
        raw = serialize_text(self.data)
        header = SRMP_ENVELOPE_HEADER.pack(self.header_id, 0, len(raw) // WCHAR_SIZE) + raw
        return header.ljust(pad4(len(header)), b"\0")


@dataclass(frozen=True, slots=True)
class CompoundMessageHeader:
    """The HTTP request that carried the message, and where in it the message body is."""

    data: bytes
    msg_body_size: int
    msg_body_offset: int
    header_id: int = COMPOUND_MESSAGE_HEADER_ID

    @property
    def message_body(self) -> bytes:
        return self.data[self.msg_body_offset : self.msg_body_offset + self.msg_body_size]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        data_offset = require(buf, offset, COMPOUND_MESSAGE_HEADER_SIZE, "CompoundMessageHeader")
        header_id, _, http_body_size, msg_body_size, msg_body_offset = (
            COMPOUND_MESSAGE_HEADER.unpack_from(buf, offset)
        )
        end = require(buf, data_offset, http_body_size, "CompoundMessageHeader.Data")
        if msg_body_offset + msg_body_size > http_body_size:
            raise MalformedPacket(
                "CompoundMessageHeader.MsgBodyOffset",
                offset + 12,
                f"{msg_body_offset} + {msg_body_size} is beyond HTTPBodySize {http_body_size}",
            )
        header = cls(bytes(buf[data_offset:end]), msg_body_size, msg_body_offset, header_id)
        return header, padded_end(buf, offset, end)

    def serialize(self) -> bytes:
        header = (
            COMPOUND_MESSAGE_HEADER.pack(
                self.header_id, 0, len(self.data), self.msg_body_size, self.msg_body_offset
            )
            + self.data
        )
        return header.ljust(pad4(len(header)), b"\0")


def compound_message_end(buf: bytes | memoryview, offset: int) -> int:
    """Return where the Data of a CompoundMessageHeader that was checked ends, without padding."""
    http_body_size: int = COMPOUND_MESSAGE_HEADER.unpack_from(buf, offset)[2]
    return offset + COMPOUND_MESSAGE_HEADER_SIZE + http_body_size


def compound_message_body(packet: bytes, offset: int) -> bytes:
    """The message body in a CompoundMessageHeader that was checked."""
    _, _, _, size, start = COMPOUND_MESSAGE_HEADER.unpack_from(packet, offset)
    at = offset + COMPOUND_MESSAGE_HEADER_SIZE + start
    return packet[at : at + size]


def srmp_envelope_header_end(packet: bytes, offset: int) -> int:
    """Return where an SRMPEnvelopeHeader ends, padding included, after checking all of it."""
    start = offset + SRMP_ENVELOPE_HEADER_SIZE
    if start <= len(packet):
        end = start + SRMP_ENVELOPE_HEADER.unpack_from(packet, offset)[2] * WCHAR_SIZE
        if start < end <= len(packet) and packet[end - WCHAR_SIZE : end] == NUL:
            try:
                utf_16_le_decode(packet[start:end], "strict", True)
            except UnicodeDecodeError:
                pass
            else:
                return padded_end(packet, offset, end)
    # Something is unusual or wrong.
    return SRMPEnvelopeHeader.parse(packet, offset)[1]


def compound_message_header_end(packet: bytes, offset: int) -> int:
    """Return where a CompoundMessageHeader ends, padding included, after checking its sizes."""
    start = offset + COMPOUND_MESSAGE_HEADER_SIZE
    if start <= len(packet):
        _, _, size, body_size, body_offset = COMPOUND_MESSAGE_HEADER.unpack_from(packet, offset)
        end: int = start + size
        if end <= len(packet) and body_offset + body_size <= size:
            return padded_end(packet, offset, end)
    # Something is wrong: say what.
    return CompoundMessageHeader.parse(packet, offset)[1]
