"""Requests of a client of remote read to its driver, one after another."""

from collections.abc import Generator
from typing import Any, Final, NamedTuple, TypeVar

from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.ndr import Call

T = TypeVar("T")

# [MS-MQRR] 3.1.2.1, [MS-MQQP] 3.2.4.1: the time limit of an open.
CALL_SECONDS: Final = 300.0


class Connect(NamedTuple):
    """Connect to a port of the server and bind; the result is the number of the connection.

    A refusal is thrown into the generator: `InterfaceUnknown` when the server does not offer the
    interfaces, else `ConnectionClosed`.

    Attributes:
        authenticated: whether the credentials are used; the endpoint mapper needs none.
    """

    port: int
    interfaces: tuple[RpcInterface, ...]
    authenticated: bool = True


class Invoke(NamedTuple):
    """Make a call; the result is its response. `RpcFault` and `ConnectionClosed` are thrown.

    Attributes:
        waits: whether the server may answer late, so that other calls must not wait behind it.
    """

    connection: int
    interface: RpcInterface
    call: Call
    request: Any  # Of any operation.
    waits: bool = False


class HangUp(NamedTuple):
    """Close a connection that is no longer needed; there is no result."""

    connection: int


Step = Connect | Invoke | HangUp
# Any: the result of a step.
Steps = Generator[Step, Any, T]
