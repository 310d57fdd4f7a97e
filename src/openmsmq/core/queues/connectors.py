"""Connector queues: messages for foreign sites wait there for the application that takes them.

A queue manager is the connector of a foreign site if it is in that site itself. Each foreign site
has two queues, one for messages in a transaction; they are created at the first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.routing.current_topology import current_topology
from openmsmq.core.routing.next_hops import next_hops
from openmsmq.core.rows.queue_rows import store_queue
from openmsmq.core.sites.public_queues import read_public
from openmsmq.directory.objects import QueueObject
from openmsmq.security.default_descriptor import connector_queue_descriptor
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    PrivateFormatName,
    PublicFormatName,
    SingleFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_name import Suffix

from .creation import list_queue

if TYPE_CHECKING:
    from openmsmq.core.state import State


def foreign_site_of(state: State, computer: UUID) -> UUID | None:
    """The site of a foreign computer that has its connector here; None for other computers."""
    topology = current_topology(state)
    there = topology.machines.get(computer) if topology is not None else None
    if topology is None or there is None or not there.foreign_system:
        return None
    chosen = next_hops(topology, state.local.identifier, computer)
    return chosen.site if chosen.is_connector else None


def serves_site(state: State, site: UUID) -> bool:
    """Whether this queue manager is the connector of a site."""
    topology = current_topology(state)
    if topology is None or site not in topology.foreign_sites:
        return False
    here = topology.machines.get(state.local.identifier)
    return here is not None and site in here.sites


def find_connector_queue(state: State, name: SingleFormatName) -> Queue | None:
    """The connector queue of a name, or of messages to the name; created if missing."""
    if isinstance(name, ConnectorFormatName):
        if not serves_site(state, name.guid):
            return None
        return connector_queue(state, name.guid, transactional=name.suffix is Suffix.XACTONLY)
    if isinstance(name, PrivateFormatName):
        computer = name.guid
    elif isinstance(name, PublicFormatName):
        published = read_public(state, name)
        if published is None:
            return None
        computer = published.queue_manager
    else:
        return None
    site = foreign_site_of(state, computer)
    return None if site is None else connector_queue(state, site, transactional=False)


def connector_queue(state: State, site: UUID, *, transactional: bool) -> Queue:
    """The queue of a foreign site for messages with or without a transaction."""
    name = ConnectorFormatName(site, Suffix.XACTONLY if transactional else Suffix.NONE)
    queue = state.paths.get(name.key)
    if queue is not None:
        return queue
    properties = QueueObject(
        label=str(name),
        transactional=transactional,
        security=connector_queue_descriptor().serialize(),
        create_time=int(state.utc),
        modify_time=int(state.utc),
    )
    state.last_queue_number += 1
    queue = Queue(
        state.last_queue_number, str(name), QueueRole.CONNECTOR, QueueType.CONNECTOR, properties
    )
    list_queue(state, queue)
    store_queue(state, queue)
    return queue


def connector_partner(state: State, queue: Queue, *, transactional: bool) -> Queue:
    """The connector queue of the same foreign site for messages of this kind."""
    if queue.properties.transactional == transactional:
        return queue
    name = parse_format_name(queue.path)
    assert isinstance(name, ConnectorFormatName)  # noqa: S101 - it is called by its name
    return connector_queue(state, name.guid, transactional=transactional)
