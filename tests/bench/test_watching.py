"""The benchmark of the console runs; its figures mean nothing here."""

import pytest
from bench.console_costs import pauses
from bench.report import Result

from bench import watching


def names_of(results: list[Result]) -> list[str]:
    assert all(result.per_second > 0 for result in results)
    return [result.name for result in results]


def test_it_measures_with_and_without_a_console() -> None:
    names = names_of(watching.flow_results(queues=3, seconds=0.1, searched=50, rounds=1))
    assert "express messages with a console" in names
    assert "durable messages with a console and a search" in names
    looks = names_of(pauses(queues=5, depth=50, seconds=0.05, rounds=1))
    assert "longest pause during a list of 5 queues" in looks


@pytest.mark.soak
def test_all_of_it_runs() -> None:
    names = names_of(
        watching.run(queues=3, seconds=0.2, many=20, depths=(300,), rounds=1, rabbitmq=False)
    )
    for name in (
        "a scrape of 20 queues",
        "a page of 200 at the middle of 300 messages",
        "ready with a console",
    ):
        assert name in names
