"""Qm2qmServer: the interface qm2qm of a queue manager ([MS-MQQP] 3.1.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from openmsmq.core.model.read import MessageSeekAction
from openmsmq.protocol.remote_read.server.actions import ACTIONS, Action, Kind, seconds
from openmsmq.protocol.remote_read.server.long_work import LongWork
from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.protocol.rpc.interface import Handler, Served, ServedInterface, serve
from openmsmq.wire.codes.endpoints import QM2QM
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_PARAMETER, STATUS_NOT_FOUND
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.rpc.status import NCA_S_FAULT_CONTEXT_MISMATCH
from openmsmq.wire.rpc_interfaces import qm2qm as calls
from openmsmq.wire.rpc_interfaces.common import NoParameters, ResultResponse

from .opened_queues import OpenedQueue
from .started_read import (
    Receive,
    Respond,
    StartedRead,
    respond,
    respond2,
    without_message,
)

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.rpc.server import ServerCall
    from openmsmq.wire.rpc.status import AuthnLevel
    from openmsmq.wire.rpc_interfaces.qm2qm import RemoteReadDesc

    from .opened_queues import OpenedQueues
    from .ports import Ports

# Any: the request and the response of any call.
Failure = Callable[[Any, int], Any]

_T = TypeVar("_T")
_MQ_OK: Final = int(Hresult.MQ_OK)
_RR_ACK: Final = 2
_LAST: Final = 0xFFFFFFFFFFFFFFFF
# [MS-MQQP] 3.1.4.9, notes 22 to 24: Windows 7 and all later versions.
VERSION: Final = calls.GetVersionResponse(6, 1, 6531)


def _result(request: Any, code: int) -> ResultResponse:  # noqa: ARG001 - as other failures
    return ResultResponse(code)


def _not_ended(request: calls.EndReceiveRequest, code: int) -> calls.EndReceiveResponse:
    return calls.EndReceiveResponse(request.pph_context, code)


def _not_opened(
    request: calls.OpenQueueRequest,  # noqa: ARG001 - as other failures
    code: int,
) -> calls.OpenQueueResponse:
    return calls.OpenQueueResponse(CONTEXT_HANDLE_NULL, code)


def _not_closed(request: calls.CloseQueueRequest, code: int) -> calls.CloseQueueResponse:
    return calls.CloseQueueResponse(request.pph_context, code)


def _no_message(request: calls.StartReceiveRequest, code: int) -> calls.StartReceiveResponse:
    return respond(CONTEXT_HANDLE_NULL, without_message(request.lp_remote_read_desc), 0, code)


def _no_message2(
    request: calls.StartReceive2Request | calls.StartReceiveByLookupIdRequest, code: int
) -> calls.StartReceive2Response:
    desc = request.lp_remote_read_desc2.p_remote_read_desc
    return respond2(CONTEXT_HANDLE_NULL, None if desc is None else without_message(desc), 0, code)


class Qm2qmServer:
    """Serves queues that were opened by qmcomm.

    Args:
        queues: the queues opened by qmcomm.
        ports: the ports of the interfaces.
        minimum_level: weaker calls are refused, except RemoteQMGetQMQMServerPort.
    """

    def __init__(
        self,
        manager: QueueManager,
        queues: OpenedQueues,
        *,
        ports: Ports,
        minimum_level: AuthnLevel,
    ) -> None:
        self._manager = manager
        self._queues = queues
        self._ports = ports
        self._minimum_level = minimum_level
        self._long_work = LongWork(manager)
        self.interface = self._serve()

    def _serve(self) -> ServedInterface:
        guarded = self._guarded
        return serve(
            QM2QM,
            "qm2qm",
            (
                Served(calls.REMOTE_QM_START_RECEIVE, guarded(self._start_receive, _no_message)),
                Served(
                    calls.REMOTE_QM_END_RECEIVE,
                    guarded(self._end_receive, _not_ended),
                    handle="pph_context",
                    null_handle=True,
                    serialize=True,
                ),
                Served(calls.REMOTE_QM_OPEN_QUEUE, guarded(self._open_queue, _not_opened)),
                Served(
                    calls.REMOTE_QM_CLOSE_QUEUE,
                    guarded(self._close_queue, _not_closed),
                    handle="pph_context",
                    null_handle=True,
                    serialize=True,
                ),
                Served(calls.REMOTE_QM_CLOSE_CURSOR, guarded(self._close_cursor, _result)),
                Served(calls.REMOTE_QM_CANCEL_RECEIVE, guarded(self._cancel_receive, _result)),
                # Note 18: Windows Server 2003 and later raise its failures as faults.
                Served(calls.REMOTE_QM_PURGE_QUEUE, guarded(self._purge_queue)),
                Served(calls.REMOTE_QM_GET_QMQM_SERVER_PORT, self._get_port),
                Served(calls.REMOTE_QM_GET_VERSION, guarded(self._get_version)),
                Served(calls.REMOTE_QM_START_RECEIVE2, guarded(self._start_receive2, _no_message2)),
                Served(
                    calls.REMOTE_QM_START_RECEIVE_BY_LOOKUP_ID,
                    guarded(self._start_by_lookup_id, _no_message2),
                ),
            ),
        )

    def _guarded(self, handler: Handler, failure: Failure | None = None) -> Handler:
        """A handler that returns failures with values of the request; None raises them as faults.

        [MS-MQQP] 5: a caller that is not authenticated gets MQ_ERROR_ACCESS_DENIED, not a fault.
        """

        def run(call: ServerCall, request: Any) -> None:
            try:
                if call.level < self._minimum_level:
                    raise QueueError(
                        Hresult.MQ_ERROR_ACCESS_DENIED, "the call is not protected well enough"
                    )
                handler(call, request)
            except QueueError as exc:
                if failure is None:
                    raise
                call.reply(failure(request, exc.code))

        return run

    # Ports and versions

    def _get_port(self, call: ServerCall, request: calls.GetQMQMServerPortRequest) -> None:
        call.reply(ResultResponse(self._ports.of(request.dw_port_type)))

    def _get_version(self, call: ServerCall, request: NoParameters) -> None:  # noqa: ARG002
        call.reply(VERSION)

    # Sessions

    def _open_queue(self, call: ServerCall, request: calls.OpenQueueRequest) -> None:
        number = request.dwp_context
        opened = self._queues.unclaimed(number) if number == request.p_queue else None
        if opened is None:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, f"no queue was opened as {number:#x}"
            )
        handle = call.open_handle(opened, self._queues.close)
        opened.claim(call.caller)
        call.reply(calls.OpenQueueResponse(handle, _MQ_OK))

    def _close_queue(
        self,
        call: ServerCall,
        request: calls.CloseQueueRequest,  # noqa: ARG002 - the runtime found the handle
    ) -> None:
        self._queues.close(value_of(call, OpenedQueue))
        call.close_handle()
        call.reply(
            calls.CloseQueueResponse(CONTEXT_HANDLE_NULL, _MQ_OK), depends=self._manager.seen
        )

    def _require_session(
        self, call: ServerCall, number: int, code: int = Hresult.MQ_ERROR_INVALID_PARAMETER
    ) -> OpenedQueue:
        session = self._queues.session(number, call.caller)
        if session is None:
            raise QueueError(code, f"no session reads {number:#x}")
        return session

    def _close_cursor(self, call: ServerCall, request: calls.CloseCursorRequest) -> None:
        opened = self._queues.find(request.h_queue, call.caller)
        if opened is None or not request.h_cursor:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_HANDLE,
                f"no cursor {request.h_cursor} of a queue {request.h_queue:#x} is open",
            )
        opened.queue.holder.close_cursor(request.h_cursor)
        call.reply(ResultResponse(_MQ_OK))

    def _purge_queue(self, call: ServerCall, request: calls.PurgeQueueRequest) -> None:
        session = self._require_session(call, request.h_queue, Hresult.MQ_ERROR_INVALID_HANDLE)
        self._long_work.purge(session.queue.descriptor, call, ResultResponse)

    # Reads

    def _start_receive(self, call: ServerCall, request: calls.StartReceiveRequest) -> None:
        self._start(call, request.lp_remote_read_desc, respond)

    def _start_receive2(self, call: ServerCall, request: calls.StartReceive2Request) -> None:
        self._start(call, required(request.lp_remote_read_desc2), respond2)

    def _start(self, call: ServerCall, desc: RemoteReadDesc, respond: Respond) -> None:
        # [MS-MQQP] 3.1.4.1: the checks in their order.
        if not desc.dw_queue or desc.dw_queue != desc.h_remote_queue:
            raise _invalid(f"dwQueue {desc.dw_queue:#x}, hRemoteQueue {desc.h_remote_queue:#x}")
        session = self._queues.session(desc.h_remote_queue, call.caller)
        if session is not None and desc.dw_request_id in session.running:
            raise _invalid(f"request {desc.dw_request_id} is running")
        action = ACTIONS.get(desc.ul_action)
        if action is None or action.kind is Kind.LOOKUP:
            raise _invalid(f"ulAction {desc.ul_action:#x} is not for this call")
        if action.kind is Kind.NEXT and not desc.h_cursor:
            raise QueueError(STATUS_INVALID_PARAMETER, "MQ_ACTION_PEEK_NEXT needs a cursor")
        session = self._require_session(call, desc.h_remote_queue)
        self._read(call, session, desc, respond, action)

    def _start_by_lookup_id(
        self, call: ServerCall, request: calls.StartReceiveByLookupIdRequest
    ) -> None:
        desc = required(request.lp_remote_read_desc2)
        if desc.ul_timeout or desc.h_cursor:
            raise _invalid("a read by lookup id takes no cursor and no time-out")
        session = self._require_session(call, desc.h_remote_queue)
        action = ACTIONS.get(desc.ul_action)
        if action is None or action.kind is not Kind.LOOKUP:
            raise _invalid(f"ulAction {desc.ul_action:#x} is not for this call")
        action = action._replace(seek=seek_from(action.seek, request.lookup_id))
        self._read(call, session, desc, respond2, action, request.lookup_id)

    def _read(
        self,
        call: ServerCall,
        session: OpenedQueue,
        desc: RemoteReadDesc,
        respond: Respond,
        action: Action,
        lookup_id: int = 0,
    ) -> None:
        cursor = session.queue.cursor(desc.h_cursor, STATUS_INVALID_PARAMETER)
        read = StartedRead(session, call, desc, respond, receive=action.receive)
        try:
            session.queue.start(
                action,
                read,
                request_id=read.key,
                lookup_id=lookup_id,
                cursor=cursor,
                timeout=seconds(desc.ul_timeout),
            )
        except QueueError:
            read.finish()
            raise
        if call.open:
            call.on_cancel = read.cancel

    def _cancel_receive(self, call: ServerCall, request: calls.CancelReceiveRequest) -> None:
        number, request_id = request.h_queue, request.dw_request_id
        if not request.p_queue or request.p_queue != number:
            raise _invalid(f"pQueue {request.p_queue:#x}, hQueue {number:#x}")
        session = self._queues.session(number, call.caller)
        if session is None or not session.running:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, f"no read runs on {number:#x}")
        key = session.running.get(request_id)
        if key is None:
            raise QueueError(Hresult.MQ_ERROR, f"no read runs as {request_id}")
        if not session.queue.cancel(key):
            raise QueueError(STATUS_NOT_FOUND, f"the read {request_id} does not wait any more")
        session.finish(request_id, key)
        call.reply(ResultResponse(_MQ_OK))

    def _end_receive(self, call: ServerCall, request: calls.EndReceiveRequest) -> None:
        receive = value_of(call, Receive)
        # Whatever the result, the handle is closed.
        call.close_handle()
        code, depends = _MQ_OK, 0
        try:
            depends = receive.end(delete=request.dw_ack == _RR_ACK)
        except QueueError as exc:
            code = exc.code
        call.reply(calls.EndReceiveResponse(CONTEXT_HANDLE_NULL, code), depends=depends)

    # Time

    def next_timer(self) -> float | None:
        """The time at which `handle_timer` must be called next."""
        return self._long_work.next_timer()

    def handle_timer(self, *, now: float) -> None:  # noqa: ARG002 - what is under way is due
        """Continue purges."""
        self._long_work.step()


def value_of(call: ServerCall, kind: type[_T]) -> _T:
    """The object of the handle of a call.

    Raises:
        QueueError: MQ_ERROR_INVALID_HANDLE, it is NULL.
        RpcFault: it is of another kind: sessions and reads are handles of one interface.
    """
    if call.handle is None:
        raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, "the handle is NULL")
    value = call.handle.value
    if not isinstance(value, kind):
        raise RpcFault(NCA_S_FAULT_CONTEXT_MISMATCH)
    return value


def required(desc2: calls.RemoteReadDesc2) -> RemoteReadDesc:
    """The inner structure.

    Raises:
        QueueError: MQ_ERROR_INVALID_HANDLE, it is missing.
    """
    desc = desc2.p_remote_read_desc
    if desc is None:
        raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, "pRemoteReadDesc is NULL")
    return desc


def seek_from(seek: MessageSeekAction, lookup_id: int) -> MessageSeekAction:
    """[MS-MQQP] 3.1.4.11: from the ends of the queue there is no message to start at."""
    if seek is MessageSeekAction.NEXT and lookup_id == 0:
        return MessageSeekAction.FIRST
    if seek is MessageSeekAction.PREVIOUS and lookup_id == _LAST:
        return MessageSeekAction.LAST
    return seek


def _invalid(detail: str) -> QueueError:
    return QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, detail)
