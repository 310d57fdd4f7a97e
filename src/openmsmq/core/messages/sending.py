"""Applications send: packets that clients built become messages ([MS-MQDMPR] 3.1.7.1.27)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import RECOVERABLE, TRANSACTIONAL
from openmsmq.core.model.open_queue import MAY_SEND, OpenQueueDescriptor
from openmsmq.core.model.queue import Queue
from openmsmq.core.outbox import Result
from openmsmq.core.queues.quota import EnqueueStatus, check_room, no_room
from openmsmq.core.transactions.transactions import OperationType, Transaction
from openmsmq.core.transfer.acceptance import check_acceptance
from openmsmq.core.transfer.claims import drop_claims
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.stamping import MAX_ORDINAL, Stamp, read_life
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun, split_runs
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE, PRIORITY_MASK

from .arrivals import Arrival, expiry, insert, insert_pending, traits_of
from .expiry import expire_now
from .fanout import copies_for
from .web_sending import check_web

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller

_SH: Final = int(UserHeaderFlags.SH)
_LABEL_FIELD: Final = "MessagePropertiesHeader.LabelLength"


class Sent(Result):
    """Messages that a queue took; say so once batch `depends` is durable."""

    __slots__ = ("first_ordinal", "messages", "refusal")

    def __init__(
        self,
        messages: list[Message],
        first_ordinal: int,
        depends: int,
        refusal: QueueError | None = None,
    ) -> None:
        self.messages = messages
        # The ordinals of the message identifiers count up from here.
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
) -> Sent:
    """Send packets: in a transaction all of them, else those before the first that is refused.

    Raises:
        QueueError: a packet, its sender or the queue does not allow it, or there is no room; then
            none is sent.
    """
    if transaction is not None:
        transaction.require_active()
    runs = check_packets(packets)
    if descriptor.multiple and not descriptor.closed:
        return _send_to_several(state, descriptor, runs, transaction, deadletter_queue)
    queue = descriptor.require(MAY_SEND)
    check_senders(runs, descriptor.caller)
    return send_checked(state, queue, runs, transaction, deadletter_queue)


def check_packets(packets: Sequence[bytes]) -> list[UserMessageRun]:
    """The packets of a client as messages; those in a row with the same headers together.

    Claims that only the queue manager may make are cleared.

    Raises:
        QueueError: a packet is not a message.
    """
    largest = max(map(len, packets), default=0)
    if largest > MAX_PACKET_SIZE:
        raise QueueError(
            Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
            f"a message of {largest} bytes is larger than {MAX_PACKET_SIZE}",
        )
    try:
        runs = split_runs(packets)
    except MalformedPacket as exc:
        code = Hresult.MQ_ERROR_INVALID_PARAMETER
        if exc.field == _LABEL_FIELD:
            code = Hresult.MQ_ERROR_LABEL_TOO_LONG
        raise QueueError(code, str(exc)) from exc
    drop_claims(runs, Transport.LOCAL)
    return runs


def check_senders(runs: Sequence[UserMessageRun], caller: Caller) -> None:
    """Refuse messages that name another sender than the one they come from.

    Raises:
        AccessDenied: one does.
    """
    if caller.is_system:
        return
    sid = b""
    for run in runs:
        head = run.head
        if head.flags & _SH:
            sid = sid or caller.sid.serialize()
            kind = head.sender_id_type
            if kind != SenderIdType.NONE and (kind != SenderIdType.SID or head.security_id != sid):
                raise AccessDenied("a message names another sender than its own")


def send_checked(
    state: State,
    queue: Queue,
    runs: Sequence[UserMessageRun],
    transaction: Transaction | None,
    deadletter_queue: str,
) -> Sent:
    """Send messages whose packets and senders have been checked.

    Raises:
        QueueError: the queue does not take the first of them, or in a transaction one of them.
    """
    if not runs:
        return Sent([], state.ordinals.last, 0)
    refusal: QueueError | None = None
    try:
        check_destination(state, queue, runs, transactional=transaction is not None)
        check_size(state, queue, sum([size_of(run.packets) for run in runs]))
    except QueueError:
        if transaction is not None:
            raise
        runs, refusal = _before_refused(state, queue, runs)
    tag = None if transaction is None else transaction.number
    ordinal, arrivals = stamp_runs(state, queue, runs, tag)
    if transaction is not None:
        messages = insert_pending(state, queue, arrivals, transaction, deadletter_queue)
        transaction.add(OperationType.ENQUEUE, messages)
        depends = 0
    else:
        messages = insert(state, queue, arrivals, deadletter_queue)
        depends = max([message.stored for message in messages], default=0)
    expire_now(state, messages)
    depends = max(depends, state.sequence.depends(), state.ordinals.depends())
    return Sent(messages, ordinal, depends, refusal)


def size_of(packets: Sequence[bytes]) -> int:
    """How many bytes the packets have."""
    return sum(map(len, packets))


def check_size(state: State, queue: Queue, size: int, before: int = 0) -> None:
    """Refuse messages of `size` bytes if there is no room for them after others of `before`.

    Raises:
        QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES.
    """
    status = check_room(state, queue, before + size)
    if status is not EnqueueStatus.OK:
        raise no_room(state, queue, size, status)


def _before_refused(
    state: State, queue: Queue, runs: Sequence[UserMessageRun]
) -> tuple[list[UserMessageRun], QueueError]:
    """The messages before the first that a queue does not take, and why it does not.

    Raises:
        QueueError: it is the first of all.
    """
    accepted: list[UserMessageRun] = []
    size = 0
    for run in runs:
        count, refusal = _accepted(state, queue, run, size)
        if count:
            accepted.append(run.first(count))
        if refusal is not None:
            break
        size += size_of(run.packets)
    assert refusal is not None  # noqa: S101 - all together were refused
    if not accepted:
        raise refusal
    refusal.accepted = sum([len(run.packets) for run in accepted])
    return accepted, refusal


def _accepted(
    state: State, queue: Queue, run: UserMessageRun, before: int
) -> tuple[int, QueueError | None]:
    """How many messages of a run a queue takes after others, and why not the next one."""
    count = 0
    try:
        check_destination(state, queue, [run], transactional=False)
        for packet in run.packets:
            check_size(state, queue, len(packet), before)
            before += len(packet)
            count += 1
    except QueueError as exc:
        return count, exc
    return count, None


def check_destination(
    state: State, queue: Queue, runs: Sequence[UserMessageRun], *, transactional: bool
) -> None:
    """Refuse messages that a local queue does not take; an outgoing queue takes almost all.

    Raises:
        QueueError: with the reason.
    """
    if queue.outgoing is not None:
        check_web(state, queue, runs)
        return
    properties = queue.properties
    takes_all_clear = (
        transactional == properties.transactional
        and not properties.authentication
        and properties.privacy_level is QueuePrivacyLevel.OPTIONAL
    )
    for run in runs:
        if not takes_all_clear or run.head.encrypted:
            check_acceptance(queue, run.head, transactional=transactional)


def stamp_runs(
    state: State, queue: Queue, runs: Sequence[UserMessageRun], tag: int | None
) -> tuple[int, list[Arrival]]:
    """Write into packets what only the queue manager knows; also the first ordinal.

    `tag` is that of the transaction in which they are sent; None without one.

    Raises:
        QueueError: a transactional message is outside of one.
    """
    count = sum([len(run.packets) for run in runs])
    ordinal = state.ordinals.take(count, state.outbox) + 1
    arrivals: list[Arrival] = []
    for run in runs:
        _stamp_run(state, queue, run, ordinal + len(arrivals), tag, arrivals)
    return ordinal, arrivals


def _stamp_run(
    state: State,
    queue: Queue,
    run: UserMessageRun,
    ordinal: int,
    tag: int | None,
    arrivals: list[Arrival],
) -> None:
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
    expires = expiry(queue, sent_time, time_to_be_received, time_to_reach_queue)
    owner = queue.properties.queue_manager
    stamp = Stamp(head, time_to_reach_queue, state.identity, owner, sent_time, tag)
    for packet in run.packets:
        arrivals.append((stamp.write(packet, ordinal & MAX_ORDINAL), traits, priority, expires))
        ordinal += 1


def _send_to_several(
    state: State,
    descriptor: OpenQueueDescriptor,
    runs: Sequence[UserMessageRun],
    transaction: Transaction | None,
    deadletter_queue: str,
) -> Sent:
    """One copy for each element; the first that fails stops it, earlier copies stay."""
    check_senders(runs, descriptor.caller)
    views = [UserMessage(packet) for run in runs for packet in run.packets]
    messages: list[Message] = []
    first_ordinal = 0
    depends = 0
    refusal: QueueError | None = None
    for child in descriptor.children:
        queue = child.require(MAY_SEND)
        copies = copies_for(views, child.format_name, descriptor.format_name)
        sent = send_checked(state, queue, split_runs(copies), transaction, deadletter_queue)
        messages += sent.messages
        first_ordinal = first_ordinal or sent.first_ordinal
        depends = max(depends, sent.depends)
        if sent.refusal is not None:
            # The others get what all before them got.
            refusal = sent.refusal
            views = views[: refusal.accepted]
    return Sent(messages, first_ordinal, depends, refusal)
