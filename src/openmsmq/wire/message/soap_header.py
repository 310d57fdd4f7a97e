"""SoapHeader: two application-defined texts ([MS-MQMQ] 2.2.20.7)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import pad4, padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.wide_text import WCHAR, WCHAR_SIZE, parse_text, serialize_text

SECTION: Final = Struct("<HHI")
SECTION_SIZE: Final = 8
HEADER_SECTION_ID: Final = 0x0320
BODY_SECTION_ID: Final = 0x0384


@dataclass(frozen=True, slots=True)
class SoapHeader:
    """The SOAP header and body that an application gave with its message."""

    header: str
    body: str

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        header, end = parse_section(buf, offset, HEADER_SECTION_ID, "Header")
        body_offset = find_body_section(buf, offset, end)
        body, end = parse_section(buf, body_offset, BODY_SECTION_ID, "Body")
        return cls(header, body), padded_end(buf, offset, end)

    def serialize(self) -> bytes:
        return _serialize_section(HEADER_SECTION_ID, self.header) + _serialize_section(
            BODY_SECTION_ID, self.body
        )


def find_body_section(buf: bytes | memoryview, start: int, header_end: int) -> int:
    """Return the offset of the Body section after the Header section of the header at `start`."""
    # The specification does not say whether it is aligned: accept both.
    aligned = padded_end(buf, start, header_end)
    return aligned if _has_section_id(buf, aligned, BODY_SECTION_ID) else header_end


def _has_section_id(buf: bytes | memoryview, offset: int, section_id: int) -> bool:
    raw = buf[offset : offset + WCHAR_SIZE]
    return len(raw) == WCHAR_SIZE and WCHAR.unpack(raw)[0] == section_id


def parse_section(
    buf: bytes | memoryview, offset: int, section_id: int, name: str
) -> tuple[str, int]:
    """Return the text of one section and where it ends, without padding."""
    text_offset = require(buf, offset, SECTION_SIZE, f"SoapHeader.{name}SectionID")
    stated_id, _, length = SECTION.unpack_from(buf, offset)
    if stated_id != section_id:
        raise MalformedPacket(
            f"SoapHeader.{name}SectionID", offset, f"is 0x{stated_id:04X}, not 0x{section_id:04X}"
        )
    size = length * WCHAR_SIZE
    end = require(buf, text_offset, size, f"SoapHeader.{name}")
    return parse_text(buf, text_offset, size, f"SoapHeader.{name}"), end


def _serialize_section(section_id: int, text: str) -> bytes:
    raw = serialize_text(text)
    section = SECTION.pack(section_id, 0, len(raw) // WCHAR_SIZE) + raw
    return section.ljust(pad4(len(section)), b"\0")
