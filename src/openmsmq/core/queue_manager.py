"""QueueManager: the whole queue manager as one object without sockets, clock or disk.

How to use it
    Every operation takes effect in memory at once, adds to the current batch, and returns its
    `Result` or raises `QueueError`. Results and events carry `depends`: the number of the batch
    that must be durable before they may be reported; 0 is none. Open queues, cursors and
    transactions are handles and are returned bare. Take batches with `take_batch`, make
    them durable in their order, then call `durable`. Later results (a waiting read ends, a
    message expires) are in `take_events`. Call `set_time` before operations, `handle_timer` when
    `next_timer` says so.

    Besides its own methods: `traffic` for messages and transactions of programs,
    `incoming` for protocols that receive, `outgoing` for those that send,
    `redirections` for messages over HTTP, `coordination` and `enlisted` for transactions across
    machines, `enlistments` for requests of their coordinators, `ranges`, `leases` and `stages` for
    pipelines, `management`, `set_aside` and `definer` for administration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from openmsmq.core.definitions.definer import Definer
from openmsmq.core.management.counters import Counters
from openmsmq.core.management.management import Management
from openmsmq.core.management.set_aside import SetAside
from openmsmq.core.messages.expiry import expire_due
from openmsmq.core.messages.scheduled import handle_schedule
from openmsmq.core.model.local_queue_manager import store_local
from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.timers import earlier
from openmsmq.core.pipelines.leases import Leases
from openmsmq.core.pipelines.ranges import Ranges
from openmsmq.core.pipelines.staging import Stages
from openmsmq.core.queues.names import find_by_path, own_names
from openmsmq.core.queues.purging import PURGE_STEP
from openmsmq.core.rows.memory import is_short, relieve
from openmsmq.core.rows.recovery import Recovery, read_rows, recover, recover_local
from openmsmq.core.rows.tables import Table
from openmsmq.core.settings import KeySource, MachineIdentity, Provisioning, Settings
from openmsmq.core.sites.directory_updates import handle_directory_timers
from openmsmq.core.sites.initialization import (
    initialize,
    queue_manager_started,
    queue_manager_stopped,
    queue_manager_stopping,
)
from openmsmq.core.sites.key_publication import publish_keys
from openmsmq.core.tracing import TraceLog
from openmsmq.core.transactions.coordination import Coordination
from openmsmq.core.transactions.coordinator import Enlistments
from openmsmq.core.transactions.enlisted import Enlisted
from openmsmq.core.transfer.checks.message_checks import Decryptor, MessageChecks
from openmsmq.core.transfer.incoming.incoming import Incoming
from openmsmq.core.transfer.notices.acknowledgments import acknowledge
from openmsmq.core.transfer.notices.final_acks import send_final_ack
from openmsmq.core.transfer.outgoing.outgoing import Outgoing
from openmsmq.core.transfer.outgoing.redirections import Redirections
from openmsmq.core.transfer.outgoing.unused import forget_unused
from openmsmq.security.caller import Caller
from openmsmq.wire.batch import Batch
from openmsmq.wire.codes.algorithms import Provider
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.names.format_name import FormatName

from .events import Event
from .messages import reading
from .outbox import Result, ResultOf
from .queues import creation, opening, purging
from .state import Packets, Scratch, State
from .traffic import Traffic

if TYPE_CHECKING:
    from openmsmq.core.model.cursor import Cursor
    from openmsmq.core.model.local_queue_manager import LocalQueueManager
    from openmsmq.core.transfer.checks.checks import Verifier
    from openmsmq.directory.interface import Directory


class QueueManager:
    """One queue manager.

    Args:
        recovery: the contents of the store; empty on the first start.
        new: the attributes of a queue manager that is started for the first time.
        guids: a new random GUID at each call.
        packets: reads back stored packets; provided by the store.
        scratch: takes packets of express messages when memory is short; provided by the store.
        directory: for public queues; None in workgroup mode.
        verifier: checks messages of other queue managers, instead of `MessageChecks`.
        decryptor: decrypts their bodies; without it encrypted ones are refused.
        now: monotonic time in seconds.
        utc: time of day in seconds since 1970.
    """

    __slots__ = (
        "coordination",
        "definer",
        "enlisted",
        "enlistments",
        "incoming",
        "leases",
        "management",
        "outgoing",
        "ranges",
        "redirections",
        "set_aside",
        "stages",
        "state",
        "traffic",
    )

    def __init__(
        self,
        recovery: Recovery,
        *,
        new: LocalQueueManager,
        guids: Callable[[], UUID],
        packets: Packets,
        now: float,
        utc: float,
        scratch: Scratch | None = None,
        directory: Directory | None = None,
        settings: Settings | None = None,
        verifier: Verifier | None = None,
        decryptor: Decryptor | None = None,
    ) -> None:
        rows = read_rows(recovery)
        self.state = State(
            recover_local(rows) or new,
            settings=settings or Settings(),
            guids=guids,
            packets=packets,
            scratch=scratch,
            directory=directory,
        )
        self.state.message_checks = MessageChecks(self.state, decryptor)
        self.incoming = Incoming(self.state, verifier)
        self.outgoing = Outgoing(self.state)
        self.redirections = Redirections(self.state)
        self.definer = Definer(self.state, self.outgoing, self.redirections)
        self.enlistments = Enlistments(self.state)
        self.coordination = Coordination(self.state)
        self.traffic = Traffic(self.state, self.coordination)
        self.enlisted = Enlisted(self.state, self.enlistments)
        self.ranges = Ranges(self.state)
        self.leases = Leases(self.state)
        self.stages = Stages(self.state)
        self.set_aside = SetAside(self.state)
        self.management = Management(self.state, self.stages)
        self.set_time(now=now, utc=utc)
        self.state.unused_look_at = now + self.state.settings.unused_outgoing_seconds
        recover(self.state, recovery, rows)
        self.coordination.recover(rows[Table.DECISIONS])
        self.enlisted.recover(rows[Table.ENLISTMENTS])

    # Start and stop

    def start(
        self, machine: MachineIdentity | None, provisioning: Provisioning | None = None
    ) -> None:
        """Initialize the queue manager; no operation is accepted before.

        Args:
            machine: the names of this machine; None when they could not be determined.
            provisioning: for the first start of a queue manager with a directory.

        Raises:
            QueueError: the names are not known, or the directory is in an invalid state.
        """
        initialize(self.state, machine, provisioning)
        queue_manager_started(self.state)

    def stop(self) -> None:
        """Tell all parts to shut down; nothing new is opened from now on."""
        queue_manager_stopping(self.state)

    def stopped(self) -> None:
        """All parts have shut down."""
        queue_manager_stopped(self.state)

    # Identity

    @property
    def name(self) -> str:
        """The computer name."""
        return self.state.manager.computer_name

    @property
    def own_names(self) -> tuple[str, ...]:
        """The host names and addresses of this queue manager, in lower case."""
        return own_names(self.state)

    @property
    def identifier(self) -> UUID:
        """The GUID, as message ids have it."""
        return self.state.manager.identifier

    @property
    def counters(self) -> Counters:
        """The counters since the start."""
        return self.state.counters

    @property
    def directory_integrated(self) -> bool:
        """Whether it belongs to a directory."""
        return self.state.local.directory_integrated

    @property
    def signature_forms(self) -> tuple[str, str]:
        """How local clients write the signatures of MSMQ and those of SRMP."""
        settings = self.state.settings
        return settings.signature_form, settings.srmp_signature_form

    def join_directory(self) -> None:
        """Use the directory from the next `start` on."""
        self.state.local.directory_integrated = True

    def publish_keys(self, keys: KeySource, providers: Sequence[Provider]) -> str:
        """Publish the public keys in the directory; return why that was not possible."""
        return publish_keys(self.state, keys, providers)

    def store_identity(self) -> None:
        """Add the identity to the batch, before others receive it."""
        store_local(self.state)

    def set_quotas(self, *, messages: int, journals: int) -> None:
        """The quotas of all messages and all journals in kilobytes, as configured."""
        self.state.manager.queue_manager_quota = messages
        self.state.manager.journal_quota = journals

    @property
    def hardened(self) -> bool:
        """Whether messages travel over HTTP only, and no request over RPC is answered."""
        return self.state.local.hardened_security

    def set_hardened(self, *, hardened: bool) -> None:
        """Hardened mode as configured; before the start."""
        self.state.local.hardened_security = hardened

    # Time, batches, events

    def set_time(self, *, now: float, utc: float) -> None:
        """Set the time for the operations that follow."""
        self.state.now = now
        self.state.utc = utc
        self.state.trace.utc = utc

    @property
    def now(self) -> float:
        """The monotonic time of this turn."""
        return self.state.now

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""
        state = self.state
        due = state.waits.next()
        if state.message_checks.has_timers:
            due = earlier(due, state.message_checks.next_timer())
        for time in state.directory_timers.values():
            due = earlier(due, time)
        if self.stages.batches:
            due = earlier(due, self.stages.next_timer())
        if state.deleted and purging.has_leftovers(state):
            due = earlier(due, state.now)
        if state.outgoing:
            due = earlier(due, state.unused_look_at)
        second = state.expiry.next()
        if second is not None:
            due = earlier(due, state.now + max(second - state.utc, 0.0))
        if state.schedule.entries:
            scheduled = state.schedule.next()
            if scheduled is not None:
                due = earlier(due, state.now + max(scheduled - state.utc, 0.0))
        return due

    def handle_timer(self, *, now: float, utc: float) -> None:
        """Handle timers: end waiting reads, expire messages, read the directory.

        It deletes up to `PURGE_STEP` messages; the rest follows in the next call.
        """
        self.set_time(now=now, utc=utc)
        reading.expire_waits(self.state)
        # Together they delete no more than one step.
        expired = expire_due(self.state, PURGE_STEP)
        purging.delete_leftovers(self.state, PURGE_STEP - expired)
        if self.state.schedule.entries:
            handle_schedule(self.state)
        handle_directory_timers(self.state)
        self.state.message_checks.handle_timer()
        self.stages.expire()
        forget_unused(self.state)

    @property
    def idle(self) -> bool:
        """Whether the turn has nothing left to do, to store or to report."""
        return not (self.has_events or self.state.outbox.batch)

    def take_batch(self) -> tuple[int, Batch] | None:
        """The next batch to be made durable, with its number; None when there is none."""
        self._settle()
        return self.state.outbox.take_batch()

    def durable(self, number: int) -> None:
        """All batches up to this number are on disk."""
        state = self.state
        state.outbox.durable(number)
        state.sequence.durable(number)
        state.ordinals.durable(number)
        self._relieve()

    @property
    def has_events(self) -> bool:
        """Whether there are events since the last `take_events`, or work that may cause some."""
        state = self.state
        return bool(
            state.outbox.events
            or state.touched
            or state.to_acknowledge
            or state.to_finalize
            or state.message_checks.found
        )

    def take_events(self) -> list[Event]:
        """The events since the last call, oldest first."""
        self._settle()
        if self.state.message_checks.found:
            self.state.message_checks.tell_found()
        return self.state.outbox.take_events()

    def _settle(self) -> None:
        """Do the work deferred to the end of the turn, until nothing is left.

        It sends acknowledgments and serves readers that wait for messages that appeared.
        """
        state = self.state
        while state.touched or state.to_acknowledge or state.to_finalize:
            if state.to_acknowledge:
                work, state.to_acknowledge = state.to_acknowledge, []
                for packet, message_class in work:
                    acknowledge(state, packet, message_class)
            if state.to_finalize:
                work, state.to_finalize = state.to_finalize, []
                for packet, message_class in work:
                    send_final_ack(state, packet, message_class)
            if state.touched:
                queue, arrived = state.touched.popitem()
                reading.serve(state, queue, arrived)
        self._relieve()

    def _relieve(self) -> None:
        if is_short(self.state):
            relieve(self.state, self.stages.messages())

    @property
    def seen(self) -> int:
        """The batch that must be durable before the current state is reported."""
        return self.state.outbox.seen()

    @property
    def utc(self) -> float:
        """The time of day in seconds since 1970, as passed to `set_time`."""
        return self.state.utc

    @property
    def trace(self) -> TraceLog:
        """The events of messages since the last call, if `keep_history` is set."""
        return self.state.trace

    @property
    def throttled(self) -> bool:
        """Whether new messages are refused because there is no room for them."""
        return self.state.local.throttled

    # Queues

    def create_queue(
        self,
        path: str,
        *,
        caller: Caller,
        skip_directory: bool = False,
        **attributes: Any,
    ) -> ResultOf[Queue]:
        """Create a private or public queue.

        Args:
            path: its path name; `.` means this machine.
            caller: the owner of the new queue.
            skip_directory: do not register a public queue.
            attributes: label, type, journaling, quota, journal_quota, authentication,
                privacy_level, transactional, multicast_address, security, base_priority.

        Raises:
            QueueError: MQ_ERROR_QUEUE_EXISTS, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME and others.
        """
        self.state.local.require_service()
        return creation.create_queue(
            self.state, path, caller=caller, attributes=attributes, skip_directory=skip_directory
        )

    def set_queue(self, queue: Queue, *, caller: Caller, **attributes: Any) -> Result:
        """Change attributes of a queue (all of `create_queue` but transactional)."""
        self.state.local.require_service()
        return creation.set_queue(self.state, queue, caller=caller, attributes=attributes)

    def delete_queue(self, queue: Queue, *, caller: Caller, skip_directory: bool = False) -> Result:
        """Delete a queue with its journal, its subqueues and all messages in them."""
        self.state.local.require_service()
        return purging.delete_queue(self.state, queue, caller=caller, skip_directory=skip_directory)

    def find_queue(self, path: str) -> Queue:
        """The queue of this machine with a path name.

        Raises:
            QueueError: MQ_ERROR_QUEUE_NOT_FOUND.
        """
        return find_by_path(self.state, path)

    @property
    def queues(self) -> list[Queue]:
        """Every queue, outgoing ones included."""
        return list(self.state.queues.values())

    # Open queues and cursors

    def open_queue(
        self,
        name: str | FormatName,
        access: QueueAccessType,
        *,
        caller: Caller,
        share: ShareMode = ShareMode.DENY_NONE,
    ) -> OpenQueueDescriptor:
        """Open a queue by format name or path name.

        Raises:
            QueueError: MQ_ERROR_QUEUE_NOT_FOUND, MQ_ERROR_SHARING_VIOLATION,
                MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, MQ_ERROR_ACCESS_DENIED and others.
        """
        self.state.local.require_service()
        if isinstance(name, str):
            return opening.open_by_text(self.state, name, access, share, caller)
        return opening.open_queue(self.state, name, access, share, caller)

    def close_queue(self, descriptor: OpenQueueDescriptor) -> None:
        """Close an open queue: its reads end, and messages that it had locked go back in place."""
        opening.close_queue(self.state, descriptor)

    def open_cursor(self, descriptor: OpenQueueDescriptor) -> Cursor | None:
        """A new cursor before the first message; None when the queue was deleted."""
        return opening.open_cursor(self.state, descriptor)

    def close_cursor(self, cursor: Cursor) -> None:
        """Close a cursor; reads that wait through it end."""
        opening.close_cursor(self.state, cursor)
