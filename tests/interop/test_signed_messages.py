"""Signed messages of a peer that shares no code with the product, and OpenSSL as judge."""

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from tests.core.transfer.checks.test_signatures import nacks, receiver, user
from tests.interop.naive_signer import NaiveMessage
from tests.protocol.binary.raw_peer import SOURCE
from tests.security.signatures.signer import ALICE, message, signed, signing_key

from openmsmq.client.certificates import SigningKey
from openmsmq.security.signatures.hash_forms import FIRST_FORM, SignatureVersion
from openmsmq.security.signatures.signed_fields import SignedFields
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage

DESTINATION = r"TCP:10.0.0.2\private$\orders"
OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="needs the openssl command")
LEVELS = {"1.0": 1, "2.0": 3, "3.0": 5}


def naive(key: SigningKey, **properties: object) -> NaiveMessage:
    options: dict[str, object] = {
        "label": "signed by hand",
        "sid": ALICE.serialize(),
        "admin": r"TCP:10.0.0.7\private$\admin",
        "response": r"OS:seven\private$\answers",
        "acknowledge": 0x0C,
        "sent_time": 1_700_000_000,
        "body_type": 0x2011,
        "tag": 77,
        "names": (DESTINATION, r"OS:other\private$\q")
        if properties.get("version") == "3.0"
        else (),
    }
    return NaiveMessage(
        SOURCE,
        DESTINATION,
        b"by hand",
        key.key,
        key.certificate,
        **{**options, **properties},  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("version", "hash_name", "little_endian"),
    list(product(LEVELS, ("sha512", "sha256", "sha1", "md5"), (True, False))),
)
def test_what_the_documents_say_is_accepted(
    version: str, hash_name: str, *, little_endian: bool
) -> None:
    network, b, peer = receiver(user(), authentication=True)
    sent = naive(signing_key(), version=version, hash_name=hash_name, little_endian=little_endian)
    peer.send(sent.packet().replace(b"by hand", b"by Hand"))
    # What was refused is known by its id.
    sent.message_id = 2
    peer.send(sent.packet())
    network.advance(1)
    (received,) = b.take()
    assert received.body == b"by hand"
    assert received.authentication_level == LEVELS[version]
    assert nacks(peer) == [MessageClass.NACK_BAD_SIGNATURE]


@pytest.mark.parametrize("before", [bytes(4), b"x" * 256])
def test_two_parts_in_the_signature_item(before: bytes) -> None:
    network, b, peer = receiver(user(), authentication=True)
    peer.send(naive(signing_key(), before=before).packet())
    network.advance(1)
    assert [each.authentication_level for each in b.take()] == [3]


def test_the_list_must_name_the_destination() -> None:
    network, b, peer = receiver(user())
    peer.send(naive(signing_key(), version="3.0", names=(r"OS:other\private$\q",)).packet())
    peer.send(naive(signing_key(), version="3.0", message_id=2).packet())
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]


def openssl(*arguments: str, cwd: Path | None = None) -> bytes:
    """What the program says; it must succeed."""
    done = subprocess.run(
        [str(OPENSSL), *arguments], check=True, capture_output=True, timeout=60, cwd=cwd
    )
    return done.stdout


@needs_openssl
def test_keys_and_certificates_of_openssl_are_taken(tmp_path: Path) -> None:
    key_file, file = tmp_path / "key.pem", tmp_path / "certificate.pem"
    openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=alice", "-sha256"),
        *("-days", "3650", "-keyout", str(key_file), "-out", str(file)),
    )
    certificate = x509.load_pem_x509_certificate(file.read_bytes())
    private = load_pem_private_key(key_file.read_bytes(), None)
    key = SigningKey(certificate.public_bytes(Encoding.DER), private)  # type: ignore[arg-type]
    # Its dates are those of today, not of the clock in the harness.
    network, b, peer = receiver(user(ALICE, key), policy={"check_dates": False})
    packet = signed(message(b"x"), key)
    view = UserMessage(packet)
    fields = SignedFields(view)
    content = tmp_path / "content"
    content.write_bytes(fields.start + fields.rest(SignatureVersion.SIG20, FIRST_FORM))
    made = tmp_path / "signature"
    openssl("dgst", "-sha512", "-sign", str(key_file), "-out", str(made), str(content))
    header = view.security_header
    assert header is not None
    # PKCS #1 v1.5 is deterministic: ours is that of OpenSSL, with its bytes reversed.
    assert made.read_bytes()[::-1] == header.signature
    peer.send(naive(key).packet())
    network.advance(1)
    assert [each.authentication_level for each in b.take()] == [3]


@needs_openssl
@pytest.mark.parametrize("version", list(SignatureVersion))
@pytest.mark.parametrize("name", ["sha512", "sha256", "sha1"])
def test_openssl_verifies_our_signatures_reversed(
    tmp_path: Path, version: SignatureVersion, name: str
) -> None:
    algorithm = {
        "sha512": HashAlgorithm.SHA_512,
        "sha256": HashAlgorithm.SHA_256,
        "sha1": HashAlgorithm.SHA1,
    }[name]
    view = UserMessage(signed(message(), version=version, algorithm=algorithm))
    header, names = view.security_header, view.multi_queue_format_header
    assert header is not None
    signature = header.signature or (names.signature if names else b"")
    public = x509.load_der_x509_certificate(header.sender_cert).public_key()
    for file, data in (
        ("key", public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)),
        ("signature", signature[::-1]),
        ("content", SignedFields(view).start + SignedFields(view).rest(version, FIRST_FORM)),
        ("other", b"something else"),
    ):
        (tmp_path / file).write_bytes(data)
    arguments = ("dgst", f"-{name}", "-verify", "key", "-signature", "signature")
    assert b"Verified OK" in openssl(*arguments, "content", cwd=tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        openssl(*arguments, "other", cwd=tmp_path)
