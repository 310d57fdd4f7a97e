"""Accounts of the machine, and who they make a caller."""

import os
from pathlib import Path

from openmsmq.security.caller import unix_group_sid, unix_user_sid
from openmsmq.service.account_file import ACCOUNTS_FILE, AccountFile
from openmsmq.service.accounts import ServiceAccounts, UnixAccounts, caller_of, caller_of_user
from openmsmq.wire.security.sid import EVERYONE

NOBODY = 4_000_000_000


def test_accounts_are_those_of_the_machine() -> None:
    accounts = UnixAccounts()
    assert accounts.uid("root") == 0
    assert accounts.user_name(0) == "root"
    assert accounts.gid("root") == 0
    assert accounts.group_name(0) == "root"


def test_unknown_accounts_are_none() -> None:
    accounts = UnixAccounts()
    assert accounts.uid("no such user") is None
    assert accounts.gid("no such group") is None
    assert accounts.user_name(NOBODY) is None
    assert accounts.group_name(NOBODY) is None


def test_accounts_for_remote_read_are_those_in_the_file_now(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    accounts = ServiceAccounts(tmp_path)
    assert accounts.account("ada") is None
    ada = AccountFile(tmp_path).add("Ada", "secret", None)
    assert accounts.account("ada") == ada.sid
    assert accounts.account_name(ada.sid) == "Ada"
    AccountFile(tmp_path).remove("ada")
    assert accounts.account_name(ada.sid) is None
    assert UnixAccounts().account("ada") is None
    assert UnixAccounts().account_name(ada.sid) is None


def test_a_file_of_accounts_that_cannot_be_used_has_none(tmp_path: Path) -> None:
    (tmp_path / ACCOUNTS_FILE).write_text("nonsense")
    assert ServiceAccounts(tmp_path).account("ada") is None


def test_the_user_of_the_service_administers_it() -> None:
    caller = caller_of(os.geteuid(), os.getegid())
    assert caller.is_local_admin
    assert caller.sid == unix_user_sid(os.geteuid())
    assert unix_group_sid(os.getegid()) in caller.groups


def test_a_user_without_an_account_has_the_group_of_its_process() -> None:
    caller = caller_of(NOBODY, 77)
    assert not caller.is_local_admin
    assert unix_group_sid(77) in caller.groups
    assert EVERYONE in caller_of_user(NOBODY).groups
    assert unix_group_sid(77) not in caller_of_user(NOBODY).groups
