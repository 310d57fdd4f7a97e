"""Limits of a trigger, shared out among queues."""

from openmsmq.client.logic.ranges import RangePlan
from openmsmq.spark.readers.admission import Admitted, admit
from openmsmq.spark.readers.offsets import QueueOffset

START = QueueOffset("i", 0, 0)


class Queues:
    """Queues of messages 1, 2, 3, ... of these sizes."""

    def __init__(self, **sizes: list[int]) -> None:
        self.sizes = sizes

    def plan(self, key: str, after: int, rows: int | None, size: int | None) -> RangePlan:
        found: list[int] = []
        for each in self.sizes[key][after : None if rows is None else after + max(rows, 1)]:
            if found and size is not None and sum(found) + each > size:
                break
            found.append(each)
        end = after + len(found)
        return RangePlan(end, len(found), sum(found), f"{len(found):016x}")

    def admit(self, rows: int | None, size: int | None = None) -> dict[str, int]:
        starts = dict.fromkeys(self.sizes, START)
        found = admit(starts, self.plan, list(self.sizes), rows, size)
        return {key: each.count for key, each in found.items()}


def test_without_a_limit_everything_is_read() -> None:
    assert Queues(a=[1] * 5, b=[1] * 7).admit(None) == {"a": 5, "b": 7}


def test_a_limit_of_rows_is_shared_equally() -> None:
    assert Queues(a=[1] * 50, b=[1] * 50).admit(20) == {"a": 10, "b": 10}


def test_what_one_queue_leaves_goes_to_the_others() -> None:
    assert Queues(a=[1] * 2, b=[1] * 50, c=[]).admit(20) == {"a": 2, "b": 18, "c": 0}


def test_few_rows_go_to_those_whose_turn_it_is() -> None:
    assert Queues(a=[1] * 5, b=[1] * 5, c=[1] * 5).admit(2) == {"a": 1, "b": 1, "c": 0}


def test_both_limits_count_together() -> None:
    assert Queues(a=[10] * 50).admit(20, 100) == {"a": 10}
    assert Queues(a=[10] * 50).admit(5, 100) == {"a": 5}


def test_a_limit_of_bytes_is_kept_with_several_queues() -> None:
    assert Queues(a=[10] * 50, b=[30] * 50).admit(None, 100) == {"a": 7, "b": 1}


def test_one_message_is_read_however_large_it_is() -> None:
    assert Queues(a=[1000], b=[1000]).admit(None, 10) == {"a": 1, "b": 0}


def test_an_empty_range_leaves_the_offset_as_it_was() -> None:
    start = QueueOffset("i", 1, 2, 3, "x")
    assert Admitted(2).entry(start) is start
