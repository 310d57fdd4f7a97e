"""Setting attributes of the queue manager while it runs."""

from dataclasses import replace
from typing import Any, Final

from openmsmq.core.model.local_queue_manager import store_local
from openmsmq.core.sites.directory_updates import update_references
from openmsmq.core.sites.initialization import settle_outgoing_queues
from openmsmq.core.sites.public_queues import publish
from openmsmq.core.state import State
from openmsmq.directory.objects import DirectoryServerType, QueueManagerObject, copy_attributes
from openmsmq.directory.rules import find_fault
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .access import check_machine_right
from .value_text import value_text

# The directory attributes; names, keys, times and paths cannot be set by users.
PUBLISHED_SETTINGS: Final = frozenset(
    (
        "queue_manager_quota",
        "journal_quota",
        "foreign_system",
        "site_identifier_list",
        "connected_network_identifier_list",
        "out_routing_server_identifier_list",
        "in_routing_server_identifier_list",
        "directory_server",
        "directory_server_type",
        "remote_access_server",
        "routing_server",
        "supporting_server",
        "clustered",
        "security",
    )
)
# The persistent attributes.
LOCAL_SETTINGS: Final = frozenset(("hardened_security", "srmp_http_support", "srmp_pgm_support"))


def set_queue_manager(state: State, *, caller: Caller, attributes: dict[str, Any]) -> None:
    """Change attributes of the queue manager, in the directory too if there is one.

    Raises:
        QueueError: no such attribute, an invalid value, no right to change it.
    """
    unknown = attributes.keys() - PUBLISHED_SETTINGS - LOCAL_SETTINGS
    if unknown:
        raise QueueError(Hresult.MQ_ERROR_PROPERTY_NOTALLOWED, f"{min(unknown)} cannot be set")
    needed = MachineRight(0)
    if "security" in attributes:
        needed |= MachineRight.CHANGE_MACHINE_PERMISSIONS
    if attributes.keys() - {"security"}:
        needed |= MachineRight.SET_MACHINE_PROPERTIES
    check_machine_right(state, caller, needed)
    names = attributes.keys() & PUBLISHED_SETTINGS
    changed = replace(state.manager)
    for name in names:
        _check_type(name, attributes[name], getattr(changed, name))
        setattr(changed, name, attributes[name])
    for name in attributes.keys() & LOCAL_SETTINGS:
        _check_type(name, attributes[name], False)
    _apply(state, changed, frozenset(names), caller)
    for name in attributes.keys() & LOCAL_SETTINGS:
        setattr(state.local, name, attributes[name])
    settle_outgoing_queues(state)
    store_local(state)


def _apply(
    state: State, changed: QueueManagerObject, names: frozenset[str], caller: Caller
) -> None:
    if not names:
        return
    name, reason = find_fault(changed)
    if reason:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE, f"{name} {reason}")
    changed.modify_time = int(state.utc)
    if state.local.directory_integrated:
        publish(state, changed, caller, tuple(sorted(names)))
    copy_attributes(changed, state.manager, names | {"modify_time"})
    update_references(state)


def _check_type(name: str, value: object, current: object) -> None:
    expected = DirectoryServerType if name == "directory_server_type" else type(current)
    # None if the queue manager serves no directory.
    if type(value) is not expected and not (value is None and expected is DirectoryServerType):
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
            f"{name}: {value_text(value)} is not of type {expected.__name__}",
        )
