"""Notes for the history: one record for messages that arrive or leave together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.rows.packets import packet_of
from openmsmq.wire.history_record import Happening
from openmsmq.wire.scalars import GUID_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

_ARRIVED: Final = int(Happening.ARRIVED)
# SourceQueueManager and MessageID in every packet.
_SOURCE: Final = 16
_SOURCE_END: Final = _SOURCE + GUID_SIZE
_MESSAGE_ID: Final = 56


def note_messages(
    state: State, kind: int, queue: Queue, messages: Sequence[Message], reason: int = 0
) -> None:
    """Note what happened to messages in a queue, or on their way into it."""
    trace = state.trace
    if not trace.enabled or not messages:
        return
    lowest = highest = messages[0].key
    for message in messages:
        key = message.key
        if key < lowest:
            lowest = key
        elif key > highest:
            highest = key
    # Keys are unique, so that these are all between the two, in whatever order.
    if highest - lowest == len(messages) - 1:
        trace.note(kind, queue.path, lowest, len(messages), reason)
        return
    keys = [message.key for message in messages]
    start = 0
    for at in range(1, len(keys) + 1):
        if at == len(keys) or keys[at] != keys[at - 1] + 1:
            trace.note(kind, queue.path, keys[start], at - start, reason)
            start = at


def note_arrivals(state: State, queue: Queue, messages: Sequence[Message]) -> None:
    """Note that messages arrived in a queue, and which identifiers they have.

    Messages with consecutive keys and identifiers are one record.
    """
    trace = state.trace
    if not trace.enabled:
        return
    first_key = first_ordinal = count = 0
    source = b""
    for message in messages:
        packet = message.packet
        if packet is None:
            packet = packet_of(state, message)
        ordinal = (
            packet[_MESSAGE_ID]
            | packet[_MESSAGE_ID + 1] << 8
            | packet[_MESSAGE_ID + 2] << 16
            | packet[_MESSAGE_ID + 3] << 24
        )
        if (
            count
            and message.key == first_key + count
            and ordinal == first_ordinal + count
            and packet[_SOURCE:_SOURCE_END] == source
        ):
            count += 1
            continue
        if count:
            trace.note(_ARRIVED, queue.path, first_key, count, 0, first_ordinal, source)
        first_key, first_ordinal, count = message.key, ordinal, 1
        source = packet[_SOURCE:_SOURCE_END]
    if count:
        trace.note(_ARRIVED, queue.path, first_key, count, 0, first_ordinal, source)
