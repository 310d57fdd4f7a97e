"""PGM packets as trees (RFC 3208, sections 8 and 9)."""

from typing import Final

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.pgm import (
    DataPacket,
    Header,
    Options,
    OtherPacket,
    Packet,
    PacketType,
    SourcePathMessage,
    TransportSessionId,
    parse_packet,
)
from openmsmq.wire.pgm.header import OPTIONS_PRESENT
from openmsmq.wire.pgm.options import (
    OPT_FIN,
    OPT_FRAGMENT,
    OPT_JOIN,
    OPT_NAK_LIST,
    OPT_RST,
    OPT_SYN,
    OPTION_SIZE,
    cut_options,
)

from .node import Node, attach_fault

PGM_PACKET: Final = "PgmPacket"
_HEADER_FIELDS: Final = (
    ("SourcePort", 0, 2),
    ("DestinationPort", 2, 2),
    ("Type", 4, 1),
    ("Options", 5, 1),
    ("Checksum", 6, 2),
    ("GlobalSourceID", 8, 6),
    ("TSDULength", 14, 2),
)
_OPTIONS_OFFSET: Final = 5
_NAMES: Final = {int(kind): kind.name for kind in PacketType}


def dissect_pgm(data: bytes) -> Node:
    """The tree of a PGM packet. Never fails: the tree ends with the fault, if there is one."""
    root = Node(PGM_PACKET, 0, len(data))
    try:
        header, size = Header.parse(data)
        _add_header(root.add("Header", 0, size), header, data)
        root.name = f"Pgm{_NAMES.get(header.type, 'Other')}"
        root.meaning = f"type {header.type:#04x}"
        _add_packet(root, parse_packet(data), data, size)
    except MalformedPacket as exc:
        attach_fault(root, exc)
    return root


def _add_header(node: Node, header: Header, data: bytes) -> None:
    for name, offset, size in _HEADER_FIELDS:
        raw = data[offset : offset + size]
        value = raw if name == "GlobalSourceID" else int.from_bytes(raw, "big")
        child = node.add(name, offset, size, value)
        child.hexadecimal = name in ("Type", "Options", "Checksum")
        if name == "Type":
            child.meaning = _NAMES.get(header.type, "not used by sources and receivers")


def _add_packet(root: Node, packet: Packet, data: bytes, offset: int) -> None:
    """Add what follows the header, and say what the packet is in one line."""
    if isinstance(packet, OtherPacket):
        return
    session = f"session {packet.tsi} to port {packet.destination_port}"
    if isinstance(packet, SourcePathMessage):
        root.add("SPMSequenceNumber", offset, 4, packet.sequence_number)
        root.add("TrailingEdge", offset + 4, 4, packet.trailing_edge)
        root.add("LeadingEdge", offset + 8, 4, packet.leading_edge)
        path = 4 + len(packet.path_nla.packed)
        root.add("PathNLA", offset + 12, path, str(packet.path_nla))
        root.meaning = f"{session}, window {packet.trailing_edge} to {packet.leading_edge}"
        _add_options(root, packet.options, data, offset + 12 + path)
    elif isinstance(packet, DataPacket):
        root.add("SequenceNumber", offset, 4, packet.sequence_number)
        root.add("TrailingEdge", offset + 4, 4, packet.trailing_edge)
        size = len(packet.data)
        root.meaning = f"{session}, packet {packet.sequence_number}, {size} bytes"
        _add_options(root, packet.options, data, offset + 8)
        root.add("Data", root.size - size, size, packet.data)
    else:
        root.add("RequestedSequenceNumber", offset, 4, packet.requested_sequence_number)
        source = 4 + len(packet.source_nla.packed)
        root.add("SourceNLA", offset + 4, source, str(packet.source_nla))
        group = 4 + len(packet.group_nla.packed)
        root.add("GroupNLA", offset + 4 + source, group, str(packet.group_nla))
        numbers = ", ".join(map(str, packet.sequence_numbers))
        root.meaning = f"{session}, about {numbers}"
        _add_options(root, packet.options, data, offset + 4 + source + group)


def _add_options(root: Node, options: Options, data: bytes, offset: int) -> None:
    """Add the options, if the header says that there are any."""
    if not data[_OPTIONS_OFFSET] & OPTIONS_PRESENT:
        return
    extensions, end = cut_options(data, offset)
    root.add("OPT_LENGTH", offset, OPTION_SIZE, end - offset)
    texts = _option_texts(options)
    for extension in extensions:
        size = OPTION_SIZE + len(extension.value)
        name, value = texts.get(extension.type, (f"Option{extension.type:02X}", extension.value))
        root.add(name, extension.offset, size, value)
    if texts:
        root.meaning += " (" + "; ".join(map(" ".join, texts.values())) + ")"


def _option_texts(options: Options) -> dict[int, tuple[str, str]]:
    """Name and value of the options that sources and receivers use, by their types."""
    texts: dict[int, tuple[str, str]] = {}
    if options.fragment is not None:
        first, offset, length = options.fragment
        place = f"{offset} of {length} bytes from packet {first} on"
        texts[OPT_FRAGMENT] = "OPT_FRAGMENT", place
    if options.nak_list:
        texts[OPT_NAK_LIST] = "OPT_NAK_LIST", ", ".join(map(str, options.nak_list))
    if options.join is not None:
        texts[OPT_JOIN] = "OPT_JOIN", str(options.join)
    if options.syn:
        texts[OPT_SYN] = "OPT_SYN", "the session begins"
    if options.fin:
        texts[OPT_FIN] = "OPT_FIN", "the session ends"
    if options.rst is not None:
        texts[OPT_RST] = "OPT_RST", f"the session is reset, error {options.rst.error_code}"
    return texts


class ApduCollector:
    """The APDUs of the packets of a capture: fragments in the order in which they come."""

    __slots__ = ("_max_sources", "_parts")

    def __init__(self, *, max_sources: int = 64) -> None:
        self._max_sources = max_sources
        # By source: the first packet of the APDU, its length, and what there is of it.
        self._parts: dict[TransportSessionId, tuple[int, int, bytes]] = {}

    def add(self, data: bytes) -> bytes | None:
        """A packet; returns the APDU that it completes."""
        try:
            packet = parse_packet(data)
        except MalformedPacket:
            return None
        if not isinstance(packet, DataPacket):
            return None
        fragment = packet.options.fragment
        if fragment is None:
            return packet.data
        first, length, parts = fragment.first_sequence_number, fragment.length, b""
        if fragment.offset:
            known_first, known_length, parts = self._parts.pop(packet.tsi, (first, length, b""))
            fits = (known_first, known_length, len(parts)) == (first, length, fragment.offset)
            if not fits:
                return None
        parts += packet.data
        if len(parts) == length:
            self._parts.pop(packet.tsi, None)
            return parts
        if len(parts) < length:
            self._parts[packet.tsi] = first, length, parts
            if len(self._parts) > self._max_sources:
                del self._parts[next(iter(self._parts))]
        return None
