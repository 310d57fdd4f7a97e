"""Interfaces of a server as tables of operations by opnum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.ndr import Call
from openmsmq.wire.rpc.status import AuthnLevel

if TYPE_CHECKING:
    from .server.call import ServerCall

# Any: a table holds operations of all parameters; each handler knows its own.
Handler = Callable[["ServerCall", Any], None]


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """An operation and its implementation on a server.

    Attributes:
        call: its opnum and parameters.
        handler: runs it; it answers by methods of the call, at once or later.
        handle: the parameter that is its context handle; empty for an operation without one.
        null_handle: whether that handle may be NULL, as `[in, out]` handles may.
        serialize: whether such calls on one handle run one at a time.
        minimum_level: a call at a lower level is answered with fault 5.
        failure: makes the response with a failure code; None sends it as a fault.
    """

    call: Call
    handler: Handler
    handle: str = ""
    null_handle: bool = False
    serialize: bool = False
    minimum_level: AuthnLevel = AuthnLevel.NONE
    failure: Callable[[int], Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ServedInterface:
    """An interface that a server offers; opnums that are not in the table are out of range."""

    interface: RpcInterface
    name: str
    operations: Mapping[int, Served]


def serve(interface: RpcInterface, name: str, operations: Sequence[Served]) -> ServedInterface:
    """Offer these operations of an interface."""
    table = {served.call.opnum: served for served in operations}
    assert len(table) == len(operations), f"{name}: an opnum is served twice"  # noqa: S101
    return ServedInterface(interface, name, table)
