"""<Signature> of an envelope, read and written ([MC-MQSRM] 2.2.7)."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.srmp.document import Document
from openmsmq.wire.srmp.request_templates import RequestTemplates
from openmsmq.wire.srmp.sending import request_from_packet
from openmsmq.wire.srmp.signature import read_signature, signature_text, signed_info_of

GUID = UUID(int=0xF6A3)
DSIG = "http://www.w3.org/2000/02/xmldsig#"


def packet(body: bytes = b"body", extension: bytes = b"", **properties: Any) -> UserMessage:
    options: dict[str, Any] = {
        "hash_algorithm": HashAlgorithm.SHA1,
        "security_header": SecurityHeader(0, signature=b"value", sender_cert=b"certificate"),
        **properties,
    }
    return UserMessage(
        build_user_message(
            body=body,
            extension=extension,
            source_queue_manager=GUID,
            message_id=1,
            destination_queue=direct_address("HTTP://beta/msmq/q"),
            **options,
        )
    )


@pytest.mark.parametrize("extension", [b"", b"more"])
@pytest.mark.parametrize("certificate", [b"", b"DER"])
def test_what_is_written_is_read(extension: bytes, certificate: bytes) -> None:
    message = packet(extension=extension)
    signed_info = signed_info_of(message)
    signature = read_signature(signature_text(signed_info, b"value", certificate))
    assert signature.signed_info == signed_info
    assert b"<SignedInfo>" + signature.content + b"</SignedInfo>" == signed_info
    assert (signature.value, signature.certificate) == (b"value", certificate)
    assert [each.extension for each in signature.references] == [False, True][: 1 + bool(extension)]
    signature.check_parts(body=b"body", extension=extension)
    for reference in signature.references:
        assert reference.fits(extension if reference.extension else b"body")
        assert not reference.fits(b"other")


def test_a_signature_is_the_last_entry() -> None:
    content = request_from_packet(packet(), number=1)
    assert b"</KeyInfo></Signature></se:Header>" in content.data
    unsigned = [
        packet(hash_algorithm=HashAlgorithm.SHA_512),
        packet(security_header=None),
        packet(security_header=SecurityHeader(1, security_id=bytes(12))),
    ]
    for message in unsigned:
        assert b"Signature" not in request_from_packet(message, number=1).data


def test_signed_messages_have_no_template() -> None:
    templates = RequestTemplates()
    for value in (b"one", b"two"):
        header = SecurityHeader(0, signature=value)
        content = templates.write(packet(security_header=header), number=1)
        assert content == request_from_packet(packet(security_header=header), number=1)
    header = SecurityHeader(1, security_id=bytes(12))
    for _ in range(2):
        assert templates.write(packet(security_header=header), number=1)


RAW = signature_text(signed_info_of(packet(extension=b"more")), b"value", b"DER")
FAULTS = {
    "no XML": (b"<Signature", b"<<"),
    "an unbound prefix": (b"<SignedInfo>", b"<x:SignedInfo>"),
    "an attribute of SignedInfo": (b"<SignedInfo>", b'<SignedInfo a="b">'),
    "a method without a name": (b'<SignatureMethod Algorithm="', b'<SignatureMethod a="'),
    "another part": (b"cid:body", b"cid:other"),
    "no URI": (b"<Reference URI", b"<Reference url"),
    "a digest method without a name": (b'<DigestMethod Algorithm="', b'<DigestMethod a="'),
    "no base 64": (b"<SignatureValue>", b"<SignatureValue>?"),
    "an empty value": (b"dmFsdWU=", b" \r\n"),
    "a value that is too long": (b"dmFsdWU=", b"A" * 87384),
    "two certificates": (b"<X509Certificate>", b"<X509Certificate/><X509Certificate>"),
    "a certificate that is too long": (b"<X509Certificate>", b"<X509Certificate>" + b"A" * 87384),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    old, new = FAULTS[name]
    assert old in RAW
    with pytest.raises(MalformedPacket) as raised:
        read_signature(RAW.replace(old, new))
    assert raised.value.field == "Signature"


@pytest.mark.parametrize(
    ("body", "extension", "reason"),
    [(None, b"more", "body, which"), (b"body", b"", "extension, which")],
)
def test_a_reference_without_its_part(body: bytes | None, extension: bytes, reason: str) -> None:
    with pytest.raises(MalformedPacket, match=reason):
        read_signature(RAW).check_parts(body=body, extension=extension)


def test_a_part_without_its_reference() -> None:
    alone = read_signature(signature_text(signed_info_of(packet()), b"value", b""))
    with pytest.raises(MalformedPacket, match="no reference to the extension"):
        alone.check_parts(body=b"body", extension=b"more")
    alone.check_parts(body=b"", extension=b"")


def test_white_space_and_unknown_elements_are_skipped() -> None:
    raw = RAW.replace(b"<SignatureValue>", b"<SignatureValue>\r\n ").replace(
        b"<Reference ", b"<Other xmlns='x'><DigestValue>a</DigestValue></Other> text <Reference "
    )
    signature = read_signature(raw)
    assert signature.value == b"value"
    assert len(signature.references) == 2
    assert signature.content in raw


def test_the_signature_is_cut_out_of_the_envelope() -> None:
    data = request_from_packet(packet(extension=b"more"), number=1).data
    envelope = data[data.index(b"<se:Env") : data.index(b"</se:Envelope>") + 14]
    assert read_signature(Document(envelope).signature).signed_info in envelope


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_as_they_should(raw: bytes) -> None:
    with pytest.raises(MalformedPacket):
        read_signature(raw)


@given(st.integers(0, len(RAW) - 1), st.binary(max_size=3))
def test_damaged_signatures_never_break_the_reader(at: int, piece: bytes) -> None:
    try:
        signature = read_signature(RAW[:at] + piece + RAW[at + 1 :])
    except MalformedPacket:
        return
    assert signature.value
