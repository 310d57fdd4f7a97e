"""Which outgoing message is sent next ([MS-MQDMPR] 3.1.7.1.28-29, 34, 3.1.7.3.9)."""

import pytest
from tests.core.harness import ADMINISTRATOR, USER, Harness

from openmsmq.core.model.message import Message
from openmsmq.core.transfer.outgoing.dispatch import DispatchCollection
from openmsmq.wire.codes.message_class import MessageClass

SPEC = pytest.mark.spec
ONE, TWO = (rf"DIRECT=OS:{host}\private$\q" for host in ("one", "two"))


def send(harness: Harness, name: str, *priorities: int) -> list[Message]:
    return [harness.send(b"x", name=name, priority=priority).messages[0] for priority in priorities]


@SPEC("MQDMPR-3.1.7.1.28-01")
def test_the_priority_of_an_entry_is_that_of_queue_and_message(harness: Harness) -> None:
    (message,) = send(harness, ONE, 5)
    message.queue.properties.base_priority = 100
    entry = harness.qm.outgoing.add_to_dispatch(message, "session")
    assert entry is not None
    assert (entry.message, entry.priority, entry.protocol_data) == (message, 105, "session")
    assert entry.send_in_progress


@SPEC("MQDMPR-3.1.7.1.28-01", "MQDMPR-3.1.7.3.9-01")
def test_one_message_is_sent_at_a_time(harness: Harness) -> None:
    first, second = send(harness, ONE, 3, 7)
    outgoing = harness.qm.outgoing
    sending = outgoing.add_to_dispatch(first, None)
    assert outgoing.add_to_dispatch(second, None) is None
    waiting = harness.qm.state.dispatch.get(second)
    assert waiting is not None
    assert not waiting.send_in_progress
    assert harness.qm.state.dispatch.send_next() is None
    assert harness.qm.state.dispatch.in_progress is sending


@SPEC("MQDMPR-3.1.7.1.29-01", "MQDMPR-3.1.7.3.9-02", "MQDMPR-3.1.7.3.9-04")
def test_when_one_is_sent_the_highest_priority_goes_next(harness: Harness) -> None:
    blocker, low, high, also_high = send(harness, ONE, 3, 1, 6, 6)
    (base,) = send(harness, TWO, 0)
    base.queue.properties.base_priority = 50
    outgoing = harness.qm.outgoing
    for message in (blocker, low, high, also_high, base):
        outgoing.add_to_dispatch(message, None)
    order = []
    message = blocker
    while (entry := outgoing.remove_from_dispatch(message)) is not None:
        assert entry.send_in_progress
        message = entry.message
        order.append(message)
    assert order == [base, high, also_high, low]
    assert len(harness.qm.state.dispatch) == 0


@SPEC("MQDMPR-3.1.7.1.29-01")
def test_removing_what_is_not_there_is_no_error(harness: Harness) -> None:
    one, two = send(harness, ONE, 3, 3)
    harness.qm.outgoing.add_to_dispatch(one, None)
    assert harness.qm.outgoing.remove_from_dispatch(two) is None
    assert len(harness.qm.state.dispatch) == 1


@SPEC("MQDMPR-3.1.7.3.9-02", "MQDMPR-3.1.7.1.28-02")
def test_messages_that_are_gone_or_may_not_leave_are_passed_over(harness: Harness) -> None:
    gone, held = send(harness, ONE, 7, 6)
    (free,) = send(harness, TWO, 0)
    blocker = send(harness, TWO, 0)[0]
    outgoing = harness.qm.outgoing
    for message in (blocker, gone, held, free):
        outgoing.add_to_dispatch(message, None)
    outgoing.finish(gone.queue, [gone], MessageClass.NACK_DELETED)
    outgoing.pause(held.queue, caller=ADMINISTRATOR)
    entry = outgoing.remove_from_dispatch(blocker)
    assert entry is not None
    assert entry.message is free
    assert outgoing.remove_from_dispatch(free) is None
    outgoing.resume(held.queue, caller=ADMINISTRATOR)
    entry = harness.qm.state.dispatch.send_next()
    assert entry is not None
    assert entry.message is held


@SPEC("MQDMPR-3.1.7.1.34-01")
def test_all_entries_of_a_queue_go_without_sending_the_next(harness: Harness) -> None:
    mine = send(harness, ONE, 7, 7)
    (other,) = send(harness, TWO, 0)
    outgoing = harness.qm.outgoing
    for message in (*mine, other):
        outgoing.add_to_dispatch(message, None)
    outgoing.remove_queue_from_dispatch(mine[0].queue)
    dispatch = harness.qm.state.dispatch
    assert (len(dispatch), dispatch.in_progress) == (1, None)
    entry = dispatch.get(other)
    assert entry is not None
    assert not entry.send_in_progress


@SPEC("MQDMPR-3.1.7.3.9-03")
def test_protocol_data_tells_the_binary_protocol_from_srmp(harness: Harness) -> None:
    one, two = send(harness, ONE, 3, 3)
    session = object()
    first = harness.qm.outgoing.add_to_dispatch(one, session)
    assert first is not None
    assert first.protocol_data is session
    harness.qm.outgoing.add_to_dispatch(two, None)
    second = harness.qm.outgoing.remove_from_dispatch(one)
    assert second is not None
    assert second.protocol_data is None


@SPEC("MQDMPR-3.1.1.1-26")
def test_after_a_restart_the_messages_are_there_to_be_added_again(harness: Harness) -> None:
    for message in send(harness, ONE, 3, 5):
        harness.qm.outgoing.add_to_dispatch(message, None)
    harness.restart()
    assert len(harness.qm.state.dispatch) == 0
    queue = harness.qm.outgoing.find(ONE)
    read = harness.qm.outgoing.peek(queue, max_count=9, max_bytes=1 << 20)
    assert read is not None
    for message in read.messages:
        harness.qm.outgoing.add_to_dispatch(message, None)
    assert len(harness.qm.state.dispatch) == 2


def test_a_message_that_is_removed_while_it_waits_is_not_sent(harness: Harness) -> None:
    first, second, third = send(harness, ONE, 3, 7, 1)
    outgoing = harness.qm.outgoing
    for message in (first, second, third):
        outgoing.add_to_dispatch(message, None)
    assert outgoing.remove_from_dispatch(second) is None
    entry = outgoing.remove_from_dispatch(first)
    assert entry is not None
    assert entry.message is third


def test_an_empty_collection_sends_nothing() -> None:
    assert DispatchCollection().send_next() is None


def test_a_message_of_a_local_queue_is_never_dispatched(harness: Harness) -> None:
    sent = harness.send(b"1")
    assert harness.qm.outgoing.add_to_dispatch(sent.messages[0], None) is None
    harness.qm.delete_queue(sent.messages[0].queue, caller=USER)
