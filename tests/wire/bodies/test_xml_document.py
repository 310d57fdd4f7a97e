"""Documents of XmlMessageFormatter."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.bodies import body_value
from openmsmq.wire.bodies.xml_document import XmlValue, encode_xml

GUID = UUID("01234567-89ab-cdef-0123-456789abcdef")
DECLARATION = b'<?xml version="1.0"?>\r\n'
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))


@pytest.mark.parametrize(
    ("value", "document"),
    [
        ("hello", b"<string>hello</string>"),
        ("", b"<string></string>"),
        ("a<b & c>\r\n\x85ä", "<string>a&lt;b &amp; c&gt;&#xD;\n&#x85;ä</string>".encode()),
        (True, b"<boolean>true</boolean>"),
        (42, b"<int>42</int>"),
        (-(1 << 31) - 1, b"<long>-2147483649</long>"),
        (1 << 63, b"<unsignedLong>9223372036854775808</unsignedLong>"),
        (0.5, b"<double>0.5</double>"),
        (float("inf"), b"<double>INF</double>"),
        (float("-inf"), b"<double>-INF</double>"),
        (Decimal("1E+2"), b"<decimal>100</decimal>"),
        (
            datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
            b"<dateTime>2024-02-29T12:30:00+00:00</dateTime>",
        ),
        (GUID, b"<guid>01234567-89ab-cdef-0123-456789abcdef</guid>"),
        (b"\x00\xff", b"<base64Binary>AP8=</base64Binary>"),
    ],
)
def test_a_value_is_one_element_and_comes_back(value: XmlValue, document: bytes) -> None:
    encoded = encode_xml(value)
    assert encoded == DECLARATION + document
    assert body_value(0, encoded) == value
    assert type(body_value(0, encoded)) is type(value)
    ElementTree.fromstring(encoded)  # noqa: S314 - made by ourselves


def test_what_is_not_a_number_is_written_as_xml_does() -> None:
    assert encode_xml(float("nan")) == DECLARATION + b"<double>NaN</double>"


@given(TEXTS | st.text("\t\n\r\x7f\x80\x9f<>&' \"]"))
def test_every_text_of_xml_comes_back(text: str) -> None:
    encoded = encode_xml(text)
    assert body_value(0, encoded) == text
    assert (ElementTree.fromstring(encoded).text or "") == text  # noqa: S314 - made by ourselves


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\0b", r"U\+0000"),
        ("\x1b", r"U\+001B"),
        ("\uffff", r"U\+FFFF"),
        ("\ud800", r"U\+D800"),
        (1 << 64, "more than 64 bits"),
        (-(1 << 63) - 1, "more than 64 bits"),
        (Decimal("NaN"), "no decimal number"),
    ],
)
def test_what_xml_cannot_hold_is_refused(value: XmlValue, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        encode_xml(value)


@pytest.mark.parametrize("value", [None, {"a": 1}, [1]])
def test_what_is_no_simple_value_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=f"no simple value for {type(value).__name__}"):
        encode_xml(value)
