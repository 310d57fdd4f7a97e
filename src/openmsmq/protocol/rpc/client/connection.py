"""One connection to a server: bind, authentication, and many calls at once."""

from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, Final

from openmsmq.protocol.rpc.errors import ConnectionClosed, InterfaceUnknown, RpcFault
from openmsmq.protocol.rpc.protection import Protection, fragments, open_fragment, whole_pdu
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.errors import MalformedPacket, MsmqError, ProtocolViolation
from openmsmq.wire.ndr import Call
from openmsmq.wire.ndr.syntax import TransferSyntax
from openmsmq.wire.rpc.bind import Bind, BindAck, BindNak, ContextElement
from openmsmq.wire.rpc.call import CALL_HEADER_SIZE, Fault, unpack_call
from openmsmq.wire.rpc.framer import PduFramer
from openmsmq.wire.rpc.header import (
    HEADER_SIZE,
    LITTLE_ENDIAN_DREP,
    MAX_CALL_ID,
    RPC_VERS,
    WHOLE,
    CommonHeader,
    PduType,
    PfcFlags,
    pack_pdu,
)
from openmsmq.wire.rpc.sec_trailer import SecTrailer, parse_verifier
from openmsmq.wire.rpc.status import AuthnLevel, ContextResult, RejectReason
from openmsmq.wire.rpc.syntax import (
    KEEP_CONNECTION_ON_ORPHAN,
    SECURITY_CONTEXT_MULTIPLEXING,
    SyntaxId,
    features_syntax,
)
from openmsmq.wire.rpc.verification_trailer import (
    append_trailer,
)

from .calls import PendingCall, Presentation
from .events import Answered, Bound, ClientEvent, Closed, Failed
from .settings import ClientSecurity, ClientSettings

_LAST: Final = int(PfcFlags.PFC_LAST_FRAG)
_HEADER_SIGN: Final = int(PfcFlags.PFC_SUPPORT_HEADER_SIGN)
_CONC_MPX: Final = int(PfcFlags.PFC_CONC_MPX)
_DID_NOT_EXECUTE: Final = int(PfcFlags.PFC_DID_NOT_EXECUTE)
_REQUEST: Final = int(PduType.REQUEST)
_RESPONSE: Final = int(PduType.RESPONSE)
_DREP: Final = LITTLE_ENDIAN_DREP[0]
_AUTH_CONTEXT_ID: Final = 0
_AUTH3_PADDING: Final = bytes(4)
_BIND_CALL_ID: Final = 1


class State(Enum):
    """The state of a connection."""

    BINDING = auto()
    AUTHENTICATING = auto()
    BOUND = auto()
    CLOSED = auto()


_BOUND: Final = State.BOUND


class ClientConnection:
    """One connection, which binds as soon as it is created.

    Calls may be made at once; they are sent when the bind is done, and one after another if the
    server does not accept several at a time (`multiplexed`).

    Args:
        interfaces: the interfaces that the client will call.
        security: how it authenticates; None for Anonymous Logon.
        assoc_group_id: the group of a first connection whose context handles this one shares.
        settings: limits and syntaxes.

    Attributes:
        assoc_group_id: for further connections; 0 before `Bound`.
        multiplexed: whether the server accepts several calls at a time; known after `Bound`.
        keeps_on_orphan: whether a connection remains usable after `orphan`.
    """

    __slots__ = (
        "_bind",
        "_context",
        "_error",
        "_events",
        "_framer",
        "_header_signing",
        "_interfaces",
        "_last_call_id",
        "_max_fragment",
        "_offers",
        "_output",
        "_presentations",
        "_protection",
        "_queue",
        "_security",
        "_sent",
        "_settings",
        "assoc_group_id",
        "keeps_on_orphan",
        "multiplexed",
        "state",
    )

    def __init__(
        self,
        interfaces: Sequence[RpcInterface],
        *,
        security: ClientSecurity | None = None,
        assoc_group_id: int = 0,
        settings: ClientSettings | None = None,
    ) -> None:
        self._settings = settings or ClientSettings()
        self._interfaces = tuple(interfaces)
        self._security = security
        self.state = State.BINDING
        self.assoc_group_id = 0
        self.multiplexed = False
        self.keeps_on_orphan = False
        self._header_signing = False
        self._max_fragment = self._settings.max_fragment
        self._framer = PduFramer()
        self._events: deque[ClientEvent] = deque()
        self._output: list[bytes] = []
        # Calls that were not sent yet, and calls that were.
        self._queue: deque[PendingCall] = deque()
        self._sent: dict[int, PendingCall] = {}
        self._last_call_id = _BIND_CALL_ID
        self._presentations: dict[RpcInterface, Presentation] = {}
        self._offers: list[tuple[RpcInterface, TransferSyntax] | None] = []
        self._error: MsmqError | None = None
        # The protection of calls, once the client is authenticated.
        self._protection: Protection | None = None
        self._context = None if security is None else security.initiate()
        size = self._settings.max_fragment
        self._bind = Bind(size, size, assoc_group_id, self._elements())
        self._send_bind()

    # Calls of the driver

    @property
    def closed(self) -> bool:
        return self.state is State.CLOSED

    def receive_data(self, data: bytes) -> None:
        """Process bytes of the connection."""
        if self.state is State.CLOSED:
            return
        self._framer.feed(data)
        try:
            while not self.closed and (pdu := self._framer.next()) is not None:
                self._receive(pdu)
        except (MalformedPacket, ProtocolViolation, AuthenticationFailed) as exc:
            self._close(exc)

    @property
    def has_output(self) -> bool:
        """Whether there are bytes for the connection."""
        return bool(self._output)

    def data_to_send(self) -> list[bytes]:
        """Bytes for the connection, in order; each is returned once."""
        output, self._output = self._output, []
        return output

    def next_event(self) -> ClientEvent | None:
        """The oldest event that was not fetched yet."""
        return self._events.popleft() if self._events else None

    def connection_lost(self, detail: str = "the server closed the connection") -> None:
        """The connection was lost; all calls fail."""
        self._close(ConnectionClosed(detail))

    # Calls

    # Any: the request of any operation.
    def call(self, interface: RpcInterface, call: Call, request: Any) -> int:
        """Make a call; `Answered` or `Failed` with this number reports its end.

        Raises:
            ConnectionClosed: the connection is over.
            InterfaceUnknown: the server does not offer the interface.
        """
        if self._error is not None:
            raise ConnectionClosed(f"the connection is closed: {self._error}")
        if self._last_call_id >= MAX_CALL_ID:
            raise ConnectionClosed("the connection has no more call ids")
        if self.state is State.BOUND:
            self._presentation(interface)
        self._last_call_id += 1
        pending = PendingCall(self._last_call_id, interface, call, request)
        self._queue.append(pending)
        self._send_calls()
        return pending.call_id

    def cancel(self, call_id: int) -> None:
        """Ask the server to end a call soon; its answer still arrives."""
        if call_id in self._sent:
            self._output.append(pack_pdu(PduType.CO_CANCEL, call_id, b""))
        else:
            self._drop_queued(call_id)

    def orphan(self, call_id: int) -> None:
        """Tell the server that the caller no longer waits for a call, which then has no answer.

        Unless `keeps_on_orphan`, close the connection afterwards.
        """
        if self._sent.pop(call_id, None) is not None:
            self._output.append(pack_pdu(PduType.ORPHANED, call_id, b""))
            self._send_calls()
        else:
            self._drop_queued(call_id)

    def _drop_queued(self, call_id: int) -> None:
        for pending in self._queue:
            if pending.call_id == call_id:
                self._queue.remove(pending)
                error = ConnectionClosed("the call was cancelled before it was sent")
                self._events.append(Failed(call_id=call_id, error=error))
                return

    def _send_calls(self) -> None:
        while self._queue and self.state is _BOUND and (self.multiplexed or not self._sent):
            pending = self._queue.popleft()
            try:
                self._send_call(pending)
            except MsmqError as exc:
                self._events.append(Failed(call_id=pending.call_id, error=exc))

    def _send_call(self, pending: PendingCall) -> None:
        presentation = self._presentation(pending.interface)
        pending.syntax = presentation.syntax
        stub = pending.call.request.encode(pending.request, presentation.syntax)
        protection = self._protection
        if (
            protection is not None
            and protection.level >= AuthnLevel.PKT_INTEGRITY
            and not presentation.verified
        ):
            presentation.verified = True
            trailer = presentation.trailer(pending, header_signing=self._header_signing)
            stub = append_trailer(stub, trailer)
        call_id, p_cont_id, opnum = pending.call_id, presentation.p_cont_id, pending.call.opnum
        if protection is None and len(stub) <= self._max_fragment - CALL_HEADER_SIZE:
            self._output.append(whole_pdu(_REQUEST, stub, call_id, p_cont_id, opnum))
        else:
            self._output += fragments(
                _REQUEST,
                stub,
                call_id=call_id,
                p_cont_id=p_cont_id,
                opnum=opnum,
                max_fragment=self._max_fragment,
                protection=protection,
            )
        self._sent[call_id] = pending

    def _presentation(self, interface: RpcInterface) -> Presentation:
        presentation = self._presentations.get(interface)
        if presentation is None:
            raise InterfaceUnknown(f"the server does not offer interface {interface.uuid}")
        return presentation

    # Bind

    def _elements(self) -> tuple[ContextElement, ...]:
        """One element per interface and syntax, then the features ([MS-RPCE] 3.3.1.5.3)."""
        elements: list[ContextElement] = []
        for interface in self._interfaces:
            abstract = SyntaxId.of_interface(interface)
            for syntax in self._settings.transfer_syntaxes:
                transfer = SyntaxId.of_transfer(syntax)
                elements.append(ContextElement(len(elements), abstract, (transfer,)))
                self._offers.append((interface, syntax))
        features = features_syntax(SECURITY_CONTEXT_MULTIPLEXING | KEEP_CONNECTION_ON_ORPHAN)
        abstract = SyntaxId.of_interface(self._interfaces[-1])
        elements.append(ContextElement(len(elements), abstract, (features,)))
        self._offers.append(None)
        return tuple(elements)

    def _send_bind(self) -> None:
        flags = WHOLE | _CONC_MPX
        if self._security is not None and self._security.level >= AuthnLevel.PKT_INTEGRITY:
            flags |= _HEADER_SIGN
        token = b"" if self._context is None else self._context.step(b"")
        self._send_leg(PduType.BIND, self._bind.serialize(), token, flags=flags)

    def _send_leg(self, ptype: PduType, body: bytes, token: bytes, *, flags: int = WHOLE) -> None:
        verifier = b""
        if self._security is not None:
            trailer = SecTrailer(self._security.auth_type, self._security.level, _AUTH_CONTEXT_ID)
            verifier = trailer.serialize() + token
        self._output.append(pack_pdu(ptype, _BIND_CALL_ID, body, flags=flags, verifier=verifier))

    # The state machine

    def _receive(self, pdu: bytes) -> None:
        if pdu[2] == _RESPONSE and self.state is _BOUND and pdu[0] == RPC_VERS and pdu[4] == _DREP:
            # The row of every answer, without the table: a header as a record is slower.
            self._response(pdu)
            return
        header, _ = CommonHeader.parse(pdu)
        if header.rpc_vers != RPC_VERS or not header.is_little_endian:
            raise ProtocolViolation("the server speaks another version or data representation")
        action = _TABLE.get((self.state, header.ptype))
        if action is None:
            raise ProtocolViolation(f"PDU type {header.ptype} is out of order")
        action(self, pdu)

    def _bind_ack(self, pdu: bytes) -> None:
        header, _ = CommonHeader.parse(pdu)
        ack, token = self._parse_ack(pdu, header)
        if len(ack.p_result_list) != len(self._offers):
            raise MalformedPacket("bind_ack.p_result_list", 0, "not one result per context")
        for p_cont_id, (offer, result) in enumerate(
            zip(self._offers, ack.p_result_list, strict=True)
        ):
            if offer is None:
                acked = result.result == ContextResult.NEGOTIATE_ACK
                self.keeps_on_orphan = acked and result.reason & KEEP_CONNECTION_ON_ORPHAN != 0
            elif result.result == ContextResult.ACCEPTANCE and offer[0] not in self._presentations:
                interface = SyntaxId.of_interface(offer[0])
                self._presentations[offer[0]] = Presentation(p_cont_id, interface, offer[1])
        self.assoc_group_id = ack.assoc_group_id
        self.multiplexed = header.pfc_flags & _CONC_MPX != 0
        self._header_signing = header.pfc_flags & _HEADER_SIGN != 0
        # The limit of the server; its own fragments may be as long as this side announced.
        size = min(ack.max_recv_frag, self._settings.max_fragment)
        self._max_fragment = max(size, 2 * CALL_HEADER_SIZE + 256)
        if not self._presentations:
            names = ", ".join(str(interface.uuid) for interface in self._interfaces)
            self._close(InterfaceUnknown(f"the server does not offer {names}"))
            return
        self._next_leg(token)

    def _bind_nak(self, pdu: bytes) -> None:
        nak, _ = BindNak.parse(memoryview(pdu)[HEADER_SIZE:])
        try:
            reason = RejectReason(nak.provider_reject_reason).name.lower()
        except ValueError:
            reason = str(nak.provider_reject_reason)
        self._close(ConnectionClosed(f"the server refused the bind: {reason}"))

    def _alter_context_resp(self, pdu: bytes) -> None:
        self._next_leg(self._parse_ack(pdu, CommonHeader.parse(pdu)[0])[1])

    def _parse_ack(self, pdu: bytes, header: CommonHeader) -> tuple[BindAck, bytes]:
        end = len(pdu)
        token = b""
        if header.auth_length:
            verifier = parse_verifier(pdu, header.auth_length)
            end, token = verifier.offset, verifier.token
        # A trailer without a token may follow the results.
        return BindAck.parse(memoryview(pdu)[HEADER_SIZE:end])[0], token

    def _next_leg(self, token: bytes) -> None:
        context = self._context
        if context is not None:
            if not context.complete:
                token = context.step(token)
                if token and context.complete:
                    self._send_leg(PduType.AUTH3, _AUTH3_PADDING, token)
                elif token:
                    self._send_leg(PduType.ALTER_CONTEXT, self._bind.serialize(), token)
                    self.state = State.AUTHENTICATING
                    return
            if not context.complete:
                raise AuthenticationFailed("the server ended the authentication too early")
            assert self._security is not None  # noqa: S101 - it made the context
            self._protection = Protection(
                context,
                self._security.auth_type,
                self._security.level,
                _AUTH_CONTEXT_ID,
                self._header_signing,
            )
        self.state = State.BOUND
        self._events.append(Bound())
        self._send_calls()

    def _authentication_fault(self, pdu: bytes) -> None:
        self._close(RpcFault(Fault.parse(pdu)[0].status, "the server refused the credentials"))

    def _response(self, pdu: bytes) -> None:
        if len(pdu) < CALL_HEADER_SIZE:
            raise MalformedPacket("response", 0, f"{len(pdu)} bytes are too few")
        _, _, _, flags, _, _, auth_length, call_id, _, _, _ = unpack_call(pdu, 0)
        stub = self._open(pdu, auth_length)
        pending = self._sent.get(call_id)
        if pending is None:
            # The answer to a call that was orphaned meanwhile.
            return
        earlier = pending.stub
        before = 0 if earlier is None else len(earlier)
        if before + len(stub) > self._settings.max_response_bytes:
            raise ProtocolViolation("a response is too long")
        if not flags & _LAST:
            if earlier is None:
                pending.stub = bytearray(stub)
            else:
                earlier += stub
            return
        if earlier is not None:
            stub = bytes(earlier + stub)
        del self._sent[call_id]
        self._deliver(pending, stub)
        if self._queue:
            self._send_calls()

    def _open(self, pdu: bytes, auth_length: int) -> bytes:
        """The stub of a response, checked and decrypted."""
        protection = self._protection
        if not auth_length:
            if protection is not None and protection.signs:
                raise AuthenticationFailed("a response without a signature")
            return pdu[CALL_HEADER_SIZE:]
        verifier = parse_verifier(pdu, auth_length, CALL_HEADER_SIZE)
        if protection is not None and protection.signs:
            return open_fragment(pdu, CALL_HEADER_SIZE, verifier, protection)
        return pdu[CALL_HEADER_SIZE : verifier.body_end]

    def _deliver(self, pending: PendingCall, stub: bytes) -> None:
        try:
            response, _ = pending.call.response.decode(stub, pending.syntax)
        except MalformedPacket as exc:
            self._events.append(Failed(call_id=pending.call_id, error=exc))
        else:
            self._events.append(Answered(call_id=pending.call_id, response=response))

    def _fault(self, pdu: bytes) -> None:
        fault, _ = Fault.parse(pdu)
        error = RpcFault(fault.status, did_not_execute=fault.pfc_flags & _DID_NOT_EXECUTE != 0)
        if self._sent.pop(fault.call_id, None) is not None:
            self._events.append(Failed(call_id=fault.call_id, error=error))
            self._send_calls()

    def _shutdown(self, pdu: bytes) -> None:  # noqa: ARG002 - a table's row
        if not self._sent and not self._queue:
            self._close(ConnectionClosed("the server asks its clients to disconnect"))

    def _close(self, error: MsmqError) -> None:
        """End the connection; calls that were sent may have run."""
        if self.state is State.CLOSED:
            return
        self.state = State.CLOSED
        self._error = error
        for pending in (*self._sent.values(), *self._queue):
            failure: MsmqError = error
            if isinstance(error, ConnectionClosed) and not isinstance(error, InterfaceUnknown):
                failure = ConnectionClosed(error.detail, was_sent=pending.call_id in self._sent)
            self._events.append(Failed(call_id=pending.call_id, error=failure))
        self._sent.clear()
        self._queue.clear()
        self._events.append(Closed(error=error))


_Action = Callable[[ClientConnection, bytes], None]
_TABLE: Final[dict[tuple[State, int], _Action]] = {
    (State.BINDING, PduType.BIND_ACK): ClientConnection._bind_ack,
    (State.BINDING, PduType.BIND_NAK): ClientConnection._bind_nak,
    (State.BINDING, PduType.FAULT): ClientConnection._authentication_fault,
    (State.AUTHENTICATING, PduType.ALTER_CONTEXT_RESP): ClientConnection._alter_context_resp,
    (State.AUTHENTICATING, PduType.FAULT): ClientConnection._authentication_fault,
    (State.BOUND, PduType.RESPONSE): ClientConnection._response,
    (State.BOUND, PduType.FAULT): ClientConnection._fault,
    (State.BOUND, PduType.SHUTDOWN): ClientConnection._shutdown,
}
