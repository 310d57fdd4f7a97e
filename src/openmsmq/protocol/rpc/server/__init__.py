"""The server of RPC: `RpcServer`, its connections and the calls that handlers answer."""

from .call import ServerCall
from .events import CloseReason, Disconnect, LoggedOn, ServerEvent
from .server import Endpoint, RpcServer, endpoint

__all__ = [
    "CloseReason",
    "Disconnect",
    "Endpoint",
    "LoggedOn",
    "RpcServer",
    "ServerCall",
    "ServerEvent",
    "endpoint",
]
