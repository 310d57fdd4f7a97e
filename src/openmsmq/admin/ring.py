"""Values at equal steps of time, the newest so many, in columns of 4-byte numbers."""

from array import array
from collections.abc import Sequence
from math import nan
from typing import Final, NamedTuple

BYTES_OF_VALUE: Final = 4


class Series(NamedTuple):
    """Values of all columns; NaN where nothing is known.

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
    are unknown, and time may go on from an earlier moment.

    Args:
        rates: which columns are rates.
    """

    __slots__ = ("_added", "_interrupted", "_rates", "_slot", "_values", "size", "step")

    def __init__(self, step: int, size: int, rates: Sequence[bool]) -> None:
        self.step = step
        self.size = size
        self._rates = rates
        self._values = array("f", [nan]) * (size * len(rates))
        # The newest step that has a value, and how many were added in it.
        self._slot = -1
        self._added = 0
        self._interrupted = False

    @property
    def memory(self) -> int:
        return len(self._values) * BYTES_OF_VALUE

    def add(self, utc: float, values: Sequence[float]) -> None:
        """Add the values of a moment, one for each column.

        An older moment is ignored; after `interrupt` it takes the place of what was later.
        """
        slot = int(utc // self.step)
        if slot < self._slot:
            if not self._interrupted:
                return
            self._go_back(slot)
        if slot > self._slot:
            self._advance(slot)
            self._added = 0
        width = len(self._rates)
        at = slot % self.size * width
        for column, value in enumerate(values):
            if self._added and self._rates[column]:
                before = self._values[at + column]
                value = before + (value - before) / (self._added + 1)
            self._values[at + column] = value
        self._added += 1

    def _go_back(self, slot: int) -> None:
        """Forget the steps from this one on."""
        width, size = len(self._rates), self.size
        for later in range(max(slot, self._slot - size + 1), self._slot + 1):
            at = later % size * width
            self._values[at : at + width] = array("f", [nan] * width)
        self._slot = slot - 1

    def _advance(self, slot: int) -> None:
        """Fill the steps between the last one and this."""
        width, size = len(self._rates), self.size
        filling = self._held()
        for between in range(max(self._slot + 1, slot - size), slot):
            at = between % size * width
            self._values[at : at + width] = array("f", filling)
        self._slot = slot
        self._interrupted = False

    def interrupt(self) -> None:
        """Nothing is known from now on until the next value."""
        self._interrupted = True

    def series(self, utc: float) -> Series:
        """All values up to now."""
        width, size = len(self._rates), self.size
        newest = max(int(utc // self.step), self._slot)
        since = min(newest - self._slot, size)
        first = newest - size + 1
        at = first % size
        columns: list[list[float]] = []
        for column, held in enumerate(self._held()):
            values = self._values[column::width]
            columns.append((values[at:] + values[:at])[: size - since].tolist() + [held] * since)
        return Series(first * self.step, self.step, columns)

    def newest(self, utc: float) -> list[float]:
        """The values of all columns now; NaN where nothing is known."""
        width = len(self._rates)
        if int(utc // self.step) > self._slot:
            return self._held()
        at = self._slot % self.size * width
        return self._values[at : at + width].tolist()

    def _held(self) -> list[float]:
        """The values of steps after the last one that has some."""
        width = len(self._rates)
        if self._slot < 0 or self._interrupted:
            return [nan] * width
        last = self._slot % self.size * width
        return [
            0.0 if is_rate else self._values[last + column]
            for column, is_rate in enumerate(self._rates)
        ]

    # Over a restart

    def dump(self) -> tuple[int, bytes]:
        return self._slot, self._values.tobytes()

    def restore(self, slot: int, values: bytes) -> bool:
        """Take what `dump` of a ring of the same form returned; False if it was of another."""
        if len(values) != self.memory or slot < -1:
            return False
        self._values = array("f", values)
        self._slot = slot
        self._interrupted = True
        return True
