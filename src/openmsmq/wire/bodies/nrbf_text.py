"""A readable tree of a .NET BinaryFormatter stream."""

from datetime import datetime
from typing import Final

from .nrbf_values import (
    NrbfArray,
    NrbfNulls,
    NrbfObject,
    NrbfReference,
    NrbfStream,
    NrbfString,
    NrbfValue,
)

MAX_LINES: Final = 500
_MAX_TEXT: Final = 200
_MAX_BYTES: Final = 32


def nrbf_text(stream: NrbfStream) -> str:
    """The objects from the root on, each once, a line for each member."""
    writer = _Writer(stream)
    root = stream.root
    if root is None:
        writer.lines.append("no root object")
    else:
        writer.value("", root, 0)
    return "\n".join(writer.lines)


class _Writer:
    __slots__ = ("_shown", "_stream", "lines")

    def __init__(self, stream: NrbfStream) -> None:
        self._stream = stream
        self._shown: set[int] = set()
        self.lines: list[str] = []

    def value(self, name: str, value: NrbfValue, depth: int) -> None:
        """A line for the value, and lines below it for what it holds."""
        if len(self.lines) >= MAX_LINES:
            return
        if isinstance(value, NrbfReference):
            target = self._stream.nodes.get(value.object_id)
            # References may go around in circles; a list chained by them is cut like any other.
            if target is None or value.object_id in self._shown or depth > MAX_LINES // 10:
                self._line(name, f"-> #{value.object_id}", depth)
                return
            value = target
        self._line(name, _head(value), depth)
        if isinstance(value, NrbfObject | NrbfArray):
            self._shown.add(value.object_id)
            self._children(value, depth + 1)

    def _children(self, node: NrbfObject | NrbfArray, depth: int) -> None:
        if isinstance(node, NrbfObject):
            for name, value in node.members:
                self.value(name, value, depth)
            return
        index = 0
        for item in node.items:
            count = item.count if isinstance(item, NrbfNulls) else 1
            name = f"[{index}]" if count == 1 else f"[{index}..{index + count - 1}]"
            self.value(name, item, depth)
            index += count
        if index < node.length and not node.data:
            self._line("...", f"{node.length - index} more", depth)

    def _line(self, name: str, text: str, depth: int) -> None:
        if len(self.lines) < MAX_LINES:
            prefix = f"{_cut(name)}: " if name else ""
            self.lines.append("  " * depth + prefix + text)
        if len(self.lines) == MAX_LINES:
            self.lines[-1] = "..."


def _head(value: NrbfValue) -> str:
    if isinstance(value, NrbfObject):
        return f"{_cut(value.class_name)} #{value.object_id}"
    if isinstance(value, NrbfArray):
        head = f"{_cut(value.element_type)}[{value.length}] #{value.object_id}"
        return f"{head} {_bytes_text(value.data)}" if value.data else head
    if isinstance(value, NrbfString):
        return _quoted(value.value)
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, NrbfNulls):
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _cut(text: str) -> str:
    excerpt = text[:_MAX_TEXT]
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in excerpt) + (
        "..." if len(text) > _MAX_TEXT else ""
    )


def _quoted(text: str) -> str:
    return f'"{_cut(text)}"'


def _bytes_text(data: bytes) -> str:
    return data[:_MAX_BYTES].hex(" ") + (" ..." if len(data) > _MAX_BYTES else "")
