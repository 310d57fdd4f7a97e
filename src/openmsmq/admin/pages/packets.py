"""Packets for pages: fields beside bytes."""

from typing import Final

import msgspec

from openmsmq.wire.dissect import Node, dissect

# The number of bytes of a packet shown beside its fields.
SHOWN_BYTES: Final = 16 * 1024
LONGEST_VALUE: Final = 400


class FieldRow(msgspec.Struct, frozen=True):
    """A field, or the head of a structure."""

    number: int
    offset: str
    name: str
    value: str
    meaning: str
    head: bool


class HexRow(msgspec.Struct, frozen=True):
    """Sixteen bytes; `marked` are those of the selected field."""

    offset: str
    before: str
    marked: str
    behind: str
    text: str


class PacketView(msgspec.Struct, frozen=True):
    """A packet with one field selected."""

    summary: str
    fields: list[FieldRow]
    rows: list[HexRow]
    selected: int
    more: str


def packet_view(packet: bytes, selected: int = -1) -> PacketView:
    """The fields and bytes of a packet."""
    root = dissect(packet)
    fields: list[FieldRow] = []
    begin = end = -1
    for number, (node, head) in enumerate(_nodes(root)):
        fields.append(_row(number, node, head=head))
        if number == selected:
            begin, end = node.offset, node.offset + node.size
    shown = packet[:SHOWN_BYTES]
    rows = [_hex_row(shown, at, begin, end) for at in range(0, len(shown), 16)]
    left = len(packet) - len(shown)
    more = f"{left:,} more bytes: download the packet to see them" if left else ""
    return PacketView(f"{root.name}, {len(packet):,} bytes", fields, rows, selected, more)


def _nodes(root: Node) -> list[tuple[Node, bool]]:
    """Structures and their fields; flags are described in the meaning of their field."""
    nodes: list[tuple[Node, bool]] = []
    for structure in root.children:
        nodes.append((structure, True))
        nodes.extend((field, False) for field in structure.children if not field.mask)
    return nodes


def _row(number: int, node: Node, *, head: bool) -> FieldRow:
    value = node.value
    if head and node.children:
        text = f"{node.size} bytes"
    elif value is None:
        text = ""
    elif isinstance(value, bytes):
        text = value[:32].hex(" ") + (" …" if len(value) > 32 else "")
    elif node.hexadecimal and isinstance(value, int):
        text = f"0x{value:0{2 * node.size}X}"
    else:
        text = str(value)[:LONGEST_VALUE]
    flags = [child.meaning for child in node.children if child.mask and child.value]
    meaning = node.meaning if not flags else "; ".join(filter(None, flags))
    if node.fault is not None:
        meaning = f"fault: {node.fault.reason}"
    return FieldRow(number, f"{node.offset:04x}", node.name, text, meaning[:LONGEST_VALUE], head)


def _hex_row(data: bytes, at: int, begin: int, end: int) -> HexRow:
    row = data[at : at + 16]
    first = min(max(begin - at, 0), len(row))
    last = min(max(end - at, 0), len(row))
    if first >= last:
        first = last = len(row)
    before, marked, behind = (part.hex(" ") for part in (row[:first], row[first:last], row[last:]))
    if before and (marked or behind):
        before += " "
    if marked and behind:
        behind = " " + behind
    behind += " " * (47 - len(before) - len(marked) - len(behind))
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
    return HexRow(f"{at:04x}", before, marked, behind, text)
