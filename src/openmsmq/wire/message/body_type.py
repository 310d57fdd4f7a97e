"""Types of message bodies and of property values: VT_* ([MS-MQMQ] 2.2.12)."""

from enum import IntEnum
from typing import Final

VT_VECTOR: Final = 0x1000
VT_ARRAY: Final = 0x2000
ELEMENT_MASK: Final = 0x0FFF
_ALL_BITS: Final = VT_VECTOR | VT_ARRAY | ELEMENT_MASK


class BodyType(IntEnum):
    """Element types; a packet may carry any u32, which is kept as it is."""

    VT_EMPTY = 0
    VT_NULL = 1
    VT_I2 = 2
    VT_I4 = 3
    VT_R4 = 4
    VT_R8 = 5
    VT_CY = 6
    VT_DATE = 7
    VT_BSTR = 8
    VT_DISPATCH = 9
    VT_BOOL = 11
    VT_VARIANT = 12
    VT_UNKNOWN = 13
    VT_I1 = 16
    VT_UI1 = 17
    VT_UI2 = 18
    VT_UI4 = 19
    VT_I8 = 20
    VT_UI8 = 21
    VT_LPSTR = 30
    VT_LPWSTR = 31
    VT_BLOB = 65
    VT_STREAMED_OBJECT = 68
    VT_STORED_OBJECT = 69
    VT_CLSID = 72
    # Not a VARIANT type: the mark of .NET's BinaryMessageFormatter.
    BINARY_FORMATTER = 0x300


_NAMES: Final = {int(known): known.name for known in BodyType}


def body_type_name(body_type: int) -> str:
    """`VT_BSTR`, `VT_VECTOR|VT_UI1` and so on; a type without a name in hexadecimal digits."""
    element = _NAMES.get(body_type & ELEMENT_MASK)
    if element is None or body_type & ~_ALL_BITS:
        return f"0x{body_type:08X}"
    vector = "VT_VECTOR|" if body_type & VT_VECTOR else ""
    array = "VT_ARRAY|" if body_type & VT_ARRAY else ""
    return vector + array + element
