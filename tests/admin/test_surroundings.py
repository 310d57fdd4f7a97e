"""Clocks of other queue managers and ends of certificates, and their series."""

from pathlib import Path

from openmsmq.admin.console import Console
from openmsmq.admin.metrics.families import surroundings_families
from openmsmq.admin.metrics.text import write
from openmsmq.admin.settings import ConsoleSettings
from openmsmq.admin.surroundings import MOST_CLOCKS, Surroundings, ends_of


def surroundings() -> Surroundings:
    return Surroundings(Console(ConsoleSettings(address="/nowhere")))


def text_of(around: Surroundings) -> str:
    return b"".join(write(surroundings_families(around), openmetrics=False)).decode()


def test_a_clock_is_noted_above_the_threshold_and_forgotten_below_it() -> None:
    around = surroundings()
    around.note("{A}", 60.0, 0.0)
    around.note("{B}", 60.5, 0.0)
    assert around.clocks == {"{B}": 60.5}
    assert 'msmq_clock_ahead_seconds{peer="{B}"} 60.5\n' in text_of(around)
    around.note("{B}", 1.0, 1.0)
    assert around.clocks == {}


def test_the_clocks_that_were_noted_last_are_remembered() -> None:
    around = surroundings()
    for peer in range(MOST_CLOCKS):
        around.note(f"{peer}", 100.0, 0.0)
    around.note("0", 200.0, 1.0)
    around.note("new", 300.0, 2.0)
    assert len(around.clocks) == MOST_CLOCKS
    assert (around.clocks["0"], around.clocks["new"]) == (200.0, 300.0)
    assert "1" not in around.clocks


def test_a_certificate_that_cannot_be_read_ended_long_ago(tmp_path: Path) -> None:
    around = surroundings()
    around.certificates = ends_of({"https_certificate": tmp_path / "none"}) | {"other": 1234.0}
    name = "msmq_certificate_end_timestamp_seconds"
    assert f'{name}{{key="https_certificate"}} 0\n{name}{{key="other"}} 1234\n' in text_of(around)
