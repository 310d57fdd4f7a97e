"""Delivery: messages go into their queue if it takes them, otherwise they are rejected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.management.drops import OVER_QUOTA
from openmsmq.core.messages.arrivals import Arrival, arrival, expiry, insert, traits_of
from openmsmq.core.messages.expiry import expire_now
from openmsmq.core.messages.positions import store_record
from openmsmq.core.model.message import NEVER, Traits
from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.outbox import Result
from openmsmq.core.queues.acceptance import (
    EnqueueStatus,
    check_room,
    count_refused,
    dead_letters_have_room,
    refusal,
)
from openmsmq.core.queues.access import check_queue_right
from openmsmq.core.rows.tables import Table
from openmsmq.core.sites.directory_events import connected
from openmsmq.core.sites.public_queues import read_public
from openmsmq.core.sites.users import groups_of
from openmsmq.core.transfer.notices.acknowledgments import acknowledge
from openmsmq.core.transfer.notices.final_acks import send_final_ack
from openmsmq.core.transfer.notices.reports import destination_of
from openmsmq.core.transfer.transports import SRMP, WEB, Transport
from openmsmq.security.caller import EVERYONE_CALLER, Caller, sender_caller
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import AccessDenied
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.names.format_name import PublicFormatName
from openmsmq.wire.packets.base_header import INFINITE
from openmsmq.wire.security.sid import EVERYONE, SID

from .streams import store_stream

if TYPE_CHECKING:
    from openmsmq.core.state import State

    from .streams import IncomingTransactionalTransferInfo

# Members of enumerations take long to look up, so often used ones are constants.
_ROOM: Final = EnqueueStatus.OK
_INTERNAL: Final = QueueRole.INTERNAL

# The limit of queue managers whose addresses are remembered, and of those at one address.
MAX_ADDRESSES: Final = 10_000
MAX_PER_ADDRESS: Final = 64
# The message class that answers each status. A message over the quota of the queue manager has no
# answer, so that its sender sends it again.
STATUS_CLASSES: Final = {
    EnqueueStatus.OK: MessageClass.ACK_REACH_QUEUE,
    EnqueueStatus.QUEUE_QUOTA: MessageClass.NACK_Q_EXCEED_QUOTA,
    EnqueueStatus.TIMED_OUT: MessageClass.NACK_REACH_QUEUE_TIMEOUT,
}
_ACCEPTED: Final = STATUS_CLASSES[EnqueueStatus.OK]
_DEAD_LETTERS: Final = frozenset(
    (MessageClass.NACK_Q_EXCEED_QUOTA, MessageClass.NACK_HOP_COUNT_EXCEEDED)
)
_AH: Final = int(UserHeaderFlags.AH)


class Delivered(Result):
    """The fate of messages from elsewhere, in their order.

    `classes` has ACK_REACH_QUEUE for each message in the queue, else the class of the negative
    acknowledgment; report them once batch `depends` is durable.
    """

    __slots__ = ("classes",)

    def __init__(self, classes: list[MessageClass], depends: int) -> None:
        self.classes = classes
        super().__init__(depends)


def deliver(
    state: State,
    queue: Queue,
    runs: Sequence[UserMessageRun],
    streams: Sequence[IncomingTransactionalTransferInfo] = (),
    refused: Mapping[UserMessageRun, MessageClass] | None = None,
    *,
    transport: Transport = Transport.BINARY,
) -> Delivered:
    """Put messages in a queue after all checks; reject those that it refuses.

    Args:
        queue: their destination.
        runs: checked packets, as received. If the queue manager itself has no room, the
            result has fewer classes than there are packets: the rest was not processed.
        streams: the state of the transactional streams that they belong to, which is stored
            in the same batch.
        refused: the messages that a check refused, one per run.
        transport: the transport that received them.
    """
    sorting = _Sorting(state, queue, refused or {}, transport)
    # Computed once where the answer is the same for all messages.
    total = sum([sum(map(len, run.packets)) for run in runs])
    fits = check_room(state, queue, total) is _ROOM
    for run in runs:
        if not sorting.add(run, fits=fits):
            break
    for message, message_class in sorting.refused:
        _count_refused(state, queue, message_class)
        _tell(state, message, message_class, queue.path)
    arrived = sorting.arrived
    inserted = insert(state, queue, arrived) if arrived else []
    for at in sorting.final_ack_required:
        inserted[at].make_history().final_ack_required = True
        store_record(state, inserted[at])
    if sorting.expiring:
        expire_now(state, inserted)
    for stream in streams:
        store_stream(state, stream)
    depends = state.outbox.changed() or state.sequence.depends()
    return Delivered(sorting.classes, depends)


def _count_refused(state: State, queue: Queue, message_class: MessageClass) -> None:
    # A late message expired on its way, which is not the fault of a queue.
    if message_class is not MessageClass.NACK_REACH_QUEUE_TIMEOUT:
        count_refused(state, queue, message_class.name, 1)


def reject(
    state: State,
    message: UserMessage,
    message_class: MessageClass,
    reason: str = "",
    *,
    queue: Queue | None = None,
) -> None:
    """Tell the sender of a message that it could not be delivered, if it asks for it.

    `reason` is for the log; the sender learns the class only. `queue` is the one that refused
    it, if any.
    """
    if queue is not None:
        _count_refused(state, queue, message_class)
    _tell(state, message, message_class, destination_of(message), reason)


def _tell(
    state: State,
    message: UserMessage,
    message_class: MessageClass,
    queue: str,
    reason: str = "",
) -> None:
    """Report the refusal of a message to all that ask for it."""
    state.outbox.drop("message", queue, message.packet, message_class.name, reason)
    if message.flags & _AH:
        # [MC-MQSRM] 3.1.7.2.5: the answer tells its sender, which makes the dead letter.
        return
    traits = traits_of(message)
    if traits & Traits.NEGATIVE_ARRIVAL:
        acknowledge(state, message.packet, message_class)
    if traits & Traits.TRANSACTIONAL:
        send_final_ack(state, message.packet, message_class)
    elif (
        # [MS-MQQB] 3.1.5.8.8: only a full queue makes dead letters here. Choice: so does a message
        # that passed too many queue managers.
        message_class in _DEAD_LETTERS and traits & Traits.NEGATIVE_JOURNALING
    ):
        if not dead_letters_have_room(state.deadletter, len(message.packet)):
            path = state.deadletter.path
            state.outbox.drop("dead letter", path, message.packet, OVER_QUOTA)
            return
        dead = insert(state, state.deadletter, [arrival(message, state.deadletter)])[0]
        dead.make_history().message_class = message_class
        store_record(state, dead)


def learn_address(state: State, queue_manager: UUID, address: str) -> None:
    """Remember the address of a queue manager, for acknowledgments to it."""
    known = state.addresses
    if known.get(queue_manager) == address:
        return
    # Peers choose their identifiers: the number of queue managers per address is limited.
    same = [guid for guid, where in known.items() if where == address]
    if len(same) >= MAX_PER_ADDRESS:
        forgotten = same[0]
    else:
        forgotten = next(iter(known)) if len(known) >= MAX_ADDRESSES else queue_manager
    known.pop(forgotten, None)
    state.outbox.batch.delete_row(Table.ADDRESSES, forgotten.bytes_le)
    known[queue_manager] = address
    state.outbox.batch.set_row(Table.ADDRESSES, queue_manager.bytes_le, address.encode())


class _Sorting:
    """The messages that a queue takes, and those that it refuses."""

    __slots__ = (
        "_allowed",
        "_queue",
        "_refused",
        "_state",
        "_transport",
        "arrived",
        "classes",
        "expiring",
        "final_ack_required",
        "refused",
    )

    def __init__(
        self,
        state: State,
        queue: Queue,
        refused: Mapping[UserMessageRun, MessageClass],
        transport: Transport,
    ) -> None:
        self._state = state
        self._transport = transport
        self._queue = queue
        self._refused = refused
        # Whether a sender may write to the queue.
        self._allowed: dict[tuple[bytes, bool], bool] = {}
        self.arrived: list[Arrival] = []
        self.refused: list[tuple[UserMessage, MessageClass]] = []
        # The class of each message, in order.
        self.classes: list[MessageClass] = []
        # The arrived messages that ask for a FinalAck, and whether the time of any is limited.
        self.final_ack_required: list[int] = []
        self.expiring = False

    def add(self, run: UserMessageRun, *, fits: bool) -> bool:
        """Check a run; False when the queue manager has no room for all of it.

        With `fits` there is room for all messages.
        """
        head = run.head
        before = len(self.arrived)
        complete = True
        refusal_class = self._refused.get(run) if self._refused else None
        if refusal_class is None:
            refusal_class = self._refuse(head)
        if refusal_class is not None:
            for packet in run.packets:
                self.refused.append((UserMessage(packet), refusal_class))
            self.classes += [refusal_class] * len(run.packets)
            return True
        traits = traits_of(head)
        expires = expiry(
            self._queue, head.sent_time, head.time_to_be_received, head.time_to_reach_queue
        )
        if fits:
            priority = head.priority
            self.arrived += [(packet, traits, priority, expires) for packet in run.packets]
            self.classes += [_ACCEPTED] * len(run.packets)
        else:
            complete = self._add_fitting(run, traits, expires)
        if expires != NEVER:
            self.expiring = True
        if head.transaction_offset and head.final_ack_required:
            self.final_ack_required += range(before, len(self.arrived))
        return complete

    def _add_fitting(self, run: UserMessageRun, traits: int, expires: int) -> bool:
        state = self._state
        arrived_bytes = sum([len(arrival[0]) for arrival in self.arrived])
        for packet in run.packets:
            status = check_room(state, self._queue, arrived_bytes + len(packet))
            if status is EnqueueStatus.QUEUE_MANAGER_QUOTA:
                return False
            if status is _ROOM:
                arrived_bytes += len(packet)
                self.arrived.append((packet, traits, run.head.priority, expires))
                self.classes.append(_ACCEPTED)
            else:
                refusal_class = STATUS_CLASSES[status]
                self.refused.append((UserMessage(packet), refusal_class))
                self.classes.append(refusal_class)
        return True

    def _refuse(self, message: UserMessage) -> MessageClass | None:
        queue = self._queue
        refusal_class = refusal(queue, message, transactional=message.transactional)
        if refusal_class is None and queue.role is not _INTERNAL:
            sender = message.security_id, message.authentication_level != 0
            may_write = self._allowed.get(sender)
            if may_write is None:
                caller = _caller_of(self._state, message, self._transport)
                may_write = self._allowed[sender] = _may_write(
                    self._state, queue, caller, self._transport
                )
            if not may_write:
                refusal_class = MessageClass.NACK_ACCESS_DENIED
        if refusal_class is None and is_late(self._state, message):
            refusal_class = STATUS_CLASSES[EnqueueStatus.TIMED_OUT]
        return refusal_class


def _caller_of(state: State, message: UserMessage, transport: Transport) -> Caller | None:
    """The caller whose rights count for a message; None if there is none."""
    # [MC-MQSRM] 3.1.5.1.12: the sender of an SRMP message counts as Everyone.
    if transport in SRMP:
        return EVERYONE_CALLER
    try:
        sid = sender_sid(message)
    except MalformedPacket:
        return None
    if message.sender_id_type != SenderIdType.SID or sid is None:
        return sender_caller(sid)
    if message.authentication_level:
        # [MS-MQQB] 3.1.5.8.3: without its groups the sender has no access.
        groups = groups_of(state, sid)
        return None if groups is None else sender_caller(sid, groups)
    return sender_caller(sid if state.settings.trust_claimed_senders else None)


def _may_write(state: State, queue: Queue, caller: Caller | None, transport: Transport) -> bool:
    if caller is None:
        return False
    security: bytes | None = None
    if queue.queue_type is QueueType.PUBLIC:
        # The descriptor in the directory is used if it can be read.
        published = read_public(state, PublicFormatName(queue.properties.identifier))
        if published is not None:
            security = published.security or None
        elif transport in SRMP and connected(state) is not None:
            # [MC-MQSRM] 3.1.5.1.12: no message gets in without it.
            return False
    try:
        check_queue_right(queue, caller, QueueRight.WRITE_MESSAGE, security=security)
    except AccessDenied:
        return False
    return True


def takes_freely(state: State, queue: Queue, transport: Transport) -> bool:
    """Whether a queue refuses these messages only for lack of room or for being late."""
    properties = queue.properties
    return (
        transport in WEB
        and not properties.authentication
        and properties.privacy_level is QueuePrivacyLevel.OPTIONAL
        and _may_write(state, queue, EVERYONE_CALLER, transport)
    )


def is_late(state: State, message: UserMessage) -> bool:
    """Whether the time of a message to reach its queue is over."""
    life = message.time_to_reach_queue
    return life != INFINITE and message.sent_time + life < state.utc


def sender_sid(message: UserMessage) -> SID | None:
    """The SID that a message names as its sender; None if it names none."""
    kind = message.sender_id_type
    if kind == SenderIdType.SID:
        return SID.parse(memoryview(message.security_id))[0]
    # [MS-MQQB] 3.1.5.8.3: a queue manager as sender counts as Everyone.
    return EVERYONE if kind == SenderIdType.QM else None
