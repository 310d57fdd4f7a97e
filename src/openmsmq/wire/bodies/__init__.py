"""Message bodies: by VT_* type and in the common formats of .NET and COM."""

from .com_object import ComObject
from .decode import body_text, decode_body, decode_body_leniently
from .decoded_body import BodyKind, BodyValue, DecodedBody
from .encode import EncodableValue, encode_body
from .nrbf_text import nrbf_text
from .nrbf_values import NrbfStream
from .value import body_value
from .xml_document import XmlValue, encode_xml

__all__ = [
    "BodyKind",
    "BodyValue",
    "ComObject",
    "DecodedBody",
    "EncodableValue",
    "NrbfStream",
    "XmlValue",
    "body_text",
    "body_value",
    "decode_body",
    "decode_body_leniently",
    "encode_body",
    "encode_xml",
    "nrbf_text",
]
