"""The benchmark of viewers runs; its figures mean nothing here."""

from bench import viewers


def test_it_measures_with_and_without_viewers() -> None:
    results = viewers.run(queues=3, seconds=0.3, stored=200, many=5, rounds=1, look_seconds=0.2)
    names = [result.name for result in results]
    assert "express messages with 10 viewers" in names
    assert "durable messages with a search as well" in names
    assert "memory of the console with 5 queues" in names
    assert all(result.per_second > 0 for result in results)
