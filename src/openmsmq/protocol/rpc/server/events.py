"""Events of an RPC server for its shell, and requests to it."""

from dataclasses import dataclass
from enum import Enum


class CloseReason(Enum):
    """Why the server ended a connection; the text is for the log."""

    PROTOCOL_ERROR = "the client broke the protocol"
    BIND_REFUSED = "the bind was refused"
    AUTHENTICATION_FAILED = "the client could not be authenticated"
    ACCESS_DENIED = "a call was refused"
    NOT_BOUND = "the client did not bind in time"
    NOT_READING = "the client does not read its answers"
    HUNG_UP = "an administrator ended it"
    STOPPED = "the server stops"
    LOST = "the connection was lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedOn:
    """A client has authenticated.

    Attributes:
        connection: the number of the connection.
        address: where it connected from.
        identity: the name with which it logged on.
        sid: the SID of the account.
        level: the protection of its calls.
    """

    connection: int
    address: str
    identity: str
    sid: str
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect:
    """A connection must be closed once these bytes have been sent.

    Attributes:
        connection: the number of the connection.
        data: the last bytes.
        reason: the reason.
        detail: what happened, for users.
        identity: the name with which the client logged on; empty without a logon.
    """

    connection: int
    data: list[bytes]
    reason: CloseReason
    detail: str = ""
    identity: str = ""


ServerEvent = Disconnect | LoggedOn
