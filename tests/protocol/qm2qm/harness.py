"""Readers by qm2qm in memory: a queue manager driven by hand, and clients of its RPC server."""

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from tests.core.harness import ORDERS, Harness
from tests.protocol.rpc.harness import HOST, LOCAL, Client, Link
from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext

from openmsmq.protocol.qm2qm.server import OpenedQueues, Qm2qmServer, QmcommServer
from openmsmq.protocol.qm2qm.server.ports import Ports
from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.protocol.rpc import (
    ClientConnection,
    ClientSecurity,
    Endpoint,
    RpcFault,
    RpcServer,
    RpcSettings,
    endpoint,
)
from openmsmq.protocol.rpc.client.events import Answered, Failed
from openmsmq.protocol.rpc.server.events import ServerEvent
from openmsmq.wire.codes.endpoints import QM2QM, QMCOMM
from openmsmq.wire.codes.queue_enums import AccessMode
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.ndr import Call
from openmsmq.wire.remote_read.queue_format import QueueFormat, QueueFormatType
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.rpc_interfaces import qm2qm, qmcomm
from openmsmq.wire.rpc_interfaces.transfer_buffer import CACTransferBufferV1
from openmsmq.wire.scalars import GUID_NULL

__all__ = ["ORDERS"]

RPC_PORT = 2114
QM2QM_PORT = 2116
NAME = QueueFormat(QueueFormatType.DIRECT, text=r"OS:QM\private$\orders")
OLD, NEW = qm2qm.REMOTE_QM_START_RECEIVE, qm2qm.REMOTE_QM_START_RECEIVE2
BY_LOOKUP_ID = qm2qm.REMOTE_QM_START_RECEIVE_BY_LOOKUP_ID
RECEIVE, PEEK_CURRENT, PEEK_NEXT = 0, 0x80000000, 0x80000001
FOR_EVER = 0xFFFFFFFF
RR_NACK, RR_ACK = 1, 2


class World:
    """A queue manager with a queue, and a server; `tokens` gives the DWORDs of opened queues."""

    def __init__(
        self,
        *,
        level: AuthnLevel = AuthnLevel.PKT_PRIVACY,
        settings: RemoteReadSettings | None = None,
        rpc: RpcSettings | None = None,
    ) -> None:
        self.core = Harness()
        self.core.create()
        self.tokens: Iterator[int] = count(0x80000001, 0x10001)
        self._random = count(1)
        self.links: list[Link] = []
        self.events: list[ServerEvent] = []
        self.server = RpcServer(
            rpc or RpcSettings(),
            acceptors={AUTH_TYPE: FakeContext},
            random_bytes=lambda size: next(self._random).to_bytes(size, "little"),
            gate=self.core.engine.gate,
        )
        manager = self.core.qm
        ports = Ports(rpc=lambda: RPC_PORT, qm2qm=lambda: QM2QM_PORT)
        self.queues = OpenedQueues(
            manager,
            settings or RemoteReadSettings(),
            random_bytes=lambda size: next(self.tokens).to_bytes(size, "little"),
        )
        self.qm2qm = Qm2qmServer(manager, self.queues, ports=ports, minimum_level=level)
        self.qmcomm = QmcommServer(manager, self.queues, ports=ports, minimum_level=level)
        self.server.add_timers(self.qm2qm)
        self.endpoint: Endpoint = endpoint(
            QM2QM_PORT, (self.qm2qm.interface, self.qmcomm.interface)
        )

    @property
    def now(self) -> float:
        return self.core.now

    def turn(self) -> None:
        """Hand out what happened, and put it on disk."""
        self.core.engine.work()
        self.core.flush()

    def advance(self, seconds: float) -> None:
        self.core.advance(seconds)
        self.turn()

    def client(
        self,
        name: str = "alice",
        *,
        level: AuthnLevel = AuthnLevel.PKT_PRIVACY,
        address: str = HOST,
        join: "Reader | None" = None,
    ) -> "Reader":
        """A client that is bound to both interfaces."""
        number = self.server.accept(
            address, local_address=LOCAL, endpoint=self.endpoint, now=self.now
        )
        assert number is not None
        # Link and Client want what their own harness and this one have in common.
        link = Link(self, number)  # type: ignore[arg-type]
        self.links.append(link)
        security = ClientSecurity(AUTH_TYPE, level, lambda: FakeContext(name)) if name else None
        group = join.connection.assoc_group_id if join is not None else 0
        connection = ClientConnection((QM2QM, QMCOMM), security=security, assoc_group_id=group)
        return Reader(self, link, connection)


class Outcome(NamedTuple):
    """What a read returned."""

    handle: bytes
    desc: Any
    sequential_id: int
    result: int

    @property
    def packet(self) -> UserMessage:
        assert self.result == 0, hex(self.result)
        return UserMessage(bytes(self.desc.lp_buffer))

    @property
    def body(self) -> bytes:
        return self.packet.body


class Reader(Client):
    """A client; calls return the response, or raise the fault."""

    def __init__(self, world: World, link: Link, connection: ClientConnection) -> None:
        self.world = world
        super().__init__(link, connection)

    def post(self, call: Call, request: Any) -> int:
        """Make a call without waiting for its answer."""
        interface = QM2QM if call in qm2qm.CALLS.values() else QMCOMM
        call_id = self.connection.call(interface, call, request)
        self.settle()
        return call_id

    def settle(self) -> None:
        self.move()
        self.world.turn()
        self.move()

    def answer(self, call_id: int) -> Any:
        """The response of a call, or None while there is none."""
        self.settle()
        for event in self.events:
            if isinstance(event, Failed) and event.call_id == call_id:
                raise event.error
            if isinstance(event, Answered) and event.call_id == call_id:
                return event.response
        return None

    def ask(self, call: Call, *request: Any) -> Any:
        """Make a call; give its response."""
        response = self.answer(self.post(call, request))
        assert response is not None, "the call waits"
        return response

    def fault(self, call: Call, *request: Any) -> int:
        """Make a call that ends in a fault; give its status."""
        try:
            response = self.ask(call, *request)
        except RpcFault as fault:
            return fault.status
        raise AssertionError(response)

    def fault_of(self, call: Call, request: Any) -> int:
        """Make a call to qm2qm with parameters that its types do not allow; give the status."""
        call_id = self.connection.call(QM2QM, call, request)
        try:
            response = self.answer(call_id)
        except RpcFault as fault:
            return fault.status
        raise AssertionError(response)

    # qmcomm

    def open_remote(
        self, *, access: int = AccessMode.RECEIVE, share: int = 0, name: QueueFormat | None = NAME
    ) -> Any:
        return self.ask(qmcomm.R_QM_OPEN_REMOTE_QUEUE, name, 4711, access, share, GUID_NULL, 0)

    def close_remote(self, handle: bytes) -> bytes:
        response = self.ask(qmcomm.R_QM_CLOSE_REMOTE_QUEUE_CONTEXT, handle)
        return bytes(response.pph_context)

    def create_cursor(self, number: int) -> Any:
        buffer = CACTransferBufferV1()
        return self.ask(qmcomm.R_QM_CREATE_REMOTE_CURSOR, buffer, number)

    # qm2qm

    def claim(self, number: int, *, context: int | None = None, h_queue: int = 0) -> Any:
        context = number if context is None else context
        return self.ask(qm2qm.REMOTE_QM_OPEN_QUEUE, GUID_NULL, 1, h_queue, number, context)

    def session(self, *, access: int = AccessMode.RECEIVE) -> tuple[int, bytes]:
        """Open the queue and claim it; give its number and the session's handle."""
        opened = self.open_remote(access=access)
        claimed = self.claim(opened.dwp_queue)
        assert (opened.result, claimed.result) == (0, 0)
        return opened.dwp_queue, claimed.ph_context

    def start(
        self,
        number: int,
        action: int = RECEIVE,
        *,
        call: Call = NEW,
        cursor: int = 0,
        timeout: int = 0,
        request_id: int = 1,
        queue: int | None = None,
        lookup_id: int = 0,
    ) -> int:
        """Begin a read; give the number of the call."""
        queue = number if queue is None else queue
        desc = qm2qm.RemoteReadDesc(number, cursor, action, timeout, queue, request_id)
        if call is OLD:
            return self.post(call, (desc,))
        desc2 = qm2qm.RemoteReadDesc2(desc)
        return self.post(call, (desc2,) if call is NEW else (lookup_id, desc2))

    def outcome(self, call_id: int) -> Outcome | None:
        """What a read returned; None while it waits."""
        response = self.answer(call_id)
        if response is None:
            return None
        if isinstance(response, qm2qm.StartReceiveResponse):
            return Outcome(response.pph_context, response.lp_remote_read_desc, 0, response.result)
        desc2 = response.lp_remote_read_desc2
        return Outcome(
            response.pph_context, desc2.p_remote_read_desc, desc2.sequential_id, response.result
        )

    def read(self, number: int, action: int = RECEIVE, **options: Any) -> Outcome:
        """A read that does not wait."""
        outcome = self.outcome(self.start(number, action, **options))
        assert outcome is not None, "the read waits"
        return outcome

    def look_up(self, number: int, action: int, lookup_id: int, **options: Any) -> Outcome:
        return self.read(number, action, call=BY_LOOKUP_ID, lookup_id=lookup_id, **options)

    def end(self, handle: bytes, ack: int = RR_ACK) -> int:
        """End a receive; give the result."""
        response = self.ask(qm2qm.REMOTE_QM_END_RECEIVE, handle, ack)
        assert response.pph_context == bytes(20)
        return int(response.result)

    def close(self, handle: bytes) -> int:
        """End a session; give the result."""
        response = self.ask(qm2qm.REMOTE_QM_CLOSE_QUEUE, handle)
        assert response.pph_context == bytes(20)
        return int(response.result)

    def cancel(self, number: int, request_id: int = 1, *, queue: int | None = None) -> int:
        queue = number if queue is None else queue
        response = self.ask(qm2qm.REMOTE_QM_CANCEL_RECEIVE, number, queue, request_id)
        return int(response.result)

    def lose(self) -> None:
        """The connection breaks."""
        self.link.lose()
        self.world.turn()
