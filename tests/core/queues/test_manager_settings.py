"""Setting attributes of the queue manager."""

from typing import Any
from uuid import UUID

import pytest
from tests.core.directory_harness import START_UTC, Machine, reader, shared_file
from tests.core.harness import ADMINISTRATOR, STRANGER, USER

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.queues.manager_settings import set_queue_manager
from openmsmq.directory.objects import (
    DirectoryServerType,
    ElementType,
    QueueManagerObject,
    Site,
)
from openmsmq.security.access_check import parse_descriptor
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.security.permissions import grant
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import QueueState
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.security.security_descriptor import Ace, AceType, Acl, SecurityDescriptor
from openmsmq.wire.security.sid import EVERYONE

NORTH = Site(UUID(int=0x51), "north")


def test_a_setting_takes_effect_and_survives() -> None:
    machine = Machine(None).provision()
    set_queue_manager(machine.state, caller=ADMINISTRATOR, attributes={"journal_quota": 7})
    assert machine.state.manager.journal_quota == 7
    machine.restart()
    assert machine.state.manager.journal_quota == 7


@pytest.mark.spec("MQDMPR-3.1.1.1-04")
def test_a_setting_reaches_the_directory_and_changes_the_time() -> None:
    file = shared_file(NORTH)
    machine = Machine(file, own=ADMINISTRATOR).provision()
    machine.advance(60.5)
    set_queue_manager(
        machine.state,
        caller=ADMINISTRATOR,
        attributes={"site_identifier_list": (NORTH.identifier,)},
    )
    found = reader(file).read(ElementType.QUEUE_MANAGER).directory_object
    assert isinstance(found, QueueManagerObject)
    assert found.site_identifier_list == (NORTH.identifier,)
    assert found.create_time == int(START_UTC)
    assert found.modify_time == machine.state.manager.modify_time == int(START_UTC) + 60
    # The collections follow the lists.
    assert list(machine.state.local.site_collection) == [NORTH.identifier]


@pytest.mark.parametrize(
    ("attributes", "code"),
    [
        ({"computer_name": "X"}, Hresult.MQ_ERROR_PROPERTY_NOTALLOWED),
        ({"nonsense": 1}, Hresult.MQ_ERROR_PROPERTY_NOTALLOWED),
        ({"journal_quota": -1}, Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"journal_quota": True}, Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"routing_server": 1}, Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"hardened_security": "yes"}, Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"directory_server_type": "Standalone"}, Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"security": b"\x01"}, Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(
    attributes: dict[str, Any], code: Hresult
) -> None:
    machine = Machine(None).provision()
    before = machine.state.local.serialize()
    with pytest.raises(QueueError) as caught:
        set_queue_manager(machine.state, caller=SYSTEM_CALLER, attributes=attributes)
    assert caught.value.code == code
    assert machine.state.local.serialize() == before


@pytest.mark.spec("MQDMPR-3.1.1.1-12")
def test_the_descriptor_names_only_rights_of_a_queue_manager_and_survives() -> None:
    machine = Machine(None).provision()
    foreign = SecurityDescriptor(dacl=Acl((Ace(AceType.ACCESS_ALLOWED, 0x8, EVERYONE),)))
    with pytest.raises(QueueError, match="0x00000008"):
        set_queue_manager(
            machine.state, caller=SYSTEM_CALLER, attributes={"security": foreign.serialize()}
        )
    mine = grant(
        parse_descriptor(machine.state.manager.security), USER.sid, MachineRight.DELETE_MACHINE
    ).serialize()
    set_queue_manager(machine.state, caller=SYSTEM_CALLER, attributes={"security": mine})
    machine.restart()
    assert machine.state.manager.security == mine


def test_a_type_of_directory_service_can_be_set_and_taken_back() -> None:
    machine = Machine(None).provision()
    for value in (DirectoryServerType.STANDALONE, None):
        set_queue_manager(
            machine.state, caller=SYSTEM_CALLER, attributes={"directory_server_type": value}
        )
        assert machine.state.manager.directory_server_type is value


def test_only_who_may_sets_anything() -> None:
    machine = Machine(None).provision()
    for attributes in ({"journal_quota": 7}, {"hardened_security": True}):
        with pytest.raises(QueueError) as caught:
            set_queue_manager(machine.state, caller=STRANGER, attributes=attributes)
        assert caught.value.code == Hresult.MQ_ERROR_ACCESS_DENIED
    set_queue_manager(machine.state, caller=ADMINISTRATOR, attributes={"journal_quota": 7})


def test_a_directory_that_is_away_refuses_the_setting() -> None:
    file = shared_file()
    machine = Machine(file).provision()
    file.online = False
    with pytest.raises(QueueError) as caught:
        set_queue_manager(machine.state, caller=SYSTEM_CALLER, attributes={"journal_quota": 7})
    assert caught.value.code == Hresult.MQ_ERROR_NO_DS
    assert machine.state.manager.journal_quota != 7


@pytest.mark.spec("MQDMPR-3.1.1.1-19")
def test_hardened_mode_locks_and_unlocks_outgoing_queues_at_once() -> None:
    machine = Machine(None).provision()
    name = r"DIRECT=TCP:10.0.0.1\private$\a"
    descriptor = machine.qm.open_queue(name, QueueAccessType.SEND, caller=USER)
    assert descriptor.queue is not None
    outgoing = descriptor.queue.outgoing
    assert outgoing is not None
    for hardened, expected in ((True, QueueState.LOCKED), (False, QueueState.WAITING)):
        set_queue_manager(
            machine.state, caller=SYSTEM_CALLER, attributes={"hardened_security": hardened}
        )
        assert outgoing.state is expected
