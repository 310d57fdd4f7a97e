"""What becomes of a message that leaves its queue ([MS-MQDMPR] 3.1.7.2.1)."""

from typing import Any

import pytest
from tests.core.harness import (
    ADMINISTRATOR,
    ORDERS,
    OTHER_GUID,
    PEEK,
    RECEIVE,
    USER,
    Harness,
    bodies,
    packet,
    runs_of,
)

from openmsmq.core.events import MessagesDeleted, ReadSatisfied
from openmsmq.core.model.read import Read
from openmsmq.core.transfer.incoming.delivery import deliver
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import TxSequenceID

SPEC = pytest.mark.spec
PAY = r".\private$\pay"
OWN = r".\private$\failures"
TARGET_JOURNAL = ORDERS + ";journal"
JOURNAL, DEADLETTER, DEADXACT = (
    rf".\system$;{suffix}" for suffix in ("journal", "deadletter", "deadxact")
)


@pytest.fixture
def journaled(harness: Harness) -> Harness:
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, journaling=True)
    return harness


def send_transactional(harness: Harness, *contents: bytes, **properties: Any) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(*contents, name=PAY, transaction=transaction, **properties)
    harness.qm.traffic.commit(transaction.identifier)


# The journal of a queue


@SPEC("MQDMPR-3.1.1.2-05", "MQDMPR-3.1.7.2.1-04")
def test_received_messages_are_kept_in_the_journal(journaled: Harness) -> None:
    journaled.send(b"1", b"2", b"3")
    journaled.qm.traffic.dequeue_many(journaled.open(RECEIVE), max_count=2)
    assert journaled.contents() == [b"3"]
    assert journaled.contents(TARGET_JOURNAL) == [b"1", b"2"]
    journaled.restart()
    assert journaled.contents() == [b"3"]
    assert journaled.contents(TARGET_JOURNAL) == [b"1", b"2"]


@SPEC("MQDMPR-3.1.1.2-05")
def test_without_journaling_there_is_no_copy(harness: Harness) -> None:
    harness.send(b"1")
    harness.drain()
    assert harness.contents(TARGET_JOURNAL) == []


@SPEC("MQDMPR-3.1.7.2.1-04")
def test_only_a_receive_makes_a_journal_copy(journaled: Harness) -> None:
    journaled.send(b"expired", time_to_be_received=1)
    journaled.advance(1)
    journaled.send(b"purged")
    journaled.qm.traffic.purge(journaled.open(RECEIVE))
    assert journaled.contents(TARGET_JOURNAL) == []


def test_a_journal_copy_is_a_place_of_its_own_and_the_packet_stays(journaled: Harness) -> None:
    sent = journaled.send(b"1")
    original = sent.messages[0].packet
    journaled.flush()
    journaled.advance(7)
    journaled.drain()
    taken = journaled.qm.take_batch()
    assert taken is not None
    assert list(taken[1].updates) == [sent.messages[0].key]
    assert (taken[1].put_keys, taken[1].deletes) == ([], [])
    (copy,) = journaled.qm.find_queue(TARGET_JOURNAL).lanes
    assert copy.lookup_id > sent.lookup_ids[0]
    assert (copy.packet, copy.arrived) == (original, journaled.utc)


def test_a_receive_from_the_journal_is_final(journaled: Harness) -> None:
    journaled.send(b"1", b"2", delivery_mode=0)
    journaled.drain()
    read = journaled.qm.traffic.dequeue_many(journaled.open(RECEIVE, TARGET_JOURNAL))
    assert bodies(read) == [b"1"]
    assert journaled.contents(TARGET_JOURNAL) == [b"2"]


def test_receives_from_a_subqueue_are_kept_in_the_journal_of_its_queue(
    journaled: Harness,
) -> None:
    journaled.send(b"1")
    later = journaled.open(RECEIVE, ORDERS + ";later")
    journaled.qm.traffic.move_many(journaled.open(RECEIVE), later)
    journaled.qm.traffic.dequeue_many(later)
    assert journaled.contents(TARGET_JOURNAL) == [b"1"]


def test_readers_of_a_journal_are_woken(journaled: Harness) -> None:
    read = journaled.qm.traffic.dequeue_many(journaled.open(RECEIVE, TARGET_JOURNAL))
    journaled.send(b"1")
    journaled.drain()
    assert [event.read for event in journaled.take_events(ReadSatisfied)] == [read]


# The journal and the dead letters of the machine


@SPEC("MQDMPR-3.1.1.12-17")
@pytest.mark.parametrize(("wanted", "expected"), [(True, [b"1"]), (False, [])])
def test_a_local_send_is_journaled_when_it_arrives(
    harness: Harness, *, wanted: bool, expected: list[bytes]
) -> None:
    harness.send(b"1", positive_journaling=wanted)
    assert harness.contents(JOURNAL) == expected
    assert harness.contents() == [b"1"]
    harness.drain()
    harness.restart()
    assert harness.contents(JOURNAL) == expected


@SPEC("MQDMPR-3.1.1.12-17")
def test_a_transactional_send_is_journaled_when_it_is_received(harness: Harness) -> None:
    harness.create(PAY, transactional=True, journaling=True)
    send_transactional(harness, b"1", positive_journaling=True)
    assert harness.contents(JOURNAL) == []
    harness.drain(PAY)
    for _ in range(2):
        assert harness.contents(JOURNAL) == harness.contents(PAY + ";journal") == [b"1"]
        harness.restart()


@SPEC("MQDMPR-3.1.7.2.7-05", "MQDMPR-3.1.1.12-19")
@pytest.mark.parametrize(("wanted", "expected"), [(True, [b"1"]), (False, [])])
def test_an_expired_message_is_a_dead_letter(
    harness: Harness, *, wanted: bool, expected: list[bytes]
) -> None:
    harness.send(b"1", time_to_be_received=1, negative_journaling=wanted)
    harness.advance(1)
    assert harness.contents(DEADLETTER) == expected
    harness.restart()
    assert harness.contents(DEADLETTER) == expected


@SPEC("MQDMPR-3.1.1.12-05")
def test_dead_letters_of_transactional_messages_have_a_queue_of_their_own(
    harness: Harness,
) -> None:
    harness.create(PAY, transactional=True)
    harness.send(b"plain", time_to_be_received=1, negative_journaling=True)
    send_transactional(harness, b"paid", time_to_be_received=1, negative_journaling=True)
    harness.advance(1)
    assert harness.contents(DEADLETTER) == [b"plain"]
    assert harness.contents(DEADXACT) == [b"paid"]


@pytest.mark.parametrize("how", ["purge", "delete"])
def test_a_purged_transactional_message_is_a_dead_letter(harness: Harness, how: str) -> None:
    queue = harness.create(PAY, transactional=True)
    send_transactional(harness, b"1", negative_journaling=True)
    harness.send(b"2", negative_journaling=True)
    if how == "purge":
        harness.qm.traffic.purge(harness.open(RECEIVE, PAY))
        harness.qm.traffic.purge(harness.open(RECEIVE))
    else:
        harness.qm.delete_queue(queue, caller=USER)
        harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    assert harness.contents(DEADXACT) == [b"1"]
    assert harness.contents(DEADLETTER) == []


@SPEC("MQDMPR-3.1.1.12-04")
def test_an_application_may_have_a_dead_letter_queue_of_its_own(harness: Harness) -> None:
    harness.create(OWN)
    harness.send(b"1", time_to_be_received=5, negative_journaling=True, deadletter_queue=OWN)
    harness.send(b"2", time_to_be_received=5, negative_journaling=True)
    harness.send(b"3", time_to_be_received=5, deadletter_queue=OWN)
    harness.restart()
    harness.advance(5)
    assert harness.contents(OWN) == [b"1"]
    assert harness.contents(DEADLETTER) == [b"2"]


@SPEC("MQDMPR-3.1.1.12-04")
@pytest.mark.parametrize("transactional", [None, True])
def test_a_dead_letter_queue_that_cannot_take_it_is_passed_over(
    harness: Harness, *, transactional: bool | None
) -> None:
    if transactional:
        harness.create(OWN, transactional=True)
    harness.send(b"1", time_to_be_received=5, negative_journaling=True, deadletter_queue=OWN)
    harness.advance(5)
    assert harness.contents(DEADLETTER) == [b"1"]


def test_what_came_from_elsewhere_is_not_journaled_here(harness: Harness) -> None:
    queue = harness.create(PAY, transactional=True)
    header = TransactionHeader(0, TxSequenceID(1, 1), 1, 0)
    messages = [
        UserMessage(
            packet(
                b"1",
                source_queue_manager=OTHER_GUID,
                transaction_header=header,
                positive_journaling=True,
                negative_journaling=True,
            )
        )
        for _ in range(2)
    ]
    deliver(harness.qm.state, queue, runs_of(*messages))
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY))
    harness.qm.traffic.purge(harness.open(RECEIVE, PAY))
    assert harness.contents(JOURNAL) == harness.contents(DEADXACT) == []
    # The final acknowledgments follow from these.
    reasons = [event.reason for event in harness.take_events(MessagesDeleted)]
    assert reasons == [MessageClass.ACK_RECEIVE, MessageClass.NACK_Q_PURGED]


def test_a_dead_letter_shows_the_reason_as_its_class(harness: Harness) -> None:
    harness.send(b"1", time_to_be_received=1, negative_journaling=True)
    harness.advance(1)
    for _ in range(2):
        read = harness.qm.traffic.peek_many(harness.open(PEEK, DEADLETTER, caller=ADMINISTRATOR))
        assert isinstance(read, Read)
        (view,) = map(UserMessage, read.packets)
        assert (view.message_class, view.body) == (MessageClass.NACK_RECEIVE_TIMEOUT, b"1")
        harness.restart()


@SPEC("MQDMPR-3.1.7.2.1-03")
@pytest.mark.parametrize(
    "reason",
    [
        MessageClass.ACK_RECEIVE,
        MessageClass.NACK_Q_DELETED,
        MessageClass.NACK_Q_PURGED,
        MessageClass.NACK_RECEIVE_TIMEOUT,
        MessageClass.NACK_RECEIVE_REJECTED,
    ],
)
def test_every_reason_is_told_and_counted(harness: Harness, reason: MessageClass) -> None:
    queue = harness.qm.find_queue(ORDERS)
    sent = harness.send(b"1", negative_journaling=True, time_to_be_received=9)
    descriptor = harness.open(RECEIVE)
    if reason is MessageClass.NACK_Q_DELETED:
        harness.qm.delete_queue(queue, caller=USER)
    elif reason is MessageClass.NACK_Q_PURGED:
        harness.qm.traffic.purge(descriptor)
    elif reason is MessageClass.NACK_RECEIVE_TIMEOUT:
        harness.advance(9)
    else:
        harness.qm.traffic.dequeue_many(descriptor, two_phase=True)
        harness.qm.traffic.end_many(descriptor, sent.lookup_ids, delete=True, reason=reason)
    (event,) = harness.take_events(MessagesDeleted)
    assert (event.queue, event.messages, event.reason) == (queue, sent.messages, reason)
    assert event.depends == harness.qm.state.outbox.number
    assert queue.counters.deleted == {reason: 1}
