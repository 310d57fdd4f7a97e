"""`openmsmq key`."""

import json
from pathlib import Path

import pytest
from tests.cli.runner import Outcome, run


class User:
    """Somebody with a directory of certificates."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def key(self, *arguments: str) -> Outcome:
        return run("key", *arguments, environment={"OPENMSMQ_CERTIFICATES": str(self.home)})


@pytest.fixture
def alice(tmp_path: Path) -> User:
    return User(tmp_path / "alice")


@pytest.fixture
def bob(tmp_path: Path) -> User:
    return User(tmp_path / "bob")


def create(user: User, *options: str) -> dict[str, object]:
    made = user.key("create", "--bits", "1024", "--json", *options)
    assert made.code == 0
    found: dict[str, object] = json.loads(made.out)
    return found


def test_without_any_it_says_how_to_make_one(alice: User) -> None:
    listed = alice.key("list")
    assert listed.code == 0
    assert "openmsmq key create" in listed.out
    assert alice.key("list", "--json").out == ""


def test_one_that_was_made_is_listed(alice: User) -> None:
    made = create(alice, "--name", "Alice", "--days", "10")
    assert made["subject"] == "CN=Alice"
    assert made["bits"] == 1024
    assert made["private_key"] is True
    assert json.loads(alice.key("list", "--json").out) == made
    assert str(made["digest"]) in alice.key("list").out


def test_it_has_the_name_of_the_user_without_another(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "carol")
    assert create(alice)["subject"] == "CN=carol"


def test_it_goes_to_somebody_else_with_a_password(alice: User, bob: User, tmp_path: Path) -> None:
    made = create(alice, "--name", "Alice")
    secret = tmp_path / "password"
    secret.write_text("sesame\n")
    file = str(tmp_path / "alice.p12")
    options = ("--password-file", str(secret))
    assert alice.key("export", "alice", file, "--private", *options).code == 0
    assert bob.key("import", file).code == 1
    got = bob.key("import", file, *options)
    assert got.code == 0
    assert str(made["digest"]) in got.out


@pytest.mark.parametrize(
    "arguments", [("export", "nobody", "new.pem"), ("import", "missing.pem")], ids=lambda a: a[0]
)
def test_a_refusal_has_cause_and_remedy(alice: User, arguments: tuple[str, ...]) -> None:
    refused = alice.key(*arguments)
    assert refused.code == 1
    assert "MQ_ERROR_INVALID_CERTIFICATE (0xC00E002C)" in refused.err
    assert "Likely cause:" in refused.err
    assert "Remedy:" in refused.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "--name", ""),
        ("create", "--name", "x" * 65),
        ("create", "--bits", "512"),
        ("create", "--days", "0"),
        ("import", "x.p12", "--password-file", "/dev/null"),
        ("import", "x.p12", "--password-file", "/nowhere/at/all"),
    ],
)
def test_wrong_usage_ends_with_2(alice: User, arguments: tuple[str, ...]) -> None:
    assert alice.key(*arguments).code == 2
    assert not alice.home.exists()
