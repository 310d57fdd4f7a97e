"""`openmsmq decode` explains signatures, certificates and ciphers."""

import re
from typing import Any

import pytest
from tests.cli.decode.captures import objects
from tests.cli.runner import run
from tests.core.transfer.checks.test_bad_signatures import STRANGE
from tests.protocol.srmp.test_signatures import dsa_certificate, machine, xml
from tests.security.signatures.signer import message, private_key, signed, signing_key

from openmsmq.cli.decode.packet_tree import PacketTree
from openmsmq.cli.decode.source import Origin, Packet
from openmsmq.client.certificates import SigningKey
from openmsmq.security.signatures.hash_forms import HashForm, LabelForm, SignatureVersion
from openmsmq.terminal.styled import plain
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags


def fields(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """All fields that `decode --json` shows, by name."""
    outcome = run("decode", "--json", stdin=data)
    assert outcome.code == 0, outcome.err
    (packet,) = objects(outcome.out)
    found: dict[str, list[dict[str, Any]]] = {}

    def collect(nodes: list[dict[str, Any]]) -> None:
        for node in nodes:
            found.setdefault(node["name"], []).append(node)
            collect(node.get("fields", []))

    collect(packet["fields"])
    return found


def check(data: bytes) -> tuple[str, str]:
    (node,) = fields(data)["Check"]
    return node["value"], node["meaning"]


@pytest.mark.parametrize("version", list(SignatureVersion))
def test_a_good_signature_says_its_form(version: SignatureVersion) -> None:
    form = HashForm(label=LabelForm.BARE)
    verdict, words = check(signed(message(), version=version, form=form))
    assert verdict == "good"
    assert words.startswith(f"{version.name.lower()}, text-nul, label, ")
    assert words.endswith("little-endian, sha512")


def test_the_certificate_is_shown() -> None:
    shown = fields(signed(message()))
    assert [node["value"] for node in shown["Subject"]] == ["CN=alice"]
    assert [node["meaning"] for node in shown["Issuer"]] == ["itself"]
    assert [(node["value"], node["meaning"]) for node in shown["Key"]] == [("RSA", "2048 bits")]
    assert [node["value"] for node in shown["Valid"]] == ["2023-01-01 to 2033-01-01"]


def with_security(**items: Any) -> bytes:
    """A signed message with another SecurityHeader."""
    view = UserMessage(signed(message()))
    header = view.security_header
    assert header is not None
    options = {"signature": header.signature, "sender_cert": header.sender_cert, **items}
    flags = options.pop("flags", 0)
    algorithm = options.pop("algorithm", view.hash_algorithm)
    return rebuild(view, security_header=SecurityHeader(flags, **options), hash_algorithm=algorithm)


@pytest.mark.parametrize(
    ("data", "verdict", "reason"),
    [
        (
            signed(message()).replace(b"body", b"boDy"),
            "BAD",
            "its sha512 digest is that of another message: something was changed",
        ),
        (
            with_security(sender_cert=signing_key("mallory").certificate),
            "BAD",
            "no digest of sha512 is in it: another key or another hash has made it",
        ),
        (
            with_security(algorithm=HashAlgorithm.SHA_256),
            "BAD",
            "no digest of sha256 is in it: another key or another hash has made it",
        ),
        (with_security(signature=bytes(128)), "BAD", "it has 128 bytes, the key 256"),
        (with_security(algorithm=0x8005), "BAD", "hash algorithm 0x8005 does not exist"),
        (with_security(sender_cert=b""), "not checked", "it came without a certificate"),
        (
            with_security(sender_cert=STRANGE["garbage"]),
            "not checked",
            "its certificate cannot be used",
        ),
        (
            with_security(sender_cert=dsa_certificate()),
            "BAD",
            "the key of the certificate is not RSA",
        ),
        (
            with_security(flags=int(SecurityHeaderFlags.EB)),
            "not checked",
            "it covers the clear body, and this one is encrypted",
        ),
    ],
)
def test_a_bad_signature_says_why(data: bytes, verdict: str, reason: str) -> None:
    assert check(data) == (verdict, reason)


def test_md5_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    data = signed(message(), algorithm=HashAlgorithm.MD5)
    assert check(data)[0] == "good"
    monkeypatch.setattr("openmsmq.security.signatures.hashes.has_legacy", lambda: False)
    assert check(data) == (
        "not checked",
        "md5 needs the extra: pip install 'openmsmq[legacy]'",
    )


@pytest.mark.parametrize(
    ("algorithm", "body", "name", "meaning"),
    [
        (0x6610, bytes(32), "AES_256", "32 bytes of cipher text"),
        (0x6610, bytes(31), "AES_256", "31 bytes of cipher text, which is not whole blocks"),
        (0x1234, bytes(16), "unknown, 0x1234", "16 bytes of cipher text"),
    ],
)
def test_the_cipher_is_shown(algorithm: int, body: bytes, name: str, meaning: str) -> None:
    header = SecurityHeader(int(SecurityHeaderFlags.EB), encryption_key=bytes(268))
    view = UserMessage(message(body, encryption_algorithm=algorithm, security_header=header))
    (node,) = fields(view.packet)["Cipher"]
    assert (node["value"], node["meaning"]) == (name, meaning)


@pytest.mark.parametrize(
    ("changes", "replacements", "verdict", "words"),
    [
        ({}, (), "good", "sigxml, element, big-endian, key-info, sha1"),
        ({"body": b"other"}, (), "BAD", "the digest is that of another body"),
        ({"extension": b"other"}, (), "BAD", "the digest is that of another extension"),
        (
            {},
            (("SignedInfo><Sign", "SignedInfo> <Sign"),),
            "BAD",
            "another key has signed, or <SignedInfo> was changed",
        ),
    ],
)
def test_signatures_of_srmp(
    changes: dict[str, bytes], replacements: tuple[tuple[str, str], ...], verdict: str, words: str
) -> None:
    web, beta = machine()
    data = xml(web, beta, extension=b"more", replacements=replacements).post(**changes)
    assert check(data) == (verdict, words)


def test_it_reads_well_in_80_columns() -> None:
    stranger = SigningKey(signing_key().certificate, private_key("mallory"))
    tree = PacketTree(width=80, unicode=True, with_hex=False)
    for data in (signed(message()), signed(message(), stranger)):
        root = Packet(Origin(0), data).tree()
        lines = [plain(line) for line in tree.lines(root, data)]
        assert max(map(len, lines)) <= 80
        # Lines are broken between words.
        text = re.sub("[ │├└─]+", " ", " ".join(lines))
        assert "connector-zero, packed" in text or "no digest of sha512 is in it" in text
