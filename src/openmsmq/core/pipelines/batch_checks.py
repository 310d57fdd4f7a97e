"""Checks of a batch before it is staged: those of a send, without changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from openmsmq.core.messages.sending import (
    check_destination,
    check_packets,
    check_senders,
    growth_of,
)
from openmsmq.core.model.open_queue import MAY_SEND, OpenQueueDescriptor
from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.acceptance import EnqueueStatus, check_growth, no_room
from openmsmq.core.state import State
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE


class RefusedPacket(NamedTuple):
    """A refused packet of a batch by its index, and why it is refused."""

    place: int
    error: QueueError


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The refused packets, and the bytes that the others occupy in the queue."""

    refused: list[RefusedPacket]
    size: int


class Room(NamedTuple):
    """The bytes assumed before the packets: in the queue, and in the queue manager."""

    queue: int
    manager: int


def check_batch(
    state: State,
    descriptor: OpenQueueDescriptor,
    packets: Sequence[bytes],
    before: Room,
) -> Checked:
    """Find the packets that a queue would refuse if they were published in their order.

    Raises:
        QueueError: a packet is no message, or names another sender: then all are refused.
    """
    queue = descriptor.require(MAY_SEND)
    runs = check_packets(packets)
    check_senders(runs, descriptor.caller)
    refused: list[RefusedPacket] = []
    index = size = 0
    for run in runs:
        fault = _destination_fault(state, queue, run)
        growth = growth_of(run, descriptor)
        for packet in run.packets:
            error = fault or _size_fault(state, queue, len(packet) + growth, before, size)
            if error is None:
                size += len(packet) + growth
            else:
                refused.append(RefusedPacket(index, error))
            index += 1
    return Checked(refused=refused, size=size)


def _destination_fault(state: State, queue: Queue, run: UserMessageRun) -> QueueError | None:
    transactional = queue.properties.transactional
    if queue.outgoing is not None:
        transactional = run.head.transactional
    try:
        check_destination(state, queue, [run], transactional=transactional)
    except QueueError as exc:
        return exc
    return None


def _size_fault(
    state: State, queue: Queue, size: int, before: Room, accepted: int
) -> QueueError | None:
    if size > MAX_PACKET_SIZE:
        return QueueError(
            Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
            f"a message of {size} bytes is larger than {MAX_PACKET_SIZE}",
        )
    growth = accepted + size
    status = check_growth(state, queue, before.queue + growth, before.manager + growth)
    return None if status is EnqueueStatus.OK else no_room(state, queue, size, status)
