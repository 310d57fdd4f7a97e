"""The directory events ([MS-MQDMPR] 3.1.7.1.18-24)."""

from dataclasses import replace
from uuid import UUID

import pytest
from tests.core.directory_harness import ENTERPRISE, QM1, QM2, Machine, reader, shared_file
from tests.core.harness import USER
from tests.directory.memory_file import directory_of

from openmsmq.core.sites.directory_access import by_identifier
from openmsmq.core.sites.directory_events import (
    ChangeNotification,
    create_directory_object,
    delete_directory_object,
    read_directory,
    read_directory_begin,
    read_directory_end,
    read_directory_next,
    write_directory,
)
from openmsmq.core.state import DirectoryTimer
from openmsmq.directory.interface import (
    AttributeFilter,
    AttributeSortOrder,
    DirectoryOperationResult,
    FilterOperator,
)
from openmsmq.directory.objects import (
    NULL_GUID,
    ElementType,
    QueueManagerObject,
    QueueObject,
    Site,
)

RESULT = DirectoryOperationResult
EQUALS = FilterOperator.EQUALS
NEW = QueueObject(UUID(int=0x71), QM1, "New", pathname=r"QM1\new")


def notifications(machine: Machine) -> list[tuple[str, UUID]]:
    return [
        (str(event.operation), event.directory_object.identifier)
        for event in machine.qm.take_events()
        if isinstance(event, ChangeNotification)
    ]


def machine_online() -> Machine:
    machine = Machine(shared_file()).provision()
    machine.qm.take_events()
    return machine


def offline(machine: Machine) -> bool:
    """Whether the queue manager is offline and looks for its directory a minute later."""
    timer = machine.state.directory_timers.get(DirectoryTimer.ONLINE)
    assert (timer is not None) is machine.state.local.directory_offline
    return timer == machine.now + 60


@pytest.mark.spec("MQDMPR-3.1.7.1.18-01", "MQDMPR-3.1.1-02")
def test_an_object_is_created_with_all_attributes_or_those_listed() -> None:
    machine = machine_online()
    created = create_directory_object(machine.state, NEW)
    assert (created.status, created.object_guid) == (RESULT.SUCCESS, NEW.identifier)
    assert machine.file is not None
    found = reader(machine.file).read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    assert found.label == "New"
    site = Site(UUID(int=0x72), "north", "PSC")
    create_directory_object(machine.state, site, ("name",))
    north = reader(machine.file).read(ElementType.SITE).directory_object
    assert isinstance(north, Site)
    assert (north.name, north.primary_site_controller) == ("north", "")


@pytest.mark.spec("MQDMPR-3.1.7.1.18-02")
def test_the_creation_of_a_public_queue_is_told_before_the_directory_is_asked() -> None:
    machine = machine_online()
    create_directory_object(machine.state, NEW)
    assert notifications(machine) == [("QueueCreation", NEW.identifier)]
    # It was told before: also when the directory then refuses.
    again = create_directory_object(machine.state, NEW)
    assert again.status is RESULT.OBJECT_ALREADY_EXISTS
    assert notifications(machine) == [("QueueCreation", NEW.identifier)]
    create_directory_object(machine.state, Site(UUID(int=0x72), "north"))
    assert notifications(machine) == []


@pytest.mark.spec("MQDMPR-3.1.7.1.18-03")
def test_a_creation_without_the_directory_makes_the_queue_manager_offline() -> None:
    machine = machine_online()
    assert machine.file is not None
    machine.file.online = False
    created = create_directory_object(machine.state, NEW)
    assert (created.status, created.object_guid) == (RESULT.DIRECTORY_NOT_CONNECTED, NULL_GUID)
    assert offline(machine)


@pytest.mark.spec("MQDMPR-3.1.7.1.18-03")
def test_a_refusal_of_the_directory_passes_through() -> None:
    machine = machine_online()
    created = create_directory_object(machine.state, replace(NEW, pathname=""))
    assert created.status is RESULT.GENERIC_ERROR
    assert not machine.state.local.directory_offline
    assert not offline(machine)


def test_the_timer_that_looks_for_the_directory_is_not_put_off() -> None:
    machine = machine_online()
    assert machine.file is not None
    machine.file.online = False
    create_directory_object(machine.state, NEW)
    machine.qm.set_time(now=machine.now + 30, utc=machine.utc)
    delete_directory_object(machine.state, NEW)
    assert offline(machine)


@pytest.mark.spec("MQDMPR-3.1.7.1.18-04")
def test_an_old_host_of_the_queue_does_not_change_how_the_directory_is_asked() -> None:
    old = QueueManagerObject(QM2, "OLD", operating_system_version="5.0")
    machine = Machine(shared_file(old)).provision()
    machine.qm.take_events()
    queue = replace(NEW, queue_manager=QM2, pathname=r"OLD\new")
    assert create_directory_object(machine.state, queue).status is RESULT.SUCCESS
    assert notifications(machine) == [("QueueCreation", queue.identifier)]


@pytest.mark.spec("MQDMPR-3.1.7.1.19-01")
def test_the_deletion_of_a_public_queue_is_told_before_the_directory_is_asked() -> None:
    machine = machine_online()
    create_directory_object(machine.state, NEW)
    notifications(machine)
    assert delete_directory_object(machine.state, NEW).status is RESULT.SUCCESS
    assert notifications(machine) == [("QueueDeletion", NEW.identifier)]
    assert delete_directory_object(machine.state, NEW).status is RESULT.OBJECT_NOT_FOUND
    assert notifications(machine) == [("QueueDeletion", NEW.identifier)]
    assert not machine.state.local.directory_offline


@pytest.mark.spec("MQDMPR-3.1.7.1.19-02")
def test_a_deletion_without_the_directory_makes_the_queue_manager_offline() -> None:
    machine = machine_online()
    assert machine.file is not None
    machine.file.online = False
    assert delete_directory_object(machine.state, NEW).status is RESULT.DIRECTORY_NOT_CONNECTED
    assert offline(machine)


@pytest.mark.spec("MQDMPR-3.1.7.1.24-01", "MQDMPR-3.1.7.1.24-03")
def test_a_write_changes_the_directory_and_is_told_afterwards() -> None:
    machine = machine_online()
    create_directory_object(machine.state, NEW)
    notifications(machine)
    change = replace(NEW, label="Changed", quota=3)
    assert write_directory(machine.state, change, ("quota",)).status is RESULT.SUCCESS
    assert machine.file is not None
    found = reader(machine.file).read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    assert (found.label, found.quota) == ("New", 3)
    assert notifications(machine) == [("QueueUpdate", NEW.identifier)]
    assert write_directory(machine.state, machine.state.manager).status is RESULT.SUCCESS
    assert notifications(machine) == [("QueueManagerUpdate", QM1)]
    site = Site(UUID(int=0x72), "north")
    create_directory_object(machine.state, site)
    assert write_directory(machine.state, site).status is RESULT.SUCCESS
    assert notifications(machine) == []


@pytest.mark.spec("MQDMPR-3.1.7.1.24-03")
def test_a_write_that_failed_is_not_told() -> None:
    machine = machine_online()
    assert write_directory(machine.state, NEW).status is RESULT.OBJECT_NOT_FOUND
    assert machine.file is not None
    machine.file.online = False
    write_directory(machine.state, machine.state.manager)
    assert notifications(machine) == []


@pytest.mark.spec("MQDMPR-3.1.7.1.24-02")
def test_a_write_without_the_directory_makes_the_queue_manager_offline() -> None:
    machine = machine_online()
    assert machine.file is not None
    machine.file.online = False
    status = write_directory(machine.state, machine.state.manager).status
    assert status is RESULT.DIRECTORY_NOT_CONNECTED
    assert offline(machine)


@pytest.mark.spec("MQDMPR-3.1.1.6-03")
@pytest.mark.parametrize("told", [True, False])
def test_the_enterprise_decides_whether_changes_are_told(*, told: bool) -> None:
    enterprise = replace(ENTERPRISE, non_ldap_capable_queue_manager_notification=told)
    machine = Machine(directory_of(enterprise)[1]).provision()
    machine.qm.take_events()
    create_directory_object(machine.state, NEW)
    write_directory(machine.state, NEW)
    write_directory(machine.state, machine.state.manager)
    delete_directory_object(machine.state, NEW)
    assert len(notifications(machine)) == (4 if told else 0)


@pytest.mark.spec("MQDMPR-3.1.7.1.20-01", "MQDMPR-3.1.7.1.20-03")
def test_online_reads_are_answered_by_the_directory() -> None:
    machine = machine_online()
    create_directory_object(machine.state, NEW)
    named = [AttributeFilter("pathname", EQUALS, r"qm1\NEW")]
    read = read_directory(machine.state, ElementType.QUEUE, named, ("identifier",))
    assert read.status is RESULT.SUCCESS
    assert isinstance(read.directory_object, QueueObject)
    assert read.directory_object.identifier == NEW.identifier
    assert read.directory_object.label == ""
    first = read_directory(machine.state, ElementType.QUEUE, None)
    assert isinstance(first.directory_object, QueueObject)
    assert first.directory_object.label == "New"
    other = [*named, AttributeFilter("label", EQUALS, "Old")]
    missing = read_directory(machine.state, ElementType.QUEUE, other)
    assert missing.status is RESULT.OBJECT_NOT_FOUND
    assert not machine.state.local.directory_offline


@pytest.mark.spec("MQDMPR-3.1.7.1.20-07")
def test_a_read_without_the_directory_makes_the_queue_manager_offline() -> None:
    machine = machine_online()
    assert machine.file is not None
    machine.file.online = False
    read = read_directory(machine.state, ElementType.SITE)
    assert read.status is RESULT.DIRECTORY_NOT_CONNECTED
    assert offline(machine)


def machine_offline() -> Machine:
    machine = machine_online()
    for path in (r".\private$\a", r".\b"):
        machine.qm.create_queue(path, caller=USER)
    assert machine.file is not None
    machine.file.online = False
    read_directory(machine.state, ElementType.SITE)
    return machine


@pytest.mark.spec("MQDMPR-3.1.7.1.20-04")
def test_offline_the_queues_of_this_machine_are_known() -> None:
    machine = machine_offline()
    queue = machine.qm.find_queue(r".\b").properties
    read = read_directory(machine.state, ElementType.QUEUE, by_identifier(queue.identifier))
    assert (read.status, read.directory_object) == (RESULT.SUCCESS, queue)
    other = read_directory(machine.state, ElementType.QUEUE, by_identifier(UUID(int=9)))
    assert other.status is RESULT.OBJECT_NOT_FOUND


@pytest.mark.spec("MQDMPR-3.1.7.1.20-04")
def test_offline_the_first_queue_that_matches_is_the_answer() -> None:
    machine = machine_offline()
    for path in (r".\private$\one", r".\private$\two", r".\private$\three"):
        machine.qm.create_queue(path, label="alike", caller=USER)
    alike = (AttributeFilter("label", EQUALS, "alike"),)
    read = read_directory(machine.state, ElementType.QUEUE, alike)
    first = machine.qm.find_queue(r".\private$\one").properties
    assert (read.status, read.directory_object) == (RESULT.SUCCESS, first)


@pytest.mark.spec("MQDMPR-3.1.7.1.20-05")
def test_offline_only_this_queue_manager_is_known() -> None:
    machine = machine_offline()
    read = read_directory(machine.state, ElementType.QUEUE_MANAGER, by_identifier(QM1))
    assert (read.status, read.directory_object) == (RESULT.SUCCESS, machine.state.manager)
    for kind, identifier in (
        (ElementType.QUEUE_MANAGER, QM2),
        (ElementType.ENTERPRISE, ENTERPRISE.identifier),
        (ElementType.SITE, QM1),
        (ElementType.USER, QM1),
    ):
        other = read_directory(machine.state, kind, by_identifier(identifier))
        assert other.status is RESULT.DIRECTORY_NOT_CONNECTED


def test_offline_stays_offline_until_somebody_looks() -> None:
    machine = machine_offline()
    assert machine.file is not None
    machine.file.online = True
    read = read_directory(machine.state, ElementType.ENTERPRISE)
    assert read.status is RESULT.DIRECTORY_NOT_CONNECTED


@pytest.mark.spec("MQDMPR-3.1.7.1.20-06")
def test_a_forced_read_asks_the_directory_and_changes_nothing_else() -> None:
    machine = machine_offline()
    timers = dict(machine.state.directory_timers)
    forced = read_directory(machine.state, ElementType.QUEUE, force=True)
    assert forced.status is RESULT.DIRECTORY_NOT_CONNECTED
    assert machine.file is not None
    machine.file.online = True
    forced = read_directory(machine.state, ElementType.ENTERPRISE, force=True)
    assert forced.status is RESULT.SUCCESS
    assert machine.state.local.directory_offline
    assert machine.state.directory_timers == timers
    # Online a failing forced read is not the end of being online.
    other = machine_online()
    assert other.file is not None
    other.file.online = False
    read_directory(other.state, ElementType.ENTERPRISE, force=True)
    assert not other.state.local.directory_offline
    assert DirectoryTimer.ONLINE not in other.state.directory_timers


@pytest.mark.spec("MQDMPR-3.1.7.1.21-01", "MQDMPR-3.1.7.1.21-02", "MQDMPR-3.1.7.1.22-01")
def test_a_query_gives_what_matches_in_order_until_the_end() -> None:
    machine = machine_online()
    for number, name in enumerate("bac", start=0x72):
        create_directory_object(machine.state, Site(UUID(int=number), name))
    begun = read_directory_begin(
        machine.state,
        ElementType.SITE,
        [AttributeFilter("name", FilterOperator.NOT_EQUALS, "a")],
        ("name",),
        [AttributeSortOrder(1, sort_ascending=False)],
    )
    assert begun.status is RESULT.SUCCESS
    names = []
    while (read := read_directory_next(machine.state, begun.query_handle)).directory_object:
        assert isinstance(read.directory_object, Site)
        names.append(read.directory_object.name)
    assert names == ["c", "b"]
    assert read.status is RESULT.END_OF_DATA
    assert read_directory_end(machine.state, begun.query_handle).status is RESULT.SUCCESS
    assert read_directory_end(machine.state, begun.query_handle).status is RESULT.GENERIC_ERROR


@pytest.mark.spec("MQDMPR-3.1.1.1-16")
def test_in_workgroup_mode_there_is_no_directory_and_nothing_goes_offline() -> None:
    machine = Machine(None).provision()
    state = machine.state
    for status in (
        create_directory_object(state, NEW).status,
        delete_directory_object(state, NEW).status,
        read_directory(state, ElementType.QUEUE).status,
        read_directory(state, ElementType.QUEUE, force=True).status,
        read_directory_begin(state, ElementType.QUEUE).status,
        read_directory_next(state, 1).status,
        read_directory_end(state, 1).status,
        write_directory(state, NEW).status,
    ):
        assert status is RESULT.DIRECTORY_NOT_CONNECTED
    assert not state.local.directory_offline
    assert state.directory_timers == {}
    assert notifications(machine) == []
