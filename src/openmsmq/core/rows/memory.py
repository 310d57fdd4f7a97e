"""The choice of packets that stay in memory: those that are read next.

When memory exceeds its budget, packets leave it in one pass until a part of the budget is free
again, so that messages in transit find room. The deepest queue is trimmed first, from its end,
which is read last. Packets in the store are dropped, express ones go to the scratch file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import RECOVERABLE, Message
from openmsmq.wire.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from openmsmq.core.model.lanes import Lane
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

# The part of the budget freed at a time, bounded because the event loop waits for it.
_FREED_PART: Final = 8
_MAX_FREED: Final = 8 << 20


def is_short(state: State) -> bool:
    """Whether packets should leave memory."""
    return state.memory > state.settings.memory_budget + state.memory_overdraft


def relieve(state: State, staged: Iterable[Sequence[Message]]) -> None:
    """Let packets leave memory until it is below the budget.

    Args:
        staged: messages that are in no queue yet.
    """
    budget = state.settings.memory_budget
    freed = min(budget // _FREED_PART, _MAX_FREED)
    relief = _Relief(state, budget - freed)
    queues = sorted(state.queues.values(), key=_depth, reverse=True)
    for queue in queues:
        if relief.done:
            break
        for lane in reversed(queue.lanes.lanes):
            if lane is not None:
                relief.empty_lane(lane)
    # Few messages are outside the lanes, but a reader or a producer may keep many there.
    for queue in queues:
        if relief.done:
            break
        for aside in (queue.delayed, queue.pending, queue.locked):
            relief.empty(list(aside.values()))
    for messages in staged:
        relief.empty(messages)
    # Packets that cannot leave are retried when there are notably more. Those not durable yet do
    # not count: they can leave soon.
    stuck = state.memory - relief.undurable
    allowed = stuck + max(freed, stuck // _FREED_PART)
    state.memory_overdraft = 0 if relief.done else max(0, allowed - budget)


def _depth(queue: Queue) -> int:
    return queue.total_bytes


class _Relief:
    """Packets leave memory until no more than `low` bytes are in it."""

    __slots__ = ("_durable_number", "_low", "_scratch", "_state", "undurable")

    def __init__(self, state: State, low: int) -> None:
        self._state = state
        self._low = low
        self._durable_number = state.outbox.durable_number
        self._scratch = state.scratch
        # Bytes of the messages that could not leave because their batch is not durable yet.
        self.undurable = 0

    @property
    def done(self) -> bool:
        return self._state.memory <= self._low

    def empty_lane(self, lane: Lane) -> None:
        """Release the packets of a lane, the last first."""
        cold = lane.cold
        if len(cold) > len(lane.lasts):
            cold.intersection_update(lane.lasts)
        for at in range(len(lane.blocks) - 1, -1, -1):
            if self.done:
                break
            last = lane.lasts[at]
            if last not in cold and self.empty(lane.blocks[at]):
                cold.add(last)

    def empty(self, messages: Sequence[Message]) -> bool:
        """Release packets, the last first; return whether all of them have left."""
        state = self._state
        excess = state.memory - self._low
        express: list[Message] = []
        packets: list[bytes] = []
        left = True
        for message in reversed(messages):
            packet = message.packet
            if packet is None:
                continue
            if excess <= 0:
                left = False
                break
            if not message.traits & RECOVERABLE:
                express.append(message)
                packets.append(packet)
            elif 0 < message.stored <= self._durable_number:
                message.packet = None
                state.memory -= message.size
            else:
                # A message of a transaction that is not prepared is in no batch.
                if message.stored:
                    self.undurable += message.size
                left = False
                continue
            excess -= message.size
        if express and not self._spill(express, packets):
            left = False
        return left

    def _spill(self, express: list[Message], packets: list[bytes]) -> bool:
        """Move express packets to the scratch file, if there is one."""
        if self._scratch is None:
            return False
        try:
            handles = self._scratch.put_many(packets)
        except StoreError:
            # No space there: packets stay in memory, until the quota or the disk refuses new ones.
            self._scratch = None
            return False
        state = self._state
        for message, handle in zip(express, handles, strict=True):
            state.scratch_handles[message.key] = handle
            message.packet = None
            state.memory -= message.size
        return True
