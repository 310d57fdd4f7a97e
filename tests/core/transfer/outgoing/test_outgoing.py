"""Outgoing queues, pause and resume, flow control, source journal ([MS-MQDMPR] 3.1.1.3-4)."""

import pytest
from tests.core.harness import (
    ADMINISTRATOR,
    ORDERS,
    OTHER_GUID,
    PEEK,
    SEND,
    STRANGER,
    Harness,
    refused,
)

from openmsmq.core.events import (
    ConnectionActiveChanged,
    MessagesDeleted,
    OutgoingAvailable,
    QueuePaused,
    QueueResumed,
)
from openmsmq.core.model.outgoing_queue import (
    CONNECTION_HISTORY_LIMIT,
    ConnectionHistoryEntry,
    OutgoingTransferInfo,
)
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import Read
from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.message.sequence_info import SequenceInfo
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.names.queue_address_names import format_name_of

SPEC = pytest.mark.spec
HOLDING = OutgoingInput.PAUSED, OutgoingInput.LOCKED
REMOTE = r"DIRECT=OS:elsewhere\private$\q"
THIRD = r"DIRECT=OS:third\private$\q"
JOURNAL, DEADLETTER, DEADXACT = (
    rf".\system$;{suffix}" for suffix in ("journal", "deadletter", "deadxact")
)


@pytest.fixture
def outgoing(harness: Harness) -> Queue:
    harness.qm.close_queue(harness.open(SEND, REMOTE))
    return harness.qm.outgoing.find(REMOTE)


def waiting(harness: Harness, queue: Queue) -> list[bytes]:
    read = harness.qm.outgoing.peek(queue, max_count=100, max_bytes=1 << 20)
    return [] if read is None else [UserMessage(packet).body for packet in read.packets]


@SPEC("MQDMPR-3.1.1.2-15")
def test_an_outgoing_queue_with_messages_is_active(harness: Harness, outgoing: Queue) -> None:
    assert not outgoing.active
    sent = harness.send(b"1", name=REMOTE)
    assert outgoing.descriptors == {}
    assert outgoing.active
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.ACK_REACH_QUEUE)
    assert not outgoing.active


@SPEC("MQDMPR-3.1.1.3-02")
def test_the_states_of_an_outgoing_queue(harness: Harness, outgoing: Queue) -> None:
    assert set(QueueState) - {QueueState.LOCAL_CONNECTION} == {
        "CONNECTED",
        "DISCONNECTED",
        "DISCONNECTING",
        "INACTIVE",
        "LOCKED",
        "NEED VALIDATION",
        "WAITING",
        "ONHOLD",
    }
    assert outgoing.outgoing is not None
    for what, state in (
        (OutgoingInput.CONNECTING, QueueState.WAITING),
        (OutgoingInput.OPENED, QueueState.CONNECTED),
        (OutgoingInput.CLOSED, QueueState.DISCONNECTED),
    ):
        harness.qm.outgoing.change(outgoing, what)
        assert outgoing.outgoing.state is state


@pytest.mark.parametrize("what", [each for each in OutgoingInput if each not in HOLDING])
def test_a_start_forgets_how_far_a_connection_was(
    harness: Harness, outgoing: Queue, what: OutgoingInput
) -> None:
    harness.send(b"1", name=REMOTE)
    harness.qm.outgoing.change(outgoing, what)
    harness.qm.outgoing.set_destination(outgoing, OTHER_GUID)
    harness.restart()
    again = harness.qm.outgoing.find(REMOTE).outgoing
    assert again is not None
    assert (again.state, again.destination) == (QueueState.INACTIVE, OTHER_GUID)


@SPEC("MQDMPR-3.1.1.3-05")
@pytest.mark.parametrize(
    ("what", "state"),
    [
        (OutgoingInput.UNRESOLVED, QueueState.NEED_VALIDATION),
        (OutgoingInput.CONNECTING, QueueState.WAITING),
        (OutgoingInput.RESTED, QueueState.INACTIVE),
    ],
)
def test_messages_may_leave_in_every_state_but_two(
    harness: Harness, outgoing: Queue, what: OutgoingInput, state: QueueState
) -> None:
    harness.send(b"1", name=REMOTE)
    harness.qm.outgoing.change(outgoing, what)
    assert outgoing.outgoing is not None
    assert outgoing.outgoing.state is state
    assert waiting(harness, outgoing) == [b"1"]


@SPEC("MQDMPR-3.1.1.3-04", "MQDMPR-3.1.7.2.3-01", "MQDMPR-3.1.4.14-01")
def test_a_paused_queue_takes_messages_and_lets_none_go(harness: Harness, outgoing: Queue) -> None:
    harness.send(b"other", name=THIRD)
    harness.qm.outgoing.pause(outgoing, caller=ADMINISTRATOR)
    assert outgoing.outgoing is not None
    assert outgoing.outgoing.state is QueueState.ONHOLD
    assert [event.queue for event in harness.take_events(QueuePaused)] == [outgoing]
    harness.send(b"1", name=REMOTE)
    assert outgoing.count == 1
    assert waiting(harness, outgoing) == []
    assert waiting(harness, harness.qm.outgoing.find(THIRD)) == [b"other"]
    harness.qm.outgoing.change(outgoing, OutgoingInput.OPENED)
    assert outgoing.outgoing.state is QueueState.ONHOLD


@SPEC("MQDMPR-3.1.7.2.4-01", "MQDMPR-3.1.4.14-01")
def test_a_resumed_queue_lets_everything_go_in_order(harness: Harness, outgoing: Queue) -> None:
    harness.send(b"1", name=REMOTE)
    harness.qm.outgoing.pause(outgoing, caller=ADMINISTRATOR)
    harness.send(b"2", b"3", name=REMOTE)
    harness.restart()
    outgoing = harness.qm.outgoing.find(REMOTE)
    assert waiting(harness, outgoing) == []
    harness.qm.outgoing.resume(outgoing, caller=ADMINISTRATOR)
    assert outgoing.outgoing is not None
    assert outgoing.outgoing.state is QueueState.INACTIVE
    assert [event.queue for event in harness.take_events(QueueResumed)] == [outgoing]
    assert waiting(harness, outgoing) == [b"1", b"2", b"3"]
    harness.qm.outgoing.resume(outgoing, caller=ADMINISTRATOR)
    assert harness.take_events(QueueResumed) == []


def test_only_administrators_pause_and_only_outgoing_queues(
    harness: Harness, outgoing: Queue
) -> None:
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.outgoing.pause(outgoing, caller=STRANGER)
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.outgoing.pause(harness.qm.find_queue(ORDERS), caller=ADMINISTRATOR)
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.qm.outgoing.find(THIRD)


@SPEC("MQDMPR-3.1.1.3-06", "MQDMPR-3.1.1.3-07")
def test_connection_attempts_are_remembered(harness: Harness, outgoing: Queue) -> None:
    status = ConnectionStatus.CONNECT_SOCKET_FAILURE
    for _ in range(CONNECTION_HISTORY_LIMIT + 5):
        harness.qm.outgoing.change(
            outgoing, OutgoingInput.FAILED, status=status, address="10.0.0.1"
        )
    entry = ConnectionHistoryEntry(status, int(harness.qm.utc), Hresult.MQ_ERROR, ("10.0.0.1",))
    assert outgoing.outgoing is not None
    assert list(outgoing.outgoing.connection_history) == [entry] * CONNECTION_HISTORY_LIMIT
    assert ConnectionHistoryEntry(ConnectionStatus.READY, 1).error == 0
    # In process, packet received, established, fourteen kinds of failure.
    assert len(ConnectionStatus) == 17


@SPEC("MQDMPR-3.1.1.4-01", "MQDMPR-3.1.1.4-02", "MQDMPR-3.1.1.4-03")
def test_the_progress_of_transactional_messages_has_a_place(outgoing: Queue) -> None:
    assert outgoing.outgoing is not None
    info = outgoing.outgoing.transfer_info
    assert info == OutgoingTransferInfo()
    for name in ("eod_first_non_ack", "eod_last_non_ack", "eod_last_ack", "eod_next_seq"):
        assert getattr(info, name) is None
        setattr(info, name, SequenceInfo(1, 2, 1))
    for name in (
        "eod_last_ack_count",
        "eod_last_ack_time",
        "eod_no_ack_count",
        "eod_no_read_count",
        "eod_resend_count",
        "eod_resend_interval",
        "eod_resend_time",
    ):
        assert getattr(info, name) == 0


def test_new_messages_are_announced_to_the_transfer(harness: Harness, outgoing: Queue) -> None:
    harness.flush()
    sent = harness.send(b"1", b"2", name=REMOTE)
    events = harness.take_events(OutgoingAvailable)
    assert [(event.queue, event.depends) for event in events] == [(outgoing, sent.depends)]
    harness.send(b"1", name=REMOTE, delivery_mode=0)
    assert [event.depends for event in harness.take_events(OutgoingAvailable)] == [0]


def test_messages_are_handed_out_in_bounded_pieces(harness: Harness, outgoing: Queue) -> None:
    sent = harness.send(b"1", b"2", b"3", name=REMOTE)
    first = harness.qm.outgoing.peek(outgoing, max_count=2, max_bytes=1 << 20)
    assert first is not None
    assert first.messages == sent.messages[:2]
    harness.qm.outgoing.lock_front(outgoing, 1, "session")
    rest = harness.qm.outgoing.peek(outgoing, max_count=2, max_bytes=1)
    assert rest is not None
    assert rest.messages == sent.messages[1:2]
    harness.qm.outgoing.lock_front(outgoing, 2, "session")
    assert harness.qm.outgoing.peek(outgoing, max_count=2, max_bytes=1) is None


@pytest.mark.parametrize(("less", "count"), [(0, 2), (1, 1)])
def test_only_whole_messages_are_handed_out(
    harness: Harness, outgoing: Queue, less: int, count: int
) -> None:
    sent = harness.send(b"1", b"2", b"3", name=REMOTE)
    two = sum(message.size for message in sent.messages[:2])
    read = harness.qm.outgoing.peek(outgoing, max_count=100, max_bytes=two - less)
    assert read is not None
    assert read.messages == sent.messages[:count]


@pytest.mark.parametrize(
    ("name", "path"),
    [(r"OS:.\private$\orders", r"private$\orders"), (r"OS:elsewhere\private$\q", "")],
)
def test_only_queues_of_this_machine_have_a_path_here(
    harness: Harness, name: str, path: str
) -> None:
    assert harness.qm.outgoing.local_path(format_name_of(direct_address(name))) == path


@SPEC("MQDMPR-3.1.1.12-17")
@pytest.mark.parametrize(("wanted", "count"), [(True, 1), (False, 0)])
def test_a_delivered_message_goes_to_the_system_journal_if_it_asks_for_it(
    harness: Harness, outgoing: Queue, *, wanted: bool, count: int
) -> None:
    sent = harness.send(b"1", name=REMOTE, positive_journaling=wanted)
    assert harness.contents(JOURNAL) == []
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.ACK_REACH_QUEUE)
    assert harness.contents(JOURNAL) == [b"1"] * count
    harness.restart()
    assert harness.contents(JOURNAL) == [b"1"] * count
    assert harness.qm.outgoing.find(REMOTE).count == 0


@SPEC("MQDMPR-3.1.1.12-18")
def test_a_full_journal_does_not_hinder_delivery(harness: Harness, outgoing: Queue) -> None:
    harness.qm.state.manager.journal_quota = 1
    sent = harness.send(b"x" * 600, b"y" * 600, name=REMOTE, positive_journaling=True)
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.ACK_REACH_QUEUE)
    assert harness.contents(JOURNAL) == [b"x" * 600]
    assert outgoing.count == 0


@SPEC("MQDMPR-3.1.1.12-19")
@pytest.mark.parametrize(("wanted", "count"), [(True, 1), (False, 0)])
def test_an_undeliverable_message_is_a_dead_letter_if_it_asks_for_it(
    harness: Harness, outgoing: Queue, *, wanted: bool, count: int
) -> None:
    sent = harness.send(b"1", name=REMOTE, negative_journaling=wanted)
    reason = MessageClass.NACK_BAD_DST_Q
    harness.qm.outgoing.finish(outgoing, sent.messages, reason)
    assert harness.contents(DEADLETTER) == [b"1"] * count
    assert [event.reason for event in harness.take_events(MessagesDeleted)] == [reason]


@SPEC("MQDMPR-3.1.1.12-20")
def test_a_full_dead_letter_queue_takes_no_more(harness: Harness, outgoing: Queue) -> None:
    harness.qm.state.deadletter.properties.quota = 1
    sent = harness.send(b"x" * 600, b"y" * 600, name=REMOTE, negative_journaling=True)
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.NACK_BAD_DST_Q)
    assert harness.contents(DEADLETTER) == [b"x" * 600]
    assert outgoing.count == 0


def test_a_transactional_message_becomes_a_transactional_dead_letter(
    harness: Harness, outgoing: Queue
) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    sent = harness.send(b"1", name=REMOTE, transaction=transaction, negative_journaling=True)
    harness.qm.traffic.commit(transaction.identifier)
    harness.qm.outgoing.lock_front(outgoing, 1, "awaiting final ack")
    assert waiting(harness, outgoing) == []
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.NACK_Q_PURGED)
    assert harness.contents(DEADXACT) == [b"1"]
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.NACK_Q_PURGED)
    assert harness.contents(DEADXACT) == [b"1"]


def test_a_dead_letter_shows_why_it_is_one(harness: Harness, outgoing: Queue) -> None:
    sent = harness.send(b"1", name=REMOTE, negative_journaling=True)
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.NACK_ACCESS_DENIED)
    harness.restart()
    read = harness.qm.traffic.peek_many(harness.open(PEEK, DEADLETTER, caller=ADMINISTRATOR))
    assert isinstance(read, Read)
    assert UserMessage(read.packets[0]).message_class == MessageClass.NACK_ACCESS_DENIED


@SPEC("MQDMPR-3.1.1.12-10", "MQDMPR-3.1.1.12-33")
def test_a_message_that_does_not_leave_in_time_expires(harness: Harness, outgoing: Queue) -> None:
    harness.send(b"1", name=REMOTE, time_to_reach_queue=10, time_to_be_received=20)
    harness.send(b"2", name=REMOTE, time_to_reach_queue=30, time_to_be_received=15)
    harness.send(b"3", name=REMOTE, time_to_reach_queue=30)
    harness.advance(9)
    assert outgoing.count == 3
    for seconds, reason in (
        (1, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
        (5, MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER),
        (15, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
    ):
        harness.advance(seconds)
        assert [event.reason for event in harness.take_events(MessagesDeleted)] == [reason]
    assert outgoing.count == 0


def test_the_failure_of_a_message_is_acknowledged(harness: Harness, outgoing: Queue) -> None:
    harness.create(r".\private$\admin")
    sent = harness.send(
        b"1",
        name=REMOTE,
        acknowledgments=0x04,
        admin_queue=direct_address(r"OS:qm\private$\admin"),
    )
    harness.qm.outgoing.finish(outgoing, sent.messages, MessageClass.NACK_REACH_QUEUE_TIMEOUT)
    assert harness.contents(r".\private$\admin") == [b"1"]


# Flow control and connections


@SPEC("MQDMPR-3.1.4.12-01", "MQDMPR-3.1.1.1-18")
def test_offline_concerns_other_machines_only(harness: Harness) -> None:
    local = harness.qm.state.local
    assert local.connection_active
    harness.qm.outgoing.set_online(active=False, caller=ADMINISTRATOR)
    assert not harness.qm.state.local.connection_active
    harness.send(b"1")
    assert harness.contents() == [b"1"]
    harness.qm.outgoing.set_online(active=True, caller=ADMINISTRATOR)
    assert harness.qm.state.local.connection_active
    changes = [event.active for event in harness.take_events(ConnectionActiveChanged)]
    assert changes == [False, True]
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.outgoing.set_online(active=False, caller=STRANGER)
    harness.qm.outgoing.set_online(active=False, caller=ADMINISTRATOR)
    harness.restart()
    assert harness.qm.state.local.connection_active


@SPEC("MQDMPR-3.1.7.2.5-01", "MQDMPR-3.1.7.1.9-01", "MQDMPR-3.1.1.1-17")
def test_a_throttled_queue_manager_takes_no_messages(harness: Harness) -> None:
    harness.qm.outgoing.set_throttled(throttled=True)
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.send(b"1")
    assert harness.contents() == []
    harness.qm.outgoing.set_throttled(throttled=False)
    harness.send(b"2")
    harness.qm.outgoing.set_throttled(throttled=True)
    assert harness.drain() == [b"2"]
    harness.restart()
    harness.send(b"3")
