"""From a complete request to its handler, and between calls on one context handle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.security.caller import ANONYMOUS_CALLER
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.rpc.header import LITTLE_ENDIAN_DREP, PduType
from openmsmq.wire.rpc.status import (
    NCA_S_FAULT_CONTEXT_MISMATCH,
    NCA_S_OP_RNG_ERROR,
    NCA_S_SERVER_TOO_BUSY,
    NCA_S_UNK_IF,
    RPC_ACCESS_DENIED,
    RPC_X_BAD_STUB_DATA,
    AuthnLevel,
)
from openmsmq.wire.rpc.verification_trailer import (
    CLIENT_SUPPORT_HEADER_SIGNING,
    Header2,
    VerificationTrailer,
)
from openmsmq.wire.security.sid import ANONYMOUS

from .call import ServerCall

if TYPE_CHECKING:
    from openmsmq.protocol.rpc.protection import Protection

    from .connection import ServerConnection


def dispatch(
    connection: ServerConnection,
    call_id: int,
    p_cont_id: int,
    opnum: int,
    stub: bytes,
    protection: Protection | None,
    now: float,
) -> None:
    """Run a call; errors are answered with a fault, and the connection stays open."""
    connection.server.counters.calls_in += 1
    context = connection.contexts.get(p_cont_id)
    if context is None:
        connection.send_fault(call_id, NCA_S_UNK_IF)
        return
    served = context.served.operations.get(opnum)
    if served is None:
        connection.send_fault(call_id, NCA_S_OP_RNG_ERROR, p_cont_id=p_cont_id)
        return
    if protection is None:
        caller, level = ANONYMOUS_CALLER, AuthnLevel.NONE
    else:
        caller, level = protection.context.caller, protection.level
        if caller.sid == ANONYMOUS:
            # A logon without a password proves nothing.
            level = AuthnLevel.NONE
    if level < served.minimum_level:
        connection.send_fault(call_id, RPC_ACCESS_DENIED, p_cont_id=p_cont_id)
        return
    if connection.is_busy:
        connection.send_fault(call_id, NCA_S_SERVER_TOO_BUSY, p_cont_id=p_cont_id)
        return
    call = ServerCall(
        connection,
        call_id,
        p_cont_id,
        context,
        served,
        caller=caller,
        level=level,
        protection=protection,
        now=now,
    )
    try:
        request, end = served.call.request.decode(stub, context.syntax)
        if len(stub) > end:
            _check_trailer(call, opnum, stub, end)
        if served.handle:
            _find_handle(call, getattr(request, served.handle))
    except MalformedPacket:
        # [MS-RPCE] 3.1.3.5.2
        connection.send_fault(call_id, RPC_X_BAD_STUB_DATA, p_cont_id=p_cont_id)
        return
    except RpcFault as fault:
        connection.send_fault(call_id, fault.status, p_cont_id=p_cont_id)
        return
    if served.serialize and call.handle is not None and not call.handle.enter(call):
        call.request = request
        connection.keep(call)
        return
    _run(call, request)


# Any: the parameters of any operation.
def _run(call: ServerCall, request: Any) -> None:
    try:
        call.served.handler(call, request)
    except RpcFault as fault:
        call.fault(fault.status, did_not_execute=fault.did_not_execute)
    except QueueError as error:
        call.fail(error.code)
    if call.open and call.call_id not in call.connection.calls:
        call.connection.keep(call)


def leave_queue(call: ServerCall) -> None:
    """A call no longer waits for its turn on its handle."""
    if call.handle is not None:
        call.handle.leave(call)


def run_next(call: ServerCall) -> None:
    """A call ended: the next one on its handle runs, if the handle is still open."""
    handle = call.handle
    if handle is None or not call.served.serialize:
        return
    handle.leave(call)
    if handle.draining:
        return
    handle.draining = True
    while (following := handle.next()) is not None:
        if handle.closed:
            following.fault(NCA_S_FAULT_CONTEXT_MISMATCH)
        else:
            _run(following, following.request)
    handle.draining = False


def _find_handle(call: ServerCall, wire: bytes) -> None:
    if wire == CONTEXT_HANDLE_NULL:
        if not call.served.null_handle:
            raise RpcFault(NCA_S_FAULT_CONTEXT_MISMATCH)
        return
    association = call.connection.association
    assert association is not None  # noqa: S101 - the connection is bound
    call.handle = association.handles.find(wire, call.context.served, call.caller)


def _check_trailer(call: ServerCall, opnum: int, stub: bytes, end: int) -> None:
    """[MS-RPCE] 2.2.2.13: the values repeated in the trailer must equal those of the PDUs.

    Raises:
        RpcFault: a value differs, or a mandatory one is unknown.
        MalformedPacket: the trailer is cut off.
    """
    trailer = VerificationTrailer.find(stub, end)
    if trailer is None:
        return
    wanted = call.context
    expected = Header2(PduType.REQUEST, LITTLE_ENDIAN_DREP, call.call_id, call.p_cont_id, opnum)
    signing = trailer.bits is not None and trailer.bits & CLIENT_SUPPORT_HEADER_SIGNING
    if (
        trailer.unknown
        or (signing and not call.connection.header_signing)
        or trailer.interface not in (None, wanted.abstract_syntax)
        or trailer.transfer_syntax not in (None, wanted.transfer_syntax)
        or trailer.header2 not in (None, expected)
    ):
        raise RpcFault(RPC_ACCESS_DENIED, "the verification trailer differs")
