"""The client signs what will be on the wire ([MS-MQQB] 3.1.7.1.4)."""

from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from tests.security.signatures.signer import ALICE, private_key, signing_key

from openmsmq.client.certificates import CertificateStore
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder, SignatureWanted
from openmsmq.client.message import Message
from openmsmq.security.signatures.hash_forms import (
    FIRST_FORM,
    HashForm,
    LabelForm,
    QueueForm,
    ScalarForm,
    SignatureVersion,
)
from openmsmq.security.signatures.signed_fields import SignedFields
from openmsmq.security.signatures.verification import Match, verify
from openmsmq.security.signatures.xml_forms import XmlForm
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeaderFlags
from openmsmq.wire.srmp.signature import signed_info_of

GUID = UUID("11111111-2222-3333-4444-555555555555")
ONE = r"DIRECT=OS:beta\private$\orders"
TWO = rf"{ONE},PUBLIC={UUID(int=7)}"
LIST = f"DL={UUID(int=9)}"
WEB = "DIRECT=HTTP://beta/msmq/q"
SIG10, SIG20, SIG30 = SignatureVersion


def builder(*, transactional: bool = False, directory: bool = True) -> PacketBuilder:
    sender = Sender(
        computer_name="alpha", sid=ALICE.serialize(), queue_manager=GUID, directory=directory
    )
    return PacketBuilder(sender, transactional=transactional)


def signed(
    destination: str = ONE,
    *,
    transactional: bool = False,
    directory: bool = True,
    **properties: Any,
) -> UserMessage:
    options = {"sign": True, "certificate": signing_key(), **properties}
    made = builder(transactional=transactional, directory=directory)
    return UserMessage(made.build_signed(Message(b"body", "label", **options), destination))


def match(view: UserMessage) -> Match | None:
    return verify(view, private_key("alice").public_key(), view.hash_algorithm)


@pytest.mark.spec("MQQB-3.1.7.1.4-01")
@pytest.mark.parametrize(
    ("sign", "version"), [(True, SIG20), ("1.0", SIG10), ("2.0", SIG20), ("3.0", SIG30)]
)
def test_the_version_is_the_one_that_is_asked_for(
    sign: bool | str,  # noqa: FBT001 - as a message has it
    version: SignatureVersion,
) -> None:
    view = signed(sign=sign)
    assert match(view) == Match(version, FIRST_FORM)
    unsigned = UserMessage(builder().build(Message(b"body", "label"))).security_header
    assert unsigned is not None
    assert (unsigned.signature, unsigned.sender_cert) == (b"", b"")


@pytest.mark.spec("MQQB-3.1.7.1.4-03", "MQQB-3.1.7.1.4-04", "MQQB-6-01")
@pytest.mark.parametrize(
    ("name", "algorithm", "library"),
    [
        (None, HashAlgorithm.SHA_512, hashes.SHA512()),
        ("sha256", HashAlgorithm.SHA_256, hashes.SHA256()),
        ("sha1", HashAlgorithm.SHA1, hashes.SHA1()),  # noqa: S303 - what old peers accept
        ("md5", HashAlgorithm.MD5, hashes.MD5()),  # noqa: S303 - what old peers accept
    ],
)
def test_the_signature_is_rsa_over_the_hash_that_the_packet_names(
    name: str | None, algorithm: HashAlgorithm, library: Any
) -> None:
    view = signed(hash_algorithm=name) if name is not None else signed()
    header = view.security_header
    assert header is not None
    assert view.hash_algorithm == algorithm
    fields = SignedFields(view)
    content = fields.start + fields.rest(SIG20, FIRST_FORM)
    private_key("alice").public_key().verify(header.signature[::-1], content, PKCS1v15(), library)


@pytest.mark.spec("MQQB-3.1.7.1.4-02", "MQDMPR-3.1.1.12-23", "MQDMPR-3.1.1.12-24")
@pytest.mark.parametrize("destination", [TWO, LIST, f"{LIST},{ONE}"])
def test_several_queues_have_one_signature_in_their_list(destination: str) -> None:
    view = signed(destination)
    names = view.multi_queue_format_header
    header = view.security_header
    assert names is not None
    assert header is not None
    assert header.signature == b""
    assert ",".join(each.format_name for each in names.destination).upper() == destination.upper()
    assert match(view) == Match(SIG30, FIRST_FORM)


@pytest.mark.spec("MQDMPR-3.1.7.1.32-08", "MQDMPR-3.1.7.1.30-02", "MQDMPR-3.1.1.12-43")
def test_the_security_header_says_who_signed_with_what() -> None:
    header = signed().security_header
    assert header is not None
    assert header.flags & SecurityHeaderFlags.DE
    name = "Microsoft Enhanced Cryptographic Provider, v1.0"
    assert header.provider_info == ProviderInfo(1, name)
    assert (header.sender_id_type, header.security_id) == (1, ALICE.serialize())
    assert header.sender_cert == signing_key().certificate


def test_without_a_directory_no_sid_goes_with_the_certificate() -> None:
    header = signed(directory=False).security_header
    assert header is not None
    assert (header.sender_id_type, header.security_id) == (0, b"")


def test_what_a_transaction_changes_is_signed_so() -> None:
    view = signed(transactional=True, priority=7, delivery="express")
    assert (view.priority, view.delivery_mode, view.source_queue_manager) == (0, 1, GUID)
    assert match(view) == Match(SIG20, FIRST_FORM)


def test_messages_of_one_template_differ_in_their_signature() -> None:
    made = builder()
    views = [
        UserMessage(made.build_signed(Message(body, sign=True, certificate=signing_key()), ONE))
        for body in (b"1", b"2", b"3", b"1")
    ]
    signatures = [view.security_header.signature for view in views if view.security_header]
    assert len(set(signatures)) == 3
    assert signatures[0] == signatures[3]
    assert all(match(view) for view in views)


@pytest.mark.parametrize("name", [WEB, "MULTICAST=234.1.1.1:8001"])
@pytest.mark.parametrize("sign", [True, "xml"])
def test_a_message_for_srmp_has_its_signature(
    name: str,
    sign: bool | str,  # noqa: FBT001 - as a message has it
) -> None:
    view = signed(name, sign=sign)
    header = view.security_header
    assert header is not None
    assert header.sender_cert == signing_key().certificate
    assert view.hash_algorithm == HashAlgorithm.SHA1
    public = private_key("alice").public_key()
    public.verify(header.signature, signed_info_of(view), PKCS1v15(), hashes.SHA1())  # noqa: S303


def test_the_hash_algorithm_of_srmp_may_be_named() -> None:
    assert signed(WEB, hash_algorithm="sha1").hash_algorithm == HashAlgorithm.SHA1


def test_a_setting_names_the_form_of_signatures() -> None:
    sender = Sender(
        computer_name="alpha",
        sid=ALICE.serialize(),
        queue_manager=GUID,
        directory=True,
        signature_form=HashForm.parse("wire/label/aligned"),
        srmp_signature_form=XmlForm.parse("little-endian/known"),
    )
    made = PacketBuilder(sender, transactional=False)
    message = Message(b"body", "label", sign=True, certificate=signing_key())
    form = HashForm(QueueForm.WIRE, LabelForm.BARE, scalars=ScalarForm.ALIGNED)
    assert match(UserMessage(made.build_signed(message, ONE))) == Match(SIG20, form)
    view = UserMessage(made.build_signed(message, WEB))
    header = view.security_header
    assert header is not None
    assert header.sender_cert == b""
    public = private_key("alice").public_key()
    value = header.signature[::-1]
    public.verify(value, signed_info_of(view), PKCS1v15(), hashes.SHA1())  # noqa: S303


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wire/nothing", "'nothing' must be one of text-nul, "),
        ("wire/text", "'text' and 'wire' exclude each other"),
        ("wire/", "'' must be one of"),
    ],
)
def test_a_form_that_does_not_exist_is_named(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        HashForm.parse(text)


def test_forms_are_what_they_say() -> None:
    assert HashForm.parse("") == FIRST_FORM
    for form in (FIRST_FORM, HashForm(QueueForm.LOWER, LabelForm.BARE)):
        assert HashForm.parse(str(form)) == form
    assert XmlForm.parse(str(XmlForm())) == XmlForm()


def test_a_message_that_is_to_be_signed_needs_its_destination() -> None:
    with pytest.raises(SignatureWanted, match="sent to a queue"):
        builder().build(Message(b"", sign=True))


@pytest.mark.parametrize(
    ("destination", "properties", "reason"),
    [
        (ONE, {"sign": "4.0"}, "sign: '4.0' must be True or one of 1.0, 2.0, 3.0"),
        (TWO, {"sign": "2.0"}, "several queues are signed as 3.0, not 2.0"),
        (LIST, {"sign": "1.0"}, "several queues are signed as 3.0, not 1.0"),
        (ONE, {"hash_algorithm": "md4"}, "hash_algorithm: 'md4' must be one of sha512"),
        (ONE, {"sign": "xml"}, "sign: 'xml' must be True or one of 1.0, 2.0, 3.0"),
        (f"{ONE},{WEB}", {}, "sign: no signature is for SRMP and for DIRECT=OS:beta"),
        (WEB, {"sign": "2.0"}, "sign: messages to .* have 'xml', not '2.0'"),
        (WEB, {"hash_algorithm": "sha256"}, "hash_algorithm: SRMP signs with sha1, not sha256"),
        ("MULTICAST=234.1.1.1:8001", {"sign": "3.0"}, "sign: messages to .* have 'xml'"),
        (ONE, {"priority": 8}, "priority: 8"),
    ],
)
def test_what_cannot_be_signed_is_refused(
    destination: str, properties: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        signed(destination, **properties)


@pytest.mark.parametrize("wrong", [{"sign": 2}, {"certificate": 5}, {"hash_algorithm": 1}])
def test_wrong_types_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(wrong))):
        signed(**wrong)


def test_the_certificate_that_is_valid_longest_is_the_default(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENMSMQ_CERTIFICATES", str(tmp_path))
    with pytest.raises(ConfigError, match="openmsmq key create"):
        signed(certificate=None)
    store = CertificateStore()
    store.create("short", days=1, bits=1024)
    longest = store.create("long", days=9, bits=1024)
    header = signed(certificate=None).security_header
    assert header is not None
    assert header.sender_cert == store.encoded(longest)
    named = signed(certificate="short").security_header
    assert named is not None
    assert named.sender_cert != header.sender_cert
