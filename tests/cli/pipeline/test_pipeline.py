"""`openmsmq pipeline`, as far as it goes without Spark."""

import re
import sys
from pathlib import Path

import pytest
from tests.cli.runner import run
from tests.wire.frames import frame_bytes

from openmsmq.cli.pipeline.command import COMMANDS
from openmsmq.spark import SparkUnavailable


def test_the_group_lists_its_commands() -> None:
    outcome = run("pipeline", "--help")
    assert outcome.code == 0
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", outcome.out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_pipeline_has_help_json_and_master(name: str) -> None:
    outcome = run("pipeline", name, "--help")
    assert outcome.code == 0
    for option in ("--json", "--master", "--socket"):
        assert option in outcome.out


def test_help_does_not_load_spark() -> None:
    before = "pyspark" in sys.modules
    assert run("pipeline", "audit", "--help").code == 0
    assert ("pyspark" in sys.modules) == before


@pytest.mark.parametrize(
    "arguments", [("audit",), ("audit", "--sends", "x"), ("latency",), ("nothing",)]
)
def test_missing_sources_are_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert run("pipeline", *arguments).code == 2


def test_spark_that_cannot_start_is_told_with_cause_and_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise SparkUnavailable("PySpark is not installed", "Install it")

    monkeypatch.setattr("openmsmq.spark.session", refuse)
    packets = tmp_path / "packets"
    packets.write_bytes(frame_bytes(7))
    outcome = run("pipeline", "decode", str(packets))
    assert (outcome.code, outcome.out) == (1, "")
    assert "Spark cannot start" in outcome.err
    assert "Likely cause: PySpark is not installed." in outcome.err
    assert "Remedy: Install it." in outcome.err
