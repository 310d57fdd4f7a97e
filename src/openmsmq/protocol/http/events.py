"""Requests of HTTP connections to the shell, and their events for protocol/srmp."""

from dataclasses import dataclass
from enum import StrEnum

from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .destination import Route


class CloseReason(StrEnum):
    """Why a connection ended; the texts are for logs, counters and users."""

    MALFORMED = "not HTTP"
    TOO_LARGE = "more than the limits allow"
    TOO_SLOW = "a request took too long"
    NOT_READING = "the other side does not read its answers"
    IDLE = "idle"
    FINISHED = "the other side asked to close"
    NO_RESPONSE = "no response in time"
    BAD_RESPONSE = "a response is not HTTP"
    STOPPED = "stopped"
    HUNG_UP = "ended by an administrator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """Connect, use TLS with `host` if `secure`, then call `connected` or `connect_failed`.

    Attributes:
        route: the address to connect to, and the tunnel to request before TLS begins.
        host: the name required in the certificate.
    """

    connection: int
    route: Route
    host: str
    secure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnect:
    """Send this last data on the connection, then close it; its number is invalid afterwards."""

    connection: int
    reason: CloseReason
    detail: str = ""
    data: tuple[bytes, ...] = ()


Event = Connect | Disconnect


@dataclass(frozen=True, slots=True, kw_only=True)
class OutletOpened:
    """The host of an outlet is connected."""

    outlet: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The responses to posts of an outlet, in the order of the posts.

    Attributes:
        answers: pairs of a token and the HTTP status.
    """

    outlet: int
    answers: list[tuple[object, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutletFailed:
    """An outlet has ended: its host is unreachable, or did not answer.

    Attributes:
        status: for the connection history.
        reason: why, as text.
        unanswered: the tokens of the posts without a response, in order.
    """

    outlet: int
    status: ConnectionStatus
    reason: str
    unanswered: list[object]


OutletEvent = OutletOpened | Answered | OutletFailed
