"""Events of messages, recorded for the history; the process writes them to disk.

Messages that arrive or leave together are one record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.wire.history_record import Happening, pack_name, pack_record
from openmsmq.wire.scalars import GUID_SIZE

from .rows.packets import packet_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model.message import Message
    from .model.queue import Queue
    from .state import State

NOBODY: Final = bytes(GUID_SIZE)
# Names that are remembered; a queue manager with more names records some of them again.
MAX_NAMES: Final = 20_000
_ARRIVED: Final = int(Happening.ARRIVED)
# SourceQueueManager and MessageID in every packet.
_SOURCE: Final = 16
_SOURCE_END: Final = _SOURCE + GUID_SIZE
_MESSAGE_ID: Final = 56


class TraceLog:
    """Collects records until the process takes them.

    Args:
        enabled: whether events are recorded.
    """

    __slots__ = ("_buffer", "_names", "enabled", "utc")

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.utc = 0.0
        self._buffer: list[bytes] = []
        self._names: dict[str, int] = {}

    def note(
        self,
        kind: int,
        place: str,
        key: int,
        count: int,
        reason: int = 0,
        ordinal: int = 0,
        source: bytes = NOBODY,
    ) -> None:
        """Record an event of messages with consecutive keys."""
        number = self._names.get(place)
        if number is None:
            number = self._name(place)
        self._buffer.append(
            pack_record(kind, reason, number, self.utc, key, count, ordinal, source)
        )

    def _name(self, place: str) -> int:
        if len(self._names) >= MAX_NAMES:
            self._names.clear()
        number = len(self._names) + 1
        self._names[place] = number
        self._buffer.append(pack_name(number, place))
        return number

    def __len__(self) -> int:
        """The number of waiting records."""
        return len(self._buffer)

    def take(self) -> bytes:
        """The records since the last call."""
        data = b"".join(self._buffer)
        self._buffer.clear()
        return data

    def forget_names(self) -> None:
        """Record names again: a new file begins."""
        self._names.clear()


def note_messages(
    state: State, kind: int, queue: Queue, messages: Sequence[Message], reason: int = 0
) -> None:
    """Record an event of messages in a queue, or on their way into it."""
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
    # Keys are unique, so that these are all keys between the two, in any order.
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
    """Record the arrival of messages in a queue, with their identifiers.

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
