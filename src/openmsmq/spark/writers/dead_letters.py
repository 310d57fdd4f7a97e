"""Messages for rows that cannot be sent."""

import base64
import json
import math
from collections.abc import Collection, Iterator
from datetime import date
from typing import Any, Final, TypeVar

import pyarrow as pa

from openmsmq.client.message import Message

from .row_encoder import RowFault

MAX_LABEL: Final = 249
# About how many bytes of JSON each part of a message takes; a message has room for four MiB.
MAX_VALUES: Final = 1024 * 1024
MAX_REASON: Final = 64 * 1024
# The name of a column, and the names of those that are cut.
MAX_NAMES: Final = 256 * 1024
# Bytes between two values, such as `: ` and `, ` with the brackets around them.
_BETWEEN: Final = 6
_T = TypeVar("_T")


def dead_letter(batch: pa.RecordBatch, fault: RowFault, place: str) -> Message:
    """A message with the reason as its label and the row as JSON in its body.

    Values of bytes are in base64. What is too long is cut; `cut` names the columns.
    """
    room = MAX_VALUES
    values: dict[str, Any] = {}
    cut: list[str] = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        room -= _size(name) + _BETWEEN
        # Half of the room at most, so that one column does not hide all that follow.
        part = Excerpt(room // 2)
        if room > 0:
            values[name] = part.show(_value(column[fault.row]))
        if room <= 0 or part.is_cut:
            cut.append(name)
        room -= part.used
    document = {
        "reason": Excerpt(MAX_REASON).show(fault.reason),
        "column": Excerpt(MAX_NAMES).show(fault.column),
        "at": place,
        "cut": Excerpt(MAX_NAMES).show(cut),
        "row": values,
    }
    reason = f"{fault.column}: {fault.reason}".replace("\0", " ")
    # Characters beyond U+FFFF count twice, so half as many always fit.
    label = reason if reason.isascii() else reason[: MAX_LABEL // 2]
    return Message(_json(document), label[:MAX_LABEL], delivery="recoverable")


class Excerpt:
    """A value as JSON, or as much of it as there is room for.

    Attributes:
        used: about how many bytes of JSON it takes.
        is_cut: whether something was left out.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self.used = 0
        self.is_cut = False

    def show(self, value: object) -> Any:
        """What JSON has for the value."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bytes):
            return self._bytes(value)
        if isinstance(value, dict):
            return {self._text(name): self.show(part) for name, part in self._each(value.items())}
        if isinstance(value, list | tuple):
            return [self.show(part) for part in self._each(value)]
        if isinstance(value, float) and not math.isfinite(value):
            return self._text(str(value))
        if value is None or isinstance(value, int | float):
            self.used += _size(value)
            return value
        return self._text(value.isoformat() if isinstance(value, date) else str(value))

    def _each(self, values: Collection[_T]) -> Iterator[_T]:
        """The values that there is room for."""
        for value in values:
            if self.used >= self._room:
                self.is_cut = True
                return
            # For what stands between them.
            self.used += _BETWEEN
            yield value

    def _text(self, text: str) -> str:
        beginning = _beginning(text, self._room - self.used)
        self.is_cut |= len(beginning) < len(text)
        self.used += _size(beginning)
        return beginning

    def _bytes(self, value: bytes) -> str:
        beginning = value[: max(self._room - self.used, 0) // 4 * 3]
        self.is_cut |= len(beginning) < len(value)
        text = base64.b64encode(beginning).decode("ascii")
        self.used += len(text)
        return text


def _beginning(text: str, room: int) -> str:
    """As many characters as there is room for: one takes up to six bytes."""
    low, high = 0, min(len(text), max(room, 0))
    if _size(text[:high]) <= room:
        return text[:high]
    while low < high:
        middle = (low + high + 1) // 2
        if _size(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _value(scalar: pa.Scalar) -> object:
    """A value of a row; Spark has texts and times that Python has not."""
    try:
        return scalar.as_py()
    except (ValueError, OverflowError) as exc:
        if pa.types.is_string(scalar.type) or pa.types.is_large_string(scalar.type):
            return scalar.as_buffer().to_pybytes().decode("utf-8", "replace")
        return f"{scalar.type}, {exc}"


def _size(value: object) -> int:
    return len(_json(value))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
