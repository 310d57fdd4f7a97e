"""What the directory holds: the directory attributes of [MS-MQDMPR] 3.1.1, one class per element.

The fields are exactly the attributes that can be published; what an element has beside them lives
where it is used. Identifiers never change.
"""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final, TypeAlias
from uuid import UUID

from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.security.sid import NULL_SID, SID

NULL_GUID: Final = UUID(int=0)
UNLIMITED: Final = 0xFFFFFFFF
# [MS-MQDMPR] 3.1.1.1 says bytes, the tools of Windows count the same number in kilobytes; so do we.
QUEUE_MANAGER_QUOTA_KILOBYTES: Final = 0x00100000
MIN_ACTUAL_COST: Final = 1
MAX_ACTUAL_COST: Final = 999_999


class ElementType(StrEnum):
    """iDirectoryObjectType: the elements of the model that the directory holds."""

    QUEUE_MANAGER = "QueueManager"
    QUEUE = "Queue"
    ENTERPRISE = "Enterprise"
    SITE = "Site"
    ROUTING_LINK = "RoutingLink"
    CONNECTED_NETWORK = "ConnectedNetwork"
    USER = "User"
    # Groups of the directory of Windows, which [MS-MQDMPR] 3.1.7.3.8 resolves but does not model.
    DISTRIBUTION_LIST = "DistributionList"


class OperatingSystemType(StrEnum):
    FOREIGN = "Foreign"
    WIN95 = "Win95"
    WIN_CLIENT = "WinClient"
    WIN_SERVER = "WinServer"
    WIN_ENT = "WinEnt"
    OTHER = "Other"


class DirectoryServerType(StrEnum):
    """What kind of directory service a queue manager provides, if it does."""

    STANDALONE = "Standalone"
    BACKUP_SITE_CONTROLLER = "BackupSiteController"
    PRIMARY_SITE_CONTROLLER = "PrimarySiteController"
    PRIMARY_ENTERPRISE_CONTROLLER = "PrimaryEnterpriseController"


@dataclass(slots=True)
class QueueManagerObject:
    """QueueManager ([MS-MQDMPR] 3.1.1.1), its directory attributes."""

    identifier: UUID = NULL_GUID
    computer_name: str = ""
    qualified_computer_name: str = ""
    queue_manager_version: str = ""
    operating_system_version: str = ""
    operating_system_type: OperatingSystemType = OperatingSystemType.FOREIGN
    create_time: int = 0
    modify_time: int = 0
    queue_manager_quota: int = QUEUE_MANAGER_QUOTA_KILOBYTES
    journal_quota: int = UNLIMITED
    foreign_system: bool = False
    full_path: str = ""
    site_identifier_list: tuple[UUID, ...] = ()
    connected_network_identifier_list: tuple[UUID, ...] = ()
    out_routing_server_identifier_list: tuple[UUID, ...] = ()
    in_routing_server_identifier_list: tuple[UUID, ...] = ()
    directory_server: bool = False
    remote_access_server: bool = False
    routing_server: bool = False
    supporting_server: bool = False
    directory_server_type: DirectoryServerType | None = None
    public_encryption_key_list: bytes = b""
    public_signing_key_list: bytes = b""
    security: bytes = b""
    clustered: bool = False


@dataclass(slots=True)
class QueueObject:
    """Queue ([MS-MQDMPR] 3.1.1.2), the attributes that the directory holds of a public queue.

    `queue_manager` is the queue manager that hosts the queue.
    """

    identifier: UUID = NULL_GUID
    queue_manager: UUID = NULL_GUID
    label: str = ""
    create_time: int = 0
    modify_time: int = 0
    type: UUID = NULL_GUID
    pathname: str = ""
    qualified_pathname: str = ""
    private_queue_number: int = 0
    journaling: bool = False
    quota: int = UNLIMITED
    journal_quota: int = UNLIMITED
    authentication: bool = False
    privacy_level: QueuePrivacyLevel = QueuePrivacyLevel.OPTIONAL
    transactional: bool = False
    multicast_address: str | None = None
    security: bytes = b""
    base_priority: int = 0
    full_path: str = ""
    directory_path: str = ""


@dataclass(slots=True)
class Enterprise:
    """Enterprise ([MS-MQDMPR] 3.1.1.6). `default_time_to_live` is in seconds."""

    identifier: UUID = NULL_GUID
    name: str = ""
    weakened_security: bool = False
    non_ldap_capable_queue_manager_notification: bool | None = None
    default_time_to_live: int = 0x54600
    old_directory: bool = False
    security: bytes = b""


@dataclass(slots=True)
class Site:
    """Site ([MS-MQDMPR] 3.1.1.7). The replication intervals are in seconds."""

    identifier: UUID = NULL_GUID
    name: str = ""
    primary_site_controller: str = ""
    intra_site_replication_interval: int = 0
    inter_site_replication_interval: int = 0
    full_path: str = ""
    foreign_site: bool = False
    public_signing_key_list: bytes = b""
    migrated_from_msmq10: bool = False
    security: bytes = b""


@dataclass(slots=True)
class RoutingLink:
    """RoutingLink ([MS-MQDMPR] 3.1.1.8): an edge between two sites, with its cost."""

    identifier: UUID = NULL_GUID
    description: str = ""
    full_path: str = ""
    actual_cost: int = MIN_ACTUAL_COST
    site1_identifier: UUID = NULL_GUID
    site2_identifier: UUID = NULL_GUID
    site_gate_identifier_list: tuple[UUID, ...] = ()


@dataclass(slots=True)
class ConnectedNetwork:
    """ConnectedNetwork ([MS-MQDMPR] 3.1.1.9)."""

    identifier: UUID = NULL_GUID
    name: str = ""
    security: bytes = b""


@dataclass(slots=True)
class User:
    """User ([MS-MQDMPR] 3.1.1.15): a SID with encoded certificates and their MD5 digests.

    `certificate_identifiers` are the GUIDs that MQUSERSIGNCERT has for the certificates.
    `groups` are all groups that the user belongs to, as tokenGroups of Active Directory.
    """

    identifier: UUID = NULL_GUID
    security_identifier: SID = NULL_SID
    certificate_digest_list: tuple[bytes, ...] = ()
    certificates: tuple[bytes, ...] = ()
    certificate_identifiers: tuple[UUID, ...] = ()
    groups: tuple[SID, ...] = ()


@dataclass(slots=True)
class DistributionList:
    """Format names that a message for `DL=identifier` goes to; some may be lists again."""

    identifier: UUID = NULL_GUID
    name: str = ""
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InternalCertificate:
    """InternalCertificate ([MS-MQDMPR] 3.1.1.19): that of a user which no authority has issued."""

    user: SID
    certificate: bytes


DirectoryObject: TypeAlias = (
    QueueManagerObject
    | QueueObject
    | Enterprise
    | Site
    | RoutingLink
    | ConnectedNetwork
    | User
    | DistributionList
)

OBJECT_CLASSES: Final[dict[ElementType, type[DirectoryObject]]] = {
    ElementType.QUEUE_MANAGER: QueueManagerObject,
    ElementType.QUEUE: QueueObject,
    ElementType.ENTERPRISE: Enterprise,
    ElementType.SITE: Site,
    ElementType.ROUTING_LINK: RoutingLink,
    ElementType.CONNECTED_NETWORK: ConnectedNetwork,
    ElementType.USER: User,
    ElementType.DISTRIBUTION_LIST: DistributionList,
}
OBJECT_TYPES: Final = {cls: kind for kind, cls in OBJECT_CLASSES.items()}


def attribute_names(kind: ElementType) -> frozenset[str]:
    """The names of the directory attributes of a type."""
    return frozenset(item.name for item in fields(OBJECT_CLASSES[kind]))


def copy_attributes(
    source: DirectoryObject, target: DirectoryObject, names: frozenset[str]
) -> None:
    """Take over the named attributes; the identifier of the target stays."""
    for name in names - {"identifier"}:
        setattr(target, name, getattr(source, name))
