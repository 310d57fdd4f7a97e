"""Documents as XmlMessageFormatter of .NET writes them for simple values."""

import re
from base64 import b64encode
from datetime import datetime
from decimal import Decimal
from math import isinf, isnan
from typing import Final
from uuid import UUID

XmlValue = str | bytes | bool | int | float | Decimal | datetime | UUID

_DECLARATION: Final = '<?xml version="1.0"?>\r\n'
# XML 1.0, 2.2: characters that no document may have.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Markup, and what readers would change or not take for text.
_ESCAPED: Final = re.compile("[&<>\r\x7f-\x9f]")
_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def encode_xml(value: XmlValue) -> bytes:
    """The document of a simple value, in UTF-8.

    Raises:
        ValueError: XML cannot hold the text, or 64 bits the number.
        TypeError: there is no element for such values.
    """
    element, text = _element(value)
    return f"{_DECLARATION}<{element}>{text}</{element}>".encode()


def _element(value: XmlValue) -> tuple[str, str]:
    """The name of the element for a value, and what is in it."""
    match value:
        case str():
            return "string", _escape(value)
        case bytes():
            return "base64Binary", b64encode(value).decode("ascii")
        case bool():
            return "boolean", str(value).lower()
        case int():
            return _integer_element(value), str(value)
        case float():
            return "double", _double(value)
        case Decimal():
            if not value.is_finite():
                raise ValueError(f"{value} is no decimal number of XML")
            return "decimal", f"{value:f}"
        case datetime():
            return "dateTime", value.isoformat()
        case UUID():
            return "guid", str(value)
        case _:
            raise TypeError(f"XmlMessageFormatter has no simple value for {type(value).__name__}")


def _escape(text: str) -> str:
    forbidden = _FORBIDDEN.search(text)
    if forbidden is not None:
        raise ValueError(f"XML cannot hold the character U+{ord(forbidden[0]):04X}")
    return _ESCAPED.sub(lambda match: _NAMED.get(match[0], f"&#x{ord(match[0]):X};"), text)


def _integer_element(value: int) -> str:
    if -(1 << 31) <= value < 1 << 31:
        return "int"
    if -(1 << 63) <= value < 1 << 63:
        return "long"
    if 0 <= value < 1 << 64:
        return "unsignedLong"
    raise ValueError(f"{value} has more than 64 bits")


def _double(value: float) -> str:
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "INF" if value > 0 else "-INF"
    return repr(value)
