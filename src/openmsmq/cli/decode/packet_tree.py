"""A dissected packet as lines: offsets and sizes in a margin, then the tree."""

from collections.abc import Iterator
from typing import Final

from openmsmq.terminal.printable import printable
from openmsmq.terminal.styled import Line, plain, wrap
from openmsmq.wire.dissect import Node

from .hex_dump import WIDTH, hex_dump
from .packet_text import fault_text, value_text

# Wide enough for the longest field of a header; the rest of 80 columns holds a GUID.
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
        width: columns to wrap at; None for lines of any length.
        unicode: draw with the characters for lines.
        with_hex: add a dump of its bytes to every field.
    """

    __slots__ = ("_branch", "_last", "_open", "_shut", "_width", "_with_hex")

    def __init__(self, *, width: int | None, unicode: bool, with_hex: bool) -> None:
        self._width = width or _UNLIMITED
        self._with_hex = with_hex
        self._branch, self._last, self._open, self._shut = _UNICODE if unicode else _ASCII

    def lines(self, root: Node, data: bytes) -> Iterator[Line]:
        """The lines of all that a packet consists of."""
        digits = max(4, len(f"{len(data):x}"))
        for child in root.children:
            yield from self._node(child, data, "", "", digits)

    def hanging(self, start: str, content: Line) -> Iterator[Line]:
        """Wrapped lines that all begin with `start`; none for no content."""
        if plain(content):
            for part in wrap(content, max(self._width - len(start), _MIN_CONTENT)):
                yield [(start, "dim"), *part]

    def _node(self, node: Node, data: bytes, lead: str, below: str, digits: int) -> Iterator[Line]:
        """A node and those below it; `lead` is drawn before its name, `below` on further lines."""
        margin = f"{node.offset:0{digits}x} {node.size:>5} "
        if node.mask:
            margin = " " * len(margin)
        long = isinstance(node.value, str) and (len(node.value) > _LONG_TEXT or "\n" in node.value)
        short_value = "" if long else value_text(node)
        yield from self._field(node, short_value, margin, lead, below)
        hanging = below + (self._open if node.children else self._shut)
        start = " " * len(margin) + hanging
        if long:
            yield from self._text_block(str(node.value), start)
        if self._with_hex and node.size and not any(not child.mask for child in node.children):
            yield from _dump(data, node, start, digits)
        if node.fault is not None:
            text = f"FAULT {fault_text(node.fault)}"
            yield from self.hanging(start, [(text, "bold red")])
            yield from _around(data, node.fault.offset, start, digits)
        for index, child in enumerate(node.children):
            last = index + 1 == len(node.children)
            glyph, further = (self._last, self._shut) if last else (self._branch, self._open)
            yield from self._node(child, data, below + glyph, below + further, digits)

    def _field(
        self, node: Node, short_value: str, margin: str, lead: str, below: str
    ) -> Iterator[Line]:
        """Name, value and meaning, wrapped so that they stay in their column."""
        # A flag that is not set is of less interest.
        quiet = bool(node.mask) and not node.value
        style = "bold cyan" if not lead else "dim" if quiet else ""
        start = len(margin) + len(lead) + len(node.name)
        column = max(len(margin) + _NAME_WIDTH, start + 1)
        content: Line = [(short_value, "dim" if quiet else "green")] if short_value else []
        if node.meaning:
            content.append((("  " if short_value else "") + printable(node.meaning), "dim"))
        first, *rest = wrap(content, max(self._width - column, _MIN_CONTENT))
        gap = " " * (column - start) if first else ""
        yield [(margin + lead, "dim"), (node.name, style), (gap, ""), *first]
        hanging = " " * len(margin) + below + (self._open if node.children else "")
        for part in rest:
            yield [(hanging.ljust(column), "dim"), *part]

    def _text_block(self, text: str, start: str) -> Iterator[Line]:
        """Text of several lines, or of one that is too long to follow a name."""
        room = min(max(self._width - len(start), _MIN_CONTENT), _LONG_TEXT)
        lines = 0
        shown_characters = 0
        for line in text.splitlines():
            safe = printable(line[: _MAX_TEXT_LINES * room + 1])
            for at in range(0, max(len(safe), 1), room):
                if lines == _MAX_TEXT_LINES:
                    note = (
                        f"... {len(text) - shown_characters} more characters, --json has them all"
                    )
                    yield [(start, "dim"), (note, "dim italic")]
                    return
                yield [(start, "dim"), (safe[at : at + room], "green")]
                lines += 1
            shown_characters += len(line) + 1


def _dump(data: bytes, node: Node, start: str, digits: int) -> Iterator[Line]:
    """The bytes of a field."""
    if node.mask:
        return
    end = node.offset + node.size
    shown_end = min(end, node.offset + _MAX_DUMP_LINES * WIDTH)
    for _, line in hex_dump(data, node.offset, shown_end, digits=digits):
        yield [(start + line, "dim")]
    if shown_end < end:
        yield [(f"{start}... {end - shown_end} more bytes", "dim")]


def _around(data: bytes, offset: int, start: str, digits: int) -> Iterator[Line]:
    """The bytes around a fault, with a mark below the first one at fault."""
    row = offset - offset % WIDTH
    for at, line in hex_dump(
        data, max(row - WIDTH, 0), min(row + 2 * WIDTH, len(data)), digits=digits
    ):
        yield [(start + line, "dim")]
        if at == row and offset < len(data):
            mark = " " * (digits + 2 + 3 * (offset - row)) + "^^"
            yield [(start, "dim"), (mark, "bold red")]
