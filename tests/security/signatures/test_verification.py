"""Signatures that were made here are good, in every version, form and byte order."""

from dataclasses import replace
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from tests.security.signatures.signer import message, private_key, signed

from openmsmq.security.signatures.hash_forms import (
    FIRST_FORM,
    ConnectorForm,
    HashForm,
    LabelForm,
    ListForm,
    QueueForm,
    ScalarForm,
    SignatureVersion,
)
from openmsmq.security.signatures.signed_fields import SignedFields
from openmsmq.security.signatures.verification import (
    Match,
    Verified,
    header_signature,
    signature_of,
    verify,
    verify_after,
)
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)

VERSIONS = list(SignatureVersion)
HASHES = [HashAlgorithm.SHA_512, HashAlgorithm.SHA_256, HashAlgorithm.SHA1, HashAlgorithm.MD5]
ELEMENT = MQFFormatNameElement(MQFFormatType.DIRECT, UUID(int=0), 0, r"OS:b\q")
RAW_ELEMENT = b"\x03\0" + "OS:b\\q\0".encode("utf-16-le")

# In the order in which they are tried.
FORMS = {
    SignatureVersion.SIG10: [HashForm(*form) for form in product(QueueForm, LabelForm)],
    SignatureVersion.SIG20: [
        HashForm(*form) for form in product(QueueForm, LabelForm, ConnectorForm, ScalarForm)
    ],
    SignatureVersion.SIG30: [
        HashForm(*form)
        for form in product(QueueForm, LabelForm, ConnectorForm, ScalarForm, ListForm)
    ],
}


def match(packet: bytes, name: str = "alice", first: Match | None = None) -> Match | None:
    view = UserMessage(packet)
    return verify(view, private_key(name).public_key(), view.hash_algorithm, first)


@pytest.mark.parametrize(("version", "algorithm"), list(product(VERSIONS, HASHES)))
def test_a_signature_of_every_version_and_hash_is_good(
    version: SignatureVersion, algorithm: HashAlgorithm
) -> None:
    packet = signed(message(), version=version, algorithm=algorithm)
    assert match(packet) == Match(version, FIRST_FORM)
    assert match(packet, "mallory") is None


def after(last: Verified | None, packet: bytes) -> Verified | None:
    view = UserMessage(packet)
    key = private_key("alice").public_key()
    return verify_after(last, view, header_signature(view), key, view.hash_algorithm)


def test_a_message_of_the_same_shape_is_compared_with_one_digest() -> None:
    last = after(None, signed(message(b"1")))
    assert last is not None
    other = {"correlation_id": bytes(20), "application_tag": 5, "message_id": 6, "sent_time": 7}
    assert after(last, signed(message(b"another body", **other))) is last
    # What the signature does not fit is refused, whatever its shape.
    wrong = UserMessage(signed(message(b"1")))
    at = wrong.body_offset
    assert after(last, wrong.packet[:at] + b"2" + wrong.packet[at + 1 :]) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"label": "another"},
        {"priority": 6},
        {"body_type": 8},
        {"acknowledgments": 1},
        {"message_class": 0x4000},
        {"delivery_mode": 1},
        {"source_queue_manager": UUID(int=9)},
        {"source_queue_manager": UUID(bytes_le=b"\x09" + bytes(15))},
        {"response_queue": NO_QUEUE},
        {"admin_queue": NO_QUEUE},
        {"connector_type": UUID(int=5)},
        {"destination_queue": private_address(UUID(int=9), 7)},
    ],
)
def test_a_message_of_another_shape_is_looked_at_anew(changes: dict[str, Any]) -> None:
    last = after(None, signed(message()))
    assert last is not None
    honest = signed(message(**changes))
    found = after(last, honest)
    assert found is not None
    assert found.match == last.match
    assert found.shape != last.shape
    # The same message with the signature of the first one.
    header = UserMessage(signed(message())).security_header
    assert after(last, rebuild(UserMessage(honest), security_header=header)) is None


def test_the_queue_manager_of_the_destination_belongs_to_the_shape() -> None:
    def sent_to(number: int) -> bytes:
        return message(destination_queue=private_address(UUID(int=number), 7))

    packet = signed(sent_to(9))
    last = after(None, packet)
    assert last is not None
    changes: dict[str, Any] = {
        "security_header": UserMessage(packet).security_header,
        "hash_algorithm": HashAlgorithm.SHA_512,
    }
    assert after(last, rebuild(UserMessage(sent_to(9)), **changes)) is last
    assert after(last, rebuild(UserMessage(sent_to(8)), **changes)) is None


@pytest.mark.parametrize("behind", [bytes(256), b"\x01" * 256])
def test_a_longer_item_may_start_with_a_signature_of_version_1(behind: bytes) -> None:
    packet = signed(message(), version=SignatureVersion.SIG10)
    header = UserMessage(packet).security_header
    assert header is not None
    longer = replace(header, signature=header.signature + behind)
    found = match(rebuild(UserMessage(packet), security_header=longer))
    assert found == Match(SignatureVersion.SIG10, FIRST_FORM)


@pytest.mark.parametrize(
    ("version", "form"), [(version, form) for version in VERSIONS for form in FORMS[version]]
)
def test_every_form_is_found(version: SignatureVersion, form: HashForm) -> None:
    found = match(signed(message(), version=version, form=form))
    assert found is not None
    assert found.version is version


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"connector_type": UUID(int=5)},
        {"label": ""},
        {"response_queue": NO_QUEUE, "admin_queue": NO_QUEUE},
        {"destination_queue": private_address(UUID(int=0xABCDEF), 7)},
        {"destination_queue": public_address(UUID(int=0xABCDEF))},
    ],
)
def test_forms_are_tried_in_their_order_and_each_once(
    version: SignatureVersion, properties: dict[str, Any]
) -> None:
    view = UserMessage(signed(message(**properties), version=version))
    fields = SignedFields(view)
    expected: dict[bytes, HashForm] = {}
    for form in FORMS[version]:
        expected.setdefault(fields.rest(version, form), form)
    assert list(SignedFields(view).candidates(version)) == [
        (form, rest) for rest, form in expected.items()
    ]


def test_all_lists_of_names_are_hashed_one_behind_the_other() -> None:
    names = MultiQueueFormatHeader((ELEMENT,), (ELEMENT,), (ELEMENT,))
    view = UserMessage(message(multi_queue_format_header=names))
    rest = SignedFields(view).rest(SignatureVersion.SIG30, HashForm(names=ListForm.ALL))
    assert b"extension" + 3 * RAW_ELEMENT + view.source in rest


def test_a_list_of_names_may_be_hashed_as_a_program_writes_it() -> None:
    names = MultiQueueFormatHeader((ELEMENT, ELEMENT), (), ())
    view = UserMessage(message(multi_queue_format_header=names))
    rest = SignedFields(view).rest(SignatureVersion.SIG30, HashForm(names=ListForm.TEXT))
    text = f"{ELEMENT.format_name},{ELEMENT.format_name}\0"
    assert b"extension" + text.encode("utf-16-le") + view.source in rest


def test_a_message_without_a_list_of_names_has_nothing_in_its_place() -> None:
    view = UserMessage(message())
    rest = SignedFields(view).rest(SignatureVersion.SIG30, FIRST_FORM)
    assert b"extension" + view.source in rest


def test_a_name_that_stands_for_nothing_is_hashed_as_it_is_on_the_wire() -> None:
    source = UUID(int=9)
    known = message(
        source_queue_manager=source,
        response_queue=private_address(source, 7),
        admin_queue=NO_QUEUE,
    )
    # The response queue is said to be on the machine of an administration queue that is none.
    flags = int.from_bytes(known[60:64], "little") & ~(7 << 16) | 4 << 16
    fields = SignedFields(UserMessage(known[:60] + flags.to_bytes(4, "little") + known[64:]))
    label = "a label\0".encode("utf-16-le")
    for form, name in ((QueueForm.WIRE, b"\7\0\0\0"), (QueueForm.TEXT, b"")):
        assert fields.rest(SignatureVersion.SIG10, HashForm(form)) == label + name


@pytest.mark.parametrize("version", VERSIONS)
def test_a_signature_is_found_wherever_its_version_has_it(version: SignatureVersion) -> None:
    assert signature_of(UserMessage(message())) == b""
    signature = signature_of(UserMessage(signed(message(), version=version)))
    assert len(signature) == 256


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (private_address(UUID(int=0xABCDEF), 0x1A), rf"PRIVATE={UUID(int=0xABCDEF)}\1a"),
        (public_address(UUID(int=0xABCDEF)), f"PUBLIC={UUID(int=0xABCDEF)}"),
        (direct_address(r"OS:b\private$\Orders"), r"DIRECT=OS:b\private$\Orders"),
    ],
)
def test_queue_names_are_hashed_as_programs_write_them(address: QueueAddress, text: str) -> None:
    view = UserMessage(message(destination_queue=address, response_queue=address))
    fields = SignedFields(view)
    direct = text.startswith("DIRECT")
    upper, lower = (text, text) if direct else (text.upper(), text)
    expected = {
        QueueForm.TEXT_NUL: f"{upper}\0",
        QueueForm.TEXT: upper,
        QueueForm.LOWER_NUL: f"{lower}\0",
        QueueForm.LOWER: lower,
    }
    for form, name in expected.items():
        raw = name.encode("utf-16-le")
        rest = fields.rest(SignatureVersion.SIG20, HashForm(form))
        assert rest.endswith(bytes(16) + raw)
        # The label, then the response queue.
        assert fields.rest(SignatureVersion.SIG10, HashForm(form)).startswith(
            "a label\0".encode("utf-16-le") + raw
        )
