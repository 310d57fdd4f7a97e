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
from openmsmq.directory.objects import (
    DirectoryServerType,
    InternalCertificate,
    OperatingSystemType,
    QueueManagerObject,
)
from openmsmq.wire.errors import StoreError
from openmsmq.wire.security.sid import SID

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
    before.add_internal_certificate(InternalCertificate(ALICE, b"x"))
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


@pytest.mark.spec("MQDMPR-3.1.1.1-27")
def test_a_user_has_one_internal_certificate() -> None:
    manager = local()
    for certificate in (
        InternalCertificate(ALICE, b"old"),
        InternalCertificate(BOB, b"bob"),
        InternalCertificate(ALICE, b"new"),
    ):
        manager.add_internal_certificate(certificate)
    collection = manager.internal_certificate_collection
    assert {sid: each.certificate for sid, each in collection.items()} == {
        ALICE: b"new",
        BOB: b"bob",
    }


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
