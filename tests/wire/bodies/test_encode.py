"""Bodies from Python values."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.bodies import EncodableValue, decode_body, encode_body
from openmsmq.wire.message.body_type import BodyType

GUID = UUID("1a2b3c4d-0000-1111-2222-1234567890ab")


@pytest.mark.parametrize(
    ("value", "data", "body_type"),
    [
        ("hé", b"h\x00\xe9\x00", BodyType.VT_BSTR),
        (b"raw", b"raw", BodyType.VT_EMPTY),
        (bytearray(b"raw"), b"raw", BodyType.VT_EMPTY),
        (memoryview(b"raw"), b"raw", BodyType.VT_EMPTY),
        (None, b"", BodyType.VT_NULL),
        (True, b"\xff\xff", BodyType.VT_BOOL),
        (False, b"\0\0", BodyType.VT_BOOL),
        (-2, b"\xfe\xff\xff\xff", BodyType.VT_I4),
        (1 << 31, b"\0\0\0\x80\0\0\0\0", BodyType.VT_I8),
        (1 << 63, b"\0\0\0\0\0\0\0\x80", BodyType.VT_UI8),
        (1.5, b"\0\0\0\0\0\0\xf8\x3f", BodyType.VT_R8),
        (Decimal("1.5"), b"\x98\x3a\0\0\0\0\0\0", BodyType.VT_CY),
        (datetime.fromisoformat("1900-01-01"), b"\0\0\0\0\0\0\0\x40", BodyType.VT_DATE),
        (GUID, GUID.bytes_le, BodyType.VT_CLSID),
    ],
)
def test_a_value_gets_the_type_that_fits(
    value: EncodableValue, data: bytes, body_type: BodyType
) -> None:
    assert encode_body(value) == (data, body_type)


@given(
    st.text(st.characters(codec="utf-16"))
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.decimals(-(10**14), 10**14, places=4)
    | st.uuids()
    | st.none()
)
def test_a_value_survives(value: EncodableValue) -> None:
    data, body_type = encode_body(value)
    body = decode_body(body_type, data)
    assert (body.text if isinstance(value, str) else body.value) == value


@given(st.binary(min_size=1))
def test_bytes_survive_unless_they_are_text(value: bytes) -> None:
    data, body_type = encode_body(value)
    body = decode_body(body_type, data)
    assert body.value == value or body.text is not None


@pytest.mark.parametrize("value", [1 << 64, -(1 << 63) - 1, "\ud800"])
def test_a_value_that_fits_no_type_is_refused(value: EncodableValue) -> None:
    with pytest.raises(ValueError, match=r"more than 64 bits|surrogates"):
        encode_body(value)


def test_other_values_have_no_type() -> None:
    with pytest.raises(TypeError, match="a body cannot be made of list"):
        encode_body([1])  # type: ignore[arg-type]  # the mistake under test
