"""The server of remote read."""

from .remote_queue import RemoteQueue
from .server import RemoteReadServer

__all__ = ["RemoteQueue", "RemoteReadServer"]
