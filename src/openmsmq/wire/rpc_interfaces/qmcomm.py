"""qmcomm: the calls of [MS-MQMP] 3.1.4 that qm2qm needs, opnums 2, 3, 4 and 31.

Opnum 31 answers with the port, or 0 after an error.
"""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import CONTEXT_HANDLE, GUID, U32, Call, Stub, Unique
from openmsmq.wire.remote_read.queue_format import QueueFormat

from .common import NO_PARAMETERS, RESULT
from .queue_formats import QUEUE_FORMAT
from .transfer_buffer import CAC_TRANSFER_BUFFER_V1, CACTransferBufferV1


class QMOpenRemoteQueueRequest(NamedTuple):
    p_queue_format: QueueFormat | None
    dw_calling_process_id: int
    dw_desired_access: int
    dw_share_mode: int
    p_lic_guid: UUID
    dw_mqs: int


class QMOpenRemoteQueueResponse(NamedTuple):
    pph_context: bytes
    pdw_context: int
    dwp_queue: int
    ph_queue: int
    result: int


class QMCloseRemoteQueueContext(NamedTuple):
    """The handle of the request, and the one of the response, which is NULL."""

    pph_context: bytes


class QMCreateRemoteCursorRequest(NamedTuple):
    ptb1: CACTransferBufferV1
    h_queue: int


class QMCreateRemoteCursorResponse(NamedTuple):
    ph_cursor: int
    result: int


class QMGetRTQMServerPortRequest(NamedTuple):
    f_ip: int


_CLOSE: Final = Stub(QMCloseRemoteQueueContext, CONTEXT_HANDLE)

# Every server refuses it without a look at its parameters.
R_QM_GET_REMOTE_QUEUE_NAME: Final = Call(1, "R_QMGetRemoteQueueName", NO_PARAMETERS, NO_PARAMETERS)

R_QM_OPEN_REMOTE_QUEUE: Final = Call(
    2,
    "R_QMOpenRemoteQueue",
    Stub(QMOpenRemoteQueueRequest, Unique(QUEUE_FORMAT), U32, U32, U32, GUID, U32, loose_gap=True),
    Stub(QMOpenRemoteQueueResponse, CONTEXT_HANDLE, U32, U32, U32, U32),
)
R_QM_CLOSE_REMOTE_QUEUE_CONTEXT: Final = Call(3, "R_QMCloseRemoteQueueContext", _CLOSE, _CLOSE)
R_QM_CREATE_REMOTE_CURSOR: Final = Call(
    4,
    "R_QMCreateRemoteCursor",
    Stub(QMCreateRemoteCursorRequest, CAC_TRANSFER_BUFFER_V1, U32),
    Stub(QMCreateRemoteCursorResponse, U32, U32),
)
R_QM_GET_RTQM_SERVER_PORT: Final = Call(
    31, "R_QMGetRTQMServerPort", Stub(QMGetRTQMServerPortRequest, U32), RESULT
)

CALLS: Final[dict[int, Call]] = {
    call.opnum: call
    for call in (
        R_QM_OPEN_REMOTE_QUEUE,
        R_QM_CLOSE_REMOTE_QUEUE_CONTEXT,
        R_QM_CREATE_REMOTE_CURSOR,
        R_QM_GET_RTQM_SERVER_PORT,
    )
}
