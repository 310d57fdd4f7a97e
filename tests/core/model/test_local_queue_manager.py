"""LocalQueueManager: attributes, defaults and what survives ([MS-MQDMPR] 3.1.1.1)."""

import json
from dataclasses import fields
from uuid import UUID

import pytest
from tests.core.directory_harness import Machine, shared_file

from openmsmq.core.model.local_queue_manager import (
    LocalQueueManager,
    QueueManagerState,
    store_local,
)
from openmsmq.core.sites.site_collection import SiteReference
from openmsmq.directory.objects import (
    ConnectedNetwork,
    DirectoryServerType,
    InternalCertificate,
    OperatingSystemType,
    QueueManagerObject,
    Site,
)
from openmsmq.wire.errors import StoreError
from openmsmq.wire.security.sid import SID

PERSISTENT = {
    "published",
    "last_domain",
    "directory_server_list",
    "directory_integrated",
    "srmp_http_support",
    "srmp_pgm_support",
    "hardened_security",
    "initialization_retry_timer_duration",
}
RECOMPUTED = {"queue_manager_state", "enterprise_reference"}
ALICE, BOB = SID(22, (1, 1000)), SID(22, (1, 1001))


def local() -> LocalQueueManager:
    return LocalQueueManager(QueueManagerObject(UUID(int=1), "QM1"), directory_integrated=False)


@pytest.mark.spec("MQDMPR-3.1.1-01", "MQDMPR-3.1.1-02")
def test_directory_and_persistent_attributes_survive() -> None:
    before = LocalQueueManager(
        QueueManagerObject(
            identifier=UUID(int=1),
            computer_name="QM1",
            qualified_computer_name="qm1.example",
            queue_manager_version="1",
            operating_system_version="6.1",
            operating_system_type=OperatingSystemType.OTHER,
            create_time=2,
            modify_time=3,
            queue_manager_quota=4,
            journal_quota=5,
            foreign_system=True,
            full_path="CN=QM1",
            site_identifier_list=(UUID(int=6),),
            connected_network_identifier_list=(UUID(int=7),),
            out_routing_server_identifier_list=(UUID(int=8),),
            in_routing_server_identifier_list=(UUID(int=9),),
            directory_server=True,
            remote_access_server=True,
            routing_server=True,
            supporting_server=True,
            directory_server_type=DirectoryServerType.STANDALONE,
            public_encryption_key_list=b"a",
            public_signing_key_list=b"b",
            security=b"c",
            clustered=True,
        ),
        directory_integrated=True,
    )
    default = QueueManagerObject()
    for item in fields(default):
        assert getattr(before.published, item.name) != getattr(default, item.name), item.name
    before.last_domain = UUID(int=10)
    before.directory_server_list = ("DC1", "DC2")
    before.srmp_http_support = True
    before.srmp_pgm_support = True
    before.hardened_security = True
    before.initialization_retry_timer_duration = 11
    after = LocalQueueManager.restore(before.serialize())
    assert after.published == before.published
    for name in (
        "last_domain",
        "directory_server_list",
        "directory_integrated",
        "srmp_http_support",
        "srmp_pgm_support",
        "hardened_security",
        "initialization_retry_timer_duration",
    ):
        assert getattr(after, name) == getattr(before, name), name


@pytest.mark.spec("MQDMPR-3.1.1.1-17", "MQDMPR-3.1.1.1-18")
def test_everything_else_starts_anew() -> None:
    before = local()
    before.throttled = True
    before.connection_active = False
    before.directory_offline = True
    before.machine_domain_id = UUID(int=2)
    before.queue_manager_state = QueueManagerState.READY
    before.set_internal_certificate(ALICE, b"x")
    after = LocalQueueManager.restore(before.serialize())
    assert not after.throttled
    assert after.connection_active
    assert not after.directory_offline
    assert after.machine_domain_id is None
    assert after.queue_manager_state is QueueManagerState.STOPPED
    assert after.internal_certificate_collection == {}


@pytest.mark.spec("MQDMPR-3.1.1.1-14", "MQDMPR-3.1.1.1-15")
def test_mode_servers_and_srmp_support_survive_a_restart() -> None:
    machine = Machine(shared_file()).provision()
    assert machine.state.local.directory_server_list == ()
    machine.state.local.directory_server_list = ("DC1",)
    machine.state.local.srmp_http_support = True
    store_local(machine.state)
    machine.restart()
    state = machine.state.local
    assert state.directory_integrated
    assert list(state.directory_server_list) == ["DC1"]
    assert (state.srmp_http_support, state.srmp_pgm_support) == (True, False)


def test_a_workgroup_stays_one() -> None:
    machine = Machine(None).provision()
    machine.file = shared_file()
    machine.restart()
    assert not machine.state.local.directory_integrated


def test_a_workgroup_joins_a_directory_when_it_is_told_to() -> None:
    machine = Machine(None).provision()
    assert not machine.qm.directory_integrated
    machine.qm.join_directory()
    assert machine.qm.directory_integrated


@pytest.mark.spec("MQDMPR-3.1.1.1-27")
def test_a_user_has_one_internal_certificate() -> None:
    manager = local()
    for user, certificate in ((ALICE, b"old"), (BOB, b"bob"), (ALICE, b"new")):
        manager.set_internal_certificate(user, certificate)
    collection = manager.internal_certificate_collection
    assert collection == {
        ALICE: InternalCertificate(ALICE, b"new"),
        BOB: InternalCertificate(BOB, b"bob"),
    }
    manager.set_internal_certificate(ALICE, None)
    manager.set_internal_certificate(ALICE, None)
    assert list(collection) == [BOB]


@pytest.mark.spec("MQDMPR-3.1.1-03")
def test_volatile_attributes_hold_their_first_value_after_a_restart() -> None:
    machine = Machine(shared_file()).provision()
    fresh = LocalQueueManager(machine.state.local.published, directory_integrated=True)
    stale = machine.state.local
    stale.throttled = True
    stale.connection_active = False
    stale.directory_offline = True
    stale.machine_domain_id = UUID(int=0xBAD)
    stale.queue_manager_state = QueueManagerState.STOPPING
    stale.set_internal_certificate(ALICE, b"x")
    wrong = QueueManagerObject(UUID(int=0xBAD))
    stale.site_collection[UUID(int=0xBAD)] = SiteReference(Site(UUID(int=0xBAD), "wrong"))
    stale.connected_network_collection[UUID(int=0xBAD)] = ConnectedNetwork(UUID(int=0xBAD))
    stale.out_routing_server_collection[wrong.identifier] = wrong
    stale.in_routing_server_collection[wrong.identifier] = wrong
    machine.restart()
    now = machine.state.local
    assert now is not stale
    for name in LocalQueueManager.__slots__:
        if name not in PERSISTENT and name not in RECOMPUTED:
            assert getattr(now, name) == getattr(fresh, name), name
    assert now.queue_manager_state is QueueManagerState.READY
    # This one is read from the directory again.
    assert now.enterprise_reference is not None
    assert now.enterprise_reference is not stale.enterprise_reference


@pytest.mark.spec("MQDMPR-3.1.1-05")
def test_all_parts_of_the_queue_manager_see_one_object() -> None:
    machine = Machine(None).provision()
    state = machine.state
    assert state.manager is state.local.published
    assert machine.qm.state.local is state.local
    state.local.published.journal_quota = 9
    assert machine.qm.state.manager.journal_quota == 9


def test_a_row_of_a_later_version_is_refused() -> None:
    row = json.loads(local().serialize())
    row["version"] = 2
    with pytest.raises(StoreError, match="version 2"):
        LocalQueueManager.restore(json.dumps(row).encode())
