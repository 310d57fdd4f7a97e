"""Looking through a queue: order, place, locked messages."""

import pytest
from tests.core.harness import PEEK, RECEIVE, SEND, Harness, bodies, refused

from openmsmq.core.model.read import Browsed
from openmsmq.core.model.read import MessageSeekAction as Seek


def look(
    harness: Harness,
    lookup_id: int | None = None,
    *,
    backwards: bool = False,
    count: int = 100,
    size: int = 1 << 30,
    hidden: bool = False,
) -> Browsed:
    return harness.qm.ranges.browse(
        harness.open(PEEK),
        lookup_id,
        backwards=backwards,
        max_count=count,
        max_bytes=size,
        hidden=hidden,
    )


def test_messages_are_shown_in_queue_order_from_any_place(harness: Harness) -> None:
    for body, priority in ((b"3", 0), (b"1", 7), (b"2", 3)):
        harness.send(body, priority=priority)
    assert bodies(look(harness)) == [b"1", b"2", b"3"]
    assert bodies(look(harness, backwards=True)) == [b"1", b"2", b"3"]
    second = look(harness).messages[1].lookup_id
    assert bodies(look(harness, second)) == [b"3"]
    assert bodies(look(harness, second, backwards=True)) == [b"1"]
    # The place is known after its message has left.
    harness.qm.traffic.read_by_lookup_id(harness.open(RECEIVE), second, Seek.CURRENT, receive=True)
    assert bodies(look(harness, second)) == [b"3"]


@pytest.mark.parametrize("backwards", [False, True])
def test_a_page_says_whether_there_are_more(harness: Harness, *, backwards: bool) -> None:
    for number in range(5):
        harness.send(b"%d" % number)
    page = look(harness, backwards=backwards, count=2)
    assert (bodies(page), page.more) == ([b"3", b"4"] if backwards else [b"0", b"1"], True)
    assert not look(harness, backwards=backwards, count=5).more
    small = look(harness, backwards=backwards, size=1)
    assert (len(small.messages), small.more) == (1, True)


def test_locked_messages_keep_their_place_and_say_who_has_them(harness: Harness) -> None:
    for number in range(4):
        harness.send(b"%d" % number)
    reader = harness.open(RECEIVE)
    ids = [message.lookup_id for message in look(harness).messages]
    for place in (1, 2):
        harness.qm.traffic.read_by_lookup_id(
            reader, ids[place], Seek.CURRENT, receive=True, two_phase=True
        )
    page = look(harness)
    assert bodies(page) == [b"0", b"1", b"2", b"3"]
    assert [(index, state) for index, state, _ in page.states] == [(1, "locked"), (2, "locked")]
    assert page.states[0][2].startswith("reader ")
    assert bodies(look(harness, ids[0], count=1)) == [b"1"]
    assert bodies(look(harness, ids[3], backwards=True, count=1)) == [b"2"]
    assert bodies(look(harness, ids[3], backwards=True, count=9)) == [b"0", b"1", b"2"]
    for backwards in (False, True):
        assert bodies(look(harness, backwards=backwards, hidden=True)) == [b"1", b"2"]
    first = look(harness, count=1, hidden=True)
    assert (bodies(first), first.more) == ([b"1"], True)
    assert bodies(look(harness, ids[1], hidden=True)) == [b"2"]


def test_an_empty_queue_shows_nothing(harness: Harness) -> None:
    page = look(harness)
    assert (page.messages, page.states, page.more) == ([], [], False)


def test_only_who_may_look_sees_anything(harness: Harness) -> None:
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.ranges.browse(
            harness.open(SEND), None, backwards=False, max_count=1, max_bytes=1
        )
