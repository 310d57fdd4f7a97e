"""The benchmark of sends by name measures what it says."""

import pytest
from bench.by_name import LIMIT, run


def test_sends_by_name_stand_beside_those_to_an_open_queue() -> None:
    floor, first, again = run(queues=20, rounds=1)
    assert floor.ratio is None
    assert first.ratio is not None
    assert again.limit == LIMIT
    assert again.ratio == pytest.approx(floor.per_second / again.per_second)
