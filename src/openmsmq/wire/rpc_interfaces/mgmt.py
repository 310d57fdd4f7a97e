"""mgmt: the calls by which an RPC server is asked about itself (C706, appendix Q;
[MS-RPCE] 2.2.1.3), opnums 0 to 4."""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import (
    GUID,
    U16,
    U32,
    Array,
    Call,
    Count,
    MaxCount,
    Structure,
    Stub,
    Text,
    Unique,
    ranged,
)

from .common import NO_PARAMETERS, RESULT

MAX_STATISTICS: Final = 50
MAX_PRINC_NAME: Final = 4096


class RpcIfId(NamedTuple):
    """RPC_IF_ID: an interface and its version."""

    uuid: UUID
    vers_major: int
    vers_minor: int


class RpcIfIdVector(NamedTuple):
    """rpc_if_id_vector_t."""

    if_id: tuple[RpcIfId | None, ...]


RPC_IF_ID: Final = Structure(RpcIfId, GUID, U16, U16)


class InqIfIdsResponse(NamedTuple):
    if_id_vector: RpcIfIdVector | None
    status: int


class InqStatsRequest(NamedTuple):
    statistics_count: int


class InqStatsResponse(NamedTuple):
    statistics: tuple[int, ...]
    status: int


class IsServerListeningResponse(NamedTuple):
    status: int
    result: int


class InqPrincNameRequest(NamedTuple):
    authn_proto: int
    princ_name_size: int


class InqPrincNameResponse(NamedTuple):
    """`princ_name_size` is that of the request."""

    princ_name: str
    princ_name_size: int
    status: int


INQ_IF_IDS: Final = Call(
    0,
    "rpc_mgmt_inq_if_ids",
    NO_PARAMETERS,
    Stub(
        InqIfIdsResponse,
        Unique(Structure(RpcIfIdVector, Count("if_id"), Array(Unique(RPC_IF_ID)))),
        U32,
    ),
)
INQ_STATS: Final = Call(
    1,
    "rpc_mgmt_inq_stats",
    Stub(InqStatsRequest, ranged(0, MAX_STATISTICS)),
    Stub(InqStatsResponse, Count("statistics", maximum=MAX_STATISTICS), Array(U32), U32),
)
IS_SERVER_LISTENING: Final = Call(
    2, "rpc_mgmt_is_server_listening", NO_PARAMETERS, Stub(IsServerListeningResponse, U32, U32)
)
STOP_SERVER_LISTENING: Final = Call(3, "rpc_mgmt_stop_server_listening", NO_PARAMETERS, RESULT)
INQ_PRINC_NAME: Final = Call(
    4,
    "rpc_mgmt_inq_princ_name",
    Stub(InqPrincNameRequest, U32, ranged(0, MAX_PRINC_NAME)),
    Stub(InqPrincNameResponse, Text(1, size="princ_name_size"), MaxCount(), U32),
)

CALLS: Final[dict[int, Call]] = {
    call.opnum: call
    for call in (
        INQ_IF_IDS,
        INQ_STATS,
        IS_SERVER_LISTENING,
        STOP_SERVER_LISTENING,
        INQ_PRINC_NAME,
    )
}
