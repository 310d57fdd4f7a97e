"""Counters of a queue manager, each declared once with name, help, unit and labels.

A name is that of a Prometheus metric. Counters with labels are for rare events: refusals, drops,
ended sessions. Events of every message are added up once per run, in the plain integers of
`Totals` and `QueueCounters`, and declared here as well.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass

from .drops import DROPS, NEGATIVE_CLASSES

Labels = tuple[str, ...]


class Metric(NamedTuple):
    """A counter: it only grows while the process runs."""

    name: str
    help: str
    unit: str
    labels: Labels = ()


Count = tuple[Metric, Labels, int]
"""Format the value of a metric with these labels."""

DELETED_MESSAGES: Final = Metric(
    "msmq_deleted_messages_total",
    "Messages that left a queue unread.",
    "messages",
    ("reason",),
)
DEAD_LETTERS: Final = Metric(
    "msmq_dead_letters_total",
    "Messages that were put into a dead-letter queue.",
    "messages",
    ("class",),
)
DROPPED_MESSAGES: Final = Metric(
    "msmq_dropped_messages_total",
    "Messages of peers, copies and acknowledgments that found no place.",
    "messages",
    ("what", "reason"),
)
REJECTED_MESSAGES: Final = Metric(
    "msmq_rejected_messages_total",
    "Messages of other queue managers that no queue took.",
    "messages",
    ("transport", "class"),
)
IGNORED_MESSAGES: Final = Metric(
    "msmq_ignored_messages_total",
    "Messages of other queue managers that came twice, out of order, or without need.",
    "messages",
    ("transport", "reason"),
)
FORWARDED_MESSAGES: Final = Metric(
    "msmq_forwarded_messages_total",
    "Messages of other queue managers that were stored to be sent on.",
    "messages",
    ("transport",),
)
REFUSED_REQUESTS: Final = Metric(
    "msmq_refused_requests_total",
    "Requests of clients that were refused.",
    "requests",
    ("code",),
)
CLIENT_REQUESTS: Final = Metric(
    "msmq_client_requests_total",
    "Requests of clients of the local protocol, by their kind.",
    "requests",
    ("request",),
)
SESSION_MESSAGES: Final = Metric(
    "msmq_session_messages_total",
    "Messages that came from other queue managers.",
    "messages",
    ("transport",),
)
SESSION_BYTES: Final = Metric(
    "msmq_session_bytes_total",
    "Bytes over the connections with other queue managers.",
    "bytes",
    ("protocol", "direction"),
)
CLOSED_SESSIONS: Final = Metric(
    "msmq_closed_sessions_total",
    "Sessions with other queue managers that ended.",
    "sessions",
    ("protocol", "reason"),
)
REFUSED_CONNECTIONS: Final = Metric(
    "msmq_refused_connections_total",
    "Connections of other queue managers that were over a limit.",
    "connections",
    ("protocol",),
)
CLIENTS: Final = Metric(
    "msmq_clients_total",
    "Clients that connected, were refused, broke the protocol, or met a fault of this program.",
    "clients",
    ("protocol", "event"),
)
LOGONS: Final = Metric(
    "msmq_logons_total",
    "Logons from other machines.",
    "logons",
    ("outcome",),
)
RPC_CALLS: Final = Metric(
    "msmq_rpc_calls_total",
    "Calls of remote readers.",
    "calls",
)
RPC_FAULTS: Final = Metric(
    "msmq_rpc_faults_total",
    "Calls of remote readers that were answered with a fault, and PDUs that broke the protocol.",
    "faults",
)
HTTP_REQUESTS: Final = Metric(
    "msmq_http_requests_total",
    "Requests of other machines over HTTP and HTTPS, by the status of the answer.",
    "requests",
    ("status",),
)
MULTICAST_PACKETS: Final = Metric(
    "msmq_multicast_packets_total",
    "Packets of PGM that were sent, or received and not used, by what became of them.",
    "packets",
    ("kind",),
)
TRANSACTIONS: Final = Metric(
    "msmq_transactions_total",
    "Transactions that ended.",
    "transactions",
    ("outcome",),
)
QUEUE_ARRIVED_MESSAGES: Final = Metric(
    "msmq_queue_arrived_messages_total",
    "Messages that appeared in the queue.",
    "messages",
    ("queue",),
)
QUEUE_ARRIVED_BYTES: Final = Metric(
    "msmq_queue_arrived_bytes_total",
    "Bytes of the messages that appeared in the queue.",
    "bytes",
    ("queue",),
)
QUEUE_DELETED_MESSAGES: Final = Metric(
    "msmq_queue_deleted_messages_total",
    "Messages that left the queue, received ones included.",
    "messages",
    ("queue", "reason"),
)
FLUSHES: Final = Metric(
    "msmq_store_flushes_total",
    "Flushes of the store to the disk.",
    "flushes",
)
METRICS: Final = (
    DELETED_MESSAGES,
    DEAD_LETTERS,
    DROPPED_MESSAGES,
    REJECTED_MESSAGES,
    IGNORED_MESSAGES,
    FORWARDED_MESSAGES,
    REFUSED_REQUESTS,
    CLIENT_REQUESTS,
    SESSION_MESSAGES,
    SESSION_BYTES,
    CLOSED_SESSIONS,
    REFUSED_CONNECTIONS,
    CLIENTS,
    LOGONS,
    RPC_CALLS,
    RPC_FAULTS,
    HTTP_REQUESTS,
    MULTICAST_PACKETS,
    TRANSACTIONS,
    QUEUE_ARRIVED_MESSAGES,
    QUEUE_ARRIVED_BYTES,
    QUEUE_DELETED_MESSAGES,
    FLUSHES,
)
"""All counters of openmsmq."""

# Every label value is present from the start, so that a rate includes the first event.
_NEGATIVE: Final = tuple((name,) for name in NEGATIVE_CLASSES)
_REFUSALS: Final = tuple((code.name,) for code in Hresult if code.name.startswith("MQ_ERROR"))
_TRANSPORTS: Final = tuple((str(transport),) for transport in Transport)


class Counter:
    """The values of one metric, by its labels."""

    __slots__ = ("metric", "values")

    def __init__(self, metric: Metric, known: Iterable[Labels] = ()) -> None:
        self.metric = metric
        self.values: dict[Labels, int] = dict.fromkeys(known, 0)

    def add(self, labels: Labels, count: int = 1) -> None:
        """Add to the count."""
        self.values[labels] = self.values.get(labels, 0) + count

    def know(self, known: Iterable[Labels]) -> None:
        """Make the counts for these labels exist from the start."""
        for labels in known:
            self.values.setdefault(labels, 0)

    def of(self, *labels: str) -> int:
        """The sum of all counts with these labels, which are the first ones of the metric."""
        size = len(labels)
        return sum(count for known, count in self.values.items() if known[:size] == labels)

    def by(self, *labels: str) -> dict[str, int]:
        """The counts with these labels, by the labels that follow them."""
        size = len(labels)
        return {
            ": ".join(known[size:]): count
            for known, count in self.values.items()
            if count and known[:size] == labels
        }


class Counters:
    """The counters with labels of one queue manager."""

    __slots__ = (
        "client_requests",
        "clients",
        "closed_sessions",
        "dead_letters",
        "deleted_messages",
        "dropped_messages",
        "forwarded_messages",
        "ignored_messages",
        "refused_connections",
        "refused_requests",
        "rejected_messages",
        "session_messages",
    )

    def __init__(self) -> None:
        self.deleted_messages = Counter(DELETED_MESSAGES, _NEGATIVE)
        self.dead_letters = Counter(DEAD_LETTERS, _NEGATIVE)
        self.dropped_messages = Counter(DROPPED_MESSAGES, DROPS)
        self.rejected_messages = Counter(REJECTED_MESSAGES)
        self.ignored_messages = Counter(IGNORED_MESSAGES)
        self.forwarded_messages = Counter(FORWARDED_MESSAGES)
        self.refused_requests = Counter(REFUSED_REQUESTS, _REFUSALS)
        self.client_requests = Counter(CLIENT_REQUESTS)
        self.session_messages = Counter(SESSION_MESSAGES, _TRANSPORTS)
        self.closed_sessions = Counter(CLOSED_SESSIONS)
        self.refused_connections = Counter(REFUSED_CONNECTIONS)
        self.clients = Counter(CLIENTS)

    @property
    def all(self) -> tuple[Counter, ...]:
        return (
            self.deleted_messages,
            self.dead_letters,
            self.dropped_messages,
            self.rejected_messages,
            self.ignored_messages,
            self.forwarded_messages,
            self.refused_requests,
            self.client_requests,
            self.session_messages,
            self.closed_sessions,
            self.refused_connections,
            self.clients,
        )


class QueueCounters:
    """Counts of one queue since the start."""

    __slots__ = (
        "aborted",
        "arrived_bytes",
        "arrived_messages",
        "deleted",
        "last_received",
        "last_refused",
        "moved",
        "poisoned",
        "refused",
    )

    def __init__(self) -> None:
        self.arrived_messages = 0
        self.arrived_bytes = 0
        # By reason, a message class.
        self.deleted: dict[int, int] = {}
        # Messages that a transaction or a program received and gave back.
        self.aborted = 0
        # Messages that failed in every retry cycle.
        self.poisoned = 0
        # Messages that were moved to another queue.
        self.moved = 0
        # Refused messages, by the reason told to the sender.
        self.refused: dict[str, int] = {}
        # When a message was last received or refused, in seconds since 1970; 0 for never.
        self.last_received = 0.0
        self.last_refused = 0.0


def series_name(metric: Metric, labels: Labels) -> str:
    """A value as Prometheus writes it: `name{label="value"}`."""
    if not labels:
        return metric.name
    pairs = zip(metric.labels, map(_escaped, labels), strict=True)
    label_text = ",".join(f'{name}="{text}"' for name, text in pairs)
    return f"{metric.name}{{{label_text}}}"


def reason_name(reason: int) -> str:
    """The name of a message class as a reason; one without a name in hexadecimal digits."""
    try:
        return MessageClass(reason).name
    except ValueError:
        return f"0x{reason:04X}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
