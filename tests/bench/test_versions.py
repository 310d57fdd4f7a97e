"""This checkout beside another one: figures, ratios, and whose turn it is."""

import json
from pathlib import Path

import pytest
from bench.versions import HERE, Comparison, compare, read_figures

from bench import versions


def test_a_ratio_above_one_is_better_here_for_rates_and_for_times() -> None:
    assert Comparison("openmsmq express", here=110.0, other=100.0).ratio == pytest.approx(1.1)
    assert Comparison("openmsmq latency p50", here=0.5, other=1.0).ratio == 2.0
    assert Comparison("receive µs", here=2.0, other=1.0).ratio == 0.5


def test_medians_over_the_rounds_are_compared() -> None:
    here = [{"rate": 1.0}, {"rate": 30.0}, {"rate": 20.0}]
    other = [{"rate": 10.0, "gone": 1.0}, {"rate": 9.0}, {"rate": 400.0}]

    assert compare(here, other) == [Comparison("rate", 20.0, 10.0)]


def test_figures_of_several_benchmarks_are_read_and_those_of_others_left_out() -> None:
    lines = [
        {"benchmark": "brokers", "flow": "openmsmq express", "per_second": 1},
        {"benchmark": "brokers", "figures": {"openmsmq express": 1.0}, "missing": {}},
        {"benchmark": "transfer", "figures": {"split µs": 2.0, "receive µs": 3.0}, "missing": {}},
    ]

    figures = read_figures("\n".join(json.dumps(line) for line in lines))

    assert figures == {"openmsmq express": 1.0, "receive µs": 3.0}


def test_what_could_not_be_measured_is_an_error() -> None:
    line = json.dumps({"benchmark": "brokers", "figures": {}, "missing": {"openmsmq": "no"}})
    with pytest.raises(SystemExit, match="not measured"):
        read_figures(line)


def test_checkouts_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[Path] = []

    def measure(checkout: Path, names: tuple[str, ...], *, quick: bool) -> dict[str, float]:
        measured.append(checkout)
        return {"rate": 2.0 if checkout == HERE else 1.0}

    monkeypatch.setattr(versions, "measure", measure)
    versions.present(tmp_path, ("brokers",), rounds=3, quick=True, as_json=True)

    assert measured == [HERE, tmp_path, tmp_path, HERE, HERE, tmp_path]
    line = json.loads(capsys.readouterr().out)
    assert line == {"benchmark": "versions", "name": "rate", "here": 2, "other": 1, "ratio": 2}


def test_a_checkout_whose_benchmark_fails_is_named(tmp_path: Path) -> None:
    program = tmp_path / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)

    with pytest.raises(SystemExit, match="ended with 3"):
        versions.measure(tmp_path, ("brokers",), quick=True)
