"""Applications send: packets that clients built become messages ([MS-MQDMPR] 3.1.7.1.27)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from openmsmq.wire.base_header import MAX_PACKET_SIZE, PRIORITY_MASK
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.message_enums import SenderIdType
from openmsmq.wire.queue_enums import QueuePrivacyLevel
from openmsmq.wire.queue_error import AccessDenied, QueueError
from openmsmq.wire.user_header import UserHeaderFlags
from openmsmq.wire.user_message import UserMessage

from .acceptance import check_acceptance
from .arrivals import Arrival, expiry, insert, insert_pending, traits_of
from .expiry import expire_now
from .fanout import copies_for
from .message import RECOVERABLE, TRANSACTIONAL
from .open_queue import MAY_SEND, OpenQueueDescriptor
from .queue import Queue
from .quota import EnqueueStatus, check_room
from .stamping import (
    MAX_ORDINAL,
    make_transactional,
    read_life,
    stamp,
)
from .transactions import OperationType, Transaction

if TYPE_CHECKING:
    from openmsmq.security.caller import Caller

    from .message import Message
    from .state import State

_SH: Final = int(UserHeaderFlags.SH)
_LABEL_FIELD: Final = "MessagePropertiesHeader.LabelLength"


class Sent:
    """Messages that a queue took; say so once batch `depends` is durable."""

    __slots__ = ("depends", "first_ordinal", "messages")

    def __init__(self, messages: list[Message], first_ordinal: int, depends: int) -> None:
        self.messages = messages
        # The ordinals of the message identifiers count up from here.
        self.first_ordinal = first_ordinal
        self.depends = depends

    @property
    def lookup_ids(self) -> list[int]:
        return [message.lookup_id for message in self.messages]


def enqueue_many(
    state: State,
    descriptor: OpenQueueDescriptor,
    packets: Sequence[bytes],
    transaction: Transaction | None,
    deadletter_queue: str,
) -> Sent:
    """Send packets: all of them, or none and an error.

    Raises:
        QueueError: a packet, its sender or the queue does not allow it, or there is no room.
    """
    if transaction is not None:
        transaction.require_active()
    views = check_packets(packets)
    if descriptor.multiple and not descriptor.closed:
        return _send_to_several(state, descriptor, views, transaction, deadletter_queue)
    queue = descriptor.require(MAY_SEND)
    check_senders(views, descriptor.caller)
    return send_checked(state, queue, views, transaction, deadletter_queue)


def check_packets(packets: Sequence[bytes]) -> list[UserMessage]:
    """The packets of a client as messages.

    Raises:
        QueueError: a packet is not a message.
    """
    return [_check_packet(packet) for packet in packets]


def _check_packet(packet: bytes) -> UserMessage:
    if len(packet) > MAX_PACKET_SIZE:
        raise QueueError(
            Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
            f"a message of {len(packet)} bytes is larger than {MAX_PACKET_SIZE}",
        )
    try:
        return UserMessage(packet)
    except MalformedPacket as exc:
        code = Hresult.MQ_ERROR_INVALID_PARAMETER
        if exc.field == _LABEL_FIELD:
            code = Hresult.MQ_ERROR_LABEL_TOO_LONG
        raise QueueError(code, str(exc)) from exc


def check_senders(views: Sequence[UserMessage], caller: Caller) -> None:
    """Refuse messages that name another sender than the one they come from.

    Raises:
        AccessDenied: one does.
    """
    if caller.is_system:
        return
    sid = b""
    for view in views:
        if view.flags & _SH:
            sid = sid or caller.sid.serialize()
            kind = view.sender_id_type
            if kind != SenderIdType.NONE and (kind != SenderIdType.SID or view.security_id != sid):
                raise AccessDenied("a message names another sender than its own")


def send_checked(
    state: State,
    queue: Queue,
    views: Sequence[UserMessage],
    transaction: Transaction | None,
    deadletter_queue: str,
) -> Sent:
    """Send messages whose packets and senders have been checked.

    Raises:
        QueueError: the queue does not take them, or there is no room.
    """
    if not views:
        return Sent([], state.ordinals.last, 0)
    check_destination(queue, views, transactional=transaction is not None)
    size = sum([len(view.packet) for view in views])
    status = check_room(state, queue, size)
    if status is not EnqueueStatus.OK:
        raise QueueError(
            Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
            f"{size} bytes more are over the quota of {_OVER[status]}",
        )
    ordinal = state.ordinals.take(len(views), state.batch, state.batch_number) + 1
    arrivals = _stamp_all(state, queue, views, ordinal, transaction)
    if transaction is not None:
        messages = insert_pending(state, queue, arrivals, transaction, deadletter_queue)
        transaction.add(OperationType.ENQUEUE, messages)
        depends = 0
    else:
        messages = insert(state, queue, arrivals, deadletter_queue)
        depends = max([message.stored for message in messages], default=0)
        expire_now(state, messages)
    return Sent(messages, ordinal, max(depends, state.sequence.depends(), state.ordinals.depends()))


_OVER: Final = {
    EnqueueStatus.QUEUE_QUOTA: "the queue",
    EnqueueStatus.QUEUE_MANAGER_QUOTA: "the queue manager",
}


def check_destination(queue: Queue, views: Sequence[UserMessage], *, transactional: bool) -> None:
    """Refuse messages that a local queue does not take; an outgoing queue takes all.

    Raises:
        QueueError: with the reason.
    """
    properties = queue.properties
    if queue.outgoing is not None or (
        transactional == properties.transactional
        and not properties.authentication
        and properties.privacy_level is QueuePrivacyLevel.OPTIONAL
    ):
        return
    for view in views:
        check_acceptance(queue, view, transactional=transactional)


def _stamp_all(
    state: State,
    queue: Queue,
    views: Sequence[UserMessage],
    ordinal: int,
    transaction: Transaction | None,
) -> list[Arrival]:
    """Write into the packets what only the queue manager knows."""
    identity = state.identity
    sent_time = int(state.utc)
    longest = state.settings.long_live_time
    arrivals = []
    for view in views:
        packet = view.packet
        traits = traits_of(view)
        priority, time_to_reach_queue, time_to_be_received = read_life(packet)
        priority &= PRIORITY_MASK
        if transaction is not None:
            packet = make_transactional(view, transaction.number)
            traits |= RECOVERABLE | TRANSACTIONAL
            priority = 0
        elif traits & TRANSACTIONAL:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_USAGE, "a transactional message needs a transaction"
            )
        if time_to_reach_queue > longest:
            time_to_reach_queue = longest
        arrivals.append(
            (
                stamp(packet, time_to_reach_queue, identity, ordinal & MAX_ORDINAL, sent_time),
                traits,
                priority,
                expiry(queue, sent_time, time_to_be_received, time_to_reach_queue),
            )
        )
        ordinal += 1
    return arrivals


def _send_to_several(
    state: State,
    descriptor: OpenQueueDescriptor,
    views: Sequence[UserMessage],
    transaction: Transaction | None,
    deadletter_queue: str,
) -> Sent:
    """One copy for each element; the first that fails stops it, earlier copies stay."""
    check_senders(views, descriptor.caller)
    messages: list[Message] = []
    first_ordinal = 0
    depends = 0
    for child in descriptor.children:
        queue = child.require(MAY_SEND)
        copies = copies_for(views, child.format_name, descriptor.format_name)
        sent = send_checked(state, queue, copies, transaction, deadletter_queue)
        messages += sent.messages
        first_ordinal = first_ordinal or sent.first_ordinal
        depends = max(depends, sent.depends)
    return Sent(messages, first_ordinal, depends)
