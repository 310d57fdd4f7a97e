"""XML bodies: the root element, and the value when XmlMessageFormatter wrote a simple one."""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Final
from uuid import UUID

from .decoded_body import BodyKind, BodyValue, DecodedBody

# The text is only scanned, never parsed as XML: no entity, schema or reference is followed.
_MAX_PROLOG_ITEMS: Final = 16
_MAX_START_TAG: Final = 4096
_MAX_NUMBER: Final = 64
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_NAME: Final = re.compile(r"<((?:[A-Za-z_][\w.\-]*:)?([A-Za-z_][\w.\-]*))(?=[ \t\r\n/>])")
_ATTRIBUTES: Final = re.compile(
    r"""(?:[ \t\r\n]+[\w:.\-]+[ \t\r\n]*=[ \t\r\n]*(?:"[^"<]*"|'[^'<]*'))*[ \t\r\n]*(/?)>"""
)
_REFERENCE: Final = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6})|([a-z]{2,4}));")
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_PROLOG: Final = (("<?", "?>"), ("<!--", "-->"))


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text in ("true", "1")


def _identity(text: str) -> str:
    return text


def _base64(text: str) -> bytes:
    return b64decode("".join(text.split()), validate=True)


_NUMBERS: Final[dict[str, Callable[[str], BodyValue]]] = {
    **dict.fromkeys(("byte", "short", "int", "long", "integer"), int),
    **dict.fromkeys(("unsignedByte", "unsignedShort", "unsignedInt", "unsignedLong"), int),
    "float": float,
    "double": float,
    "decimal": Decimal,
    "boolean": _boolean,
    "dateTime": datetime.fromisoformat,
    "guid": UUID,
}
_TEXTS: Final[dict[str, Callable[[str], BodyValue]]] = {
    "string": _identity,
    "base64Binary": _base64,
}


def decode_xml(text: str, encoding: str) -> DecodedBody | None:
    """The body if the text is an XML document, as far as its first tag shows."""
    position = _root_position(text)
    name = _NAME.match(text, position)
    if name is None:
        return None
    start_tag = _ATTRIBUTES.match(text, name.end(), name.end() + _MAX_START_TAG)
    value = None
    if start_tag is not None:
        content = "" if start_tag[1] else _only_text(text, start_tag.end(), name[1])
        value = None if content is None else _simple_value(name[2], content)
    note = f"root element {name[1]}" if value is None else f"a value of type {name[2]}"
    return DecodedBody(BodyKind.XML, text, value, encoding, note)


def _root_position(text: str) -> int:
    """Where the first tag begins, after declaration, comments and blanks."""
    position = _skip_blanks(text, 0)
    for _ in range(_MAX_PROLOG_ITEMS):
        for opening, closing in _PROLOG:
            if text.startswith(opening, position):
                end = text.find(closing, position + len(opening))
                position = _skip_blanks(text, end + len(closing) if end >= 0 else len(text))
                break
        else:
            break
    return position


def _skip_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _only_text(text: str, start: int, name: str) -> str | None:
    """The content of the root element if it holds no other element."""
    end = text.find("<", start)
    closing = f"</{name}"
    if end < 0 or not text.startswith(closing, end):
        return None
    after = text[end + len(closing) :].strip(" \t\r\n")
    return text[start:end] if after == ">" else None


def _simple_value(name: str, content: str) -> BodyValue:
    unescaped = _REFERENCE.sub(_character, content)
    convert = _TEXTS.get(name)
    if convert is None and len(content) <= _MAX_NUMBER:
        convert = _NUMBERS.get(name)
        unescaped = unescaped.strip()
    if convert is None:
        return None
    try:
        return convert(unescaped)
    except (ValueError, InvalidOperation, binascii.Error):
        return None


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED.get(match[3], match[0])
    code = int(match[1]) if match[1] else int(match[2], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match[0]
