"""SRMP signatures between OpenSSL's command line and the product, both ways."""

import re
import shutil
import subprocess
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.interop.loopback import new_address
from tests.interop.naive_xml_signer import DSA_METHOD, reference
from tests.protocol.srmp.test_signatures import machine, packets, send, two, xml
from tests.protocol.srmp.web import url
from tests.security.signatures.signer import private_key, signing_key

import openmsmq
from openmsmq.client.certificates import SigningKey
from openmsmq.client.message import Message
from openmsmq.wire.codes.message_enums import Authenticated

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="needs the openssl command")


def run(*arguments: str, folder: Path, data: bytes = b"") -> bytes:
    assert OPENSSL is not None
    done = subprocess.run(
        [OPENSSL, *arguments], cwd=folder, input=data, capture_output=True, check=True, timeout=60
    )
    return done.stdout


def make_certificate(folder: Path, kind: str) -> bytes:
    """A key in key.pem and its certificate, as DER."""
    if kind == "rsa":
        run("genrsa", "-out", "key.pem", "2048", folder=folder)
    else:
        sizes = ("dsa_paramgen_bits:1024", "dsa_paramgen_q_bits:160")
        options = [word for size in sizes for word in ("-pkeyopt", size)]
        make = ("genpkey", "-genparam", "-algorithm", "DSA", *options)
        run(*make, "-out", "parameters.pem", folder=folder)
        run("genpkey", "-paramfile", "parameters.pem", "-out", "key.pem", folder=folder)
    subject = ("-subj", "/CN=openssl", "-days", "30", "-sha256", "-outform", "DER")
    return run("req", "-x509", "-new", "-key", "key.pem", *subject, folder=folder)


def two_numbers(der: bytes) -> bytes:
    """r and s of 20 bytes each, from what OpenSSL writes: SEQUENCE of two INTEGER."""
    numbers = []
    at = 2
    for _ in range(2):
        size = der[at + 1]
        numbers.append(int.from_bytes(der[at + 2 : at + 2 + size], "big").to_bytes(20, "big"))
        at += 2 + size
    return b"".join(numbers)


@needs_openssl
@pytest.mark.parametrize("kind", ["rsa", "dsa"])
def test_what_openssl_signs_is_accepted(tmp_path: Path, kind: str) -> None:
    certificate = make_certificate(tmp_path, kind)

    def value(data: bytes) -> bytes:
        signature = run("dgst", "-sha1", "-sign", "key.pem", folder=tmp_path, data=data)
        return signature if kind == "rsa" else two_numbers(signature)

    # OpenSSL dates the certificate by the clock of the machine, not by that of the test.
    web, beta = machine(policy={"check_dates": False})
    signed = xml(web, beta, value=value, certificate=certificate, extension=b"more")
    assert web.post(beta, signed.post(body=b"by Hand"), signed.post()) == [400, 200]
    (message,) = beta.messages()
    assert message.authentication_level == Authenticated.SIGXML


@needs_openssl
def test_openssl_verifies_what_we_sign(tmp_path: Path) -> None:
    web, alpha, beta = two()
    name = f"DIRECT={url(beta)}"
    message = Message(b"signed", extension=b"more", sign=True, certificate=signing_key())
    send(alpha, name, *packets(alpha, name, message))
    web.run()
    assert beta.bodies() == [b"signed"]
    written = web.written["alpha"].decode("latin-1")
    (signed_info,) = re.findall("<SignedInfo>.*</SignedInfo>", written)
    (value,) = re.findall("<SignatureValue>(.*)</SignatureValue>", written)
    parts = (("body", b"signed"), ("extension", b"more"))
    references = "".join(reference(*part, guid=alpha.guid) for part in parts)
    assert signed_info == f"<SignedInfo>{DSA_METHOD}{references}</SignedInfo>"
    public = private_key("alice").public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "public.pem").write_bytes(pem)
    (tmp_path / "value").write_bytes(b64decode(value))
    options = ("dgst", "-sha1", "-verify", "public.pem", "-signature", "value")
    assert run(*options, folder=tmp_path, data=signed_info.encode()) == b"Verified OK\n"


def test_whole_queue_managers_sign_and_verify_over_http(tmp_path: Path) -> None:
    """Client, local protocol and sockets: the usual form, and one that a setting names."""
    trusted = tmp_path / "trusted.pem"
    key = today()
    certificate = x509.load_der_x509_certificate(key.certificate)
    trusted.write_bytes(certificate.public_bytes(Encoding.PEM))
    forms = {"alpha": "", "gamma": "content/little-endian/known"}
    with openmsmq.embedded(
        tmp_path / "beta",
        name="beta",
        bind=new_address(),
        http_port=0,
        trusted_certificates=(trusted,),
    ) as beta:
        beta.create_queue(r".\private$\orders", authenticate=True)
        endpoint = beta.status()["endpoints"]["http"]
        name = f"DIRECT=HTTP://{endpoint}/msmq/private$/orders"
        with beta.open_queue(r".\private$\orders", access="receive") as orders:
            for manager, form in forms.items():
                with openmsmq.embedded(
                    tmp_path / manager,
                    name=manager,
                    bind=new_address(),
                    http_port=0,
                    srmp_signature_form=form,
                ) as sender:
                    sender.send(name, Message("unsigned"))
                    sender.send(name, Message("signed", "label", sign=True, certificate=key))
                    message = orders.receive(timeout=40)
                    assert (message.body, message.label) == ("signed", "label")
                    assert (message.authenticated, message.authentication_level) == (True, "sigxml")
                    assert message.to_dict()["authentication_level"] == "sigxml"
            assert orders.receive_many(9, timeout=0) == []


def today() -> SigningKey:
    """A key with a certificate that is valid now."""
    now = datetime.now(UTC)
    return signing_key(
        "now", not_before=now - timedelta(days=1), not_after=now + timedelta(days=30)
    )
