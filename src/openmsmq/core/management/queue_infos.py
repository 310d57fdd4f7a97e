"""Queues and redirections as records."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Final, Protocol

from openmsmq.core.model.message import HELD
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.outgoing_queue import ConnectionHistoryEntry
from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.state import State
from openmsmq.core.transfer.outgoing.redirections import Redirection
from openmsmq.security.permissions import Permission
from openmsmq.wire.codes.hresult import hresult_name
from openmsmq.wire.codes.message_class import class_name
from openmsmq.wire.names.format_name import PrivateFormatName, PublicFormatName

from .records import (
    ConnectionStep,
    OutgoingInfo,
    QueueDetails,
    QueueInfo,
    RedirectionInfo,
    TransferInfo,
)

SEND: Final = QueueAccessType.SEND


class TransferStatus(Protocol):
    """The state of the transfer of an outgoing queue; the fields of `TransferInfo`."""

    @property
    def next_hop(self) -> str: ...

    @property
    def messages(self) -> int: ...

    @property
    def unacknowledged(self) -> int: ...

    @property
    def awaiting_final_ack(self) -> int: ...

    @property
    def last_error(self) -> str: ...

    @property
    def retry_in_seconds(self) -> float | None: ...

    @property
    def reason(self) -> str: ...


def guid_text(identifier: object) -> str:
    """A GUID as text."""
    return f"{{{str(identifier).upper()}}}"


def queue_info(state: State, queue: Queue) -> QueueInfo:
    """Properties and counts of a queue."""
    settings = queue.family.properties
    policy = queue.family.policy
    journal = queue.journal
    computer = state.manager.computer_name
    return QueueInfo(
        path=f"{computer}\\{queue.path}",
        format_name=f"DIRECT=OS:{computer}\\{queue.path}",
        routed_format_name=_routed_name(state, queue),
        kind=str(queue.role),
        scope=str(queue.queue_type),
        guid=guid_text(settings.identifier),
        label=settings.label,
        transactional=queue.properties.transactional,
        journal=settings.journaling,
        quota=settings.quota,
        journal_quota=settings.journal_quota,
        authenticate=settings.authentication,
        privacy=settings.privacy_level.name.lower(),
        base_priority=settings.base_priority,
        multicast=settings.multicast_address,
        type=guid_text(settings.type),
        receive_retry_count=policy.receive_retry_count,
        retry_cycle_delay=policy.retry_cycle_delay,
        max_retry_cycles=policy.max_retry_cycles,
        receive_error_handling=str(policy.receive_error_handling),
        created_time=settings.create_time,
        modified_time=settings.modify_time,
        messages=queue.count,
        bytes=queue.total_bytes,
        locked_messages=len(queue.locked),
        held_messages=sum(message.holder == HELD for message in queue.locked.values()),
        delayed_messages=len(queue.delayed),
        journal_messages=journal.count if journal is not None else 0,
        journal_bytes=journal.total_bytes if journal is not None else 0,
        oldest_message_age_seconds=oldest_age(queue, state.utc),
        subqueues=tuple(part.path.partition(";")[2] for part in queue.subqueues.values()),
        readers=sum(opened.access is not SEND for opened in queue.descriptors.values()),
        waiting_reads=len(queue.waiting),
        arrived_messages=queue.counters.arrived_messages,
        arrived_bytes=queue.counters.arrived_bytes,
        aborted_messages=queue.counters.aborted,
        poisoned_messages=queue.counters.poisoned,
        deleted={class_name(reason): count for reason, count in queue.counters.deleted.items()},
        refused=dict(queue.counters.refused),
        last_refused_time=queue.counters.last_refused or None,
    )


def _routed_name(state: State, queue: Queue) -> str:
    """The name of a queue by identifiers, for routing and encryption; empty without identifiers."""
    if queue.queue_type is QueueType.PUBLIC:
        return str(PublicFormatName(queue.properties.identifier))
    number = queue.properties.private_queue_number
    if queue.queue_type is QueueType.PRIVATE and number:
        return str(PrivateFormatName(state.manager.identifier, number))
    return ""


def queue_details(info: QueueInfo, permissions: tuple[Permission, ...] | None) -> QueueDetails:
    """A queue with its permissions."""
    fields = {name: getattr(info, name) for name in QueueInfo.__dataclass_fields__}
    return QueueDetails(**fields, permissions=permissions)


def outgoing_info(state: State, queue: Queue, transfer: TransferStatus | None) -> OutgoingInfo:
    """An outgoing queue; `transfer` is the report of the transport that carries it, if any."""
    outgoing = queue.outgoing
    assert outgoing is not None  # noqa: S101 - only outgoing queues are asked for
    if transfer is None:
        next_hop = ", ".join(map(str, outgoing.next_hops or ()))
        transfer = TransferInfo(messages=queue.count, next_hop=next_hop)
    return OutgoingInfo(
        destination=outgoing.destination_format_name,
        transport=str(outgoing.transport),
        state=str(outgoing.state),
        queue_manager=guid_text(outgoing.destination) if outgoing.destination is not None else "",
        next_hop=transfer.next_hop,
        next_hops=tuple(map(str, outgoing.next_hops or ())),
        next_hop_reason=outgoing.choice,
        messages=transfer.messages,
        bytes=queue.total_bytes,
        oldest_message_age_seconds=oldest_age(queue, state.utc),
        unacknowledged=transfer.unacknowledged,
        last_error=transfer.last_error,
        retry_in_seconds=transfer.retry_in_seconds,
        reason=transfer.reason,
        awaiting_final_ack=transfer.awaiting_final_ack,
        history=tuple(map(_connection_step, outgoing.connection_history)),
    )


def _connection_step(entry: ConnectionHistoryEntry) -> ConnectionStep:
    return ConnectionStep(
        status=entry.status.name,
        time=datetime.fromtimestamp(entry.connection_history_time, UTC).isoformat(),
        error=hresult_name(entry.error) if entry.error else None,
        addresses=entry.address_list,
        reason=entry.reason,
    )


def oldest_age(queue: Queue, utc: float) -> float | None:
    """The age of the oldest message, which is in front of its lane.

    For an outgoing queue, messages that were sent and are not acknowledged yet count, too.
    """
    fronts = [lane.blocks[0][0].arrived for lane in queue.lanes.lanes if lane and lane.count]
    if queue.role is QueueRole.OUTGOING:
        fronts += [message.arrived for message in islice(queue.locked.values(), 1)]
    return max(utc - min(fronts), 0.0) if fronts else None


def in_parts(numbers: Iterable[int], queues: dict[int, Queue], size: int) -> Iterator[list[Queue]]:
    """The queues of these numbers that still exist, at most `size` numbers at a time."""
    rest = iter(numbers)
    while part := list(islice(rest, size)):
        yield [queues[number] for number in part if number in queues]


def redirection_info(redirection: Redirection) -> RedirectionInfo:
    """A redirection as a record."""
    return RedirectionInfo(
        kind=str(redirection.kind), url=redirection.source, to=redirection.target
    )
