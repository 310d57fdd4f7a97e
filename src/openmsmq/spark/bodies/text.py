"""The text of one body in the requested format, or the reason for its absence."""

from codecs import BOM_UTF16_LE
from datetime import datetime
from decimal import Decimal
from typing import Final

from openmsmq.wire.bodies import (
    BodyKind,
    BodyValue,
    DecodedBody,
    NrbfStream,
    decode_body,
    nrbf_text,
)
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.body_type import BodyType

ENCRYPTED: Final = "body: is encrypted"
# Their encoding is known, so the mark that some programs write is not part of the text.
_WIDE_TYPES: Final = frozenset({BodyType.VT_BSTR, BodyType.VT_LPWSTR})


def text_of_body(body_format: str, body_type: int, raw: bytes) -> tuple[str | None, str | None]:
    """The text and the error; at most one of them is there.

    Args:
        body_format: any but "binary". "text" wants text or a value that can be written as text,
            "xml" and "json" want that kind of text, "auto" takes what there is: of bytes that are
            no text it says nothing, of .NET's BinaryFormatter it gives the records as a tree.
        body_type: the VT_* code that the message has.
        raw: the body, in clear.
    """
    if body_type in _WIDE_TYPES:
        raw = raw.removeprefix(BOM_UTF16_LE)
    try:
        decoded = decode_body(body_type, raw)
    except MalformedPacket as exc:
        return None, f"body: {exc}"
    if body_format in ("xml", "json"):
        return (decoded.text, None) if decoded.kind == body_format else _fault(decoded, body_format)
    if decoded.text is not None:
        return decoded.text, None
    if decoded.kind in (BodyKind.VALUE, BodyKind.ARRAY):
        return value_text(decoded.value), None
    if body_format == "auto":
        if isinstance(decoded.value, NrbfStream):
            return nrbf_text(decoded.value), None
        return None, None
    return (None, None) if decoded.kind == BodyKind.NULL else _fault(decoded, body_format)


def value_text(value: BodyValue) -> str:
    """A number, date or other value as Spark's casts and JSON write it; several in brackets."""
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case tuple():
            return f"[{', '.join(map(value_text, value))}]"
        case _:
            return str(value)


def _fault(decoded: DecodedBody, body_format: str) -> tuple[None, str]:
    kind = "bytes" if decoded.kind == BodyKind.OBJECT else decoded.kind
    return None, f"body: is {kind}, not {body_format}"
