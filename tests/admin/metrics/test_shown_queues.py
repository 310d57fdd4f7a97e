"""The series of queues: those that are shown, and lines that stay."""

import re

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


def test_only_journals_with_a_quota_have_a_series_of_it() -> None:
    picture = picture_of(2)
    changes = {"number": 1, "journal_quota": 2}, {"number": 2, "journal_quota": 0xFFFFFFFF}
    picture.take([head(2), queues(*changes)])
    lines = re.findall(r"(?m)^msmq_queue_journal_quota_bytes.*", text_of(ShownQueues(picture, 9)))
    assert [line.rpartition(" ")[2] for line in lines] == ["2048"]


def test_queues_above_the_limit_are_summed() -> None:
    text = text_of(ShownQueues(picture_of(8), 6))
    assert 'msmq_queue_messages{queue="(other)"} 15\n' in text
    assert text.count("msmq_queue_messages{") == 7


def test_counters_of_the_other_queues_never_go_back() -> None:
    picture = Picture()
    numbers = (1, 2, 3, 4)
    rows = [
        {"number": number, "arrived_messages": 10 * number, "poisoned_messages": 1}
        for number in numbers
    ]
    first = queues(*rows, new=numbers)
    first["deleted"] = [(number, "NACK_Q_PURGED", number) for number in numbers]
    first["refused"] = [(number, "NACK_Q_EXCEED_QUOTA", 2 * number) for number in numbers]
    process = {"start_time": 1.0}
    picture.take([head(complete=True, process=process), first])
    shown = ShownQueues(picture, 2)

    def counters() -> tuple[int, ...]:
        text = text_of(shown)
        names = ("arrived_messages", "poisoned_messages", "deleted_messages", "refused_messages")
        series = (rf'{name}_total{{queue="\(other\)"[^}}]*}} (\d+)' for name in names)
        return tuple(int(number) for each in series for number in re.findall(each, text))

    assert counters() == (70, 2, 7, 14)
    picture.take([head(2, removed=[4], process=process)])
    shown = ShownQueues(picture, 2, before=shown)
    assert counters() == (70, 2, 7, 14)
    # The third gets series of its own, and a new one has none.
    picture.take([head(3, removed=[1], process=process)])
    shown = ShownQueues(picture, 2, before=shown)
    new = {"number": 5, "arrived_messages": 3}
    picture.take([head(4, process=process), queues(new, new=(5,))])
    shown = ShownQueues(picture, 2, before=shown)
    assert counters() == (73, 2, 7, 14)
    picture.take([head(complete=True, process={"start_time": 2.0}), first])
    shown = ShownQueues(picture, 2, before=shown)
    assert counters() == (70, 2, 7, 14)


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
