from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from openmsmq.spark.bodies.text import text_of_body
from openmsmq.wire.bodies import EncodableValue, encode_body
from openmsmq.wire.message.body_type import VT_ARRAY, BodyType

# A BinaryFormatter stream of the text "hi".
NRBF = bytes.fromhex("0001000000ffffffff01000000000000000601000000026869" + "0b")
WIDE_XML = "<a/>".encode("utf-16-le")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (b"bytes", "bytes"),
        (b"\xef\xbb\xbf<a/>", "<a/>"),
        (b"", ""),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        (1.5, "1.5"),
        (Decimal("1.10"), "1.1000"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (None, None),
    ],
)
@pytest.mark.parametrize("body_format", ["text", "auto"])
def test_values_are_written_as_text(
    value: EncodableValue, text: str | None, body_format: str
) -> None:
    raw, body_type = encode_body(value)
    assert text_of_body(body_format, body_type, raw) == (text, None)


def test_several_numbers_are_written_in_brackets() -> None:
    outcome = text_of_body("text", VT_ARRAY | BodyType.VT_I2, bytes((1, 0, 2, 0)))
    assert outcome == ("[1, 2]", None)


def test_a_mark_before_wide_text_is_not_part_of_it() -> None:
    for body_type in (BodyType.VT_BSTR, BodyType.VT_LPWSTR):
        assert text_of_body("xml", body_type, b"\xff\xfe" + WIDE_XML) == ("<a/>", None)


@pytest.mark.parametrize(
    ("body_format", "body_type", "raw", "error"),
    [
        ("text", 0, b"\0\1\2\xff", "body: is bytes, not text"),
        ("xml", 0, b"text", "body: is text, not xml"),
        ("xml", 0, b"", "body: is empty, not xml"),
        ("json", BodyType.VT_BSTR, WIDE_XML, "body: is xml, not json"),
        ("json", BodyType.VT_I4, bytes(4), "body: is value, not json"),
        ("auto", BodyType.VT_I4, bytes(3), "body: Body at offset 0: VT_I4 has 4 bytes, not 3"),
        ("text", BodyType.VT_BSTR, b"odd", "body: Body at offset 2: not UTF-16LE text"),
        ("text", BodyType.BINARY_FORMATTER, NRBF, "body: is binary-formatter, not text"),
    ],
)
def test_a_body_of_another_kind_has_an_error_and_no_text(
    body_format: str, body_type: int, raw: bytes, error: str
) -> None:
    assert text_of_body(body_format, body_type, raw) == (None, error)


def test_bytes_are_no_error_where_any_body_will_do() -> None:
    assert text_of_body("auto", 0, b"\0\1\2\xff") == (None, None)
    assert text_of_body("auto", BodyType.VT_BLOB, b"text") == (None, None)


def test_records_of_binary_formatter_are_shown_as_data() -> None:
    text, error = text_of_body("auto", BodyType.BINARY_FORMATTER, NRBF)
    assert error is None
    assert text is not None
    assert "hi" in text


def test_a_document_is_taken_as_it_is() -> None:
    assert text_of_body("xml", 0, b"<?xml version='1.0'?><a>1</a>")[0] == (
        "<?xml version='1.0'?><a>1</a>"
    )
    assert text_of_body("json", 0, b" [1] ") == (" [1] ", None)
