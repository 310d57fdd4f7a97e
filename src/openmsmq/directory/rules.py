"""What the attributes of a directory object must hold."""

from dataclasses import fields
from typing import Final

from openmsmq.wire.codes.access_rights import (
    ConnectedNetworkRight,
    EnterpriseRight,
    MachineRight,
    QueueRight,
    SiteRight,
)
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.security.security_descriptor import Ace, SecurityDescriptor

from .certificates import certificate_digest
from .objects import (
    MAX_ACTUAL_COST,
    MIN_ACTUAL_COST,
    NULL_GUID,
    ConnectedNetwork,
    DirectoryObject,
    DistributionList,
    Enterprise,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
    User,
)

U32_MAX: Final = 0xFFFFFFFF
RANGES: Final = {
    "actual_cost": (MIN_ACTUAL_COST, MAX_ACTUAL_COST),
    "base_priority": (-0x8000, 0x7FFF),
}
# [MS-MQDMPR] 3.1.1: the rights that the entries of the descriptor of each element may name.
ALLOWED_RIGHTS: Final[dict[type[DirectoryObject], int]] = {
    QueueManagerObject: int(MachineRight.MACHINE_GENERIC_ALL),
    QueueObject: int(QueueRight.QUEUE_GENERIC_ALL),
    Enterprise: sum(EnterpriseRight),
    Site: sum(SiteRight),
    ConnectedNetwork: sum(ConnectedNetworkRight),
}


def unique_key(item: DirectoryObject) -> tuple[str, object]:
    """The attribute besides the identifier that no two objects of a type share, and its value."""
    if isinstance(item, QueueManagerObject):
        return "computer_name", item.computer_name.casefold()
    if isinstance(item, QueueObject):
        return "pathname", item.pathname.casefold()
    if isinstance(item, Enterprise):
        # There is one enterprise only.
        return "identifier", None
    if isinstance(item, RoutingLink):
        return "site1_identifier", frozenset((item.site1_identifier, item.site2_identifier))
    if isinstance(item, User):
        return "security_identifier", item.security_identifier
    return "name", item.name.casefold()


def find_fault(item: DirectoryObject) -> tuple[str, str]:
    """The first attribute that cannot be as it is, and why; two empty texts when all is well."""
    if item.identifier == NULL_GUID:
        return "identifier", "is null"
    name, key = unique_key(item)
    if key == "":
        return name, "is empty"
    for item_field in fields(item):
        value = getattr(item, item_field.name)
        if isinstance(value, int) and not isinstance(value, bool):
            low, high = RANGES.get(item_field.name, (0, U32_MAX))
            if not low <= value <= high:
                return item_field.name, f"{value} is not in {low}..{high}"
    if isinstance(item, RoutingLink):
        return _routing_link_fault(item)
    if isinstance(item, User):
        return _user_fault(item)
    if isinstance(item, DistributionList):
        return _member_fault(item)
    return _security_fault(item)


def _routing_link_fault(item: RoutingLink) -> tuple[str, str]:
    for name, value in (
        ("site1_identifier", item.site1_identifier),
        ("site2_identifier", item.site2_identifier),
    ):
        if value == NULL_GUID:
            return name, "is null"
    if item.site1_identifier == item.site2_identifier:
        return "site2_identifier", "is the same site"
    return "", ""


def _user_fault(item: User) -> tuple[str, str]:
    digests = tuple(certificate_digest(certificate) for certificate in item.certificates)
    if item.certificate_digest_list != digests:
        return "certificate_digest_list", "is not the list of MD5 digests of the certificates"
    return "", ""


def _member_fault(item: DistributionList) -> tuple[str, str]:
    for member in item.members:
        try:
            parse_format_name(member)
        except QueueError:
            return "members", f"{member!r} is no format name"
    return "", ""


def _security_fault(
    item: QueueManagerObject | QueueObject | Enterprise | Site | ConnectedNetwork,
) -> tuple[str, str]:
    if not item.security:
        return "", ""
    try:
        descriptor, _ = SecurityDescriptor.parse(memoryview(item.security))
    except MalformedPacket as exc:
        return "security", f"is no security descriptor: {exc}"
    allowed = ALLOWED_RIGHTS[type(item)]
    for acl in (descriptor.dacl, descriptor.sacl):
        for ace in () if acl is None else acl.aces:
            if isinstance(ace, Ace) and ace.mask & ~allowed:
                return "security", f"names unknown rights 0x{ace.mask & ~allowed:08X}"
    return "", ""
