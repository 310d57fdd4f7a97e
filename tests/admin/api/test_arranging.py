"""Parts of lists, short and long ones alike."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.admin.api.arranging import ListQuery, arranged, part_of_long
from openmsmq.admin.trust.problems import Problem


class Each(msgspec.Struct, frozen=True):
    id: int
    word: str
    number: int | None


class Every(msgspec.Struct, frozen=True):
    entries: list[Each]
    after: str | None = None


def key(entry: Each) -> str:
    return str(entry.id)


entries = st.builds(
    lambda words: [Each(place, *each) for place, each in enumerate(words)],
    st.lists(st.tuples(st.sampled_from("aAb"), st.one_of(st.none(), st.integers(0, 3)))),
)


@given(entries, st.sampled_from(["", "word", "-word", "number", "-number", "-id"]), st.data())
def test_a_long_list_has_the_parts_of_a_short_one(
    entries: list[Each], sort: str, data: st.DataObject
) -> None:
    words: Any = data.draw(st.sampled_from(["", "a", "3"]))
    after: str | None = ""
    while after is not None:
        query = ListQuery(sort=sort, filter=words, after=after, limit=data.draw(st.integers(1, 4)))
        short = arranged(Every(entries), "entries", query)
        assert part_of_long(lambda: entries, query, key) == (short.entries, short.after)
        after = short.after


@pytest.mark.parametrize("sort", ["word", "-word"])
def test_entries_that_come_meanwhile_are_in_no_further_part(sort: str) -> None:
    entries = [Each(number, "a", None) for number in range(4)]
    reads = 0

    def read() -> list[Each]:
        nonlocal reads
        reads += 1
        return [Each(10 + number, "a", None) for number in range(reads)][::-1] + entries

    found, after = part_of_long(read, ListQuery(sort=sort, after="1", limit=1), key)
    assert ([each.id for each in found], after) == ([2], "2")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (ListQuery(after="7"), "LIST_CHANGED"),
        (ListQuery(after="7", sort="word"), "LIST_CHANGED"),
        (ListQuery(sort="colour"), "BAD_SORT"),
        (ListQuery(limit=0), "BAD_LIMIT"),
    ],
)
def test_a_part_that_there_is_not_is_refused(query: ListQuery, name: str) -> None:
    with pytest.raises(Problem) as refused:
        part_of_long(lambda: [Each(1, "a", None)], query, key)
    assert refused.value.record.name == name
