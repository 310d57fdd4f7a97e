"""Values at equal steps of time, in a few bytes each."""

from array import array
from collections.abc import Sequence
from functools import cache
from math import nan
from struct import Struct
from typing import Final, NamedTuple

# Rates are stored as numbers of half precision in this unit: exact to 0.05 %, from 0.001 to a
# million per second.
RATE_UNIT: Final = 16.0
LARGEST_RATE: Final = 65_504 * RATE_UNIT


class Series(NamedTuple):
    """Values of all columns; NaN where unknown.

    Attributes:
        start: the time of the first value, in seconds since 1970.
        step: seconds between two values.
        columns: one list of values for each column.
    """

    start: int
    step: int
    columns: list[list[float]]


class Ring:
    """The last `size` steps.

    A value of a step is the last one that was added in it, and for rates the mean. Steps without a
    value repeat the last one, with a rate of 0: nothing changed. After `interrupt` they
    are unknown, and time may continue from an earlier moment.

    Args:
        rates: which columns are rates.
    """

    __slots__ = ("_added", "_interrupted", "_newest", "_rates", "_slot", "_steps", "size", "step")

    def __init__(self, step: int, size: int, rates: tuple[bool, ...]) -> None:
        self.step = step
        self.size = size
        self._rates = rates
        self._steps = bytearray(_packed([nan] * len(rates), rates) * size)
        # The newest step with a value, the number of values in it, and the values, which are
        # packed only with the next step, since a mean is of many.
        self._slot = -1
        self._added = 0
        self._newest = array("f", [nan] * len(rates))
        self._interrupted = False

    @property
    def memory(self) -> int:
        return len(self._steps)

    def add(self, utc: float, values: Sequence[float]) -> None:
        """Add the values of a moment, one for each column.

        An older moment is ignored; after `interrupt` it replaces later ones.
        """
        slot = int(utc // self.step)
        if slot < self._slot:
            if not self._interrupted:
                return
            self._go_back(slot)
        if slot > self._slot:
            self._advance(slot)
            self._added = 0
        for column, value in enumerate(values):
            if self._added and self._rates[column]:
                before = self._newest[column]
                value = before + (value - before) / (self._added + 1)
            self._newest[column] = value
        self._added += 1

    def _put(self, slot: int, packed: bytes) -> None:
        at = slot % self.size * len(packed)
        self._steps[at : at + len(packed)] = packed

    def _put_newest(self) -> None:
        if self._slot >= 0:
            self._put(self._slot, _packed(self._newest, self._rates))

    def _go_back(self, slot: int) -> None:
        """Delete the steps from this one on."""
        unknown = _packed([nan] * len(self._rates), self._rates)
        for later in range(max(slot, self._slot - self.size + 1), self._slot + 1):
            self._put(later, unknown)
        self._slot = slot - 1
        row = _row(self._rates)
        before = row.unpack_from(self._steps, self._slot % self.size * row.size)
        self._newest = array("f", _unpacked(before, self._rates))

    def _advance(self, slot: int) -> None:
        """Fill the steps between the last one and this."""
        self._put_newest()
        filling = _packed(self._held(), self._rates)
        for between in range(max(self._slot + 1, slot - self.size), slot):
            self._put(between, filling)
        self._slot = slot
        self._interrupted = False

    def interrupt(self) -> None:
        """Mark values as unknown until the next one."""
        self._interrupted = True

    def series(self, utc: float) -> Series:
        """All values up to now."""
        size = self.size
        newest = max(int(utc // self.step), self._slot)
        since = min(newest - self._slot, size)
        first = newest - size + 1
        self._put_newest()
        steps = list(_row(self._rates).iter_unpack(self._steps))
        at = first % size
        columns = zip(*((steps[at:] + steps[:at])[: size - since]), strict=True)
        known = [list(column) for column in columns] or [[] for _ in self._rates]
        for values, is_rate, held in zip(known, self._rates, self._held(), strict=True):
            if is_rate:
                values[:] = [value * RATE_UNIT for value in values]
            values.extend([held] * since)
        return Series(first * self.step, self.step, known)

    def newest(self, utc: float) -> list[float]:
        """The current values of all columns; NaN where unknown."""
        return self._held() if int(utc // self.step) > self._slot else self._newest.tolist()

    def _held(self) -> list[float]:
        """The values of steps after the last known one."""
        if self._slot < 0 or self._interrupted:
            return [nan] * len(self._rates)
        return [
            0.0 if is_rate else value
            for value, is_rate in zip(self._newest, self._rates, strict=True)
        ]

    # Persistence

    def dump(self) -> tuple[int, bytes]:
        self._put_newest()
        return self._slot, bytes(self._steps)

    def restore(self, slot: int, steps: bytes) -> bool:
        """Restore the result of `dump` of a ring of the same form; False if it has another form."""
        if len(steps) != self.memory or slot < -1:
            return False
        self._steps = bytearray(steps)
        self._slot = slot
        row = _row(self._rates)
        last = row.unpack_from(self._steps, slot % self.size * row.size)
        self._newest = array("f", _unpacked(last, self._rates))
        self._interrupted = True
        return True


@cache
def _row(rates: tuple[bool, ...]) -> Struct:
    """A step: 4 bytes for a value, 2 for a rate."""
    return Struct("<" + "".join("e" if is_rate else "f" for is_rate in rates))


def _packed(values: Sequence[float], rates: tuple[bool, ...]) -> bytes:
    return _row(rates).pack(
        *(
            min(value, LARGEST_RATE) / RATE_UNIT if is_rate else value
            for value, is_rate in zip(values, rates, strict=True)
        )
    )


def _unpacked(step: Sequence[float], rates: tuple[bool, ...]) -> list[float]:
    return [
        value * RATE_UNIT if is_rate else value for value, is_rate in zip(step, rates, strict=True)
    ]
