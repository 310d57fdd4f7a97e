"""Ways to get retry policies wrong, each put in on purpose: the simulation must notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from openmsmq.core.messages import poison, positions
from openmsmq.core.rows.packets import packet_of
from openmsmq.wire.errors import StoreError

from .run import Simulation

SEEDS: Final = 40
Patch = pytest.MonkeyPatch


def lose_what_has_failed(patch: Patch) -> None:
    def end_cycle(_state: Any, message: Any) -> None:
        message.queue.forget_locked(message)

    patch.setattr(poison, "_end_cycle", end_cycle)


def never_bring_it_back(patch: Patch) -> None:
    patch.setattr(positions, "schedule", lambda _state, _message: None)


def leave_it_with_readers_as_well(patch: Patch) -> None:
    def end_cycle(state: Any, message: Any) -> None:
        queue = message.queue
        copy = positions.duplicate
        copy(state, message, packet_of(state, message), queue)
        original(state, message)

    original = poison._end_cycle
    patch.setattr(poison, "_end_cycle", end_cycle)


def hold_it_for_ever(patch: Patch) -> None:
    def give_back(_state: Any, _queue: Any, _messages: Any) -> None:
        return

    patch.setattr(poison, "give_back", give_back)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "mutation",
    [
        lose_what_has_failed,
        never_bring_it_back,
        leave_it_with_readers_as_well,
        hold_it_for_ever,
    ],
)
def test_the_simulation_notices(
    mutation: Callable[[Patch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    for seed in range(SEEDS):
        try:
            Simulation(seed, policies=True).run()
        except (AssertionError, StoreError, KeyError) as exc:
            print(f"seed {seed}: {exc}")
            return
    pytest.fail(f"{mutation.__name__} went unnoticed in {SEEDS} seeds")
