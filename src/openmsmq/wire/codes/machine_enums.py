"""Codes of queue managers and of their directory objects ([MS-MQMQ] 2.2.3, 2.3.2, 2.3.13)."""

from enum import IntEnum, IntFlag


class MachineService(IntFlag):
    """PROPID_QM_SERVICE: the roles of a queue manager."""

    NONE = 0x00
    ROUTING = 0x01
    BACKUP_SITE_CONTROLLER = 0x02
    PRIMARY_SITE_CONTROLLER = 0x04
    PRIMARY_ENTERPRISE_CONTROLLER = 0x08
    REMOTE_ACCESS = 0x10


class OperatingSystem(IntEnum):
    """PROPID_QM_OS."""

    NONE = 0x000
    FOREIGN = 0x100
    WINDOWS_95 = 0x200
    CLIENT = 0x300
    SERVER = 0x400
    ENTERPRISE = 0x500


class DirectoryObjectType(IntEnum):
    """The kinds of objects that a directory of Message Queuing holds."""

    QUEUE = 1
    MACHINE = 2
    SITE = 3
    DELETED = 4
    CONNECTED_NETWORK = 5
    ENTERPRISE = 6
    USER = 7
    ROUTING_LINK = 8


class SecurityInformation(IntFlag):
    """Which parts of a security descriptor are meant."""

    OWNER = 1
    GROUP = 2
    DACL = 4
    SACL = 8
