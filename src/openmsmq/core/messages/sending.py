"""Applications send: packets that clients built become messages ([MS-MQDMPR] 3.1.7.1.27)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import NEVER, RECOVERABLE, TRANSACTIONAL
from openmsmq.core.model.open_queue import MAY_SEND, OpenQueueDescriptor
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.outbox import Result
from openmsmq.core.queues.acceptance import EnqueueStatus, check_acceptance, check_room, no_room
from openmsmq.core.queues.connectors import connector_partner
from openmsmq.core.transactions.transactions import OperationType, Transaction
from openmsmq.core.transfer.checks.local_signatures import verify_local
from openmsmq.core.transfer.checks.message_checks import needs_check
from openmsmq.core.transfer.incoming.claims import drop_claims
from openmsmq.core.transfer.transports import WEB, Transport
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.stamping import MAX_ORDINAL, Stamp, read_life
from openmsmq.wire.message.user_header import DESTINATION_SHIFT, PRIVATE_BODY, UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun, split_runs
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE, PRIORITY_MASK

from .arrivals import Arrival, expiry, insert, insert_pending, traits_of
from .delayed import check_delivery_time, delay_pending, insert_delayed, unlimited
from .encrypted_sending import check_encryption
from .expiry import expire_now
from .fanout import copies_for
from .multicast_sending import check_multicast
from .web_sending import check_web

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller

# Members of enumerations take long to look up, so often used ones are constants.
_LOCAL: Final = Transport.LOCAL
_MULTICAST: Final = Transport.MULTICAST
_NO_SENDER: Final = SenderIdType.NONE
_SENDER_SID: Final = SenderIdType.SID
_CONNECTOR: Final = QueueRole.CONNECTOR
_ANY_PRIVACY: Final = QueuePrivacyLevel.OPTIONAL
_ROOM: Final = EnqueueStatus.OK

_SH: Final = int(UserHeaderFlags.SH)
_DQ: Final = 7 << DESTINATION_SHIFT
_PRIVATE_OR_ENCRYPTED: Final = PRIVATE_BODY | _SH
_LABEL_FIELD: Final = "MessagePropertiesHeader.LabelLength"


class Sent(Result):
    """Messages that a queue took; report them once batch `depends` is durable."""

    __slots__ = ("first_ordinal", "messages", "refusal")

    def __init__(
        self,
        messages: list[Message],
        first_ordinal: int,
        depends: int,
        refusal: QueueError | None = None,
    ) -> None:
        self.messages = messages
        # The first ordinal of the message identifiers; the others count up from it.
        self.first_ordinal = first_ordinal
        # Why the queue refused the rest, and how many it took.
        self.refusal = refusal
        super().__init__(depends)

    @property
    def lookup_ids(self) -> list[int]:
        return [message.lookup_id for message in self.messages]


def enqueue_many(
    state: State,
    descriptor: OpenQueueDescriptor,
    packets: Sequence[bytes],
    transaction: Transaction | None,
    deadletter_queue: str,
    deliver_at: float | None = None,
) -> Sent:
    """Send packets: in a transaction all of them, else those before the first that is refused.

    Args:
        deliver_at: when they appear, in seconds since 1970; None is at once.

    Raises:
        QueueError: a packet, its sender or the queue does not allow it, or there is no room; then
            none is sent.
    """
    if transaction is not None:
        transaction.require_active()
    if deliver_at is not None:
        check_delivery_time(state, deliver_at)
    runs = check_packets(packets)
    if descriptor.multiple and not descriptor.closed:
        return send_to_several(state, descriptor, runs, transaction, deadletter_queue, deliver_at)
    descriptor.require(MAY_SEND)
    check_senders(runs, descriptor.caller)
    return send_checked(state, descriptor, runs, transaction, deadletter_queue, deliver_at)


def check_packets(packets: Sequence[bytes]) -> list[UserMessageRun]:
    """The packets of a client as messages; consecutive ones with equal headers share a run.

    Claims that only the queue manager may make are cleared.

    Raises:
        QueueError: a packet is not a message.
    """
    _check_largest(packets)
    try:
        runs = split_runs(packets)
    except MalformedPacket as exc:
        code = Hresult.MQ_ERROR_INVALID_PARAMETER
        if exc.field == _LABEL_FIELD:
            code = Hresult.MQ_ERROR_LABEL_TOO_LONG
        raise QueueError(code, str(exc)) from exc
    drop_claims(runs, _LOCAL)
    return runs


def _check_largest(packets: Sequence[bytes], growth: int = 0) -> None:
    """Refuse packets that are too large, or will be when headers are added.

    Raises:
        QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES.
    """
    largest = max(map(len, packets), default=0) + growth
    if largest > MAX_PACKET_SIZE:
        raise QueueError(
            Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
            f"a message of {largest} bytes is larger than {MAX_PACKET_SIZE}",
        )


def check_senders(runs: Sequence[UserMessageRun], caller: Caller) -> None:
    """Refuse messages whose sender is not the caller.

    Raises:
        AccessDenied: a message names another sender.
    """
    if caller.is_system:
        return
    sid = caller.sid_bytes
    for run in runs:
        head = run.head
        if head.flags & _SH:
            kind = head.sender_id_type
            if kind != _NO_SENDER and (kind != _SENDER_SID or head.security_id != sid):
                raise AccessDenied("a message names another sender than its own")


def send_checked(
    state: State,
    descriptor: OpenQueueDescriptor,
    runs: Sequence[UserMessageRun],
    transaction: Transaction | None,
    deadletter_queue: str,
    deliver_at: float | None = None,
) -> Sent:
    """Send messages whose packets and senders have been checked.

    Raises:
        QueueError: the queue does not take the first of them, or in a transaction one of them.
    """
    queue = descriptor.require(MAY_SEND)
    if queue.role is _CONNECTOR:
        queue = connector_partner(state, queue, transactional=transaction is not None)
    if not runs:
        return Sent([], state.ordinals.last, 0)
    refusal: QueueError | None = None
    try:
        check_destination(state, queue, runs, transactional=transaction is not None)
        check_size(state, queue, sum([stored_size(run, descriptor) for run in runs]))
    except QueueError:
        if transaction is not None:
            raise
        runs, refusal = _before_refused(state, descriptor, queue, runs)
    tag = None if transaction is None else transaction.number
    ordinal, arrivals = stamp_runs(state, descriptor, queue, runs, tag)
    if deliver_at is not None:
        arrivals = unlimited(arrivals)
    if transaction is not None:
        messages = insert_pending(state, queue, arrivals, transaction, deadletter_queue)
        if deliver_at is not None:
            delay_pending(messages, deliver_at)
        transaction.add(OperationType.ENQUEUE, messages)
        depends = 0
    else:
        if deliver_at is None:
            messages = insert(state, queue, arrivals, deadletter_queue)
        else:
            messages = insert_delayed(state, queue, arrivals, deliver_at, deadletter_queue)
        depends = max([message.stored for message in messages], default=0)
    if any(message.expires != NEVER for message in messages):
        expire_now(state, messages)
    depends = max(depends, state.sequence.depends(), state.ordinals.depends())
    return Sent(messages, ordinal, depends, refusal)


def stored_size(run: UserMessageRun, descriptor: OpenQueueDescriptor) -> int:
    """The total size that the packets of a run have in the queue.

    Raises:
        QueueError: a packet is too large with its destination, or cannot carry its name.
    """
    packets = run.packets
    size = sum(map(len, packets))
    growth = growth_of(run, descriptor)
    if growth:
        size += growth * len(packets)
        # Most runs are smaller than one packet may be.
        if size > MAX_PACKET_SIZE:
            _check_largest(packets, growth)
    return size


def growth_of(run: UserMessageRun, descriptor: OpenQueueDescriptor) -> int:
    """The bytes that the packets of a run gain by the name of the destination, if they lack it.

    Raises:
        QueueError: no packet can carry the name of the destination.
    """
    return 0 if run.head.flags & _DQ else len(descriptor.destination.address)


def check_size(state: State, queue: Queue, size: int, before: int = 0) -> None:
    """Refuse messages of `size` bytes if there is no room for them after others of `before`.

    Raises:
        QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES.
    """
    status = check_room(state, queue, before + size)
    if status is not _ROOM:
        raise no_room(state, queue, size, status)


def _before_refused(
    state: State, descriptor: OpenQueueDescriptor, queue: Queue, runs: Sequence[UserMessageRun]
) -> tuple[list[UserMessageRun], QueueError]:
    """The messages before the first that a queue refuses, and the reason of the refusal.

    Raises:
        QueueError: the queue refuses the first message.
    """
    accepted: list[UserMessageRun] = []
    size = 0
    for run in runs:
        count, size, refusal = _accepted(state, descriptor, queue, run, size)
        if count:
            accepted.append(run.first(count))
        if refusal is not None:
            break
    assert refusal is not None  # noqa: S101 - all together were refused
    if not accepted:
        raise refusal
    refusal.accepted = sum([len(run.packets) for run in accepted])
    return accepted, refusal


def _accepted(
    state: State,
    descriptor: OpenQueueDescriptor,
    queue: Queue,
    run: UserMessageRun,
    before: int,
) -> tuple[int, int, QueueError | None]:
    """The number of messages of a run that a queue takes after others, and the first refusal.

    The second number is the size of all messages taken, including the earlier ones in `before`.
    """
    count = 0
    try:
        check_destination(state, queue, [run], transactional=False)
        growth = growth_of(run, descriptor)
        for packet in run.packets:
            size = len(packet) + growth
            if size > MAX_PACKET_SIZE:
                _check_largest([packet], growth)
            check_size(state, queue, size, before)
            before += size
            count += 1
    except QueueError as exc:
        return count, before, exc
    return count, before, None


def check_destination(
    state: State, queue: Queue, runs: Sequence[UserMessageRun], *, transactional: bool
) -> None:
    """Refuse messages that a local queue does not take; an outgoing queue takes almost all.

    Raises:
        QueueError: with the reason.
    """
    if queue.outgoing is not None:
        if queue.outgoing.transport in WEB:
            check_web(state, queue, runs)
        elif queue.outgoing.transport is _MULTICAST:
            check_multicast(queue, runs, transactional=transactional)
        for run in runs:
            head = run.head
            if head.flags & _PRIVATE_OR_ENCRYPTED and (head.encrypted or head.private_body):
                check_encryption(state, queue, head)
        return
    properties = queue.properties
    takes_all_clear = (
        transactional == properties.transactional
        and not properties.authentication
        and properties.privacy_level is _ANY_PRIVACY
    )
    for run in runs:
        if run.head.flags & _SH and needs_check(run.head):
            verify_local(state, queue, run)
        if not takes_all_clear or run.head.encrypted:
            check_acceptance(queue, run.head, transactional=transactional)


def stamp_runs(
    state: State,
    descriptor: OpenQueueDescriptor,
    queue: Queue,
    runs: Sequence[UserMessageRun],
    tag: int | None,
) -> tuple[int, list[Arrival]]:
    """Fill in the fields of packets that only the queue manager knows; also the first ordinal.

    `tag` is that of the transaction in which they are sent; None without one.

    Raises:
        QueueError: a transactional message is sent outside of a transaction.
    """
    count = sum([len(run.packets) for run in runs])
    ordinal = state.ordinals.take(count, state.outbox) + 1
    arrivals: list[Arrival] = []
    for run in runs:
        stamped = StampedRun(state, run, tag)
        stamped.direct(descriptor, queue)
        arrivals += stamped.arrivals(run.packets, ordinal + len(arrivals))
    return ordinal, arrivals


class StampedRun:
    """The messages of a run on their way to queues; common properties are computed once.

    Call `direct` before each change of queue.

    Args:
        tag: of the transaction in which they are sent; None without one.

    Raises:
        QueueError: a transactional message is outside of a transaction.
    """

    __slots__ = (
        "_expires",
        "_priority",
        "_sent_time",
        "_stamp",
        "_time_to_be_received",
        "_time_to_reach_queue",
        "_traits",
    )

    def __init__(self, state: State, run: UserMessageRun, tag: int | None) -> None:
        head = run.head
        traits = traits_of(head)
        priority, time_to_reach_queue, time_to_be_received = read_life(head.packet)
        priority &= PRIORITY_MASK
        if tag is not None:
            traits |= RECOVERABLE | TRANSACTIONAL
            priority = 0
        elif traits & TRANSACTIONAL:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_USAGE, "a transactional message needs a transaction"
            )
        time_to_reach_queue = min(time_to_reach_queue, state.settings.long_live_time)
        sent_time = int(state.utc)
        self._traits = traits
        self._priority = priority
        self._time_to_reach_queue = time_to_reach_queue
        self._time_to_be_received = time_to_be_received
        self._sent_time = sent_time
        self._expires = NEVER
        self._stamp = Stamp(head, time_to_reach_queue, state.identity, sent_time, tag)

    def direct(self, descriptor: OpenQueueDescriptor, queue: Queue) -> None:
        """Set the open queue of the messages that follow.

        Raises:
            QueueError: no packet can carry the name of the destination.
        """
        stamp = self._stamp
        destination = None if stamp.addressed else descriptor.destination
        stamp.direct(destination, queue.properties.queue_manager)
        self._expires = expiry(
            queue, self._sent_time, self._time_to_be_received, self._time_to_reach_queue
        )

    def arrivals(self, packets: Sequence[bytes], ordinal: int) -> list[Arrival]:
        """Packets of the run in the form of the queue, with consecutive ordinals."""
        stamp, traits, priority, expires = self._stamp, self._traits, self._priority, self._expires
        arrivals: list[Arrival] = []
        for packet in packets:
            arrivals.append((stamp.write(packet, ordinal & MAX_ORDINAL), traits, priority, expires))
            ordinal += 1
        return arrivals


def send_to_several(
    state: State,
    descriptor: OpenQueueDescriptor,
    runs: Sequence[UserMessageRun],
    transaction: Transaction | None,
    deadletter_queue: str,
    deliver_at: float | None = None,
) -> Sent:
    """Send a copy to each element; the first failure stops it, earlier copies stay."""
    check_senders(runs, descriptor.caller)
    views = [UserMessage(packet) for run in runs for packet in run.packets]
    messages: list[Message] = []
    first_ordinal = 0
    depends = 0
    refusal: QueueError | None = None
    for child in descriptor.children:
        copies = copies_for(views, child.format_name, descriptor.format_name)
        sent = send_checked(
            state, child, split_runs(copies), transaction, deadletter_queue, deliver_at
        )
        messages += sent.messages
        first_ordinal = first_ordinal or sent.first_ordinal
        depends = max(depends, sent.depends)
        if sent.refusal is not None:
            # The others get the messages that all queues before them took.
            refusal = sent.refusal
            views = views[: refusal.accepted]
    return Sent(messages, first_ordinal, depends, refusal)
