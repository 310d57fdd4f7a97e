"""Many seeds: every promise holds in every run."""

import pytest

from .run import MESSAGES, Simulation

# 300 seeds in all: a third of them over HTTP besides, every other one of these with multicast.
SEEDS = 200
WEB_SEEDS = 100
_AT_A_TIME = 5
_SOAK_SEEDS = 20_000
_SOAK_WEB_SEEDS = 2_000
_SOAK_AT_A_TIME = 100


def _run(first: int, count: int, *, web: bool = False) -> None:
    for seed in range(first, first + count):
        multicast = web and seed % 2 == 1
        simulation = Simulation(seed, web=web, multicast=multicast)
        try:
            simulation.run()
        except AssertionError as exc:
            options = f"{'--web ' * web}{'--multicast ' * multicast}--trace"
            raise AssertionError(f"python -m tests.simulation {seed} {options}: {exc}") from exc
        assert len(simulation.nodes) >= 3
        assert len(simulation.ledger.entries) >= MESSAGES
        assert simulation.faults >= 10


# A machine with other work to do may need long for some seeds.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(0, SEEDS, _AT_A_TIME))
def test_what_was_promised_holds_whatever_breaks(first: int) -> None:
    _run(first, _AT_A_TIME)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(0, WEB_SEEDS, _AT_A_TIME))
def test_what_was_promised_holds_over_http_multicast_and_the_binary_protocol(first: int) -> None:
    _run(first, _AT_A_TIME, web=True)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(WEB_SEEDS, _SOAK_WEB_SEEDS, _SOAK_AT_A_TIME))
def test_what_was_promised_holds_over_both_protocols_in_a_long_run(first: int) -> None:
    _run(first, _SOAK_AT_A_TIME, web=True)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SEEDS, SEEDS + _SOAK_SEEDS, _SOAK_AT_A_TIME))
def test_what_was_promised_holds_in_a_long_run(first: int) -> None:
    _run(first, _SOAK_AT_A_TIME)


def test_a_seed_replays_a_run_exactly() -> None:
    traces: list[list[str]] = []
    for _ in range(2):
        lines: list[str] = []
        Simulation(7, trace=lines.append).run()
        traces.append(lines)
    assert traces[0] == traces[1]
    assert len(traces[0]) > MESSAGES
