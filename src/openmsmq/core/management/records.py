"""Results of management functions; users see the names of the fields."""

from dataclasses import dataclass

from openmsmq.security.permissions import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo:
    """Facts about the process of the queue manager."""

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
    """A delayed message; its `lookup_id` changes when it is delivered."""

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

    `reason` explains the status.
    """

    status: str
    time: str
    error: str | None
    addresses: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferInfo:
    """The transfer of an outgoing queue; `reason` explains why messages wait."""

    next_hop: str = ""
    messages: int
    unacknowledged: int = 0
    awaiting_final_ack: int = 0
    last_error: str = ""
    retry_in_seconds: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingInfo:
    """An outgoing queue: its destination, its waiting messages and the reason."""

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
    """One queue manager on the route of a message, and its choice of the next one.

    Attributes:
        next_hops: the queue managers that it tries, in order of preference.
        next_site: the site that decides, if one does.
        why: the reason for these next hops, or for their absence.
    """

    queue_manager: str
    name: str
    sites: tuple[str, ...]
    next_hops: tuple[str, ...]
    next_site: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteInfo:
    """The route of a message to a destination.

    Attributes:
        found: whether it would arrive if every first choice answers.
        queue_manager: the GUID of the queue manager that has the queue, if it is known.
        name: the computer name of that queue manager.
        host: its host.
        path_name: the path name of the queue, if it is known.
        why: the reason if there is no route, or no routing; else empty.
        path: the queue managers on the route, from this one on; empty if it is not routed.
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
    """A redirection of messages to a URL, or of their receipts; `to` may be empty."""

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
        queues: number of outgoing queues that send over it.
        unacknowledged: messages that were sent over it without an acknowledgment so far.
        waiting_bytes: bytes that arrived over it and are not on disk yet.
        transport: `binary`, `http`, `https` or `multicast`.
        incoming_messages, outgoing_messages: counts so far; for HTTP, of accepted requests.
        incoming_bytes, outgoing_bytes: counts so far.
        group: address and port of a multicast group; empty for others.
        sources: the first addresses that send to the group.
        source_count: number of all such addresses.
        lost_packets: packets of the group that can no longer be repaired.
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
        principal, sid: its identity; empty before the logon.
        address: the address of the client; empty on this machine.
        transactions: ids of the transactions that it has begun.
        unread_bytes: bytes of replies that it has not read.
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
        state: `active`; `prepared` while a coordinator decides; `committed` until all
            participants have confirmed it.
        age_seconds: time since it began; None if that was before the last start.
        sent, received, moved: counts of messages in it.
        holder: principal, protocol and id of the local client that began it; empty if another
            machine began it, or the client has disconnected.
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
        digest: its MD5, its key in the directory.
        identifier: its GUID in MQUSERSIGNCERT.
        certificate: DER.
        internal: whether it is the internal certificate of the user.
    """

    digest: str
    identifier: str
    certificate: bytes
    internal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """A distribution of values over buckets.

    Attributes:
        bounds: the upper bounds of the buckets, ascending; one more bucket has no bound.
        counts: the number of values in each bucket alone, not cumulative.
        sum: the sum of all values.
    """

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    sum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMetrics:
    """Measurements of the process and its store."""

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
    """A reader of a queue.

    Attributes:
        handle: a number, unique while the process runs.
        access: `receive`, `peek`, `send` or `move`.
        exclusive: whether it excludes other receivers.
        locked_messages: messages that it has received and neither removed nor put back.
        waiting_reads: number of its reads that wait for messages.
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
    """An event of the queue manager.

    Attributes:
        number: increases by one with each event.
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
    """Events; `last` is for the next request, `left_out` the number of omitted events."""

    last: int
    left_out: int
    events: list[EventInfo]
