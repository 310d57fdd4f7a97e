"""The certificates of a user."""

import os
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from openmsmq.client.certificates import (
    CertificateStore,
    UserCertificate,
    default_certificate_directory,
)
from openmsmq.directory.certificates import certificate_digest
from openmsmq.wire.errors import ConfigError


@pytest.fixture
def store(tmp_path: Path) -> CertificateStore:
    return CertificateStore(tmp_path / "own")


@pytest.fixture
def other(tmp_path: Path) -> CertificateStore:
    return CertificateStore(tmp_path / "other")


def make(store: CertificateStore, name: str = "alice", days: int = 30) -> UserCertificate:
    return store.create(name, days=days, bits=1024)


def test_a_new_certificate_names_and_proves_its_owner(store: CertificateStore) -> None:
    made = make(store)
    parsed = x509.load_pem_x509_certificate(made.file.read_bytes())
    parsed.verify_directly_issued_by(parsed)
    assert made.subject == made.issuer == "CN=alice"
    assert made.bits == 1024
    assert made.private
    assert made.not_before < datetime.now(UTC) < made.not_after
    assert made.not_after - made.not_before < timedelta(days=31)
    assert bytes.fromhex(made.digest) == certificate_digest(parsed.public_bytes(Encoding.DER))
    assert list(store) == [made]


def test_only_the_user_may_read_it(store: CertificateStore) -> None:
    made = make(store)
    assert stat.S_IMODE(made.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700


def test_those_that_last_longest_come_first(store: CertificateStore) -> None:
    names = [make(store, name, days).subject for name, days in (("a", 5), ("b", 50), ("c", 20))]
    assert names == ["CN=a", "CN=b", "CN=c"]
    assert [each.subject for each in store] == ["CN=b", "CN=c", "CN=a"]


def test_one_is_found_by_digest_beginning_or_name(store: CertificateStore) -> None:
    made = make(store)
    for wanted in (made.digest, made.digest[:6].upper(), "Alice", "CN=alice"):
        assert store.find(wanted) == made


def test_none_and_more_than_one_are_errors(store: CertificateStore) -> None:
    make(store)
    make(store)
    with pytest.raises(ConfigError, match="2 certificates 'alice'"):
        store.find("alice")
    with pytest.raises(ConfigError, match="no certificate 'bob'"):
        store.find("bob")


@pytest.mark.parametrize("name", ["k.pem", "k.p12", "k.PFX"])
@pytest.mark.parametrize("password", [None, "sesame"])
def test_a_key_travels_to_another_machine(
    store: CertificateStore,
    other: CertificateStore,
    tmp_path: Path,
    name: str,
    password: str | None,
) -> None:
    made = make(store)
    store.export_to("alice", tmp_path / name, private=True, password=password)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    got = other.import_from(tmp_path / name, password=password)
    assert (got.digest, got.private) == (made.digest, True)
    assert got.file.read_bytes() == made.file.read_bytes()


@pytest.mark.parametrize("name", ["k.pem", "k.cer", "k.der", "k.p12"])
def test_without_asking_for_it_the_private_key_stays(
    store: CertificateStore, other: CertificateStore, tmp_path: Path, name: str
) -> None:
    made = make(store)
    store.export_to("alice", tmp_path / name, private=False)
    got = other.import_from(tmp_path / name)
    assert (got.digest, got.private) == (made.digest, False)


def test_a_key_that_comes_later_is_added_and_never_lost(
    store: CertificateStore, other: CertificateStore, tmp_path: Path
) -> None:
    make(store)
    store.export_to("alice", tmp_path / "public.pem", private=False)
    store.export_to("alice", tmp_path / "private.pem", private=True)
    assert not other.import_from(tmp_path / "public.pem").private
    assert other.import_from(tmp_path / "private.pem").private
    assert other.import_from(tmp_path / "public.pem").private
    assert len(list(other)) == 1


@pytest.mark.parametrize("private", [False, True])
def test_what_is_there_already_is_not_written_again(
    store: CertificateStore, other: CertificateStore, tmp_path: Path, *, private: bool
) -> None:
    make(store)
    store.export_to("alice", tmp_path / "alice.pem", private=private)
    before = other.import_from(tmp_path / "alice.pem").file.stat()
    assert other.import_from(tmp_path / "alice.pem").file.stat().st_ino == before.st_ino


def test_all_of_a_key_is_on_disk_when_it_is_kept(
    store: CertificateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    made = make(store)
    assert synced == [made.file.stat().st_size]


def test_openssl_reads_what_is_exported(store: CertificateStore, tmp_path: Path) -> None:
    make(store)
    file = tmp_path / "k.cer"
    store.export_to("alice", file, private=False)
    shown = subprocess.run(
        ["openssl", "x509", "-inform", "der", "-in", file, "-noout", "-subject"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "alice" in shown.stdout


def test_a_file_that_is_there_is_not_overwritten(store: CertificateStore, tmp_path: Path) -> None:
    make(store)
    file = tmp_path / "k.pem"
    file.write_text("precious")
    with pytest.raises(ConfigError, match="exists"):
        store.export_to("alice", file, private=False)
    assert file.read_text() == "precious"


def test_what_cannot_be_exported_is_said(
    store: CertificateStore, other: CertificateStore, tmp_path: Path
) -> None:
    make(store)
    with pytest.raises(ConfigError, match=r"\.pem, \.p12 or \.pfx"):
        store.export_to("alice", tmp_path / "k.cer", private=True)
    store.export_to("alice", tmp_path / "k.cer", private=False)
    other.import_from(tmp_path / "k.cer")
    with pytest.raises(ConfigError, match="no private key"):
        other.export_to("alice", tmp_path / "k2.pem", private=True)


@pytest.mark.parametrize("name", ["k.pem", "k.p12", "k.cer"])
def test_rubbish_is_refused(store: CertificateStore, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"-----BEGIN CERTIFICATE-----\nrubbish\n" if name == "k.pem" else b"\0" * 99)
    with pytest.raises(ConfigError, match=name):
        store.import_from(file)
    assert not store.directory.exists()


@pytest.mark.parametrize("password", [None, "wrong"])
@pytest.mark.parametrize("name", ["k.pem", "k.p12"])
def test_a_wrong_password_is_refused(
    store: CertificateStore,
    other: CertificateStore,
    tmp_path: Path,
    name: str,
    password: str | None,
) -> None:
    make(store)
    store.export_to("alice", tmp_path / name, private=True, password="sesame")
    with pytest.raises(ConfigError, match=name):
        other.import_from(tmp_path / name, password=password)


def test_the_key_of_another_certificate_is_refused(
    store: CertificateStore, other: CertificateStore, tmp_path: Path
) -> None:
    first, second = make(store), make(store, "bob").file.read_bytes()
    certificate = first.file.read_bytes().partition(b"-----BEGIN PRIVATE KEY")[0]
    mixed = tmp_path / "mixed.pem"
    mixed.write_bytes(certificate + second[second.index(b"-----BEGIN PRIVATE KEY") :])
    with pytest.raises(ConfigError, match="not that of the certificate"):
        other.import_from(mixed)


def elliptic() -> tuple[bytes, bytes]:
    """A certificate and a key of a kind that MSMQ does not know."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "curve")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 7, now, now + timedelta(days=1))
        .sign(key, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )
    return certificate, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("with_key", [True, False])
def test_keys_other_than_rsa_are_refused(
    store: CertificateStore,
    tmp_path: Path,
    *,
    with_key: bool,
) -> None:
    certificate, key = elliptic()
    file = tmp_path / "k.pem"
    file.write_bytes(certificate + key if with_key else certificate)
    with pytest.raises(ConfigError, match="not RSA"):
        store.import_from(file)


def test_a_damaged_store_is_an_error_that_names_the_file(store: CertificateStore) -> None:
    made = make(store)
    made.file.write_bytes(made.file.read_bytes()[:100])
    with pytest.raises(ConfigError, match=made.digest):
        list(store)


def test_directories_above_the_store_are_made(tmp_path: Path) -> None:
    assert make(CertificateStore(tmp_path / "new" / "own")).file.exists()


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file"):
        make(CertificateStore(tmp_path / "file" / "below"))


def test_the_environment_says_where_they_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENMSMQ_CERTIFICATES", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_certificate_directory() == tmp_path / ".config" / "openmsmq" / "certificates"
    monkeypatch.setenv("XDG_CONFIG_HOME", os.fspath(tmp_path / "xdg"))
    assert default_certificate_directory() == tmp_path / "xdg" / "openmsmq" / "certificates"
    monkeypatch.setenv("OPENMSMQ_CERTIFICATES", os.fspath(tmp_path / "mine"))
    assert default_certificate_directory() == tmp_path / "mine"
