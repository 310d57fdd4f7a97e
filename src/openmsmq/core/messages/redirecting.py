"""Messages of an outgoing queue are moved: to another destination, or to a local queue.

An administrator uses it when a destination is misspelt, has moved, or will never be reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.core.events import MessagesMoved
from openmsmq.core.model.message import NEVER, RECOVERABLE, PositionState
from openmsmq.core.model.queue import QueueRole
from openmsmq.core.queues.acceptance import EnqueueStatus, check_acceptance, check_room, no_room
from openmsmq.core.rows.packets import forget_packet, packets_of
from openmsmq.core.transfer.outgoing.sequences import number_messages
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address_names import address_of

from .arrivals import arrival, insert
from .positions import count_messages, store_record

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State


def redirect(state: State, queue: Queue, messages: list[Message], target: Queue) -> list[Message]:
    """Take messages out of an outgoing queue and put them at the end of another queue.

    They keep their identifiers, so that a destination that has one already drops the copy.

    Raises:
        QueueError: the target does not take one of them; then none is moved.
    """
    if not messages:
        return []
    views = [UserMessage(packet) for packet in packets_of(state, messages)]
    if target.outgoing is not None:
        views = _readdress(views, target)
    elif target.role is QueueRole.USER:
        for message, view in zip(messages, views, strict=True):
            check_acceptance(target, view, transactional=message.transactional)
    else:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_OPERATION,
            f"messages of {queue.path} cannot be moved to {target.path}",
            cause="Messages that are on their way can go to another destination or to a queue.",
            remedy="Name a destination such as 'DIRECT=OS:host\\private$\\queue', or a queue.",
        )
    size = sum([len(view.packet) for view in views])
    status = check_room(state, target, size)
    if status is not EnqueueStatus.OK:
        raise no_room(state, target, size, status)
    moved: list[Message] = []
    for message, view in zip(messages, views, strict=True):
        history = message.history
        deadletter_queue = history.deadletter_queue if history is not None else ""
        moved += insert(state, target, [arrival(view, target)], deadletter_queue)
        _remove(state, queue, message)
    numbered = [message for message in moved if message.transactional]
    number_messages(state, target, numbered)
    for message in numbered:
        store_record(state, message)
    state.outbox.tell(MessagesMoved(queue=queue, depends=state.outbox.changed()))
    return moved


def _readdress(views: list[UserMessage], target: Queue) -> list[UserMessage]:
    """The messages with the destination of another outgoing queue."""
    address = address_of(parse_format_name(target.path))
    for view in views:
        security = view.security_header
        if view.encrypted or view.private_body or (security is not None and security.signature):
            raise QueueError(
                Hresult.MQ_ERROR_ILLEGAL_OPERATION,
                f"message {view.identifier} cannot be sent to {target.path}",
                cause="It is signed or encrypted for its destination.",
                remedy="Move it to a queue here, or send it again from the application.",
            )
    return [UserMessage(rebuild(view, destination_queue=address)) for view in views]


def _remove(state: State, queue: Queue, message: Message) -> None:
    """A message left an outgoing queue for another place, without an acknowledgment."""
    queue.lanes.remove(message)
    message.state = PositionState.DELETED
    count_messages(state, queue, -1, -message.size)
    if message.expires != NEVER:
        state.expiry.stop(message)
    if message.traits & RECOVERABLE:
        state.outbox.batch.delete(message.key)
    forget_packet(state, message)
