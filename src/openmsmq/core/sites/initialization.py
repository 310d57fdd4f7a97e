"""Initialization of the queue manager's own attributes ([MS-MQDMPR] 3.1.3), start and stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.events import QueuePaused, QueueResumed, Stopped
from openmsmq.core.model.local_queue_manager import (
    INITIALIZATION_RETRY_SECONDS,
    QueueManagerState,
    store_local,
)
from openmsmq.core.model.queue import QueueRole, QueueType
from openmsmq.core.settings import MachineIdentity, Provisioning
from openmsmq.core.transfer.outgoing.states import OutgoingInput, change_state
from openmsmq.core.transfer.transports import WEB
from openmsmq.directory.interface import DirectoryOperationResult, ReadResult
from openmsmq.directory.objects import (
    DirectoryObject,
    ElementType,
    Enterprise,
    QueueManagerObject,
    attribute_names,
    copy_attributes,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .directory_access import by_identifier
from .directory_events import create_directory_object, read_directory, write_directory
from .directory_updates import (
    start_server_list_timer,
    start_update_timers,
    update_references,
    update_server_list,
)
from .key_publication import set_keys

if TYPE_CHECKING:
    from openmsmq.core.state import State

_RESULT = DirectoryOperationResult
NOTIFICATION: Final = "non_ldap_capable_queue_manager_notification"


def initialize(
    state: State, machine: MachineIdentity | None, provisioning: Provisioning | None = None
) -> None:
    """Initialize the queue manager, whose queues are known already; the caller sets Ready.

    Args:
        machine: the names of the machine; None when they could not be determined.
        provisioning: only for the first start with a directory.

    Raises:
        QueueError: initialization failed; the queue manager is stopped again.
    """
    local = state.local
    local.queue_manager_state = QueueManagerState.INITIALIZING
    try:
        if machine is None:
            raise QueueError(Hresult.MQ_ERROR, "the names of this machine could not be found out")
        _set_names(state, machine)
        if local.directory_integrated:
            if provisioning is not None:
                _provision(state, provisioning)
            _synchronize(state, provisioning=provisioning is not None)
            _set_names(state, machine)
            _publish_names(state)
            _read_enterprise(state)
            start_update_timers(state)
        settle_outgoing_queues(state)
    except QueueError:
        local.queue_manager_state = QueueManagerState.STOPPED
        raise
    local.last_domain = local.machine_domain_id
    store_local(state)


def queue_manager_started(state: State) -> None:
    """Queue Manager Started: full service from now on."""
    state.local.queue_manager_state = QueueManagerState.READY


def queue_manager_stopping(state: State) -> None:
    """Queue Manager Stopped: all protocol servers are notified, so that they shut down."""
    state.local.queue_manager_state = QueueManagerState.STOPPING
    state.outbox.tell(Stopped())


def queue_manager_stopped(state: State) -> None:
    """All protocol servers have shut down."""
    state.local.queue_manager_state = QueueManagerState.STOPPED


def settle_outgoing_queues(state: State) -> None:
    """Lock or unlock outgoing queues when hardened mode has changed since they were stored."""
    hardened = state.local.hardened_security
    for queue in state.outgoing.values():
        outgoing = queue.outgoing
        if outgoing is None or outgoing.transport in WEB:
            continue
        if hardened:
            if change_state(state, queue, outgoing, OutgoingInput.LOCKED):
                state.outbox.tell(QueuePaused(queue=queue))
        elif change_state(state, queue, outgoing, OutgoingInput.UNLOCKED):
            state.outbox.tell(QueueResumed(queue=queue))


def _set_names(state: State, machine: MachineIdentity) -> None:
    manager = state.manager
    manager.computer_name = machine.computer_name
    qualified = f"{machine.computer_name}.{machine.dns_domain}"
    manager.qualified_computer_name = qualified if machine.dns_domain else machine.computer_name
    state.local.machine_domain_id = machine.domain_guid
    for queue in state.queues.values():
        if queue.outgoing is None:
            # The machine may have been renamed; the identifiers stay.
            queue.properties.pathname = f"{manager.computer_name}\\{queue.path}"
            queue.properties.qualified_pathname = f"{manager.qualified_computer_name}\\{queue.path}"


def _provision(state: State, provisioning: Provisioning) -> None:
    local, manager = state.local, state.manager
    local.initialization_retry_timer_duration = INITIALIZATION_RETRY_SECONDS
    if provisioning.site is not None and provisioning.site not in manager.site_identifier_list:
        manager.site_identifier_list += (provisioning.site,)
    update_server_list(state)
    start_server_list_timer(state)
    if provisioning.keys is not None:
        set_keys(manager, provisioning.keys, provisioning.providers)


def _synchronize(state: State, *, provisioning: bool) -> None:
    """Take over the attributes that the directory has of this queue manager."""
    result = _read_self(state)
    if result.status is _RESULT.OBJECT_NOT_FOUND and provisioning:
        _register(state)
        result = _read_self(state)
    if isinstance(result.directory_object, QueueManagerObject):
        copy_attributes(
            result.directory_object, state.manager, attribute_names(ElementType.QUEUE_MANAGER)
        )
        update_references(state)
    elif result.status is _RESULT.OBJECT_NOT_FOUND:
        raise QueueError(
            Hresult.MQ_ERROR_MACHINE_NOT_FOUND,
            f"the directory does not know queue manager {state.local.identifier}",
        )
    elif result.status is not _RESULT.DIRECTORY_NOT_CONNECTED or provisioning:
        raise _failure(result)


def _read_self(state: State) -> ReadResult:
    return read_directory(state, ElementType.QUEUE_MANAGER, by_identifier(state.local.identifier))


def _register(state: State) -> None:
    created = create_directory_object(state, state.manager)
    if created.status is not _RESULT.SUCCESS:
        raise QueueError(Hresult.MQ_ERROR_DS_ERROR, created.reason)


def _publish_names(state: State) -> None:
    """Update the directory when the machine was renamed."""
    known = None if state.local.directory_offline else _read_self(state).directory_object
    if not isinstance(known, QueueManagerObject) or _names(known) == _names(state.manager):
        return
    _write(state, state.manager, ("computer_name", "qualified_computer_name"))
    for queue in state.queues.values():
        if queue.queue_type is QueueType.PUBLIC and queue.role is QueueRole.USER:
            _write(state, queue.properties, ("pathname", "qualified_pathname"))


def _names(manager: QueueManagerObject) -> tuple[str, str]:
    return manager.computer_name, manager.qualified_computer_name


def _write(state: State, item: DirectoryObject, attributes: tuple[str, ...]) -> None:
    written = write_directory(state, item, attributes)
    if written.status is not _RESULT.SUCCESS:
        raise QueueError(Hresult.MQ_ERROR_DS_ERROR, written.reason)


def _read_enterprise(state: State) -> None:
    result = read_directory(state, ElementType.ENTERPRISE, attributes=(NOTIFICATION,))
    if isinstance(result.directory_object, Enterprise):
        state.local.enterprise_reference = result.directory_object
    elif result.status is _RESULT.ATTRIBUTE_NOT_FOUND:
        state.local.enterprise_reference = Enterprise(
            non_ldap_capable_queue_manager_notification=True
        )
    elif result.status is not _RESULT.DIRECTORY_NOT_CONNECTED:
        raise _failure(result)


def _failure(result: ReadResult) -> QueueError:
    code = Hresult.MQ_ERROR_DS_ERROR
    if result.status is _RESULT.DIRECTORY_NOT_CONNECTED:
        code = Hresult.MQ_ERROR_NO_DS
    return QueueError(code, result.reason or str(result.status))
