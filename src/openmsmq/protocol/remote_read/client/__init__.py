"""The client of remote read, [MS-MQRR] and [MS-MQQP], without sockets.

`find_server` determines the address and the protocol of a server; it returns a `ReadProtocol`:
`RemoteReadProtocol` or `Qm2QmProtocol`. Operations of several calls are generators (`Steps`) that
yield `Connect` and `Invoke` and are sent the results; a read, its end and its cancellation are
one call each, so that a driver can have many in progress:

    protocol = yield from find_server(settings)
    queue = yield from protocol.open(queue_format, Access.RECEIVE, ShareMode.DENY_NONE)
    read = protocol.read(queue, Reading(ReceiveAction.RECEIVE, timeout=1000))
    message = protocol.message(queue, read, (yield read.invoke))    # raises QueueError
    check((yield protocol.end(queue, message, Ack.RR_ACK)))
"""

from .binding import BindingSettings, find_server
from .errors import check, queue_error
from .mqqp import Qm2QmProtocol
from .mqrr import RemoteReadProtocol
from .read_protocol import ClientIdentity, ReadProtocol
from .remote_queue import Access, Ack, ReadCall, Reading, RemoteMessage, RemoteQueue, ShareMode
from .steps import Connect, HangUp, Invoke, Step, Steps

__all__ = [
    "Access",
    "Ack",
    "BindingSettings",
    "ClientIdentity",
    "Connect",
    "HangUp",
    "Invoke",
    "Qm2QmProtocol",
    "ReadCall",
    "ReadProtocol",
    "Reading",
    "RemoteMessage",
    "RemoteQueue",
    "RemoteReadProtocol",
    "ShareMode",
    "Step",
    "Steps",
    "check",
    "find_server",
    "queue_error",
]
