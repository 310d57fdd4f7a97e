"""Whose certificates are trusted without a directory."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from tests.core.transfer.checks.test_signatures import everything, receiver
from tests.security.signatures.signer import NOT_AFTER, NOT_BEFORE, private_key, signed

from openmsmq.client.certificates import SigningKey
from openmsmq.security.certificates.sender_certificate import parse_certificate
from openmsmq.security.certificates.trust import TrustStore
from openmsmq.server.config import Config
from openmsmq.wire.errors import ConfigError

UTC_NOW = 1_700_000_000.0


def name_of(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


@cache
def issued(
    subject: str,
    issuer: str,
    *,
    authority: bool = False,
    path_length: int | None = None,
    usage: str = "",
    not_after: datetime = NOT_AFTER,
    forged: bool = False,
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(name_of(subject))
        .issuer_name(name_of(issuer))
        .public_key(private_key(subject).public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOT_BEFORE - timedelta(days=1000))
        .not_valid_after(not_after)
    )
    if authority:
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=path_length), critical=True
        )
    if usage:
        kinds = dict.fromkeys(
            (
                "digital_signature",
                "content_commitment",
                "key_encipherment",
                "data_encipherment",
                "key_agreement",
                "key_cert_sign",
                "crl_sign",
                "encipher_only",
                "decipher_only",
            ),
            False,
        )
        builder = builder.add_extension(x509.KeyUsage(**{**kinds, usage: True}), critical=True)
    return builder.sign(private_key("forger" if forged else issuer), hashes.SHA256())


def pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(each.public_bytes(Encoding.PEM) for each in certificates)


def fault(sender: x509.Certificate, *authorities: x509.Certificate, lists: Any = ()) -> str:
    trust = TrustStore()
    if authorities:
        trust.add_authorities(pem(*authorities))
    for each in lists:
        trust.add_revocation_list(each)
    return trust.fault_of(parse_certificate(sender.public_bytes(Encoding.DER)), UTC_NOW)


def revocations(issuer: str, *revoked: x509.Certificate, signer: str = "") -> bytes:
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(name_of(issuer))
        .last_update(NOT_BEFORE)
        .next_update(NOT_AFTER)
    )
    for each in revoked:
        builder = builder.add_revoked_certificate(
            x509.RevokedCertificateBuilder()
            .serial_number(each.serial_number)
            .revocation_date(NOT_BEFORE)
            .build()
        )
    return builder.sign(private_key(signer or issuer), hashes.SHA256()).public_bytes(Encoding.PEM)


ROOT = issued("root", "root", authority=True)
MIDDLE = issued("middle", "root", authority=True)
SENDER = issued("sender", "root")
BELOW = issued("below", "middle")


def test_a_certificate_of_a_trusted_authority_is_trusted() -> None:
    assert fault(SENDER, ROOT) == ""
    assert fault(BELOW, MIDDLE) == ""
    assert fault(BELOW, ROOT, MIDDLE) == ""
    # A path length of 0 allows no authority between, but the certificates of senders.
    assert fault(SENDER, issued("root", "root", authority=True, path_length=0)) == ""


def test_a_certificate_in_the_store_is_trusted_itself() -> None:
    lonely = issued("lonely", "lonely")
    assert fault(lonely, lonely) == ""
    assert "no trusted authority" in fault(lonely, ROOT)


@pytest.mark.parametrize(
    ("sender", "authorities"),
    [
        (SENDER, ()),
        # Messages carry no chain: the authority between is missing.
        (BELOW, (ROOT,)),
        (issued("sender", "root", forged=True), (ROOT,)),
        # No authorities.
        (issued("deep", "sender"), (SENDER,)),
        (SENDER, (issued("root", "root", authority=True, usage="digital_signature"),)),
        (
            SENDER,
            (issued("root", "root", authority=True, not_after=datetime(2022, 1, 1, tzinfo=UTC)),),
        ),
    ],
)
def test_others_are_not(
    sender: x509.Certificate, authorities: tuple[x509.Certificate, ...]
) -> None:
    assert "no trusted authority" in fault(sender, *authorities)


def test_the_use_of_a_key_is_respected() -> None:
    assert "key usage" in fault(issued("sender", "root", usage="key_encipherment"), ROOT)
    assert fault(issued("sender", "root", usage="digital_signature"), ROOT) == ""
    good = issued("root", "root", authority=True, usage="key_cert_sign")
    assert fault(SENDER, good) == ""


@pytest.mark.parametrize("form", ["PEM", "DER"])
def test_a_revoked_certificate_is_refused(form: str) -> None:
    content = revocations("root", SENDER)
    if form == "DER":
        content = x509.load_pem_x509_crl(content).public_bytes(Encoding.DER)
    assert fault(SENDER, ROOT, lists=[content]) == "it is revoked"
    assert fault(issued("sender", "root", usage="digital_signature"), ROOT, lists=[content]) == ""
    # Signed by somebody else, or of another authority.
    assert fault(SENDER, ROOT, lists=[revocations("root", SENDER, signer="forger")]) == ""
    assert fault(SENDER, ROOT, lists=[revocations("middle", SENDER)]) == ""


def test_a_revoked_authority_revokes_what_it_issued() -> None:
    assert fault(BELOW, ROOT, MIDDLE, lists=[revocations("root", MIDDLE)]) == "it is revoked"


def test_a_signature_without_a_sid_is_proved_by_an_authority() -> None:
    trust = TrustStore()
    trust.add_authorities(pem(ROOT))
    network, b, peer = receiver(policy={"trust": trust})
    good = SigningKey(SENDER.public_bytes(Encoding.DER), private_key("sender"))
    bad = SigningKey(BELOW.public_bytes(Encoding.DER), private_key("below"))
    peer.send(signed(everything(), bad, sid=None), signed(everything(message_id=2), good, sid=None))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]


def test_settings_name_the_files(tmp_path: Any) -> None:
    (tmp_path / "root.pem").write_bytes(pem(ROOT))
    (tmp_path / "list.pem").write_bytes(revocations("root", SENDER))
    (tmp_path / "text").write_text("nothing")
    options = {
        "trusted_certificates": (tmp_path / "root.pem",),
        "certificate_revocation_lists": (tmp_path / "list.pem",),
        "accepted_hash_algorithms": ("sha1",),
        "check_certificate_dates": False,
        "smallest_certificate_bits": 512,
        "srmp_accepts_sha1": False,
    }
    policy = Config.load(None, options).sender_policy
    assert policy.accepted_hashes == {0x8004}
    assert not policy.check_dates
    assert not policy.srmp_accepts_sha1
    assert policy.smallest_bits == 512
    assert Config.load(None, {}).sender_policy.srmp_accepts_sha1
    sender = parse_certificate(SENDER.public_bytes(Encoding.DER))
    assert policy.trust.fault_of(sender, UTC_NOW) == "it is revoked"
    for key in ("trusted_certificates", "certificate_revocation_lists"):
        for file in ("text", "missing"):
            with pytest.raises(ConfigError, match=f"{key}: .*{file}"):
                _ = Config.load(None, {key: (tmp_path / file,)}).sender_policy
    with pytest.raises(ConfigError, match="'sha3' must be one of sha512"):
        Config.load(None, {"accepted_hash_algorithms": ("sha3",)})
    with pytest.raises(ConfigError, match="max_failed_checks"):
        Config.load(None, {"max_failed_checks": 0})
    with pytest.raises(ConfigError, match="smallest_certificate_bits"):
        Config.load(None, {"smallest_certificate_bits": 511})
    with pytest.raises(ConfigError, match=r"signature_form: .*'wires' must be one of text-nul"):
        Config.load(None, {"signature_form": "wires"})
    reason = r"srmp_signature_form: .*'wire' must be one of element"
    with pytest.raises(ConfigError, match=reason):
        Config.load(None, {"srmp_signature_form": "wire"})
