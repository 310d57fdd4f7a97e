"""What finds no place is told of; where acknowledgments may go is limited."""

from functools import partial
from uuid import UUID

import pytest
from tests.core.harness import (
    ADMINISTRATOR,
    ORDERS,
    RECEIVE,
    SEND,
    Harness,
    packet,
    refused,
    runs_of,
)

from openmsmq.core.events import MessageDropped, QueueDeleted
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.incoming import delivery
from openmsmq.core.transfer.incoming.delivery import MAX_PER_ADDRESS, deliver, learn_address
from openmsmq.wire.codes.message_enums import Acknowledgment
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address, public_address

PAY = r".\private$\pay"


def drops(harness: Harness) -> list[tuple[str, str, str]]:
    return [(each.what, each.queue, each.reason) for each in harness.take_events(MessageDropped)]


def acknowledged(name: str, body: bytes = b"body") -> UserMessage:
    """A message that wants to be acknowledged on arrival at a queue of this name."""
    return UserMessage(
        packet(
            body,
            admin_queue=direct_address(name),
            acknowledgments=Acknowledgment.POS_ARRIVAL,
            message_id=77,
            delivery_mode=0,
        )
    )


def bring(harness: Harness, *messages: UserMessage) -> None:
    deliver(harness.qm.state, harness.qm.find_queue(ORDERS), runs_of(*messages))


def destinations(harness: Harness) -> list[str]:
    harness.settle()
    return [queue.path for queue in harness.qm.outgoing.queues]


def test_a_journal_copy_over_the_quota_is_told_of(harness: Harness) -> None:
    harness.create(PAY, journaling=True, journal_quota=1)
    harness.send(b"x" * 2000, name=PAY)
    read = harness.qm.traffic.dequeue_many(harness.open(RECEIVE, PAY))
    (event,) = harness.take_events(MessageDropped)
    assert (event.what, event.queue) == ("journal copy", r"private$\pay;JOURNAL")
    assert event.identifier == read.packets[0][16:32] + read.packets[0][56:60]  # type: ignore[union-attr]
    assert event.depends == harness.qm.state.outbox.number


def test_the_journal_of_the_machine_and_dead_letters_over_the_quota_are_told_of(
    harness: Harness,
) -> None:
    state = harness.qm.state
    state.machine_journal.properties.quota = state.deadletter.properties.quota = 0
    harness.send(b"1", positive_journaling=True)
    harness.send(b"2", negative_journaling=True, time_to_be_received=1)
    harness.advance(5)
    assert drops(harness) == [
        ("journal copy", state.machine_journal.path, "over the quota"),
        ("dead letter", state.deadletter.path, "over the quota"),
    ]
    assert not state.machine_journal.count
    assert not state.deadletter.count


def test_a_refused_message_and_its_dead_letter_are_told_of(harness: Harness) -> None:
    state = harness.qm.state
    queue = harness.qm.find_queue(ORDERS)
    queue.properties.quota = state.deadletter.properties.quota = 0
    bring(harness, UserMessage(packet(b"1", negative_journaling=True)))
    assert drops(harness) == [
        ("message", r"private$\orders", "NACK_Q_EXCEED_QUOTA"),
        ("dead letter", state.deadletter.path, "over the quota"),
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (r"OS:qm\private$\nothing", "MQ_ERROR_QUEUE_NOT_FOUND"),
        (r"OS:qm\private$\pay", "transactional"),
        (r"OS:qm\private$\full", "over the quota"),
    ],
)
def test_an_acknowledgment_that_no_queue_takes_is_told_of(
    harness: Harness, name: str, reason: str
) -> None:
    harness.create(PAY, transactional=True)
    harness.create(r".\private$\full", quota=0)
    bring(harness, acknowledged(name))
    ((what, queue, why),) = drops(harness)
    assert what == "acknowledgment"
    assert queue.endswith(name.rpartition("\\")[2])
    assert reason in why


def test_peers_cannot_make_more_outgoing_queues_than_there_may_be() -> None:
    harness = Harness(settings=Settings(max_outgoing_queues=3))
    harness.create()
    bring(harness, *(acknowledged(rf"TCP:10.9.9.{each}\private$\a") for each in range(5)))
    assert len(destinations(harness)) == 3
    assert [why for _, _, why in drops(harness)] == ["too many outgoing queues"] * 2
    # What has its outgoing queue already, or needs none, goes on.
    bring(harness, acknowledged(r"TCP:10.9.9.0\private$\a"))
    bring(harness, acknowledged(r"OS:qm\private$\orders"))
    assert drops(harness) == []
    assert harness.qm.find_queue(ORDERS).count == 8
    # So do applications.
    harness.send(b"1", name=r"DIRECT=TCP:10.9.9.100\private$\a")
    assert len(destinations(harness)) == 4


def test_outgoing_queues_that_are_not_used_make_room(harness: Harness) -> None:
    harness.settings.max_outgoing_queues = 2
    kept = harness.send(b"1", name=r"DIRECT=TCP:10.9.9.1\private$\a").messages
    unused = harness.open(SEND, r"DIRECT=TCP:10.9.9.2\private$\a")
    bring(harness, acknowledged(r"TCP:10.9.9.3\private$\a"))
    assert [what for what, _, _ in drops(harness)] == ["acknowledgment"]
    queue = unused.queue
    harness.qm.close_queue(unused)
    bring(harness, acknowledged(r"TCP:10.9.9.3\private$\a"))
    assert drops(harness) == []
    assert [event.queue for event in harness.take_events(QueueDeleted)] == [queue]
    names = {r"DIRECT=TCP:10.9.9.1\private$\a", r"DIRECT=TCP:10.9.9.3\private$\a"}
    assert set(destinations(harness)) == names
    harness.restart()
    assert r"DIRECT=TCP:10.9.9.2\private$\a" not in destinations(harness)
    assert len(kept) == 1


def test_a_paused_outgoing_queue_is_not_forgotten(harness: Harness) -> None:
    harness.settings.max_outgoing_queues = 1
    descriptor = harness.open(SEND, r"DIRECT=TCP:10.9.9.1\private$\a")
    queue = harness.qm.outgoing.queues[0]
    harness.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
    harness.qm.close_queue(descriptor)
    bring(harness, acknowledged(r"TCP:10.9.9.3\private$\a"))
    assert harness.qm.outgoing.queues == [queue]


def test_one_address_stands_for_few_queue_managers(harness: Harness) -> None:
    learn = partial(learn_address, harness.qm.state)
    for number in range(MAX_PER_ADDRESS + 5):
        learn(UUID(int=number + 1), "10.0.0.1")
    learn(UUID(int=1000), "10.0.0.2")
    known = harness.qm.state.addresses
    assert len(known) == MAX_PER_ADDRESS + 1
    assert UUID(int=5) not in known
    assert known[UUID(int=6)] == "10.0.0.1"
    learn(UUID(int=6), "10.0.0.3")
    harness.restart()
    assert harness.qm.state.addresses[UUID(int=6)] == "10.0.0.3"
    assert UUID(int=5) not in harness.qm.state.addresses


@pytest.mark.interpreted
def test_the_addresses_of_the_latest_queue_managers_are_known(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert delivery.MAX_ADDRESSES == 10_000
    monkeypatch.setattr(delivery, "MAX_ADDRESSES", 20)
    learn = partial(learn_address, harness.qm.state)
    for number in range(21):
        learn(UUID(int=number + 1), f"10.{number}.0.1")
    known = harness.qm.state.addresses
    assert list(known) == [UUID(int=number) for number in range(2, 22)]


def test_a_queue_that_an_acknowledgment_cannot_name_is_told_of(harness: Harness) -> None:
    message = UserMessage(
        packet(
            admin_queue=public_address(UUID(int=9)),
            acknowledgments=Acknowledgment.POS_ARRIVAL,
            delivery_mode=0,
        )
    )
    harness.settings.max_outgoing_queues = 0
    bring(harness, message)
    ((what, queue, _),) = drops(harness)
    assert (what, queue) == ("acknowledgment", f"PUBLIC={UUID(int=9)}")
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.qm.outgoing.find(rf"PUBLIC={UUID(int=9)}")
