"""The benchmark of search and retry runs, and measures what it says."""

from bench.care import run


def test_search_and_retry_stand_beside_their_floors() -> None:
    streamed, searched, by_hand, retried = run(messages=200, retried=50, rounds=1)
    assert searched.ratio is not None
    assert retried.ratio is not None
    assert streamed.per_second > 0
    assert by_hand.per_second > 0
