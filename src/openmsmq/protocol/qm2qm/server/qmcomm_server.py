"""QmcommServer: the part of the interface qmcomm that readers by qm2qm need ([MS-MQMP] 3.1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.protocol.remote_read.server.server import readable_name
from openmsmq.protocol.rpc.interface import Served, ServedInterface, serve
from openmsmq.wire.codes.endpoints import QMCOMM
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_SHARING_VIOLATION
from openmsmq.wire.codes.queue_enums import AccessMode, ShareMode
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.rpc_interfaces import qmcomm as calls
from openmsmq.wire.rpc_interfaces.common import NoParameters, ResultResponse

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.rpc.server import ServerCall
    from openmsmq.wire.rpc.status import AuthnLevel

    from .opened_queues import OpenedQueue, OpenedQueues
    from .ports import Ports

_MQ_OK: Final = int(Hresult.MQ_OK)
_ACCESS: Final = {
    int(AccessMode.RECEIVE): QueueAccessType.RECEIVE,
    int(AccessMode.PEEK): QueueAccessType.PEEK,
}
_SHARE: Final = {
    int(ShareMode.DENY_NONE): ShareMode.DENY_NONE,
    int(ShareMode.DENY_RECEIVE_SHARE): ShareMode.DENY_RECEIVE_SHARE,
}


def _not_opened(code: int) -> calls.QMOpenRemoteQueueResponse:
    return calls.QMOpenRemoteQueueResponse(CONTEXT_HANDLE_NULL, 0, 0, 0, code)


def _no_cursor(code: int) -> calls.QMCreateRemoteCursorResponse:
    return calls.QMCreateRemoteCursorResponse(0, code)


class QmcommServer:
    """Opens queues and cursors for readers by qm2qm.

    Args:
        queues: the open queues.
        ports: the ports of the interfaces.
        minimum_level: weaker calls are refused, except R_QMGetRTQMServerPort.
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
        self.interface = self._serve(minimum_level)

    def _serve(self, level: AuthnLevel) -> ServedInterface:
        return serve(
            QMCOMM,
            "qmcomm",
            (
                Served(calls.R_QM_GET_REMOTE_QUEUE_NAME, _get_name, minimum_level=level),
                Served(
                    calls.R_QM_OPEN_REMOTE_QUEUE,
                    self._open_queue,
                    minimum_level=level,
                    failure=_not_opened,
                ),
                Served(
                    calls.R_QM_CLOSE_REMOTE_QUEUE_CONTEXT,
                    self._close_context,
                    handle="pph_context",
                    null_handle=True,
                    serialize=True,
                    minimum_level=level,
                ),
                Served(
                    calls.R_QM_CREATE_REMOTE_CURSOR,
                    self._create_cursor,
                    minimum_level=level,
                    failure=_no_cursor,
                ),
                Served(calls.R_QM_GET_RTQM_SERVER_PORT, self._get_port),
            ),
        )

    def _open_queue(self, call: ServerCall, request: calls.QMOpenRemoteQueueRequest) -> None:
        access = _ACCESS.get(request.dw_desired_access)
        share = _SHARE.get(request.dw_share_mode)
        if request.p_queue_format is None or access is None or share is None:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER,
                f"access {request.dw_desired_access:#x} or share mode {request.dw_share_mode:#x} "
                "is not for remote readers, or the name of the queue is missing",
            )
        name = readable_name(request.p_queue_format)
        try:
            opened = self._queues.open(name, access, share=share, caller=call.caller)
        except QueueError as exc:
            if exc.code != Hresult.MQ_ERROR_SHARING_VIOLATION:
                raise
            raise QueueError(STATUS_SHARING_VIOLATION, exc.detail) from exc
        try:
            handle = call.open_handle(opened, self._queues.drop)
        except BaseException:
            self._queues.close(opened)
            raise
        number = opened.number
        call.reply(calls.QMOpenRemoteQueueResponse(handle, number, number, number, _MQ_OK))

    def _close_context(
        self,
        call: ServerCall,
        request: calls.QMCloseRemoteQueueContext,  # noqa: ARG002 - the runtime found the handle
    ) -> None:
        if call.handle is None:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, "the handle is NULL")
        opened: OpenedQueue = call.handle.value
        self._queues.drop(opened)
        call.close_handle()
        call.reply(calls.QMCloseRemoteQueueContext(CONTEXT_HANDLE_NULL), depends=self._manager.seen)

    def _create_cursor(self, call: ServerCall, request: calls.QMCreateRemoteCursorRequest) -> None:
        opened = self._queues.find(request.h_queue, call.caller)
        if opened is None:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_HANDLE, f"no queue is open as {request.h_queue:#x}"
            )
        cursor = opened.queue.holder.open_cursor(opened.queue.number)
        call.reply(calls.QMCreateRemoteCursorResponse(cursor, _MQ_OK))

    def _get_port(self, call: ServerCall, request: calls.QMGetRTQMServerPortRequest) -> None:
        call.reply(ResultResponse(self._ports.of(request.f_ip)))


def _get_name(
    call: ServerCall,  # noqa: ARG001 - refused
    request: NoParameters,  # noqa: ARG001 - refused
) -> None:
    raise QueueError(Hresult.MQ_ERROR_ILLEGAL_OPERATION, "R_QMGetRemoteQueueName is obsolete")
