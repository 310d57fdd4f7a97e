"""Rings and the history of a queue manager: steps, gaps, bounds, restarts."""

import math
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.admin.history import QUEUE_RINGS, TOTAL_COLUMNS, History
from openmsmq.admin.picture import Picture
from openmsmq.admin.ring import Ring

NAMES = (
    *("number", "messages", "bytes", "locked_messages", "delayed_messages", "journal_messages"),
    *("journal_bytes", "oldest_arrived", "quota", "journal_quota"),
    *("readers", "waiting_reads", "last_received"),
    *("arrived_messages", "arrived_bytes", "received_messages", "aborted_messages"),
    *("moved_messages", "poisoned_messages"),
)
TIMES = {"oldest_arrived", "last_received"}


def head(number: int = 1, *, complete: bool = False, **others: Any) -> dict[str, Any]:
    totals = dict.fromkeys(
        ("messages", "bytes", "outgoing_messages", "dead_letters", "memory_bytes", "clients"), 0
    )
    return {
        "part": "head",
        "number": number,
        "complete": complete,
        "utc": 0.0,
        "removed": [],
        "status": {"guid": "g", "name": "QM", **totals},
        **others,
    }


def queues(*rows: dict[str, int], new: tuple[int, ...] = ()) -> dict[str, Any]:
    columns = {
        name: array("d" if name in TIMES else "Q", [row.get(name, 0) for row in rows]).tobytes()
        for name in NAMES
    }
    named = {
        "number": list(new),
        "path": [f"private$\\q{number}" for number in new],
        "kind": ["queue" for _ in new],
        "transactional": [False for _ in new],
        "created_time": [0 for _ in new],
    }
    return {"part": "queues", "new": named, "columns": columns, "deleted": [], "refused": []}


def test_a_ring_keeps_the_last_value_of_a_step_and_the_mean_of_a_rate() -> None:
    ring = Ring(10, 3, (False, True))
    ring.add(100.0, (5, 1.0))
    ring.add(104.0, (7, 3.0))
    ring.add(110.0, (9, 4.0))
    series = ring.series(110.0)
    assert (series.start, series.step) == (90, 10)
    assert series.columns[0][1:] == [7.0, 9.0]
    assert series.columns[1][1:] == [2.0, 4.0]
    assert math.isnan(series.columns[0][0])


def test_quiet_steps_repeat_the_value_with_a_rate_of_0() -> None:
    ring = Ring(1, 5, (False, True))
    ring.add(10.0, (4, 8.0))
    ring.add(13.0, (6, 2.0))
    assert ring.series(14.0).columns == [[4.0, 4.0, 4.0, 6.0, 6.0], [8.0, 0.0, 0.0, 2.0, 0.0]]
    # A clock that goes back changes nothing.
    ring.add(12.0, (99, 99.0))
    assert ring.series(13.0).columns[0][-2:] == [4.0, 6.0]


@given(
    steps=st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=12),
    later=st.integers(0, 12),
)
def test_the_newest_values_are_the_last_ones_of_the_series(
    steps: list[tuple[int, bool]], later: int
) -> None:
    ring = Ring(1, 5, (False, True))
    utc = 100
    for number, (forward, interrupted) in enumerate(steps):
        utc += forward
        if interrupted:
            ring.interrupt()
        ring.add(utc, (number, number + 0.5))
    series = ring.series(utc + later)
    assert series.start == utc + later - 4
    assert all(len(column) == 5 for column in series.columns)
    last = [column[-1] for column in series.columns]
    assert repr(ring.newest(utc + later)) == repr(last)


def test_nothing_is_made_up_for_the_time_of_an_interruption() -> None:
    ring = Ring(1, 4, (False,))
    ring.add(10.0, (4,))
    copy = Ring(1, 4, (False,))
    assert copy.restore(*ring.dump())
    copy.add(12.0, (5,))
    shown = copy.series(12.0).columns[0]
    assert (shown[1], shown[3]) == (4.0, 5.0)
    assert math.isnan(shown[2])
    assert not copy.restore(3, b"of another size")
    ring.interrupt()
    assert math.isnan(ring.series(11.0).columns[0][-1])


def test_a_clock_that_was_set_back_goes_on_from_there() -> None:
    ring = Ring(1, 4, (False,))
    for second in range(100, 104):
        ring.add(float(second), (second,))
    ring.add(101.0, (0.0,))
    assert ring.series(103.0).columns == [[100, 101, 102, 103]]
    ring.interrupt()
    ring.add(101.0, (7.0,))
    ring.add(102.0, (8.0,))
    (values,) = ring.series(102.0).columns
    assert values[1:] == [100, 7, 8]
    assert math.isnan(values[0])


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_nothing_is_made_up_when_the_clock_jumps(jump: int) -> None:
    ring = Ring(1, 5, (False, True))
    for second in range(100_000, 100_005):
        ring.add(float(second), (1, 2))
    ring.interrupt()
    ring.add(100_005.0 + jump, (3, 4))
    messages, rates = ring.series(100_005.0 + jump).columns
    assert (messages[-1], rates[-1]) == (3, 4)
    assert all(math.isnan(value) for value in messages[:-1] + rates[:-1])


def test_rates_of_queues_and_totals_come_from_their_counters() -> None:
    history, picture = History(None), Picture()
    picture.take([head(complete=True), queues({"number": 1, "arrived_messages": 10}, new=(1,))])
    history.add(picture, 1000.0)
    picture.take([head(2), queues({"number": 1, "messages": 3, "arrived_messages": 40})])
    history.add(picture, 1015.0)
    series = history.queue(1, 0, 1015.0)
    assert series is not None
    assert [column[-1] for column in series.columns] == [3.0, 2.0, 0.0]
    totals = dict(zip(TOTAL_COLUMNS, history.totals(1, 1015.0).columns, strict=True))
    assert totals["arrived_per_second"][-1] == 2.0
    assert history.queue(2, 0, 1015.0) is None


def test_totals_have_the_age_of_the_oldest_message_that_should_be_read() -> None:
    history, picture = History(None), Picture()
    waiting = queues(
        {"number": 1, "oldest_arrived": 990},
        {"number": 2, "oldest_arrived": 400},
        {"number": 3},
        new=(1, 2, 3),
    )
    waiting["new"]["kind"][1] = "journal"
    picture.take([head(complete=True), waiting])
    history.add(picture, 1000.0)
    totals = dict(zip(TOTAL_COLUMNS, history.totals(1, 1000.0).columns, strict=True))
    assert totals["oldest_message_age_seconds"][-1] == 10.0


def test_unused_and_deleted_queues_have_no_history() -> None:
    history, picture = History(None), Picture()
    rows = ({"number": 1}, {"number": 2, "messages": 1})
    picture.take([head(complete=True), queues(*rows, new=(1, 2))])
    history.add(picture, 1000.0)
    assert history.queue(1, 0, 1000.0) is None
    assert history.queue(2, 0, 1000.0) is not None
    picture.take([head(2, removed=[2])])
    history.add(picture, 1001.0)
    assert (history.queue(2, 0, 1001.0), list(picture.queues)) == (None, [1])


def test_memory_is_bounded_and_the_least_used_queues_lose_theirs_first() -> None:
    room = sum(size for _, size in QUEUE_RINGS) * 4 * 3 + 400
    history, picture = History(None), Picture()
    history = History(None, max_bytes=history.memory + 2 * room)
    rows = [{"number": number, "messages": 1} for number in (1, 2, 3)]
    for number, row in enumerate(rows, 1):
        new = (number,)
        picture.take([head(number, complete=number == 1), queues(row, new=new)])
        history.add(picture, 1000.0 + number)
    known = [history.queue(number, 0, 1010.0) is not None for number in (1, 2, 3)]
    assert known == [False, True, True]
    assert history.memory <= history._max_bytes


def test_it_is_kept_over_a_restart_of_the_console(tmp_path: Path) -> None:
    file = tmp_path / "console" / "history"
    history, picture = History(file), Picture()
    picture.take([head(complete=True), queues({"number": 1, "messages": 7}, new=(1,))])
    history.add(picture, 1000.0)
    history.save()
    again = History(file)
    again.load()
    picture.take([head(complete=True), queues({"number": 1, "messages": 8}, new=(1,))])
    again.add(picture, 1030.0)
    series = again.queue(1, 0, 1030.0)
    assert series is not None
    assert (series.columns[0][-3], series.columns[0][-1]) == (7.0, 8.0)
    # Of another queue manager, and of no form at all.
    other = Picture()
    other.take([head(complete=True, status={**picture.head["status"], "guid": "other"})])
    again.add(other, 1031.0)
    assert again.queue(1, 0, 1031.0) is None
    file.write_bytes(b"nonsense")
    History(file).load()


def test_rates_are_exact_to_half_a_thousandth() -> None:
    for rate in (0.001, 2.667, 41.3, 99_999.0, 1e6):
        ring = Ring(1, 2, (True,))
        ring.add(10.0, (rate,))
        ring.add(11.0, (0.0,))
        assert ring.series(11.0).columns[0][0] == pytest.approx(rate, rel=5e-4)
    ring.add(12.0, (1e9,))
    assert ring.series(12.0).columns[0][-1] == pytest.approx(1e6, rel=0.05)


def test_the_mean_of_a_step_does_not_stop_at_small_changes() -> None:
    ring = Ring(300, 2, (True,))
    for number in range(300):
        ring.add(300.0 + number, (2.0 if number < 150 else 2.2,))
    assert ring.series(300.0).columns[0][-1] == pytest.approx(2.1, rel=1e-3)
