"""What an RPC server asks its shell to do, and why."""

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
    STOPPED = "the server stops"
    LOST = "the connection was lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect:
    """A connection is to be closed once these bytes have left.

    Attributes:
        connection: the number of the connection.
        data: the last bytes.
        reason: why.
        detail: what happened, for people.
    """

    connection: int
    data: list[bytes]
    reason: CloseReason
    detail: str = ""
