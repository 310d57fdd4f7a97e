"""A queue manager, its RemoteRead server and clients of it, back to back in memory."""

from itertools import count
from typing import Any
from uuid import UUID

from tests.core.harness import ORDERS, Harness
from tests.protocol.rpc.harness import HOST, LOCAL, PORT, Case, Client, Link
from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext

from openmsmq.protocol.remote_read.server import RemoteReadServer
from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.protocol.rpc import (
    ClientConnection,
    ClientSecurity,
    RpcFault,
    RpcServer,
    RpcSettings,
    endpoint,
)
from openmsmq.protocol.rpc.client import Answered, Failed
from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.ndr import Call
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.section_buffer import join_sections
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.rpc_interfaces import remote_read as rr
from openmsmq.wire.rpc_interfaces.common import NoParameters

DIRECT = r"DIRECT=OS:qm\private$\orders"
CLIENT_ID = UUID(int=5)
RECEIVE, PEEK, MOVE = 0x01, 0x20, 0x04
RR_NACK, RR_ACK = 1, 2
# Actions of R_StartReceive.
TAKE, PEEK_CURRENT = 0, 0x80000000
NO_TRANSACTION = bytes(16)
TRANSACTION = bytes(range(16))
UNLIMITED = 0xFFFFFFFF
FOR_EVER = 0xFFFFFFFF
OK = Hresult.MQ_OK
INVALID_PARAMETER = Hresult.MQ_ERROR_INVALID_PARAMETER
INVALID_HANDLE = Hresult.MQ_ERROR_INVALID_HANDLE
TIMED_OUT = Hresult.MQ_ERROR_IO_TIMEOUT
CANCELLED = Hresult.MQ_ERROR_OPERATION_CANCELLED
NOT_FOUND = Hresult.MQ_ERROR_MESSAGE_NOT_FOUND
ACCESS_DENIED = Hresult.MQ_ERROR_ACCESS_DENIED
NOT_AVAILABLE = Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE
TRANSACTION_USAGE = Hresult.MQ_ERROR_TRANSACTION_USAGE
TRANSACTION_SEQUENCE = Hresult.MQ_ERROR_TRANSACTION_SEQUENCE


class RemoteCase(Case):
    """The queue manager "QM" with a queue `orders` of alice, and what serves it remotely.

    `durable` says whether what happens is on disk at once; else `flush` writes it.
    """

    def __init__(
        self,
        settings: RemoteReadSettings | None = None,
        *,
        rpc: RpcSettings | None = None,
        level: AuthnLevel = AuthnLevel.PKT_PRIVACY,
    ) -> None:
        super().__init__()
        self.core = Harness()
        self.qm = self.core.qm
        self.durable = True
        self.now = self.core.now
        numbers = count(1)
        self.server = RpcServer(
            rpc or RpcSettings(),
            acceptors={AUTH_TYPE: FakeContext},
            random_bytes=lambda size: next(numbers).to_bytes(size, "little"),
            gate=self.core.engine.gate,
        )
        self.remote = RemoteReadServer(
            self.qm,
            settings or RemoteReadSettings(),
            # The first number is 0 and the second comes twice.
            random_bytes=lambda size: (next(numbers) // 2).to_bytes(size, "little"),
            port=lambda: PORT,
            minimum_level=level,
        )
        self.server.add_timers(self.remote)
        self.endpoint = endpoint(PORT, (self.remote.interface,))
        self.queue = self.core.create(ORDERS)
        self.core.flush()

    def link(self, address: str = HOST) -> "TurnLink":
        number = self.server.accept(
            address, local_address=LOCAL, endpoint=self.endpoint, now=self.now
        )
        assert number is not None
        link = TurnLink(self, number)
        self.links.append(link)
        return link

    def turn(self) -> None:
        """The end of a turn of the host."""
        engine = self.core.engine
        engine.work()
        if self.durable:
            self.core.flush()
            engine.work()

    def send(self, *contents: bytes, **options: Any) -> list[int]:
        """Send to a queue; return the lookup ids."""
        self.core.send(*contents, **options)
        self.turn()
        return [message.lookup_id for message in self.queue.lanes][-len(contents) :]

    def advance(self, seconds: float) -> None:
        """Let time pass, and do what is due."""
        self.core.now += seconds
        self.core.utc += seconds
        self.now = self.core.now
        self.core.engine.handle_timer(now=self.now, utc=self.core.utc)
        due = self.server.next_timer()
        if due is not None and due <= self.now:
            self.server.handle_timer(now=self.now)
        self.turn()

    def bodies(self, name: str = ORDERS) -> list[bytes]:
        """What a reader finds in a queue."""
        self.turn()
        return self.core.contents(name)

    def reader(
        self,
        *,
        name: str = "alice",
        level: AuthnLevel = AuthnLevel.PKT_PRIVACY,
        address: str = HOST,
        group: int = 0,
    ) -> "Reader":
        """A client that is bound."""
        security = ClientSecurity(AUTH_TYPE, level, lambda: FakeContext(name)) if name else None
        connection = ClientConnection((REMOTE_READ,), security=security, assoc_group_id=group)
        return Reader(self, self.link(address), connection)


class TurnLink(Link):
    """A connection; each of its bytes begins a turn."""

    case: RemoteCase

    def receive(self) -> list[bytes]:
        self.case.turn()
        return super().receive()


class Reader(Client):
    """A client of RemoteRead."""

    def __init__(self, case: RemoteCase, link: Link, connection: ClientConnection) -> None:
        self.case = case
        super().__init__(link, connection)

    # Calls

    def begin(self, call: Call, request: Any) -> int:
        """Make a call; `answer` has its answer once there is one."""
        call_id = self.connection.call(REMOTE_READ, call, request)
        self.move()
        return call_id

    def answer(self, call_id: int) -> Any:
        """The response of a call, or None while there is none; faults are raised."""
        self.move()
        for event in self.events:
            if isinstance(event, Answered) and event.call_id == call_id:
                return event.response
            if isinstance(event, Failed) and event.call_id == call_id:
                raise event.error
        return None

    def do(self, call: Call, request: Any) -> Any:
        """Make a call that is answered at once."""
        response = self.answer(self.begin(call, request))
        assert response is not None, "the call waits"
        return response

    def result(self, call: Call, request: Any) -> int:
        result: int = self.do(call, request).result
        return result

    def fault(self, call: Call, request: Any) -> int:
        """The status of the fault that answers a call."""
        call_id = self.begin(call, request)
        try:
            response = self.answer(call_id)
        except RpcFault as exc:
            return exc.status
        raise AssertionError(response)

    # Shorter calls

    def port(self) -> int:
        return self.result(rr.R_GET_SERVER_PORT, NoParameters())

    def open(self, name: str = DIRECT, access: int = RECEIVE, share: int = 0) -> "Opened":
        response = self.do(rr.R_OPEN_QUEUE, open_request(name, access, share))
        return Opened(self, response.pph_context)

    def open_for_move(self, name: str) -> "tuple[int, Opened]":
        response = self.do(rr.R_OPEN_QUEUE_FOR_MOVE, open_request(name, MOVE))
        return response.p_move_context, Opened(self, response.pph_context)


class Opened:
    """A queue that a client has open."""

    def __init__(self, reader: Reader, handle: bytes) -> None:
        self.reader = reader
        self.handle = handle

    def on(self, reader: Reader) -> "Opened":
        """The same handle over another connection."""
        return Opened(reader, self.handle)

    def request(self, action: int = 0, **values: int) -> rr.StartReceiveRequest:
        request = rr.StartReceiveRequest(self.handle, 0, 0, action, 0, 1, UNLIMITED, UNLIMITED)
        return request._replace(**values)  # type: ignore[arg-type]

    def begin(self, action: int = 0, **values: int) -> int:
        """Begin to read; returns the number of the call."""
        return self.reader.begin(rr.R_START_RECEIVE, self.request(action, **values))

    def start(self, action: int = 0, **values: int) -> rr.StartReceiveResponse:
        """Read what is there."""
        response: rr.StartReceiveResponse = self.reader.do(
            rr.R_START_RECEIVE, self.request(action, **values)
        )
        return response

    def body(self, action: int = 0, **values: int) -> bytes:
        """The body of what is there."""
        return body_of(self.start(action, **values))

    def failure(self, action: int = 0, **values: int) -> int:
        """The code with which a read fails; then everything else is 0."""
        response = self.start(action, **values)
        assert response[:3] == (0, 0, ())
        assert response.result & 0x80000000
        return response.result

    def end(self, ack: int = RR_ACK, request_id: int = 1) -> int:
        return self.reader.result(
            rr.R_END_RECEIVE, rr.EndReceiveRequest(self.handle, ack, request_id)
        )

    def cancel(self, request_id: int = 1) -> int:
        return self.reader.result(
            rr.R_CANCEL_RECEIVE, rr.CancelReceiveRequest(self.handle, request_id)
        )

    def cursor(self) -> int:
        response = self.reader.do(rr.R_CREATE_CURSOR, rr.HandleRequest(self.handle))
        assert response.result == OK
        number: int = response.ph_cursor
        return number

    def close_cursor(self, number: int) -> int:
        return self.reader.result(rr.R_CLOSE_CURSOR, rr.CloseCursorRequest(self.handle, number))

    def purge(self) -> int:
        return self.reader.result(rr.R_PURGE_QUEUE, rr.HandleRequest(self.handle))

    def move(self, to: int, lookup_id: int, transaction: bytes = NO_TRANSACTION) -> int:
        return self.reader.result(
            rr.R_MOVE_MESSAGE, rr.MoveMessageRequest(self.handle, to, lookup_id, transaction)
        )

    def close(self) -> rr.CloseQueueResponse:
        response: rr.CloseQueueResponse = self.reader.do(
            rr.R_CLOSE_QUEUE, rr.CloseQueueRequest(self.handle)
        )
        return response

    def transactional(
        self, action: int = 0, transaction: bytes = TRANSACTION, **values: int
    ) -> rr.StartReceiveResponse:
        request = rr.StartTransactionalReceiveRequest(*self.request(action, **values), transaction)
        response: rr.StartReceiveResponse = self.reader.do(
            rr.R_START_TRANSACTIONAL_RECEIVE, request
        )
        return response

    def end_transactional(self, ack: int = RR_ACK, request_id: int = 1) -> int:
        return self.reader.result(
            rr.R_END_TRANSACTIONAL_RECEIVE, rr.EndReceiveRequest(self.handle, ack, request_id)
        )

    def set_class(self, lookup_id: int, us_class: int) -> int:
        return self.reader.result(
            rr.R_SET_USER_ACKNOWLEDGEMENT_CLASS,
            rr.SetUserAcknowledgementClassRequest(self.handle, lookup_id, us_class),
        )


def open_request(
    name: str = DIRECT, access: int = RECEIVE, share: int = 0, **values: Any
) -> rr.OpenQueueRequest:
    queue_format = QueueFormat.from_format_name(parse_format_name(name))
    request = rr.OpenQueueRequest(queue_format, access, share, CLIENT_ID, 1, 6, 1, 7600, 1)
    return request._replace(**values)


def message_of(response: rr.StartReceiveResponse) -> RemoteReadMessage:
    """The message that a read returned."""
    assert response.result == OK, hex(response.result)
    return RemoteReadMessage.parse(join_sections(response.pp_packet_sections))


def body_of(response: rr.StartReceiveResponse) -> bytes:
    return UserMessage(message_of(response).packet).body


def opened_with(*contents: bytes, access: int = 1) -> tuple[RemoteCase, Opened, list[int]]:
    """A queue with messages that a client has open, and their lookup ids."""
    case = RemoteCase()
    ids = case.send(*contents) if contents else []
    return case, case.reader().open(access=access), ids
