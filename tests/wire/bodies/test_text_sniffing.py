"""Telling text from other bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.bodies.text_sniffing import sniff_text

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), min_size=1, max_size=50
)


@given(TEXTS)
def test_utf8_text_is_text(text: str) -> None:
    assert sniff_text(text.encode()) == (text.removeprefix("\ufeff"), "utf-8")


@given(TEXTS)
def test_a_mark_tells_the_encoding(text: str) -> None:
    assert sniff_text(b"\xef\xbb\xbf" + text.encode()) == (text, "utf-8")
    assert sniff_text(b"\xff\xfe" + text.encode("utf-16-le")) == (text, "utf-16-le")
    assert sniff_text(b"\xfe\xff" + text.encode("utf-16-be")) == (text, "utf-16-be")


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1))
def test_wide_text_without_a_mark_is_text(text: str) -> None:
    assert sniff_text(text.encode("utf-16-le")) == (text, "utf-16-le")


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"line\r\n\tline\x0c", "line\r\n\tline\x0c", "utf-8"),
        (b"hello\0", "hello", "utf-8"),
        ("hi\0".encode("utf-16-le"), "hi", "utf-16-le"),
        ("Grüße, €".encode("utf-16-le"), "Grüße, €", "utf-16-le"),
        (b'<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', None, "iso-8859-1"),
        (b"<?xml version='1.0' encoding = 'windows-1252'?><a>\x80</a>", None, "windows-1252"),
    ],
)
def test_other_text(data: bytes, text: str | None, encoding: str) -> None:
    assert sniff_text(data) == (text or data.decode(encoding), encoding)


@pytest.mark.parametrize(
    "data",
    [
        b"\0",
        b"\0\0",
        b"\x01\0\0\0",
        b"A\0\0\0",
        b"\x1b[31mred",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xfea",
        b"\xef\xbb\xbf\xff",
        "漢字語".encode("utf-16-le"),
        b"a\0b\0\x00\xd8",
        b'<?xml version="1.0" encoding="rot13"?>\xff',
        b'<?xml version="1.0" encoding="us-ascii"?>\xff',
        b"\xc3\xa9\xff",
        bytes(range(256)),
    ],
)
def test_bytes_that_are_no_text(data: bytes) -> None:
    assert sniff_text(data) is None
