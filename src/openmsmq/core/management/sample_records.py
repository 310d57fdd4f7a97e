"""The parts of a sample; `part` says which one it is."""

from dataclasses import dataclass
from typing import Final

from .records import ProcessMetrics, Status

COLUMNS: Final = {
    "number": "Q",
    "messages": "Q",
    "bytes": "Q",
    "locked_messages": "Q",
    "delayed_messages": "Q",
    "journal_messages": "Q",
    "journal_bytes": "Q",
    "oldest_arrived": "d",
    "quota": "Q",
    "journal_quota": "Q",
    "readers": "Q",
    "waiting_reads": "Q",
    "last_received": "d",
    "last_refused": "d",
    "arrived_messages": "Q",
    "arrived_bytes": "Q",
    "received_messages": "Q",
    "aborted_messages": "Q",
    "moved_messages": "Q",
    "poisoned_messages": "Q",
}
"""The columns of queues, and how each is packed: 64-bit numbers, or floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionTotals:
    """The open transactions."""

    active: int
    prepared: int
    oldest_age_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleHead:
    """The beginning of a sample: everything except single queues.

    Attributes:
        number: to be sent with the next request.
        complete: everything follows, not only changes: discard earlier samples.
        utc: the time of the queue manager.
        counts: name of the metric, names of its labels, their values, and the count.
        removed: numbers of queues that were deleted.
    """

    part: str = "head"
    number: int
    complete: bool
    utc: float
    status: Status
    process: ProcessMetrics
    transactions: TransactionTotals
    streams: int
    counts: list[tuple[str, tuple[str, ...], tuple[str, ...], int]]
    removed: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQueues:
    """New queues in columns; samples refer to them by number from now on."""

    number: list[int]
    path: list[str]
    kind: list[str]
    transactional: list[bool]
    created_time: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSample:
    """Queues that changed, in packed columns (`COLUMNS`): one row each.

    Attributes:
        new: which of them are new.
        columns: by name; `oldest_arrived`, `last_received` and `last_refused` are seconds since
            1970, or 0.
        deleted: number of a queue, reason, count; without received messages.
        refused: number of a queue, reason told to senders, count.
    """

    part: str = "queues"
    new: NewQueues
    columns: dict[str, bytes]
    deleted: list[tuple[int, str, int]]
    refused: list[tuple[int, str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingSample:
    """An outgoing queue."""

    part: str = "outgoing"
    number: int
    destination: str
    transport: str
    messages: int
    bytes: int
    unacknowledged: int
    awaiting_final_ack: int
    oldest_arrived: float
    connected: bool
    paused: bool
    sent_messages: int
    connect_failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSample:
    """Sessions with other queue managers."""

    part: str = "sessions"
    protocol: str
    direction: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficSample:
    """The counts of all sessions or clients of one protocol: columns of 64-bit numbers, a row each.

    Attributes:
        columns: by name, those of `Traffic`.
    """

    part: str = "traffic"
    protocol: str
    columns: dict[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterSample:
    """The messages of a dead-letter queue, by class."""

    part: str = "dead letters"
    queue: str
    classes: dict[str, int]
