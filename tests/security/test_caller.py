"""Who asks, as SIDs."""

import pytest

from openmsmq.security.caller import (
    ANONYMOUS_CALLER,
    SYSTEM_CALLER,
    UNIX_GROUP,
    UNIX_USER,
    is_domain_user,
    is_guest,
    sender_caller,
    unix_caller,
    unix_group_sid,
    unix_id,
    unix_user_sid,
)
from openmsmq.wire.security.sid import (
    ANONYMOUS,
    AUTHENTICATED_USERS,
    BUILTIN_ADMINISTRATORS,
    EVERYONE,
    LOCAL_SYSTEM,
    SID,
)

ALICE = SID.from_text("S-1-5-21-1-2-3-1000")


def test_unix_users_and_groups_have_the_sids_of_samba() -> None:
    assert str(unix_user_sid(1000)) == "S-1-22-1-1000"
    assert str(unix_group_sid(100)) == "S-1-22-2-100"


def test_a_unix_caller_has_its_groups_and_is_known_to_the_machine() -> None:
    caller = unix_caller(1000, [100, 27], service_uid=990)
    assert caller.sid == unix_user_sid(1000)
    for sid in (unix_group_sid(100), unix_group_sid(27), EVERYONE, AUTHENTICATED_USERS):
        assert caller.has(sid)
    assert caller.has(caller.sid)
    assert not caller.has(unix_group_sid(1000))
    assert not caller.has(BUILTIN_ADMINISTRATORS)
    assert not caller.is_local_admin


@pytest.mark.parametrize("uid", [0, 990])
def test_root_and_the_user_of_the_service_are_administrators(uid: int) -> None:
    caller = unix_caller(uid, [], service_uid=990)
    assert caller.is_local_admin
    assert caller.has(BUILTIN_ADMINISTRATORS)
    assert not caller.is_system


def test_a_remote_sender_is_nothing_more_than_it_says() -> None:
    caller = sender_caller(ALICE)
    assert caller.sid == ALICE
    assert caller.groups == {EVERYONE, AUTHENTICATED_USERS}


@pytest.mark.parametrize("sid", [None, ANONYMOUS])
def test_a_sender_without_a_name_is_anonymous_and_not_authenticated(sid: SID | None) -> None:
    caller = sender_caller(sid)
    assert caller is ANONYMOUS_CALLER
    assert caller.has(EVERYONE)
    assert not caller.has(AUTHENTICATED_USERS)


def test_a_queue_manager_as_sender_is_everyone() -> None:
    caller = sender_caller(EVERYONE)
    assert caller.sid == EVERYONE
    assert not caller.has(AUTHENTICATED_USERS)


@pytest.mark.parametrize("sid", [LOCAL_SYSTEM, BUILTIN_ADMINISTRATORS, unix_user_sid(0)])
def test_a_claim_in_a_message_makes_nobody_an_administrator(sid: SID) -> None:
    caller = sender_caller(sid)
    assert not caller.is_local_admin
    assert not caller.is_system
    assert SYSTEM_CALLER.is_system


@pytest.mark.parametrize("text", ["S-1-22-1-1000", "S-1-5-21-1-2-3-1000", "S-1-5-21-1-2-3-501"])
def test_unix_users_count_as_domain_users(text: str) -> None:
    assert is_domain_user(SID.from_text(text))


@pytest.mark.parametrize(
    "text",
    ["S-1-22-2-1000", "S-1-5-7", "S-1-5-18", "S-1-1-0", "S-1-5-32-544", "S-1-5-21-1-2-1000"],
)
def test_groups_and_well_known_accounts_are_no_domain_users(text: str) -> None:
    assert not is_domain_user(SID.from_text(text))


def test_the_guest_of_a_domain_is_known_by_its_number() -> None:
    assert is_guest(SID.from_text("S-1-5-21-1-2-3-501"))
    assert not is_guest(ALICE)
    assert not is_guest(unix_user_sid(501))


def test_unix_ids_are_read_back_from_sids() -> None:
    assert unix_id(unix_user_sid(7)) == (UNIX_USER, 7)
    assert unix_id(unix_group_sid(8)) == (UNIX_GROUP, 8)
    assert unix_id(ALICE) is None
    assert unix_id(SID(22, (3, 1))) is None
    assert unix_id(SID(22, (1,))) is None
