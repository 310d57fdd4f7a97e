"""What management functions return; the field names are those that users see."""

from dataclasses import dataclass

from openmsmq.security.permissions import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo:
    """What only the process around the queue manager knows."""

    version: str
    pid: int
    uptime_seconds: float
    endpoints: dict[str, str]
    data: str
    disk_bytes: int
    stored_messages: int
    flushes: int
    unread_bytes: int
    faults: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """One queue manager: identity, state, totals, and counts since its start."""

    name: str
    guid: str
    version: str
    state: str
    pid: int
    uptime_seconds: float
    endpoints: dict[str, str]
    data: str
    queues: int
    messages: int
    bytes: int
    outgoing_queues: int
    outgoing_messages: int
    awaiting_final_ack: int
    dead_letters: int
    memory_bytes: int
    disk_bytes: int
    stored_messages: int
    flushes: int
    throttled: bool
    quota_used_up: bool
    online: bool
    transactions: int
    staged_bytes: int
    in_doubt_transactions: int
    sessions: dict[str, int]
    waiting_bytes: int
    clients: int
    client_counters: dict[str, int]
    unread_bytes: int
    faults: dict[str, str]
    deleted_messages: dict[str, int]
    refused_requests: dict[str, int]
    dropped_messages: dict[str, int]
    counters: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKeysInfo:
    """The public keys of a queue manager; `keys` is an MQDSPUBLICKEYS."""

    guid: str
    name: str
    keys: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueInfo:
    """Properties and counts of a queue."""

    path: str
    format_name: str
    routed_format_name: str
    kind: str
    scope: str
    guid: str
    label: str
    transactional: bool
    journal: bool
    quota: int
    journal_quota: int
    authenticate: bool
    privacy: str
    base_priority: int
    multicast: str | None
    type: str
    receive_retry_count: int
    retry_cycle_delay: int
    max_retry_cycles: int
    receive_error_handling: str
    created_time: int
    modified_time: int
    messages: int
    bytes: int
    locked_messages: int
    held_messages: int
    delayed_messages: int
    journal_messages: int
    journal_bytes: int
    oldest_message_age_seconds: float | None
    subqueues: tuple[str, ...]
    readers: int
    waiting_reads: int
    arrived_messages: int
    arrived_bytes: int
    aborted_messages: int
    poisoned_messages: int
    deleted: dict[str, int]
    refused: dict[str, int]
    last_refused_time: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDetails(QueueInfo):
    """A queue with its permissions; None when the caller may not read them."""

    permissions: tuple[Permission, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedInfo:
    """A message that waits for its time; `lookup_id` is another one once it has appeared."""

    queue: str
    lookup_id: int
    id: str
    label: str
    deliver_at: str
    body_size: int
    priority: int
    delivery: str
    transactional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionStep:
    """One step of a connection attempt; `time` is ISO 8601, `error` the name of a code.

    `reason` says in words what the status does not.
    """

    status: str
    time: str
    error: str | None
    addresses: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferInfo:
    """How the transfer of an outgoing queue goes; `reason` says why messages wait."""

    next_hop: str = ""
    messages: int
    unacknowledged: int = 0
    awaiting_final_ack: int = 0
    last_error: str = ""
    retry_in_seconds: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingInfo:
    """An outgoing queue: where it sends to, what waits there and why."""

    destination: str
    transport: str
    state: str
    queue_manager: str
    next_hop: str
    next_hops: tuple[str, ...]
    next_hop_reason: str
    messages: int
    bytes: int
    oldest_message_age_seconds: float | None
    unacknowledged: int
    last_error: str
    retry_in_seconds: float | None
    reason: str
    awaiting_final_ack: int
    history: tuple[ConnectionStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteStep:
    """One queue manager on the way of a message, and how it chooses the next.

    Attributes:
        next_hops: the queue managers that it tries, the first choice first.
        next_site: the site that decides, if one does.
        why: these next hops, or why there are none.
    """

    queue_manager: str
    name: str
    sites: tuple[str, ...]
    next_hops: tuple[str, ...]
    next_site: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteInfo:
    """The way that a message to a destination would take.

    Attributes:
        found: whether it would get there if every first choice answers.
        queue_manager: the GUID of the queue manager that has the queue, if it is known.
        name: of that queue manager.
        host: where it is.
        path_name: of the queue, if it is known.
        why: the message goes nowhere, or is not routed; empty otherwise.
        path: the queue managers that it passes, from this one on; empty if it is not routed.
    """

    destination: str
    found: bool
    transport: str
    queue_manager: str
    name: str
    host: str
    path_name: str
    why: str
    path: tuple[RouteStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectionInfo:
    """Where messages to a URL, or their receipts, go instead; `to` may be empty."""

    kind: str
    url: str
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session with another queue manager.

    Attributes:
        id: a number, unique for its protocol while the process runs.
        direction: `incoming` if the peer connected, else `outgoing`.
        peer: GUID of the other queue manager; empty before it is known.
        queues: outgoing queues that send over it.
        unacknowledged: messages that were sent over it and are not acknowledged yet.
        waiting_bytes: what came over it and is not on disk yet.
        transport: `binary`, `http`, `https` or `multicast`.
        incoming_messages, outgoing_messages: over it so far; for HTTP, requests that were accepted.
        incoming_bytes, outgoing_bytes: over it so far.
        group: address and port of a multicast group; empty for others.
        sources: addresses that send to the group, the first ones.
        source_count: how many there are.
        lost_packets: of the group, that can no longer be repaired.
    """

    id: int
    protocol: str
    direction: str
    peer: str
    address: str
    state: str
    queues: int
    unacknowledged: int
    waiting_bytes: int
    transport: str = "binary"
    incoming_messages: int = 0
    outgoing_messages: int = 0
    incoming_bytes: int = 0
    outgoing_bytes: int = 0
    group: str = ""
    sources: tuple[str, ...] = ()
    source_count: int = 0
    lost_packets: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientInfo:
    """A client and what it holds.

    Attributes:
        id: a number, unique for its protocol while the process runs.
        principal, sid: who it is; empty before it has said so.
        address: where it connected from; empty on this machine.
        transactions: ids of those that it has begun.
        unread_bytes: of replies that it has not read.
    """

    id: int
    protocol: str
    principal: str
    sid: str
    address: str
    queues: int
    cursors: int
    waiting_reads: int
    transactions: tuple[str, ...]
    unread_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionInfo:
    """An open transaction.

    Attributes:
        state: `active`; `prepared` while a coordinator decides; `committed` until all that take
            part have confirmed it.
        age_seconds: since it began; None when that was before the last start.
        sent, received, moved: messages in it.
        holder: principal, protocol and id of the client here that has begun it; empty if another
            machine has, or the client is gone.
    """

    id: str
    state: str
    age_seconds: float | None
    sent: int
    received: int
    moved: int
    holder: str


@dataclass(frozen=True, slots=True)
class RegisteredCertificate:
    """A certificate of a user in the directory.

    Attributes:
        digest: its MD5, by which the directory names it.
        identifier: the GUID that MQUSERSIGNCERT has for it.
        certificate: DER.
        internal: whether it is the internal certificate of the user.
    """

    digest: str
    identifier: str
    certificate: bytes
    internal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How often something was at most so large.

    Attributes:
        bounds: the upper bounds of the buckets, ascending; one more bucket has no bound.
        counts: how many values each bucket has, not those of the buckets before it.
        sum: of all values.
    """

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    sum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMetrics:
    """What the process measures of itself and of its store."""

    start_time: float
    cpu_seconds: float
    resident_bytes: int
    virtual_bytes: int
    open_files: int
    max_files: int
    disk_free_bytes: int
    written_bytes: int
    segments: int
    event_loop_lag_seconds: Histogram
    flush_seconds: Histogram
    batch_messages: Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderInfo:
    """Somebody who has a queue open.

    Attributes:
        handle: a number, unique while the process runs.
        access: what for: `receive`, `peek`, `send`, `move`.
        exclusive: whether others are kept from receiving.
        locked_messages: what it has received and not decided on.
        waiting_reads: how many of its reads wait for messages.
    """

    handle: int
    access: str
    exclusive: bool
    principal: str
    sid: str
    cursors: int
    locked_messages: int
    waiting_reads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventInfo:
    """Something that happened.

    Attributes:
        number: one more than that of the event before it.
        kind: `queue-created`, `queue-changed`, `queue-deleted`, `queue-paused`, `queue-resumed`,
            `link`, `flow-control`, `left-unread`, `dropped`, `refused`.
    """

    number: int
    time: float
    kind: str
    queue: str
    detail: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events; `last` goes into the next request, `left_out` says how many are not here."""

    last: int
    left_out: int
    events: list[EventInfo]
