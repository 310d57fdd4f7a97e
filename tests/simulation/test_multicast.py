"""Multicast survives every storm, and each of these mutations is noticed in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.simulation.ledger import Violation
from tests.simulation.multicast_storm import MulticastStorm
from tests.simulation.run import Simulation

from openmsmq.protocol.pgm.apdu_assembly import ApduAssembly
from openmsmq.protocol.pgm.repairs import Repairs
from openmsmq.protocol.pgm.source import Source

SEEDS = 30
# How many storms a mutation may survive.
TRIALS = 10
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("seed", range(SEEDS))
def test_messages_arrive_once_and_in_order(seed: int) -> None:
    MulticastStorm(seed).run()


def forget_the_state_of_naks(patch: Patch) -> None:
    patch.setattr(Repairs, "add", lambda *_, **__: None)


def take_a_fragment_twice(patch: Patch) -> None:
    def add(self: ApduAssembly, packet: Any) -> bytes | None:
        apdu = original(self, packet)
        if self._parts:
            self._parts.append(packet.data)
        return apdu

    original = ApduAssembly.add
    patch.setattr(ApduAssembly, "add", add)


def answer_no_nak(patch: Patch) -> None:
    patch.setattr(Source, "_receive_nak", lambda *_: None)


MUTATIONS = [forget_the_state_of_naks, take_a_fragment_twice, answer_no_nak]


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_a_mutation_is_noticed(mutate: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        _run_storms()


def _run_storms() -> None:
    for seed in range(TRIALS):
        MulticastStorm(seed).run()


def test_the_main_simulation_notices_a_source_that_repairs_nothing(monkeypatch: Patch) -> None:
    answer_no_nak(monkeypatch)
    with pytest.raises(Violation, match="multicast"):
        _run_simulations()


def _run_simulations() -> None:
    for seed in range(3, 2 * TRIALS, 2):
        Simulation(seed, web=True, multicast=True).run()
