"""Requests of pipelines: ranges, leases and staged batches."""

from msgspec import field

from .request import HeadBytes, LookupIds, Number, Packets, Request, Stages


class RangeInfo(Request, frozen=True, tag=40):
    handle: int


class PlanRange(Request, frozen=True, tag=41):
    handle: int
    after: int
    upto: int | None = None
    max_rows: int | None = None
    max_bytes: int | None = None


class SplitRange(Request, frozen=True, tag=42):
    handle: int
    after: int
    upto: int
    parts: int


class PeekRange(Request, frozen=True, tag=43):
    """Stream the messages with `after` < sequence <= `upto` as blocks."""

    handle: int
    after: int
    upto: int
    block_rows: int = 2000
    block_bytes: int = 4 * 1024 * 1024
    # The size of the wanted part of each body; none: all of it.
    head_bytes: HeadBytes | None = None


class Browse(Request, frozen=True, tag=48):
    """Messages in queue order after `lookup_id`, or before it; none: from the end.

    Hidden ones (locked, held, delayed) are included; with `hidden` only
    those. `head_bytes` as for PeekRange. The answer is a `Page`.
    """

    handle: int
    lookup_id: int | None = None
    backwards: bool = False
    count: int = 200
    head_bytes: HeadBytes | None = None
    hidden: bool = False


class AcknowledgeRange(Request, frozen=True, tag=44):
    """Receive the messages with `base` < sequence <= `upto`; cumulative and idempotent."""

    handle: int
    base: int
    upto: int


class Lease(Request, frozen=True, tag=45):
    handle: int
    consumer: str
    token: Number
    max_rows: int
    max_bytes: int


class Release(Request, frozen=True, tag=46):
    handle: int
    consumer: str
    token: Number


class Pin(Request, frozen=True, tag=47):
    """Keep a planned range from expiring until it is acknowledged or the pin times out."""

    handle: int
    base: int
    upto: int
    seconds: float = 3600.0


class Stage(Request, frozen=True, tag=50):
    """Keep packets for a batch that is published later, whole or not at all."""

    producer: str
    batch: Number
    partition: Number
    attempt: Number
    destination: str
    packets: Packets


class CommitBatch(Request, frozen=True, tag=51):
    """Publish stages in one transaction, once per producer and batch."""

    producer: str
    batch: Number
    stages: Stages
    # An open queue, whose locked messages are removed in the same step; 0 for none.
    handle: int = 0
    received: LookupIds = field(default_factory=list)


class CheckBatch(Request, frozen=True, tag=53):
    """Find the packets that a destination would refuse; nothing is staged.

    `queue_bytes` and `manager_bytes` are assumed to be there before, in addition to real ones.
    """

    destination: str
    packets: Packets
    queue_bytes: Number = 0
    manager_bytes: Number = 0


class LastBatch(Request, frozen=True, tag=54):
    """The batch that a producer published last."""

    producer: str


class AbortBatch(Request, frozen=True, tag=52):
    """Delete stages of a batch, or all of it."""

    producer: str
    batch: Number
    stages: Stages | None = None


RangeRequest = (
    RangeInfo
    | PlanRange
    | SplitRange
    | PeekRange
    | Browse
    | AcknowledgeRange
    | Lease
    | Release
    | Pin
    | Stage
    | CommitBatch
    | AbortBatch
    | CheckBatch
    | LastBatch
)
