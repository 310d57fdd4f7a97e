"""The series of queues: those that are shown, and lines that stay."""

import pytest
from tests.admin.test_history import head, queues

from openmsmq.admin.metrics import shown_queues
from openmsmq.admin.metrics.queue_families import queue_families
from openmsmq.admin.metrics.shown_queues import ShownQueues
from openmsmq.admin.metrics.text import write
from openmsmq.admin.picture import Picture


def picture_of(count: int) -> Picture:
    picture = Picture()
    numbers = tuple(range(1, count + 1))
    rows = [{"number": number, "messages": number} for number in numbers]
    picture.take([head(complete=True), queues(*rows, new=numbers)])
    return picture


def text_of(shown: ShownQueues, utc: float = 1000.0) -> str:
    return b"".join(write(queue_families(shown, utc), openmetrics=False)).decode()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_queues, "BLOCK", 3)


def test_kept_lines_show_what_new_ones_would() -> None:
    picture = picture_of(8)
    shown = ShownQueues(picture, 100)
    changes = (
        {"number": 5, "messages": 50, "arrived_messages": 2**63},
        {"number": 8, "oldest_arrived": 990, "quota": 0xFFFFFFFF},
        {"number": 1, "last_received": 900, "poisoned_messages": 1},
        {"number": 8},
    )
    for number, change in enumerate(changes, 2):
        before = text_of(shown, 1000.0 + number)
        picture.take([head(number), queues(change)])
        after = text_of(shown, 1000.0 + number)
        assert after != before
        assert after == text_of(ShownQueues(picture, 100), 1000.0 + number)


def test_only_blocks_with_changes_are_written_again() -> None:
    picture = picture_of(8)
    shown = ShownQueues(picture, 100)
    before = list(shown.lines("x", shown.values("messages")))
    picture.take([head(2), queues({"number": 5, "messages": 7})])
    after = list(shown.lines("x", shown.values("messages")))
    assert [old is new for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_queues_above_the_limit_are_summed() -> None:
    text = text_of(ShownQueues(picture_of(8), 6))
    assert 'msmq_queue_messages{queue="(other)"} 15\n' in text
    assert text.count("msmq_queue_messages{") == 7


def test_rows_may_be_in_any_order() -> None:
    picture = Picture()
    rows = [{"number": number, "messages": 10 * number} for number in (3, 1, 2)]
    picture.take([head(complete=True), queues(*rows, new=(3, 1, 2))])
    assert list(ShownQueues(picture, 2).values("messages")) == [10, 20]
    assert list(ShownQueues(picture, 9, "*Q[13]").values("messages")) == [10, 30]


def test_no_queues_have_no_series() -> None:
    picture = Picture()
    picture.take([head(complete=True)])
    assert text_of(ShownQueues(picture, 9)).splitlines()[2:] == ["msmq_metrics_other_queues 0"]
