"""The benchmark of the decoders measures equal work."""

import pytest

from bench import spark_decoder


def test_figures_are_parts_of_the_time_of_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_decoder, "ROUNDS", 1)
    monkeypatch.setattr(spark_decoder, "MESSAGES", 50)
    results = spark_decoder.run()
    assert [result.ratio is None for result in results] == [True, False] * 4
    for floor, result in zip(results[::2], results[1::2], strict=True):
        assert result.ratio == pytest.approx(floor.per_second / result.per_second)
        assert result.limit == spark_decoder.LIMIT
