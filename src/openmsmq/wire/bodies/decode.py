"""From body type and bytes to what the sender meant."""

import re
from typing import Final

from openmsmq.wire.checks import decode_utf16
from openmsmq.wire.errors import ConfigError, MalformedPacket
from openmsmq.wire.message.body_type import (
    ELEMENT_MASK,
    VT_ARRAY,
    VT_VECTOR,
    BodyType,
    body_type_name,
)

from .com_object import read_com_object
from .decoded_body import BodyKind, DecodedBody
from .nrbf_reader import looks_like_nrbf, read_nrbf
from .scalar_values import SCALAR_SIZES, decode_array, decode_scalar
from .text_sniffing import sniff_text
from .xml_values import decode_xml

_JSON: Final = re.compile(r"\s*(?:\{.*\}|\[.*\])\s*", re.DOTALL)
_OBJECTS: Final = frozenset(
    {
        BodyType.VT_DISPATCH,
        BodyType.VT_UNKNOWN,
        BodyType.VT_STREAMED_OBJECT,
        BodyType.VT_STORED_OBJECT,
    }
)
_VT_EMPTY: Final = int(BodyType.VT_EMPTY)
_VT_BSTR: Final = int(BodyType.VT_BSTR)
# What Windows calls the ANSI code page; the default.
_DEFAULT_CODE_PAGE: Final = "cp1252"


def decode_body(
    body_type: int, data: bytes | memoryview, *, code_page: str | None = None
) -> DecodedBody:
    """Decode a body by its type; type 0, and any type that is not known, by how it looks.

    Args:
        body_type: MessagePropertiesHeader.BodyType.
        data: the body.
        code_page: the encoding of VT_LPSTR; without one, UTF-8 or else Windows-1252.

    Raises:
        MalformedPacket: the bytes are not what the type asks for.
        ConfigError: there is no such code page.
    """
    raw = bytes(data)
    if body_type == BodyType.VT_BSTR:
        return _text(decode_utf16(raw, 0, "Body"), "utf-16-le")
    if body_type == BodyType.VT_EMPTY:
        return _sniff(raw)
    if body_type == BodyType.VT_LPWSTR:
        return _text(decode_utf16(raw, 0, "Body").removesuffix("\0"), "utf-16-le")
    if body_type == BodyType.VT_LPSTR:
        return _code_page_text(raw.removesuffix(b"\0"), code_page)
    if body_type in SCALAR_SIZES:
        return DecodedBody(BodyKind.VALUE, value=decode_scalar(body_type, raw))
    if body_type == BodyType.VT_NULL:
        return _null(raw)
    if body_type == BodyType.BINARY_FORMATTER:
        return _binary_formatter(raw)
    if body_type in _OBJECTS:
        return DecodedBody(BodyKind.OBJECT, value=read_com_object(raw))
    if body_type == BodyType.VT_BLOB:
        return DecodedBody(BodyKind.BYTES, value=raw)
    if body_type & (VT_VECTOR | VT_ARRAY):
        return _array(body_type, raw)
    return _sniff(raw, note=f"body type {body_type_name(body_type)} is not known")


def decode_body_leniently(
    body_type: int, data: bytes | memoryview, *, code_page: str | None = None
) -> DecodedBody:
    """Decode a body like `decode_body`; one that is malformed comes as bytes with the reason."""
    try:
        return decode_body(body_type, data, code_page=code_page)
    except MalformedPacket as exc:
        raw = bytes(data)
        if body_type == BodyType.BINARY_FORMATTER:
            return DecodedBody(BodyKind.BINARY_FORMATTER, value=read_nrbf(raw), note=str(exc))
        return DecodedBody(BodyKind.BYTES, value=raw, note=str(exc))


def body_text(body_type: int, data: bytes | memoryview) -> str | None:
    """The body as text, if it is text: the `text` of `decode_body_leniently`, only sooner."""
    raw = bytes(data)
    if body_type == _VT_EMPTY and not looks_like_nrbf(raw):
        text = sniff_text(raw)
        return None if text is None else text[0]
    if body_type == _VT_BSTR:
        try:
            return raw.decode("utf-16-le")
        except UnicodeDecodeError:
            return None
    return decode_body_leniently(body_type, raw).text


def _text(text: str, encoding: str, note: str = "") -> DecodedBody:
    first = text.lstrip()[:1]
    if first == "<":
        decoded = decode_xml(text, encoding)
        if decoded is not None:
            return decoded
    if first in ("{", "[") and _JSON.fullmatch(text):
        return DecodedBody(BodyKind.JSON, text, encoding=encoding, note=note)
    return DecodedBody(BodyKind.TEXT, text, encoding=encoding, note=note)


def _sniff(raw: bytes, note: str = "") -> DecodedBody:
    if not raw:
        return DecodedBody(BodyKind.EMPTY, "", note=note)
    if looks_like_nrbf(raw):
        stream = read_nrbf(raw)
        if stream.root is not None:
            return DecodedBody(BodyKind.BINARY_FORMATTER, value=stream, note=note)
    text = sniff_text(raw)
    if text is None:
        return DecodedBody(BodyKind.BYTES, value=raw, note=note)
    return _text(*text, note)


def _code_page_text(raw: bytes, code_page: str | None) -> DecodedBody:
    encodings = ("utf-8", _DEFAULT_CODE_PAGE) if code_page is None else (code_page,)
    for encoding in encodings:
        try:
            return _text(raw.decode(encoding), encoding)
        except UnicodeError:
            continue
        except (LookupError, ValueError) as exc:
            raise ConfigError(f"code_page: there is no encoding {code_page!r}") from exc
    raise MalformedPacket("Body", 0, f"not text in {' or '.join(encodings)}")


def _null(raw: bytes) -> DecodedBody:
    if not raw:
        return DecodedBody(BodyKind.NULL)
    return DecodedBody(BodyKind.BYTES, value=raw, note="VT_NULL has no value, but bytes are here")


def _binary_formatter(raw: bytes) -> DecodedBody:
    stream = read_nrbf(raw)
    if stream.fault is not None:
        raise stream.fault
    note = "" if stream.complete else "only the first objects were read"
    return DecodedBody(BodyKind.BINARY_FORMATTER, value=stream, note=note)


def _array(body_type: int, raw: bytes) -> DecodedBody:
    element = body_type & ELEMENT_MASK
    if element == BodyType.VT_UI1:
        return DecodedBody(BodyKind.BYTES, value=raw)
    if element not in SCALAR_SIZES:
        note = f"items of {body_type_name(body_type)} are not decoded"
        return DecodedBody(BodyKind.BYTES, value=raw, note=note)
    return DecodedBody(BodyKind.ARRAY, value=decode_array(element, raw))
