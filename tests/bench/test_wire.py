"""The benchmark of the wire formats measures equal work."""

import json

import pytest
from bench.report import Result, show

from bench import wire


def test_every_way_of_building_gives_the_same_packets() -> None:
    assert wire.build() == wire.build_from_template() == wire.floor_build()


def test_figures_are_ratios_to_the_floor_of_the_same_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wire, "ROUNDS", 1)
    show("wire", wire.run(), as_json=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["name"] for line in lines if line["ratio"] is not None] == [
        "frame, check and read six properties",
        "build",
        "build from a template",
    ]
    assert all(line["per_second"] > 0 for line in lines)


def test_a_ratio_over_its_limit_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show("wire", [Result("slow", 1234.5, 3.5, 3.0)], as_json=False)
    shown = capsys.readouterr().out
    assert "1,234" in shown
    assert "3.50" in shown
