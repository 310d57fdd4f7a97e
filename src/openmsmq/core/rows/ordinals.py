"""Numbers that never repeat, also after a crash: reserved in durable blocks ahead of their use."""

from struct import Struct
from typing import Final

from openmsmq.core.outbox import Outbox

from .tables import Table

_VALUE: Final = Struct("<Q")


class Reservation:
    """A counter whose upper bound is on disk before the numbers below it are used.

    The next block is asked for when half of the last one is used, so that in practice no send waits
    for it. Whoever gets a number of a block that is not durable yet must wait for `depends`.
    """

    __slots__ = ("_block", "_durable", "_key", "_pending", "_reserved", "last")

    def __init__(self, key: bytes, block: int, stored: bytes | None) -> None:
        self._key = key
        self._block = block
        # After a start every number up to the stored bound counts as used.
        self.last: int = _VALUE.unpack(stored)[0] if stored is not None else 0
        self._reserved = self._durable = self.last
        # (batch, bound) of reservations on their way to the disk.
        self._pending: list[tuple[int, int]] = []

    def take(self, count: int, outbox: Outbox) -> int:
        """Use `count` numbers; return the one before the first of them."""
        before = self.last
        self.last = last = before + count
        if last + self._block // 2 > self._reserved:
            self._reserved = last + self._block
            outbox.batch.set_row(Table.MANAGER, self._key, _VALUE.pack(self._reserved))
            self._pending.append((outbox.number, self._reserved))
        return before

    def skip(self, count: int) -> None:
        """Leave out numbers, so that a restored copy does not repeat those of the original."""
        self.last += count

    def depends(self) -> int:
        """The batch that must be durable before the numbers taken so far may be seen."""
        if self.last <= self._durable:
            return 0
        return next(number for number, bound in self._pending if self.last <= bound)

    def durable(self, number: int) -> None:
        """All batches up to this number are on disk."""
        while self._pending and self._pending[0][0] <= number:
            self._durable = self._pending.pop(0)[1]
