"""Ways to get delayed messages wrong, each put in on purpose: the simulation must notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from openmsmq.core.messages import delayed
from openmsmq.core.messages import sending as core_sending
from openmsmq.core.model.message import PositionState
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.rows.packets import forget_packet
from openmsmq.wire.errors import StoreError

from .node import Node
from .run import Simulation

SEEDS: Final = 40
Patch = pytest.MonkeyPatch


def deliver_half_a_minute_early(patch: Patch) -> None:
    def set_aside(state: Any, queue: Any, messages: Any) -> None:
        for message in messages:
            message.arrived -= 30.0
        original(state, queue, messages)

    original = delayed.set_aside
    patch.setattr(delayed, "set_aside", set_aside)


def forget_those_of_a_restart(patch: Patch) -> None:
    opened = Node.open

    def open_changed(node: Node, *args: Any) -> QueueManager:
        qm = opened(node, *args)
        if node.life > 1:
            for queue in qm.state.queues.values():
                for message in list(queue.delayed.values()):
                    delayed._take_back(qm.state, queue, message)
        return qm

    patch.setattr(Node, "open", open_changed)


def keep_the_stored_ones_when_they_appear(patch: Patch) -> None:
    def forget(state: Any, message: Any) -> None:
        message.state = PositionState.DELETED
        forget_packet(state, message)

    patch.setattr(delayed, "_forget", forget)


def show_them_before_the_commit(patch: Patch) -> None:
    def delay_pending(messages: Any, deliver_at: float) -> None:
        del messages, deliver_at

    patch.setattr(core_sending, "delay_pending", delay_pending)


def number_them_when_they_are_sent(patch: Patch) -> None:
    """A later message overtakes one that has its place already: the stream never goes on."""
    patch.setattr(delayed, "number_messages", lambda _state, _queue, _messages: None)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "mutation",
    [
        deliver_half_a_minute_early,
        forget_those_of_a_restart,
        keep_the_stored_ones_when_they_appear,
        show_them_before_the_commit,
        number_them_when_they_are_sent,
    ],
)
def test_the_simulation_notices(
    mutation: Callable[[Patch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    for seed in range(SEEDS):
        try:
            Simulation(seed, delayed=True).run()
        except (AssertionError, StoreError, KeyError) as exc:
            print(f"seed {seed}: {exc}")
            return
    pytest.fail(f"{mutation.__name__} went unnoticed in {SEEDS} seeds")
