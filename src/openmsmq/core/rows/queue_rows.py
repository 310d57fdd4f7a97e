"""Queues as state rows: their attributes in the store."""

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from struct import Struct
from typing import Any, Final
from uuid import UUID

from openmsmq.core.model.outgoing_queue import HELD_REASONS, NOT_CONNECTED, OutgoingQueue
from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.model.retry_policy import NO_POLICY, ReceiveErrorHandling, RetryPolicy
from openmsmq.core.state import State
from openmsmq.core.transfer.transports import transport_of
from openmsmq.directory.objects import QueueObject
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel, QueueState
from openmsmq.wire.names.format_name import parse_format_name

from .tables import Table

_NUMBER: Final = Struct(">I")
# The key of a queue with this number.
queue_key: Final[Callable[[int], bytes]] = _NUMBER.pack
_GUIDS: Final = frozenset(("identifier", "queue_manager", "type"))
# The states of an outgoing queue that survive a restart. Choice: State is volatile by
# [MS-MQDMPR] 3.1.1.3, but a paused queue must not send because of a restart, and
# the start of 3.1.3 unlocks queues that were Locked before.
KEPT_STATES: Final = frozenset(HELD_REASONS)
# The queue manager that takes the messages of an outgoing queue; the name of the field is from the
# first version, in which it was always the peer of a session.
_DESTINATION: Final = "peer"


def queue_number(key: bytes) -> int:
    number: int = _NUMBER.unpack(key)[0]
    return number


def store_queue(state: State, queue: Queue) -> None:
    """Store the attributes of a queue."""
    state.outbox.batch.set_row(Table.QUEUES, queue_key(queue.number), _serialize(queue))


def forget_queue(state: State, queue: Queue) -> None:
    """Delete the queue's row."""
    state.outbox.batch.delete_row(Table.QUEUES, queue_key(queue.number))


def _serialize(queue: Queue) -> bytes:
    row: dict[str, Any] = {
        "path": queue.path,
        "role": queue.role.value,
        "queue_type": queue.queue_type.value,
        "properties": _plain(queue.properties),
    }
    if queue.deleted:
        # A deleted queue needs no other attributes, and no parent.
        row["deleted"] = True
    elif queue.parent is not None:
        row["parent"] = queue.parent.number
    if queue.policy != NO_POLICY:
        row["policy"] = asdict(queue.policy)
    outgoing = queue.outgoing
    if outgoing is not None:
        row["destination_format_name"] = outgoing.destination_format_name
        if outgoing.state in KEPT_STATES:
            row["state"] = outgoing.state.value
        if outgoing.destination is not None:
            row[_DESTINATION] = str(outgoing.destination)
    return json.dumps(row, separators=(",", ":")).encode()


def _plain(properties: QueueObject) -> dict[str, Any]:
    """The attributes as JSON; those with default values are left out."""
    default = QueueObject()
    plain: dict[str, Any] = {}
    for item in fields(properties):
        value = getattr(properties, item.name)
        if value == getattr(default, item.name):
            continue
        if isinstance(value, UUID):
            value = str(value)
        elif isinstance(value, bytes):
            value = value.hex()
        plain[item.name] = value
    return plain


def parse_queue(number: int, value: bytes, queues: dict[int, Queue]) -> Queue:
    """A queue from its row; the queue that it belongs to must be known already."""
    row = json.loads(value)
    plain = row["properties"]
    for name in _GUIDS & plain.keys():
        plain[name] = UUID(plain[name])
    if "security" in plain:
        plain["security"] = bytes.fromhex(plain["security"])
    if "privacy_level" in plain:
        plain["privacy_level"] = QueuePrivacyLevel(plain["privacy_level"])
    parent = queues[row["parent"]] if "parent" in row else None
    queue = Queue(
        number,
        row["path"],
        QueueRole(row["role"]),
        QueueType(row["queue_type"]),
        QueueObject(**plain),
        parent,
    )
    queue.deleted = "deleted" in row
    if "policy" in row:
        queue.policy = _parse_policy(row["policy"])
    if "destination_format_name" in row:
        state = QueueState(row.get("state", QueueState.INACTIVE.value))
        queue.outgoing = OutgoingQueue(
            row["destination_format_name"],
            transport_of(parse_format_name(row["destination_format_name"])),
            state,
            HELD_REASONS.get(state, NOT_CONNECTED),
            destination=UUID(row[_DESTINATION]) if _DESTINATION in row else None,
        )
    return queue


def _parse_policy(row: dict[str, Any]) -> RetryPolicy:
    handling = ReceiveErrorHandling(row.pop("receive_error_handling"))
    return RetryPolicy(**row, receive_error_handling=handling)
