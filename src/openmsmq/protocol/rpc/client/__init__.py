"""The client of RPC: one connection to a server, and the calls on it."""

from .connection import ClientConnection
from .events import Answered, Bound, ClientEvent, Closed, Failed
from .settings import ClientSecurity, ClientSettings

__all__ = [
    "Answered",
    "Bound",
    "ClientConnection",
    "ClientEvent",
    "ClientSecurity",
    "ClientSettings",
    "Closed",
    "Failed",
]
