"""RemoteRead: the calls of [MS-MQRR] 3.1.4, opnums 0 and 2 to 15.

Context handles are 20 bytes; those of the two kinds of handle, SERIALIZE and NOSERIALIZE, are the
same on the wire. An XACTUOW is 16 bytes, all zero without a transaction. Opnum 0 answers with the
port, or 0 after an error.
"""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import (
    CONTEXT_HANDLE,
    GUID,
    I32,
    U8,
    U16,
    U32,
    U64,
    XACTUOW,
    Array,
    Call,
    Count,
    Enum,
    Structure,
    Stub,
    Unique,
    octet_array,
    ranged,
)
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType

from .common import NO_PARAMETERS, RESULT
from .queue_formats import QUEUE_FORMAT

MAX_PROPAGATION_TOKEN: Final = 131_072
# A packet has one section or two; the interface itself has no limit.
MAX_SECTIONS: Final = 2
DW_ACK: Final = ranged(1, 2)

SECTION_BUFFER: Final = Structure(
    SectionBuffer,
    Enum(SectionType),
    U32,
    Count("section_buffer"),
    Unique(octet_array(), null=b""),
)


class OpenQueueRequest(NamedTuple):
    """Of R_OpenQueue and R_OpenQueueForMove."""

    p_queue_format: QueueFormat
    dw_access: int
    dw_share_mode: int
    p_client_id: UUID
    f_non_routing_server: int
    major: int
    minor: int
    build_number: int
    f_workgroup: int


class OpenQueueResponse(NamedTuple):
    """Failures are raised."""

    pph_context: bytes


class OpenQueueForMoveResponse(NamedTuple):
    p_move_context: int
    pph_context: bytes


class CloseQueueRequest(NamedTuple):
    pph_context: bytes


class CloseQueueResponse(NamedTuple):
    pph_context: bytes
    result: int


class HandleRequest(NamedTuple):
    """Of R_CreateCursor and R_PurgeQueue."""

    ph_context: bytes


class CreateCursorResponse(NamedTuple):
    ph_cursor: int
    result: int


class CloseCursorRequest(NamedTuple):
    ph_context: bytes
    h_cursor: int


class StartReceiveRequest(NamedTuple):
    ph_context: bytes
    lookup_id: int
    h_cursor: int
    ul_action: int
    ul_timeout: int
    dw_request_id: int
    dw_max_body_size: int
    dw_max_compound_message_size: int


class StartReceiveResponse(NamedTuple):
    """Of R_StartReceive and R_StartTransactionalReceive; after a failure all but `result` is 0."""

    pdw_arrive_time: int
    p_sequence_id: int
    pp_packet_sections: tuple[SectionBuffer, ...]
    result: int


class CancelReceiveRequest(NamedTuple):
    ph_context: bytes
    dw_request_id: int


class EndReceiveRequest(NamedTuple):
    """Of R_EndReceive and R_EndTransactionalReceive."""

    ph_context: bytes
    dw_ack: int
    dw_request_id: int


class MoveMessageRequest(NamedTuple):
    ph_context_from: bytes
    ull_context_to: int
    lookup_id: int
    p_transaction_id: bytes


class QMEnlistRemoteTransactionRequest(NamedTuple):
    p_transaction_id: bytes
    pb_propagation_token: bytes | memoryview
    p_queue_format: QueueFormat


class StartTransactionalReceiveRequest(NamedTuple):
    ph_context: bytes
    lookup_id: int
    h_cursor: int
    ul_action: int
    ul_timeout: int
    dw_request_id: int
    dw_max_body_size: int
    dw_max_compound_message_size: int
    p_transaction_id: bytes


class SetUserAcknowledgementClassRequest(NamedTuple):
    ph_context: bytes
    lookup_id: int
    us_class: int


_HANDLE: Final = Stub(HandleRequest, CONTEXT_HANDLE)
_OPEN_QUEUE: Final = Stub(
    OpenQueueRequest, QUEUE_FORMAT, U32, U32, GUID, I32, U8, U8, U16, I32, loose_gap=True
)
_START_RECEIVE_RESPONSE: Final = Stub(
    StartReceiveResponse,
    U32,
    U64,
    Count("pp_packet_sections", maximum=MAX_SECTIONS),
    Unique(Array(SECTION_BUFFER), null=()),
    U32,
)
_END_RECEIVE: Final = Stub(EndReceiveRequest, CONTEXT_HANDLE, DW_ACK, U32)

R_GET_SERVER_PORT: Final = Call(0, "R_GetServerPort", NO_PARAMETERS, RESULT)
R_OPEN_QUEUE: Final = Call(2, "R_OpenQueue", _OPEN_QUEUE, Stub(OpenQueueResponse, CONTEXT_HANDLE))
R_CLOSE_QUEUE: Final = Call(
    3,
    "R_CloseQueue",
    Stub(CloseQueueRequest, CONTEXT_HANDLE),
    Stub(CloseQueueResponse, CONTEXT_HANDLE, U32),
)
R_CREATE_CURSOR: Final = Call(4, "R_CreateCursor", _HANDLE, Stub(CreateCursorResponse, U32, U32))
R_CLOSE_CURSOR: Final = Call(
    5, "R_CloseCursor", Stub(CloseCursorRequest, CONTEXT_HANDLE, U32), RESULT
)
R_PURGE_QUEUE: Final = Call(6, "R_PurgeQueue", _HANDLE, RESULT)
R_START_RECEIVE: Final = Call(
    7,
    "R_StartReceive",
    Stub(StartReceiveRequest, CONTEXT_HANDLE, U64, U32, U32, U32, U32, U32, U32),
    _START_RECEIVE_RESPONSE,
)
R_CANCEL_RECEIVE: Final = Call(
    8, "R_CancelReceive", Stub(CancelReceiveRequest, CONTEXT_HANDLE, U32), RESULT
)
R_END_RECEIVE: Final = Call(9, "R_EndReceive", _END_RECEIVE, RESULT)
R_MOVE_MESSAGE: Final = Call(
    10, "R_MoveMessage", Stub(MoveMessageRequest, CONTEXT_HANDLE, U64, U64, XACTUOW), RESULT
)
R_OPEN_QUEUE_FOR_MOVE: Final = Call(
    11, "R_OpenQueueForMove", _OPEN_QUEUE, Stub(OpenQueueForMoveResponse, U64, CONTEXT_HANDLE)
)
R_QM_ENLIST_REMOTE_TRANSACTION: Final = Call(
    12,
    "R_QMEnlistRemoteTransaction",
    Stub(
        QMEnlistRemoteTransactionRequest,
        XACTUOW,
        Count("pb_propagation_token", maximum=MAX_PROPAGATION_TOKEN),
        octet_array(),
        QUEUE_FORMAT,
        loose_gap=True,
    ),
    RESULT,
)
R_START_TRANSACTIONAL_RECEIVE: Final = Call(
    13,
    "R_StartTransactionalReceive",
    Stub(
        StartTransactionalReceiveRequest,
        CONTEXT_HANDLE,
        U64,
        U32,
        U32,
        U32,
        U32,
        U32,
        U32,
        XACTUOW,
    ),
    _START_RECEIVE_RESPONSE,
)
R_SET_USER_ACKNOWLEDGEMENT_CLASS: Final = Call(
    14,
    "R_SetUserAcknowledgementClass",
    Stub(SetUserAcknowledgementClassRequest, CONTEXT_HANDLE, U64, U16),
    RESULT,
)
R_END_TRANSACTIONAL_RECEIVE: Final = Call(15, "R_EndTransactionalReceive", _END_RECEIVE, RESULT)

CALLS: Final[dict[int, Call]] = {
    call.opnum: call
    for call in (
        R_GET_SERVER_PORT,
        R_OPEN_QUEUE,
        R_CLOSE_QUEUE,
        R_CREATE_CURSOR,
        R_CLOSE_CURSOR,
        R_PURGE_QUEUE,
        R_START_RECEIVE,
        R_CANCEL_RECEIVE,
        R_END_RECEIVE,
        R_MOVE_MESSAGE,
        R_OPEN_QUEUE_FOR_MOVE,
        R_QM_ENLIST_REMOTE_TRANSACTION,
        R_START_TRANSACTIONAL_RECEIVE,
        R_SET_USER_ACKNOWLEDGEMENT_CLASS,
        R_END_TRANSACTIONAL_RECEIVE,
    )
}
