"""MultiQueueFormatHeader: all queues a message was sent to ([MS-MQMQ] 2.2.20.1-2.2.20.3)."""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple, Self
from uuid import UUID

from openmsmq.wire.checks import pad4, padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import GUID_NULL, GUID_SIZE, guid
from openmsmq.wire.wide_text import find_text_end, lenient_text, serialize_text

MQF_ADDRESS_HEADER: Final = Struct("<IHHI")
MQF_ADDRESS_HEADER_SIZE: Final = 12
MQF_SIGNATURE_HEADER: Final = Struct("<HHI")
MQF_SIGNATURE_HEADER_SIZE: Final = 8
DESTINATION_HEADER_ID: Final = 0x0064
ADMINISTRATION_HEADER_ID: Final = 0x00C8
RESPONSE_HEADER_ID: Final = 0x012C
SIGNATURE_ID: Final = 0x015E
PARTS: Final = (
    (DESTINATION_HEADER_ID, "Destination"),
    (ADMINISTRATION_HEADER_ID, "Administration"),
    (RESPONSE_HEADER_ID, "Response"),
)
FORMAT_TYPE_SIZE: Final = 2
QUEUE_NUMBER_SIZE: Final = 4
# The shortest element: a type and the NUL of an empty direct name.
MIN_ELEMENT_SIZE: Final = 4
# Choice: a limit of our own for the three lists together, so that short names cost little.
MAX_ELEMENT_COUNT: Final = 512
DIRECT_PREFIX: Final = "DIRECT="


class MQFFormatType(IntEnum):
    """MQFFormatNameElement.FormatType ([MS-MQMQ] 2.2.18.1.4)."""

    PUBLIC = 1
    PRIVATE = 2
    DIRECT = 3
    DISTRIBUTION_LIST = 6


DIRECT: Final = int(MQFFormatType.DIRECT)
# The types that start with a GUID, and the size of the number after it.
GUID_FORMAT_TYPES: Final[dict[int, int]] = {
    MQFFormatType.PUBLIC: 0,
    MQFFormatType.PRIVATE: QUEUE_NUMBER_SIZE,
    MQFFormatType.DISTRIBUTION_LIST: 0,
}


class MQFFormatNameElement(NamedTuple):
    """One queue: a GUID, a GUID with a number, or a direct name, as `format_type` says."""

    format_type: int
    guid: UUID = GUID_NULL
    private_queue_identifier: int = 0
    direct_format_name: str = ""

    @property
    def format_name(self) -> str:
        """The format name as text."""
        guid = str(self.guid).upper()
        if self.format_type == MQFFormatType.PUBLIC:
            return f"PUBLIC={guid}"
        if self.format_type == MQFFormatType.PRIVATE:
            return f"PRIVATE={guid}\\{self.private_queue_identifier:X}"
        if self.format_type == MQFFormatType.DISTRIBUTION_LIST:
            return f"DL={guid}"
        # The specification does not show whether the prefix is on the wire: accept both.
        if self.direct_format_name.upper().startswith(DIRECT_PREFIX):
            return DIRECT_PREFIX + self.direct_format_name[len(DIRECT_PREFIX) :]
        return DIRECT_PREFIX + self.direct_format_name


@dataclass(frozen=True, slots=True)
class MultiQueueFormatHeader:
    """The queues of a multiple-element send, and the MSMQ 3.0 signature over them."""

    destination: tuple[MQFFormatNameElement, ...]
    administration: tuple[MQFFormatNameElement, ...] = ()
    response: tuple[MQFFormatNameElement, ...] = ()
    signature: bytes = b""

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        limit, end = MAX_ELEMENT_COUNT, offset
        lists = []
        for header_id, part in PARTS:
            elements, end = parse_addresses(buf, end, header_id, part, limit=limit)
            limit -= len(elements)
            lists.append(elements)
        signature, end = parse_signature(buf, end)
        return cls(lists[0], lists[1], lists[2], signature), end

    def serialize(self) -> bytes:
        """Return the header.

        Raises:
            ValueError: there are too many queues.
        """
        count = len(self.destination) + len(self.administration) + len(self.response)
        if count > MAX_ELEMENT_COUNT:
            raise ValueError(f"a message names at most {MAX_ELEMENT_COUNT} queues, not {count}")
        signature = MQF_SIGNATURE_HEADER.pack(SIGNATURE_ID, 0, len(self.signature)) + self.signature
        return (
            _serialize_addresses(DESTINATION_HEADER_ID, self.destination)
            + _serialize_addresses(ADMINISTRATION_HEADER_ID, self.administration)
            + _serialize_addresses(RESPONSE_HEADER_ID, self.response)
            + signature.ljust(pad4(len(signature)), b"\0")
        )


def parse_addresses(
    buf: bytes | memoryview,
    offset: int,
    header_id: int,
    part: str,
    *,
    limit: int = MAX_ELEMENT_COUNT,
) -> tuple[tuple[MQFFormatNameElement, ...], int]:
    """Parse one MQFAddressHeader."""
    field = f"MultiQueueFormatHeader.{part}"
    start = require(buf, offset, MQF_ADDRESS_HEADER_SIZE, field)
    header_size, stated_id, _, element_count = MQF_ADDRESS_HEADER.unpack_from(buf, offset)
    if header_size < MQF_ADDRESS_HEADER_SIZE:
        raise MalformedPacket(f"{field}.HeaderSize", offset, f"{header_size} is less than 12")
    end = require(buf, offset, header_size, f"{field}.HeaderSize")
    if stated_id != header_id:
        raise MalformedPacket(
            f"{field}.HeaderID", offset + 4, f"is 0x{stated_id:04X}, not 0x{header_id:04X}"
        )
    if element_count > min(limit, (end - start) // MIN_ELEMENT_SIZE):
        raise MalformedPacket(
            f"{field}.ElementCount",
            offset + 8,
            f"{element_count} is more than {limit} or than {end - start} bytes hold",
        )
    raw = bytes(buf[:end])
    elements = []
    for _ in range(element_count):
        element, start = parse_element(raw, offset, start, field)
        elements.append(element)
    if end - start >= 4:
        raise MalformedPacket(
            f"{field}.HeaderSize", offset, f"{end - start} bytes after the last element"
        )
    # Whether HeaderSize counts the padding is not said; rounding up is right in both cases.
    return tuple(elements), padded_end(buf, offset, end)


def parse_element(
    raw: bytes, start: int, offset: int, field: str
) -> tuple[MQFFormatNameElement, int]:
    """Parse one MQFFormatNameElement; boundaries count from `start`."""
    end = offset + FORMAT_TYPE_SIZE
    format_type = int.from_bytes(raw[offset:end], "little")
    if format_type == DIRECT:
        name_end = find_text_end(raw, end)
        if name_end < 0:
            raise MalformedPacket(f"{field}.DirectFormatName", end, "no NUL at the end")
        # As in a UserHeader, a half of a surrogate pair leads to no queue, but does no harm.
        name = lenient_text(raw[end:name_end])
        return MQFFormatNameElement(DIRECT, GUID_NULL, 0, name), name_end
    number_size = GUID_FORMAT_TYPES.get(format_type)
    if number_size is None or end > len(raw):
        require(raw, offset, FORMAT_TYPE_SIZE, f"{field}.FormatType")
        raise MalformedPacket(f"{field}.FormatType", offset, f"{format_type} is not 1, 2, 3 or 6")
    guid_offset = start + pad4(end - start)
    guid_end = guid_offset + GUID_SIZE
    end = guid_end + number_size
    if end > len(raw):
        require(raw, guid_offset, GUID_SIZE + number_size, f"{field}.FormatName")
    number = int.from_bytes(raw[guid_end:end], "little")
    return MQFFormatNameElement(format_type, guid(raw[guid_offset:guid_end]), number), end


def parse_signature(buf: bytes | memoryview, offset: int) -> tuple[bytes, int]:
    """Parse the MQFSignatureHeader."""
    field = "MultiQueueFormatHeader.Signature"
    start = require(buf, offset, MQF_SIGNATURE_HEADER_SIZE, field)
    header_id, _, size = MQF_SIGNATURE_HEADER.unpack_from(buf, offset)
    if header_id != SIGNATURE_ID:
        raise MalformedPacket(
            f"{field}.ID", offset, f"is 0x{header_id:04X}, not 0x{SIGNATURE_ID:04X}"
        )
    end = require(buf, start, size, f"{field}.Size")
    return bytes(buf[start:end]), padded_end(buf, offset, end)


def raw_lists(buf: bytes, offset: int) -> tuple[bytes, bytes, bytes]:
    """The elements of the three lists of a checked header as they stand there, without padding."""
    lists = []
    for _, part in PARTS:
        header_size, _, _, element_count = MQF_ADDRESS_HEADER.unpack_from(buf, offset)
        start = end = offset + MQF_ADDRESS_HEADER_SIZE
        for _ in range(element_count):
            _, end = parse_element(buf, offset, end, part)
        lists.append(buf[start:end])
        offset += pad4(header_size)
    return lists[0], lists[1], lists[2]


def _serialize_addresses(header_id: int, elements: tuple[MQFFormatNameElement, ...]) -> bytes:
    out = bytearray(MQF_ADDRESS_HEADER_SIZE)
    for element in elements:
        out += element.format_type.to_bytes(FORMAT_TYPE_SIZE, "little")
        if element.format_type == DIRECT:
            out += serialize_text(element.direct_format_name)
            continue
        out += bytes(pad4(len(out)) - len(out)) + element.guid.bytes_le
        number_size = GUID_FORMAT_TYPES[element.format_type]
        out += element.private_queue_identifier.to_bytes(QUEUE_NUMBER_SIZE, "little")[:number_size]
    out += bytes(pad4(len(out)) - len(out))
    MQF_ADDRESS_HEADER.pack_into(out, 0, len(out), header_id, 0, len(elements))
    return bytes(out)
