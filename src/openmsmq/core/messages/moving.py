"""Move Message ([MS-MQDMPR] 3.1.7.1.16): to and from subqueues, and out of system queues."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import HELD, NEVER, PositionState
from openmsmq.core.model.open_queue import MAY_MOVE, MAY_SEND
from openmsmq.core.model.queue import QueueRole, QueueType
from openmsmq.core.outbox import Result
from openmsmq.core.queues.creation import drop_if_unused
from openmsmq.core.tracing import note_messages
from openmsmq.core.transactions.transactions import OperationType, Transaction, withdraw
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.history_record import Happening

from .positions import changes, count_decided, count_messages, move_now, reslot
from .reading import queue_to_read
from .redirecting import redirect
from .taking import check_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

_TARGETS: Final = MAY_MOVE | MAY_SEND
_DEAD_LETTERS: Final = frozenset((QueueRole.DEADLETTER, QueueRole.XACT_DEADLETTER))
# The queues that keep messages for administrators, who may put them back.
_KEEPING: Final = frozenset(
    (
        QueueRole.JOURNAL,
        QueueRole.MACHINE_JOURNAL,
        QueueRole.DEADLETTER,
        QueueRole.XACT_DEADLETTER,
    )
)


class Moved(Result):
    """Messages that were moved, by their new lookup ids (none before the commit)."""

    __slots__ = ("count", "lookup_ids")

    def __init__(self, count: int, lookup_ids: list[int], depends: int) -> None:
        self.count = count
        self.lookup_ids = lookup_ids
        super().__init__(depends)


def move_many(
    state: State,
    source: OpenQueueDescriptor,
    target: OpenQueueDescriptor,
    lookup_ids: Sequence[int] | None,
    max_count: int,
    transaction: Transaction | None,
    *,
    dry_run: bool = False,
    message_class: int = 0,
) -> Moved:
    """Move messages by lookup id, or the first ones.

    A message that the same transaction has received is moved instead of being received.

    Args:
        dry_run: make every check, but move nothing.
        message_class: the reason of dead letters, for a move back into a dead-letter queue.

    Raises:
        QueueError: the queues do not belong together, or a message is missing; then none moves.
    """
    queue = queue_to_read(state, source, MAY_MOVE)
    to = target.require(_TARGETS)
    if queue.outgoing is not None:
        return _move_away(state, queue, to, lookup_ids, max_count, transaction, dry_run=dry_run)
    _check_pair(queue, to, message_class)
    check_transaction(queue, transaction)
    messages = _select(queue, to, lookup_ids, max_count, transaction)
    if dry_run:
        return Moved(len(messages), [], 0)
    visible = [message for message in messages if message.state == PositionState.AVAILABLE]
    for message in visible:
        queue.lanes.remove(message)
    if transaction is not None:
        if len(visible) < len(messages):
            withdraw(state, transaction, messages)
        for message in visible:
            queue.hold(message, transaction)
        transaction.add(OperationType.MOVE, messages, target=to)
        to.expected += len(messages)
        return Moved(len(messages), [], 0)
    if message_class:
        for message in messages:
            message.make_history().message_class = message_class
    for message in messages:
        if message.state == PositionState.HELD:
            queue.forget_locked(message)
    moved = [move_now(state, queue, message, to) for message in messages]
    note_messages(state, Happening.MOVED, to, moved)
    drop_if_unused(state, queue)
    lookup_ids = [message.lookup_id for message in moved]
    return Moved(len(moved), lookup_ids, changes(state, moved))


def _move_away(
    state: State,
    queue: Queue,
    target: Queue,
    lookup_ids: Sequence[int] | None,
    max_count: int,
    transaction: Transaction | None,
    *,
    dry_run: bool,
) -> Moved:
    """Move messages of an outgoing queue, unless in transit, to another destination."""
    if transaction is not None or queue is target:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"messages of {queue.path} are moved to another queue, outside of transactions",
        )
    if lookup_ids is None:
        messages = list(islice(queue.lanes, max_count))
    else:
        messages = [_find(queue, lookup_id, None) for lookup_id in dict.fromkeys(lookup_ids)]
    if dry_run:
        return Moved(len(messages), [], 0)
    moved = redirect(state, queue, messages, target)
    depends = max(changes(state, messages), changes(state, moved))
    return Moved(len(moved), [message.lookup_id for message in moved], depends)


def _check_pair(queue: Queue, target: Queue, message_class: int) -> None:
    if queue is target:
        raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, "source and target are the same queue")
    same = queue.family is target.family and target.role is not QueueRole.JOURNAL
    back = queue.role in _KEEPING and target.role in (QueueRole.USER, QueueRole.SUBQUEUE)
    undone = (
        message_class != 0
        and target.role in _DEAD_LETTERS
        and queue.role in (QueueRole.USER, QueueRole.SUBQUEUE)
    )
    if not same and not back and not undone:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_OPERATION,
            f"messages of {queue.path} cannot be moved to {target.path}",
            cause=(
                "Messages can be moved between a queue and its own subqueues, and out of journals "
                "and dead-letter queues."
            ),
            remedy=(
                "To bring them to another queue, use `openmsmq retry SOURCE --to TARGET`, or "
                "receive and send them in one transaction."
            ),
        )


def _select(
    queue: Queue,
    target: Queue,
    lookup_ids: Sequence[int] | None,
    max_count: int,
    transaction: Transaction | None,
) -> list[Message]:
    messages: list[Message] = []
    if lookup_ids is None:
        candidate = queue.after(-1, peek=False)
        while candidate is not None and len(messages) < max_count:
            messages.append(candidate)
            candidate = queue.after(candidate.lookup_id, peek=False)
    else:
        messages = [_find(queue, lookup_id, transaction) for lookup_id in dict.fromkeys(lookup_ids)]
    for message in messages:
        if message.transactional != target.properties.transactional:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_USAGE,
                f"message {message.lookup_id} does not fit {target.path}: one is transactional",
            )
    return messages


def _find(queue: Queue, lookup_id: int, transaction: Transaction | None) -> Message:
    """The message with this lookup id, if it is free or locked by the transaction of the move."""
    message = queue.lanes.get(lookup_id) or queue.locked.get(lookup_id)
    if message is None:
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{queue.path}: no message {lookup_id}"
        )
    holder = message.holder
    # [MS-MQRR] 3.1.4.10: a message that is part of another transaction is not moved.
    decides = holder == HELD and transaction is None
    if holder is not None and holder is not transaction and not decides:
        other = "another" if transaction is not None else "a"
        owner = f"locked by {other} transaction"
        if not isinstance(holder, Transaction):
            owner = HELD if holder == HELD else "being received by another reader"
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
            f"{queue.path}: message {lookup_id} is {owner}",
        )
    return message


def move_message(state: State, message: Message, target: Queue) -> Message:
    """Move Message without a transaction, as protocols do it: source journal, dead letter.

    [MS-MQDMPR] 3.1.7.1.16: readers that wait on a system queue are not woken.
    """
    queue = message.queue
    if message.state == PositionState.AVAILABLE:
        queue.lanes.remove(message)
    else:
        queue.forget_locked(message)
    message.state = PositionState.DELETED
    message.holder = None
    count_messages(state, queue, -1, -message.size)
    count_decided(state, queue, (message,))
    if message.expires != NEVER:
        state.expiry.stop(message)
    note_messages(state, Happening.MOVED, target, (message,))
    return reslot(state, message, target, wake=target.queue_type is not QueueType.SYSTEM)
