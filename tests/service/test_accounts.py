"""Accounts of the machine, and who they make a caller."""

import os

from openmsmq.security.caller import unix_group_sid, unix_user_sid
from openmsmq.service.accounts import UnixAccounts, caller_of, caller_of_user
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
