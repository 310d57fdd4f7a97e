"""The gate: what may not be said before a batch is on disk waits here."""

from collections.abc import Callable
from typing import Any

Effect = Callable[[Any], None]


class Gate:
    """Effects that wait for batches, released in the order of the batches.

    Effects of the same batch are released in the order in which they came.
    """

    __slots__ = ("_held", "durable_number")

    def __init__(self) -> None:
        # Every batch up to this number is on disk.
        self.durable_number = 0
        self._held: dict[int, list[tuple[Effect, Any]]] = {}

    @property
    def holds(self) -> bool:
        """Whether something waits."""
        return bool(self._held)

    def when_durable(self, depends: int, effect: Effect, argument: object) -> None:
        """Call `effect(argument)` once batch `depends` is on disk; at once if it is already."""
        if depends <= self.durable_number:
            effect(argument)
        else:
            self._held.setdefault(depends, []).append((effect, argument))

    def open(self, number: int) -> None:
        """All batches up to this number are on disk: release what waited for them."""
        assert number > self.durable_number, "batches become durable in order"  # noqa: S101
        self.durable_number = number
        held = self._held
        for depends in sorted([depends for depends in held if depends <= number]):
            for effect, argument in held.pop(depends):
                effect(argument)
