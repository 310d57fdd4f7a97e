"""RemoteReadServer: the interface RemoteRead of a queue manager ([MS-MQRR] 3.1.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.open_queue import MAY_MOVE, MAY_RECEIVE, QueueAccessType
from openmsmq.protocol.rpc.interface import Served, ServedInterface, serve
from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_ACCESS_DENIED, STATUS_NOT_FOUND
from openmsmq.wire.codes.queue_enums import AccessMode, ShareMode
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, Call
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.rpc_interfaces import remote_read as calls
from openmsmq.wire.rpc_interfaces.common import NoParameters, ResultResponse

from .actions import check_combination, seconds
from .long_work import LongWork
from .moves import MoveTargets, check_not_locked, check_related, check_transactional_move
from .names import readable_name
from .pending import PendingReceives
from .remote_queue import RemoteQueue
from .replies import Replies
from .transactional_calls import TransactionalCalls

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transactions.transactions import Transaction
    from openmsmq.protocol.coordinator import Participant
    from openmsmq.protocol.remote_read.settings import RemoteReadSettings
    from openmsmq.protocol.rpc.server import ServerCall

__all__ = ["RemoteReadServer", "open_handle", "queue_of", "readable_name"]

_MQ_OK: Final = int(Hresult.MQ_OK)
_RR_ACK: Final = 2
_XACTUOW_NULL: Final = bytes(16)
_SEQUENCE_MASK: Final = (1 << 56) - 1


def _result(code: int) -> ResultResponse:
    return ResultResponse(code)


def _no_cursor(code: int) -> calls.CreateCursorResponse:
    return calls.CreateCursorResponse(0, code)


def _not_closed(code: int) -> calls.CloseQueueResponse:
    return calls.CloseQueueResponse(CONTEXT_HANDLE_NULL, code)


def _no_message(code: int) -> calls.StartReceiveResponse:
    return calls.StartReceiveResponse(0, 0, (), code)


class RemoteReadServer:
    """Serves the queues of a queue manager to remote readers.

    Args:
        settings: the limits.
        random_bytes: creates unguessable numbers.
        port: the port of RemoteRead.
        minimum_level: weaker calls are refused, except R_GetServerPort.
        participant: takes part in transactions of other machines; None refuses them.
    """

    def __init__(
        self,
        manager: QueueManager,
        settings: RemoteReadSettings,
        *,
        random_bytes: Callable[[int], bytes],
        port: Callable[[], int],
        minimum_level: AuthnLevel,
        participant: Participant | None = None,
    ) -> None:
        self._manager = manager
        self._settings = settings
        self._port = port
        self.pending = PendingReceives(lambda: manager.now, settings.cleanup_seconds)
        self.replies = Replies(manager)
        self.long_work = LongWork(manager, settings.purge_step)
        self.move_targets = MoveTargets(random_bytes)
        self.transactional = TransactionalCalls(manager, participant, self.start_receive)
        self.interface = self._serve(minimum_level)

    def _serve(self, level: AuthnLevel) -> ServedInterface:
        def on_handle(
            call: Call, handler: Callable[..., None], failure: Callable[[int], object]
        ) -> Served:
            return Served(call, handler, handle="ph_context", minimum_level=level, failure=failure)

        return serve(
            REMOTE_READ,
            "RemoteRead",
            (
                Served(calls.R_GET_SERVER_PORT, self._get_server_port),
                Served(calls.R_OPEN_QUEUE, self._open_queue, minimum_level=level),
                Served(
                    calls.R_CLOSE_QUEUE,
                    self._close_queue,
                    handle="pph_context",
                    null_handle=True,
                    serialize=True,
                    minimum_level=level,
                    failure=_not_closed,
                ),
                on_handle(calls.R_CREATE_CURSOR, self._create_cursor, _no_cursor),
                on_handle(calls.R_CLOSE_CURSOR, self._close_cursor, _result),
                on_handle(calls.R_PURGE_QUEUE, self._purge_queue, _result),
                on_handle(calls.R_START_RECEIVE, self.start_receive, _no_message),
                on_handle(calls.R_CANCEL_RECEIVE, self._cancel_receive, _result),
                on_handle(calls.R_END_RECEIVE, self._end_receive, _result),
                Served(
                    calls.R_MOVE_MESSAGE,
                    self._move_message,
                    handle="ph_context_from",
                    minimum_level=level,
                    failure=_result,
                ),
                Served(calls.R_OPEN_QUEUE_FOR_MOVE, self._open_for_move, minimum_level=level),
                Served(
                    calls.R_QM_ENLIST_REMOTE_TRANSACTION,
                    self.transactional.enlist,
                    minimum_level=level,
                    failure=_result,
                ),
                on_handle(
                    calls.R_START_TRANSACTIONAL_RECEIVE,
                    self.transactional.start_receive,
                    _no_message,
                ),
                on_handle(
                    calls.R_SET_USER_ACKNOWLEDGEMENT_CLASS, self.transactional.set_class, _result
                ),
                on_handle(
                    calls.R_END_TRANSACTIONAL_RECEIVE, self.transactional.end_receive, _result
                ),
            ),
        )

    # Ports

    def _get_server_port(self, call: ServerCall, request: NoParameters) -> None:  # noqa: ARG002
        call.reply(ResultResponse(self._port()))

    # Open queues

    def _open(
        self, call: ServerCall, request: calls.OpenQueueRequest, access: QueueAccessType
    ) -> RemoteQueue:
        queue = RemoteQueue(self._manager, self.pending, self._settings)
        share = ShareMode.DENY_RECEIVE_SHARE if request.dw_share_mode else ShareMode.DENY_NONE
        name = readable_name(request.p_queue_format)
        queue.open(name, access, share=share, caller=call.caller)
        return queue

    def _open_queue(self, call: ServerCall, request: calls.OpenQueueRequest) -> None:
        # [MS-MQRR] 3.1.4.2: every access other than receive is peek.
        receives = request.dw_access == AccessMode.RECEIVE
        queue = self._open(
            call, request, QueueAccessType.RECEIVE if receives else QueueAccessType.PEEK
        )
        handle = open_handle(call, queue, RemoteQueue.close)
        call.reply(calls.OpenQueueResponse(handle))

    def _open_for_move(self, call: ServerCall, request: calls.OpenQueueRequest) -> None:
        targets = self.move_targets
        number = targets.new_number()

        def close(queue: RemoteQueue) -> None:
            targets.remove(number)
            queue.close()

        handle = open_handle(call, self._open(call, request, QueueAccessType.MOVE), close)
        targets.add(number, handle)
        call.reply(calls.OpenQueueForMoveResponse(number, handle))

    def _close_queue(self, call: ServerCall, request: calls.CloseQueueRequest) -> None:  # noqa: ARG002
        if call.handle is None:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, "the handle is NULL")
        queue: RemoteQueue = call.handle.value
        call.handle.rundown(queue)
        call.close_handle()
        call.reply(
            calls.CloseQueueResponse(CONTEXT_HANDLE_NULL, _MQ_OK), depends=self._manager.seen
        )

    def _create_cursor(self, call: ServerCall, request: calls.HandleRequest) -> None:  # noqa: ARG002
        queue = queue_of(call)
        number = queue.holder.open_cursor(queue.number)
        call.reply(calls.CreateCursorResponse(number, _MQ_OK))

    def _close_cursor(self, call: ServerCall, request: calls.CloseCursorRequest) -> None:
        if not request.h_cursor:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, "0 is not a cursor")
        queue_of(call).holder.close_cursor(request.h_cursor)
        call.reply(ResultResponse(_MQ_OK))

    def _purge_queue(self, call: ServerCall, request: calls.HandleRequest) -> None:  # noqa: ARG002
        queue = queue_of(call)
        if queue.descriptor.access not in MAY_RECEIVE:
            raise QueueError(STATUS_ACCESS_DENIED, f"{queue.descriptor.format_name}: peek only")
        self.long_work.purge(queue.descriptor, call, _result)

    # Reads

    def start_receive(
        self,
        call: ServerCall,
        request: calls.StartReceiveRequest | calls.StartTransactionalReceiveRequest,
        transaction: Transaction | None = None,
    ) -> None:
        """Read a message, in a transaction of the client or in none."""
        action = check_combination(
            request.ul_action, request.lookup_id, request.h_cursor, request.ul_timeout
        )
        queue = queue_of(call)
        cursor = queue.cursor(request.h_cursor)
        read = _StartedReceive(self, queue, call, request)
        queue.start(
            action,
            read,
            request_id=request.dw_request_id,
            lookup_id=request.lookup_id,
            cursor=cursor,
            timeout=seconds(request.ul_timeout),
            transaction=transaction,
        )
        if call.open:
            call.on_cancel = read.cancel

    def _cancel_receive(self, call: ServerCall, request: calls.CancelReceiveRequest) -> None:
        if not queue_of(call).cancel(request.dw_request_id):
            raise QueueError(STATUS_NOT_FOUND, f"no read waits as {request.dw_request_id}")
        call.reply(ResultResponse(_MQ_OK))

    def _end_receive(self, call: ServerCall, request: calls.EndReceiveRequest) -> None:
        depends = queue_of(call).end(request.dw_request_id, delete=request.dw_ack == _RR_ACK)
        call.reply(ResultResponse(_MQ_OK), depends=depends)

    # Moves

    def _move_message(self, call: ServerCall, request: calls.MoveMessageRequest) -> None:
        source = queue_of(call).descriptor
        target = self.move_targets.find(request.ull_context_to, call).descriptor
        queue = source.require(MAY_RECEIVE)
        to = target.require(MAY_MOVE)
        check_related(queue, to)
        transaction = None
        if request.p_transaction_id != _XACTUOW_NULL:
            check_transactional_move(queue, to, request.lookup_id)
            transaction = self.transactional.known(request.p_transaction_id, call)
            check_not_locked(queue, request.lookup_id, transaction)
            transaction = self.transactional.find(request.p_transaction_id, call)
        result = self._manager.traffic.move_many(
            source, target, lookup_ids=[request.lookup_id], transaction=transaction
        )
        call.reply(ResultResponse(_MQ_OK), depends=result.depends)

    # Time

    def next_timer(self) -> float | None:
        """The time at which `handle_timer` must be called next."""
        times = (self.pending.next_timer(), self.long_work.next_timer())
        return min([time for time in times if time is not None], default=None)

    def handle_timer(self, *, now: float) -> None:
        """Put back messages that clients have not ended, and continue long work."""
        self.pending.handle_timer(now=now)
        self.long_work.step()


class _StartedReceive:
    """A call of R_StartReceive that receives a message."""

    __slots__ = ("_call", "_queue", "_request", "_server")

    def __init__(
        self,
        server: RemoteReadServer,
        queue: RemoteQueue,
        call: ServerCall,
        request: calls.StartReceiveRequest | calls.StartTransactionalReceiveRequest,
    ) -> None:
        self._server = server
        self._queue = queue
        self._call = call
        self._request = request

    def cancel(self, call: ServerCall) -> None:  # noqa: ARG002 - it is the same call
        """The client cancels the read, or has disconnected."""
        self._queue.cancel(self._request.dw_request_id)

    @property
    def abandoned(self) -> bool:
        return self._call.abandoned

    def found(self, message: Message, packet: bytes, depends: int) -> None:
        call, request = self._call, self._request
        reply = self._server.replies.packet(message, packet, call.connection.local_address)
        call.reply(
            calls.StartReceiveResponse(
                int(message.arrived),
                message.lookup_id & _SEQUENCE_MASK,
                reply.sections(request.dw_max_body_size, request.dw_max_compound_message_size),
                _MQ_OK,
            ),
            depends=depends,
        )

    def failed(self, code: int) -> None:
        self._call.fail(code)


def open_handle(
    call: ServerCall, queue: RemoteQueue, rundown: Callable[[RemoteQueue], None]
) -> bytes:
    """Create the context handle of an open queue, or close the queue again."""
    try:
        return call.open_handle(queue, rundown)
    except BaseException:
        queue.close()
        raise


def queue_of(call: ServerCall) -> RemoteQueue:
    """The queue behind the handle of a call."""
    assert call.handle is not None, "the runtime refuses NULL handles"  # noqa: S101
    queue: RemoteQueue = call.handle.value
    return queue
