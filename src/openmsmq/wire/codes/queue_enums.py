"""Codes of queues and of what is done with them ([MC-MQAC] 2.2.2, [MS-MQMP] 2.2, [MS-MQMQ] 2.3)."""

from enum import IntEnum, IntFlag, StrEnum


class QueuePrivacyLevel(IntEnum):
    """MQ_PRIV_LEVEL_*: whether a queue takes encrypted messages."""

    NONE = 0
    OPTIONAL = 1
    BODY = 2


class AccessMode(IntFlag):
    """MQ_*_ACCESS; ADMIN with PEEK or RECEIVE opens an outgoing queue."""

    RECEIVE = 0x01
    SEND = 0x02
    MOVE = 0x04
    PEEK = 0x20
    ADMIN = 0x80


class ShareMode(IntEnum):
    """MQ_DENY_*."""

    DENY_NONE = 0
    DENY_RECEIVE_SHARE = 1


class ReceiveAction(IntEnum):
    """MQ_ACTION_*."""

    RECEIVE = 0x00000000
    PEEK_CURRENT = 0x80000000
    PEEK_NEXT = 0x80000001


class LookupAction(IntEnum):
    """MQ_LOOKUP_*: reading by lookup id."""

    PEEK_CURRENT = 0x40000010
    PEEK_NEXT = 0x40000011
    PEEK_PREV = 0x40000012
    PEEK_FIRST = 0x40000014
    PEEK_LAST = 0x40000018
    RECEIVE_CURRENT = 0x40000020
    RECEIVE_NEXT = 0x40000021
    RECEIVE_PREV = 0x40000022
    RECEIVE_FIRST = 0x40000024
    RECEIVE_LAST = 0x40000028
    RECEIVE_ALLOW_PEEK = 0x40000120


class TransactionArgument(IntEnum):
    """MQ_*_TRANSACTION, MQ_SINGLE_MESSAGE: what may stand in place of a transaction."""

    NONE = 0
    MTS = 1
    XA = 2
    SINGLE_MESSAGE = 3


class QueueState(StrEnum):
    """The words of PROPID_MGMT_QUEUE_STATE ([MS-MQMQ] 2.3.12.11)."""

    LOCAL_CONNECTION = "LOCAL CONNECTION"
    INACTIVE = "INACTIVE"
    WAITING = "WAITING"
    NEED_VALIDATION = "NEED VALIDATION"
    ONHOLD = "ONHOLD"
    CONNECTED = "CONNECTED"
    DISCONNECTING = "DISCONNECTING"
    DISCONNECTED = "DISCONNECTED"
    LOCKED = "LOCKED"


class ConnectionStatus(IntEnum):
    """The status of an entry of a connection history ([MS-MQMQ] 2.3.12.25)."""

    NONE = 0x00000000
    ESTABLISH_PACKET_RECEIVED = 0x00000001
    READY = 0x00000002
    UNKNOWN_FAILURE = 0x80000000
    PING_FAILURE = 0x80000001
    CREATE_SOCKET_FAILURE = 0x80000002
    BIND_SOCKET_FAILURE = 0x80000003
    CONNECT_SOCKET_FAILURE = 0x80000004
    TCP_NOT_ENABLED = 0x80000005
    SEND_FAILURE = 0x80000006
    NOT_READY_FAILURE = 0x80000007
    NAME_RESOLUTION_FAILURE = 0x80000008
    CERTIFICATE_VALIDATION_FAILURE = 0x80000009
    LIMIT_REACHED = 0x8000000A
    REFUSED_BY_OTHER_SIDE = 0x8000000B
    ROUTING_FAILURE = 0x8000000C
    OUT_OF_MEMORY = 0x8000000D
