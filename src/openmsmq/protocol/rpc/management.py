"""mgmt: information of an RPC server about itself ([MS-RPCE] 2.2.1.3, C706 appendix Q)."""

from collections.abc import Mapping
from typing import Final

from openmsmq.wire.codes.endpoints import MGMT
from openmsmq.wire.rpc.status import RPC_ACCESS_DENIED
from openmsmq.wire.rpc_interfaces import mgmt
from openmsmq.wire.rpc_interfaces.common import NoParameters, ResultResponse

from .interface import Served, ServedInterface, serve
from .server.call import ServerCall

RPC_S_UNKNOWN_AUTHN_SERVICE: Final = 0x000006D3
RPC_S_INVALID_ARG: Final = 0x00000057


def management(principals: Mapping[int, str]) -> ServedInterface:
    """The mgmt interface; it needs no authentication.

    Args:
        principals: the name of the service for each auth_type that has names, such as Kerberos.
    """

    def inq_princ_name(call: ServerCall, request: mgmt.InqPrincNameRequest) -> None:
        size = request.princ_name_size
        name = principals.get(request.authn_proto)
        status = 0
        if name is None:
            name, status = "", RPC_S_UNKNOWN_AUTHN_SERVICE
        elif len(name) >= size:
            name, status = "", RPC_S_INVALID_ARG
        call.reply(mgmt.InqPrincNameResponse(name, size, status))

    return serve(
        MGMT,
        "mgmt",
        (
            Served(mgmt.INQ_IF_IDS, _inq_if_ids),
            Served(mgmt.INQ_STATS, _inq_stats),
            Served(mgmt.IS_SERVER_LISTENING, _is_server_listening),
            Served(mgmt.STOP_SERVER_LISTENING, _stop_server_listening),
            Served(mgmt.INQ_PRINC_NAME, inq_princ_name),
        ),
    )


def _inq_if_ids(call: ServerCall, _request: NoParameters) -> None:
    """The interfaces of the endpoint of the client, except this one."""
    served = call.connection.endpoint.interfaces.values()
    if_ids = tuple(
        mgmt.RpcIfId(entry.interface.uuid, entry.interface.major, entry.interface.minor)
        for entry in served
        if entry.interface != MGMT
    )
    call.reply(mgmt.InqIfIdsResponse(mgmt.RpcIfIdVector(if_ids), 0))


def _inq_stats(call: ServerCall, request: mgmt.InqStatsRequest) -> None:
    """Calls in and out, packets in and out; as many as the client requests."""
    counters = call.connection.server.counters
    statistics = (counters.calls_in, 0, counters.packets_in, counters.packets_out)
    wrapped = tuple(count & 0xFFFFFFFF for count in statistics)
    call.reply(mgmt.InqStatsResponse(wrapped[: request[0]], 0))


def _is_server_listening(call: ServerCall, _request: NoParameters) -> None:
    call.reply(mgmt.IsServerListeningResponse(0, 1))


def _stop_server_listening(call: ServerCall, _request: NoParameters) -> None:
    # Choice: no client may stop the server.
    call.reply(ResultResponse(RPC_ACCESS_DENIED))
