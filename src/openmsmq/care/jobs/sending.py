"""Sending messages again: their packets, and the expected refusals of the destination."""

from typing import NamedTuple

from openmsmq.client import Producer, QueueManager
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import INFINITE

from .spec import Limits

EXPIRED = "its time is over: send it again with new time limits, or without"


class Prepared(NamedTuple):
    """The packets of a batch by index, and why others cannot be sent."""

    packets: dict[int, bytes]
    refused: dict[int, str]


class Room(NamedTuple):
    """Bytes assumed to be sent by earlier batches: to the destination, and in total."""

    queue: int = 0
    manager: int = 0


def prepare(
    manager: QueueManager,
    destination: str,
    packets: dict[int, bytes],
    *,
    transactional: bool,
    limits: Limits,
    now: float,
) -> Prepared:
    """Create packets to send again.

    Raises:
        QueueError: the destination cannot be opened.
        ConnectionLost: the connection to the queue manager was lost.
    """
    with manager.open_queue(destination, "send") as queue:
        own = queue.is_transactional()
        # The kind of a queue on another machine is unknown: then that of the message counts.
        builder = queue.packet_builder(transactional=transactional if own is None else own)
    ready: dict[int, bytes] = {}
    refused: dict[int, str] = {}
    for place, packet in packets.items():
        try:
            ready[place] = _again(builder, packet, limits, now)
        except (MsmqError, ValueError) as exc:
            refused[place] = str(exc)
    return Prepared(ready, refused)


def _again(builder: PacketBuilder, packet: bytes, limits: Limits, now: float) -> bytes:
    if limits is Limits.RESTART:
        return builder.again(packet, message_class=0)
    reach = receive = INFINITE
    if limits is Limits.KEEP:
        message = UserMessage(packet)
        passed = int(now - message.sent_time)
        reach = _left(message.time_to_reach_queue, passed)
        receive = _left(message.time_to_be_received, passed)
    return builder.again(
        packet, message_class=0, time_to_reach_queue=reach, time_to_be_received=receive
    )


def _left(limit: int, passed: int) -> int:
    """The rest of a time limit.

    Raises:
        ValueError: it is over.
    """
    if limit == INFINITE:
        return INFINITE
    if limit <= passed:
        raise ValueError(EXPIRED)
    return limit - max(passed, 0)


def check(
    producer: Producer, destination: str, prepared: Prepared, room: Room
) -> tuple[Prepared, int]:
    """Leave out packets that the destination would refuse; also return the bytes of the others."""
    places = list(prepared.packets)
    if not places:
        return prepared, 0
    checked = producer.check(
        destination,
        list(prepared.packets.values()),
        queue_bytes=room.queue,
        manager_bytes=room.manager,
    )
    refused = dict(prepared.refused)
    packets = dict(prepared.packets)
    for index, error in checked.refused.items():
        refused[places[index]] = str(error)
        del packets[places[index]]
    return Prepared(packets, refused), checked.bytes


def refuse_all(places: "list[int]", error: QueueError) -> Prepared:
    """No message of a batch can be sent."""
    return Prepared({}, dict.fromkeys(places, str(error)))
