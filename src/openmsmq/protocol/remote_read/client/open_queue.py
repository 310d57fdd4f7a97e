"""Common operations of both protocols on an open queue: its cursors, and its end."""

from collections.abc import Callable

from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.rpc_interfaces.qmcomm import QMCreateRemoteCursorResponse
from openmsmq.wire.rpc_interfaces.remote_read import CreateCursorResponse

from .errors import check
from .remote_queue import RemoteQueue
from .steps import Invoke, Steps


def open_cursor(queue: RemoteQueue, create: Invoke) -> Steps[int]:
    """A cursor before the first message; the queue stores its number."""
    response: CreateCursorResponse | QMCreateRemoteCursorResponse = yield create
    check(response)
    queue.cursors.add(response.ph_cursor)
    return response.ph_cursor


def close_queue(
    queue: RemoteQueue,
    close_cursor: Callable[[RemoteQueue, int], Invoke],
    close: Callable[[bytes], Invoke],
) -> Steps[None]:
    """Close the cursors of a queue, then its handle, which is dropped.

    [MS-MQRR] 3.2.4.13.

    Args:
        close_cursor: the call that closes a cursor.
        close: the call that closes a context handle.
    """
    for cursor in list(queue.cursors):
        yield close_cursor(queue, cursor)
    context, queue.context = queue.context, CONTEXT_HANDLE_NULL
    check((yield close(context)))
