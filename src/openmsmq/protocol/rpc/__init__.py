"""Connection-oriented DCE/RPC without sockets, both roles (C706, [MS-RPCE] 3.3).

To serve an interface, write a handler per operation and a table:

    def r_get_server_port(call: ServerCall, request: NoParameters) -> None:
        call.reply(ResultResponse(port))

    def r_open_queue(call: ServerCall, request: OpenQueueRequest) -> None:
        queue = manager.open_queue(..., caller=call.caller)        # may raise QueueError
        call.reply(OpenQueueResponse(call.open_handle(queue, rundown=close)))

    def r_close_queue(call: ServerCall, request: CloseQueueRequest) -> None:
        close(call.handle.value)
        call.close_handle()
        call.reply(CloseQueueResponse(CONTEXT_HANDLE_NULL, 0), depends=manager.outbox.changed())

    def r_start_receive(call: ServerCall, request: StartReceiveRequest) -> None:
        waiting = manager.read(..., when=lambda found: call.reply(...))
        call.on_cancel = lambda call: manager.cancel(waiting)      # see `ServerCall`

    remote_read = serve(REMOTE_READ, "RemoteRead", (
        Served(R_GET_SERVER_PORT, r_get_server_port),
        Served(R_OPEN_QUEUE, r_open_queue, minimum_level=AuthnLevel.PKT_PRIVACY),
        Served(R_CLOSE_QUEUE, r_close_queue, handle="pph_context", serialize=True,
               failure=lambda code: CloseQueueResponse(CONTEXT_HANDLE_NULL, code)),
        Served(R_START_RECEIVE, r_start_receive, handle="ph_context", failure=...),
    ))

- A handler answers once: `call.reply(response)`, `call.fail(code)` or `call.fault(status)`, at once
  or minutes later. `depends` is the batch that must be on disk before the answer is sent.
- `QueueError` raised by a handler becomes `call.fail(code)`: `failure` makes the response that has
  the code; without `failure` it is sent as the status of a fault. `RpcFault` is always a fault.
- The runtime decodes and checks the request, the level, the verification trailer and the handle
  (unknown, of another interface, association or caller: nca_s_fault_context_mismatch) before the
  handler runs. `call.handle` is None for a NULL handle, where `null_handle` allows it.
- A handler that keeps a call sets `call.on_cancel`. It is called for co_cancel, and then answers
  the call; and when the client has disconnected (`call.abandoned`), and then only frees resources.
- When the last connection of an association closes, its handles run down, the newest first.

`RpcServer` has all connections; `Endpoint` lists the interfaces of a port. `net.rpc.shell`
listens. `management` and `endpoint_mapper` are the two interfaces of the runtime itself.

To call a server:

    connection = ClientConnection([REMOTE_READ], security=ClientSecurity(auth_type, level, start))
    call_id = connection.call(REMOTE_READ, R_OPEN_QUEUE, OpenQueueRequest(...))
    ... move bytes: connection.receive_data(data), connection.data_to_send()
    connection.next_event()    # Bound, Answered(call_id, response), Failed(call_id, error), ...

Many calls may be in flight. A second connection joins the association with
`assoc_group_id=first.assoc_group_id` and then may use its context handles. `net.rpc.client` has
the same with sockets: `await channel.call(REMOTE_READ, R_OPEN_QUEUE, request)`.
"""

from .client import ClientConnection, ClientSecurity, ClientSettings
from .errors import ConnectionClosed, InterfaceUnknown, RpcFault
from .interface import Served, ServedInterface, serve
from .server import (
    CloseReason,
    Disconnect,
    Endpoint,
    LoggedOn,
    RpcServer,
    ServerCall,
    ServerEvent,
    endpoint,
)
from .settings import RpcSettings

__all__ = [
    "ClientConnection",
    "ClientSecurity",
    "ClientSettings",
    "CloseReason",
    "ConnectionClosed",
    "Disconnect",
    "Endpoint",
    "InterfaceUnknown",
    "LoggedOn",
    "RpcFault",
    "RpcServer",
    "RpcSettings",
    "Served",
    "ServedInterface",
    "ServerCall",
    "ServerEvent",
    "endpoint",
    "serve",
]
