"""The benchmark of viewers runs; its figures mean nothing here."""

import pytest

from bench import viewers


def test_it_measures_with_viewers_and_a_search() -> None:
    flows = viewers.flows(2, queues=3, seconds=0.3, stored=200, searches=True)
    assert sorted(flows) == ["durable", "express"]
    assert all(flow.per_second > 0 for flow in flows.values())


@pytest.mark.soak
def test_it_compares_viewers_with_no_console_and_many_with_one() -> None:
    results = viewers.run(
        queues=3, seconds=0.3, stored=200, many=5, rounds=1, look_seconds=0.5, crowd=3
    )
    names = [result.name for result in results]
    assert "express messages with 10 viewers" in names
    assert "durable messages with a search as well" in names
    assert "memory of the console with 5 queues" in names
    assert all(result.per_second > 0 for result in results)
