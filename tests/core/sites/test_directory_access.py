"""Who may change the directory, and in whose name."""

from dataclasses import replace
from uuid import UUID

import pytest
from tests.core.directory_harness import ENTERPRISE, QM1, QM2, Machine, reader
from tests.directory.memory_file import directory_of

from openmsmq.core.sites.directory_access import by_identifier
from openmsmq.core.sites.directory_events import (
    create_directory_object,
    delete_directory_object,
    write_directory,
)
from openmsmq.directory.interface import DirectoryOperationResult
from openmsmq.directory.objects import (
    ConnectedNetwork,
    DirectoryObject,
    ElementType,
    Enterprise,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
    User,
)
from openmsmq.security.caller import Caller, unix_caller
from openmsmq.security.default_descriptor import (
    allow,
    default_machine_descriptor,
    default_queue_descriptor,
)
from openmsmq.wire.codes.access_rights import EnterpriseRight, QueueRight, SiteRight
from openmsmq.wire.security.security_descriptor import Acl, SecurityDescriptor
from openmsmq.wire.security.sid import SID

RESULT = DirectoryOperationResult
ALICE = unix_caller(1000, [], service_uid=990)
BOB = unix_caller(1001, [], service_uid=990)
SERVICE = unix_caller(990, [], service_uid=990)


def grants(sid: SID, mask: int) -> bytes:
    return SecurityDescriptor(owner=sid, dacl=Acl((allow(sid, mask),))).serialize()


OTHER = QueueManagerObject(QM2, "QM2", security=default_machine_descriptor(ALICE.sid).serialize())
QUEUE = QueueObject(
    UUID(int=0x71), QM2, pathname=r"QM2\a", security=default_queue_descriptor(ALICE.sid).serialize()
)


def start(*items: DirectoryObject, weakened: bool = False) -> Machine:
    enterprise = replace(ENTERPRISE, weakened_security=weakened)
    file = directory_of(enterprise, *items)[1]
    return Machine(file, own=SERVICE).provision()


def may_write(machine: Machine, caller: Caller | None, *attributes: str) -> bool:
    changed = replace(QUEUE, label="changed")
    status = write_directory(machine.state, changed, attributes or None, caller=caller).status
    assert status in (RESULT.SUCCESS, RESULT.GENERIC_ERROR)
    return status is RESULT.SUCCESS


def test_a_queue_of_another_machine_is_changed_only_by_who_may() -> None:
    machine = start(OTHER, QUEUE)
    assert not may_write(machine, BOB)
    assert not may_write(machine, None)
    assert may_write(machine, ALICE)
    assert machine.file is not None
    found = reader(machine.file).read(ElementType.QUEUE, by_identifier(QUEUE.identifier))
    assert isinstance(found.directory_object, QueueObject)
    assert found.directory_object.label == "changed"


def test_properties_and_permissions_are_different_rights() -> None:
    for right, properties, security in (
        (QueueRight.SET_QUEUE_PROPERTIES, True, False),
        (QueueRight.CHANGE_QUEUE_PERMISSIONS, False, True),
    ):
        own = SecurityDescriptor(owner=ALICE.sid, dacl=Acl((allow(BOB.sid, right),)))
        machine = start(OTHER, replace(QUEUE, security=own.serialize()))
        assert may_write(machine, BOB, "label") is properties
        assert may_write(machine, BOB, "label", "security") is False
        assert may_write(machine, BOB) is False
        assert may_write(machine, BOB, "security") is security


def test_a_queue_of_another_machine_is_deleted_only_by_who_may() -> None:
    machine = start(OTHER, QUEUE)
    denied = delete_directory_object(machine.state, QUEUE, caller=BOB)
    assert denied.status is RESULT.GENERIC_ERROR
    assert "denied" in denied.reason
    assert delete_directory_object(machine.state, QUEUE, caller=ALICE).status is RESULT.SUCCESS


@pytest.mark.spec("MQDMPR-3.1.1.6-02")
def test_with_weakened_security_the_queue_manager_asks_in_its_own_name() -> None:
    own = replace(QUEUE, security=default_queue_descriptor(SERVICE.sid).serialize())
    strict = start(OTHER, own)
    assert not may_write(strict, BOB)
    weakened = start(OTHER, own, weakened=True)
    assert may_write(weakened, BOB)
    # And only in its own name: what the caller alone may do is refused.
    assert not may_write(start(OTHER, QUEUE, weakened=True), ALICE)


def test_a_queue_manager_is_changed_and_deleted_only_by_who_may() -> None:
    machine = start(OTHER)
    changed = replace(OTHER, clustered=True)
    assert write_directory(machine.state, changed, caller=BOB).status is RESULT.GENERIC_ERROR
    assert write_directory(machine.state, changed, caller=ALICE).status is RESULT.SUCCESS
    assert delete_directory_object(machine.state, OTHER, caller=BOB).status is RESULT.GENERIC_ERROR
    assert delete_directory_object(machine.state, OTHER, caller=ALICE).status is RESULT.SUCCESS


def test_the_host_decides_who_creates_public_queues_on_it() -> None:
    closed = replace(OTHER, security=grants(ALICE.sid, 0x4))
    machine = start(closed)
    denied = create_directory_object(machine.state, QUEUE, caller=BOB)
    assert denied.status is RESULT.GENERIC_ERROR
    assert create_directory_object(machine.state, QUEUE, caller=ALICE).status is RESULT.SUCCESS


@pytest.mark.parametrize(
    ("item", "right"),
    [
        (Site(UUID(int=1), "north"), EnterpriseRight.CREATE_SITE),
        (ConnectedNetwork(UUID(int=1), "lan"), EnterpriseRight.CREATE_CN),
        (User(UUID(int=1), ALICE.sid), EnterpriseRight.CREATE_USER),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_enterprise_decides_who_creates_sites_networks_and_users(
    item: DirectoryObject, right: EnterpriseRight
) -> None:
    machine = start()
    assert machine.file is not None
    for mask, expected in ((~right & 0x7, RESULT.GENERIC_ERROR), (right, RESULT.SUCCESS)):
        enterprise = Enterprise(ENTERPRISE.identifier, "corp", security=grants(ALICE.sid, mask))
        reader(machine.file).write(enterprise, utc=0)
        assert create_directory_object(machine.state, item, caller=ALICE).status is expected


def test_the_site_decides_which_queue_managers_join_it() -> None:
    site = Site(UUID(int=1), "north", security=grants(ALICE.sid, SiteRight.CREATE_MACHINE))
    machine = start(site)
    joining = replace(OTHER, site_identifier_list=(site.identifier,))
    status = create_directory_object(machine.state, joining, caller=BOB).status
    assert status is RESULT.GENERIC_ERROR
    assert create_directory_object(machine.state, joining, caller=ALICE).status is RESULT.SUCCESS


def test_objects_without_a_descriptor_are_open() -> None:
    link = RoutingLink(UUID(int=1), site1_identifier=QM1, site2_identifier=QM2)
    machine = start(replace(OTHER, security=b""))
    for item in (link, replace(QUEUE, security=b"")):
        assert create_directory_object(machine.state, item, caller=BOB).status is RESULT.SUCCESS
        assert write_directory(machine.state, item, caller=BOB).status is RESULT.SUCCESS
        assert delete_directory_object(machine.state, item, caller=BOB).status is RESULT.SUCCESS
