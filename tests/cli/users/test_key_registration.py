"""`openmsmq key register`, `unregister`, `renew` and `show`, and signed messages with them."""

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from tests.cli.runner import Outcome, run

from openmsmq.directory.document import Document, render_document
from openmsmq.directory.objects import Enterprise
from openmsmq.server.embedded import embedded

QUEUE = r".\private$\safe"


class User:
    """Somebody with certificates, and a queue manager that belongs to a directory."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *arguments: str) -> Outcome:
        variables = {
            "OPENMSMQ_CERTIFICATES": str(self.home / "certificates"),
            "OPENMSMQ_SOCKET": str(self.home / "s"),
        }
        return run(*arguments, environment=variables)

    def good(self, *arguments: str) -> str:
        outcome = self.run(*arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[User]:
    document = Document()
    enterprise = Enterprise(uuid4(), "corp")
    document.of(enterprise)[enterprise.identifier] = enterprise
    (tmp_path / "directory").write_bytes(render_document(document))
    options = {"directory": tmp_path / "directory", "socket": tmp_path / "s"}
    with embedded(tmp_path / "d", name="ALPHA", **options) as manager:
        manager.create_queue(QUEUE, authenticate=True)
        user = User(tmp_path)
        user.good("key", "create", "--name", "alice", "--bits", "1024")
        yield user


def test_only_a_registered_certificate_signs(alice: User) -> None:
    send = ("send", QUEUE, "--body", "x", "--sign")
    refused = alice.run(*send)
    assert refused.code == 1
    assert "not registered" in refused.err
    assert "openmsmq key register" in refused.err
    assert "no certificate" in alice.good("key", "show")
    alice.good("key", "register", "alice")
    alice.good(*send)
    received = json.loads(alice.good("receive", QUEUE, "--json", "--timeout", "5"))
    assert received["authenticated"] is True
    assert received["authentication_level"] == "sig20"
    assert received["hash_algorithm"] == "sha512"
    assert received["sender_id"].startswith("S-1-22-1-")
    assert received["sender_certificate"]
    assert "Unregistered" in alice.good("key", "unregister", "alice")
    assert json.loads(alice.good("key", "list", "--json"))["private_key"] is True


@pytest.mark.parametrize(
    ("signature", "level"), [("1.0", "sig10"), ("2.0", "sig20"), ("3.0", "sig30")]
)
def test_the_version_and_the_hash_are_chosen(alice: User, signature: str, level: str) -> None:
    alice.good("key", "register", "alice")
    options = ("--signature", signature, "--hash", "SHA-256", "--certificate", "alice")
    alice.good("send", QUEUE, "--body", "x", "--sign", *options)
    received = json.loads(alice.good("receive", QUEUE, "--json", "--timeout", "5"))
    assert (received["authentication_level"], received["hash_algorithm"]) == (level, "sha256")


def test_a_hash_that_the_receiver_does_not_accept_is_refused(alice: User) -> None:
    alice.good("key", "register", "alice")
    outcome = alice.run("send", QUEUE, "--body", "x", "--sign", "--hash", "sha1")
    assert outcome.code == 1
    assert "0x8004 is not accepted" in outcome.err


@pytest.mark.spec("MQDMPR-3.1.1.1-27")
@pytest.mark.parametrize("keep", [False, True])
def test_a_renewed_one_takes_the_place_of_the_old_one(alice: User, *, keep: bool) -> None:
    alice.good("key", "register", "alice")
    old = json.loads(alice.good("key", "show", "--json"))["digest"]
    renewed = json.loads(alice.good("key", "renew", old, "--json", *["--keep"] * keep))
    shown = [json.loads(line) for line in alice.good("key", "show", "--json").splitlines()]
    assert {each["digest"] for each in shown} == {renewed["digest"], *[old] * keep}
    assert len({each["identifier"] for each in shown}) == len(shown)
    # Of those that no authority has issued one counts as internal: the newest.
    assert [each["digest"] for each in shown if each["internal"]] == [renewed["digest"]]
    assert renewed["bits"] == 2048
    if keep:
        ambiguous = alice.run("key", "unregister", "alice")
        assert ambiguous.code == 1
        assert "2 certificates 'alice' in the directory" in ambiguous.err
    assert renewed["digest"] in alice.good("key", "show")


def test_a_queue_manager_without_a_directory_says_so(tmp_path: Path) -> None:
    user = User(tmp_path)
    user.good("key", "create", "--name", "bob", "--bits", "1024")
    with embedded(tmp_path / "d", socket=tmp_path / "s"):
        outcome = user.run("key", "register", "bob")
    assert outcome.code == 1
    assert "MQ_ERROR_NO_DS" in outcome.err
    assert "trusted_certificates" in outcome.err
