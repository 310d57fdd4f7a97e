"""[MS-MQDMPR] 3.1.7.1.3.1."""

import pytest

from openmsmq.security.access_check import MACHINE_MAPPING, QUEUE_MAPPING, missing_rights
from openmsmq.security.caller import ANONYMOUS_CALLER, sender_caller, unix_caller, unix_user_sid
from openmsmq.security.default_descriptor import (
    default_machine_descriptor,
    default_queue_descriptor,
)
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.security.security_descriptor import (
    Ace,
    AceType,
    Acl,
    SecurityDescriptor,
    SecurityDescriptorControl,
)
from openmsmq.wire.security.sid import ANONYMOUS, EVERYONE, LOCAL_SYSTEM, SID

ALICE = unix_user_sid(1000)
GUEST = SID.from_text("S-1-5-21-1-2-3-501")
MACHINE = SID.from_text("S-1-5-21-1-2-3-1105")
LOOK = QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS
SEND_AND_LOOK = QueueRight.WRITE_MESSAGE | LOOK
FULL = QueueRight.QUEUE_GENERIC_ALL


def entries(descriptor: SecurityDescriptor) -> list[tuple[SID, int]]:
    assert descriptor.dacl is not None
    found = []
    for ace in descriptor.dacl.aces:
        assert isinstance(ace, Ace)
        assert ace.ace_type is AceType.ACCESS_ALLOWED
        found.append((ace.sid, ace.mask))
    return found


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-03", "MQDMPR-3.1.7.1.3.1-06", "MQDMPR-3.1.7.1.3.1-08")
def test_a_new_queue_belongs_to_its_creator_and_all_may_send() -> None:
    descriptor = default_queue_descriptor(ALICE)
    assert descriptor.owner == ALICE
    assert entries(descriptor) == [
        (EVERYONE, SEND_AND_LOOK),
        (ANONYMOUS, SEND_AND_LOOK),
        (ALICE, FULL),
    ]


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-07", "MQDMPR-3.1.7.1.3.1-09")
def test_a_known_machine_may_look_and_stands_before_the_owner() -> None:
    descriptor = default_queue_descriptor(ALICE, machine_sid=MACHINE)
    assert [sid for sid, _ in entries(descriptor)] == [EVERYONE, ANONYMOUS, MACHINE, ALICE]
    assert dict(entries(descriptor))[MACHINE] == LOOK


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-04")
@pytest.mark.parametrize("creator", [LOCAL_SYSTEM, EVERYONE, ANONYMOUS])
def test_an_owner_that_is_no_domain_user_becomes_anonymous(creator: SID) -> None:
    assert default_queue_descriptor(creator).owner == ANONYMOUS


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-05")
@pytest.mark.parametrize("creator", [LOCAL_SYSTEM, GUEST])
def test_the_queue_of_a_guest_or_an_unknown_user_is_open_to_everyone(creator: SID) -> None:
    found = entries(default_queue_descriptor(creator))
    assert found == [(EVERYONE, FULL), (ANONYMOUS, SEND_AND_LOOK)]


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-02")
def test_owner_and_lists_that_the_creator_asks_for_are_taken_over() -> None:
    dacl = Acl((Ace(AceType.ACCESS_DENIED, 4, EVERYONE),))
    sacl = Acl((Ace(AceType.SYSTEM_AUDIT, 1, EVERYONE),))
    group = SID.from_text("S-1-22-2-100")
    supplied = SecurityDescriptor(owner=unix_user_sid(7), group=group, dacl=dacl, sacl=sacl)
    descriptor = default_queue_descriptor(ALICE, supplied=supplied, machine_sid=MACHINE)
    assert descriptor.owner == unix_user_sid(7)
    assert descriptor.group == group
    assert descriptor.dacl == dacl
    assert descriptor.sacl == sacl


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-02")
def test_an_owner_alone_gets_the_default_list() -> None:
    descriptor = default_queue_descriptor(
        ALICE, supplied=SecurityDescriptor(owner=unix_user_sid(7))
    )
    assert entries(descriptor)[-1] == (unix_user_sid(7), FULL)


def test_a_null_list_that_is_asked_for_stays_null() -> None:
    supplied = SecurityDescriptor(control=SecurityDescriptorControl.DP)
    assert default_queue_descriptor(ALICE, supplied=supplied).dacl is None


def test_senders_may_send_to_a_new_queue_and_only_the_owner_may_read_it() -> None:
    descriptor = default_queue_descriptor(ALICE)
    alice = unix_caller(1000, [], service_uid=990)
    bob = unix_caller(1001, [], service_uid=990)
    for caller in (ANONYMOUS_CALLER, bob, sender_caller(MACHINE)):
        assert not missing_rights(descriptor, caller, SEND_AND_LOOK, QUEUE_MAPPING)
        assert missing_rights(descriptor, caller, QueueRight.PEEK_MESSAGE, QUEUE_MAPPING)
    assert not missing_rights(descriptor, alice, FULL, QUEUE_MAPPING)


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-10")
def test_the_descriptor_is_stored_in_self_relative_form() -> None:
    raw = default_queue_descriptor(ALICE).serialize()
    control = int.from_bytes(raw[2:4], "little")
    assert control & SecurityDescriptorControl.SR
    descriptor, size = SecurityDescriptor.parse(memoryview(raw))
    assert size == len(raw)
    assert descriptor.owner == ALICE


def test_users_may_create_queues_and_administrators_do_everything_else() -> None:
    descriptor = default_machine_descriptor(unix_user_sid(990))
    alice = unix_caller(1000, [], service_uid=990)
    service = unix_caller(990, [], service_uid=990)
    assert not missing_rights(descriptor, alice, MachineRight.CREATE_QUEUE, MACHINE_MAPPING)
    for right in (
        MachineRight.PEEK_DEADLETTER_MESSAGE,
        MachineRight.SET_MACHINE_PROPERTIES,
        MachineRight.CHANGE_MACHINE_PERMISSIONS,
    ):
        assert missing_rights(descriptor, alice, right, MACHINE_MAPPING) == right
    everything = MachineRight.MACHINE_GENERIC_ALL
    assert not missing_rights(descriptor, service, everything, MACHINE_MAPPING)
    create = MachineRight.CREATE_QUEUE
    assert missing_rights(descriptor, ANONYMOUS_CALLER, create, MACHINE_MAPPING) == create
    world = MachineRight.MACHINE_WORLD_RIGHTS
    assert not missing_rights(descriptor, ANONYMOUS_CALLER, world, MACHINE_MAPPING)
