"""Keeping up with the directory ([MS-MQDMPR] 3.1.6.1, 3.1.6.2, 3.1.7.1.25)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.model.local_queue_manager import store_local
from openmsmq.core.model.queue import QueueRole, QueueType
from openmsmq.core.rows.queue_rows import store_queue
from openmsmq.core.state import DIRECTORY_ONLINE_SECONDS, DirectoryTimer
from openmsmq.directory.objects import (
    OBJECT_TYPES,
    ConnectedNetwork,
    DirectoryObject,
    ElementType,
    QueueManagerObject,
    QueueObject,
    Site,
    attribute_names,
    copy_attributes,
)

from .directory_access import by_identifier
from .directory_events import read_directory
from .site_collection import read_all, read_object, read_queue_managers, read_site, read_site_gates

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State


def start_update_timers(state: State) -> None:
    """Start the Directory Sites Update and the Directory Site Gates Update timer."""
    periods = state.settings.directory_periods
    state.directory_timers[DirectoryTimer.SITES_UPDATE] = state.now + periods.sites_seconds
    state.directory_timers[DirectoryTimer.SITE_GATES_UPDATE] = (
        state.now + periods.site_gates_seconds
    )


def start_server_list_timer(state: State) -> None:
    """Start the Directory Server List Update timer."""
    seconds = state.settings.directory_periods.server_list_seconds
    state.directory_timers[DirectoryTimer.SERVER_LIST_UPDATE] = state.now + seconds


def handle_directory_timers(state: State) -> None:
    """Handle the timers that are due."""
    periods = state.settings.directory_periods
    for timer in [timer for timer, at in state.directory_timers.items() if at <= state.now]:
        del state.directory_timers[timer]
        if timer is DirectoryTimer.ONLINE:
            check_directory_online(state)
        elif timer is DirectoryTimer.SITES_UPDATE:
            update_sites(state)
            state.directory_timers[timer] = state.now + periods.sites_seconds
        elif timer is DirectoryTimer.SITE_GATES_UPDATE:
            update_site_gates(state)
            state.directory_timers[timer] = state.now + periods.site_gates_seconds
        else:
            update_server_list(state)
            state.directory_timers[timer] = state.now + periods.server_list_seconds


def update_sites(state: State) -> None:
    """Directory Sites Update: read each known site again; keep those that cannot be read."""
    for reference in state.local.site_collection.values():
        site = read_object(state, ElementType.SITE, reference.site.identifier)
        if isinstance(site, Site):
            _take_over(site, reference.site)
            gates = read_site_gates(state, site.identifier)
            if gates is not None:
                reference.site_gate_collection = gates


def update_site_gates(state: State) -> None:
    """Directory Site Gates Update: read each known gate again."""
    for reference in state.local.site_collection.values():
        for gate in reference.site_gate_collection.values():
            known = read_object(state, ElementType.QUEUE_MANAGER, gate.identifier)
            if isinstance(known, QueueManagerObject):
                _take_over(known, gate)


def update_server_list(state: State) -> None:
    """Read the list of directory servers again."""
    managers = read_all(state, ElementType.QUEUE_MANAGER)
    if managers is not None:
        state.local.directory_server_list = tuple(
            manager.computer_name
            for manager in managers
            if isinstance(manager, QueueManagerObject) and manager.directory_server
        )
        store_local(state)


def update_references(state: State) -> None:
    """Make the collections of the local queue manager agree with its lists of identifiers."""
    local, published = state.local, state.manager
    sites = {
        identifier: read_site(state, identifier) for identifier in published.site_identifier_list
    }
    local.site_collection = {key: site for key, site in sites.items() if site is not None}
    local.out_routing_server_collection = read_queue_managers(
        state, published.out_routing_server_identifier_list
    )
    local.in_routing_server_collection = read_queue_managers(
        state, published.in_routing_server_identifier_list
    )
    local.connected_network_collection = _connected_networks(
        state, published.connected_network_identifier_list
    )


def check_directory_online(state: State) -> None:
    """Check Directory Online: try the directory, and catch up when it is back."""
    result = read_directory(
        state, ElementType.QUEUE_MANAGER, by_identifier(state.local.identifier), force=True
    )
    if not isinstance(result.directory_object, QueueManagerObject):
        # Choice: in workgroup mode there is no directory to try.
        if state.local.directory_integrated:
            state.directory_timers[DirectoryTimer.ONLINE] = state.now + DIRECTORY_ONLINE_SECONDS
        return
    _take_over(result.directory_object, state.manager)
    state.local.directory_offline = False
    for queue in list(state.queues.values()):
        if queue.queue_type is QueueType.PUBLIC and queue.role is QueueRole.USER:
            _update_queue(state, queue)
    update_references(state)
    store_local(state)


def _update_queue(state: State, queue: Queue) -> None:
    known = read_object(state, ElementType.QUEUE, queue.properties.identifier)
    if isinstance(known, QueueObject):
        _take_over(known, queue.properties)
        store_queue(state, queue)


def _take_over(source: DirectoryObject, target: DirectoryObject) -> None:
    copy_attributes(source, target, attribute_names(OBJECT_TYPES[type(source)]))


def _connected_networks(
    state: State, identifiers: tuple[UUID, ...]
) -> dict[UUID, ConnectedNetwork]:
    networks = (
        read_object(state, ElementType.CONNECTED_NETWORK, identifier) for identifier in identifiers
    )
    return {item.identifier: item for item in networks if isinstance(item, ConnectedNetwork)}
