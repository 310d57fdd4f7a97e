"""Transactional streams of other queue managers: how many there may be, and until when.

A stream is a row that makes exactly-once possible, and whoever connects can make up senders and
names: one address, and all together, have a limit. A row is forgotten when nothing needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .tables import Table
from .transfer_info import NEVER_LATE

if TYPE_CHECKING:
    from .queue import Queue
    from .state import State
    from .transfer_info import IncomingTransactionalTransferInfo

# Why there is no room for one more.
TOO_MANY: Final = "too many transactional streams"
TOO_MANY_OF_ADDRESS: Final = "too many transactional streams from one address"
# How much the clock may be put back without harm.
_CLOCK_SECONDS: Final = 86_400


class StreamCount:
    """How many streams there are, in all and by the address that they first came from."""

    __slots__ = ("_by_address", "total")

    def __init__(self) -> None:
        self.total = 0
        self._by_address: dict[str, int] = {}

    def of(self, address: str) -> int:
        return self._by_address.get(address, 0)

    def add(self, address: str) -> None:
        self.total += 1
        self._by_address[address] = self.of(address) + 1

    def remove(self, address: str) -> None:
        self.total -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


def add_stream(state: State, queue: Queue, stream: IncomingTransactionalTransferInfo) -> str | None:
    """A new stream begins; if there is no room for it, return why and do nothing."""
    count = state.stream_count
    if count.of(stream.address) >= state.settings.max_streams_per_address:
        return TOO_MANY_OF_ADDRESS
    if count.total >= state.settings.max_streams:
        return TOO_MANY
    queue.incoming[stream.key] = stream
    count.add(stream.address)
    return None


def store_stream(state: State, stream: IncomingTransactionalTransferInfo) -> None:
    """Write down how far a stream got."""
    state.outbox.batch.set_row(Table.STREAMS, stream.key, stream.serialize())


def forget_stream(state: State, queue: Queue, stream: IncomingTransactionalTransferInfo) -> None:
    """Nobody will go on with a stream, or it never began."""
    key = stream.key
    del queue.incoming[key]
    state.stream_count.remove(stream.address)
    state.outbox.batch.delete_row(Table.STREAMS, key)


def forget_old_streams(state: State) -> None:
    """Forget the streams that nobody has used for long and that protect nothing any more.

    Once the time of all its messages to reach the queue is over, a copy of one would be refused
    for being late. Choice: [MS-MQQB] has no end for these rows.
    """
    unused = state.utc - state.settings.stream_seconds
    late = state.utc - _CLOCK_SECONDS
    for queue in state.queues.values():
        for stream in list(queue.incoming.values()):
            if stream.last_access_time < unused and stream.late_after < min(late, NEVER_LATE):
                forget_stream(state, queue, stream)
