"""The file of accounts: contents, protection, changes."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from openmsmq.security.caller import unix_group_sid, unix_user_sid
from openmsmq.security.ntlm import nt_hash
from openmsmq.service.account_file import AccountFile, can_log_on, check_name
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.sid import ANONYMOUS, BUILTIN_USERS, EVERYONE, SID

DOMAIN_USER = SID(5, (21, 1, 2, 3, 1104))


def test_an_account_is_kept(tmp_path: Path) -> None:
    file = AccountFile(tmp_path / "data")
    added = file.add("Alice", "secret", DOMAIN_USER)
    assert (added.name, added.sid, added.nt_hash) == ("Alice", DOMAIN_USER, nt_hash("secret"))
    again = AccountFile(tmp_path / "data")
    assert again.read().accounts == {"ALICE": added}
    assert again.find("aLICE") == added


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = AccountFile(tmp_path / "data")
        file.add("alice", "secret", None)
        file.set_password("alice", "other")
    finally:
        os.umask(before)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in file.path.parent.iterdir()] == ["accounts.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_root_writes_belongs_to_the_owner_of_the_directory(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)
    file = AccountFile(tmp_path)
    file.add("alice", "secret", None)
    assert file.path.stat().st_uid == 65534


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_may_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    file = AccountFile(tmp_path)
    file.add("alice", "secret", None)
    file.path.chmod(mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        file.read()
    with pytest.raises(ConfigError, match="chmod 600"):
        file.add("bob", "secret", None)


def test_neither_password_nor_hash_shows(tmp_path: Path) -> None:
    file = AccountFile(tmp_path)
    account = file.add("alice", "secret", None)
    shown = repr(account) + str(account) + repr(file.read())
    assert "secret" not in shown
    assert nt_hash("secret").hex() not in shown
    assert repr(nt_hash("secret")) not in shown
    assert "secret" not in file.path.read_text()


def test_made_sids_differ_and_are_never_used_again(tmp_path: Path) -> None:
    file = AccountFile(tmp_path)
    first = file.add("alice", "secret", None).sid
    file.remove("ALICE")
    second = file.add("alice", "secret", None).sid
    assert first.sub_authority[:4] == second.sub_authority[:4]
    assert (first.sub_authority[4], second.sub_authority[4]) == (1000, 1001)
    other = AccountFile(tmp_path / "other").add("alice", "secret", None).sid
    assert other.sub_authority[:4] != first.sub_authority[:4]


def test_a_password_changes_and_the_principal_stays(tmp_path: Path) -> None:
    file = AccountFile(tmp_path)
    file.add("Alice", "secret", DOMAIN_USER)
    changed = file.set_password("alice", "other")
    assert (changed.name, changed.sid) == ("Alice", DOMAIN_USER)
    assert file.find("alice").nt_hash == nt_hash("other")


def test_a_name_is_taken_in_any_case(tmp_path: Path) -> None:
    file = AccountFile(tmp_path)
    file.add("Alice", "secret", None)
    with pytest.raises(ConfigError, match="already"):
        file.add("aLICE", "secret", None)


@pytest.mark.parametrize("change", ["find", "remove", "set_password"])
def test_an_unknown_account_is_refused(tmp_path: Path, change: str) -> None:
    file = AccountFile(tmp_path)
    arguments = ("bob", "secret") if change == "set_password" else ("bob",)
    with pytest.raises(ConfigError, match="no account 'bob'"):
        getattr(file, change)(*arguments)


@pytest.mark.parametrize(
    "name", ["", "a" * 65, "a\\b", "a@b", "a:b", "a\nb", " a", "a ", "...", "a\ud800"]
)
def test_names_that_no_client_could_send_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError):
        AccountFile(tmp_path).add(name, "secret", None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a", "a.b", "first last", "müller", "svc-reader_1", "a" * 64])
def test_usual_names_are_taken(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("password", ["", "p" * 257, "\ud800"])
def test_passwords_that_are_not_any_are_refused(tmp_path: Path, password: str) -> None:
    with pytest.raises(ConfigError, match="password"):
        AccountFile(tmp_path).add("alice", password, None)


def content_of(file: AccountFile) -> dict[str, object]:
    content: dict[str, object] = json.loads(file.path.read_text())
    return content


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "[]",
        "{}",
        '{"version": 2, "domain": "S-1-5-21-1-2-3", "next_rid": 1000, "accounts": []}',
        '{"version": 1, "domain": "x", "next_rid": 1000, "accounts": []}',
        '{"version": 1, "domain": "S-1-5-21-1-2-3", "next_rid": 1, "accounts": [{"name": "a"}]}',
        (
            '{"version": 1, "domain": "S-1-5-21-1-2-3", "next_rid": 1, "accounts": '
            '[{"name": "a", "sid": "S-1-1-0", "nt_hash": "00"}]}'
        ),
        (
            '{"version": 1, "domain": "S-1-5-21-1-2-3", "next_rid": 1, "accounts": '
            '[{"name": 7, "sid": "S-1-1-0", "nt_hash": "00112233445566778899aabbccddeeff"}]}'
        ),
        "\x00\xff",
    ],
)
def test_a_broken_file_is_refused_and_not_quoted(tmp_path: Path, broken: str) -> None:
    file = AccountFile(tmp_path)
    file.add("alice", "secret", None)
    file.path.write_text(broken, encoding="latin-1")
    with pytest.raises(ConfigError, match="not a file of accounts") as failure:
        file.read()
    assert "0011" not in str(failure.value)


def test_a_file_of_any_size_is_not_read(tmp_path: Path) -> None:
    file = AccountFile(tmp_path)
    file.add("alice", "secret", None)
    with file.path.open("ab") as large:
        large.truncate(17 * 2**20)
    with pytest.raises(ConfigError, match="16 MiB"):
        file.read()


def test_a_directory_that_cannot_be_made_is_an_error_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"accounts\.json"):
        AccountFile(tmp_path / "file" / "data").add("alice", "secret", None)
    (tmp_path / "data" / "accounts.json").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"accounts\.json"):
        AccountFile(tmp_path / "data").read()
    (tmp_path / "other" / "accounts.new").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"accounts\.json"):
        AccountFile(tmp_path / "other").add("alice", "secret", None)


def test_changes_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    names = [f"user{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: AccountFile(tmp_path).add(name, "secret", None), names))
    accounts = AccountFile(tmp_path).read().accounts
    assert set(accounts) == {name.upper() for name in names}
    assert len({account.sid for account in accounts.values()}) == 24


@pytest.mark.parametrize(
    ("sid", "possible"),
    [
        (DOMAIN_USER, True),
        (unix_user_sid(1000), True),
        (unix_group_sid(100), False),
        (EVERYONE, False),
        (ANONYMOUS, False),
        (BUILTIN_USERS, False),
        (SID(5, (32, 555)), False),
    ],
)
def test_accounts_stand_for_users_only(sid: SID, *, possible: bool) -> None:
    assert can_log_on(sid) is possible
