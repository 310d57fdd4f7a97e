"""Conditions: what matches is read and removed, what does not match stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark.reading import ORDERS, Stream, labels, left, send

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.options.records import Where
from openmsmq.spark.readers.matching import conditions, matching_ranges

CONSUMING = {"consume": "exclusive", "unmatched": "leave", "where__label": "x"}


@pytest.fixture
def qm(tmp_path: Path) -> Iterator[QueueManager]:
    with openmsmq.embedded(tmp_path / "qm") as manager:
        manager.create_queue(ORDERS)
        yield manager


def remaining(qm: QueueManager) -> list[str]:
    return [message.label for message in qm.open_queue(ORDERS, "peek").cursor()]


def ranges_of(qm: QueueManager, where: Where) -> list[tuple[int, int]]:
    with qm.open_queue(ORDERS, "peek") as queue:
        # Several blocks: ranges do not end with them.
        blocks = queue.ranges.peek(0, queue.ranges.info().last, block_rows=2)
        return list(matching_ranges(blocks, where, 0))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("", []),
        ("yyy", []),
        ("xxxxx", [(0, 5)]),
        ("xyxxy", [(0, 1), (2, 4)]),
        ("yxxyyx", [(1, 3), (5, 6)]),
    ],
)
def test_ranges_have_all_that_match_and_nothing_else(
    qm: QueueManager, names: str, expected: list[tuple[int, int]]
) -> None:
    send(qm, *names)
    assert ranges_of(qm, Where(label="x")) == expected


def test_all_conditions_must_hold(qm: QueueManager) -> None:
    send(qm, "x", "y", priority=3)
    send(qm, "x", "y", priority=5)
    where = Where(label="x", priority_min=4)
    assert conditions(where) == {"label": "x", "priority": 4}
    assert ranges_of(qm, where) == [(2, 3)]


def test_only_what_matches_is_read_and_removed(qm: QueueManager) -> None:
    send(qm, *"xyx")
    stream = Stream(qm, **CONSUMING)
    assert labels(stream.batch()) == ["x", "x"]
    # Nothing goes before Spark has committed it.
    assert left(qm) == 3
    send(qm, *"yx")
    assert labels(stream.batch()) == ["x"]
    assert remaining(qm) == ["y", "y", "x"]
    assert labels(stream.batch()) == []
    assert remaining(qm) == ["y", "y"]


def test_a_new_run_removes_what_was_committed_and_leaves_the_rest(qm: QueueManager) -> None:
    send(qm, *"yxyx")
    first = Stream(qm, **CONSUMING)
    assert labels(first.batch()) == ["x", "x"]
    first.reader.stop()
    second = Stream(qm, at=first.at, **CONSUMING)
    send(qm, *"xy")
    assert labels(second.batch()) == ["x"]
    assert remaining(qm) == ["y", "y", "x", "y"]
    second.batch()
    assert remaining(qm) == ["y", "y", "y"]


def test_what_lies_before_the_beginning_stays_even_if_it_matches(qm: QueueManager) -> None:
    send(qm, *"xy")
    stream = Stream(qm, startingOffsets="latest", **CONSUMING)
    send(qm, *"yx")
    assert labels(stream.batch()) == ["x"]
    stream.batch()
    assert remaining(qm) == ["x", "y", "y"]
