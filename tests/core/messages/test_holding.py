"""Messages by lookup id or message identifier: locked, purged, found."""

from uuid import UUID

from tests.core.harness import ORDERS, PEEK, QM_GUID, RECEIVE, Harness, bodies

from openmsmq.core.messages import holding
from openmsmq.wire.scalars import MessageIdentifier

ANSWERED = MessageIdentifier(UUID(int=5), 7).serialize()


def test_free_messages_are_locked_and_the_others_left_out(harness: Harness) -> None:
    first, second, third = harness.send(b"a", b"b", b"c").lookup_ids
    reader, other = harness.open(RECEIVE), harness.open(RECEIVE)
    assert bodies(harness.qm.traffic.hold_many(other, [second])) == [b"b"]
    held = harness.qm.traffic.hold_many(reader, [third, second, first, third, 4711])
    assert bodies(held) == [b"c", b"a"]
    assert harness.qm.traffic.hold_many(reader, [first, second]).messages == []
    harness.qm.traffic.end_many(reader, [third], delete=True)
    harness.qm.traffic.end_many(reader, [first], delete=False)
    harness.qm.traffic.end_many(other, [second], delete=False)
    assert harness.contents() == [b"a", b"b"]


def test_purged_messages_say_why(harness: Harness) -> None:
    _, second = harness.send(b"a", b"b").lookup_ids
    reader = harness.open(RECEIVE)
    assert harness.qm.traffic.purge_many(reader, [second, 4711]).value == [second]
    assert harness.qm.traffic.purge_many(reader, [second]).value == []
    assert harness.contents() == [b"a"]
    assert harness.qm.find_queue(ORDERS).counters.deleted == {0xC001: 1}


def find(
    harness: Harness, identifier: bytes, *, correlation: bool = False, hidden: bool = False
) -> tuple[int | None, int]:
    """What was found, and in how many steps."""
    steps = harness.qm.traffic.find_message(
        harness.open(PEEK), identifier, correlation=correlation, hidden=hidden
    )
    count = 1
    while True:
        try:
            next(steps)
            count += 1
        except StopIteration as end:
            return end.value, count


def test_a_message_is_found_by_its_identifier_in_steps(harness: Harness) -> None:
    sent = harness.send(*[b"x"] * (holding.FIND_STEP + 1))
    last = MessageIdentifier(QM_GUID, sent.first_ordinal + holding.FIND_STEP).serialize()
    assert find(harness, last) == (sent.lookup_ids[-1], 2)
    assert find(harness, MessageIdentifier(QM_GUID, 1 << 30).serialize()) == (None, 2)
    other = MessageIdentifier(UUID(int=1), sent.first_ordinal).serialize()
    assert find(harness, other) == (None, 2)


def test_a_message_is_found_by_its_correlation_identifier(harness: Harness) -> None:
    harness.send(b"x")
    answer = harness.send(b"answer", correlation_id=ANSWERED)
    assert find(harness, ANSWERED, correlation=True) == (answer.lookup_ids[0], 1)
    assert find(harness, ANSWERED) == (None, 1)


def test_a_locked_message_is_found_among_the_hidden_ones_in_steps(harness: Harness) -> None:
    sent = harness.send(*[b"x"] * (holding.FIND_STEP + 1))
    reader = harness.open(RECEIVE)
    harness.qm.traffic.hold_many(reader, sent.lookup_ids)
    last = MessageIdentifier(QM_GUID, sent.first_ordinal + holding.FIND_STEP).serialize()
    assert find(harness, last) == (None, 1)
    assert find(harness, last, hidden=True) == (sent.lookup_ids[-1], 2)
    harness.qm.traffic.end_many(reader, sent.lookup_ids[-1:], delete=True)
    assert find(harness, last, hidden=True) == (None, 2)
