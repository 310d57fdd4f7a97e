"""What a queue on a server held, as ranges by arrival sequence."""

import pytest

from openmsmq.client.remote.snapshot import Header, Snapshot
from openmsmq.wire.lookup_id import SEQUENCE_BITS, digest_of_sequence, digest_text

# Priority 0 comes last in the queue: its lookup ids have 7 in the top byte.
LOW, HIGH = 7 << SEQUENCE_BITS, 0
HEADERS = [
    Header(HIGH | 12, 100, 3.0),
    Header(LOW | 10, 200, 1.0),
    Header(LOW | 11, 300, 2.0),
    Header(LOW | 15, 400, 4.0),
]


@pytest.fixture
def snapshot() -> Snapshot:
    return Snapshot(HEADERS, 1.0)


def test_messages_are_in_the_order_of_arrival_whatever_their_priority(snapshot: Snapshot) -> None:
    assert snapshot.lookup_ids(0, None) == [LOW | 10, LOW | 11, HIGH | 12, LOW | 15]
    assert snapshot.lookup_ids(10, 12) == [LOW | 11, HIGH | 12]
    info = snapshot.info("a")
    assert (info["first"], info["stable"], info["last"]) == (10, 15, 15)
    assert (info["count"], info["bytes"]) == (4, 1000)


def test_an_empty_queue_has_no_sequences_and_no_plan() -> None:
    empty = Snapshot([], 0.0)
    assert empty.info("a")["last"] == 0
    plan = empty.plan(5, None, None, None)
    assert (plan["end"], plan["count"], plan["lookup_ids"]) == (5, 0, ())
    assert empty.split(0, 9, 3) == [9]


@pytest.mark.parametrize(
    ("limits", "sequences"),
    [
        ((0, None, None, None), [10, 11, 12, 15]),
        ((0, 12, None, None), [10, 11, 12]),
        ((10, None, 2, None), [11, 12]),
        ((0, None, 0, None), [10]),
        ((0, None, None, 500), [10, 11]),
        ((0, None, None, 1), [10]),
    ],
)
def test_a_plan_keeps_its_limits_and_has_one_message_at_least(
    snapshot: Snapshot, limits: tuple[int, int | None, int | None, int | None], sequences: list[int]
) -> None:
    plan = snapshot.plan(*limits)
    assert plan["end"] == sequences[-1]
    assert plan["count"] == len(sequences) == len(plan["lookup_ids"])
    assert plan["digest"] == digest_text(*map(digest_of_sequence, sequences))


def test_a_range_is_split_into_parts_of_about_equal_bytes(snapshot: Snapshot) -> None:
    assert snapshot.split(0, 15, 2) == [11, 15]
    assert snapshot.split(0, 20, 1) == [20]
    assert snapshot.split(0, 15, 10)[-1] == 15
