"""qm2qm: the calls of [MS-MQQP] 3.1.4, opnums 0 to 10.

Opnum 7 answers with the port, or 0 after an error.
"""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import (
    CONTEXT_HANDLE,
    GUID,
    U8,
    U16,
    U32,
    U64,
    Call,
    Count,
    Enum,
    Structure,
    Stub,
    Unique,
    octet_array,
    ranged,
)
from openmsmq.wire.ndr.pieces import Octets

from .common import NO_PARAMETERS, RESULT

MAX_PACKET: Final = 0x420000
# [MS-MQQP] 3.1.4.6: what a read returns that its client cancelled; the severity bit is clear.
MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT: Final = 0x400E03E9
DW_ACK: Final = ranged(1, 2)


class RemoteReadDesc(NamedTuple):
    """REMOTEREADDESC ([MS-MQQP] 2.2.2.1); dwSize is the size of `lp_buffer`, which may be NULL."""

    h_remote_queue: int
    h_cursor: int
    ul_action: int
    ul_timeout: int
    dw_queue: int
    dw_request_id: int
    reserved: int = 0
    dw_arrive_time: int = 0
    e_ack_nack: int = 0
    lp_buffer: Octets | None = None


class RemoteReadDesc2(NamedTuple):
    """REMOTEREADDESC2 ([MS-MQQP] 2.2.2.2)."""

    p_remote_read_desc: RemoteReadDesc | None
    sequential_id: int = 0


REMOTEREADDESC: Final = Structure(
    RemoteReadDesc,
    U32,
    U32,
    U32,
    U32,
    Count("lp_buffer", maximum=MAX_PACKET),
    U32,
    U32,
    U32,
    U32,
    Enum(),
    Unique(octet_array(varying=True)),
)
REMOTEREADDESC2: Final = Structure(RemoteReadDesc2, Unique(REMOTEREADDESC), U64)


class StartReceiveRequest(NamedTuple):
    lp_remote_read_desc: RemoteReadDesc


class StartReceiveResponse(NamedTuple):
    pph_context: bytes
    lp_remote_read_desc: RemoteReadDesc
    result: int


class EndReceiveRequest(NamedTuple):
    pph_context: bytes
    dw_ack: int


class EndReceiveResponse(NamedTuple):
    pph_context: bytes
    result: int


class OpenQueueRequest(NamedTuple):
    p_lic_guid: UUID
    dw_mqs: int
    h_queue: int
    p_queue: int
    dwp_context: int


class OpenQueueResponse(NamedTuple):
    ph_context: bytes
    result: int


class CloseQueueRequest(NamedTuple):
    pph_context: bytes


class CloseQueueResponse(NamedTuple):
    pph_context: bytes
    result: int


class CloseCursorRequest(NamedTuple):
    h_queue: int
    h_cursor: int


class CancelReceiveRequest(NamedTuple):
    h_queue: int
    p_queue: int
    dw_request_id: int


class PurgeQueueRequest(NamedTuple):
    h_queue: int


class GetQMQMServerPortRequest(NamedTuple):
    dw_port_type: int


class GetVersionResponse(NamedTuple):
    p_major: int
    p_minor: int
    p_build_number: int


class StartReceive2Request(NamedTuple):
    lp_remote_read_desc2: RemoteReadDesc2


class StartReceive2Response(NamedTuple):
    """Of RemoteQMStartReceive2 and RemoteQMStartReceiveByLookupId."""

    pph_context: bytes
    lp_remote_read_desc2: RemoteReadDesc2
    result: int


class StartReceiveByLookupIdRequest(NamedTuple):
    lookup_id: int
    lp_remote_read_desc2: RemoteReadDesc2


_START_RECEIVE2_RESPONSE: Final = Stub(StartReceive2Response, CONTEXT_HANDLE, REMOTEREADDESC2, U32)

REMOTE_QM_START_RECEIVE: Final = Call(
    0,
    "RemoteQMStartReceive",
    Stub(StartReceiveRequest, REMOTEREADDESC),
    Stub(StartReceiveResponse, CONTEXT_HANDLE, REMOTEREADDESC, U32),
)
REMOTE_QM_END_RECEIVE: Final = Call(
    1,
    "RemoteQMEndReceive",
    Stub(EndReceiveRequest, CONTEXT_HANDLE, DW_ACK),
    Stub(EndReceiveResponse, CONTEXT_HANDLE, U32),
)
REMOTE_QM_OPEN_QUEUE: Final = Call(
    2,
    "RemoteQMOpenQueue",
    Stub(OpenQueueRequest, GUID, ranged(0, 16), U32, U32, U32),
    Stub(OpenQueueResponse, CONTEXT_HANDLE, U32),
)
REMOTE_QM_CLOSE_QUEUE: Final = Call(
    3,
    "RemoteQMCloseQueue",
    Stub(CloseQueueRequest, CONTEXT_HANDLE),
    Stub(CloseQueueResponse, CONTEXT_HANDLE, U32),
)
REMOTE_QM_CLOSE_CURSOR: Final = Call(
    4, "RemoteQMCloseCursor", Stub(CloseCursorRequest, U32, U32), RESULT
)
REMOTE_QM_CANCEL_RECEIVE: Final = Call(
    5, "RemoteQMCancelReceive", Stub(CancelReceiveRequest, U32, U32, U32), RESULT
)
REMOTE_QM_PURGE_QUEUE: Final = Call(6, "RemoteQMPurgeQueue", Stub(PurgeQueueRequest, U32), RESULT)
REMOTE_QM_GET_QMQM_SERVER_PORT: Final = Call(
    7, "RemoteQMGetQMQMServerPort", Stub(GetQMQMServerPortRequest, ranged(0, 3)), RESULT
)
REMOTE_QM_GET_VERSION: Final = Call(
    8, "RemoteQmGetVersion", NO_PARAMETERS, Stub(GetVersionResponse, U8, U8, U16)
)
REMOTE_QM_START_RECEIVE2: Final = Call(
    9,
    "RemoteQMStartReceive2",
    Stub(StartReceive2Request, REMOTEREADDESC2),
    _START_RECEIVE2_RESPONSE,
)
REMOTE_QM_START_RECEIVE_BY_LOOKUP_ID: Final = Call(
    10,
    "RemoteQMStartReceiveByLookupId",
    Stub(StartReceiveByLookupIdRequest, U64, REMOTEREADDESC2),
    _START_RECEIVE2_RESPONSE,
)

CALLS: Final[dict[int, Call]] = {
    call.opnum: call
    for call in (
        REMOTE_QM_START_RECEIVE,
        REMOTE_QM_END_RECEIVE,
        REMOTE_QM_OPEN_QUEUE,
        REMOTE_QM_CLOSE_QUEUE,
        REMOTE_QM_CLOSE_CURSOR,
        REMOTE_QM_CANCEL_RECEIVE,
        REMOTE_QM_PURGE_QUEUE,
        REMOTE_QM_GET_QMQM_SERVER_PORT,
        REMOTE_QM_GET_VERSION,
        REMOTE_QM_START_RECEIVE2,
        REMOTE_QM_START_RECEIVE_BY_LOOKUP_ID,
    )
}
