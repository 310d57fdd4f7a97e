"""Events of sessions and of the protocol for their drivers."""

from dataclasses import dataclass
from enum import StrEnum

from openmsmq.wire.message.user_message_run import UserMessageRun


class CloseReason(StrEnum):
    """Why a session ended; the texts are for logs, counters and users."""

    BAD_VERSION = "bad version"
    BAD_SIGNATURE = "bad signature"
    BAD_SIZE = "bad packet size"
    BAD_TYPE = "bad packet type"
    BAD_ORDER = "packet out of order"
    MALFORMED = "malformed packet"
    BAD_COUNTS = "message counts do not match"
    BAD_ACKNOWLEDGMENT = "acknowledgment of what was not sent"
    WRONG_PEER = "another queue manager answered"
    REFUSED = "refused by the other side"
    REFUSING = "refused here"
    NOT_ESTABLISHED = "not established in time"
    NOT_ACKNOWLEDGED = "no acknowledgment in time"
    NOT_READING = "the other side sends but does not read"
    IDLE = "idle"
    DISCONNECTED = "connection lost"
    NO_ROOM = "no room for messages"
    CHECK_FAILED = "a check of messages failed"
    HUNG_UP = "ended by an administrator"
    OFFLINE = "taken offline"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """An event of a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Established(SessionEvent):
    """The acceptor answered the initiator: EstablishPacketReceived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(SessionEvent):
    """Both sides may send messages from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesReceived(SessionEvent):
    """All messages of one read."""

    runs: list[UserMessageRun]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesAcknowledged(SessionEvent):
    """The tokens of messages that the peer has.

    `received` are all that are acknowledged as received now, `express` the express ones of them,
    `recoverable` the recoverable ones that are on the disk of the peer.
    """

    received: list[object]
    express: list[object]
    recoverable: list[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed(SessionEvent):
    """The session is over: close the connection once its output has left."""

    reason: CloseReason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """Resolve the host, connect to the port and call `connected` or `connect_failed`."""

    connection: int
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPing:
    """Resolve the host and send the datagram; pass the answer to `ping_response`.

    If the host cannot be resolved, call `connect_failed` with the same connection.
    """

    connection: int
    host: str
    port: int
    datagram: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect:
    """Send this last data on the connection, then close it; its number is invalid afterwards."""

    connection: int
    reason: CloseReason
    detail: str = ""
    data: tuple[bytes, ...] = ()


Event = Connect | SendPing | Disconnect
