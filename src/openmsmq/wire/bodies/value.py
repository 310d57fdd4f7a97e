"""From body type and bytes to the Python value that the sender's program sent."""

from typing import Final

from openmsmq.wire.message.body_type import BodyType

from .decode import decode_body_leniently
from .decoded_body import BodyKind, BodyValue, ScalarValue
from .nrbf_values import NrbfObject, NrbfStream, NrbfString

_TEXTS: Final = frozenset((BodyType.VT_BSTR, BodyType.VT_LPSTR, BodyType.VT_LPWSTR))
_VALUES: Final = frozenset((BodyKind.VALUE, BodyKind.ARRAY, BodyKind.OBJECT, BodyKind.NULL))
# What XmlMessageFormatter of .NET begins every document with.
_XML_FORMATTER: Final = b'<?xml version="1.0"'
# How BinaryFormatter wraps a value that is no object of its own.
_BOXED: Final = "m_value"


def body_value(body_type: int, data: bytes | memoryview) -> BodyValue:
    """The value of a body by its type; it never depends on how the bytes look.

    Type 0 stands for bytes, and so does every type that is not known or that the bytes do not fit.
    The one exception is a simple value in a document of .NET's XmlMessageFormatter, which has no
    body type of its own.
    """
    raw = bytes(data)
    if body_type == BodyType.VT_EMPTY:
        if not raw.startswith(_XML_FORMATTER):
            return raw
        decoded = decode_body_leniently(body_type, raw)
        return raw if decoded.value is None else decoded.value
    decoded = decode_body_leniently(body_type, raw)
    if body_type in _TEXTS and decoded.text is not None:
        return decoded.text
    if body_type == BodyType.BINARY_FORMATTER and isinstance(decoded.value, NrbfStream):
        return _formatted(decoded.value)
    return decoded.value if decoded.kind in _VALUES else raw


def _formatted(stream: NrbfStream) -> BodyValue:
    """A string or another simple value of BinaryFormatter; the whole stream for anything else."""
    root = stream.root
    if isinstance(root, NrbfString):
        return root.value
    if isinstance(root, NrbfObject) and len(root.members) == 1:
        name, value = root.members[0]
        if name == _BOXED and isinstance(value, ScalarValue):
            return value
    return stream
