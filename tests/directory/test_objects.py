"""The elements of the directory and their defaults ([MS-MQDMPR] 3.1.1)."""

from uuid import UUID

import pytest

from openmsmq.directory.objects import (
    NULL_GUID,
    OBJECT_CLASSES,
    DirectoryServerType,
    ElementType,
    Enterprise,
    OperatingSystemType,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
    attribute_names,
    copy_attributes,
)
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel


@pytest.mark.spec("MQDMPR-3.1.1.1-05", "MQDMPR-3.1.1.1-06")
def test_quotas_of_a_new_queue_manager() -> None:
    manager = QueueManagerObject()
    assert manager.queue_manager_quota == 0x00100000
    assert manager.journal_quota == 0xFFFFFFFF


@pytest.mark.spec("MQDMPR-3.1.1.1-07", "MQDMPR-3.1.1.1-08")
def test_lists_of_a_new_queue_manager_are_empty() -> None:
    manager = QueueManagerObject()
    assert manager.site_identifier_list == ()
    assert manager.out_routing_server_identifier_list == ()
    assert manager.in_routing_server_identifier_list == ()
    assert manager.connected_network_identifier_list == ()
    assert manager.full_path == ""


@pytest.mark.spec("MQDMPR-3.1.1.1-09", "MQDMPR-3.1.1.1-10")
def test_a_new_queue_manager_has_no_role() -> None:
    manager = QueueManagerObject()
    assert not manager.foreign_system
    assert not manager.remote_access_server
    assert not manager.supporting_server
    assert (manager.directory_server, manager.routing_server, manager.clustered) == (False,) * 3


@pytest.mark.spec("MQDMPR-3.1.1.1-02")
def test_the_version_of_a_queue_manager_is_empty_by_default() -> None:
    assert QueueManagerObject().queue_manager_version == ""


@pytest.mark.spec("MQDMPR-3.1.1.1-03")
def test_the_types_of_operating_systems_are_those_of_the_specification() -> None:
    names = ["Foreign", "Win95", "WinClient", "WinServer", "WinEnt", "Other"]
    assert [str(kind) for kind in OperatingSystemType] == names
    assert {"operating_system_type", "operating_system_version"} <= attribute_names(
        ElementType.QUEUE_MANAGER
    )


@pytest.mark.spec("MQDMPR-3.1.1.1-11")
def test_a_queue_manager_that_serves_no_directory_has_no_type_of_it() -> None:
    assert QueueManagerObject().directory_server_type is None
    assert [str(kind) for kind in DirectoryServerType] == [
        "Standalone",
        "BackupSiteController",
        "PrimarySiteController",
        "PrimaryEnterpriseController",
    ]


@pytest.mark.spec("MQDMPR-3.1.7.1.33-01", "MQDMPR-3.1.7.1.33-03")
def test_defaults_of_a_queue() -> None:
    queue = QueueObject()
    assert queue.label == ""
    assert queue.type == NULL_GUID
    assert (queue.journaling, queue.authentication, queue.transactional) == (False,) * 3
    assert queue.multicast_address is None
    assert queue.base_priority == 0
    assert queue.quota == queue.journal_quota == 0xFFFFFFFF
    assert queue.privacy_level is QueuePrivacyLevel.OPTIONAL


@pytest.mark.spec("MQDMPR-3.1.1.2-01", "MQDMPR-3.1.1.2-14")
def test_the_directory_attributes_of_a_queue() -> None:
    published = {
        "label", "create_time", "modify_time", "type", "pathname", "qualified_pathname",
        "private_queue_number", "journaling", "quota", "journal_quota", "authentication",
        "privacy_level", "transactional", "multicast_address", "security", "base_priority",
        "full_path", "directory_path",
    }  # fmt: skip
    # Beside them the identifier and the host; Scope is not published.
    names = attribute_names(ElementType.QUEUE)
    assert names == published | {"identifier", "queue_manager"}


@pytest.mark.spec("MQDMPR-3.1.1.6-01", "MQDMPR-3.1.1.7-02")
def test_the_directory_attributes_of_enterprise_and_site() -> None:
    assert attribute_names(ElementType.ENTERPRISE) == {
        "identifier", "name", "weakened_security", "non_ldap_capable_queue_manager_notification",
        "default_time_to_live", "old_directory", "security",
    }  # fmt: skip
    assert attribute_names(ElementType.SITE) == {
        "identifier", "name", "primary_site_controller", "intra_site_replication_interval",
        "inter_site_replication_interval", "full_path", "foreign_site", "public_signing_key_list",
        "migrated_from_msmq10", "security",
    }  # fmt: skip
    # Four days, as for a message without a time of its own.
    assert Enterprise().default_time_to_live == 345_600
    assert Site().foreign_site is False


def test_a_new_routing_link_costs_as_little_as_can_be() -> None:
    assert RoutingLink().actual_cost == 1


@pytest.mark.spec("MQDMPR-3.1.1-04")
@pytest.mark.parametrize("kind", list(ElementType))
def test_taking_over_attributes_leaves_the_identifier(kind: ElementType) -> None:
    source, target = OBJECT_CLASSES[kind](), OBJECT_CLASSES[kind]()
    source.identifier, target.identifier = UUID(int=1), UUID(int=2)
    copy_attributes(source, target, attribute_names(kind))
    assert target.identifier == UUID(int=2)
