"""Signatures that were made here are good, in every version, form and byte order."""

from itertools import product

import pytest
from tests.security.signatures.signer import message, private_key, signed

from openmsmq.security.signatures.hash_forms import FIRST_FORM, FORMS, HashForm, SignatureVersion
from openmsmq.security.signatures.verification import Match, verify
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.message.user_message import UserMessage

VERSIONS = list(SignatureVersion)
HASHES = [HashAlgorithm.SHA_512, HashAlgorithm.SHA_256, HashAlgorithm.SHA1, HashAlgorithm.MD5]


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


@pytest.mark.parametrize(
    ("version", "form"), [(version, form) for version in VERSIONS for form in FORMS[version]]
)
def test_every_form_is_found(version: SignatureVersion, form: HashForm) -> None:
    found = match(signed(message(), version=version, form=form))
    assert found is not None
    assert found.version is version
