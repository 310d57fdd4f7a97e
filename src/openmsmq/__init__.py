"""openmsmq: an open, wire-compatible implementation of Microsoft Message Queuing.

The names below are the Python API. They are loaded when they are first used, so that programs pay
only for what they need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from .version import __version__

if TYPE_CHECKING:
    from . import aio
    from .client import (
        AccessDenied,
        ConnectionLost,
        Message,
        MsmqError,
        Queue,
        QueueError,
        QueueManager,
        ReceivedMessage,
        ReceiveTimeout,
        Transaction,
        connect,
    )
    from .server.embedded import embedded

__all__ = [
    "AccessDenied",
    "ConnectionLost",
    "Message",
    "MsmqError",
    "Queue",
    "QueueError",
    "QueueManager",
    "ReceiveTimeout",
    "ReceivedMessage",
    "Transaction",
    "__version__",
    "aio",
    "connect",
    "embedded",
]

_MODULES: Final = {
    **dict.fromkeys(__all__, "openmsmq.client"),
    "embedded": "openmsmq.server.embedded",
}


def __getattr__(name: str) -> Any:
    """Load a name of the API."""
    if name == "aio":
        return import_module("openmsmq.aio")
    if name not in _MODULES:
        raise AttributeError(f"module 'openmsmq' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
