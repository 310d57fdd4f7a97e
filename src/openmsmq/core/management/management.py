"""Management: status, lists and rights, by functions that check their caller."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from openmsmq.core.model.message import RECOVERABLE
from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.acceptance import quota_used_up
from openmsmq.core.queues.access import check_machine_right, check_queue_right
from openmsmq.core.queues.names import find_by_path, parse_name
from openmsmq.core.queues.permissions import change_manager_permissions, change_queue_permissions
from openmsmq.security.access_explanation import AccessInfo
from openmsmq.security.permissions import Permission, PermissionChange
from openmsmq.security.principals import Accounts, describe_principal, parse_principal
from openmsmq.security.rights import (
    describe_machine_rights,
    machine_rights,
    queue_rights,
)
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError

from .counters import FLUSHES, TRANSACTIONS, Count, series_name
from .identities import Identities
from .permission_infos import (
    in_words,
    is_listed,
    machine_access,
    may,
    queue_access,
    queue_permissions,
    visible_queues,
)
from .queue_infos import (
    TransferStatus,
    guid_text,
    in_parts,
    outgoing_info,
    queue_details,
    queue_info,
)
from .records import (
    ClientInfo,
    OutgoingInfo,
    ProcessInfo,
    ProcessMetrics,
    QueueDetails,
    QueueInfo,
    ReaderInfo,
    RouteInfo,
    SessionInfo,
    Status,
    TransactionInfo,
)
from .routes import explain_route
from .sample_records import SampleHead
from .sampling import (
    dead_letter_samples,
    outgoing_samples,
    queue_samples,
    session_samples,
    traffic_samples,
    transaction_totals,
)
from .transaction_infos import transaction_info, unconfirmed_info

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.pipelines.staging import Stages
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller

    from .sources import ClientSource, SessionSource

T = TypeVar("T")

# Queues, sessions, clients or transactions per step of a list.
LIST_STEP: Final = 10
# Choice: users who may handle undeliverable messages may also see messages on their way, and the
# owners of sessions and transactions.
_SEE_TRAFFIC: Final = MachineRight.PEEK_DEADLETTER_MESSAGE


class Management:
    """Functions for people and programs that inspect and administer one queue manager.

    Lists are iterators of parts: each step reads `LIST_STEP` entries at most, so that other work
    runs between two steps.
    """

    __slots__ = (
        "_clients",
        "_counts",
        "_sessions",
        "_stages",
        "_state",
        "_transfers",
        "identities",
    )

    def __init__(self, state: State, stages: Stages) -> None:
        self._state = state
        self._stages = stages
        self.identities = Identities(state)
        self._transfers: list[Callable[[Queue], TransferStatus | None]] = []
        self._sessions: list[SessionSource] = []
        self._clients: list[ClientSource] = []
        self._counts: list[Callable[[], Iterable[Count]]] = []

    # Providers of facts that the core does not have

    def add_transfers(self, source: Callable[[Queue], TransferStatus | None]) -> None:
        """Register a provider of facts on outgoing queues; it returns None for those of others."""
        self._transfers.append(source)

    def add_sessions(self, source: SessionSource) -> None:
        """Register a protocol that has sessions."""
        self._sessions.append(source)

    def add_clients(self, source: ClientSource) -> None:
        """Register a protocol that has clients."""
        self._clients.append(source)

    def add_counters(self, source: Callable[[], Iterable[Count]]) -> None:
        """Register a protocol whose counts, plain integers, are read from here."""
        self._counts.append(source)

    # The queue manager

    def status(self, process: ProcessInfo, *, caller: Caller) -> Status:
        """State, identity and totals; reads only running totals, never all queues.

        Raises:
            AccessDenied: `get-properties` of the queue manager is missing.
        """
        state = self._state
        check_machine_right(state, caller, MachineRight.GET_MACHINE_PROPERTIES)
        totals, counters = state.totals, state.counters
        return Status(
            name=state.manager.computer_name,
            guid=guid_text(state.manager.identifier),
            version=process.version,
            state=str(state.local.queue_manager_state),
            pid=process.pid,
            uptime_seconds=process.uptime_seconds,
            endpoints=process.endpoints,
            data=process.data,
            queues=totals.queues,
            messages=totals.messages,
            bytes=totals.bytes,
            outgoing_queues=len(state.outgoing),
            outgoing_messages=totals.outgoing_messages - totals.awaiting_final_ack,
            awaiting_final_ack=totals.awaiting_final_ack,
            dead_letters=state.deadletter.count + state.xact_deadletter.count,
            memory_bytes=state.memory,
            disk_bytes=process.disk_bytes,
            stored_messages=process.stored_messages,
            flushes=process.flushes,
            throttled=state.local.throttled,
            quota_used_up=quota_used_up(state),
            online=state.local.connection_active,
            transactions=len(state.transactions),
            staged_bytes=self._stages.size,
            in_doubt_transactions=totals.in_doubt,
            sessions={source.protocol: source.session_count for source in self._sessions},
            waiting_bytes=sum(source.waiting_bytes for source in self._sessions),
            clients=sum(source.client_count for source in self._clients),
            client_counters=counters.clients.by("local"),
            unread_bytes=process.unread_bytes,
            faults=process.faults,
            deleted_messages=counters.deleted_messages.by(),
            refused_requests=counters.refused_requests.by(),
            dropped_messages=counters.dropped_messages.by(),
            counters=self._counters(process),
        )

    def _counters(self, process: ProcessInfo) -> dict[str, int]:
        """Every non-zero counter of the queue manager, as Prometheus names them."""
        return {
            series_name(metric, labels): count
            for metric, labels, count in self._counts_of(process)
            if count
        }

    def _counts_of(self, process: ProcessInfo) -> Iterator[Count]:
        """Every counter of the queue manager with its labels."""
        totals = self._state.totals
        for counter in self._state.counters.all:
            for labels, count in counter.values.items():
                yield counter.metric, labels, count
        yield TRANSACTIONS, ("committed",), totals.committed
        yield TRANSACTIONS, ("aborted",), totals.aborted
        yield FLUSHES, (), process.flushes
        for source in self._counts:
            yield from source()

    def sample(
        self, since: int, process: ProcessInfo, measured: ProcessMetrics, *, caller: Caller
    ) -> Iterator[list[Any]]:
        """Counts of everything, and changes since an earlier sample; see `sampling`.

        Raises:
            AccessDenied: the caller is not an administrator.
        """
        self.require_administrator(caller, "watch all queues")
        state = self._state
        marks = state.marks
        complete = not marks.knows(since)
        marks.next_sample()
        head = SampleHead(
            number=marks.number,
            complete=complete,
            utc=state.utc,
            status=self.status(process, caller=caller),
            process=measured,
            transactions=transaction_totals(state),
            streams=state.stream_count.total,
            counts=[
                (metric.name, metric.labels, labels, count)
                for metric, labels, count in self._counts_of(process)
            ],
            removed=[] if complete else marks.removed(since),
        )
        return chain(
            [[head]],
            queue_samples(state, 0 if complete else since),
            outgoing_samples(state, self._transfer),
            session_samples(self._sessions),
            traffic_samples((*self._sessions, *self._clients)),
            dead_letter_samples(state),
        )

    def require_traffic(self, caller: Caller) -> None:
        """Refuse a caller who may not see messages of others.

        Raises:
            AccessDenied: the caller lacks the right to peek at dead letters.
        """
        check_machine_right(self._state, caller, _SEE_TRAFFIC)

    def require_administrator(self, caller: Caller, deed: str) -> None:
        """Refuse a caller who is not an administrator of the queue manager.

        Raises:
            AccessDenied: the caller is not an administrator.
        """
        if not caller.is_local_admin:
            raise AccessDenied(
                f"only an administrator of the queue manager may {deed}",
                cause="You are neither root nor the user that the queue manager runs as.",
                remedy="Run the command as root or as the user that the queue manager runs as.",
            )

    # Queues

    def queue(self, path: str, *, caller: Caller, accounts: Accounts) -> QueueDetails:
        """One queue, with its permissions if the caller may read them.

        Raises:
            QueueError: MQ_ERROR_QUEUE_NOT_FOUND, MQ_ERROR_ACCESS_DENIED.
        """
        queue = find_by_path(self._state, path)
        check_queue_right(queue, caller, QueueRight.GET_QUEUE_PROPERTIES)
        permissions: tuple[Permission, ...] | None = None
        if may(queue, caller, QueueRight.GET_QUEUE_PERMISSIONS):
            permissions = queue_permissions(queue, accounts)
        return queue_details(queue_info(self._state, queue), permissions)

    def describe_queue(self, queue: Queue) -> QueueInfo:
        """A queue that the caller has just created."""
        return queue_info(self._state, queue)

    def queues(self, *, caller: Caller, include_system: bool) -> Iterator[list[QueueInfo]]:
        """The queues that the caller may see, in the order in which they were created."""
        state = self._state
        for part in in_parts(list(state.queues), state.queues, LIST_STEP):
            listed = [queue for queue in part if is_listed(queue, include_system=include_system)]
            yield [queue_info(state, queue) for queue in visible_queues(listed, caller)]

    # Permissions

    def change_queue_permissions(
        self,
        path: str,
        change: PermissionChange,
        principal: str,
        rights: Iterable[str],
        *,
        caller: Caller,
        accounts: Accounts,
    ) -> tuple[Permission, ...]:
        """Grant, deny or revoke rights on a queue; return the permissions in force now.

        Raises:
            QueueError: invalid words, no such queue, or the caller may not change permissions.
        """
        queue = find_by_path(self._state, path)
        sid = parse_principal(principal, accounts)
        mask = queue_rights(rights)
        change_queue_permissions(self._state, queue, change, sid, mask, caller=caller)
        return queue_permissions(queue, accounts)

    def permissions(self, *, caller: Caller, accounts: Accounts) -> tuple[Permission, ...]:
        """The permissions of the queue manager.

        Raises:
            AccessDenied: `get-permissions` of the queue manager is missing.
        """
        check_machine_right(self._state, caller, MachineRight.GET_MACHINE_PERMISSIONS)
        return self._permissions(accounts)

    def change_permissions(
        self,
        change: PermissionChange,
        principal: str,
        rights: Iterable[str],
        *,
        caller: Caller,
        accounts: Accounts,
    ) -> tuple[Permission, ...]:
        """Grant, deny or revoke rights on the queue manager; return the permissions in force now.

        Raises:
            QueueError: invalid words, or the caller may not change permissions.
        """
        sid = parse_principal(principal, accounts)
        mask = machine_rights(rights)
        change_manager_permissions(self._state, change, sid, mask, caller=caller)
        return self._permissions(accounts)

    def _permissions(self, accounts: Accounts) -> tuple[Permission, ...]:
        return in_words(self._state.manager.security, accounts, describe_machine_rights)

    def explain_access(
        self, path: str, principal: Caller, *, caller: Caller, accounts: Accounts
    ) -> list[AccessInfo]:
        """The effective rights of a principal on a queue, one by one, with reasons.

        Args:
            path: of the queue; empty for the queue manager itself.
            principal: the account, with its groups.

        Raises:
            QueueError: no such queue, or `get-permissions` is missing.
        """
        if not path:
            check_machine_right(self._state, caller, MachineRight.GET_MACHINE_PERMISSIONS)
            return machine_access(self._state.manager.security, principal, accounts)
        queue = find_by_path(self._state, path)
        check_queue_right(queue, caller, QueueRight.GET_QUEUE_PERMISSIONS)
        return queue_access(queue, principal, accounts)

    # Outgoing queues

    def outgoing(self, *, caller: Caller) -> Iterator[list[OutgoingInfo]]:
        """The outgoing queues.

        Raises:
            AccessDenied: `peek-deadletter` of the queue manager is missing.
        """
        state = self._state
        check_machine_right(state, caller, _SEE_TRAFFIC)
        numbers = [queue.number for queue in state.outgoing.values()]
        return (
            [self._outgoing_info(queue) for queue in part]
            for part in in_parts(numbers, state.queues, LIST_STEP)
        )

    def show_outgoing(self, queue: Queue, *, caller: Caller) -> OutgoingInfo:
        """One outgoing queue.

        Raises:
            AccessDenied: `peek-deadletter` of the queue manager is missing.
        """
        check_machine_right(self._state, caller, _SEE_TRAFFIC)
        return self._outgoing_info(queue)

    def describe_outgoing(self, queue: Queue) -> OutgoingInfo:
        """An outgoing queue that the caller has just changed."""
        return self._outgoing_info(queue)

    def _outgoing_info(self, queue: Queue) -> OutgoingInfo:
        return outgoing_info(self._state, queue, self._transfer(queue))

    def _transfer(self, queue: Queue) -> TransferStatus | None:
        """The state of an outgoing queue as the transport that carries it reports it."""
        answers = (source(queue) for source in self._transfers)
        return next((answer for answer in answers if answer is not None), None)

    def route(self, name: str, *, caller: Caller) -> RouteInfo:
        """The route that a message would take; nothing is sent.

        Raises:
            QueueError: the name means no single queue, or `get-properties` is missing.
        """
        check_machine_right(self._state, caller, MachineRight.GET_MACHINE_PROPERTIES)
        return explain_route(self._state, parse_name(self._state, name))

    # Sessions, clients, transactions

    def sessions(self, *, caller: Caller) -> Iterator[list[SessionInfo]]:
        """The sessions with other queue managers.

        Raises:
            AccessDenied: `peek-deadletter` of the queue manager is missing.
        """
        check_machine_right(self._state, caller, _SEE_TRAFFIC)
        return _parts(session for source in self._sessions for session in source.sessions())

    def clients(self, *, caller: Caller) -> Iterator[list[ClientInfo]]:
        """The clients: the caller's own, and those of others with `peek-deadletter`."""
        try:
            check_machine_right(self._state, caller, _SEE_TRAFFIC)
            only = None
        except AccessDenied:
            only = str(caller.sid)
        every = (client for source in self._clients for client in source.clients())
        for part in _parts(every):
            yield [client for client in part if only is None or client.sid == only]

    def hang_up(self, protocol: str, number: int, *, caller: Caller) -> None:
        """End a session or a client; messages that it had locked go back in place.

        Raises:
            QueueError: the caller is not an administrator, or there is no such session or client.
        """
        self.require_administrator(caller, "hang up on others")
        sources: tuple[SessionSource | ClientSource, ...] = (*self._sessions, *self._clients)
        if not any(source.protocol == protocol and source.hang_up(number) for source in sources):
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER,
                f"{protocol} {number} is neither a session nor a client",
                cause="It has ended meanwhile, or the number is wrong.",
                remedy="List sessions and clients again.",
            )

    def readers(
        self, path: str, *, caller: Caller, accounts: Accounts
    ) -> Iterator[list[ReaderInfo]]:
        """The open handles of a queue, and how many reads wait on each.

        Raises:
            QueueError: MQ_ERROR_QUEUE_NOT_FOUND, MQ_ERROR_ACCESS_DENIED.
        """
        queue = find_by_path(self._state, path)
        check_queue_right(queue, caller, QueueRight.GET_QUEUE_PROPERTIES)
        opened = list(queue.descriptors.values())
        waiting = Tally(read.descriptor.handle for read in queue.waiting)
        return (
            [
                ReaderInfo(
                    handle=open_queue.handle,
                    access=str(open_queue.access),
                    exclusive=open_queue.share is not ShareMode.DENY_NONE,
                    principal=describe_principal(open_queue.caller.sid, accounts),
                    sid=str(open_queue.caller.sid),
                    cursors=len(open_queue.cursors),
                    locked_messages=len(open_queue.locked),
                    waiting_reads=waiting[open_queue.handle],
                )
                for open_queue in part
            ]
            for part in _parts(opened)
        )

    def transactions(self, *, caller: Caller) -> Iterator[list[TransactionInfo]]:
        """The open transactions.

        Raises:
            AccessDenied: `peek-deadletter` of the queue manager is missing.
        """
        check_machine_right(self._state, caller, _SEE_TRAFFIC)
        return self._transactions()

    def _transactions(self) -> Iterator[list[TransactionInfo]]:
        state = self._state
        holders: dict[str, str] = {}
        for clients in _parts(client for source in self._clients for client in source.clients()):
            for client in clients:
                name = f"{client.principal} ({client.protocol} {client.id})"
                holders.update(dict.fromkeys(client.transactions, name))
            # An empty step.
            yield []
        for part in _parts([*state.transactions, *state.unconfirmed()]):
            yield [
                transaction_info(state.transactions[identifier], state.utc, holders)
                if identifier in state.transactions
                else unconfirmed_info(identifier)
                for identifier in part
                if identifier in state.transactions or identifier in state.unconfirmed()
            ]

    # Deleted messages

    def read_packets(self, messages: Iterable[Message]) -> list[bytes | None]:
        """The packets of messages that have just left; None for one that was only in memory.

        Raises:
            StoreError: a packet cannot be read back.
        """
        chosen = list(messages)
        packets = {message.key: message.packet for message in chosen}
        stored = [
            message.key
            for message in chosen
            if message.packet is None and message.traits & RECOVERABLE
        ]
        packets.update(zip(stored, self._state.packets.read_many(stored), strict=True))
        return [packets[message.key] for message in chosen]


def _parts(entries: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(entries)
    while part := list(islice(rest, LIST_STEP)):
        yield part
