"""The local-file directory: the operations behind the directory events."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from tests.directory.memory_file import MemoryFile, directory_of

from openmsmq.directory.certificates import add_certificate
from openmsmq.directory.document import parse_document
from openmsmq.directory.interface import (
    AttributeFilter,
    AttributeSortOrder,
    DirectoryOperationResult,
    FilterOperator,
)
from openmsmq.directory.local_directory import MAX_QUERIES, LocalDirectory
from openmsmq.directory.objects import (
    NULL_GUID,
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
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.sid import EVERYONE

RESULT = DirectoryOperationResult
ONE, TWO, THREE, FOUR = (UUID(int=number) for number in (1, 2, 3, 4))
MANAGER = QueueManagerObject(identifier=ONE, computer_name="QM1")
QUEUE = QueueObject(identifier=TWO, queue_manager=ONE, pathname="QM1\\orders", label="Orders")
UTC = 1_700_000_000.75
EQUALS = FilterOperator.EQUALS


def by_identifier(identifier: UUID) -> list[AttributeFilter]:
    return [AttributeFilter("identifier", EQUALS, identifier)]


def stored(file: MemoryFile, item: DirectoryObject) -> DirectoryObject:
    return parse_document(file.content, file.name).of(item)[item.identifier]


@pytest.mark.spec("MQDMPR-3.1.7.1.18-01", "MQDMPR-3.1.1-02")
@pytest.mark.parametrize(
    "item",
    [
        MANAGER,
        QUEUE,
        Enterprise(identifier=THREE, name="corp"),
        Site(identifier=THREE, name="north", foreign_site=True),
        RoutingLink(identifier=THREE, site1_identifier=ONE, site2_identifier=TWO, actual_cost=7),
        ConnectedNetwork(identifier=THREE, name="lan"),
        add_certificate(User(THREE, EVERYONE), b"certificate"),
    ],
    ids=lambda item: type(item).__name__,
)
def test_what_was_created_is_read_back_also_by_another_process(item: DirectoryObject) -> None:
    directory, file = directory_of()
    created = directory.create(item, utc=UTC)
    assert (created.status, created.object_guid) == (RESULT.SUCCESS, item.identifier)
    kind = ElementType(type(item).__name__.removesuffix("Object"))
    read = LocalDirectory(file.open()).read(kind, by_identifier(item.identifier))
    assert read.status is RESULT.SUCCESS
    found = read.directory_object
    assert found is not None
    for name in read.attributes - {"full_path", "directory_path", "create_time", "modify_time"}:
        assert getattr(found, name) == getattr(item, name)


@pytest.mark.spec("MQDMPR-3.1.7.1.18-01")
def test_only_listed_attributes_are_published() -> None:
    directory, _ = directory_of(MANAGER)
    directory.create(QUEUE, ("pathname", "queue_manager"), utc=UTC)
    found = directory.read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    assert (found.identifier, found.pathname, found.label) == (TWO, QUEUE.pathname, "")


@pytest.mark.spec("MQDMPR-3.1.1.1-07")
def test_the_directory_gives_the_distinguished_name() -> None:
    directory, _ = directory_of(Enterprise(identifier=THREE, name="corp"))
    directory.create(QueueManagerObject(ONE, "QM1", full_path="CN=mine"), utc=UTC)
    directory.create(QUEUE, utc=UTC)
    manager = directory.read(ElementType.QUEUE_MANAGER).directory_object
    assert isinstance(manager, QueueManagerObject)
    assert manager.full_path == "CN=msmq,CN=QM1,CN=Computers,O=corp"
    queue = directory.read(ElementType.QUEUE).directory_object
    assert isinstance(queue, QueueObject)
    assert queue.full_path == "CN=orders,CN=msmq,CN=QM1,CN=Computers,O=corp"
    assert queue.directory_path == f"LOCAL://{queue.full_path}"


@pytest.mark.spec("MQDMPR-3.1.1.1-04")
def test_times_are_whole_seconds_and_a_change_sets_only_the_second_one() -> None:
    directory, _ = directory_of()
    directory.create(MANAGER, utc=UTC)
    directory.write(QueueManagerObject(ONE, "QM1", clustered=True), utc=UTC + 60)
    found = directory.read(ElementType.QUEUE_MANAGER).directory_object
    assert isinstance(found, QueueManagerObject)
    assert (found.create_time, found.modify_time) == (1_700_000_000, 1_700_000_060)


@pytest.mark.parametrize(
    "second",
    [
        Site(identifier=ONE, name="elsewhere"),
        QueueManagerObject(identifier=THREE, computer_name="qm1"),
    ],
)
def test_what_exists_is_not_created_again(second: DirectoryObject) -> None:
    directory, file = directory_of(MANAGER)
    before = file.content
    created = directory.create(second, utc=UTC)
    assert (created.status, created.object_guid) == (RESULT.OBJECT_ALREADY_EXISTS, NULL_GUID)
    assert created.reason
    assert file.content == before


@pytest.mark.spec("MQDMPR-3.1.1.7-01")
def test_a_second_site_of_the_same_name_is_refused_also_by_renaming() -> None:
    directory, _ = directory_of(Site(identifier=ONE, name="north"), Site(TWO, "south"))
    assert directory.create(Site(THREE, "NORTH"), utc=UTC).status is RESULT.OBJECT_ALREADY_EXISTS
    assert directory.write(Site(TWO, "North"), utc=UTC).status is RESULT.OBJECT_ALREADY_EXISTS
    assert directory.write(Site(TWO, "South"), utc=UTC).status is RESULT.SUCCESS


@pytest.mark.spec("MQDMPR-3.1.1.8-01")
@pytest.mark.parametrize("cost", [0, 1_000_000])
def test_a_routing_link_with_an_impossible_cost_is_refused(cost: int) -> None:
    link = RoutingLink(THREE, actual_cost=cost, site1_identifier=ONE, site2_identifier=TWO)
    directory, file = directory_of()
    before = file.content
    created = directory.create(link, utc=UTC)
    assert created.status is RESULT.GENERIC_ERROR
    assert "actual_cost" in created.reason
    assert file.content == before


def test_a_deleted_object_is_gone() -> None:
    directory, _ = directory_of(MANAGER, QUEUE)
    assert directory.delete(QUEUE).status is RESULT.SUCCESS
    assert directory.read(ElementType.QUEUE).status is RESULT.OBJECT_NOT_FOUND
    assert directory.read(ElementType.QUEUE_MANAGER).status is RESULT.SUCCESS
    assert directory.delete(QUEUE).status is RESULT.OBJECT_NOT_FOUND


@pytest.mark.spec("MQDMPR-3.1.7.1.24-01")
def test_a_write_changes_all_attributes_or_those_listed() -> None:
    directory, _ = directory_of(MANAGER, QUEUE)
    change = QueueObject(TWO, ONE, "New", pathname="QM1\\orders", quota=5)
    assert directory.write(change, ("quota",), utc=UTC).status is RESULT.SUCCESS
    found = directory.read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    assert (found.label, found.quota) == ("Orders", 5)
    assert directory.write(change, utc=UTC).status is RESULT.SUCCESS
    found = directory.read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    assert found.label == "New"


def test_what_only_the_directory_sets_cannot_be_written() -> None:
    directory, _ = directory_of()
    directory.create(QUEUE, utc=UTC)
    change = QueueObject(TWO, ONE, pathname="QM1\\orders", full_path="CN=mine", create_time=1)
    directory.write(change, utc=UTC)
    found = directory.read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    assert found.full_path.startswith("CN=orders")
    assert found.create_time == int(UTC)


@pytest.mark.spec("MQDMPR-3.1.1-04")
def test_an_identifier_stays_when_everything_else_changes() -> None:
    directory, file = directory_of(MANAGER)
    renamed = QueueManagerObject(ONE, "NEW", "new.example")
    assert directory.write(renamed, utc=UTC).status is RESULT.SUCCESS
    found = stored(file, MANAGER)
    assert isinstance(found, QueueManagerObject)
    assert (found.identifier, found.computer_name) == (ONE, "NEW")
    assert directory.write(Site(FOUR, "x"), utc=UTC).status is RESULT.OBJECT_NOT_FOUND


def test_a_write_that_breaks_a_rule_changes_nothing() -> None:
    directory, file = directory_of(MANAGER, QUEUE)
    before = file.content
    written = directory.write(QueueObject(TWO, ONE, pathname=""), utc=UTC)
    assert written.status is RESULT.GENERIC_ERROR
    assert file.content == before


SITES = [
    Site(ONE, "b", "PSC1", 10),
    Site(TWO, "a", "PSC2", 20),
    Site(THREE, "c", "PSC1", 20),
]


@pytest.mark.spec("MQDMPR-3.1.7.1.20-01")
def test_the_first_object_that_satisfies_all_filters_is_read() -> None:
    directory, _ = directory_of(*SITES)
    both = [
        AttributeFilter("primary_site_controller", EQUALS, "PSC1"),
        AttributeFilter("intra_site_replication_interval", FilterOperator.GREATER_THAN, 10),
    ]
    found = directory.read(ElementType.SITE, both).directory_object
    assert found is not None
    assert found.identifier == THREE
    first = directory.read(ElementType.SITE, None).directory_object
    assert first is not None
    assert first.identifier == ONE
    assert directory.read(ElementType.SITE, both[:1]).directory_object == first
    nothing = [*both, AttributeFilter("name", EQUALS, "a")]
    assert directory.read(ElementType.SITE, nothing).status is RESULT.OBJECT_NOT_FOUND


@pytest.mark.spec("MQDMPR-3.1.7.1.20-03")
def test_only_listed_attributes_are_read() -> None:
    directory, _ = directory_of(*SITES)
    read = directory.read(ElementType.SITE, attributes=("name",))
    assert read.attributes == {"name"}
    assert isinstance(read.directory_object, Site)
    assert read.directory_object.name == "b"
    assert read.directory_object.primary_site_controller == ""
    assert read.directory_object.identifier == NULL_GUID
    assert directory.read(ElementType.SITE).directory_object == SITES[0]


def test_an_attribute_that_the_directory_does_not_hold_is_said_to_be_missing() -> None:
    directory, file = directory_of(Enterprise(identifier=ONE, name="corp"))
    name = "non_ldap_capable_queue_manager_notification"
    read = directory.read(ElementType.ENTERPRISE, attributes=(name,))
    assert read.status is RESULT.ATTRIBUTE_NOT_FOUND
    assert read.directory_object is None
    assert directory.read(ElementType.ENTERPRISE).status is RESULT.SUCCESS
    _, file = directory_of(Enterprise(ONE, non_ldap_capable_queue_manager_notification=False))
    read = LocalDirectory(file.open()).read(ElementType.ENTERPRISE, attributes=(name,))
    assert read.status is RESULT.SUCCESS


def test_changing_what_was_read_does_not_change_the_directory() -> None:
    directory, _ = directory_of(*SITES)
    found = directory.read(ElementType.SITE).directory_object
    assert isinstance(found, Site)
    found.name = "changed"
    assert directory.read(ElementType.SITE).directory_object == SITES[0]


def names(directory: LocalDirectory, handle: int) -> str:
    found = ""
    while True:
        read = directory.read_next(handle)
        if read.status is RESULT.END_OF_DATA:
            return found
        assert isinstance(read.directory_object, Site)
        found += read.directory_object.name


@pytest.mark.spec("MQDMPR-3.1.7.1.21-01", "MQDMPR-3.1.7.1.22-01")
def test_a_query_gives_all_matching_objects_one_by_one_until_the_end() -> None:
    directory, _ = directory_of(*SITES)
    everything = directory.read_begin(ElementType.SITE)
    some = directory.read_begin(
        ElementType.SITE, [AttributeFilter("primary_site_controller", EQUALS, "PSC1")]
    )
    assert everything.query_handle != some.query_handle
    assert names(directory, everything.query_handle) == "bac"
    assert names(directory, some.query_handle) == "bc"
    assert directory.read_next(some.query_handle).status is RESULT.END_OF_DATA
    assert directory.read_end(some.query_handle).status is RESULT.SUCCESS
    assert directory.read_next(some.query_handle).status is RESULT.GENERIC_ERROR
    assert directory.read_end(some.query_handle).status is RESULT.GENERIC_ERROR


@pytest.mark.spec("MQDMPR-3.1.7.1.21-02")
@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([(0, True), (0, True), (1, True)], "abc"),
        ([(0, True), (0, True), (1, False)], "cba"),
        ([(2, True), (0, True), (1, False)], "cba"),
        ([(2, True), (0, True), (1, True)], "bca"),
        ([(1, True), (2, False), (3, True)], "abc"),
        ([(1, False), (2, False), (0, True)], "acb"),
        ([(0, True), (0, True), (0, True)], "bac"),
    ],
)
def test_the_attribute_with_the_highest_priority_sorts_first(
    order: Sequence[tuple[int, bool]], expected: str
) -> None:
    directory, _ = directory_of(*SITES)
    attributes = ("primary_site_controller", "intra_site_replication_interval", "name")
    sort_order = [AttributeSortOrder(priority, ascending) for priority, ascending in order]
    begun = directory.read_begin(ElementType.SITE, None, attributes, sort_order)
    assert begun.status is RESULT.SUCCESS
    assert names(directory, begun.query_handle) == expected


def test_every_attribute_can_be_sorted_by() -> None:
    managers = [
        QueueManagerObject(ONE, "A", site_identifier_list=(TWO,)),
        QueueManagerObject(TWO, "B"),
    ]
    directory, _ = directory_of(*managers)
    for attribute in ("identifier", "site_identifier_list", "directory_server_type", "security"):
        begun = directory.read_begin(
            ElementType.QUEUE_MANAGER, None, (attribute,), [AttributeSortOrder(1)]
        )
        assert begun.status is RESULT.SUCCESS


@pytest.mark.parametrize(("ascending", "expected"), [(True, [ONE, TWO]), (False, [TWO, ONE])])
def test_no_value_comes_before_every_other(*, ascending: bool, expected: list[UUID]) -> None:
    queues = [
        QueueObject(identifier=ONE, pathname=r"QM1\a"),
        QueueObject(identifier=TWO, pathname=r"QM1\b", multicast_address="234.1.1.1:8001"),
    ]
    directory, _ = directory_of(*queues)
    order = [AttributeSortOrder(0), AttributeSortOrder(1, ascending)]
    begun = directory.read_begin(
        ElementType.QUEUE, None, ("identifier", "multicast_address"), order
    )
    found = [directory.read_next(begun.query_handle).directory_object for _ in queues]
    assert [queue and queue.identifier for queue in found] == expected


def test_a_query_shows_the_directory_as_it_was_when_it_began() -> None:
    directory, _ = directory_of(*SITES)
    begun = directory.read_begin(ElementType.SITE)
    directory.delete(SITES[2])
    directory.create(Site(FOUR, "d"), utc=UTC)
    assert names(directory, begun.query_handle) == "bac"


def test_a_sort_order_must_go_with_the_attributes() -> None:
    directory, _ = directory_of(*SITES)
    begun = directory.read_begin(ElementType.SITE, None, ("name",), [])
    assert begun.status is RESULT.GENERIC_ERROR


def test_queries_that_nobody_ends_are_limited() -> None:
    directory, _ = directory_of(*SITES)
    handles = [directory.read_begin(ElementType.SITE).query_handle for _ in range(MAX_QUERIES)]
    assert directory.read_begin(ElementType.SITE).status is RESULT.GENERIC_ERROR
    directory.read_end(handles[0])
    assert directory.read_begin(ElementType.SITE).status is RESULT.SUCCESS


def test_an_attribute_that_the_type_does_not_have_is_refused() -> None:
    directory, _ = directory_of(*SITES)
    wrong = [AttributeFilter("pathname", EQUALS, "x")]
    for status in (
        directory.read(ElementType.SITE, wrong).status,
        directory.read(ElementType.SITE, attributes=("pathname",)).status,
        directory.read_begin(ElementType.SITE, wrong).status,
        directory.create(Site(FOUR, "d"), ("pathname",), utc=UTC).status,
        directory.write(SITES[0], ("pathname",), utc=UTC).status,
    ):
        assert status is RESULT.GENERIC_ERROR


def test_a_file_that_is_not_there_means_that_the_directory_is_not_connected() -> None:
    directory, file = directory_of(MANAGER)
    assert directory.read(ElementType.QUEUE_MANAGER).status is RESULT.SUCCESS
    file.online = False
    for status in (
        directory.read(ElementType.QUEUE_MANAGER).status,
        directory.read_begin(ElementType.QUEUE_MANAGER).status,
        directory.create(QUEUE, utc=UTC).status,
        directory.write(MANAGER, utc=UTC).status,
        directory.delete(MANAGER).status,
    ):
        assert status is RESULT.DIRECTORY_NOT_CONNECTED
    with pytest.raises(OSError, match="No such file"):
        directory.check()
    file.online = True
    assert directory.read(ElementType.QUEUE_MANAGER).status is RESULT.SUCCESS


def test_a_change_that_cannot_be_written_is_not_made() -> None:
    directory, file = directory_of(MANAGER)
    file.full = True
    assert directory.create(QUEUE, utc=UTC).status is RESULT.DIRECTORY_NOT_CONNECTED
    file.full = False
    assert directory.read(ElementType.QUEUE).status is RESULT.OBJECT_NOT_FOUND
    assert not file.locked


def test_processes_see_the_changes_of_each_other_and_lose_none() -> None:
    first, file = directory_of()
    second = LocalDirectory(file.open())
    first.create(Site(ONE, "north"), utc=UTC)
    second.create(Site(TWO, "south"), utc=UTC)
    first.create(Site(THREE, "west"), utc=UTC)
    handle = second.read_begin(ElementType.SITE).query_handle
    assert names(second, handle) == "northsouthwest"


def test_a_file_that_has_not_changed_is_not_parsed_again() -> None:
    directory, file = directory_of(MANAGER)
    for _ in range(3):
        directory.read(ElementType.QUEUE_MANAGER)
    assert file.reads == 1


def test_a_damaged_file_is_an_error_until_it_is_repaired() -> None:
    directory, file = directory_of(MANAGER)
    directory.check()
    good = file.content
    file.content = b"{}"
    with pytest.raises(ConfigError, match=r"directory.json: format"):
        directory.check()
    for _ in range(2):
        read = directory.read(ElementType.QUEUE_MANAGER)
        assert read.status is RESULT.GENERIC_ERROR
        assert "directory.json: format" in read.reason
    assert directory.delete(MANAGER).status is RESULT.GENERIC_ERROR
    assert file.content == b"{}"
    file.content = good
    assert directory.read(ElementType.QUEUE_MANAGER).status is RESULT.SUCCESS
