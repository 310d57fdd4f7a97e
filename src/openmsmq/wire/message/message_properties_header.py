"""MessagePropertiesHeader: label, body and what describes them ([MS-MQMQ] 2.2.19.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.wide_text import lenient_text, serialize_text

MESSAGE_PROPERTIES: Final = Struct("<BBH20sIIIIIIII")
MESSAGE_PROPERTIES_SIZE: Final = 56
MAX_LABEL_LENGTH: Final = 0xFA

_Sizes = Callable[[bytes | memoryview, int], tuple[int, int, int, int]]
# LabelLength, MessageSize, AllocationBodySize, ExtensionSize.
_SIZES: Final[_Sizes] = Struct("<xB30xII12xI").unpack_from


class AcknowledgmentFlags(IntFlag):
    """MessagePropertiesHeader.Flags: the acknowledgments that the sender wants."""

    PA = 0x01
    PR = 0x02
    NA = 0x04
    NR = 0x08


@dataclass(frozen=True, slots=True)
class MessagePropertiesHeader:
    """All fields of the header; `body` has the bytes on the wire, clear or encrypted."""

    flags: int = 0
    label: str = ""
    message_class: int = 0
    correlation_id: bytes = bytes(20)
    body_type: int = 0
    application_tag: int = 0
    message_size: int = 0
    allocation_body_size: int = 0
    privacy_level: int = 0
    hash_algorithm: int = 0
    encryption_algorithm: int = 0
    extension: bytes = b""
    body: bytes = b""

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read the header; the body takes the greater of its two sizes if that fits."""
        extension, body, end, greater_end = properties_layout(buf, offset)
        if greater_end <= len(buf):
            end = greater_end
        fields = MESSAGE_PROPERTIES.unpack_from(buf, offset)
        header = cls(
            flags=fields[0],
            label=lenient_text(bytes(buf[offset + MESSAGE_PROPERTIES_SIZE : extension])),
            message_class=fields[2],
            correlation_id=fields[3],
            body_type=fields[4],
            application_tag=fields[5],
            message_size=fields[6],
            allocation_body_size=fields[7],
            privacy_level=fields[8],
            hash_algorithm=fields[9],
            encryption_algorithm=fields[10],
            extension=bytes(buf[extension:body]),
            body=bytes(buf[body:end]),
        )
        return header, padded_end(buf, offset, end)

    def serialize(self) -> bytes:
        label = encode_label(self.label)
        fixed = MESSAGE_PROPERTIES.pack(
            self.flags,
            len(label) // 2,
            self.message_class,
            self.correlation_id,
            self.body_type,
            self.application_tag,
            self.message_size,
            self.allocation_body_size,
            self.privacy_level,
            self.hash_algorithm,
            self.encryption_algorithm,
            len(self.extension),
        )
        variable = label + self.extension + self.body
        return fixed + variable + bytes(-len(variable) % 4)


def properties_layout(buf: bytes | memoryview, offset: int) -> tuple[int, int, int, int]:
    """Return the offsets of extension and body and two ends of the body, without padding.

    The first end is by MessageSize and lies inside the buffer. The second is by the greater of
    MessageSize and AllocationBodySize, which is the space that an encrypted body takes; it may lie
    outside.
    """
    end = offset + MESSAGE_PROPERTIES_SIZE
    if end > len(buf):
        require(buf, offset, MESSAGE_PROPERTIES_SIZE, "MessagePropertiesHeader")
    label_length, message_size, allocation_body_size, extension_size = _SIZES(buf, offset)
    if label_length > MAX_LABEL_LENGTH:
        raise MalformedPacket(
            "MessagePropertiesHeader.LabelLength", offset + 1, f"{label_length} is more than 250"
        )
    extension = end + 2 * label_length
    body = extension + extension_size
    end = body + message_size
    if end > len(buf):
        require(buf, offset + MESSAGE_PROPERTIES_SIZE, 2 * label_length, "Label")
        require(buf, extension, extension_size, "MessagePropertiesHeader.ExtensionData")
        require(buf, body, message_size, "MessagePropertiesHeader.MessageBody")
    if allocation_body_size > message_size:
        return extension, body, end, body + allocation_body_size
    return extension, body, end, end


def encode_label(label: str) -> bytes:
    """The bytes of a label with its NUL; none for no label.

    Raises:
        ValueError: the label is too long or has a NUL inside.
    """
    if not label:
        return b""
    raw = serialize_text(label)
    if len(raw) > 2 * MAX_LABEL_LENGTH or "\0" in label:
        raise ValueError("a label has at most 249 UTF-16 code units and no NUL")
    return raw
