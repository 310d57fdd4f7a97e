"""Ports and RPC interfaces of Message Queuing."""

from enum import IntEnum
from typing import Final, NamedTuple
from uuid import UUID


class Port(IntEnum):
    """Where a queue manager listens, TCP unless said otherwise."""

    HTTP = 80
    ENDPOINT_MAPPER = 135
    LDAP = 389
    HTTPS = 443
    BINARY = 1801
    DIRECTORY_SERVICE = 2101
    REMOTE_READ = 2103
    QM2QM = 2105
    # UDP.
    PING = 3527


# [MS-MQRR] 3.1.4.1: if an RPC port is taken, the port this much higher is tried.
RPC_PORT_STEP: Final = 11


class RpcInterface(NamedTuple):
    """The abstract syntax of an RPC interface."""

    uuid: UUID
    major: int = 1
    minor: int = 0


QM2QM: Final = RpcInterface(UUID("1088a980-eae5-11d0-8d9b-00a02453c337"))
REMOTE_READ: Final = RpcInterface(UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28"))
QMCOMM: Final = RpcInterface(UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525"))
QMCOMM2: Final = RpcInterface(UUID("76d12b80-3467-11d3-91ff-0090272f9ea3"))
QMMGMT: Final = RpcInterface(UUID("41208ee0-e970-11d1-9b9e-00e02c064c39"))
DSCOMM: Final = RpcInterface(UUID("77df7a80-f298-11d0-8358-00a024c480a8"))
ENDPOINT_MAPPER: Final = RpcInterface(UUID("e1af8308-5d1f-11c9-91a4-08002b14a0fa"), 3)
MGMT: Final = RpcInterface(UUID("afa8bd80-7d8a-11c9-bef4-08002b102989"))
DSCOMM2: Final = RpcInterface(UUID("708cca10-9569-11d1-b2a5-0060977d8118"))
# Not of Microsoft: transactions of openmsmq across machines.
COORDINATOR: Final = RpcInterface(UUID("6f0f9d4e-2c53-4a06-9b5b-0d1a7c3f8e21"))
