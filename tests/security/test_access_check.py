"""The access check of Windows ([MS-DTYP] 2.5.3.2)."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.security.access_check import (
    GENERIC_ALL,
    GENERIC_EXECUTE,
    GENERIC_READ,
    GENERIC_WRITE,
    MACHINE_MAPPING,
    QUEUE_MAPPING,
    GenericMapping,
    access_check,
    missing_rights,
    parse_descriptor,
)
from openmsmq.security.caller import (
    ANONYMOUS_CALLER,
    SYSTEM_CALLER,
    Caller,
    unix_caller,
    unix_group_sid,
    unix_user_sid,
)
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.security_descriptor import (
    Ace,
    AceFlags,
    AceType,
    Acl,
    RawAce,
    SecurityDescriptor,
)
from openmsmq.wire.security.sid import EVERYONE, OWNER_RIGHTS, SID

ALICE = unix_caller(1000, [100], service_uid=990)
BOB = unix_caller(1001, [100], service_uid=990)
ROOT = unix_caller(0, [0], service_uid=990)
STAFF = unix_group_sid(100)
RECEIVE = QueueRight.RECEIVE_MESSAGE
PEEK = QueueRight.PEEK_MESSAGE
WRITE = QueueRight.WRITE_MESSAGE


def allow(sid: SID, mask: int, flags: int = 0) -> Ace:
    return Ace(AceType.ACCESS_ALLOWED, int(mask), sid, flags)


def refuse(sid: SID, mask: int, flags: int = 0) -> Ace:
    return Ace(AceType.ACCESS_DENIED, int(mask), sid, flags)


def descriptor(*aces: Ace | RawAce, owner: SID | None = None) -> SecurityDescriptor:
    return SecurityDescriptor(owner=owner, dacl=Acl(aces))


def missing(protected: SecurityDescriptor, caller: Caller, desired: int) -> int:
    return missing_rights(protected, caller, desired, QUEUE_MAPPING)


def test_an_entry_for_the_user_or_one_of_its_groups_grants() -> None:
    protected = descriptor(allow(ALICE.sid, PEEK), allow(STAFF, WRITE))
    assert not missing(protected, ALICE, PEEK | WRITE)
    assert missing(protected, BOB, PEEK | WRITE) == PEEK
    assert missing(protected, ANONYMOUS_CALLER, PEEK | WRITE) == PEEK | WRITE


def test_all_desired_rights_are_needed() -> None:
    protected = descriptor(allow(EVERYONE, QueueRight.DELETE_MESSAGE))
    assert not access_check(protected, ALICE, RECEIVE, QUEUE_MAPPING)
    assert access_check(protected, ALICE, QueueRight.DELETE_MESSAGE, QUEUE_MAPPING)


def test_the_first_entry_that_names_a_right_decides() -> None:
    denied_first = descriptor(refuse(ALICE.sid, PEEK), allow(STAFF, PEEK | WRITE))
    allowed_first = descriptor(allow(STAFF, PEEK | WRITE), refuse(ALICE.sid, PEEK))
    assert missing(denied_first, ALICE, PEEK | WRITE) == PEEK
    assert not missing(denied_first, BOB, PEEK | WRITE)
    assert not missing(allowed_first, ALICE, PEEK | WRITE)


def test_an_empty_list_lets_nobody_in_and_no_list_everybody() -> None:
    assert missing(descriptor(), ALICE, WRITE) == WRITE
    assert not missing(SecurityDescriptor(), ANONYMOUS_CALLER, QueueRight.QUEUE_GENERIC_ALL)


def test_the_owner_can_always_read_and_change_the_permissions() -> None:
    own = QueueRight.GET_QUEUE_PERMISSIONS | QueueRight.CHANGE_QUEUE_PERMISSIONS
    protected = descriptor(refuse(ALICE.sid, own), owner=ALICE.sid)
    assert not missing(protected, ALICE, own)
    assert missing(protected, BOB, own) == own
    assert missing(protected, ALICE, WRITE) == WRITE


def test_entries_for_the_rights_of_the_owner_replace_what_it_always_has() -> None:
    protected = descriptor(allow(OWNER_RIGHTS, WRITE), owner=ALICE.sid)
    assert not missing(protected, ALICE, WRITE)
    change = QueueRight.CHANGE_QUEUE_PERMISSIONS
    assert missing(protected, ALICE, change) == change
    assert missing(protected, BOB, WRITE) == WRITE


def test_an_administrator_can_repair_a_queue_but_not_read_it() -> None:
    repair = (
        QueueRight.DELETE_QUEUE
        | QueueRight.GET_QUEUE_PERMISSIONS
        | QueueRight.CHANGE_QUEUE_PERMISSIONS
        | QueueRight.TAKE_QUEUE_OWNERSHIP
    )
    protected = descriptor(refuse(EVERYONE, QueueRight.QUEUE_GENERIC_ALL), owner=ALICE.sid)
    assert not missing(protected, ROOT, repair)
    assert missing(protected, ROOT, RECEIVE | repair) == RECEIVE
    assert missing(protected, BOB, repair) == repair


def test_the_queue_manager_itself_is_not_checked() -> None:
    protected = descriptor(refuse(EVERYONE, QueueRight.QUEUE_GENERIC_ALL))
    assert not missing(protected, SYSTEM_CALLER, QueueRight.QUEUE_GENERIC_ALL)


@pytest.mark.parametrize(
    ("generic", "mapping", "expected"),
    [
        (GENERIC_READ, QUEUE_MAPPING, QueueRight.QUEUE_GENERIC_READ),
        (GENERIC_WRITE, QUEUE_MAPPING, QueueRight.QUEUE_GENERIC_WRITE),
        (GENERIC_ALL, QUEUE_MAPPING, QueueRight.QUEUE_GENERIC_ALL),
        (GENERIC_EXECUTE, QUEUE_MAPPING, 0),
        (GENERIC_READ | PEEK, QUEUE_MAPPING, QueueRight.QUEUE_GENERIC_READ),
        (GENERIC_READ, MACHINE_MAPPING, MachineRight.MACHINE_GENERIC_READ),
        (GENERIC_WRITE, MACHINE_MAPPING, MachineRight.MACHINE_GENERIC_WRITE),
        (GENERIC_ALL, MACHINE_MAPPING, MachineRight.MACHINE_GENERIC_ALL),
    ],
)
def test_generic_rights_are_those_of_the_kind_of_object(
    generic: int, mapping: GenericMapping, expected: int
) -> None:
    assert mapping.map(generic) == expected


def test_generic_rights_work_in_entries_and_in_requests() -> None:
    protected = descriptor(allow(ALICE.sid, GENERIC_ALL))
    assert not missing(protected, ALICE, GENERIC_READ | WRITE)
    read_only = descriptor(allow(ALICE.sid, GENERIC_READ))
    assert missing(read_only, ALICE, GENERIC_WRITE) == WRITE


@pytest.mark.parametrize(
    "ace",
    [
        allow(EVERYONE, WRITE, AceFlags.INHERIT_ONLY_ACE),
        Ace(AceType.SYSTEM_AUDIT, int(WRITE), EVERYONE),
        Ace(AceType.ACCESS_ALLOWED_OBJECT, int(WRITE), EVERYONE, object_type=UUID(int=1)),
        RawAce(b"\x11\x00\x08\x00\x04\x00\x00\x00"),
    ],
)
def test_entries_that_do_not_speak_of_the_object_are_passed_over(ace: Ace | RawAce) -> None:
    assert missing(descriptor(ace), ALICE, WRITE) == WRITE
    assert not missing(descriptor(ace, allow(EVERYONE, WRITE)), ALICE, WRITE)


def test_an_object_entry_without_a_type_speaks_of_the_whole_object() -> None:
    whole = Ace(AceType.ACCESS_DENIED_OBJECT, int(WRITE), EVERYONE)
    assert missing(descriptor(whole, allow(EVERYONE, WRITE)), ALICE, WRITE) == WRITE


def test_a_descriptor_in_bytes_is_parsed() -> None:
    protected = descriptor(allow(EVERYONE, WRITE), owner=ALICE.sid)
    assert parse_descriptor(protected.serialize()).dacl == protected.dacl
    with pytest.raises(MalformedPacket):
        parse_descriptor(b"\x01\x00")


SIDS = st.sampled_from([ALICE.sid, BOB.sid, STAFF, EVERYONE])
MASKS = st.integers(0, int(QueueRight.QUEUE_GENERIC_ALL))


@given(
    st.lists(st.builds(Ace, st.sampled_from(list(AceType)[:2]), MASKS, SIDS), max_size=6),
    MASKS,
)
def test_every_right_is_decided_on_its_own(aces: list[Ace], desired: int) -> None:
    protected = descriptor(*aces)
    expected = 0
    for bit in (1 << number for number in range(32)):
        if desired & bit:
            named = [ace for ace in aces if ALICE.has(ace.sid) and ace.mask & bit]
            if not named or named[0].ace_type is AceType.ACCESS_DENIED:
                expected |= bit
    assert missing(protected, ALICE, desired) == expected


def test_uids_and_gids_with_the_same_number_are_not_mixed_up() -> None:
    protected = descriptor(allow(unix_user_sid(100), WRITE))
    assert missing(protected, ALICE, WRITE) == WRITE
