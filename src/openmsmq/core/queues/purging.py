"""Purge Queue and Delete Queue ([MS-MQDMPR] 3.1.7.1.7, 3.1.7.1.4)."""

from itertools import islice
from typing import Final

from openmsmq.core.events import QueueDeleted
from openmsmq.core.messages.delayed import leave_with_queue
from openmsmq.core.messages.delete_reasons import delete_messages
from openmsmq.core.messages.positions import changes
from openmsmq.core.messages.reading import end_reads, queue_to_read
from openmsmq.core.model.message import Message, PositionState
from openmsmq.core.model.open_queue import MAY_RECEIVE, OpenQueueDescriptor
from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.outbox import Result
from openmsmq.core.rows.queue_rows import forget_queue, store_queue
from openmsmq.core.sites.public_queues import unregister
from openmsmq.core.state import State
from openmsmq.core.transfer.incoming.streams import abandon_streams
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError

from .access import check_queue_right
from .creation import unlist_queue

# The number of messages that one step of the event loop purges, or deletes with their queue.
PURGE_STEP: Final = 10_000
_PURGED: Final = int(MessageClass.NACK_Q_PURGED)
_PURGED_AT_SENDER: Final = int(MessageClass.NACK_DELETED)
_QUEUE_DELETED: Final = int(MessageClass.NACK_Q_DELETED)
_LOCKED: Final = int(PositionState.LOCKED)
_HELD: Final = int(PositionState.HELD)
_EVERYTHING: Final = 1 << 62


class Purged(Result):
    """One step of a purge: `done` is False while messages are left to purge."""

    __slots__ = ("count", "done", "upto")

    def __init__(self, count: int, upto: int, depends: int, *, done: bool) -> None:
        self.count = count
        self.upto = upto
        super().__init__(depends)
        self.done = done


def purge(state: State, descriptor: OpenQueueDescriptor, *, upto: int | None, limit: int) -> Purged:
    """Delete up to `limit` messages that have arrived, or those up to sequence `upto`.

    Locked ones are deleted when their reader gives them back. Uncommitted sends are not touched:
    they have not arrived, and the queue gets them when their transaction commits.
    """
    queue = queue_to_read(state, descriptor, MAY_RECEIVE)
    if upto is None:
        upto = state.sequence.last
    for message in queue.locked.values():
        if message.state == _LOCKED and message.sequence <= upto:
            message.state = PositionState.PURGE_PENDING
            queue.peekable.pop(message.lookup_id, None)
    messages = _take_held(queue, upto, limit)
    for lane in queue.lanes.arrivals(0, upto):
        messages += islice(lane, limit - len(messages))
    for message in messages:
        if message.state != _HELD:
            queue.lanes.remove(message)
    if messages:
        reason = _PURGED_AT_SENDER if queue.outgoing is not None else _PURGED
        delete_messages(state, queue, messages, reason)
    return Purged(len(messages), upto, changes(state, messages), done=len(messages) < limit)


def _take_held(queue: Queue, upto: int, limit: int) -> list[Message]:
    """Take messages held for an operator, who has asked for the purge."""
    locked = [
        message
        for message in queue.locked.values()
        if message.state == _HELD and message.sequence <= upto
    ]
    for message in locked[:limit]:
        queue.forget_locked(message)
    return locked[:limit]


def delete_queue(
    state: State, queue: Queue, *, caller: Caller, skip_directory: bool = False
) -> Result:
    """Delete Queue with its subqueues and its journal.

    They disappear at once; their messages are removed in steps, see `delete_leftovers`.

    Raises:
        QueueError: a queue that cannot be deleted, no right to, or the directory refuses; in the
            last case the queue is deleted here nevertheless.
    """
    if queue.role is not QueueRole.USER:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_OPERATION, f"{queue.path} cannot be deleted")
    check_queue_right(queue, caller, QueueRight.DELETE_QUEUE)
    parts = [part for part in (*queue.subqueues.values(), queue.journal, queue) if part is not None]
    for part in parts:
        _take_away(state, part)
    delete_leftovers(state, PURGE_STEP)
    for part in parts:
        if part.number in state.deleted:
            store_queue(state, part)
    number = state.outbox.number
    if queue.queue_type is QueueType.PUBLIC and not skip_directory:
        unregister(state, queue.properties, caller)
    return Result(number)


def _take_away(state: State, queue: Queue) -> None:
    """Close a queue for everybody who has it open; only its messages are left."""
    end_reads(state, queue, list(queue.waiting), Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE)
    for descriptor in queue.descriptors.values():
        descriptor.queue = None
        descriptor.locked.clear()
    queue.descriptors.clear()
    queue.peekable.clear()
    leave_with_queue(state, queue)
    unlist_queue(state, queue)
    queue.deleted = True
    state.deleted[queue.number] = queue
    abandon_streams(state, queue)
    state.outbox.tell(QueueDeleted(queue=queue, depends=state.outbox.number))


def delete_leftovers(state: State, limit: int) -> None:
    """Delete up to `limit` messages of deleted queues, the oldest deletion first.

    A queue is removed with its last message; uncommitted sends arrive first. Until then its row
    has a mark of the deletion, so that a start continues the removal.
    """
    for queue in list(state.deleted.values()):
        messages = queue.lanes.take(limit, _EVERYTHING) if limit > 0 else []
        while queue.locked and len(messages) < limit:
            messages.append(queue.locked.popitem()[1])
        limit -= len(messages)
        if messages:
            delete_messages(state, queue, messages, _QUEUE_DELETED)
        if not queue.count and not queue.pending:
            del state.deleted[queue.number]
            forget_queue(state, queue)


def has_leftovers(state: State) -> bool:
    """Whether `delete_leftovers` has work."""
    return any(queue.count or not queue.pending for queue in state.deleted.values())
