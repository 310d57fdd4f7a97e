"""VT_* types."""

import pytest

from openmsmq.wire.message.body_type import BodyType, body_type_name


@pytest.mark.parametrize(
    ("body_type", "name"),
    [
        (0, "VT_EMPTY"),
        (8, "VT_BSTR"),
        (72, "VT_CLSID"),
        (0x300, "BINARY_FORMATTER"),
        (0x1011, "VT_VECTOR|VT_UI1"),
        (0x2011, "VT_ARRAY|VT_UI1"),
        (0x0F0F, "0x00000F0F"),
        (0x00010008, "0x00010008"),
    ],
)
def test_a_type_has_a_name_or_eight_digits(body_type: int, name: str) -> None:
    assert body_type_name(body_type) == name


@pytest.mark.parametrize(
    ("first", "names"),
    [
        (0, "VT_EMPTY VT_NULL VT_I2 VT_I4 VT_R4 VT_R8 VT_CY VT_DATE VT_BSTR VT_DISPATCH"),
        (11, "VT_BOOL VT_VARIANT VT_UNKNOWN"),
        (16, "VT_I1 VT_UI1 VT_UI2 VT_UI4 VT_I8 VT_UI8"),
        (30, "VT_LPSTR VT_LPWSTR"),
        (65, "VT_BLOB"),
        (68, "VT_STREAMED_OBJECT VT_STORED_OBJECT"),
        (72, "VT_CLSID"),
    ],
)
def test_types_have_their_published_numbers(first: int, names: str) -> None:
    assert [BodyType(number).name for number in range(first, first + len(names.split()))] == (
        names.split()
    )
