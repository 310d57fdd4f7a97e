"""Lanes against a plain sorted list."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.harness import Harness

from openmsmq.core.model.lanes import Lanes
from openmsmq.core.model.message import NEVER, Message
from openmsmq.core.model.queue import Queue
from openmsmq.wire.lookup_id import SEQUENCE_BITS

QUEUE: Queue = Harness().create()


def message(lookup_id: int, size: int = 100) -> Message:
    return Message(lookup_id, lookup_id, QUEUE, None, size, 0, 0.0, NEVER, 0, 0)


def lookup_id(priority: int, sequence: int) -> int:
    return (7 - priority) << SEQUENCE_BITS | sequence


def small_lanes() -> Lanes:
    """Lanes with blocks of four, so that few messages make many of them."""
    return Lanes(4)


def filled(ids: list[int]) -> Lanes:
    lanes = small_lanes()
    for each in ids:
        lanes.insert(message(each))
    return lanes


IDS = st.builds(lookup_id, st.sampled_from([0, 3, 7]), st.integers(1, 60))


@settings(max_examples=150)
@given(st.lists(IDS, unique=True, max_size=40), st.data())
def test_many_messages_get_to_the_same_places_as_one_by_one(
    ids: list[int], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(ids)))
    late = data.draw(st.sampled_from([ids[cut:], sorted(ids[cut:])]))
    lanes = filled(ids[:cut])
    if late:
        lanes.insert_many([message(each) for each in late])
    assert [each.lookup_id for each in lanes] == sorted(ids)
    assert lanes.count == len(ids)
    for each in ids:
        found = lanes.get(each)
        assert found is not None
        assert found.lookup_id == each


@settings(max_examples=150)
@given(st.lists(IDS, unique=True, max_size=80), st.lists(IDS, max_size=40), st.data())
def test_a_lane_finds_what_a_sorted_list_finds(
    ids: list[int], questions: list[int], data: st.DataObject
) -> None:
    lanes = filled(ids)
    model = sorted(ids)
    for gone in data.draw(st.lists(st.sampled_from(model), unique=True)) if model else []:
        found = lanes.get(gone)
        assert found is not None
        lanes.remove(found)
        model.remove(gone)
    assert [each.lookup_id for each in lanes] == model
    assert lanes.count == len(model)
    first, last = lanes.first(), lanes.last()
    assert (first.lookup_id if first else None) == (model[0] if model else None)
    assert (last.lookup_id if last else None) == (model[-1] if model else None)
    for each in (*questions, -1, 8 << SEQUENCE_BITS):
        after, before, here = lanes.after(each), lanes.before(each), lanes.get(each)
        assert (after.lookup_id if after else None) == min(
            (other for other in model if other > each), default=None
        )
        assert (before.lookup_id if before else None) == max(
            (other for other in model if other < each), default=None
        )
        assert (here is not None) == (each in model)


@given(st.lists(IDS, unique=True, max_size=80), st.integers(1, 50), st.integers(1, 3000))
def test_taking_gives_the_first_messages_within_both_limits(
    ids: list[int], count: int, size: int
) -> None:
    lanes = filled(ids)
    taken = [each.lookup_id for each in lanes.take(count, size)]
    fitting = max(min(count, size // 100), 1)
    assert taken == sorted(ids)[:fitting]
    assert [each.lookup_id for each in lanes] == sorted(ids)[fitting:]
    assert lanes.count == len(ids) - len(taken)


@given(st.lists(st.lists(st.integers(0, 7), max_size=20), max_size=8))
def test_messages_that_come_together_stand_behind_those_of_their_priority(
    groups: list[list[int]],
) -> None:
    lanes = small_lanes()
    everything: list[int] = []
    sequence = 0
    for group in groups:
        ids = []
        for priority in group:
            sequence += 1
            ids.append(lookup_id(priority, sequence))
        if ids:
            lanes.extend([message(each) for each in ids], ids)
        everything += ids
    assert [each.lookup_id for each in lanes] == sorted(everything)


@given(st.lists(IDS, unique=True, max_size=80), st.integers(0, 61), st.integers(0, 61))
def test_a_range_by_arrival_is_found_in_every_lane(ids: list[int], after: int, upto: int) -> None:
    lanes = filled(ids)
    found = [each.sequence for lane in lanes.arrivals(after, upto) for each in lane]
    expected = [each & (1 << SEQUENCE_BITS) - 1 for each in ids]
    assert sorted(found) == sorted(each for each in expected if after < each <= upto)
    newer = lanes.newer(after)
    later = sorted(each for each in ids if each & (1 << SEQUENCE_BITS) - 1 > after)
    assert (newer.lookup_id if newer else None) == (later[0] if later else None)


def test_a_block_that_grows_in_the_middle_is_split() -> None:
    ids = [1, 100, *range(50, 20, -1)]
    lanes = filled(ids)
    assert [each.lookup_id for each in lanes] == sorted(ids)
    for each in ids:
        found = lanes.get(each)
        assert found is not None
        lanes.remove(found)
    assert (lanes.count, lanes.first(), lanes.last()) == (0, None, None)


def test_taking_the_only_message_ignores_the_size() -> None:
    lanes = filled([1, 2])
    assert [each.lookup_id for each in lanes.take(10, 1)] == [1]
