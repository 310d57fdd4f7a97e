"""Public queues and the directory ([MS-MQDMPR] 3.1.7.1.3-5)."""

from uuid import UUID

import pytest
from tests.core.directory_harness import QM1, QM2, Machine, reader, shared_file
from tests.core.harness import STRANGER, USER, packet, runs_of
from tests.directory.memory_file import MemoryFile

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.queues.permissions import change_queue_permissions
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.settings import MachineIdentity
from openmsmq.core.sites.directory_events import read_directory
from openmsmq.core.transfer.incoming.delivery import deliver, takes_freely
from openmsmq.core.transfer.transports import SRMP, Transport
from openmsmq.directory.interface import (
    AttributeFilter,
    DirectoryOperationResult,
    FilterOperator,
)
from openmsmq.directory.objects import ElementType, QueueObject, Site, attribute_names
from openmsmq.security.access_check import QUEUE_MAPPING
from openmsmq.security.caller import unix_caller
from openmsmq.security.default_descriptor import allow
from openmsmq.security.permissions import PermissionChange
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import public_address
from openmsmq.wire.scalars import GUID_NULL
from openmsmq.wire.security.security_descriptor import Acl, SecurityDescriptor
from openmsmq.wire.security.security_header import SecurityHeader

ORDERS = r".\orders"
SEND = QueueAccessType.SEND
SERVICE = unix_caller(990, [], service_uid=990)


def published(file: MemoryFile) -> QueueObject:
    found = reader(file).read(ElementType.QUEUE).directory_object
    assert isinstance(found, QueueObject)
    return found


def unpublished(file: MemoryFile) -> bool:
    status = reader(file).read(ElementType.QUEUE).status
    return status is DirectoryOperationResult.OBJECT_NOT_FOUND


@pytest.mark.spec("MQDMPR-3.1.7.1.3-08", "MQDMPR-3.1.7.1.3-09", "MQDMPR-3.1.1.2-01")
def test_a_public_queue_is_registered_and_knows_its_place() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    queue = machine.qm.create_queue(
        ORDERS,
        caller=USER,
        label="Orders",
        type=UUID(int=5),
        journaling=True,
        quota=1,
        journal_quota=2,
        authentication=True,
        privacy_level=QueuePrivacyLevel.BODY,
        transactional=True,
        multicast_address="234.1.1.1:8001",
        base_priority=3,
    ).value
    assert queue.properties.full_path == "CN=orders,CN=msmq,CN=QM1,CN=Computers,O=corp"
    assert queue.properties.directory_path.endswith(queue.properties.full_path)
    found = published(file)
    for name in attribute_names(ElementType.QUEUE):
        assert getattr(found, name) == getattr(queue.properties, name), name


# Scope has no attribute here: Enterprise means that every site finds the queue.
@pytest.mark.spec("MQDMPR-3.1.7.1.3-05", "MQDMPR-3.1.1.2-14")
def test_a_new_public_queue_is_found_in_every_site_of_the_enterprise() -> None:
    north, south = Site(UUID(int=0x51), "north"), Site(UUID(int=0x52), "south")
    file = shared_file(north, south)
    here = Machine(file).provision(site=north.identifier)
    there = Machine(file, name="QM2", identifier=QM2).provision(site=south.identifier)
    assert here.state.manager.site_identifier_list == (north.identifier,)
    assert there.state.manager.site_identifier_list == (south.identifier,)
    queue = here.qm.create_queue(ORDERS, caller=USER, base_priority=5).value
    opened = there.qm.open_queue(f"PUBLIC={queue.properties.identifier}", SEND, caller=USER)
    assert opened.queue is not None
    assert opened.queue.properties.base_priority == 5
    named = [AttributeFilter("pathname", FilterOperator.EQUALS, r"QM1\orders")]
    found = read_directory(there.state, ElementType.QUEUE, named).directory_object
    assert found == queue.properties


@pytest.mark.spec("MQDMPR-3.1.7.1.3-08")
def test_the_directory_can_be_skipped() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER, skip_directory=True).value
    assert unpublished(file)
    assert machine.qm.find_queue(ORDERS) is queue


@pytest.mark.spec("MQDMPR-3.1.1.2-18")
def test_only_public_queues_are_published() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    queue = machine.qm.create_queue(r".\private$\orders", caller=USER).value
    machine.qm.open_queue(r"DIRECT=OS:elsewhere\orders", SEND, caller=USER)
    machine.qm.set_queue(queue, caller=USER, label="x")
    machine.qm.delete_queue(queue, caller=USER)
    assert unpublished(file)


@pytest.mark.spec("MQDMPR-3.1.1.2-03")
def test_the_qualified_path_has_the_qualified_name_of_the_computer() -> None:
    machine = Machine(shared_file()).provision(domain="corp.example")
    for path in (ORDERS, r".\private$\orders"):
        properties = machine.qm.create_queue(path, caller=USER).value.properties
        rest = path.removeprefix(".")
        assert properties.pathname == f"QM1{rest}"
        assert properties.qualified_pathname == f"QM1.corp.example{rest}"


@pytest.mark.spec("MQDMPR-3.1.7.1.3-10")
def test_a_queue_that_the_directory_refuses_does_not_exist() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    file.online = False
    with pytest.raises(QueueError) as caught:
        machine.qm.create_queue(ORDERS, caller=USER)
    assert caught.value.code == Hresult.MQ_ERROR_NO_DS
    with pytest.raises(QueueError) as caught:
        machine.qm.find_queue(ORDERS)
    assert caught.value.code == Hresult.MQ_ERROR_QUEUE_NOT_FOUND
    file.online = True
    machine.advance(60)
    machine.qm.create_queue(ORDERS, caller=USER, skip_directory=True)
    assert unpublished(file)


def test_a_workgroup_has_no_public_queues() -> None:
    machine = Machine(None).provision()
    with pytest.raises(QueueError) as caught:
        machine.qm.create_queue(ORDERS, caller=USER)
    assert caught.value.code == Hresult.MQ_ERROR_NO_DS


@pytest.mark.spec("MQDMPR-3.1.7.1.4-04")
def test_a_deleted_public_queue_leaves_the_directory() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    machine.qm.delete_queue(machine.qm.create_queue(ORDERS, caller=USER).value, caller=USER)
    assert unpublished(file)


@pytest.mark.spec("MQDMPR-3.1.7.1.4-04")
def test_a_deletion_can_skip_the_directory() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    machine.qm.delete_queue(queue, caller=USER, skip_directory=True)
    assert published(file).identifier == queue.properties.identifier


@pytest.mark.spec("MQDMPR-3.1.7.1.4-04")
def test_a_directory_that_is_away_does_not_keep_a_queue_but_is_reported() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    file.online = False
    with pytest.raises(QueueError) as caught:
        machine.qm.delete_queue(queue, caller=USER)
    assert caught.value.code == Hresult.MQ_ERROR_NO_DS
    with pytest.raises(QueueError):
        machine.qm.find_queue(ORDERS)


def test_changes_of_a_public_queue_reach_the_directory() -> None:
    file = shared_file()
    machine = Machine(file, own=SERVICE).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    machine.advance(5)
    machine.qm.set_queue(queue, caller=USER, label="new")
    assert published(file).label == "new"
    assert published(file).modify_time == queue.properties.modify_time == int(machine.utc)
    change_queue_permissions(
        machine.state,
        queue,
        PermissionChange.GRANT,
        STRANGER.sid,
        QueueRight.RECEIVE_MESSAGE,
        caller=USER,
    )
    assert published(file).security == queue.properties.security


def test_a_public_queue_survives_a_restart_with_its_identifier() -> None:
    machine = Machine(shared_file()).provision()
    before = machine.qm.create_queue(ORDERS, caller=USER, label="Orders").value.properties
    machine.restart()
    assert machine.qm.find_queue(ORDERS).properties == before
    name = f"PUBLIC={before.identifier}"
    descriptor = machine.qm.open_queue(name, QueueAccessType.RECEIVE, caller=USER)
    assert descriptor.queue is machine.qm.find_queue(ORDERS)


def two_machines() -> tuple[Machine, Machine, MemoryFile]:
    file = shared_file()
    other = Machine(file, name="QM2", identifier=QM2).provision()
    return Machine(file).provision(), other, file


def addresses(machine: Machine, queue: Queue) -> list[UUID]:
    """QueueManagerAddress of the messages in a queue."""
    packets = packets_of(machine.state, list(queue.lanes))
    return [UserMessage(packet).queue_manager_address for packet in packets]


def test_a_message_to_a_public_queue_carries_its_owner() -> None:
    machine, other, file = two_machines()
    identifier = other.qm.create_queue(ORDERS, caller=USER).value.properties.identifier
    name = f"PUBLIC={identifier}"
    message = packet(b"1", destination_queue=public_address(identifier), delivery_mode=1)
    for restart in (False, True):
        if restart:
            # It is on disk: the directory is not asked again.
            machine.restart()
            file.online = False
        descriptor = machine.qm.open_queue(name, SEND, caller=USER)
        machine.qm.traffic.enqueue_many(descriptor, [message, message])
        transaction = machine.qm.traffic.begin(UUID(int=7 + restart))
        machine.qm.traffic.enqueue_many(descriptor, [message], transaction)
        machine.qm.traffic.commit(transaction.identifier)
    assert addresses(machine, machine.qm.outgoing.find(name)) == [QM2] * 6


def test_each_copy_for_several_queues_carries_its_own_owner() -> None:
    machine, other, _ = two_machines()
    there = other.qm.create_queue(ORDERS, caller=USER).value.properties.identifier
    here = machine.qm.create_queue(r".\here", caller=USER).value
    direct = r"DIRECT=OS:elsewhere\private$\orders"
    private = rf"PRIVATE={UUID(int=0x55)}\9"
    names = [f"PUBLIC={there}", direct, f"PUBLIC={here.properties.identifier}", private]
    descriptor = machine.qm.open_queue(",".join(names), SEND, caller=USER)
    machine.qm.traffic.enqueue_many(descriptor, [packet(b"1")])
    queues = [machine.qm.outgoing.find(name) for name in (names[0], direct, private)]
    found = [addresses(machine, queue) for queue in (*queues, here)]
    assert found == [[QM2], [GUID_NULL], [UUID(int=0x55)], [QM1]]


def test_an_acknowledgment_to_a_public_queue_carries_its_owner() -> None:
    machine, other, _ = two_machines()
    admin = other.qm.create_queue(ORDERS, caller=USER).value.properties.identifier
    machine.qm.create_queue(r".\private$\local", caller=USER)
    descriptor = machine.qm.open_queue(r".\private$\local", SEND, caller=USER)
    asking = packet(b"1", admin_queue=public_address(admin), acknowledgments=1)
    machine.qm.traffic.enqueue_many(descriptor, [asking])
    machine.qm.take_events()
    assert addresses(machine, machine.qm.outgoing.find(f"PUBLIC={admin}")) == [QM2]


@pytest.mark.spec("MQDMPR-3.1.7.1.5-16")
def test_a_public_queue_elsewhere_is_sent_to_with_its_own_priority() -> None:
    machine, other, _ = two_machines()
    there = other.qm.create_queue(ORDERS, caller=USER, base_priority=7).value
    name = f"PUBLIC={there.properties.identifier}"
    descriptor = machine.qm.open_queue(name, SEND, caller=USER)
    assert descriptor.queue is not None
    assert descriptor.queue.role is QueueRole.OUTGOING
    assert descriptor.queue.properties.base_priority == 7


@pytest.mark.spec("MQDMPR-3.1.7.1.5-11")
def test_a_public_name_that_the_directory_does_not_know_is_refused() -> None:
    machine, _, _ = two_machines()
    with pytest.raises(QueueError) as caught:
        machine.qm.open_queue(f"PUBLIC={UUID(int=0x99)}", SEND, caller=USER)
    assert caught.value.code == Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION


@pytest.mark.spec("MQDMPR-3.1.7.1.5-12")
def test_a_public_name_of_this_machine_without_a_queue_is_not_found() -> None:
    machine, _, file = two_machines()
    lost = QueueObject(UUID(int=0x99), machine.identifier, pathname=r"QM1\lost")
    reader(file).create(lost, utc=0)
    with pytest.raises(QueueError) as caught:
        machine.qm.open_queue(f"PUBLIC={lost.identifier}", SEND, caller=USER)
    assert caught.value.code == Hresult.MQ_ERROR_QUEUE_NOT_FOUND


def test_offline_the_public_queues_of_this_machine_still_work() -> None:
    machine, _, file = two_machines()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value
    file.online = False
    name = f"PUBLIC={queue.properties.identifier}"
    assert machine.qm.open_queue(name, SEND, caller=USER).queue is queue


def test_two_queue_managers_have_queues_of_one_name() -> None:
    machine, other, file = two_machines()
    machine.qm.create_queue(ORDERS, caller=USER)
    other.qm.create_queue(ORDERS, caller=USER)
    handle = (directory := reader(file)).read_begin(ElementType.QUEUE).query_handle
    paths = []
    while isinstance(found := directory.read_next(handle).directory_object, QueueObject):
        paths.append(found.pathname)
    assert sorted(paths) == [r"QM1\orders", r"QM2\orders"]


@pytest.mark.spec("MQQB-3.1.5.8.3-22")
def test_the_directory_says_who_may_send_to_a_public_queue() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value

    def delivered() -> MessageClass:
        sender = SecurityHeader(int(SenderIdType.SID), STRANGER.sid.serialize())
        message = UserMessage(packet(source_queue_manager=QM2, security_header=sender))
        return deliver(machine.qm.state, queue, runs_of(message)).classes[0]

    assert delivered() is MessageClass.ACK_REACH_QUEUE
    # Somebody else takes the right away, where the queue manager does not see it.
    there = published(file)
    only_user = Acl((allow(USER.sid, QUEUE_MAPPING.all_rights),))
    there.security = SecurityDescriptor(owner=USER.sid, dacl=only_user).serialize()
    reader(file).write(there, ("security",), utc=machine.utc)
    assert queue.properties.security != there.security
    assert delivered() is MessageClass.NACK_ACCESS_DENIED
    # Without a descriptor there, or without an answer, that of the queue counts.
    there.security = b""
    reader(file).write(there, ("security",), utc=machine.utc)
    assert delivered() is MessageClass.ACK_REACH_QUEUE
    reader(file).delete(there)
    assert delivered() is MessageClass.ACK_REACH_QUEUE


@pytest.mark.spec("MQSRM-3.1.5.1.12-02")
@pytest.mark.parametrize("transport", sorted(SRMP))
def test_no_message_over_http_gets_in_without_the_descriptor_of_the_directory(
    transport: Transport,
) -> None:
    machine, _, file = two_machines()
    queue = machine.qm.create_queue(ORDERS, caller=USER).value

    def delivered() -> MessageClass:
        message = UserMessage(packet(source_queue_manager=QM2))
        runs = runs_of(message)
        return deliver(machine.qm.state, queue, runs, transport=transport).classes[0]

    assert delivered() is MessageClass.ACK_REACH_QUEUE
    assert takes_freely(machine.state, queue, Transport.HTTP)
    reader(file).delete(published(file))
    assert delivered() is MessageClass.NACK_ACCESS_DENIED
    assert not takes_freely(machine.state, queue, Transport.HTTP)
    # While the directory is away, what this machine knows of its own queues stands for it.
    file.online = False
    assert delivered() is MessageClass.ACK_REACH_QUEUE
    assert delivered() is MessageClass.ACK_REACH_QUEUE


def killed(machine: Machine) -> None:
    """End before the store has what was done last, and start again."""
    machine.load()
    machine.qm.start(MachineIdentity(machine.name, "example"))


def test_a_queue_that_only_the_directory_has_is_created_again() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    machine.flush()
    machine.qm.create_queue(ORDERS, caller=USER, label="first")
    killed(machine)
    queue = machine.qm.create_queue(ORDERS.upper(), caller=USER, label="second")
    found = published(file)
    assert found.identifier == queue.value.properties.identifier
    assert found.label == "second"
    machine.restart()
    with pytest.raises(QueueError) as caught:
        machine.qm.create_queue(ORDERS, caller=USER)
    assert caught.value.code == Hresult.MQ_ERROR_QUEUE_EXISTS


def test_a_queue_of_the_same_name_that_another_queue_manager_has_stays_its_own() -> None:
    file = shared_file()
    first = Machine(file).provision()
    first.qm.create_queue(ORDERS, caller=USER)
    # A machine that was given the name of another.
    second = Machine(file, name="QM2", identifier=QM2).provision()
    second.state.manager.computer_name = "QM1"
    with pytest.raises(QueueError) as caught:
        second.qm.create_queue(ORDERS, caller=USER)
    assert caught.value.code == Hresult.MQ_ERROR_QUEUE_EXISTS
    assert published(file).queue_manager == QM1
