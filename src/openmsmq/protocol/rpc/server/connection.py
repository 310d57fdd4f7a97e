"""One connection of a client: a state machine over PDUs, and the calls in progress.

C706 chapters 9 and 12, [MS-RPCE] 3.3.3. Answers to PDUs that break the protocol are those of
Windows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from openmsmq.protocol.rpc.assembly import Assembly
from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.protocol.rpc.handles import ContextHandle, Rundown
from openmsmq.protocol.rpc.negotiation import PresentationContext
from openmsmq.protocol.rpc.protection import fragments, whole_pdu
from openmsmq.security.caller import ANONYMOUS_CALLER, Caller
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.rpc.bind import BindNak
from openmsmq.wire.rpc.call import CALL_HEADER_SIZE, Fault, unpack_call
from openmsmq.wire.rpc.framer import PduFramer
from openmsmq.wire.rpc.header import (
    LITTLE_ENDIAN_DREP,
    RPC_VERS,
    WHOLE,
    CommonHeader,
    PduType,
    PfcFlags,
    pack_pdu,
)
from openmsmq.wire.rpc.status import (
    NCA_S_FAULT_REMOTE_NO_MEMORY,
    NCA_S_PROTO_ERROR,
    RPC_ACCESS_DENIED,
    RPC_S_CALL_FAILED,
    RejectReason,
)

from .binding import MIN_FRAGMENT, alter_context, auth3, bind
from .dispatch import leave_queue, run_next
from .events import CloseReason
from .requests import request
from .state import State

if TYPE_CHECKING:
    from openmsmq.protocol.rpc.associations import Association

    from .call import ServerCall
    from .security import SecurityContexts
    from .server import Endpoint, RpcServer

_DID_NOT_EXECUTE: Final = int(PfcFlags.PFC_DID_NOT_EXECUTE)
_RESPONSE: Final = int(PduType.RESPONSE)
_REQUEST: Final = int(PduType.REQUEST)
_BOUND: Final = State.BOUND
_CLOSED: Final = State.CLOSED
_DREP: Final = LITTLE_ENDIAN_DREP[0]
_MINOR_VERSIONS: Final = (0, 1)
# Windows answers with the low byte of the context id.
_RESPONSE_CONTEXT_MASK: Final = 0xFF
_HANDLE_ATTRIBUTES: Final = bytes(4)


class ServerConnection:
    """One connection.

    Attributes:
        number: its number in the server.
        address: of the client.
        local_address: the address of this machine at which the client connected.
        endpoint: the port of the connection, with the interfaces that it offers.
        association: the group of connections that share context handles; None before the bind.
    """

    __slots__ = (
        "_framer",
        "_output",
        "address",
        "assembly",
        "association",
        "calls",
        "contexts",
        "endpoint",
        "header_signing",
        "last_call_id",
        "local_address",
        "max_fragment",
        "multiplexed",
        "number",
        "received_bytes",
        "reply_bytes",
        "security",
        "sent_bytes",
        "server",
        "state",
    )

    def __init__(
        self, server: RpcServer, number: int, address: str, local_address: str, endpoint: Endpoint
    ) -> None:
        self.server = server
        self.number = number
        self.address = address
        self.local_address = local_address
        self.endpoint = endpoint
        self.state = State.CONNECTED
        self.association: Association | None = None
        self.contexts: dict[int, PresentationContext] = {}
        # Calls without an answer yet, and calls whose answer waits for a batch.
        self.calls: dict[int, ServerCall] = {}
        # Bytes of replies that the client has not read yet.
        self.reply_bytes = 0
        # Over the connection so far.
        self.received_bytes = 0
        self.sent_bytes = 0
        self._framer = PduFramer()
        self._output: list[bytes] = []
        self.assembly: Assembly | None = None
        self.security: SecurityContexts | None = None
        self.header_signing = False
        self.multiplexed = False
        self.last_call_id = -1
        self.max_fragment = MIN_FRAGMENT

    # Calls of the server

    @property
    def paused(self) -> bool:
        """Whether replies are waiting, and reading pauses until the client has read them."""
        return self.reply_bytes > self.server.settings.pause_reply_bytes

    @property
    def may_read(self) -> bool:
        return not self.paused

    @property
    def has_input(self) -> bool:
        """Whether received bytes wait to be processed."""
        return self._framer.pending_bytes > 0

    @property
    def settled(self) -> bool:
        """Whether the client has bound, and no authentication is in progress."""
        return self.state is not State.CONNECTED and (
            self.security is None or not self.security.negotiating
        )

    @property
    def caller(self) -> Caller:
        """The identity of the client; Anonymous Logon until it has authenticated."""
        context = None if self.security is None else self.security.established
        return ANONYMOUS_CALLER if context is None else context.caller

    @property
    def identity(self) -> str:
        """The name with which the client logged on, for users; empty without a logon."""
        context = None if self.security is None else self.security.established
        return "" if context is None else context.identity

    def keep_data(self, data: bytes) -> None:
        """Store bytes of the connection; `process` parses them."""
        self.received_bytes += len(data)
        self._framer.feed(data)

    def receive_data(self, data: bytes, now: float) -> None:
        """Store bytes of the connection."""
        self.keep_data(data)
        self.process(now)

    def process(self, now: float) -> None:
        """Process received PDUs, as long as the client reads its replies."""
        limit = self.server.settings.pause_reply_bytes
        framer = self._framer
        try:
            while self.state is not _CLOSED and self.reply_bytes <= limit:
                pdu = framer.next()
                if pdu is None:
                    return
                self._receive(pdu, now)
        except MalformedPacket as exc:
            self.close(CloseReason.PROTOCOL_ERROR, str(exc))

    def data_to_send(self) -> list[bytes]:
        """Bytes for the connection, in order; each is returned once."""
        output, self._output = self._output, []
        size = sum(map(len, output))
        self.reply_bytes -= size
        self.sent_bytes += size
        return output

    def connection_lost(self) -> None:
        """The connection was closed: its calls are abandoned."""
        self.state = State.CLOSED
        self._output.clear()
        self.drop_assembly()
        calls = list(self.calls.values())
        for call in calls:
            self._forget(call)
            leave_queue(call)
            call.abandon()
        for call in calls:
            run_next(call)
        if self.association is not None:
            self.server.associations.leave(self.association, self)
            self.association = None

    def close(self, reason: CloseReason, detail: str = "") -> None:
        """End the connection once all output has been sent."""
        if self.state is not State.CLOSED:
            output = self.data_to_send()
            self.connection_lost()
            self.server.disconnect(self, output, reason, detail)

    # The state machine

    def _receive(self, pdu: bytes, now: float) -> None:
        self.server.counters.packets_in += 1
        ptype = pdu[2]
        if pdu[4] != _DREP or pdu[0] != RPC_VERS or pdu[1] not in _MINOR_VERSIONS:
            # Choice: other representations than little-endian with ASCII are refused.
            self._refuse_version(pdu)
            return
        try:
            if ptype == _REQUEST and self.state is _BOUND:
                # The row of every call, without the table: hashing a state is slower.
                request(self, pdu, now)
            else:
                action = _TABLE.get((self.state, ptype), ServerConnection._out_of_order)
                action(self, pdu, now)
        except MalformedPacket as exc:
            self._malformed(pdu, str(exc))

    def _refuse_version(self, pdu: bytes) -> None:
        header, _ = CommonHeader.parse(pdu)
        if header.ptype == PduType.BIND and self.state is State.CONNECTED:
            self.refuse_bind(header.call_id, RejectReason.PROTOCOL_VERSION_NOT_SPECIFIED, "version")
        else:
            self.protocol_error(header.call_id, "version or data representation")

    def _malformed(self, pdu: bytes, detail: str) -> None:
        call_id = unpack_call(pdu.ljust(CALL_HEADER_SIZE, b"\0"), 0)[7]
        if pdu[2] == PduType.BIND:
            reason = RejectReason.PROTOCOL_VERSION_NOT_SPECIFIED
            self.refuse_bind(call_id, reason, detail)
        elif pdu[2] == PduType.AUTH3:
            self.fault_and_close(call_id, NCA_S_FAULT_REMOTE_NO_MEMORY, detail)
        elif pdu[2] == PduType.ALTER_CONTEXT:
            self.fault_and_close(call_id, NCA_S_PROTO_ERROR, detail)
        else:
            self.protocol_error(call_id, detail)

    def _out_of_order(self, pdu: bytes, now: float) -> None:  # noqa: ARG002 - a row of the table
        header, _ = CommonHeader.parse(pdu)
        self.protocol_error(header.call_id, f"PDU type {header.ptype} is out of order")

    def _bind_again(self, pdu: bytes, now: float) -> None:  # noqa: ARG002 - a row of the table
        header, _ = CommonHeader.parse(pdu)
        self.refuse_bind(header.call_id, RejectReason.REASON_NOT_SPECIFIED, "a second bind")

    def drop_assembly(self) -> None:
        """Drop the fragments of a request that is complete, or never will be."""
        if self.assembly is not None:
            self.server.unfinished_bytes -= len(self.assembly.stub)
            self.assembly = None

    # Calls in progress

    def _co_cancel(self, pdu: bytes, now: float) -> None:  # noqa: ARG002 - a row of the table
        call = self.calls.get(CommonHeader.parse(pdu)[0].call_id)
        if call is not None:
            call.cancel()

    def _orphaned(self, pdu: bytes, now: float) -> None:  # noqa: ARG002 - a row of the table
        call = self.calls.get(CommonHeader.parse(pdu)[0].call_id)
        if call is not None:
            self._forget(call)
            call.abandon()
            run_next(call)

    # Answers

    def keep(self, call: ServerCall) -> None:
        """A call has no answer yet, or its answer waits."""
        self.calls[call.call_id] = call
        self.server.total_calls += 1

    def _forget(self, call: ServerCall) -> None:
        del self.calls[call.call_id]
        self.server.total_calls -= 1
        self.reply_bytes -= len(call.answer)

    @property
    def is_busy(self) -> bool:
        """Whether the limit of calls without an answer is reached."""
        server = self.server
        settings = server.settings
        return (
            len(self.calls) >= settings.max_calls or server.total_calls >= settings.max_total_calls
        )

    def call_answered(self, call: ServerCall, depends: int) -> None:
        """A call was answered; the answer is sent once a batch is on disk."""
        gate = self.server.gate
        if gate is None or depends <= gate.durable_number:
            self._forget_answered(call)
            self._send_answer(call)
        else:
            if call.call_id not in self.calls:
                self.keep(call)
            self.reply_bytes += len(call.answer)
            gate.when_durable(depends, self._release, call)
        run_next(call)

    def _forget_answered(self, call: ServerCall) -> None:
        if self.calls.pop(call.call_id, None) is not None:
            self.server.total_calls -= 1

    def _release(self, call: ServerCall) -> None:
        """The batch of a waiting answer is on disk."""
        if not call.abandoned:
            self._forget(call)
            self._send_answer(call)

    def _send_answer(self, call: ServerCall) -> None:
        if call.answer_is_fault:
            self.write(call.answer)
            return
        answer, protection = call.answer, call.protection
        p_cont_id = call.p_cont_id & _RESPONSE_CONTEXT_MASK
        call.answer = b""
        if protection is None and len(answer) <= self.max_fragment - CALL_HEADER_SIZE:
            self.write(whole_pdu(_RESPONSE, answer, call.call_id, p_cont_id))
        else:
            try:
                pdus = fragments(
                    _RESPONSE,
                    answer,
                    call_id=call.call_id,
                    p_cont_id=p_cont_id,
                    max_fragment=self.max_fragment,
                    protection=protection,
                )
            except AuthenticationFailed as exc:
                self.close(CloseReason.AUTHENTICATION_FAILED, str(exc))
                return
            for pdu in pdus:
                self.write(pdu)
        if self.reply_bytes > self.server.settings.max_reply_bytes:
            self._output.clear()
            self.close(CloseReason.NOT_READING)

    def write(self, pdu: bytes) -> None:
        server = self.server
        if not self._output:
            server.mark_ready(self)
        server.counters.packets_out += 1
        self._output.append(pdu)
        self.reply_bytes += len(pdu)

    def fault_pdu(self, call_id: int, status: int, *, p_cont_id: int = 0, flags: int = 0) -> bytes:
        """A fault; it carries no signature."""
        self.server.counters.faults += 1
        return Fault(call_id, status, WHOLE | flags, p_cont_id).serialize()

    def send_fault(self, call_id: int, status: int, *, p_cont_id: int = 0) -> None:
        """Answer a call that did not run; the connection stays open."""
        flags = _DID_NOT_EXECUTE
        self.write(self.fault_pdu(call_id, status, p_cont_id=p_cont_id, flags=flags))

    def refuse_bind(
        self, call_id: int, reason: RejectReason, detail: str, *, authentication: bool = False
    ) -> None:
        self.write(pack_pdu(PduType.BIND_NAK, call_id, BindNak(reason).serialize()))
        why = CloseReason.AUTHENTICATION_FAILED if authentication else CloseReason.BIND_REFUSED
        self.close(why, detail)

    def fault_and_close(
        self, call_id: int, status: int, detail: str, *, authentication: bool = False
    ) -> None:
        """A fault for a PDU that was not executed, and the end."""
        self.write(self.fault_pdu(call_id, status, flags=_DID_NOT_EXECUTE))
        why = CloseReason.AUTHENTICATION_FAILED if authentication else CloseReason.PROTOCOL_ERROR
        self.close(why, detail)

    def protocol_error(self, call_id: int, detail: str) -> None:
        """[MS-RPCE] 3.3.3.5.7"""
        self.write(self.fault_pdu(call_id, NCA_S_PROTO_ERROR))
        self.close(CloseReason.PROTOCOL_ERROR, detail)

    def fail_call(
        self, assembly: Assembly, status: int, detail: str, *, authentication: bool = False
    ) -> None:
        """A fault for the call of these fragments, and the end."""
        self.write(self.fault_pdu(assembly.call_id, status, p_cont_id=assembly.p_cont_id))
        why = CloseReason.PROTOCOL_ERROR
        if authentication:
            why = CloseReason.AUTHENTICATION_FAILED
        elif status == RPC_ACCESS_DENIED:
            why = CloseReason.ACCESS_DENIED
        self.close(why, detail)

    # Context handles

    def open_handle(self, call: ServerCall, value: Any, rundown: Rundown) -> bytes:
        """Create a context handle."""
        association = self.association
        if association is None:
            raise RpcFault(RPC_S_CALL_FAILED, "the client has disconnected")
        wire = _HANDLE_ATTRIBUTES + self.server.random_bytes(16)
        handle = ContextHandle(
            wire, value, interface=call.context.served, caller=call.caller, rundown=rundown
        )
        association.handles.add(handle)
        return wire

    def close_handle(self, handle: ContextHandle) -> None:
        """Remove a context handle."""
        if self.association is not None:
            self.association.handles.close(handle)


_Action = Callable[[ServerConnection, bytes, float], None]
_TABLE: Final[dict[tuple[State, int], _Action]] = {
    (State.CONNECTED, PduType.BIND): bind,
    (State.BOUND, PduType.BIND): ServerConnection._bind_again,
    (State.BOUND, PduType.ALTER_CONTEXT): alter_context,
    (State.BOUND, PduType.AUTH3): auth3,
    (State.BOUND, PduType.REQUEST): request,
    (State.BOUND, PduType.CO_CANCEL): ServerConnection._co_cancel,
    (State.BOUND, PduType.ORPHANED): ServerConnection._orphaned,
}
