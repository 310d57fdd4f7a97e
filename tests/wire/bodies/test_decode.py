"""Bodies by type and by how they look."""

from struct import pack
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.bodies.nrbf_streams import HEADER, LIST_OF_STRINGS

from openmsmq.wire.bodies import (
    BodyKind,
    ComObject,
    NrbfStream,
    body_text,
    decode_body,
    decode_body_leniently,
)
from openmsmq.wire.errors import ConfigError, MalformedPacket
from openmsmq.wire.message.body_type import BodyType

CLSID = UUID("00020906-0000-0000-c000-000000000046")
BYTES = b"\x01\x02\x03\xff"


@pytest.mark.parametrize(
    ("body_type", "data", "kind", "text", "encoding"),
    [
        (0, b"", BodyKind.EMPTY, "", ""),
        (0, b"plain", BodyKind.TEXT, "plain", "utf-8"),
        (0, b' {"a": [1]}\n', BodyKind.JSON, ' {"a": [1]}\n', "utf-8"),
        (0, b"[1, 2]", BodyKind.JSON, "[1, 2]", "utf-8"),
        (0, b"{ not closed", BodyKind.TEXT, "{ not closed", "utf-8"),
        (0, b"[1}", BodyKind.TEXT, "[1}", "utf-8"),
        (0, b"<a/>", BodyKind.XML, "<a/>", "utf-8"),
        (0, b"\xef\xbb\xbf<a/>", BodyKind.XML, "<a/>", "utf-8"),
        (0, b"< b", BodyKind.TEXT, "< b", "utf-8"),
        (8, "häß".encode("utf-16-le"), BodyKind.TEXT, "häß", "utf-16-le"),
        (8, "a\0".encode("utf-16-le"), BodyKind.TEXT, "a\0", "utf-16-le"),
        (8, "漢字".encode("utf-16-le"), BodyKind.TEXT, "漢字", "utf-16-le"),
        (8, b"", BodyKind.TEXT, "", "utf-16-le"),
        (8, "<a/>".encode("utf-16-le"), BodyKind.XML, "<a/>", "utf-16-le"),
        (31, "wide\0".encode("utf-16-le"), BodyKind.TEXT, "wide", "utf-16-le"),
        (30, b"narrow\0", BodyKind.TEXT, "narrow", "utf-8"),
        (30, b"caf\xe9", BodyKind.TEXT, "café", "cp1252"),
        (0x0F0F, b"strange", BodyKind.TEXT, "strange", "utf-8"),
    ],
)
def test_text(body_type: int, data: bytes, kind: BodyKind, text: str, encoding: str) -> None:
    body = decode_body(body_type, memoryview(data))
    assert (body.kind, body.text, body.encoding) == (kind, text, encoding)
    assert body_text(body_type, data) == text


@given(
    st.sampled_from([0, 8, 30, 31, 3, 65]),
    st.one_of(st.binary(max_size=60), st.text(max_size=30).map(str.encode)),
)
def test_the_text_of_a_body_is_that_of_the_decoded_body(body_type: int, data: bytes) -> None:
    for each in (data, HEADER + data, LIST_OF_STRINGS):
        assert body_text(body_type, each) == decode_body_leniently(body_type, each).text


@pytest.mark.parametrize(
    ("body_type", "data", "kind", "value"),
    [
        (0, BYTES, BodyKind.BYTES, BYTES),
        (1, b"", BodyKind.NULL, None),
        (1, BYTES, BodyKind.BYTES, BYTES),
        (3, pack("<i", 42), BodyKind.VALUE, 42),
        (11, b"\xff\xff", BodyKind.VALUE, True),
        (65, b"text", BodyKind.BYTES, b"text"),
        (0x1011, b"text", BodyKind.BYTES, b"text"),
        (0x2011, b"text", BodyKind.BYTES, b"text"),
        (0x1003, pack("<ii", 1, 2), BodyKind.ARRAY, (1, 2)),
        (0x2008, BYTES, BodyKind.BYTES, BYTES),
        (0x0F0F, BYTES, BodyKind.BYTES, BYTES),
        (68, CLSID.bytes_le, BodyKind.OBJECT, ComObject(CLSID, CLSID.bytes_le)),
        (69, BYTES, BodyKind.OBJECT, ComObject(None, BYTES)),
        (9, BYTES, BodyKind.OBJECT, ComObject(None, BYTES)),
        (13, BYTES, BodyKind.OBJECT, ComObject(None, BYTES)),
    ],
)
def test_values(body_type: int, data: bytes, kind: BodyKind, value: object) -> None:
    body = decode_body(body_type, data)
    assert (body.kind, body.text, body.value) == (kind, None, value)
    assert body_text(body_type, data) is None


@pytest.mark.parametrize(
    ("body_type", "data", "note"),
    [
        (1, BYTES, "VT_NULL has no value, but bytes are here"),
        (0x2008, BYTES, "items of VT_ARRAY|VT_BSTR are not decoded"),
        (0x0F0F, BYTES, "body type 0x00000F0F is not known"),
        (0x0F0F, b"text", "body type 0x00000F0F is not known"),
        (0x0F0F, b"{}", "body type 0x00000F0F is not known"),
    ],
)
def test_what_is_odd_is_noted(body_type: int, data: bytes, note: str) -> None:
    assert decode_body(body_type, data).note == note


@pytest.mark.parametrize("body_type", [0, BodyType.BINARY_FORMATTER])
def test_a_binary_formatter_stream_is_shown_as_data(body_type: int) -> None:
    body = decode_body(body_type, LIST_OF_STRINGS)
    assert body.kind is BodyKind.BINARY_FORMATTER
    assert isinstance(body.value, NrbfStream)
    assert body.value.root_id == 1
    assert body.note == ""


def test_a_long_stream_is_read_in_part() -> None:
    data = HEADER + b"\x10" + pack("<ii", 1, 30_000) + b"\x0a" * 30_000 + b"\x0b"
    assert decode_body(0x300, data).note == "only the first objects were read"


def test_bytes_that_only_begin_like_a_stream_are_bytes() -> None:
    assert decode_body(0, HEADER + b"\xff").kind is BodyKind.BYTES


@pytest.mark.parametrize(
    ("body_type", "data", "reason"),
    [
        (8, b"a", "not UTF-16LE text"),
        (8, b"\x00\xd8", "not UTF-16LE text"),
        (31, b"abc", "not UTF-16LE text"),
        (30, b"\x81\xff", "not text in utf-8 or cp1252"),
        (3, b"\x01", "VT_I4 has 4 bytes, not 1"),
        (0x1003, b"12345", "5 bytes are not whole items of 4 bytes"),
        (0x300, b"\x00", "needs 4 bytes"),
        (0x300, LIST_OF_STRINGS[:-1], "needs 1 bytes, 0 remain"),
    ],
)
def test_bytes_that_do_not_fit_their_type(body_type: int, data: bytes, reason: str) -> None:
    with pytest.raises(MalformedPacket, match=reason):
        decode_body(body_type, data)
    body = decode_body_leniently(body_type, data)
    assert reason in body.note
    assert body.text is None
    if body_type == BodyType.BINARY_FORMATTER:
        assert body.kind is BodyKind.BINARY_FORMATTER
    else:
        assert (body.kind, body.value) == (BodyKind.BYTES, data)


def test_a_code_page_may_be_given() -> None:
    assert decode_body(30, b"\xcf\xf0", code_page="cp1251").text == "Пр"
    with pytest.raises(MalformedPacket, match="not text in ascii"):
        decode_body(30, b"\xff", code_page="ascii")
    for name in ("no such", "hex", "\0"):
        with pytest.raises(ConfigError, match="code_page: there is no encoding"):
            decode_body(30, b"x", code_page=name)


BODY_TYPES = st.sampled_from([*map(int, BodyType), 0x1011, 0x2003, 0x1008]) | st.integers(
    0, 0xFFFFFFFF
)


@given(BODY_TYPES, st.binary(max_size=100) | st.text(max_size=50).map(str.encode))
def test_any_body_is_shown_somehow(body_type: int, data: bytes) -> None:
    body = decode_body_leniently(body_type, data)
    assert body.kind in BodyKind
    if body.kind in (BodyKind.TEXT, BodyKind.XML, BodyKind.JSON):
        assert body.text is not None
