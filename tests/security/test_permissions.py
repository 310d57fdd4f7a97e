"""Grant, deny, revoke, describe."""

import pytest
from tests.security.accounts import FakeAccounts

from openmsmq.security.access_check import GENERIC_READ, QUEUE_MAPPING, access_check
from openmsmq.security.caller import unix_caller, unix_group_sid, unix_user_sid
from openmsmq.security.default_descriptor import default_queue_descriptor
from openmsmq.security.permissions import (
    Permission,
    conform,
    deny,
    describe,
    grant,
    revoke,
)
from openmsmq.security.rights import describe_queue_rights
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.security.security_descriptor import (
    Ace,
    AceFlags,
    AceType,
    Acl,
    RawAce,
    SecurityDescriptor,
)
from openmsmq.wire.security.sid import EVERYONE

ALICE = unix_caller(1000, [100], service_uid=990)
BOB = unix_caller(1001, [100], service_uid=990)
STAFF = unix_group_sid(100)
RECEIVE = QueueRight.RECEIVE_MESSAGE
PEEK = QueueRight.PEEK_MESSAGE
WRITE = QueueRight.WRITE_MESSAGE
QUEUE = default_queue_descriptor(ALICE.sid)


def may(descriptor: SecurityDescriptor, right: int) -> bool:
    return access_check(descriptor, BOB, right, QUEUE_MAPPING)


def test_a_grant_allows_and_a_revocation_takes_it_back() -> None:
    granted = grant(QUEUE, BOB.sid, RECEIVE)
    assert not may(QUEUE, RECEIVE)
    assert may(granted, RECEIVE)
    assert revoke(granted, BOB.sid, RECEIVE) == QUEUE


def test_grants_to_one_principal_share_an_entry() -> None:
    granted = grant(grant(QUEUE, BOB.sid, PEEK), BOB.sid, QueueRight.DELETE_MESSAGE)
    assert granted == grant(QUEUE, BOB.sid, RECEIVE)


def test_a_part_of_the_rights_can_be_revoked() -> None:
    granted = revoke(grant(QUEUE, BOB.sid, RECEIVE), BOB.sid, QueueRight.DELETE_MESSAGE)
    assert may(granted, PEEK)
    assert not may(granted, RECEIVE)


def test_a_denial_wins_over_what_a_group_is_allowed() -> None:
    denied = deny(grant(QUEUE, STAFF, RECEIVE), BOB.sid, RECEIVE)
    assert not may(denied, PEEK)
    assert may(denied, WRITE)
    assert may(revoke(denied, BOB.sid, RECEIVE), RECEIVE)


def test_denials_stand_before_grants() -> None:
    changed = grant(deny(QUEUE, BOB.sid, WRITE), STAFF, PEEK)
    assert changed.dacl is not None
    kinds = [ace.ace_type for ace in changed.dacl.aces]
    assert kinds == sorted(kinds, reverse=True)
    assert kinds[0] == AceType.ACCESS_DENIED


def test_a_grant_ends_a_denial_of_the_same_rights() -> None:
    assert grant(deny(QUEUE, BOB.sid, RECEIVE), BOB.sid, RECEIVE) == grant(QUEUE, BOB.sid, RECEIVE)
    assert deny(grant(QUEUE, BOB.sid, RECEIVE), BOB.sid, RECEIVE) == deny(QUEUE, BOB.sid, RECEIVE)


def test_revoking_from_everyone_shuts_senders_out() -> None:
    closed = revoke(QUEUE, EVERYONE, QueueRight.QUEUE_GENERIC_ALL)
    assert not may(closed, WRITE)
    assert access_check(closed, ALICE, WRITE, QUEUE_MAPPING)


def test_entries_of_others_and_of_other_kinds_stay() -> None:
    raw = RawAce(b"\x11\x00\x08\x00\x04\x00\x00\x00")
    inherited = Ace(AceType.ACCESS_ALLOWED, int(WRITE), BOB.sid, AceFlags.INHERIT_ONLY_ACE)
    start = SecurityDescriptor(owner=ALICE.sid, dacl=Acl((raw, inherited)))
    assert revoke(start, BOB.sid, WRITE) == start
    changed = grant(start, BOB.sid, PEEK)
    assert changed.dacl is not None
    assert changed.dacl.aces[:2] == (raw, inherited)


def test_an_unprotected_object_is_not_closed_by_a_grant() -> None:
    with pytest.raises(QueueError) as caught:
        grant(SecurityDescriptor(), BOB.sid, RECEIVE)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR


@pytest.mark.spec("MQDMPR-3.1.1.2-13")
def test_generic_rights_of_a_descriptor_from_outside_become_rights_of_a_queue() -> None:
    outside = SecurityDescriptor(
        dacl=Acl((Ace(AceType.ACCESS_ALLOWED, GENERIC_READ, BOB.sid),)),
        sacl=Acl((Ace(AceType.SYSTEM_AUDIT, GENERIC_READ, BOB.sid),)),
    )
    inside = conform(outside, QUEUE_MAPPING)
    for acl in (inside.dacl, inside.sacl):
        assert acl is not None
        (ace,) = acl.aces
        assert isinstance(ace, Ace)
        assert ace.mask == QueueRight.QUEUE_GENERIC_READ


@pytest.mark.spec("MQDMPR-3.1.1.2-13")
@pytest.mark.parametrize("mask", [0x00000040, 0x00100000, 0x01000000])
def test_rights_that_a_queue_does_not_have_are_refused(mask: int) -> None:
    aces = (Ace(AceType.ACCESS_ALLOWED, mask, BOB.sid),)
    for outside in (SecurityDescriptor(dacl=Acl(aces)), SecurityDescriptor(sacl=Acl(aces))):
        with pytest.raises(QueueError, match=f"0x{mask:08X}") as caught:
            conform(outside, QUEUE_MAPPING)
        assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR


def test_unknown_entries_and_missing_lists_conform() -> None:
    raw = RawAce(b"\x11\x00\x08\x00\x04\x00\x00\x00")
    for outside in (SecurityDescriptor(), SecurityDescriptor(dacl=Acl((raw,)))):
        assert conform(outside, QUEUE_MAPPING) == outside


def test_a_descriptor_is_described_in_words() -> None:
    changed = deny(grant(QUEUE, STAFF, RECEIVE), unix_user_sid(7), WRITE)
    assert describe(changed, FakeAccounts(), describe_queue_rights) == [
        Permission("uid:7", "S-1-22-1-7", False, ("send",)),
        Permission("everyone", "S-1-1-0", True, ("send", "get-properties", "get-permissions")),
        Permission("anonymous", "S-1-5-7", True, ("send", "get-properties", "get-permissions")),
        Permission("user:alice", "S-1-22-1-1000", True, ("full",)),
        Permission("group:staff", "S-1-22-2-100", True, ("receive",)),
    ]
    assert describe(SecurityDescriptor(), FakeAccounts(), describe_queue_rights) == []
