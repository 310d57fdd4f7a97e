"""The machinery of the benchmark of transfers, with little to carry."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.brokers import Options, Run
from bench.peers.receiving import measure_receiving
from bench.targets import TRANSFER_TARGETS, verdict
from bench.transfer import MODES, transfer
from rich.console import Console
from tests.interop.loopback import new_address

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: a socket in it has little room for its own."""
    with tempfile.TemporaryDirectory(prefix="bench") as name:
        yield Path(name)


def test_messages_cross_two_queue_managers_in_every_mode(folder: Path) -> None:
    run = Run(Options(quick=True), folder, Console(quiet=True))
    transfer(run, new_address(), new_address())
    assert set(run.flows) == {f"transfer {name}" for name in MODES}
    assert all(rate > 0 for rate in run.figures().values())


def test_the_receiving_half_is_measured_beside_a_bare_receiver(folder: Path) -> None:
    found = measure_receiving(
        folder, new_address(), new_address(), rounds=2, compiled=False, count=2_000
    )
    assert found.queue_manager > found.splitter > 0


def test_every_target_can_be_met_and_missed() -> None:
    rabbitmq = dict.fromkeys(
        ("rabbitmq express", "rabbitmq classic", "rabbitmq quorum", "rabbitmq transactions"), 100.0
    )
    good = {f"transfer {name}": 200.0 for name in MODES} | {"receive µs": 12.0, "split µs": 1.0}
    bad = {f"transfer {name}": 149.0 for name in MODES} | {"receive µs": 12.1, "split µs": 1.0}
    assert [verdict(each, rabbitmq | good).met for each in TRANSFER_TARGETS] == [True] * 4
    assert [verdict(each, rabbitmq | bad).met for each in TRANSFER_TARGETS] == [False] * 4
