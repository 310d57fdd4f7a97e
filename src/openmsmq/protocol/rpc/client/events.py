"""Events of a client's connection."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from openmsmq.wire.errors import MsmqError


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The server accepted the bind, and the client is authenticated if it asked for it."""


class Answered(NamedTuple):
    """A call was answered; `response` is the record of its response.

    A tuple, since every call has one.
    """

    call_id: int
    # Any: the response of any operation.
    response: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A call ended without a response: `RpcFault`, `ConnectionClosed` or `MalformedPacket`."""

    call_id: int
    error: MsmqError


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The connection has ended and can be closed; its calls failed before."""

    error: MsmqError


ClientEvent = Bound | Answered | Failed | Closed
