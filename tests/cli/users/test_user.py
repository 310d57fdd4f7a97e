"""`openmsmq user`."""

import json
import pwd
from pathlib import Path
from typing import Any

import pytest
from tests.cli.runner import Outcome, run
from tests.cli.running import Manager
from tests.cli.terminal import Terminal

from openmsmq.security.ntlm import nt_hash
from openmsmq.service.account_file import AccountFile

PASSWORD = "correct horse battery"


class Accounts:
    """The command on a data directory."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.file = AccountFile(data)
        self.password_file = data.with_suffix(".password")
        self.password_file.write_text(f"{PASSWORD}\r\nignored\n")

    def user(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        return run("user", *arguments, "--data", str(self.data), stdin=stdin)

    def add(self, name: str, *options: str) -> Outcome:
        return self.user("add", name, "--password-file", str(self.password_file), *options)


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    return Accounts(tmp_path / "data")


def objects(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_without_any_it_says_how_to_add_one(accounts: Accounts) -> None:
    listed = accounts.user("list")
    assert listed.code == 0
    assert "openmsmq user add" in listed.out
    assert objects(accounts.user("list", "--json")) == []
    assert not accounts.data.exists()


def test_an_account_gets_a_sid_of_its_own(accounts: Accounts) -> None:
    (added,) = objects(accounts.add("alice", "--json"))
    assert added.keys() == {"name", "principal", "sid", "kerberos_principal", "has_password"}
    assert (added["kerberos_principal"], added["has_password"]) == (None, True)
    assert added["sid"].startswith("S-1-5-21-")
    assert added["principal"] == added["sid"]
    assert objects(accounts.user("list", "--json")) == [added]
    assert accounts.file.find("alice").nt_hash == nt_hash(PASSWORD)


def test_an_account_stands_for_a_user_of_the_machine(accounts: Accounts) -> None:
    root = pwd.getpwuid(0).pw_name
    added = accounts.add("alice", "--as", f"user:{root}")
    assert added.code == 0
    assert added.out == f"Added alice, which stands for user:{root}\n"
    listed = accounts.user("list").out
    assert "S-1-22-1-0" in listed
    assert f"user:{root}" in listed


def test_an_account_stands_for_a_sid(accounts: Accounts) -> None:
    (added,) = objects(accounts.add("alice", "--as", "S-1-5-21-1-2-3-1104", "--json"))
    assert added["sid"] == "S-1-5-21-1-2-3-1104"


@pytest.mark.parametrize("principal", ["everyone", "administrators", "gid:0", "S-1-5-32-545"])
def test_an_account_cannot_stand_for_a_group(accounts: Accounts, principal: str) -> None:
    refused = accounts.add("alice", "--as", principal)
    assert refused.code == 1
    assert "MQ_ERROR_INVALID_PARAMETER" in refused.err
    assert "a group or everybody" in refused.err
    assert not accounts.file.path.exists()


def test_an_unknown_principal_is_refused(accounts: Accounts) -> None:
    refused = accounts.add("alice", "--as", "user:no-such-user-here")
    assert refused.code == 1
    assert "no-such-user-here" in refused.err


def test_a_password_comes_from_standard_input(accounts: Accounts) -> None:
    added = accounts.user("add", "alice", "--password-file", "-", stdin=b"from a pipe\n")
    assert added.code == 0
    assert accounts.file.find("alice").nt_hash == nt_hash("from a pipe")


def test_without_a_terminal_a_file_is_needed(accounts: Accounts) -> None:
    refused = accounts.user("add", "alice", stdin=b"typed\n")
    assert refused.code == 2
    assert "--password-file" in refused.err
    assert not accounts.data.exists()


def test_a_password_is_never_an_argument(accounts: Accounts) -> None:
    assert accounts.user("add", "alice", "--password", "x").code == 2
    assert accounts.user("add", "alice", "x").code == 2


@pytest.mark.parametrize("content", [None, "", "\nsecond line\n"])
def test_a_file_without_a_password_is_wrong_usage(accounts: Accounts, content: str | None) -> None:
    if content is None:
        accounts.password_file.unlink()
    else:
        accounts.password_file.write_text(content)
    refused = accounts.add("alice")
    assert refused.code == 2
    assert str(accounts.password_file.name) in refused.err.replace("\n", "")


def test_a_taken_name_and_a_bad_name_are_refused(accounts: Accounts) -> None:
    assert accounts.add("alice").code == 0
    taken = accounts.add("ALICE")
    assert taken.code == 1
    assert "already" in taken.err
    bad = accounts.add("al\\ice")
    assert bad.code == 1
    assert "Leave out" in bad.err


def test_a_password_changes(accounts: Accounts) -> None:
    accounts.add("Alice")
    changed = accounts.user("passwd", "alice", "--password-file", "-", stdin=b"other\n")
    assert changed.code == 0
    assert changed.out.startswith("Changed the password of Alice")
    assert accounts.file.find("alice").nt_hash == nt_hash("other")


def test_an_account_is_removed(accounts: Accounts) -> None:
    accounts.add("Alice")
    assert accounts.user("remove", "alice", "--dry-run").out == "Would remove Alice\n"
    assert len(objects(accounts.user("list", "--json"))) == 1
    (removed,) = objects(accounts.user("remove", "alice", "--json"))
    assert (removed["name"], removed["removed"], removed["dry_run"]) == ("Alice", True, False)
    assert objects(accounts.user("list", "--json")) == []


@pytest.mark.parametrize("command", ["passwd", "remove"])
def test_an_unknown_account_is_refused(accounts: Accounts, command: str) -> None:
    refused = accounts.user(command, "bob")
    assert refused.code == 1
    assert "no account 'bob'" in refused.err
    assert "openmsmq user list" in refused.err


def test_nothing_that_is_printed_has_the_password_or_its_hash(accounts: Accounts) -> None:
    outcomes = [accounts.add("alice", "--json"), accounts.add("alice"), accounts.user("list")]
    outcomes += [accounts.user("list", "--json"), accounts.user("remove", "alice", "--json")]
    printed = "".join(outcome.out + outcome.err for outcome in outcomes)
    assert PASSWORD not in printed
    assert nt_hash(PASSWORD).hex() not in printed


def test_on_a_terminal_the_password_is_asked_for_twice(manager: Manager, tmp_path: Path) -> None:
    data = tmp_path / "accounts"
    with Terminal(manager, "user", "add", "alice", "--data", str(data)) as terminal:
        terminal.expect_secret("Password of alice:")
        terminal.type("typed\n")
        terminal.expect_secret("Repeat for confirmation:")
        terminal.type("typed\n")
        assert terminal.wait() == 0
        assert "typed" not in terminal.text
    assert AccountFile(data).find("alice").nt_hash == nt_hash("typed")
    with Terminal(manager, "user", "remove", "alice", "--data", str(data)) as terminal:
        terminal.expect("Remove the account alice?")
        terminal.type("n\n")
        assert terminal.wait() == 1
    assert AccountFile(data).find("alice").name == "alice"


def test_a_kerberos_principal_needs_no_password(accounts: Accounts) -> None:
    (added,) = objects(accounts.user("add", "alice", "--principal", "alice@REALM", "--json"))
    assert (added["kerberos_principal"], added["has_password"]) == ("alice@REALM", False)
    assert "alice@REALM" in accounts.user("list").out
    assert accounts.file.find("alice").principal == "alice@REALM"
    # A password can come later, and at once.
    changed = accounts.user("passwd", "alice", "--password-file", str(accounts.password_file))
    assert changed.code == 0, changed.err
    assert accounts.file.find("alice").principal == "alice@REALM"
    (both,) = objects(accounts.add("bob", "--principal", "bob@REALM", "--json"))
    assert both["has_password"]


@pytest.mark.parametrize("principal", ["alice", "@REALM", "alice@", "a b@REALM", "a//b@R", "a@R/x"])
def test_what_is_no_principal_is_refused(accounts: Accounts, principal: str) -> None:
    refused = accounts.user("add", "alice", "--principal", principal)
    assert refused.code == 1
    assert "USER@REALM" in refused.err
    assert objects(accounts.user("list", "--json")) == []


def test_a_principal_belongs_to_one_account(accounts: Accounts) -> None:
    assert accounts.user("add", "alice", "--principal", "alice@REALM").code == 0
    refused = accounts.user("add", "bob", "--principal", "alice@REALM")
    assert refused.code == 1
    assert "'alice' already" in refused.err


@pytest.mark.parametrize("named", ["option", "environment"])
def test_accounts_are_those_of_the_queue_manager_that_is_named(
    manager: Manager, accounts: Accounts, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    words = ["--password-file", str(accounts.password_file)]
    if named == "option":
        words += ["--socket", manager.socket]
    else:
        monkeypatch.setenv("OPENMSMQ_SOCKET", manager.socket)
    added = run("user", "add", f"by-{named}", *words)
    assert added.code == 0, added.err
    file = AccountFile(manager.data)
    assert file.find(f"by-{named}").nt_hash == nt_hash(PASSWORD)
    file.remove(f"by-{named}")


def test_accounts_of_a_queue_manager_that_does_not_answer_stay(
    accounts: Accounts, tmp_path: Path
) -> None:
    words = ["--password-file", str(accounts.password_file)]
    added = run("user", "add", "alice", *words, "--socket", str(tmp_path / "none.sock"))
    assert added.code == 1
    assert "none.sock" in added.err
