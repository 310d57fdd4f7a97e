"""A dissected packet as lines: offsets and sizes in a margin, then the tree."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from openmsmq.wire.dissect import Node

from .hex_dump import WIDTH, hex_dump
from .packet_text import fault_text, printable, value_text

# Wide enough for the longest field below a header; the rest of 80 columns holds a GUID.
_NAME_WIDTH: Final = 31
_MIN_CONTENT: Final = 24
_MAX_TEXT_LINES: Final = 20
_MAX_DUMP_LINES: Final = 64
_LONG_TEXT: Final = 160
_UNLIMITED: Final = 1_000_000
_UNICODE: Final = ("├─ ", "└─ ", "│  ", "   ")
_ASCII: Final = ("|- ", "`- ", "|  ", "   ")


class PacketTree:
    """Makes the lines of packets.

    Args:
        console: measures and wraps; tells whether it can show line drawing.
        width: columns to wrap at; None for lines of any length.
        with_hex: add a dump of its bytes to every field.
    """

    __slots__ = ("_branch", "_console", "_last", "_open", "_shut", "_width", "_with_hex")

    def __init__(self, console: Console, *, width: int | None, with_hex: bool) -> None:
        self._console = console
        self._width = width or _UNLIMITED
        self._with_hex = with_hex
        unicode = console.encoding.lower().startswith("utf")
        self._branch, self._last, self._open, self._shut = _UNICODE if unicode else _ASCII

    def lines(self, root: Node, data: bytes) -> Iterator[Text]:
        """The lines of a packet without its title."""
        digits = max(4, len(f"{len(data):x}"))
        for child in root.children:
            yield from self._node(child, data, "", "", digits)

    def _node(self, node: Node, data: bytes, lead: str, below: str, digits: int) -> Iterator[Text]:
        """A node and those below it; `lead` is drawn before its name, `below` on further lines."""
        header = not lead
        margin = " " * (digits + 7)
        if not node.mask:
            margin = f"{node.offset:0{digits}x} {node.size:>5} "
        block = isinstance(node.value, str) and (len(node.value) > _LONG_TEXT or "\n" in node.value)
        yield from self._field(node, margin, lead, below, header=header, block=block)
        hanging = below + (self._open if node.children else self._shut)
        if block:
            yield from self._text_block(str(node.value), len(margin), hanging)
        fields = [child for child in node.children if not child.mask]
        if self._with_hex and node.size and not node.mask and not fields:
            yield from self._dump(data, node.offset, node.size, hanging, digits)
        yield from self._fault(node, data, hanging, digits)
        for index, child in enumerate(node.children):
            last = index + 1 == len(node.children)
            glyph, further = (self._last, self._shut) if last else (self._branch, self._open)
            yield from self._node(child, data, below + glyph, below + further, digits)

    def _field(
        self, node: Node, margin: str, lead: str, below: str, *, header: bool, block: bool
    ) -> Iterator[Text]:
        """Name, value and meaning, wrapped so that they stay in their column."""
        dim = node.mask != 0 and not node.value
        first = Text(margin, "dim").append(lead, "dim")
        first.append(node.name, "bold cyan" if header else "dim" if dim else "default")
        content = Text()
        if not block:
            content.append(value_text(node), "dim" if dim else "green")
        if node.meaning:
            content.append("  " if content else "").append(printable(node.meaning), "dim")
        if not content:
            yield first
            return
        column = max(len(margin) + _NAME_WIDTH, len(first) + 1)
        first.pad_right(column - len(first))
        room = max(self._width - column, _MIN_CONTENT)
        head, *rest = content.wrap(self._console, room, overflow="fold")
        yield first.append_text(head)
        hanging = below + (self._open if node.children else "")
        for part in rest:
            start = Text(" " * len(margin) + hanging, "dim")
            start.pad_right(max(column - len(start), 0))
            yield start.append_text(part)

    def _text_block(self, text: str, margin: int, hanging: str) -> Iterator[Text]:
        """Text of several lines, or of one that is too long to stand behind a name."""
        room = max(self._width - margin - len(hanging), _MIN_CONTENT)
        room = min(room, _LONG_TEXT)
        shown = 0
        lines = 0
        for line in text.splitlines():
            safe = printable(line)
            for at in range(0, max(len(safe), 1), room):
                if lines == _MAX_TEXT_LINES:
                    note = f"... {len(text) - shown} more characters, --json shows them all"
                    yield self._hang(margin, hanging, note, "dim italic")
                    return
                yield self._hang(margin, hanging, safe[at : at + room], "green")
                lines += 1
            shown += len(line) + 1

    def _dump(
        self, data: bytes, offset: int, size: int, hanging: str, digits: int
    ) -> Iterator[Text]:
        end = min(offset + size, offset + _MAX_DUMP_LINES * WIDTH)
        for _, line in hex_dump(data, offset, end, digits=digits):
            yield self._hang(digits + 7, hanging, line, "dim")
        if end < offset + size:
            note = f"... {offset + size - end} more bytes"
            yield self._hang(digits + 7, hanging, note, "dim italic")

    def _fault(self, node: Node, data: bytes, below: str, digits: int) -> Iterator[Text]:
        """What is wrong, and the bytes around it."""
        fault = node.fault
        if fault is None:
            return
        margin = digits + 7
        yield self._hang(margin, below, f"FAULT {fault_text(fault)}", "bold red")
        row = fault.offset - fault.offset % WIDTH
        for offset, line in hex_dump(
            data, max(row - WIDTH, 0), min(row + 2 * WIDTH, len(data)), digits=digits
        ):
            text = self._hang(margin, below, line, "dim")
            if offset == row and fault.offset < len(data):
                at = len(text) - len(line) + digits + 2 + 3 * (fault.offset - row)
                text.stylize("bold red reverse", at, at + 2)
                yield text
                yield self._hang(margin, below, " " * (at - margin - len(below)) + "^^", "bold red")
            else:
                yield text

    def _hang(self, margin: int, hanging: str, text: str, style: str) -> Text:
        """A line below a node."""
        return Text(" " * margin + hanging, "dim").append(text, style)
