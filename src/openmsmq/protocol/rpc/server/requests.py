"""request: fragments, their protection, and their dispatch as calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.protocol.rpc.assembly import Assembly
from openmsmq.protocol.rpc.protection import Protection, open_fragment
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.rpc.call import CALL_HEADER_SIZE, OBJECT_SIZE, unpack_call
from openmsmq.wire.rpc.header import WHOLE, PfcFlags
from openmsmq.wire.rpc.sec_trailer import Verifier, parse_verifier
from openmsmq.wire.rpc.status import (
    NCA_S_PROTO_ERROR,
    NCA_S_UNK_IF,
    RPC_ACCESS_DENIED,
    RPC_S_NO_CALL_ACTIVE,
    RPC_S_SEC_PKG_ERROR,
    RejectReason,
)

from .dispatch import dispatch
from .security import Authentication, SecurityRefused

if TYPE_CHECKING:
    from .connection import ServerConnection

_FIRST: Final = int(PfcFlags.PFC_FIRST_FRAG)
_LAST: Final = int(PfcFlags.PFC_LAST_FRAG)
_PENDING_CANCEL: Final = int(PfcFlags.PFC_PENDING_CANCEL)
_OBJECT_UUID: Final = int(PfcFlags.PFC_OBJECT_UUID)
_UNUSUAL: Final = WHOLE | _PENDING_CANCEL | _OBJECT_UUID
# [MS-RPCE] 3.3.3.5.6: fragments of calls this much older are ignored.
_OLD_CALLS: Final = 150


def request(connection: ServerConnection, pdu: bytes, now: float) -> None:
    """Process a fragment of a request, and run the call with its last one."""
    size = len(pdu)
    if size < CALL_HEADER_SIZE:
        raise MalformedPacket("request", 0, f"{size} bytes are too few")
    _, _, _, flags, _, _, auth_length, call_id, _, p_cont_id, opnum = unpack_call(pdu, 0)
    if size > connection.server.settings.max_fragment:
        connection.protocol_error(call_id, "a fragment is too long")
        return
    if (
        flags & _UNUSUAL == WHOLE
        and not auth_length
        and connection.security is None
        and connection.assembly is None
        and call_id >= connection.last_call_id
        and call_id not in connection.calls
    ):
        # Most calls without authentication take this shortcut to the same end.
        connection.last_call_id = call_id
        dispatch(connection, call_id, p_cont_id, opnum, pdu[CALL_HEADER_SIZE:], None, now)
    else:
        _take_fragment(connection, pdu, now)


def _take_fragment(connection: ServerConnection, pdu: bytes, now: float) -> None:
    """Check the state, the security context and the order of a fragment, then keep or run it."""
    _, _, _, flags, _, _, auth_length, call_id, alloc_hint, p_cont_id, opnum = unpack_call(pdu, 0)
    stub_start = CALL_HEADER_SIZE
    if flags & _OBJECT_UUID:
        stub_start += OBJECT_SIZE
        if len(pdu) < stub_start:
            raise MalformedPacket("request.object", CALL_HEADER_SIZE, "too few bytes")
    verifier = parse_verifier(pdu, auth_length, stub_start) if auth_length else None
    begun = connection.assembly
    if begun is None:
        assembly = Assembly(call_id, p_cont_id, opnum)
        if not _may_begin(connection, assembly, flags):
            return
    else:
        assembly = begun
        if not _may_continue(connection, assembly, call_id, verifier):
            return
    opened = _open(connection, pdu, stub_start, verifier, assembly)
    if opened is None:
        return
    stub, protection = opened
    if flags & WHOLE == WHOLE and begun is None:
        connection.last_call_id = call_id
        dispatch(connection, call_id, p_cont_id, opnum, stub, protection, now)
    elif (flags & _FIRST != 0) != (begun is None):
        connection.fail_call(assembly, NCA_S_PROTO_ERROR, "a first fragment is missing or repeated")
    elif begun is None and alloc_hint > connection.server.settings.max_request_bytes:
        connection.fail_call(assembly, RPC_ACCESS_DENIED, f"a request of {alloc_hint} bytes")
    else:
        connection.assembly = assembly
        _add_fragment(connection, assembly, stub, protection, now, last=flags & _LAST != 0)


def _may_begin(connection: ServerConnection, assembly: Assembly, flags: int) -> bool:
    """Whether a fragment may begin a call; answer it if not."""
    call_id = assembly.call_id
    if not flags & _FIRST:
        return _may_be_stray(connection, assembly)
    if flags & _PENDING_CANCEL:
        connection.fault_and_close(call_id, RPC_S_NO_CALL_ACTIVE, "a first fragment is cancelled")
    elif call_id < connection.last_call_id or call_id in connection.calls:
        # [MS-RPCE] 3.3.3.5.2
        connection.protocol_error(call_id, "call_id does not grow")
    else:
        return True
    return False


def _may_be_stray(connection: ServerConnection, assembly: Assembly) -> bool:
    """Whether the signature of a fragment of no call is checked; so it is if multiplexed."""
    call_id = assembly.call_id
    if 0 <= connection.last_call_id - call_id < _OLD_CALLS:
        return False
    if not connection.multiplexed:
        connection.protocol_error(call_id, "a fragment of no call")
        return False
    if assembly.p_cont_id not in connection.contexts:
        connection.send_fault(call_id, NCA_S_UNK_IF)
        return False
    return True


def _may_continue(
    connection: ServerConnection, assembly: Assembly, call_id: int, verifier: Verifier | None
) -> bool:
    """Whether a fragment belongs to the call in progress; answer it if not."""
    if assembly.call_id != call_id:
        if connection.multiplexed:
            connection.protocol_error(call_id, "fragments of two calls are mixed")
        else:
            connection.fail_call(assembly, NCA_S_PROTO_ERROR, "fragments of two calls are mixed")
        return False
    if (verifier is None) != (assembly.auth_context_id < 0):
        connection.fail_call(assembly, NCA_S_PROTO_ERROR, "verifiers in some fragments only")
        return False
    return True


def _open(
    connection: ServerConnection,
    pdu: bytes,
    stub_start: int,
    verifier: Verifier | None,
    assembly: Assembly,
) -> tuple[bytes, Protection | None] | None:
    """The stub of a fragment, checked and decrypted; None if it was answered with a fault."""
    first = assembly is not connection.assembly
    try:
        protection = _protection(connection, verifier, assembly, first=first)
        if protection is not None and protection.signs and verifier is not None:
            return open_fragment(pdu, stub_start, verifier, protection), protection
    except SecurityRefused as refused:
        _refuse_security(connection, assembly, refused)
        return None
    except AuthenticationFailed as exc:
        connection.fail_call(assembly, RPC_S_SEC_PKG_ERROR, str(exc), authentication=True)
        return None
    end = len(pdu) if verifier is None else verifier.body_end
    return pdu[stub_start:end], protection


def _protection(
    connection: ServerConnection, verifier: Verifier | None, assembly: Assembly, *, first: bool
) -> Protection | None:
    """The protection of a fragment; all fragments have that of the first one."""
    security = connection.security
    if security is None:
        if verifier is None:
            return None
        raise SecurityRefused(
            RejectReason.REASON_NOT_SPECIFIED, RPC_ACCESS_DENIED, "no such context"
        )
    authentication: Authentication | None
    if not first and verifier is not None:
        # The type and level named in a later fragment are ignored.
        authentication = security.known(assembly.auth_context_id)
    else:
        authentication = security.of_request(verifier)
        if verifier is not None:
            assembly.auth_context_id = verifier.trailer.auth_context_id
    if authentication is None:
        return None
    return authentication.protection(header_signing=connection.header_signing)


def _refuse_security(
    connection: ServerConnection, assembly: Assembly, refused: SecurityRefused
) -> None:
    if refused.status == NCA_S_PROTO_ERROR:
        connection.fault_and_close(assembly.call_id, refused.status, refused.detail)
    else:
        connection.fail_call(assembly, refused.status, refused.detail, authentication=True)


def _add_fragment(
    connection: ServerConnection,
    assembly: Assembly,
    stub: bytes,
    protection: Protection | None,
    now: float,
    *,
    last: bool,
) -> None:
    """Store a fragment, and run the call with its last one."""
    server = connection.server
    settings = server.settings
    assembly.stub += stub
    server.unfinished_bytes += len(stub)
    if len(assembly.stub) > settings.max_request_bytes:
        connection.fail_call(assembly, RPC_ACCESS_DENIED, "a request is too long")
    elif server.unfinished_bytes > settings.max_unfinished_bytes:
        connection.fail_call(assembly, RPC_ACCESS_DENIED, "too many unfinished requests")
    elif last:
        connection.drop_assembly()
        connection.last_call_id = assembly.call_id
        stub = bytes(assembly.stub)
        call_id, p_cont_id = assembly.call_id, assembly.p_cont_id
        dispatch(connection, call_id, p_cont_id, assembly.opnum, stub, protection, now)
