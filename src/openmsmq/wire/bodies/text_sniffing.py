"""Telling text from other bytes."""

import re
from typing import Final

# Characters that no text has; tab, line feed, form feed and carriage return are fine.
_NOT_TEXT: Final = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
# Bytes that text may have in UTF-8: deleting them is the quickest way to see whether others remain.
_UTF8_BYTES: Final = bytes(b for b in range(256) if b in b"\t\n\x0c\r" or (b >= 0x20 and b != 0x7F))
_UTF8_BOM: Final = b"\xef\xbb\xbf"
_UTF16_BOMS: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_XML_ENCODING: Final = re.compile(
    rb"""<\?xml[ \t\r\n][^>]{0,100}?encoding[ \t]*=[ \t]*["']([A-Za-z0-9._-]{1,20})["']"""
)
# Encodings of Python that an XML declaration may ask for: none that does more than decode.
_XML_ENCODINGS: Final = re.compile(
    r"utf-8|utf-16|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-8]|shift_jis|gb2312|gbk|gb18030|"
    r"big5|euc-jp|euc-kr|koi8-r",
    re.IGNORECASE,
)


def sniff_text(data: bytes) -> tuple[str, str] | None:
    """The text and its encoding, if the bytes are plausibly text.

    A NUL at the end, which C programs send along, is left out.
    """
    if data.startswith(_UTF8_BOM):
        return _plausible(data[len(_UTF8_BOM) :], "utf-8")
    by_bom = _UTF16_BOMS.get(data[:2])
    if by_bom:
        return _plausible(data[2:], by_bom)
    return (
        _plausible(data, "utf-8")
        or _declared(data)
        or _utf16(data)
        or (_plausible(data[:-1], "utf-8") if data.endswith(b"\0") and len(data) > 1 else None)
    )


def _plausible(data: bytes, encoding: str) -> tuple[str, str] | None:
    if encoding == "utf-8":
        if data.translate(None, _UTF8_BYTES):
            return None
        if data.isascii():
            return data.decode("ascii"), encoding
    try:
        text = data.decode(encoding)
    except UnicodeError:
        return None
    return None if _NOT_TEXT.search(text) else (text, encoding)


def _declared(data: bytes) -> tuple[str, str] | None:
    """XML in the encoding that its declaration names."""
    declaration = _XML_ENCODING.match(data)
    encoding = declaration[1].decode("ascii").lower() if declaration else ""
    return _plausible(data, encoding) if _XML_ENCODINGS.fullmatch(encoding) else None


def _utf16(data: bytes) -> tuple[str, str] | None:
    """UTF-16LE without a mark: most of its characters must be below U+0100."""
    if len(data) % 2 or data[1::2].count(0) * 4 <= len(data):
        return None
    if len(data) > 4 and data.endswith(b"\0\0"):
        data = data[:-2]
    return _plausible(data, "utf-16-le")
