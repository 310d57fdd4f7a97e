"""Initialization, start and stop ([MS-MQDMPR] 3.1.3, 3.1.4.1-2)."""

from dataclasses import replace
from uuid import UUID

import pytest
from tests.core.directory_harness import ENTERPRISE, QM1, QM2, Machine, reader, shared_file
from tests.core.harness import ADMINISTRATOR, USER, FakeKeys, Harness
from tests.directory.memory_file import MemoryFile, directory_of

from openmsmq.core.events import Stopped
from openmsmq.core.model.local_queue_manager import QueueManagerState, store_local
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import QueueRole, QueueType
from openmsmq.core.settings import MachineIdentity, Provisioning
from openmsmq.core.sites.directory_events import ChangeNotification
from openmsmq.core.state import DirectoryTimer
from openmsmq.directory.interface import AttributeFilter, FilterOperator
from openmsmq.directory.objects import (
    DirectoryObject,
    ElementType,
    Enterprise,
    QueueManagerObject,
    QueueObject,
    Site,
)
from openmsmq.security.access_check import QUEUE_MAPPING, access_check, parse_descriptor
from openmsmq.security.caller import ANONYMOUS_CALLER
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.algorithms import Provider
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import QueueState
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.limits import DEFAULT_TIME_TO_REACH_QUEUE
from openmsmq.wire.security.key_blobs import MQDSPublicKeys

NORTH = Site(UUID(int=0x51), "north")
SOUTH = Site(UUID(int=0x52), "south")
BASE = "Microsoft Base Cryptographic Provider v1.0"
ENHANCED = "Microsoft Enhanced Cryptographic Provider v1.0"
AES = "Microsoft Enhanced RSA and AES Cryptographic Provider"


def published(file: MemoryFile, identifier: UUID = QM1) -> QueueManagerObject:
    filters = [AttributeFilter("identifier", FilterOperator.EQUALS, identifier)]
    found = reader(file).read(ElementType.QUEUE_MANAGER, filters).directory_object
    assert isinstance(found, QueueManagerObject)
    return found


@pytest.mark.spec("MQDMPR-3.1.3-02", "MQDMPR-3.1.1.1-01")
def test_the_names_come_from_the_machine_and_survive_a_restart() -> None:
    machine = Machine(None, name="ALPHA")
    machine.provision(domain="corp.example")
    assert machine.state.manager.computer_name == "ALPHA"
    assert machine.state.manager.qualified_computer_name == "ALPHA.corp.example"
    machine.flush()
    machine.load()
    assert machine.state.manager.computer_name == "ALPHA"
    assert machine.state.manager.qualified_computer_name == "ALPHA.corp.example"


def test_a_machine_without_a_domain_is_called_by_its_name_alone() -> None:
    machine = Machine(None).provision(domain="")
    assert machine.state.manager.qualified_computer_name == "QM1"


@pytest.mark.spec("MQDMPR-3.1.3-02", "MQDMPR-3.1.3-20")
def test_a_machine_that_does_not_know_its_names_does_not_start() -> None:
    machine = Machine(None)
    with pytest.raises(QueueError, match="names of this machine"):
        machine.qm.start(None)
    assert machine.state.local.queue_manager_state is QueueManagerState.STOPPED


@pytest.mark.spec("MQDMPR-3.1.3-03")
def test_a_workgroup_start_leaves_the_directory_alone() -> None:
    machine = Machine(None).provision(site=NORTH.identifier)
    manager = machine.state.manager
    assert manager.public_encryption_key_list == b""
    assert manager.public_signing_key_list == b""
    assert manager.site_identifier_list == ()
    assert machine.state.directory_timers == {}
    assert machine.state.local.enterprise_reference is None


@pytest.mark.spec("MQDMPR-3.1.3-04", "MQDMPR-3.1.1.1-24")
def test_provisioning_sets_the_retry_time_and_the_site() -> None:
    machine = Machine(shared_file(NORTH))
    machine.state.local.initialization_retry_timer_duration = 7
    machine.provision(site=NORTH.identifier)
    assert machine.state.local.initialization_retry_timer_duration == 120
    assert machine.state.manager.site_identifier_list == (NORTH.identifier,)
    machine.state.local.initialization_retry_timer_duration = 240
    store_local(machine.state)
    machine.restart()
    assert machine.state.local.initialization_retry_timer_duration == 240


@pytest.mark.spec("MQDMPR-3.1.3-01")
def test_an_ordinary_start_does_not_provision_again() -> None:
    file = shared_file(NORTH)
    machine = Machine(file).provision()
    keys = machine.state.manager.public_encryption_key_list
    machine.restart()
    assert machine.state.manager.public_encryption_key_list == keys
    assert machine.state.manager.site_identifier_list == ()
    assert DirectoryTimer.SERVER_LIST_UPDATE not in machine.state.directory_timers


@pytest.mark.spec("MQDMPR-3.1.3-07", "MQDMPR-3.1.3-08", "MQDMPR-3.1.3-09")
def test_provisioning_makes_a_key_of_each_kind_for_each_provider() -> None:
    machine = Machine(shared_file()).provision()
    manager = machine.state.manager
    for kind, raw in (
        ("exchange", manager.public_encryption_key_list),
        ("signing", manager.public_signing_key_list),
    ):
        keys, size = MQDSPublicKeys.parse(memoryview(raw))
        assert size == len(raw)
        assert [(key.provider_name, key.key.decode()) for key in keys.public_keys] == [
            (BASE, f"{kind} {BASE} 512"),
            (ENHANCED, f"{kind} {ENHANCED} 1024"),
            (AES, f"{kind} {AES} 1024"),
        ]
        assert (BASE + "\0").encode("utf-16-le") in raw


@pytest.mark.spec("MQDMPR-3.1.3-06")
def test_the_update_timers_start_with_every_integrated_start() -> None:
    machine = Machine(shared_file()).provision()
    timers = machine.state.directory_timers
    assert timers.keys() == {
        DirectoryTimer.SITES_UPDATE,
        DirectoryTimer.SITE_GATES_UPDATE,
        DirectoryTimer.SERVER_LIST_UPDATE,
    }
    machine.restart()
    assert machine.state.directory_timers.keys() == {
        DirectoryTimer.SITES_UPDATE,
        DirectoryTimer.SITE_GATES_UPDATE,
    }


@pytest.mark.spec("MQDMPR-3.1.3-12", "MQDMPR-3.1.1.1-07")
def test_provisioning_registers_the_queue_manager() -> None:
    file = shared_file(NORTH)
    machine = Machine(file).provision(site=NORTH.identifier)
    found = published(file)
    assert found.computer_name == "QM1"
    assert found.public_signing_key_list == machine.state.manager.public_signing_key_list
    assert machine.state.manager.full_path == "CN=msmq,CN=QM1,CN=Computers,O=corp"
    assert machine.state.local.serves


@pytest.mark.spec("MQDMPR-3.1.3-12", "MQDMPR-3.1.3-20")
def test_a_queue_manager_that_the_directory_has_lost_does_not_start() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    reader(file).delete(published(file))
    with pytest.raises(QueueError) as caught:
        machine.restart()
    assert caught.value.code == Hresult.MQ_ERROR_MACHINE_NOT_FOUND
    assert machine.state.local.queue_manager_state is QueueManagerState.STOPPED


@pytest.mark.spec("MQDMPR-3.1.3-10")
def test_what_the_directory_says_of_the_queue_manager_is_taken_over() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    change = replace(published(file), journal_quota=77, routing_server=True)
    reader(file).write(change, utc=5)
    machine.restart()
    assert machine.state.manager.journal_quota == 77
    assert machine.state.manager.routing_server
    assert machine.state.manager is machine.state.local.published


@pytest.mark.spec("MQDMPR-3.1.3-11", "MQDMPR-3.1.1.1-22")
def test_the_sites_of_the_queue_manager_are_read() -> None:
    file = shared_file(NORTH)
    machine = Machine(file).provision(site=NORTH.identifier)
    assert machine.state.local.site_collection[NORTH.identifier].site.name == "north"
    lost = UUID(int=0x99)
    change = replace(published(file), site_identifier_list=(NORTH.identifier, lost))
    reader(file).write(change, utc=5)
    machine.restart()
    # A site that cannot be read stays in the list, but there is nothing to collect.
    assert machine.state.manager.site_identifier_list == (NORTH.identifier, lost)
    assert list(machine.state.local.site_collection) == [NORTH.identifier]


@pytest.mark.spec("MQDMPR-3.1.3-13")
@pytest.mark.parametrize("told", [True, False])
def test_the_enterprise_of_the_directory_is_referred_to(*, told: bool) -> None:
    enterprise = replace(ENTERPRISE, non_ldap_capable_queue_manager_notification=told)
    machine = Machine(directory_of(enterprise)[1]).provision()
    reference = machine.state.local.enterprise_reference
    assert reference is not None
    assert reference.non_ldap_capable_queue_manager_notification is told


@pytest.mark.spec("MQDMPR-3.1.3-13")
def test_an_enterprise_that_does_not_say_whom_to_tell_tells_all() -> None:
    enterprise = Enterprise(ENTERPRISE.identifier, "corp")
    machine = Machine(directory_of(enterprise)[1]).provision()
    reference = machine.state.local.enterprise_reference
    assert reference is not None
    assert reference.non_ldap_capable_queue_manager_notification is True


def damaged(file: MemoryFile) -> None:
    file.content = b"{}"


def without_enterprise(file: MemoryFile) -> None:
    reader(file).delete(ENTERPRISE)


@pytest.mark.spec("MQDMPR-3.1.3-20")
@pytest.mark.parametrize("break_it", [damaged, without_enterprise])
def test_an_error_that_no_rule_handles_is_raised(break_it: object) -> None:
    file = shared_file()
    machine = Machine(file).provision()
    assert callable(break_it)
    break_it(file)
    with pytest.raises(QueueError) as caught:
        machine.restart()
    assert caught.value.code == Hresult.MQ_ERROR_DS_ERROR
    assert machine.state.local.queue_manager_state is QueueManagerState.STOPPED


def test_a_computer_name_that_is_taken_in_the_directory_is_an_error() -> None:
    file = shared_file()
    Machine(file).provision()
    with pytest.raises(QueueError, match="computer_name"):
        Machine(file, identifier=QM2).provision()


def test_provisioning_needs_the_directory() -> None:
    file = shared_file()
    file.online = False
    with pytest.raises(QueueError) as caught:
        Machine(file).provision()
    assert caught.value.code == Hresult.MQ_ERROR_NO_DS


def test_a_start_without_the_directory_is_an_offline_start() -> None:
    file = shared_file(NORTH)
    machine = Machine(file).provision(site=NORTH.identifier)
    file.online = False
    machine.restart()
    assert machine.state.local.serves
    assert machine.state.local.directory_offline
    assert machine.state.manager.site_identifier_list == (NORTH.identifier,)
    assert DirectoryTimer.ONLINE in machine.state.directory_timers


@pytest.mark.spec("MQDMPR-3.1.1-04")
def test_a_renamed_machine_keeps_its_identifiers_also_in_the_directory() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    private = machine.qm.create_queue(r".\private$\a", caller=USER).value.properties.identifier
    public = machine.qm.create_queue(r".\b", caller=USER).value.properties.identifier
    machine.name = "NEW"
    machine.restart(domain="corp")
    assert machine.state.local.identifier == QM1
    assert published(file).computer_name == "NEW"
    assert machine.qm.find_queue(r"new\private$\a").properties.identifier == private
    queue = machine.qm.find_queue(r".\b").properties
    assert (queue.identifier, queue.pathname) == (public, r"NEW\b")
    assert queue.qualified_pathname == r"NEW.corp\b"
    found = reader(file).read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    assert (found.identifier, found.pathname) == (public, r"NEW\b")


def test_a_rename_to_a_taken_name_is_an_error() -> None:
    file = shared_file()
    Machine(file, name="TAKEN", identifier=QM2).provision()
    machine = Machine(file).provision()
    machine.name = "TAKEN"
    with pytest.raises(QueueError) as caught:
        machine.restart()
    assert caught.value.code == Hresult.MQ_ERROR_DS_ERROR


@pytest.mark.spec("MQDMPR-3.1.1.1-13")
def test_the_last_domain_is_remembered_and_the_present_one_is_not() -> None:
    machine = Machine(None)
    assert machine.state.local.last_domain is None
    machine.provision()
    assert machine.state.local.last_domain is None
    domain = UUID(int=0xD)
    machine.restart(domain_guid=domain)
    assert machine.state.local.machine_domain_id == domain
    machine.flush()
    machine.load()
    assert machine.state.local.last_domain == domain
    assert machine.state.local.machine_domain_id is None


@pytest.mark.spec("MQDMPR-3.1.1.1-20")
def test_service_is_given_only_when_ready() -> None:
    machine = Machine(None)
    states = [machine.state.local.queue_manager_state]
    for operation in (
        lambda: machine.qm.create_queue(r".\private$\a", caller=USER),
        lambda: machine.qm.open_queue(r".\private$\a", QueueAccessType.SEND, caller=USER),
        lambda: machine.qm.traffic.begin(UUID(int=1)),
    ):
        with pytest.raises(QueueError, match="Stopped") as caught:
            operation()
        assert caught.value.code == Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE
    machine.provision()
    states.append(machine.state.local.queue_manager_state)
    queue = machine.qm.create_queue(r".\private$\a", caller=USER).value
    machine.qm.stop()
    states.append(machine.state.local.queue_manager_state)
    with pytest.raises(QueueError, match="Stopping"):
        machine.qm.set_queue(queue, caller=USER, label="x")
    with pytest.raises(QueueError, match="Stopping"):
        machine.qm.delete_queue(queue, caller=USER)
    machine.qm.stopped()
    states.append(machine.state.local.queue_manager_state)
    assert [str(state) for state in states] == ["Stopped", "Ready", "Stopping", "Stopped"]


@pytest.mark.spec("MQDMPR-3.1.1.1-20")
def test_the_queue_manager_is_initializing_while_it_starts() -> None:
    machine = Machine(shared_file())
    seen: list[QueueManagerState] = []

    class Keys(FakeKeys):
        def exchange_key(self, provider: Provider) -> bytes:
            seen.append(machine.state.local.queue_manager_state)
            return super().exchange_key(provider)

    machine.qm.start(MachineIdentity("QM1"), Provisioning(Keys()))
    assert set(seen) == {QueueManagerState.INITIALIZING}


@pytest.mark.spec("MQDMPR-3.1.4.1-01")
def test_a_start_runs_the_whole_initialization() -> None:
    machine = Machine(shared_file(NORTH)).provision(site=NORTH.identifier)
    local = machine.state.local
    assert local.serves
    assert local.site_collection
    assert local.enterprise_reference is not None
    assert machine.state.deadletter.queue_type is QueueType.SYSTEM


@pytest.mark.spec("MQDMPR-3.1.4.2-01")
def test_a_stop_is_told_to_everybody() -> None:
    machine = Machine(None).provision()
    machine.qm.take_events()
    machine.qm.stop()
    assert [type(event) for event in machine.qm.take_events()] == [Stopped]


def outgoing(machine: Machine, name: str) -> QueueState:
    for queue in machine.state.outgoing.values():
        assert queue.outgoing is not None
        if queue.outgoing.destination_format_name == name:
            return queue.outgoing.state
    raise AssertionError(name)


TCP = r"DIRECT=TCP:10.0.0.1\private$\a"
HTTP = "DIRECT=HTTP://10.0.0.1/msmq/private$/a"


@pytest.mark.spec("MQDMPR-3.1.3-16", "MQDMPR-3.1.3-17", "MQDMPR-3.1.1.1-19")
def test_hardened_mode_survives_and_locks_what_does_not_travel_over_http() -> None:
    machine = Machine(None).provision()
    assert not machine.state.local.hardened_security
    for name in (TCP, HTTP):
        machine.qm.open_queue(name, QueueAccessType.SEND, caller=USER)
    assert {outgoing(machine, TCP), outgoing(machine, HTTP)} == {QueueState.INACTIVE}
    machine.state.local.hardened_security = True
    store_local(machine.state)
    machine.restart()
    assert machine.state.local.hardened_security
    assert outgoing(machine, TCP) is QueueState.LOCKED
    assert outgoing(machine, HTTP) is QueueState.INACTIVE
    machine.state.local.hardened_security = False
    store_local(machine.state)
    machine.restart()
    assert outgoing(machine, TCP) is QueueState.WAITING
    assert outgoing(machine, HTTP) is QueueState.INACTIVE


@pytest.mark.spec("MQDMPR-3.1.3-14", "MQDMPR-3.1.1.1-21")
def test_the_system_queues_and_what_they_hold_are_there_after_every_start() -> None:
    harness = Harness()
    harness.create()
    harness.send(b"late", time_to_be_received=1, negative_journaling=True)
    harness.advance(5)
    for _ in range(2):
        state = harness.qm.state
        for queue in (state.deadletter, state.xact_deadletter, state.machine_journal):
            assert queue.queue_type is QueueType.SYSTEM
            assert state.queues[queue.number] is queue
        assert harness.contents(r".\system$;deadletter") == [b"late"]
        harness.restart()


@pytest.mark.spec("MQDMPR-3.1.3-15")
@pytest.mark.parametrize("name", ["order_queue$", "notify_queue$"])
def test_the_queues_of_the_queue_manager_itself_cannot_be_opened(name: str) -> None:
    machine = Machine(None).provision()
    assert machine.qm.find_queue(rf".\private$\{name}").role is QueueRole.INTERNAL
    for caller in (USER, ADMINISTRATOR):
        for access in (QueueAccessType.SEND, QueueAccessType.RECEIVE, QueueAccessType.PEEK):
            with pytest.raises(AccessDenied):
                machine.qm.open_queue(rf".\private$\{name}", access, caller=caller)


@pytest.mark.spec("MQDMPR-6-01")
def test_where_versions_of_windows_differ_vista_is_followed() -> None:
    machine = Machine(shared_file()).provision()
    machine.qm.take_events()
    keys, _ = MQDSPublicKeys.parse(memoryview(machine.state.manager.public_signing_key_list))
    assert len(keys.public_keys) == 3
    queue = machine.qm.create_queue(r".\b", caller=USER).value
    may_send = access_check(
        parse_descriptor(queue.properties.security),
        ANONYMOUS_CALLER,
        QueueRight.WRITE_MESSAGE,
        QUEUE_MAPPING,
    )
    assert may_send
    assert any(isinstance(event, ChangeNotification) for event in machine.qm.take_events())
    assert Enterprise().default_time_to_live == DEFAULT_TIME_TO_REACH_QUEUE == 4 * 24 * 3600


def test_objects_of_others_in_the_directory_are_left_alone() -> None:
    other: DirectoryObject = QueueManagerObject(QM2, "QM2", journal_quota=3)
    file = shared_file(other, SOUTH)
    Machine(file).provision()
    assert published(file, QM2) == other
