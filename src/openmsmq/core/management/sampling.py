"""Counts of everything in packed columns, only what changed, for those who watch all the time.

A sample is streamed in steps. Its first part has the totals; then come queues that changed since
an earlier sample, queues that were deleted, outgoing queues, sessions, the counts of each session
and client, and dead letters by class.
"""

from __future__ import annotations

from array import array
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import QueueRole
from openmsmq.wire.codes.message_class import NEGATIVE_BIT, MessageClass
from openmsmq.wire.codes.queue_enums import QueueState

from .counters import reason_name
from .drops import NEGATIVE_CLASSES
from .queue_infos import in_parts
from .sample_records import (
    COLUMNS,
    DeadLetterSample,
    NewQueues,
    OutgoingSample,
    QueueSample,
    SessionSample,
    TrafficSample,
    TransactionTotals,
)
from .sources import Traffic

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

    from .queue_infos import TransferStatus
    from .sources import ClientSource, SessionSource

# Queues, sessions and clients; outgoing queues; dead letters that one step looks at.
SAMPLE_STEP: Final = 200
OUTGOING_STEP: Final = 100
DEAD_LETTER_STEP: Final = 5_000
_ACK_RECEIVE: Final = int(MessageClass.ACK_RECEIVE)
_SEND: Final = QueueAccessType.SEND
_LEFT_OUT: Final = frozenset((QueueRole.JOURNAL, QueueRole.OUTGOING))


def queue_samples(state: State, since: int) -> Iterator[list[Any]]:
    """The queues that changed since a sample, all of them if it is 0, as columns."""
    marks = state.marks
    numbers = marks.changed(since) if since else list(state.queues)
    for part in in_parts(numbers, state.queues, SAMPLE_STEP):
        queues = [queue for queue in part if queue.role not in _LEFT_OUT]
        readers = [_readers(queue) if queue.descriptors else 0 for queue in queues]
        for queue, count in zip(queues, readers, strict=True):
            # What is read, locked or delayed may change unnoted: it is in the next sample, too.
            if count or queue.locked or queue.delayed:
                marks.note(queue)
        yield [_columns(queues, readers, since)] if queues else []


def _columns(queues: list[Queue], readers: list[int], since: int) -> QueueSample:
    counters = [queue.counters for queue in queues]
    journals = [queue.journal if queue.journaled else None for queue in queues]
    deleted = [
        (queue.number, reason_name(reason), count)
        for queue in queues
        for reason, count in queue.counters.deleted.items()
        if reason != _ACK_RECEIVE
    ]
    refused = [
        (queue.number, reason, count)
        for queue in queues
        if queue.counters.refused
        for reason, count in queue.counters.refused.items()
    ]
    rows: dict[str, list[Any]] = {
        "number": [queue.number for queue in queues],
        "messages": [queue.lanes.count + len(queue.locked) for queue in queues],
        "bytes": [queue.total_bytes for queue in queues],
        "locked_messages": [len(queue.locked) for queue in queues],
        "delayed_messages": [len(queue.delayed) for queue in queues],
        "journal_messages": [0 if journal is None else journal.count for journal in journals],
        "journal_bytes": [0 if journal is None else journal.total_bytes for journal in journals],
        "oldest_arrived": [
            _oldest_arrived(queue) if queue.lanes.count else 0.0 for queue in queues
        ],
        "quota": [(queue.parent or queue).properties.quota for queue in queues],
        "journal_quota": [queue.properties.journal_quota for queue in queues],
        "readers": readers,
        "waiting_reads": [len(queue.waiting) for queue in queues],
        "last_received": [counter.last_received for counter in counters],
        "last_refused": [counter.last_refused for counter in counters],
        "arrived_messages": [counter.arrived_messages for counter in counters],
        "arrived_bytes": [counter.arrived_bytes for counter in counters],
        "received_messages": [counter.deleted.get(_ACK_RECEIVE, 0) for counter in counters],
        "aborted_messages": [counter.aborted for counter in counters],
        "moved_messages": [counter.moved for counter in counters],
        "poisoned_messages": [counter.poisoned for counter in counters],
    }
    packed = {name: array(code, rows[name]).tobytes() for name, code in COLUMNS.items()}
    return QueueSample(
        new=_new_queues([queue for queue in queues if queue.born >= since]),
        columns=packed,
        deleted=deleted,
        refused=refused,
    )


def _new_queues(queues: list[Queue]) -> NewQueues:
    return NewQueues(
        number=[queue.number for queue in queues],
        path=[queue.path for queue in queues],
        # A plain text as it is: `str` of each would cost as much as all the rest.
        kind=[queue.role for queue in queues],
        transactional=[queue.properties.transactional for queue in queues],
        created_time=[queue.properties.create_time for queue in queues],
    )


def _oldest_arrived(queue: Queue) -> float:
    """When the oldest message came; 0 if there is none. Each lane has its oldest in front."""
    oldest = 0.0
    lanes = queue.lanes
    left = lanes.count
    for lane in lanes.lanes:
        if lane is not None and lane.count:
            arrived = lane.blocks[0][0].arrived
            if not oldest or arrived < oldest:
                oldest = arrived
            left -= lane.count
            if not left:
                break
    return oldest


def _readers(queue: Queue) -> int:
    # A loop, not a sum: it runs for every queue that is open.
    count = 0
    for descriptor in queue.descriptors.values():
        if descriptor.access is not _SEND:
            count += 1
    return count


def outgoing_samples(
    state: State, transfer: Callable[[Queue], TransferStatus | None]
) -> Iterator[list[Any]]:
    """Every outgoing queue."""
    numbers = [queue.number for queue in state.outgoing.values()]
    for part in in_parts(numbers, state.queues, OUTGOING_STEP):
        yield [_outgoing_sample(queue, transfer(queue)) for queue in part]


def _outgoing_sample(queue: Queue, transfer: TransferStatus | None) -> OutgoingSample:
    outgoing = queue.outgoing
    assert outgoing is not None  # noqa: S101 - only outgoing queues are asked for
    fronts = [message.arrived for message in islice(queue.locked.values(), 1)]
    oldest = _oldest_arrived(queue)
    deleted = queue.counters.deleted.items()
    return OutgoingSample(
        number=queue.number,
        destination=outgoing.destination_format_name,
        transport=str(outgoing.transport),
        messages=queue.count if transfer is None else transfer.messages,
        bytes=queue.total_bytes,
        unacknowledged=0 if transfer is None else transfer.unacknowledged,
        awaiting_final_ack=0 if transfer is None else transfer.awaiting_final_ack,
        oldest_arrived=min([*fronts, oldest]) if oldest and fronts else oldest or sum(fronts),
        connected=outgoing.state is QueueState.CONNECTED,
        paused=outgoing.state is QueueState.ONHOLD,
        sent_messages=sum(count for reason, count in deleted if not reason & NEGATIVE_BIT),
        connect_failures=outgoing.connect_failures,
    )


def session_samples(sources: list[SessionSource]) -> Iterator[list[Any]]:
    """How many sessions there are, by protocol and direction."""
    counts: Tally[tuple[str, str]] = Tally()
    for source in sources:
        counts[source.protocol, "incoming"] += 0
        counts[source.protocol, "outgoing"] += 0
        sessions = iter(source.sessions())
        while part := list(islice(sessions, SAMPLE_STEP)):
            counts.update((source.protocol, session.direction) for session in part)
            yield []
    yield [
        SessionSample(protocol=protocol, direction=direction, count=count)
        for (protocol, direction), count in counts.items()
    ]


def traffic_samples(sources: Iterable[SessionSource | ClientSource]) -> Iterator[list[Any]]:
    """What came and went over each session and to each client."""
    for source in sources:
        traffic = iter(source.traffic())
        while part := list(islice(traffic, SAMPLE_STEP)):
            columns = zip(Traffic._fields, zip(*part, strict=True), strict=True)
            yield [
                TrafficSample(
                    protocol=source.protocol,
                    columns={name: array("Q", column).tobytes() for name, column in columns},
                )
            ]


def dead_letter_samples(state: State) -> Iterator[list[Any]]:
    """The messages in the dead-letter queues by class; counted again only after a change."""
    for queue in (state.deadletter, state.xact_deadletter):
        # Every arrival and every removal changes one of these.
        contents = (queue.counters.arrived_messages, queue.count, len(queue.locked))
        known = state.dead_letter_classes.get(queue.number)
        if known is None or known[0] != contents:
            counts: Tally[int] = Tally()
            message = queue.lanes.first()
            looked_at = 0
            while message is not None:
                counts[0 if message.history is None else message.history.message_class] += 1
                looked_at += 1
                if looked_at % DEAD_LETTER_STEP == 0:
                    yield []
                message = queue.lanes.after(message.lookup_id)
            known = (contents, dict(counts))
            state.dead_letter_classes[queue.number] = known
        classes = dict.fromkeys(NEGATIVE_CLASSES, 0)
        classes.update((reason_name(reason), count) for reason, count in known[1].items())
        yield [DeadLetterSample(queue=queue.path, classes=classes)]


def transaction_totals(state: State) -> TransactionTotals:
    """How many transactions are open, and when the oldest began; they are in that order."""
    begun = next((transaction.begun for transaction in state.transactions.values()), None)
    prepared = state.totals.in_doubt
    return TransactionTotals(
        active=max(len(state.transactions) - prepared, 0),
        prepared=prepared,
        oldest_age_seconds=0.0 if begun is None else max(state.utc - begun, 0.0),
    )
