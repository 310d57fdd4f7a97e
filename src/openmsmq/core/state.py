"""The state shared by the parts of the queue manager: the current batch, the clock, the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

from openmsmq.core.management.counters import Counters
from openmsmq.core.model.change_marks import ChangeMarks
from openmsmq.core.model.schedule import Schedule
from openmsmq.core.model.timers import ExpiryTimers, WaitTimers
from openmsmq.core.model.totals import Totals
from openmsmq.core.outbox import Reservation
from openmsmq.core.rows.tables import Table
from openmsmq.core.settings import Settings
from openmsmq.core.tracing import TraceLog
from openmsmq.core.transfer.forwarding.forwarded_bytes import ForwardedBytes
from openmsmq.core.transfer.incoming.message_history import MessageIDHistory
from openmsmq.core.transfer.incoming.multicast_groups import MulticastGroups
from openmsmq.core.transfer.incoming.streams import AbandonedStreams, StreamCount
from openmsmq.directory.objects import QueueManagerObject

from .outbox import Outbox

if TYPE_CHECKING:
    from openmsmq.core.model.last_batch import LastBatch
    from openmsmq.core.model.local_queue_manager import LocalQueueManager
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.pipelines.leases import LeaseRow
    from openmsmq.core.routing.current_topology import KnownTopology
    from openmsmq.core.transactions.transactions import Transaction
    from openmsmq.core.transfer.checks.message_checks import MessageChecks
    from openmsmq.core.transfer.outgoing.redirections import Redirection
    from openmsmq.directory.interface import Directory
    from openmsmq.directory.objects import QueueManagerObject

SEQUENCE_BLOCK: Final = 1 << 20
ORDINAL_BLOCK: Final = 1 << 16
# [MS-MQDMPR] 3.1.2.5: the Directory Online timer.
DIRECTORY_ONLINE_SECONDS: Final = 60.0


class Packets(Protocol):
    """The source of packets that are not in memory; the store is one."""

    def read_many(self, keys: Sequence[int]) -> list[bytes]:
        """The packets of stored messages."""


class Scratch(Protocol):
    """Storage for express packets when memory is short."""

    def put_many(self, packets: Sequence[bytes]) -> list[int]: ...

    def get_many(self, handles: Sequence[int]) -> list[bytes]: ...

    def free(self, handle: int) -> None: ...


class DirectoryTimer(StrEnum):
    """Intervals of repeated work."""

    SITES_UPDATE = "Directory Sites Update"
    SITE_GATES_UPDATE = "Directory Site Gates Update"
    SERVER_LIST_UPDATE = "Directory Server List Update"
    ONLINE = "Directory Online"


class State:
    """One queue manager's memory. Only the functions of this package change it."""

    __slots__ = (
        "abandoned_streams",
        "addresses",
        "counters",
        "dead_letter_classes",
        "deadletter",
        "deleted",
        "descriptors",
        "directory",
        "directory_timers",
        "expiry",
        "forwarded",
        "groups",
        "guids",
        "identifiers",
        "identity",
        "last_handle",
        "last_queue_number",
        "last_tx_sequence",
        "leases",
        "local",
        "machine_journal",
        "manager",
        "marks",
        "memory",
        "memory_overdraft",
        "message_checks",
        "message_history",
        "now",
        "ordinals",
        "outbox",
        "outgoing",
        "packets",
        "paths",
        "private_numbers",
        "producers",
        "queues",
        "redirections",
        "schedule",
        "scratch",
        "scratch_handles",
        "sequence",
        "settings",
        "srmp_history",
        "srmp_secret",
        "srmp_secret_stored",
        "stream_count",
        "to_acknowledge",
        "to_finalize",
        "topology",
        "totals",
        "touched",
        "trace",
        "transactions",
        "unchecked",
        "unconfirmed",
        "unused_look_at",
        "unused_to_look_at",
        "utc",
        "waits",
        "xact_deadletter",
    )

    def __init__(
        self,
        local: LocalQueueManager,
        *,
        settings: Settings,
        guids: Callable[[], UUID],
        packets: Packets,
        scratch: Scratch | None,
        directory: Directory | None,
    ) -> None:
        self.local = local
        # The attributes that the directory may hold, too.
        self.manager: QueueManagerObject = local.published
        self.identity: bytes = local.identifier.bytes_le
        self.settings = settings
        self.guids = guids
        self.packets = packets
        self.scratch = scratch
        self.directory = directory
        self.now = 0.0
        self.utc = 0.0
        # The times of the next reads of the directory, by timer.
        self.directory_timers: dict[DirectoryTimer, float] = {}
        # Sites and routing links as the directory last described them.
        self.topology: KnownTopology | None = None

        self.counters = Counters()
        # Events of messages, for the history.
        self.trace = TraceLog(enabled=settings.keep_history)
        self.marks = ChangeMarks()
        # The messages of each dead-letter queue by class, and the counts of the queue at that time.
        self.dead_letter_classes: dict[int, tuple[tuple[int, int, int], dict[int, int]]] = {}
        self.outbox = Outbox(self.counters, self.trace)
        self.sequence = Reservation(b"sequence", SEQUENCE_BLOCK, None)
        self.ordinals = Reservation(b"ordinal", ORDINAL_BLOCK, None)
        # Messages with keys up to this one were stored with the unchecked claims of their senders.
        self.unchecked = 0
        self.expiry = ExpiryTimers()
        self.waits = WaitTimers()
        # Messages that appear, return or are removed at a given time.
        self.schedule = Schedule()

        # Every queue by its number in the store, and by its names.
        self.queues: dict[int, Queue] = {}
        self.last_queue_number = 0
        # Deleted queues whose messages have not all left yet.
        self.deleted: dict[int, Queue] = {}
        self.paths: dict[str, Queue] = {}
        self.private_numbers: dict[int, Queue] = {}
        self.identifiers: dict[UUID, Queue] = {}
        self.outgoing: dict[str, Queue] = {}
        self.groups = MulticastGroups()
        # The time of the next search for unused outgoing queues, and the queues left to check.
        self.unused_look_at = 0.0
        self.unused_to_look_at: list[Queue] = []
        self.machine_journal: Queue
        self.deadletter: Queue
        self.xact_deadletter: Queue
        self.descriptors: dict[int, OpenQueueDescriptor] = {}
        self.last_handle = 0
        self.transactions: dict[UUID, Transaction] = {}
        # Commits that were decided here and that some participants have not confirmed.
        self.unconfirmed: Callable[[], list[UUID]] = list
        # Created with the queue manager.
        self.message_checks: MessageChecks
        self.leases: dict[tuple[int, str], LeaseRow] = {}
        # The last batch of each producer and the time of its publication, the latest at the end.
        self.producers: dict[str, LastBatch] = {}
        # Other queue managers: received messages, addresses, and sequences sent to them.
        self.message_history = MessageIDHistory()
        self.srmp_history = MessageIDHistory(table=Table.SRMP_HISTORY)
        self.redirections: list[Redirection] = []
        # The secret in the URLs for stream receipts, and the batch that stores it.
        self.srmp_secret = b""
        self.srmp_secret_stored = 0
        self.stream_count = StreamCount()
        self.abandoned_streams = AbandonedStreams()
        self.addresses: dict[UUID, str] = {}
        # Bytes that other queue managers sent through this one, by the source address.
        self.forwarded = ForwardedBytes()
        self.last_tx_sequence = 0

        self.totals = Totals()
        # Bytes of the packets that are in memory.
        self.memory = 0
        # The excess over the budget that is allowed before packets leave memory, because few could
        # leave the last time.
        self.memory_overdraft = 0
        self.scratch_handles: dict[int, int] = {}
        # Work deferred to the end of every operation: queues whose readers may be served, with the
        # messages that appeared there, and acknowledgments to send, with the packets they are for.
        self.touched: dict[Queue, list[Message]] = {}
        self.to_acknowledge: list[tuple[bytes, int]] = []
        self.to_finalize: list[tuple[bytes, int]] = []
