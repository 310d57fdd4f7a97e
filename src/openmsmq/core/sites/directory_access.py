"""Access to the directory: the check of changes, and the identity for requests.

Unlike a directory server, a file cannot check its callers; so the check is here, by the descriptors
of the objects. An object without a descriptor grants everything.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from openmsmq.directory.interface import AttributeFilter, Directory, FilterOperator
from openmsmq.directory.objects import (
    ConnectedNetwork,
    DirectoryObject,
    DistributionList,
    ElementType,
    Enterprise,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
    User,
)
from openmsmq.directory.rules import ALLOWED_RIGHTS
from openmsmq.security.access_check import GenericMapping, access_check, parse_descriptor
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.access_rights import EnterpriseRight, MachineRight, QueueRight, SiteRight

CREATE_IN_ENTERPRISE: Final[dict[type[DirectoryObject], EnterpriseRight]] = {
    Site: EnterpriseRight.CREATE_SITE,
    ConnectedNetwork: EnterpriseRight.CREATE_CN,
    User: EnterpriseRight.CREATE_USER,
}
# They have no descriptor.
_OPEN_TO_ALL: Final = (RoutingLink, User, DistributionList)


def by_identifier(identifier: UUID) -> list[AttributeFilter]:
    """The filter for one object."""
    return [AttributeFilter("identifier", FilterOperator.EQUALS, identifier)]


def may_create(
    directory: Directory, item: DirectoryObject, caller: Caller | None, own: Caller
) -> bool:
    """Whether the object may be created: the parent (host, site or enterprise) decides."""
    identity = _identity(directory, caller, own)
    if isinstance(item, QueueObject):
        host = _read(directory, ElementType.QUEUE_MANAGER, item.queue_manager)
        return _grants(host, identity, MachineRight.CREATE_QUEUE)
    if isinstance(item, QueueManagerObject):
        sites = [
            _read(directory, ElementType.SITE, identifier)
            for identifier in item.site_identifier_list
        ]
        return all(_grants(site, identity, SiteRight.CREATE_MACHINE) for site in sites)
    right = CREATE_IN_ENTERPRISE.get(type(item))
    if right is None:
        return True
    enterprise = directory.read(ElementType.ENTERPRISE).directory_object
    return _grants(enterprise, identity, right)


def may_delete(
    directory: Directory, item: DirectoryObject, caller: Caller | None, own: Caller
) -> bool:
    """Whether the object may be deleted."""
    identity = _identity(directory, caller, own)
    return _grants_machine_or_queue(
        directory, item, identity, MachineRight.DELETE_MACHINE, QueueRight.DELETE_QUEUE
    )


def may_write(
    directory: Directory,
    item: DirectoryObject,
    attributes: Sequence[str] | None,
    caller: Caller | None,
    own: Caller,
) -> bool:
    """Whether these attributes of the object may be changed."""
    identity = _identity(directory, caller, own)
    machine, queue = MachineRight(0), QueueRight(0)
    if attributes is None or "security" in attributes:
        machine |= MachineRight.CHANGE_MACHINE_PERMISSIONS
        queue |= QueueRight.CHANGE_QUEUE_PERMISSIONS
    if attributes is None or set(attributes) - {"security"}:
        machine |= MachineRight.SET_MACHINE_PROPERTIES
        queue |= QueueRight.SET_QUEUE_PROPERTIES
    return _grants_machine_or_queue(directory, item, identity, machine, queue)


def _identity(directory: Directory, caller: Caller | None, own: Caller) -> Caller:
    """The identity for a request: the queue manager, or the caller for whom it works.

    [MS-MQDMPR] 3.1.1.6: with WeakenedSecurity the queue manager always uses its own identity.
    """
    if caller is None:
        return own
    enterprise = directory.read(ElementType.ENTERPRISE).directory_object
    weakened = isinstance(enterprise, Enterprise) and enterprise.weakened_security
    return own if weakened else caller


def _grants_machine_or_queue(
    directory: Directory,
    item: DirectoryObject,
    identity: Caller,
    machine: MachineRight,
    queue: QueueRight,
) -> bool:
    if isinstance(item, QueueObject):
        return _grants(_read(directory, ElementType.QUEUE, item.identifier), identity, queue)
    if isinstance(item, QueueManagerObject):
        known = _read(directory, ElementType.QUEUE_MANAGER, item.identifier)
        return _grants(known, identity, machine)
    return True


def _read(directory: Directory, kind: ElementType, identifier: UUID) -> DirectoryObject | None:
    return directory.read(kind, by_identifier(identifier)).directory_object


def _grants(item: DirectoryObject | None, identity: Caller, right: int) -> bool:
    # A missing object refuses nothing: the operation itself reports that it is missing.
    if item is None or isinstance(item, _OPEN_TO_ALL) or not item.security:
        return True
    rights = ALLOWED_RIGHTS[type(item)]
    mapping = GenericMapping(rights, rights, rights)
    return access_check(parse_descriptor(item.security), identity, right, mapping)
