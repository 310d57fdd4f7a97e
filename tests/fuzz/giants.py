"""Packets made to be slow: each is as large as asked, and full of what costs the most to read."""

import struct
from collections.abc import Callable, Iterator
from typing import Final

from tests.fuzz.seeds import body, capture

from openmsmq.wire.message.body_type import BodyType
from openmsmq.wire.message.multi_queue_format_header import (
    MAX_ELEMENT_COUNT,
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import guid
from openmsmq.wire.security.key_blobs import MQDSPublicKey, MQDSPublicKeys
from openmsmq.wire.security.security_descriptor import (
    MAX_ACE_COUNT,
    Ace,
    AceType,
    Acl,
    SecurityDescriptor,
)
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import EVERYONE

DIRECT: Final = direct_address("OS:host\\private$\\q")
# Two characters with zero bytes side by side, which end no text.
FALSE_ENDS: Final = "\u0061\u6100"
Giant = Callable[[int], bytes]


def _message(size: int, **options: object) -> bytes:
    return build_user_message(destination_queue=DIRECT, body=bytes(size), **options)  # type: ignore[arg-type]  # the caller's names are those of the builder


def _body(size: int) -> bytes:
    return _message(size - 200)


def _extension(size: int) -> bytes:
    return _message(0, extension=bytes(size - 200))


def _long_name(size: int) -> bytes:
    name = direct_address("OS:" + FALSE_ENDS * min(size // 8, 8000))
    return build_user_message(destination_queue=name, admin_queue=name, response_queue=name)


def _certificate(size: int) -> bytes:
    return _message(0, security_header=SecurityHeader(0x41, sender_cert=bytes(min(size, 65535))))


def _soap(size: int) -> bytes:
    return _message(0, soap_header=SoapHeader(FALSE_ENDS * (size // 8), "b" * (size // 4)))


def _srmp(size: int) -> bytes:
    envelope = SRMPEnvelopeHeader("<" * (size // 4))
    compound = CompoundMessageHeader(b"\r\n" * (size // 4), 4, 0)
    return _message(0, srmp_headers=(envelope, compound))


def _guid_lists(size: int) -> bytes:
    count = min(size // 60, MAX_ELEMENT_COUNT // 3)
    elements = tuple(
        MQFFormatNameElement(MQFFormatType.PRIVATE, guid(struct.pack("<QQ", number, 0)), number)
        for number in range(count)
    )
    return _message(
        0, multi_queue_format_header=MultiQueueFormatHeader(elements, elements, elements)
    )


def _name_lists(size: int) -> bytes:
    count = min(size // 60, MAX_ELEMENT_COUNT // 3)
    text = "OS:" + "n" * (size // (6 * count) - 5)
    elements = (MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name=text),) * count
    return _message(
        0, multi_queue_format_header=MultiQueueFormatHeader(elements, elements, elements)
    )


def _one_name_list(size: int) -> bytes:
    element = MQFFormatNameElement(
        MQFFormatType.DIRECT, direct_format_name=FALSE_ENDS * (size // 4)
    )
    return _message(0, multi_queue_format_header=MultiQueueFormatHeader((element,)))


def _security_descriptor(size: int) -> bytes:
    entry = Ace(AceType.ACCESS_ALLOWED_OBJECT, 1, EVERYONE, object_type=guid(bytes(16)))
    acl = Acl((entry,) * min(size // 100, MAX_ACE_COUNT))
    return SecurityDescriptor(EVERYONE, EVERYONE, acl, acl).serialize()


def _public_keys(size: int) -> bytes:
    count = 256
    key = MQDSPublicKey(1, "p" * (size // count // 4), bytes(size // count // 2 - 16))
    return MQDSPublicKeys((key,) * count).serialize()


def _xml(size: int) -> bytes:
    return body(BodyType.VT_EMPTY, b"<a>" * (size // 7) + b"</a>" * (size // 7))


def _xml_attributes(size: int) -> bytes:
    attributes = b" ".join(b'a%d="&#65;"' % number for number in range(size // 16))
    return body(BodyType.VT_EMPTY, b"<a " + attributes + b"/>")


def _xml_entities(size: int) -> bytes:
    levels = b"".join(
        b'<!ENTITY e%d "%s">' % (level, b"&e%d;" % (level - 1) * 10) for level in range(1, 10)
    )
    start = b'<!DOCTYPE a [<!ENTITY e0 "x">' + levels + b"]><a>&e9;</a>"
    return body(BodyType.VT_EMPTY, start + b" " * (size - len(start)))


def _json(size: int) -> bytes:
    return body(BodyType.VT_EMPTY, b"[" * (size // 2) + b"]" * (size // 2))


def _text(size: int) -> bytes:
    return body(BodyType.VT_EMPTY, ("ä€" * (size // 5)).encode())


def _nrbf(size: int) -> bytes:
    """An array of nulls, one record each."""
    count = size - 30
    start = bytes.fromhex("00 01000000 ffffffff 01000000 00000000 10 01000000")
    nulls = struct.pack("<I", count) + b"\x0a" * count + b"\x0b"
    return body(BodyType.BINARY_FORMATTER, start + nulls)


def _nrbf_nested(size: int) -> bytes:
    """Arrays of one array each."""
    start = bytes.fromhex("00 01000000 ffffffff 01000000 00000000")
    arrays = b"".join(b"\x10" + struct.pack("<II", number, 1) for number in range(1, size // 9))
    return body(BodyType.BINARY_FORMATTER, start + arrays + b"\x0a\x0b")


def _faults(size: int) -> bytes:
    """A stream with a fault behind each header."""
    header = bytes.fromhex("100003004c494f5210000000ffffffff")
    return (header + b"?") * (size // 17)


def _capture(size: int) -> bytes:
    return capture(_body(size))


def _srmp_envelope(size: int) -> bytes:
    """An envelope with as many elements as fit."""
    soap = 'xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"'
    start = f"<s:Envelope {soap}><s:Header>".encode()
    return start + b"<x>&amp;</x>" * (size // 12)


def _srmp_tag(size: int) -> bytes:
    """One tag, which expat must have whole."""
    return b"<x " + b" ".join([b"a%d='b'" % number for number in range(size // 12)]) + b">"


def _srmp_parts(size: int) -> bytes:
    """A body with a delimiter on every line."""
    return (
        b"--b\r\nContent-Type: text/xml\r\nContent-Length: 1\r\n\r\nx"
        b"--b\r\nContent-Length: %d\r\n\r\n" % size
    ) + b"--b\r\n\r\n" * (size // 7)


def _long_reference(size: int) -> bytes:
    return ("DIRECT=OS:" + "h" * (size // 2 - 20) + "\\q").encode("utf-16-le")


def _many_references(size: int) -> bytes:
    return ",".join(["DIRECT=OS:h\\q"] * (size // 28)).encode("utf-16-le")


GIANTS: Final[tuple[Giant, ...]] = (
    _body,
    _extension,
    _long_name,
    _certificate,
    _soap,
    _srmp,
    _guid_lists,
    _name_lists,
    _one_name_list,
    _security_descriptor,
    _public_keys,
    _xml,
    _xml_attributes,
    _xml_entities,
    _json,
    _text,
    _nrbf,
    _nrbf_nested,
    _faults,
    _capture,
    _srmp_envelope,
    _srmp_tag,
    _srmp_parts,
    _long_reference,
    _many_references,
)


def giants(size: int) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every giant of about this size."""
    for giant in GIANTS:
        yield giant.__name__.removeprefix("_"), giant(size)
