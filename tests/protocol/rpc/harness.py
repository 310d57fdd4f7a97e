"""An interface for tests, a server that offers it, and both roles back to back in memory."""

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID

from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext

from openmsmq.engine.engine import Gate
from openmsmq.protocol.rpc import (
    ClientConnection,
    ClientSecurity,
    Disconnect,
    LoggedOn,
    RpcFault,
    RpcServer,
    RpcSettings,
    Served,
    ServerCall,
    ServerEvent,
    endpoint,
    serve,
)
from openmsmq.protocol.rpc.client import ClientEvent
from openmsmq.protocol.rpc.management import management
from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.ndr import (
    CONTEXT_HANDLE,
    CONTEXT_HANDLE_NULL,
    NDR,
    NDR64,
    U32,
    Call,
    Count,
    Stub,
    Unique,
    octet_array,
)
from openmsmq.wire.rpc.bind import Bind, ContextElement
from openmsmq.wire.rpc.call import Fault, pack_call
from openmsmq.wire.rpc.header import WHOLE, PduType, pack_pdu
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.rpc.syntax import SyntaxId

HOST = "192.0.2.1"
OTHER_HOST = "192.0.2.2"
LOCAL = "198.51.100.7"
PORT = 2103
TEST = RpcInterface(UUID("11111111-2222-3333-4444-555555555555"), 1, 2)
STRANGE = RpcInterface(UUID("99999999-2222-3333-4444-555555555555"))
NDR_ID = SyntaxId.of_transfer(NDR)
NDR64_ID = SyntaxId.of_transfer(NDR64)
TEST_ID = SyntaxId.of_interface(TEST)


class Number(NamedTuple):
    number: int


class Handle(NamedTuple):
    handle: bytes


class HandleResult(NamedTuple):
    handle: bytes
    result: int


class Octets(NamedTuple):
    octets: bytes | memoryview | None


NUMBER = Stub(Number, U32)
OCTETS = Stub(Octets, Count("octets"), Unique(octet_array()))
ADD = Call(0, "add", NUMBER, NUMBER)
OPEN = Call(1, "open", NUMBER, Stub(Handle, CONTEXT_HANDLE))
CLOSE = Call(2, "close", Stub(Handle, CONTEXT_HANDLE), Stub(HandleResult, CONTEXT_HANDLE, U32))
USE = Call(3, "use", Stub(Handle, CONTEXT_HANDLE), NUMBER)
HOLD = Call(4, "hold", NUMBER, NUMBER)
FAIL = Call(5, "fail", NUMBER, NUMBER)
SECRET = Call(6, "secret", NUMBER, NUMBER)
ECHO = Call(7, "echo", OCTETS, OCTETS)
WAIT = Call(8, "wait", Stub(Handle, CONTEXT_HANDLE), NUMBER)
STORE = Call(9, "store", NUMBER, NUMBER)
THROW = Call(10, "throw", NUMBER, NUMBER)
MISSING = Call(99, "missing", NUMBER, NUMBER)


class Case:
    """A server with the test interface; calls that it holds are in `held`, by their numbers."""

    def __init__(self, settings: RpcSettings | None = None, *, legs: int = 3) -> None:
        self.held: dict[int, ServerCall] = {}
        self.waiting: list[ServerCall] = []
        self.rundowns: list[int] = []
        self.cancelled: list[ServerCall] = []
        self.seen: list[Any] = []
        self.events: list[ServerEvent] = []
        self.legs = legs
        self.sign = True
        self.now = 0.0
        self.gate = Gate()
        self._random = count(1)
        self.server = RpcServer(
            settings or RpcSettings(),
            acceptors={AUTH_TYPE: lambda: FakeContext(legs=self.legs, sign=self.sign)},
            random_bytes=lambda size: next(self._random).to_bytes(size, "little"),
            gate=self.gate,
        )
        self.interface = serve(
            TEST,
            "test",
            (
                Served(ADD, lambda call, request: call.reply(Number(request.number + 1))),
                Served(OPEN, self._open),
                Served(
                    CLOSE,
                    self._close,
                    handle="handle",
                    null_handle=True,
                    serialize=True,
                    failure=lambda code: HandleResult(CONTEXT_HANDLE_NULL, code),
                ),
                Served(USE, self._use, handle="handle"),
                Served(HOLD, self._hold, failure=Number),
                Served(FAIL, self._fail, failure=Number),
                Served(
                    SECRET,
                    lambda call, request: call.reply(request),
                    minimum_level=AuthnLevel.PKT_PRIVACY,
                ),
                Served(ECHO, lambda call, request: call.reply(request)),
                Served(WAIT, self._wait, handle="handle", serialize=True),
                Served(STORE, lambda call, request: call.reply(request, depends=request.number)),
                Served(THROW, self._throw),
            ),
        )
        self.endpoint = endpoint(PORT, (self.interface, management({16: "host/name"})))
        self.links: list[Link] = []

    # Handlers

    def _open(self, call: ServerCall, request: Number) -> None:
        wire = call.open_handle(request.number, self.rundowns.append)
        call.reply(Handle(wire))

    def _close(self, call: ServerCall, _request: Handle) -> None:
        self.seen.append(None if call.handle is None else call.handle.value)
        call.close_handle()
        call.reply(HandleResult(CONTEXT_HANDLE_NULL, 0))

    def _use(self, call: ServerCall, _request: Handle) -> None:
        assert call.handle is not None
        call.reply(Number(call.handle.value))

    def _hold(self, call: ServerCall, request: Number) -> None:
        call.on_cancel = self.cancelled.append
        self.held[request.number] = call

    def _wait(self, call: ServerCall, _request: Handle) -> None:
        self.waiting.append(call)

    def _fail(self, _call: ServerCall, request: Number) -> None:
        raise QueueError(request.number)

    def _throw(self, _call: ServerCall, request: Number) -> None:
        if request.number == 1:
            raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND)
        raise RpcFault(request.number, did_not_execute=True)

    # Connections

    def link(self, address: str = HOST) -> "Link":
        """A raw connection to the server."""
        number = self.server.accept(
            address, local_address=LOCAL, endpoint=self.endpoint, now=self.now
        )
        assert number is not None
        link = Link(self, number)
        self.links.append(link)
        return link

    def client(
        self,
        *,
        name: str = "",
        level: AuthnLevel = AuthnLevel.PKT_PRIVACY,
        interfaces: Sequence[RpcInterface] = (TEST,),
        address: str = HOST,
        **options: Any,
    ) -> "Client":
        """A client that is bound, or failed."""
        security = None
        if name:
            security = ClientSecurity(
                AUTH_TYPE, level, lambda: FakeContext(name, legs=self.legs, sign=self.sign)
            )
        return Client(
            self.link(address), ClientConnection(interfaces, security=security, **options)
        )


class Link:
    """A connection as the shell sees it: bytes in, bytes out, until it is closed."""

    def __init__(self, case: Case, number: int) -> None:
        self.case = case
        self.number = number
        self.closed: Disconnect | None = None

    def send(self, data: bytes) -> list[bytes]:
        """Give bytes to the server; return what it answers."""
        self.case.server.receive_data(self.number, data, now=self.case.now)
        return self.receive()

    def receive(self) -> list[bytes]:
        """What the server has to say."""
        server = self.case.server
        output: list[bytes] = []
        server.take_ready()
        while data := server.data_to_send(self.number, now=self.case.now):
            output += data
        while (event := server.next_event()) is not None:
            self.case.events.append(event)
            if isinstance(event, LoggedOn):
                continue
            for link in self.case.links:
                if link.number == event.connection:
                    link.closed = event
            if event.connection == self.number:
                output += event.data
        return output

    def bind(self, *elements: ContextElement, **fields: Any) -> list[bytes]:
        return self.send(bind_pdu(*elements, **fields))

    def bound(self, **fields: Any) -> "Link":
        """Bind the test interface in NDR as context 0."""
        (ack,) = self.bind(**fields)
        assert ack[2] == PduType.BIND_ACK
        return self

    def call(self, call: Call, request: Any, *, call_id: int = 1, **options: Any) -> list[bytes]:
        """Send a request in one fragment."""
        return self.send(request_pdu(call, request, call_id=call_id, **options))

    def lose(self) -> None:
        self.case.server.connection_lost(self.number, now=self.case.now)


class Client:
    """A client's connection over a link."""

    def __init__(self, link: Link, connection: ClientConnection) -> None:
        self.link = link
        self.connection = connection
        self.events: list[ClientEvent] = []
        self.move()

    def move(self) -> list[ClientEvent]:
        """Move bytes until both sides are silent; return what happened meanwhile."""
        before = len(self.events)
        while True:
            sent = self.connection.data_to_send()
            received = self.link.send(b"".join(sent))
            if not sent and not received:
                break
            self.connection.receive_data(b"".join(received))
        if self.link.closed is not None:
            self.connection.connection_lost()
        while (event := self.connection.next_event()) is not None:
            self.events.append(event)
        return self.events[before:]

    def call(self, call: Call, request: Any, interface: RpcInterface = TEST) -> Any:
        """Make a call; return the last event."""
        self.connection.call(interface, call, request)
        return self.move()[-1]


def element(
    p_cont_id: int = 0, abstract: SyntaxId = TEST_ID, *syntaxes: SyntaxId
) -> ContextElement:
    return ContextElement(p_cont_id, abstract, syntaxes or (NDR_ID,))


def bind_pdu(
    *elements: ContextElement,
    ptype: int = PduType.BIND,
    call_id: int = 1,
    flags: int = WHOLE,
    xmit: int = 5840,
    recv: int = 5840,
    group: int = 0,
    verifier: bytes = b"",
) -> bytes:
    body = Bind(xmit, recv, group, elements or (element(),)).serialize()
    return pack_pdu(ptype, call_id, body, flags=flags, verifier=verifier)


def request_pdu(
    call: Call, request: Any, *, call_id: int = 1, p_cont_id: int = 0, flags: int = WHOLE
) -> bytes:
    stub = call.request.encode(request, NDR)
    return fragment(stub, call.opnum, call_id=call_id, p_cont_id=p_cont_id, flags=flags)


def fragment(
    stub: bytes,
    opnum: int = 0,
    *,
    call_id: int = 1,
    p_cont_id: int = 0,
    flags: int = WHOLE,
    alloc_hint: int = 0,
    verifier: bytes = b"",
) -> bytes:
    header = pack_call(
        PduType.REQUEST,
        flags,
        call_id,
        frag_length=24 + len(stub) + len(verifier),
        auth_length=max(len(verifier) - 8, 0),
        alloc_hint=alloc_hint,
        p_cont_id=p_cont_id,
        opnum=opnum,
    )
    return header + stub + verifier


def response(call: Call, pdus: Sequence[bytes]) -> Any:
    """The response of a call in unprotected fragments."""
    assert all(pdu[2] == PduType.RESPONSE for pdu in pdus), pdus
    return call.response.decode(b"".join(pdu[24:] for pdu in pdus), NDR)[0]


def fault(pdus: Sequence[bytes]) -> Fault:
    (pdu,) = pdus
    assert pdu[2] == PduType.FAULT, pdu
    return Fault.parse(pdu)[0]
