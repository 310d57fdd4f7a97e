"""The value of a body, by its type and not by how it looks."""

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.bodies.nrbf_streams import HEADER, LIST_OF_STRINGS, stream, string, typed_class

from openmsmq.wire.bodies import NrbfStream, body_value, encode_body
from openmsmq.wire.message.body_type import BodyType

FORMATTED = BodyType.BINARY_FORMATTER


@given(st.binary() | st.text().map(str.encode) | st.text().map(lambda text: text.encode("utf-16")))
def test_bytes_stay_bytes(raw: bytes) -> None:
    assert body_value(0, raw) == raw


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_stays_text(text: str) -> None:
    body, body_type = encode_body(text)
    assert body_value(body_type, body) == text


@pytest.mark.parametrize(
    ("body_type", "data"),
    [
        (BodyType.VT_BSTR, b"odd"),
        (BodyType.VT_I4, b"\1"),
        (BodyType.VT_NULL, b"\1"),
        (BodyType.VT_BLOB, b"text"),
        (BodyType.VT_VARIANT, b"text"),
        (0x2011, b"text"),
        (0x4711, b"<?xml version='1.0'?><int>7</int>"),
        (0x4711, LIST_OF_STRINGS),
        (0, LIST_OF_STRINGS),
    ],
)
def test_what_is_no_value_of_its_type_is_bytes(body_type: int, data: bytes) -> None:
    assert body_value(body_type, data) == data


@pytest.mark.parametrize(
    ("document", "value"),
    [
        (b'<?xml version="1.0"?>\r\n<string>hello</string>', "hello"),
        (b'<?xml version="1.0"?>\r\n<int>42</int>', 42),
        (b'<?xml version="1.0"?>\r\n<Order><Id>1</Id></Order>', None),
        (b"<string>hello</string>", None),
    ],
)
def test_a_simple_value_of_the_xml_formatter_is_that_value(document: bytes, value: object) -> None:
    assert body_value(0, document) == (document if value is None else value)


def test_a_simple_value_of_the_binary_formatter_is_that_value() -> None:
    assert body_value(FORMATTED, stream(string(1, "hello"))) == "hello"
    boxed = stream(typed_class(1, "System.Int32", {"m_value": b"\x00\x08"}), pack("<i", 42))
    assert body_value(FORMATTED, boxed) == 42


@pytest.mark.parametrize(
    "data",
    [
        LIST_OF_STRINGS,
        HEADER + b"\xff",
        stream(typed_class(1, "My.Order", {"number": b"\x00\x08"}), pack("<i", 42)),
        stream(typed_class(1, "My.Order", {"m_value": b"\x01"}), string(2, "text")),
    ],
)
def test_other_objects_of_the_binary_formatter_are_streams(data: bytes) -> None:
    assert isinstance(body_value(FORMATTED, data), NrbfStream)


def test_no_value_is_none() -> None:
    assert body_value(BodyType.VT_NULL, b"") is None
