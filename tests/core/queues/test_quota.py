"""Quotas and byte counts ([MS-MQDMPR] 3.1.7.1.9)."""

import pytest
from tests.core.harness import ORDERS, RECEIVE, SEND, USER, Harness, packet, refused, runs_of

from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.acceptance import EnqueueStatus, check_room, quota_used_up
from openmsmq.core.transfer.incoming.delivery import STATUS_CLASSES, deliver
from openmsmq.directory.objects import UNLIMITED
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

SPEC = pytest.mark.spec
KILOBYTE = 1024


def big(size: int) -> UserMessage:
    """A message whose packet has exactly this size."""
    overhead = len(packet(b""))
    message = UserMessage(packet(bytes(size - overhead)))
    assert len(message.packet) == size
    return message


def arrive(harness: Harness, queue: Queue, size: int) -> EnqueueStatus:
    """Let a message of this size arrive; return the status, which its fate agrees with."""
    status = check_room(harness.qm.state, queue, size)
    count = queue.count
    deliver(harness.qm.state, queue, runs_of(big(size)))
    assert queue.count == count + (status is EnqueueStatus.OK)
    return status


@SPEC("MQDMPR-3.1.7.1.9-12")
def test_the_statuses_have_their_numbers_and_peers_are_told_of_them(harness: Harness) -> None:
    assert [int(status) for status in EnqueueStatus] == [0, 1, 2, 3]
    queue = harness.create(r".\private$\small", quota=1)
    late = UserMessage(
        packet(sent_time=int(harness.utc) - 11, time_to_reach_queue=10, message_id=9)
    )
    in_time = UserMessage(packet(sent_time=int(harness.utc) - 10, time_to_reach_queue=10))
    delivered = deliver(harness.qm.state, queue, runs_of(in_time, late, big(1024)))
    assert delivered.classes == [
        STATUS_CLASSES[status]
        for status in (EnqueueStatus.OK, EnqueueStatus.TIMED_OUT, EnqueueStatus.QUEUE_QUOTA)
    ]
    assert delivered.classes == [
        MessageClass.ACK_REACH_QUEUE,
        MessageClass.NACK_REACH_QUEUE_TIMEOUT,
        MessageClass.NACK_Q_EXCEED_QUOTA,
    ]
    assert queue.count == 1
    # With no room in the queue manager nobody is told anything: the sender keeps it.
    harness.qm.state.manager.queue_manager_quota = 0
    assert deliver(harness.qm.state, queue, runs_of(big(200))).classes == []


@SPEC("MQDMPR-3.1.7.1.27-01")
def test_a_message_that_is_sent_is_one_enqueue_and_its_status_is_the_answer(
    harness: Harness,
) -> None:
    queue = harness.create(r".\private$\small", quota=1)
    sent = harness.send(b"1", name=r".\private$\small")
    assert (len(sent.messages), queue.count) == (1, 1)
    with pytest.raises(QueueError, match=r"over the quota of the queue$"):
        harness.send(bytes(1024), name=r".\private$\small")
    harness.qm.state.manager.queue_manager_quota = 0
    with pytest.raises(QueueError, match=r"over the quota of the queue manager$"):
        harness.send(b"1", name=r".\private$\small")
    assert queue.count == 1


@SPEC("MQDMPR-3.1.7.1.9-03", "MQDMPR-3.1.1.2-06")
def test_a_queue_takes_as_many_kilobytes_as_its_quota(harness: Harness) -> None:
    queue = harness.create(r".\private$\small", quota=2)
    assert arrive(harness, queue, 2 * KILOBYTE - 200) == 0
    assert arrive(harness, queue, 204) == 1
    assert arrive(harness, queue, 200) == 0
    assert (queue.count, queue.total_bytes) == (2, 2 * KILOBYTE)


@SPEC("MQDMPR-3.1.7.1.9-02", "MQDMPR-3.1.7.1.9-03")
def test_the_quota_of_the_queue_manager_comes_first(harness: Harness) -> None:
    harness.qm.state.manager.queue_manager_quota = 1
    queue = harness.create(r".\private$\small", quota=0)
    assert arrive(harness, queue, KILOBYTE + 4) == 2
    other = harness.qm.find_queue(ORDERS)
    assert arrive(harness, other, KILOBYTE) == 0
    assert arrive(harness, other, 200) == 2
    assert (queue.count, other.count) == (0, 1)


def test_the_queue_manager_says_that_its_quota_is_used_up(harness: Harness) -> None:
    queue = harness.create(r".\private$\small")
    assert not quota_used_up(harness.qm.state)
    harness.qm.state.manager.queue_manager_quota = 2
    arrive(harness, queue, KILOBYTE)
    assert not quota_used_up(harness.qm.state)
    arrive(harness, queue, 200)
    assert quota_used_up(harness.qm.state)


@pytest.mark.parametrize(
    ("machine_quota", "throttled", "detail", "remedy"),
    [
        (UNLIMITED, True, "the disk with the data directory is full", "Free space on the disk"),
        (UNLIMITED, False, "over the quota of the queue", r"queue set '.\private$\small' --quota"),
        (0, False, "over the quota of the queue manager", "raise quota_kilobytes"),
    ],
)
def test_a_refusal_says_which_room_is_used_up(
    harness: Harness, *, machine_quota: int, throttled: bool, detail: str, remedy: str
) -> None:
    harness.create(r".\private$\small", quota=0)
    harness.qm.state.manager.queue_manager_quota = machine_quota
    harness.qm.outgoing.set_throttled(throttled=throttled)
    with pytest.raises(QueueError) as caught:
        harness.send(b"x", name=r".\private$\small")
    assert caught.value.code == Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES
    assert caught.value.detail.endswith(detail)
    assert remedy in caught.value.remedy


@SPEC("MQDMPR-3.1.7.1.9-01")
def test_a_throttled_queue_manager_answers_as_if_it_were_full(harness: Harness) -> None:
    harness.qm.outgoing.set_throttled(throttled=True)
    queue = harness.qm.find_queue(ORDERS)
    assert arrive(harness, queue, 200) == 2
    assert queue.count == 0


@SPEC("MQDMPR-3.1.7.1.9-04", "MQDMPR-3.1.1.1-05")
def test_the_largest_quota_is_no_limit(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    assert queue.properties.quota == harness.qm.state.manager.queue_manager_quota == UNLIMITED
    queue.total_bytes = harness.qm.state.totals.bytes = 1 << 50
    assert arrive(harness, queue, 200) == 0


@SPEC("MQDMPR-3.1.7.2.2-01", "MQDMPR-3.1.7.2.1-01", "MQDMPR-3.1.1.2-17")
def test_bytes_are_counted_with_headers(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    harness.send(b"x" * 100, b"y")
    sizes = [message.size for message in queue.lanes]
    assert sizes == [len(packet(b"x" * 100)), len(packet(b"y"))]
    assert queue.total_bytes == harness.qm.state.totals.bytes == sum(sizes)
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    assert queue.total_bytes == sizes[1]
    harness.restart()
    queue = harness.qm.find_queue(ORDERS)
    assert queue.total_bytes == harness.qm.state.totals.bytes == sizes[1]


def test_messages_that_fit_are_taken_in_their_order(harness: Harness) -> None:
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, quota=2)
    harness.send(b"a" * 100)
    sent = harness.send(b"b" * 500, b"c" * 500, b"d" * 900, b"e")
    assert sent.refusal is not None
    size = len(packet(b"d" * 900))
    assert sent.refusal.accepted == 2
    assert sent.refusal.detail == f"{size} bytes more are over the quota of the queue"
    assert [message.lookup_id for message in harness.qm.find_queue(ORDERS).lanes][1:] == (
        sent.lookup_ids
    )
    harness.restart()
    assert harness.contents() == [b"a" * 100, b"b" * 500, b"c" * 500]


def test_a_send_of_which_nothing_fits_leaves_nothing_behind(harness: Harness) -> None:
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, quota=1)
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.send(b"a" * 1000, b"b")
    assert harness.contents() == []
    assert harness.send(b"a" * 500).refusal is None


def test_the_quota_of_the_queue_manager_cuts_a_send(harness: Harness) -> None:
    harness.qm.state.manager.queue_manager_quota = 1
    sent = harness.send(b"a" * 500, b"b" * 500)
    assert sent.refusal is not None
    assert "over the quota of the queue manager" in sent.refusal.detail
    assert harness.contents() == [b"a" * 500]


def test_a_full_disk_is_named(harness: Harness) -> None:
    harness.qm.outgoing.set_throttled(throttled=True)
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES: the disk with the data directory is full"):
        harness.send(b"a")


def test_a_message_that_the_queue_does_not_take_ends_a_send(harness: Harness) -> None:
    harness.qm.set_queue(
        harness.qm.find_queue(ORDERS), caller=USER, privacy_level=QueuePrivacyLevel.NONE
    )
    encrypted = packet(
        b"2", security_header=SecurityHeader(SecurityHeaderFlags.EB, encryption_key=b"key")
    )
    descriptor = harness.open(SEND)
    sent = harness.qm.traffic.enqueue_many(descriptor, [packet(b"1"), encrypted, packet(b"3")])
    assert sent.refusal is not None
    assert sent.refusal.accepted == 1
    assert harness.contents() == [b"1"]


def test_what_one_of_several_queues_refuses_ends_a_send_to_all(harness: Harness) -> None:
    names = [rf".\private$\{name}" for name in ("a", "b", "c")]
    for name in names:
        harness.create(name, quota=1 if name.endswith("b") else 100)
    several = ",".join(rf"DIRECT=OS:.\private$\{name}" for name in ("a", "b", "c"))
    sent = harness.send(b"a" * 500, b"b" * 500, name=several)
    assert sent.refusal is not None
    assert sent.refusal.accepted == 1
    assert [len(harness.contents(name)) for name in names] == [2, 1, 1]


def test_a_transaction_takes_all_or_nothing(harness: Harness) -> None:
    harness.create(r".\private$\t", transactional=True, quota=1)
    transaction = harness.qm.traffic.begin(harness.guid())
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.send(b"a" * 500, b"b" * 500, name=r".\private$\t", transaction=transaction)
    harness.qm.traffic.commit(transaction.identifier)
    assert harness.contents(r".\private$\t") == []


def test_a_transaction_counts_what_it_will_send(harness: Harness) -> None:
    harness.create(r".\private$\t", transactional=True, quota=1)
    one = harness.qm.traffic.begin(harness.guid())
    harness.send(b"a" * 600, name=r".\private$\t", transaction=one)
    two = harness.qm.traffic.begin(harness.guid())
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.send(b"a" * 600, name=r".\private$\t", transaction=two)
    harness.qm.traffic.abort(one.identifier)
    harness.send(b"a" * 600, name=r".\private$\t", transaction=two)


@SPEC("MQDMPR-3.1.1.2-06", "MQDMPR-3.1.7.2.1-04")
def test_a_journal_keeps_as_many_kilobytes_as_its_quota(harness: Harness) -> None:
    harness.qm.set_queue(
        harness.qm.find_queue(ORDERS), caller=USER, journaling=True, journal_quota=1
    )
    harness.send(b"a" * 600, b"b" * 600)
    assert harness.drain() == [b"a" * 600, b"b" * 600]
    assert harness.contents(ORDERS + ";journal") == [b"a" * 600]


@SPEC("MQDMPR-3.1.1.1-06")
def test_the_journals_together_have_a_quota(harness: Harness) -> None:
    assert harness.qm.state.manager.journal_quota == UNLIMITED
    harness.qm.state.manager.journal_quota = 1
    harness.create(r".\private$\other", journaling=True)
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, journaling=True)
    harness.send(b"a" * 600)
    harness.send(b"b" * 600, name=r".\private$\other")
    harness.drain()
    harness.drain(r".\private$\other")
    assert harness.contents(ORDERS + ";journal") == [b"a" * 600]
    assert harness.contents(r".\private$\other;journal") == []
    assert harness.drain(ORDERS + ";journal") == [b"a" * 600]
    harness.send(b"c" * 600, name=r".\private$\other")
    harness.drain(r".\private$\other")
    assert harness.contents(r".\private$\other;journal") == [b"c" * 600]
