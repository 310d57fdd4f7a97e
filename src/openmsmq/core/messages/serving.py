"""Waiting readers get the messages that appear: Message Position Available (3.1.7.2.2).

Readers are served first come, first served. A peek leaves the message for the next reader, a
receive takes it.
"""

from collections import deque

from openmsmq.core.events import ReadSatisfied
from openmsmq.core.model.message import Message, PositionState
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.core.state import State
from openmsmq.core.transactions.transactions import TransactionState
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import StoreError

from .reading import Read, finish_taking, first_visible, show
from .waits import end_read


def serve(state: State, queue: Queue, arrived: list[Message]) -> None:
    """Serve the readers of a queue in which messages appeared."""
    kept: deque[ReadRequest] = deque()
    while queue.waiting and (queue.lanes.count or queue.peekable):
        read = queue.waiting.popleft()
        if read.paused:
            kept.append(read)
            continue
        transaction = read.transaction
        if transaction is not None and transaction.state is not TransactionState.ACTIVE:
            end_read(state, read, Hresult.MQ_ERROR_TRANSACTION_SEQUENCE)
            continue
        try:
            result = _serve_one(state, queue, read, arrived)
        except StoreError:
            # What cannot be read back stays where it is; the sender is not to blame.
            end_read(state, read, Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED)
            continue
        if result is None:
            kept.append(read)
            continue
        read.waiting = False
        state.outbox.tell(
            ReadSatisfied(
                read=read,
                messages=result.messages,
                packets=result.packets,
                depends=result.depends,
            )
        )
    kept.extend(queue.waiting)
    queue.waiting = kept


def _serve_one(
    state: State, queue: Queue, read: ReadRequest, arrived: list[Message]
) -> Read | None:
    cursor = read.cursor
    if cursor is not None:
        message = _first_available(queue, arrived)
        if message is None:
            return None
        cursor.arrived(message)
        if not read.destructive:
            return show(state, [message])
        queue.lanes.remove(message)
        return finish_taking(state, queue, [message], read)
    if read.destructive:
        messages = queue.lanes.take(read.max_count, read.max_bytes)
        return finish_taking(state, queue, messages, read) if messages else None
    messages = first_visible(queue, read.max_count, read.max_bytes)
    return show(state, messages) if messages else None


def _first_available(queue: Queue, arrived: list[Message]) -> Message | None:
    """The message of those that appeared which stands first in the queue and is still there."""
    here = [
        message
        for message in arrived
        if message.state == PositionState.AVAILABLE and message.queue is queue
    ]
    return min(here, key=lambda message: message.lookup_id, default=None)
