"""Signed messages over HTTP: accepted, refused, authenticated ([MC-MQSRM] 2.2.7, 3.1.5.1.6.1)."""

import hashlib
import re
from base64 import b64decode
from functools import cache
from itertools import product
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from tests.core.harness import USER
from tests.interop import naive_xml_signer
from tests.interop.naive_xml_signer import DSA_METHOD, DSIG, NaiveXml, base64, reference
from tests.protocol.srmp.naive import envelope, post
from tests.protocol.srmp.web import Node, Web, url
from tests.security.encryption.keys import key_pair
from tests.security.signatures.signer import NOT_AFTER, NOT_BEFORE, private_key, signing_key

from openmsmq.client.certificates import SigningKey
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.core.events import SignatureFormFound
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.security.certificates.sender_policy import SenderPolicy
from openmsmq.security.certificates.trust import TrustStore
from openmsmq.security.signatures.hashes import accepted_hashes
from openmsmq.security.signatures.xml_forms import CertificatePlace, SignedPart, ValueOrder, XmlForm
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import Authenticated
from openmsmq.wire.codes.queue_error import QueueError

OK, BAD = 200, 400
UNSIGNED = "unsigned"


@cache
def dsa_key() -> dsa.DSAPrivateKey:
    return dsa.generate_private_key(1024)  # noqa: S505 - what SRMP asks for


@cache
def dsa_certificate() -> bytes:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "dsa")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(dsa_key().public_key()).serial_number(7)
    builder = builder.not_valid_before(NOT_BEFORE).not_valid_after(NOT_AFTER)
    return builder.sign(private_key("alice"), hashes.SHA256()).public_bytes(Encoding.DER)


@cache
def short_key() -> tuple[rsa.RSAPrivateKey, bytes]:
    """A key of 512 bits, as in the sample of [MC-MQSRM] 2.2.7.2, and its certificate."""
    n, e, d, p, q = key_pair(512)
    numbers = rsa.RSAPrivateNumbers(
        p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), rsa.RSAPublicNumbers(e, n)
    )
    key = numbers.private_key(unsafe_skip_rsa_key_validation=True)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "short")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(8)
    builder = builder.not_valid_before(NOT_BEFORE).not_valid_after(NOT_AFTER)
    certificate = builder.sign(private_key("alice"), hashes.SHA256())
    return key, certificate.public_bytes(Encoding.DER)


def machine(
    *, policy: dict[str, Any] | None = None, core: dict[str, Any] | None = None, **queue: Any
) -> tuple[Web, Node]:
    """A machine with a queue that takes authenticated messages only."""
    web = Web()
    senders = SenderPolicy(**{"accept_unknown_certificates": True, **(policy or {})})
    beta = web.node("beta", core={"senders": senders, **(core or {})})
    beta.create(**{"authentication": True, **queue})
    web.run()
    return web, beta


def xml(web: Web, beta: Node, **properties: Any) -> NaiveXml:
    """A signed message of a peer that shares no code with the product."""
    key = signing_key()
    options = {
        "value": naive_xml_signer.rsa(key.key),
        "certificate": key.certificate,
        **properties,
    }
    return NaiveXml(url(beta), web.utc, **options)


@pytest.mark.spec("MQSRM-2.2.7.2-01", "MQSRM-3.1.5.1.6.1-10", "MQDMPR-3.1.1.12-12")
@pytest.mark.parametrize("extension", [b"", b"more"])
def test_a_good_signature_is_accepted_and_says_so(extension: bytes) -> None:
    web, beta = machine()
    signed = xml(web, beta, extension=extension)
    assert web.post(beta, signed.post()) == [OK]
    (message,) = beta.messages()
    assert message.body == b"by hand"
    assert message.extension == extension
    assert message.authentication_level == Authenticated.SIGXML
    header = message.security_header
    assert header is not None
    assert header.sender_cert == signing_key().certificate


@pytest.mark.spec("MQSRM-2.2.7.2-01", "MQSRM-3.1.5.1.6.1-10")
def test_a_value_of_64_bytes_is_that_of_an_rsa_key_of_512_bits() -> None:
    key, certificate = short_key()
    web, beta = machine(policy={"smallest_bits": 512})
    signed = xml(web, beta, value=naive_xml_signer.rsa(key), certificate=certificate)
    (value,) = re.findall("<SignatureValue>(.*)</SignatureValue>", signed.signature())
    assert len(value) == 88
    assert web.post(beta, signed.post()) == [OK]
    # Such a key protects nothing: it is not accepted unless the setting says so.
    web, beta = machine()
    assert web.post(beta, xml(web, beta, value=naive_xml_signer.rsa(key)).post()) == [BAD]


@pytest.mark.spec("MQSRM-3.1.5.1.6.1-10")
@pytest.mark.parametrize(
    ("part", "order", "kind"), list(product(SignedPart, ValueOrder, ("rsa", "dsa")))
)
def test_every_form_is_read_and_told_once(part: SignedPart, order: ValueOrder, kind: str) -> None:
    web, beta = machine()
    told: list[str] = []
    beta.engine.listen(SignatureFormFound, lambda event: told.append(event.form))
    little = order is ValueOrder.LITTLE
    if kind == "rsa":
        value = naive_xml_signer.rsa(private_key("alice"), little_endian=little)
        certificate = signing_key().certificate
    else:
        value = naive_xml_signer.dsa(dsa_key(), little_endian=little)
        certificate = dsa_certificate()
    for number in (1, 2):
        signed = xml(
            web,
            beta,
            value=value,
            certificate=certificate,
            number=number,
            with_tags=part is SignedPart.ELEMENT,
        )
        assert web.post(beta, signed.post()) == [OK]
    assert told == [f"sigxml, {XmlForm(part, order)}"]


def test_a_signature_without_a_certificate_is_that_of_a_trusted_one() -> None:
    trust = TrustStore()
    for key in ("bob", "alice"):
        certificate = x509.load_der_x509_certificate(signing_key(key).certificate)
        trust.add_authorities(certificate.public_bytes(Encoding.PEM))
    policy = {"accept_unknown_certificates": False, "trust": trust}
    web, beta = machine(policy=policy)
    assert web.post(beta, xml(web, beta, certificate=b"").post()) == [OK]
    mallory = naive_xml_signer.rsa(private_key("mallory"))
    assert web.post(beta, xml(web, beta, certificate=b"", value=mallory).post()) == [BAD]
    assert len(beta.messages()) == 1
    # With a certificate that nobody trusts the signature proves nothing.
    own = signing_key("mallory")
    forged = xml(web, beta, value=mallory, certificate=own.certificate)
    assert web.post(beta, forged.post()) == [BAD]
    web, beta = machine()
    assert web.post(beta, xml(web, beta, certificate=b"").post()) == [BAD]


BODY = reference("body", b"by hand")
EXTENSION = reference("extension", b"more")
DIGEST_METHOD = f'<DigestMethod Algorithm="{DSIG}sha1"></DigestMethod>'
FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "no SignedInfo": (
        "MQSRM-3.1.5.1.6.1-01",
        {"replacements": (("SignedInfo>", "OtherInfo>"),)},
    ),
    "two SignedInfo": (
        "MQSRM-2.2.7.1-01",
        {"replacements": (("<SignedInfo>", "<SignedInfo></SignedInfo><SignedInfo>"),)},
    ),
    "no SignatureMethod": ("MQSRM-3.1.5.1.6.1-01", {"method": ""}),
    "two SignatureMethod": ("MQSRM-2.2.7.1.1-01", {"method": DSA_METHOD * 2}),
    "no SignatureValue": (
        "MQSRM-3.1.5.1.6.1-01",
        {"replacements": (("SignatureValue>", "OtherValue>"),)},
    ),
    "two SignatureValue": (
        "MQSRM-2.2.7.2-01",
        {"replacements": (("<SignatureValue>", "<SignatureValue/><SignatureValue>"),)},
    ),
    "another method": (
        "MQSRM-3.1.5.1.6.1-02",
        {"method": DSA_METHOD.replace("#dsa", "#rsa-sha1")},
    ),
    "no references": ("MQSRM-3.1.5.1.6.1-03", {"references": ""}),
    "three references": (
        "MQSRM-3.1.5.1.6.1-03",
        {"references": BODY + EXTENSION + BODY, "extension": b"more"},
    ),
    "a reference to a body that is not there": (
        "MQSRM-3.1.5.1.6.1-04",
        {"body": None, "extension": b"more", "references": BODY + EXTENSION},
    ),
    "a reference to an extension that is not there": (
        "MQSRM-3.1.5.1.6.1-04",
        {"references": BODY + EXTENSION},
    ),
    "two references to the body": ("MQSRM-3.1.5.1.6.1-05", {"references": BODY * 2}),
    "two references to the extension": (
        "MQSRM-3.1.5.1.6.1-05",
        {"references": EXTENSION * 2, "extension": b"more"},
    ),
    "no DigestMethod": (
        "MQSRM-3.1.5.1.6.1-06",
        {"references": BODY.replace(DIGEST_METHOD, "")},
    ),
    "two DigestMethod": (
        "MQSRM-2.2.7.1.2.1-01",
        {"references": BODY.replace(DIGEST_METHOD, DIGEST_METHOD * 2)},
    ),
    "no DigestValue": (
        "MQSRM-3.1.5.1.6.1-06",
        {"references": re.sub("<DigestValue>.*</DigestValue>", "", BODY)},
    ),
    "two DigestValue": (
        "MQSRM-2.2.7.1.2.2-01",
        {"references": re.sub("(<DigestValue>.*</DigestValue>)", r"\1\1", BODY)},
    ),
    "another digest": (
        "MQSRM-3.1.5.1.6.1-07",
        {"references": BODY.replace("#sha1", "#sha256")},
    ),
    "the final namespace": (
        "MQSRM-2.2.7-01",
        {"replacements": ((f'<Signature xmlns="{DSIG}"', f'<Signature xmlns="{DSIG}x"'),)},
    ),
    "the body has no reference": (
        "MQSRM-2.2.7.1.2-02",
        {"references": EXTENSION, "extension": b"more"},
    ),
    "the extension has no reference": (
        "MQSRM-2.2.7.1.2-03",
        {"references": BODY, "extension": b"more"},
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.spec(row)) for name, (row, _) in FAULTS.items()],
)
def test_a_signature_that_is_not_as_specified_costs_its_message(name: str) -> None:
    """The message is signed with these elements: only the rule for them refuses it."""
    web, beta = machine()
    faulty = xml(web, beta, **FAULTS[name][1]).post()
    honest = xml(web, beta, number=2).post()
    assert web.post(beta, faulty, honest) == [BAD, OK]
    assert [message.message_id for message in beta.messages()] == [2]


@pytest.mark.spec("MQSRM-2.2.7.1.2-01", "MQSRM-2.2.7.1.2-02", "MQSRM-2.2.7.1.2-03")
@pytest.mark.parametrize(
    ("body", "extension"), [(b"by hand", b""), (b"by hand", b"more"), (None, b"more"), (b"", b"")]
)
def test_one_or_two_references(body: bytes | None, extension: bytes) -> None:
    web, beta = machine()
    assert web.post(beta, xml(web, beta, body=body, extension=extension).post()) == [OK]
    assert [message.extension for message in beta.messages()] == [extension]


@pytest.mark.spec("MQSRM-3.1.5.1.6.1-01")
def test_a_queue_that_asks_for_signatures_takes_no_other_message() -> None:
    web, beta = machine()
    unsigned = post(envelope(url(beta), utc=web.utc))
    assert web.post(beta, unsigned) == [BAD]
    assert beta.messages() == []
    # Elsewhere it is a message like any other.
    beta.create(r".\private$\free")
    assert web.post(beta, post(envelope(url(beta, "free"), utc=web.utc))) == [OK]


@pytest.mark.spec("MQSRM-3.1.5.1.6-01")
def test_a_forged_message_takes_no_identifier_from_an_honest_one() -> None:
    web, beta = machine()
    forged, honest = xml(web, beta).post(body=b"by Hand"), xml(web, beta).post()
    assert web.post(beta, forged, honest, forged, honest) == [BAD, OK, BAD, OK]
    assert web.post(beta, forged) == [BAD]
    assert beta.bodies() == [b"by hand"]


@pytest.mark.spec("MQSRM-3.1.5.1.6-01")
def test_a_bad_signature_is_refused_where_none_is_asked_for() -> None:
    web, beta = machine(authentication=False)
    assert web.post(beta, xml(web, beta).post(body=b"by Hand")) == [BAD]
    assert beta.messages() == []


@pytest.mark.spec("MQSRM-3.1.5.1.6.1-08", "MQSRM-3.1.5.1.6.1-09", "MQSRM-3.1.5.1.6.1-07")
@pytest.mark.parametrize("method", ["sha1", "md5"])
def test_digests_are_those_of_the_parts(method: str) -> None:
    web, beta = machine(policy={"accepted_hashes": accepted_hashes(("sha512", "md5"))})
    signed = xml(web, beta, extension=b"more", digest_method=method)
    digests = re.findall("<DigestValue>(.*?)</DigestValue>", signed.signature())
    assert {len(digest) for digest in digests} == {28 if method == "sha1" else 24}
    assert web.post(beta, signed.post(body=b"by Hand")) == [BAD]
    assert web.post(beta, signed.post(extension=b"mor")) == [BAD]
    assert web.post(beta, signed.post()) == [OK]
    assert len(beta.messages()) == 1


def test_md5_is_read_by_a_setting_only() -> None:
    web, beta = machine()
    assert web.post(beta, xml(web, beta, digest_method="md5").post()) == [BAD]


def test_sha1_can_be_refused() -> None:
    web, beta = machine(policy={"srmp_accepts_sha1": False})
    assert web.post(beta, xml(web, beta).post()) == [BAD]


def test_the_hash_algorithms_of_other_signatures_do_not_matter() -> None:
    web, beta = machine(policy={"accepted_hashes": accepted_hashes(("sha512",))})
    assert web.post(beta, xml(web, beta).post()) == [OK]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SignedInfo><SignatureMethod", "SignedInfo> <SignatureMethod"),
        ("cid:body@", "cid:body@x"),
        ("<SignatureValue>", "<SignatureValue>AAAA"),
    ],
)
def test_a_changed_signature_does_not_fit(old: str, new: str) -> None:
    web, beta = machine()
    assert web.post(beta, xml(web, beta, replacements=((old, new),)).post()) == [BAD]
    assert beta.messages() == []


def test_the_bytes_count_as_they_came() -> None:
    """White space and other quotes are signed as they are, and never written anew."""
    web, beta = machine()
    spaced = DSA_METHOD.replace('"', "'").replace("></SignatureMethod>", " />") + "\r\n\t"
    signed = xml(web, beta, method=spaced)
    assert web.post(beta, signed.post()) == [OK]


def test_what_is_not_signed_can_be_changed() -> None:
    """An SRMP signature covers body and extension, and nothing else."""
    web, beta = machine()
    signed = xml(
        web,
        beta,
        replacements=(("MSMQ:naive", "MSMQ:other"), ("<Priority>3", "<Priority>7")),
    )
    assert web.post(beta, signed.post()) == [OK]
    assert [message.label for message in beta.messages()] == ["other"]


def test_signatures_are_checked_in_a_worker_when_there_are_many() -> None:
    web, beta = machine()
    requests = [xml(web, beta, number=number).post() for number in range(1, 11)]
    requests[4] = xml(web, beta, number=5).post(body=b"by Hand")
    number = web.knock(beta, *requests)
    web.run()
    assert beta.messages() == []
    job = beta.engine.take_job()
    assert job is not None
    job.run()
    beta.enter()
    beta.engine.job_done(job, None)
    web.run()
    assert web.hear(beta, number).count(b"HTTP/1.1 200") == 9
    assert [message.message_id for message in beta.messages()] == [1, 2, 3, 4, 6, 7, 8, 9, 10]


def test_an_address_that_fails_too_often_is_not_heard_any_more() -> None:
    web, beta = machine(core={"max_failed_checks": 3})
    forged = xml(web, beta).post(body=b"by Hand")
    assert [web.post(beta, forged) for _ in range(5)] == [[BAD], [BAD], [BAD], [500], [500]]
    assert web.post(beta, xml(web, beta).post()) == [500]
    web.pass_time(61)
    assert web.post(beta, xml(web, beta).post()) == [OK]


# Sending


def packets(
    alpha: Node, destination: str, *messages: Message, form: XmlForm | None = None
) -> list[bytes]:
    """What the client library sends to the queue manager."""
    sender = Sender(
        computer_name=alpha.name,
        sid=b"",
        queue_manager=alpha.guid,
        srmp_signature_form=form or XmlForm(),
    )
    builder = PacketBuilder(sender, transactional=False)
    return [builder.build_signed(message, destination) for message in messages]


def send(alpha: Node, destination: str, *packets: bytes) -> None:
    alpha.enter()
    descriptor = alpha.qm.open_queue(destination, QueueAccessType.SEND, caller=USER)
    alpha.qm.traffic.enqueue_many(descriptor, list(packets))
    alpha.qm.close_queue(descriptor)


def two(**policy: Any) -> tuple[Web, Node, Node]:
    web, beta = machine(policy=policy)
    alpha = web.node("alpha")
    web.run()
    return web, alpha, beta


@pytest.mark.spec("MQSRM-3.1.7.2.4-23", "MQSRM-3.1.7.2.4-24", "MQSRM-3.1.7.2.4-26")
@pytest.mark.parametrize("extension", [b"", b"more"])
@pytest.mark.parametrize("form", [XmlForm(), XmlForm(SignedPart.CONTENT, ValueOrder.LITTLE)])
def test_the_client_signs_what_the_queue_manager_sends(extension: bytes, form: XmlForm) -> None:
    web, alpha, beta = two()
    name = f"DIRECT={url(beta)}"
    message = Message(b"signed", "label", extension=extension, sign=True, certificate=signing_key())
    send(alpha, name, *packets(alpha, name, message, form=form))
    web.run()
    (arrived,) = beta.messages()
    assert (arrived.body, arrived.extension) == (b"signed", extension)
    assert arrived.authentication_level == Authenticated.SIGXML
    written = web.written["alpha"].decode("latin-1")
    references = reference("body", b"signed", guid=alpha.guid)
    if extension:
        references += reference("extension", extension, guid=alpha.guid)
    # The whole entry, as [MC-MQSRM] 3.1.7.2.4 assembles it, and the last one.
    start = f'</Msmq><Signature xmlns="{DSIG}"><SignedInfo>{DSA_METHOD}{references}</SignedInfo>'
    assert f"{start}<SignatureValue>" in written
    assert "</KeyInfo></Signature></se:Header>" in written
    assert f"Content-Id: body@{alpha.guid}" in written
    (value,) = re.findall("<SignatureValue>(.*)</SignatureValue>", written)
    assert len(b64decode(value, validate=True)) == 256


def written_signature(extension: bytes = b"") -> ElementTree.Element:
    """The <Signature> of a message that one queue manager sends to another."""
    web, alpha, beta = two()
    name = f"DIRECT={url(beta)}"
    message = Message(b"signed", extension=extension, sign=True, certificate=signing_key())
    send(alpha, name, *packets(alpha, name, message))
    web.run()
    (raw,) = re.findall(rb"<se:Envelope.*</se:Envelope>", web.written["alpha"])
    (header, _) = ElementTree.fromstring(raw)  # noqa: S314 - our own
    assert header[-1].tag == f"{{{DSIG}}}Signature"
    return header[-1]


@pytest.mark.spec("MQSRM-2.2.7-01", "MQSRM-2.2.7.1-01", "MQSRM-2.2.7.1.1-01")
def test_each_element_is_there_once() -> None:
    signature = written_signature()
    (signed_info,) = signature.findall(f"{{{DSIG}}}SignedInfo")
    (method,) = signed_info.findall(f"{{{DSIG}}}SignatureMethod")
    assert method.attrib == {"Algorithm": f"{DSIG}dsa"}


@pytest.mark.spec("MQSRM-2.2.7.1.2-01", "MQSRM-2.2.7.1.2-02", "MQSRM-2.2.7.1.2-03")
@pytest.mark.parametrize("extension", [b"", b"more"])
def test_each_part_has_a_reference(extension: bytes) -> None:
    references = written_signature(extension).findall(f"{{{DSIG}}}SignedInfo/{{{DSIG}}}Reference")
    parts = ["body", "extension"] if extension else ["body"]
    guid = UUID(int=0xA1)
    assert [each.attrib for each in references] == [{"URI": f"cid:{part}@{guid}"} for part in parts]


@pytest.mark.spec("MQSRM-2.2.7.1.2.1-01", "MQSRM-2.2.7.1.2.2-01", "MQSRM-2.2.7.2-01")
def test_digests_and_value_are_those_of_sha1() -> None:
    signature = written_signature(b"more")
    references = signature.findall(f"{{{DSIG}}}SignedInfo/{{{DSIG}}}Reference")
    for element, data in zip(references, (b"signed", b"more"), strict=True):
        (method, digest) = element
        assert method.attrib == {"Algorithm": f"{DSIG}sha1"}
        assert digest.text == base64(hashlib.sha1(data).digest())  # noqa: S324 - what SRMP has
    (value,) = signature.findall(f"{{{DSIG}}}SignatureValue")
    guid = UUID(int=0xA1)
    texts = [reference(*part, guid=guid) for part in (("body", b"signed"), ("extension", b"more"))]
    signed_info = f"<SignedInfo>{DSA_METHOD}{''.join(texts)}</SignedInfo>".encode()
    assert value.text == base64(naive_xml_signer.rsa(private_key("alice"))(signed_info))


@pytest.mark.spec("MQSRM-3.1.7.2.4-26")
def test_a_key_of_512_bits_makes_88_characters() -> None:
    web, alpha, beta = two(smallest_bits=512)
    key, certificate = short_key()
    name = f"DIRECT={url(beta)}"
    message = Message(b"signed", sign="xml", certificate=SigningKey(certificate, key))
    send(alpha, name, *packets(alpha, name, message))
    web.run()
    assert len(beta.messages()) == 1
    (value,) = re.findall(rb"<SignatureValue>(.*)</SignatureValue>", web.written["alpha"])
    assert len(value) == 88


@pytest.mark.spec("MQSRM-3.1.7.2.4-23")
def test_an_unsigned_message_has_no_signature() -> None:
    web, alpha, beta = two()
    beta.create(r".\private$\free")
    alpha.send(url(beta, "free"), b"1", b"2", b"3")
    web.run()
    assert len(beta.messages(r".\private$\free")) == 3
    assert b"Signature" not in web.written["alpha"]


@pytest.mark.spec("MQSRM-3.1.7.2.4-25")
def test_nothing_is_signed_with_md5() -> None:
    _, alpha, beta = two()
    name = f"DIRECT={url(beta)}"
    for algorithm in ("md5", "sha256"):
        message = Message(b"", sign=True, certificate=signing_key(), hash_algorithm=algorithm)
        with pytest.raises(ValueError, match="hash_algorithm: SRMP signs with sha1"):
            packets(alpha, name, message)


def test_many_signed_messages_each_have_their_signature() -> None:
    web, alpha, beta = two()
    name = f"DIRECT={url(beta)}"
    bodies = [b"%d" % number for number in range(8)]
    signed = [Message(body, sign=True, certificate=signing_key()) for body in bodies]
    send(alpha, name, *packets(alpha, name, *signed))
    web.run()
    while (job := beta.engine.take_job()) is not None:
        job.run()
        beta.enter()
        beta.engine.job_done(job, None)
    web.run()
    assert beta.bodies() == bodies


def test_the_certificate_can_stay_at_home() -> None:
    trust = TrustStore()
    certificate = x509.load_der_x509_certificate(signing_key().certificate)
    trust.add_authorities(certificate.public_bytes(Encoding.PEM))
    web, alpha, beta = two(accept_unknown_certificates=False, trust=trust)
    name = f"DIRECT={url(beta)}"
    form = XmlForm(certificate=CertificatePlace.KNOWN)
    message = Message(b"signed", sign=True, certificate=signing_key())
    send(alpha, name, *packets(alpha, name, message, form=form))
    web.run()
    assert beta.bodies() == [b"signed"]
    assert b"KeyInfo" not in web.written["alpha"]


def test_one_signature_for_several_urls() -> None:
    web, alpha, beta = two()
    beta.create(r".\private$\second", authentication=True)
    name = f"DIRECT={url(beta)},DIRECT={url(beta, 'second')}"
    message = Message(b"signed", sign=True, certificate=signing_key())
    send(alpha, name, *packets(alpha, name, message))
    web.run()
    assert beta.bodies() == beta.bodies(r".\private$\second") == [b"signed"]


def test_a_local_queue_by_its_url_is_no_way_around() -> None:
    web, beta = machine()
    name = f"DIRECT={url(beta)}"
    message = Message(b"signed", sign=True, certificate=signing_key())
    (good,) = packets(beta, name, message)
    send(beta, name, good)
    web.run()
    assert [each.authentication_level for each in beta.messages()] == [Authenticated.SIGXML]
    with pytest.raises(QueueError) as raised:
        send(beta, name, good.replace(b"signed", b"siGned"))
    assert raised.value.code == Hresult.MQ_ERROR_MESSAGE_NOT_AUTHENTICATED


def test_a_stream_of_signed_messages() -> None:
    web, alpha, beta = two()
    beta.purge()
    beta.create(r".\private$\stream", transactional=True, authentication=True)
    name = f"DIRECT={url(beta, 'stream')}"
    sender = Sender(computer_name="alpha", sid=b"", queue_manager=alpha.guid)
    builder = PacketBuilder(sender, transactional=True)
    signed = [
        builder.build_signed(Message(body, sign=True, certificate=signing_key()), name)
        for body in (b"1", b"2", b"3")
    ]
    alpha.enter()
    descriptor = alpha.qm.open_queue(name, QueueAccessType.SEND, caller=USER)
    transaction = alpha.qm.traffic.begin(UUID(int=77))
    alpha.qm.traffic.enqueue_many(descriptor, signed, transaction)
    alpha.qm.traffic.commit(transaction.identifier)
    web.run()
    web.pass_time(5)
    assert beta.bodies(r".\private$\stream") == [b"1", b"2", b"3"]
