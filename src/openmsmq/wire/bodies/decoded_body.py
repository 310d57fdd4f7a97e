"""What a message body turned out to be."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from .com_object import ComObject
from .nrbf_values import NrbfStream


class BodyKind(StrEnum):
    """How a body is best shown."""

    EMPTY = "empty"
    NULL = "null"
    TEXT = "text"
    XML = "xml"
    JSON = "json"
    VALUE = "value"
    ARRAY = "array"
    BYTES = "bytes"
    OBJECT = "object"
    BINARY_FORMATTER = "binary-formatter"


ScalarValue = bool | int | float | Decimal | datetime | UUID
BodyValue = ScalarValue | str | bytes | tuple[ScalarValue, ...] | ComObject | NrbfStream | None


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A body by its kind.

    Args:
        kind: how to show it.
        text: the whole body as text, when it is text.
        value: the number, date, bytes, tree or other value in it; of XML, the simple value
            that XmlMessageFormatter wrapped.
        encoding: the encoding of the text.
        note: what else is worth knowing, for people.
    """

    kind: BodyKind
    text: str | None = None
    value: BodyValue = None
    encoding: str = ""
    note: str = ""
