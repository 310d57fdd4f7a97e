"""Sites with their gates ([MS-MQDMPR] 3.1.1.7), and all objects of a type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.directory.interface import AttributeSortOrder, DirectoryOperationResult
from openmsmq.directory.objects import (
    DirectoryObject,
    ElementType,
    QueueManagerObject,
    RoutingLink,
    Site,
    attribute_names,
)

from .directory_access import by_identifier
from .directory_events import (
    read_directory,
    read_directory_begin,
    read_directory_end,
    read_directory_next,
)

if TYPE_CHECKING:
    from openmsmq.core.state import State


@dataclass(slots=True)
class SiteReference:
    """A site of the directory and the queue managers that are its gates."""

    site: Site
    site_gate_collection: dict[UUID, QueueManagerObject] = field(default_factory=dict)


def read_object(state: State, kind: ElementType, identifier: UUID) -> DirectoryObject | None:
    """The object with this identifier, if the directory returns it."""
    return read_directory(state, kind, by_identifier(identifier)).directory_object


def read_all(state: State, kind: ElementType) -> list[DirectoryObject] | None:
    """All objects of a type by their identifiers, or None when the directory does not answer.

    All queue managers see the same order, whatever the order in the directory of each.
    """
    attributes = sorted(attribute_names(kind))
    order = [AttributeSortOrder(int(name == "identifier")) for name in attributes]
    begun = read_directory_begin(state, kind, attributes=attributes, sort_order=order)
    if begun.status is not DirectoryOperationResult.SUCCESS:
        return None
    items = []
    item = read_directory_next(state, begun.query_handle).directory_object
    while item is not None:
        items.append(item)
        item = read_directory_next(state, begun.query_handle).directory_object
    read_directory_end(state, begun.query_handle)
    return items


def read_site(state: State, identifier: UUID) -> SiteReference | None:
    """A site and its gates."""
    site = read_object(state, ElementType.SITE, identifier)
    if not isinstance(site, Site):
        return None
    return SiteReference(site, read_site_gates(state, identifier) or {})


def read_site_gates(state: State, site: UUID) -> dict[UUID, QueueManagerObject] | None:
    """The gates of a site, or None when the directory does not answer.

    The directory does not hold them: they are the gates of the links of the site that are in it.
    """
    links = read_all(state, ElementType.ROUTING_LINK)
    if links is None:
        return None
    gates: dict[UUID, QueueManagerObject] = {}
    for link in links:
        if isinstance(link, RoutingLink) and site in (link.site1_identifier, link.site2_identifier):
            for gate in read_queue_managers(state, link.site_gate_identifier_list).values():
                if site in gate.site_identifier_list:
                    gates[gate.identifier] = gate
    return gates


def read_queue_managers(
    state: State, identifiers: tuple[UUID, ...]
) -> dict[UUID, QueueManagerObject]:
    """Those of the queue managers that the directory knows, in the order of the list."""
    machines = (
        read_object(state, ElementType.QUEUE_MANAGER, identifier) for identifier in identifiers
    )
    return {item.identifier: item for item in machines if isinstance(item, QueueManagerObject)}
