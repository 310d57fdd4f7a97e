"""Notes for the history: one record for messages that arrive or leave together."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from openmsmq.core.rows.packets import packet_of
from openmsmq.wire.history_record import Happening
from openmsmq.wire.scalars import GUID_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

_ARRIVED: Final = int(Happening.ARRIVED)
# SourceQueueManager and MessageID in every packet.
_SOURCE: Final = 16
_ordinal: Final[Callable[[bytes, int], tuple[int]]] = Struct("<I").unpack_from
_ORDINAL_OFFSET: Final = 56


def note_messages(
    state: State, kind: int, queue: Queue, messages: Sequence[Message], reason: int = 0
) -> None:
    """Note what happened to messages in a queue, or on their way into it."""
    trace = state.trace
    if not trace.enabled or not messages:
        return
    keys = [message.key for message in messages]
    for first, count in _runs(keys):
        trace.note(kind, queue.path, keys[first], count, reason)


def note_arrivals(state: State, queue: Queue, messages: Sequence[Message]) -> None:
    """Note that messages arrived in a queue, and which identifiers they have."""
    trace = state.trace
    if not trace.enabled or not messages:
        return
    keys = [message.key for message in messages]
    packets = [
        packet_of(state, message) if message.packet is None else message.packet
        for message in messages
    ]
    ordinals = [_ordinal(packet, _ORDINAL_OFFSET)[0] for packet in packets]
    sources = [packet[_SOURCE : _SOURCE + GUID_SIZE] for packet in packets]
    start = 0
    for at in range(1, len(keys) + 1):
        if (
            at < len(keys)
            and keys[at] == keys[at - 1] + 1
            and ordinals[at] == ordinals[at - 1] + 1
            and sources[at] == sources[at - 1]
        ):
            continue
        trace.note(
            _ARRIVED, queue.path, keys[start], at - start, 0, ordinals[start], sources[start]
        )
        start = at


def _runs(keys: list[int]) -> list[tuple[int, int]]:
    """Place and length of the runs of consecutive keys; mostly there is one."""
    count = len(keys)
    if keys == list(range(keys[0], keys[0] + count)):
        return [(0, count)]
    runs: list[tuple[int, int]] = []
    start = 0
    for at in range(1, count + 1):
        if at == count or keys[at] != keys[at - 1] + 1:
            runs.append((start, at - start))
            start = at
    return runs
