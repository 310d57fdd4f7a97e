"""Codes of message properties ([MC-MQAC] 2.2.2, [MS-MQMQ] 2.2.19, 2.2.20)."""

from enum import IntEnum, IntFlag


class Acknowledgment(IntFlag):
    """MQMSG_ACKNOWLEDGMENT_*: which acknowledgments the sender asks for."""

    NONE = 0x00
    POS_ARRIVAL = 0x01
    POS_RECEIVE = 0x02
    NEG_ARRIVAL = 0x04
    NEG_RECEIVE = 0x08
    NACK_REACH_QUEUE = 0x04
    FULL_REACH_QUEUE = 0x05
    NACK_RECEIVE = 0x0C
    FULL_RECEIVE = 0x0E


class Delivery(IntEnum):
    """MQMSG_DELIVERY_*: UserHeader.Flags.DM."""

    EXPRESS = 0
    RECOVERABLE = 1


class Journal(IntFlag):
    """MQMSG_JOURNAL_*: what the sending machine keeps of the message."""

    NONE = 0
    DEADLETTER = 1
    JOURNAL = 2


class Trace(IntEnum):
    """MQMSG_TRACE_*."""

    NONE = 0
    SEND_ROUTE_TO_REPORT_QUEUE = 1


class SenderIdType(IntEnum):
    """MQMSG_SENDERID_TYPE_*: SecurityHeader.Flags.ST."""

    NONE = 0
    SID = 1
    QM = 2


class PrivacyLevel(IntEnum):
    """MQMSG_PRIV_LEVEL_*: MessagePropertiesHeader.PrivacyLevel."""

    NONE = 0
    BODY_BASE = 1
    BODY_ENHANCED = 3
    BODY_AES = 5


class AuthenticationLevel(IntFlag):
    """MQMSG_AUTH_LEVEL_*: which signatures the sender asks for."""

    NONE = 0
    ALWAYS = 1
    SIG10 = 2
    SIG20 = 4
    SIG30 = 8


class Authenticated(IntEnum):
    """MQMSG_AUTHENTICATED_*: SecurityHeader.Flags.AS, set by the receiver after checking."""

    NOT_REQUESTED = 0
    SIG10 = 1
    SIG20 = 3
    SIG30 = 5
    SIGXML = 9
    QM_MESSAGE = 11
