"""HTTP/1.1 for SRMP, without sockets and clocks: requests in and out, many on one connection.

`HttpTransport(settings)` is the HTTP of one queue manager. protocol/srmp uses two of its
attributes; after every input it calls these methods:

    server.take_requests()               whole POSTs below /msmq, as `HttpRequest`
    server.answer(request, status)       once for each, when its effects are on disk

    client.open(destination)             an outlet: the connection of one outgoing queue to a host
    client.room(outlet)                  how many more requests it takes
    client.post(outlet, token, target, content_type, body)
    client.take_events()                 `OutletOpened`, `Answered`, `OutletFailed`
    client.close(outlet, now=now)

All other parts of HTTP stay here: keep-alive, pipelining, order of answers, 100 Continue, the
statuses 404, 405, 408, 411, 413, 414, 417 and 431, limits, time-outs, pools, proxies. net/srmp
transfers the bytes; `next_timer` and `handle_timer` are part of those of the carrier.
"""

from .destination import Destination, Proxy, Route
from .events import (
    Answered,
    CloseReason,
    Connect,
    Disconnect,
    OutletEvent,
    OutletFailed,
    OutletOpened,
)
from .request import HttpRequest
from .settings import HttpSettings
from .transport import HttpTransport

__all__ = [
    "Answered",
    "CloseReason",
    "Connect",
    "Destination",
    "Disconnect",
    "HttpRequest",
    "HttpSettings",
    "HttpTransport",
    "OutletEvent",
    "OutletFailed",
    "OutletOpened",
    "Proxy",
    "Route",
]
