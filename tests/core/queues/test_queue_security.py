"""The security of new queues ([MS-MQDMPR] 3.1.7.1.3.1) and its changes."""

import pytest
from tests.core.directory_harness import Machine, reader, shared_file
from tests.core.harness import ADMINISTRATOR, STRANGER, USER

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.permissions import change_manager_permissions, change_queue_permissions
from openmsmq.core.queues.queue_security import machine_sid
from openmsmq.security.access_check import GENERIC_ALL, parse_descriptor
from openmsmq.security.caller import ANONYMOUS_CALLER, SYSTEM_CALLER, Caller, unix_caller
from openmsmq.security.default_descriptor import allow, default_queue_descriptor
from openmsmq.security.permissions import PermissionChange
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.security.security_descriptor import (
    Ace,
    AceType,
    Acl,
    SecurityDescriptor,
    SecurityDescriptorControl,
)
from openmsmq.wire.security.sid import ANONYMOUS, EVERYONE, SID

SERVICE = unix_caller(990, [], service_uid=990)
RECEIVE = QueueRight.RECEIVE_MESSAGE
ORDERS = r".\private$\orders"


def entries(queue: Queue) -> dict[SID, int]:
    dacl = parse_descriptor(queue.properties.security).dacl
    assert dacl is not None
    return {ace.sid: ace.mask for ace in dacl.aces if isinstance(ace, Ace)}


def may_open(machine: Machine, caller: Caller, access: QueueAccessType, name: str = ORDERS) -> bool:
    try:
        descriptor = machine.qm.open_queue(name, access, caller=caller)
    except AccessDenied:
        return False
    machine.qm.close_queue(descriptor)
    return True


@pytest.mark.spec("MQDMPR-3.1.7.1.33-02", "MQDMPR-3.1.7.1.3.1-03", "MQDMPR-3.1.7.1.3.1-10")
def test_a_new_queue_gets_the_default_descriptor_of_its_creator() -> None:
    machine = Machine(None).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    assert queue.properties.security == default_queue_descriptor(USER.sid).serialize()
    control = int.from_bytes(queue.properties.security[2:4], "little")
    assert control & SecurityDescriptorControl.SR


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-01", "MQDMPR-3.1.7.1.3.1-07")
def test_the_machine_is_found_in_the_directory_and_may_look() -> None:
    machine = Machine(shared_file(), own=SERVICE).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    look = QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS
    assert entries(queue)[SERVICE.sid] == look


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-01", "MQDMPR-3.1.7.1.3.1-07")
def test_a_machine_that_cannot_be_looked_up_gets_no_entry() -> None:
    workgroup = Machine(None, own=SERVICE).provision()
    assert SERVICE.sid not in entries(workgroup.qm.create_queue(ORDERS, caller=USER).value)
    machine = Machine(shared_file(), own=SERVICE).provision()
    assert machine_sid(machine.state, "NOBODY") is None
    machine.state.manager.security = b""
    assert machine.file is not None
    reader(machine.file).write(machine.state.manager, utc=0)
    assert SERVICE.sid not in entries(machine.qm.create_queue(ORDERS, caller=USER).value)


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-02")
def test_what_the_creator_asks_for_is_taken_over_in_the_terms_of_a_queue() -> None:
    machine = Machine(None).provision()
    asked = SecurityDescriptor(owner=STRANGER.sid, dacl=Acl((allow(EVERYONE, GENERIC_ALL),)))
    queue = machine.qm.create_queue(ORDERS, caller=USER, security=asked.serialize()).value
    assert parse_descriptor(queue.properties.security).owner == STRANGER.sid
    assert entries(queue) == {EVERYONE: QueueRight.QUEUE_GENERIC_ALL}


@pytest.mark.parametrize(
    "security",
    [
        b"\x01\x00",
        SecurityDescriptor(dacl=Acl((Ace(AceType.ACCESS_ALLOWED, 0x40, EVERYONE),))).serialize(),
    ],
)
def test_what_is_no_descriptor_of_a_queue_is_refused(security: bytes) -> None:
    machine = Machine(None).provision()
    with pytest.raises(QueueError) as caught:
        machine.qm.create_queue(ORDERS, caller=USER, security=security)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    with pytest.raises(QueueError) as caught:
        machine.qm.set_queue(queue, caller=USER, security=security)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR


@pytest.mark.spec("MQDMPR-3.1.7.1.3.1-04", "MQDMPR-3.1.7.1.3.1-05")
def test_a_queue_of_nobody_in_particular_is_open_to_everyone() -> None:
    machine = Machine(None).provision()
    queue = machine.qm.create_queue(ORDERS, caller=SYSTEM_CALLER).value
    assert parse_descriptor(queue.properties.security).owner == ANONYMOUS
    assert entries(queue)[EVERYONE] == QueueRight.QUEUE_GENERIC_ALL


def test_a_grant_lets_in_and_a_revocation_shuts_out() -> None:
    machine = Machine(None).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    assert not may_open(machine, STRANGER, QueueAccessType.RECEIVE)
    for change, expected in (
        (PermissionChange.GRANT, True),
        (PermissionChange.DENY, False),
        (PermissionChange.GRANT, True),
        (PermissionChange.REVOKE, False),
    ):
        change_queue_permissions(machine.state, queue, change, STRANGER.sid, RECEIVE, caller=USER)
        assert may_open(machine, STRANGER, QueueAccessType.RECEIVE) is expected
        assert may_open(machine, STRANGER, QueueAccessType.SEND)
    assert queue.properties.security == default_queue_descriptor(USER.sid).serialize()


def test_permissions_survive_a_restart() -> None:
    machine = Machine(None).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    change_queue_permissions(
        machine.state, queue, PermissionChange.GRANT, STRANGER.sid, RECEIVE, caller=USER
    )
    machine.restart()
    assert may_open(machine, STRANGER, QueueAccessType.RECEIVE)


def test_only_who_may_changes_permissions_and_administrators_always_may() -> None:
    machine = Machine(None).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    for caller in (STRANGER, unix_caller(1002, [], service_uid=500)):
        with pytest.raises(QueueError) as caught:
            change_queue_permissions(
                machine.state, queue, PermissionChange.GRANT, caller.sid, RECEIVE, caller=caller
            )
        assert caught.value.code == Hresult.MQ_ERROR_ACCESS_DENIED
    assert not may_open(machine, ADMINISTRATOR, QueueAccessType.RECEIVE)
    change_queue_permissions(
        machine.state,
        queue,
        PermissionChange.GRANT,
        ADMINISTRATOR.sid,
        RECEIVE,
        caller=ADMINISTRATOR,
    )
    assert may_open(machine, ADMINISTRATOR, QueueAccessType.RECEIVE)


def test_an_owner_can_shut_itself_out_and_let_itself_in_again() -> None:
    machine = Machine(None).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    change_queue_permissions(
        machine.state, queue, PermissionChange.REVOKE, USER.sid, RECEIVE, caller=USER
    )
    assert not may_open(machine, USER, QueueAccessType.PEEK)
    change_queue_permissions(
        machine.state, queue, PermissionChange.GRANT, USER.sid, RECEIVE, caller=USER
    )
    assert may_open(machine, USER, QueueAccessType.PEEK)


def test_permissions_of_the_queue_manager_can_be_changed() -> None:
    machine = Machine(None, own=SERVICE).provision()
    deadletter = r".\system$;deadletter"
    assert not may_open(machine, USER, QueueAccessType.PEEK, deadletter)
    right = MachineRight.PEEK_DEADLETTER_MESSAGE
    with pytest.raises(QueueError):
        change_manager_permissions(
            machine.state, PermissionChange.GRANT, USER.sid, right, caller=USER
        )
    change_manager_permissions(
        machine.state, PermissionChange.GRANT, USER.sid, right, caller=ADMINISTRATOR
    )
    assert may_open(machine, USER, QueueAccessType.PEEK, deadletter)
    machine.restart()
    assert may_open(machine, USER, QueueAccessType.PEEK, deadletter)


def test_a_queue_manager_without_a_descriptor_is_not_closed_by_a_grant() -> None:
    machine = Machine(None).provision()
    machine.state.manager.security = b""
    with pytest.raises(QueueError) as caught:
        change_manager_permissions(
            machine.state, PermissionChange.GRANT, USER.sid, 0x4, caller=ADMINISTRATOR
        )
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR


def test_only_users_that_are_known_create_queues() -> None:
    machine = Machine(None, own=SERVICE).provision()
    with pytest.raises(QueueError) as caught:
        machine.qm.create_queue(ORDERS, caller=ANONYMOUS_CALLER)
    assert caught.value.code == Hresult.MQ_ERROR_ACCESS_DENIED
