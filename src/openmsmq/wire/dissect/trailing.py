"""The headers after the body as trees, and those that a remote read adds."""

from typing import Final

from openmsmq.wire.checks import padded_end
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.multi_queue_format_header import (
    ADMINISTRATION_HEADER_ID,
    DESTINATION_HEADER_ID,
    MQF_ADDRESS_HEADER,
    RESPONSE_HEADER_ID,
    MQFFormatType,
    parse_addresses,
    parse_element,
    parse_signature,
)
from openmsmq.wire.message.soap_header import (
    BODY_SECTION_ID,
    HEADER_SECTION_ID,
    find_body_section,
    parse_section,
)
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.packets.base_header import BaseHeaderFlags
from openmsmq.wire.packets.session_header import SESSION_HEADER_SIZE
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader
from openmsmq.wire.remote_read.extended_address_header import ExtendedAddressHeader
from openmsmq.wire.remote_read.extension_header import (
    EXTENSION_HEADER,
    EXTENSION_HEADER_SIZE,
    ExtensionHeader,
    ExtensionHeaderFlags,
)
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader

from .body import show_content
from .internal import read_session_header
from .node import Node
from .trailing_tables import (
    COMPOUND_MESSAGE,
    DEAD_LETTER,
    DEBUG,
    EXTENDED_ADDRESS,
    EXTENSION,
    MQF_ADDRESSES,
    MQF_SIGNATURE,
    SOAP_SECTIONS,
    SRMP_ENVELOPE,
    SUBQUEUE,
    host_address,
)
from .values import enum_name, guid_text

_MQF_TYPE: Final = enum_name(MQFFormatType)
_MQF_PARTS: Final = (
    ("Destination", DESTINATION_HEADER_ID),
    ("Administration", ADMINISTRATION_HEADER_ID),
    ("Response", RESPONSE_HEADER_ID),
)


def read_trailing_headers(
    root: Node, buf: memoryview, offset: int, base_flags: int, flags: int
) -> int:
    """Append the headers that the flags of BaseHeader and UserHeader announce."""
    if base_flags & BaseHeaderFlags.DH:
        offset = _read_debug_header(root, buf, offset)
    if flags & UserHeaderFlags.AH:
        offset = _read_srmp_envelope(root, buf, offset)
        offset = _read_compound_message(root, buf, offset)
    if flags & UserHeaderFlags.HH:
        offset = _read_soap_header(root, buf, offset)
    if flags & UserHeaderFlags.MQ:
        offset = _read_multi_queue_format(root, buf, offset)
    return offset


def _open(root: Node, name: str, buf: memoryview, offset: int) -> Node:
    """A header of which nothing is known yet but its start."""
    return root.add(name, offset, len(buf) - offset)


def _close(node: Node, end: int) -> int:
    """The end of a header is known; what lies between its last part and the end is padding."""
    last = node.children[-1]
    if end > last.offset + last.size:
        node.add("Padding", last.offset + last.size, end - last.offset - last.size)
    node.size = end - node.offset
    return end


def _read_debug_header(root: Node, buf: memoryview, offset: int) -> int:
    node = _open(root, "DebugHeader", buf, offset)
    fixed_end = DEBUG.read(node, buf, offset)
    header, end = DebugHeader.parse(buf, offset)
    if header.queue_identifier is not None:
        queue = guid_text(header.queue_identifier)
        node.add("QueueIdentifier", fixed_end, end - fixed_end, queue)
    return _close(node, end)


def _read_srmp_envelope(root: Node, buf: memoryview, offset: int) -> int:
    node = _open(root, "SRMPEnvelopeHeader", buf, offset)
    fixed_end = SRMP_ENVELOPE.read(node, buf, offset)
    header, end = SRMPEnvelopeHeader.parse(buf, offset)
    node.add("Data", fixed_end, end - fixed_end, header.data)
    return _close(node, end)


def _read_compound_message(root: Node, buf: memoryview, offset: int) -> int:
    node = _open(root, "CompoundMessageHeader", buf, offset)
    fixed_end = COMPOUND_MESSAGE.read(node, buf, offset)
    header, end = CompoundMessageHeader.parse(buf, offset)
    data = node.add("Data", fixed_end, len(header.data))
    show_content(data, header.data)
    body = header.message_body
    if body:
        at = fixed_end + header.msg_body_offset
        show_content(data.add("MessageBody", at, len(body)), body)
    return _close(node, end)


def _read_soap_header(root: Node, buf: memoryview, offset: int) -> int:
    node = _open(root, "SoapHeader", buf, offset)
    head, tail = SOAP_SECTIONS
    start = head.read(node, buf, offset)
    text, end = parse_section(buf, offset, HEADER_SECTION_ID, "Header")
    node.add("Header", start, end - start, text)
    section = find_body_section(buf, offset, end)
    start = tail.read(node, buf, section)
    text, end = parse_section(buf, section, BODY_SECTION_ID, "Body")
    node.add("Body", start, end - start, text)
    return _close(node, padded_end(buf, offset, end))


def _read_multi_queue_format(root: Node, buf: memoryview, offset: int) -> int:
    node = _open(root, "MultiQueueFormatHeader", buf, offset)
    for name, header_id in _MQF_PARTS:
        offset = _read_addresses(node, buf, offset, name, header_id)
    part = _open(node, "Signature", buf, offset)
    start = MQF_SIGNATURE.read(part, buf, offset)
    signature, offset = parse_signature(buf, offset)
    if signature:
        part.add("Signature", start, len(signature), signature)
    _close(part, offset)
    return _close(node, offset)


def _read_addresses(node: Node, buf: memoryview, offset: int, name: str, header_id: int) -> int:
    part = _open(node, name, buf, offset)
    position = MQF_ADDRESSES.read(part, buf, offset)
    header_size, _, _, count = MQF_ADDRESS_HEADER.unpack_from(buf, offset)
    end = 0
    fault: MalformedPacket | None = None
    try:
        _, end = parse_addresses(buf, offset, header_id, name)
    except MalformedPacket as exc:
        fault = exc
    # A fault in the list is met again here, after the elements before it.
    if fault is None or fault.offset >= position:
        raw = bytes(buf[: offset + header_size])
        for _ in range(count):
            element, after = parse_element(raw, offset, position, f"MultiQueueFormatHeader.{name}")
            kind = _MQF_TYPE(element.format_type)
            part.add("Element", position, after - position, element.format_name, kind)
            position = after
    if fault is not None:
        raise fault
    return _close(part, end)


def read_extension_headers(root: Node, buf: memoryview, offset: int, base_flags: int) -> bool:
    """Append what follows the UserMessage: the headers of a remote read, or bytes of no meaning.

    Return whether a SessionHeader was among them; elsewhere it follows the packet.
    """
    session = bool(base_flags & BaseHeaderFlags.SH) and _is_end(buf, offset + SESSION_HEADER_SIZE)
    if session:
        offset = read_session_header(root, buf, offset)
    if offset < len(buf) and not _is_end(buf, offset):
        rest = bytes(buf[offset:])
        root.add("Surplus", offset, len(rest), rest, "bytes after the last header")
    elif offset < len(buf):
        _read_extensions(root, buf, offset)
    return session


def _is_end(buf: memoryview, offset: int) -> bool:
    """Whether the packet ends here, or continues with an ExtensionHeader.

    Choice: a HeaderSize that is right tells such a header from bytes without a meaning.
    """
    rest = buf[offset:]
    if len(rest) < EXTENSION_HEADER_SIZE:
        return offset == len(buf)
    header_size: int = EXTENSION_HEADER.unpack_from(rest)[0]
    return header_size == EXTENSION_HEADER_SIZE


def _read_extensions(root: Node, buf: memoryview, offset: int) -> None:
    node = _open(root, "ExtensionHeader", buf, offset)
    EXTENSION.read(node, buf, offset)
    header, end = ExtensionHeader.parse(buf, offset)
    offset = _close(node, end)
    if header.flags & ExtensionHeaderFlags.SQ:
        offset = _read_subqueue_header(root, buf, offset)
    if header.flags & ExtensionHeaderFlags.DL:
        offset = _read_dead_letter_header(root, buf, offset)
    if header.flags & ExtensionHeaderFlags.EA:
        _read_extended_address(root, buf, offset)


def _read_subqueue_header(root: Node, buf: memoryview, offset: int) -> int:
    node = _open(root, "SubqueueHeader", buf, offset)
    SUBQUEUE.read(node, buf, offset)
    return _close(node, SubqueueHeader.parse(buf, offset)[1])


def _read_dead_letter_header(root: Node, buf: memoryview, offset: int) -> int:
    node = _open(root, "DeadLetterHeader", buf, offset)
    start = DEAD_LETTER.read(node, buf, offset)
    header, end = DeadLetterHeader.parse(buf, offset)
    node.add("DeadLetterPathName", start, end - start, header.dead_letter_path_name)
    return _close(node, end)


def _read_extended_address(root: Node, buf: memoryview, offset: int) -> None:
    node = _open(root, "ExtendedAddressHeader", buf, offset)
    EXTENDED_ADDRESS.read(node, buf, offset)
    header, end = ExtendedAddressHeader.parse(buf, offset)
    node.children[-1].meaning = host_address(header.address_type, header.address)
    _close(node, end)
