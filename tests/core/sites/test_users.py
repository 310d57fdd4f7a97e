"""Certificates of users in the directory ([MS-MQDMPR] 3.1.1.15, 3.1.1.19)."""

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from tests.core.directory_harness import Machine, shared_file
from tests.core.harness import STRANGER, USER, refused
from tests.security.signatures.signer import NOT_AFTER, NOT_BEFORE, private_key, signing_key

from openmsmq.core.management.records import RegisteredCertificate
from openmsmq.core.sites.users import MAX_USER_CERTIFICATES, groups_of, internal_certificate
from openmsmq.directory.certificates import certificate_digest
from openmsmq.security.certificates.sender_certificate import is_self_issued

BITS = 1024


def certificate(name: str) -> bytes:
    return signing_key(name, bits=BITS).certificate


def issued(name: str, serial: int = 1) -> bytes:
    """A certificate that an authority has issued."""

    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    return (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named("authority"))
        .public_key(private_key(name, BITS).public_key())
        .serial_number(serial)
        .not_valid_before(NOT_BEFORE)
        .not_valid_after(NOT_AFTER)
        .sign(private_key("authority", BITS), hashes.SHA256())
        .public_bytes(Encoding.DER)
    )


def marks(entries: list[RegisteredCertificate]) -> list[tuple[bytes, bool]]:
    return [(entry.certificate, entry.internal) for entry in entries]


@pytest.mark.spec("MQDMPR-3.1.1.1-27")
def test_the_last_one_that_no_authority_issued_is_internal() -> None:
    machine = Machine(shared_file()).provision()
    identities = machine.qm.management.identities
    one, two, other = certificate("one"), certificate("two"), issued("three")
    assert marks(identities.register_certificate(one, caller=USER)) == [(one, True)]
    identities.register_certificate(other, caller=USER)
    expected = [(one, False), (other, False), (two, True)]
    assert marks(identities.register_certificate(two, caller=USER)) == expected
    # Somebody else has one of his own.
    assert marks(identities.register_certificate(one, caller=STRANGER)) == [(one, True)]
    assert marks(identities.certificates(caller=USER)) == expected
    left = identities.unregister_certificate(certificate_digest(two), caller=USER)
    assert marks(left) == [(one, True), (other, False)]
    identities.unregister_certificate(certificate_digest(one), caller=USER)
    assert internal_certificate(machine.state, USER.sid) is None
    assert internal_certificate(machine.state, STRANGER.sid) == one


def test_the_internal_certificate_is_known_again_after_a_restart() -> None:
    machine = Machine(shared_file()).provision()
    machine.qm.management.identities.register_certificate(certificate("one"), caller=USER)
    machine.restart()
    assert internal_certificate(machine.state, USER.sid) is None
    entries = machine.qm.management.identities.certificates(caller=USER)
    assert marks(entries) == [(certificate("one"), True)]


def test_a_certificate_is_registered_once_and_has_a_guid_of_its_own() -> None:
    identities = Machine(shared_file()).provision().qm.management.identities
    first = identities.register_certificate(certificate("one"), caller=USER)
    assert identities.register_certificate(certificate("one"), caller=USER) == first
    both = identities.register_certificate(certificate("two"), caller=USER)
    assert both[0].identifier == first[0].identifier
    assert both[1].identifier != first[0].identifier
    assert both[1].digest == certificate_digest(certificate("two")).hex()


def test_a_user_has_sixteen_certificates_at_most() -> None:
    machine = Machine(shared_file()).provision()
    identities = machine.qm.management.identities
    for number in range(MAX_USER_CERTIFICATES):
        identities.register_certificate(issued("many", serial=number + 1), caller=USER)
    with refused("MQ_ERROR_INVALID_CERTIFICATE"):
        identities.register_certificate(certificate("one"), caller=USER)
    assert len(identities.certificates(caller=USER)) == MAX_USER_CERTIFICATES


def test_what_is_no_certificate_is_refused() -> None:
    identities = Machine(shared_file()).provision().qm.management.identities
    with refused("MQ_ERROR_INVALID_CERTIFICATE"):
        identities.register_certificate(b"no certificate", caller=USER)
    with refused("MQ_ERROR_INVALID_CERTIFICATE"):
        identities.unregister_certificate(bytes(16), caller=USER)
    assert not is_self_issued(b"no certificate")


def test_without_a_directory_there_are_none() -> None:
    machine = Machine(None).provision()
    with refused("MQ_ERROR_NO_DS"):
        machine.qm.management.identities.certificates(caller=USER)
    assert groups_of(machine.state, USER.sid) == frozenset()


def test_the_groups_of_an_unknown_user_are_not_known() -> None:
    assert groups_of(Machine(shared_file()).provision().state, USER.sid) is None
