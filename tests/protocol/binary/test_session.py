"""Open sessions: how they start, bad input, counters."""

import pytest
from tests.protocol.binary.sessions import (
    NOW,
    acceptor,
    ack_packet,
    acknowledged,
    acks,
    deliver,
    events,
    message,
    open_session,
    parameters,
    reason,
    request,
)

from openmsmq.protocol.binary.events import (
    Closed,
    CloseReason,
    MessagesReceived,
    Opened,
)
from openmsmq.protocol.binary.session_timers import SessionTimer
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.packets.session_header import SessionHeader
from openmsmq.wire.scalars import TxSequenceID

# Starting


@pytest.mark.spec("MQQB-3.1.3.2-01", "MQQB-3.1.3.2-07")
def test_a_new_session_counts_from_zero() -> None:
    session = open_session()
    session.announce_pause()
    assert acks(session) == [SessionHeader(0, 0, 0, 0, 0, 1)]
    assert session.window_size == 64


@pytest.mark.spec("MQQB-3.1.3.2-02", "MQQB-3.1.3.2-08", "MQQB-3.1.3.2-16")
def test_a_new_session_runs_only_the_timers_that_it_needs() -> None:
    session = acceptor()
    assert session.timers.running(SessionTimer.CLEANUP)
    assert session.timers.running(SessionTimer.INITIALIZATION)
    assert not session.timers.running(SessionTimer.ACK_WAIT)
    assert not session.timers.running(SessionTimer.ACK_SEND)
    assert not session.active


# Bad input


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        pytest.param(
            b"\x11" + message()[1:],
            CloseReason.BAD_VERSION,
            marks=pytest.mark.spec("MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-02"),
        ),
        pytest.param(
            message()[:4] + b"ROIL" + message()[8:],
            CloseReason.BAD_SIGNATURE,
            marks=pytest.mark.spec("MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-02"),
        ),
        pytest.param(
            message()[:8] + (0x400001).to_bytes(4, "little") + message()[12:],
            CloseReason.BAD_SIZE,
            marks=pytest.mark.spec("MQQB-1.6-01"),
        ),
        pytest.param(
            ack_packet()[:18] + b"\x04\0" + ack_packet()[20:],
            CloseReason.BAD_TYPE,
            marks=pytest.mark.spec("MQQB-2.2.1-03"),
        ),
        pytest.param(
            message()[:60] + b"\0\0\0\0" + message()[64:],
            CloseReason.MALFORMED,
            marks=pytest.mark.spec("MQQB-3.1.5.1.3-01", "MQQB-3.1.5.1-02"),
        ),
    ],
)
def test_a_bad_packet_ends_the_session_without_a_reply(
    packet: bytes, expected: CloseReason
) -> None:
    session = open_session()
    session.receive_data(packet, now=NOW)
    assert reason(session) is expected
    assert not session.data_to_send()


def test_what_came_before_a_bad_packet_is_delivered() -> None:
    session = open_session()
    session.receive_data(message(1) + b"\x11" * 20, now=NOW)
    received, closed = events(session)
    assert isinstance(received, MessagesReceived)
    assert [len(run.packets) for run in received.runs] == [1]
    assert isinstance(closed, Closed)
    assert closed.reason is CloseReason.BAD_VERSION
    session.receive_data(message(2), now=NOW)
    assert not events(session)


@pytest.mark.spec("MQQB-2.1.1-03")
def test_bytes_may_be_split_at_every_boundary() -> None:
    stream = request() + parameters() + message(1) + ack_packet(sent=1) + message(2)
    for at in range(len(stream)):
        session = acceptor()
        session.receive_data(stream[:at], now=NOW)
        session.receive_data(stream[at:], now=NOW)
        assert session.received.count == 2
        assert session.open


def test_bytes_may_come_one_by_one() -> None:
    session = acceptor()
    for byte in request() + parameters() + message(1, recoverable=True):
        session.receive_data(bytes((byte,)), now=NOW)
    opened, received = events(session)
    assert opened == Opened()
    assert isinstance(received, MessagesReceived)


# Counters


@pytest.mark.spec("MQQB-3.1.1.4-01", "MQQB-3.1.5.5.5-01")
@pytest.mark.parametrize(
    ("sent", "sent_recoverable", "closes"),
    [(3, 2, False), (2, 2, True), (4, 2, True), (3, 1, True), (3, 3, True), (0, 0, True)],
)
def test_the_counts_of_the_peer_must_match(
    *, sent: int, sent_recoverable: int, closes: bool
) -> None:
    session = open_session()
    deliver(session, 1)
    deliver(session, 2, recoverable=True)
    session.receive_data(ack_packet(sent=sent, sent_recoverable=sent_recoverable), now=NOW)
    assert (reason(session) is CloseReason.BAD_COUNTS) is closes


@pytest.mark.spec("MQQB-3.1.1.3.1-02", "MQQB-3.1.1.4-02", "MQQB-3.1.5.8.7-04")
def test_transactional_messages_count_as_recoverable() -> None:
    session = open_session()
    transaction = TransactionHeader(0, TxSequenceID(1, 1), 1, 0)
    session.receive_data(message(transaction_header=transaction), now=NOW)
    session.receive_data(ack_packet(sent=1, sent_recoverable=1), now=NOW)
    assert session.open
    assert session.received.recoverable == 1


@pytest.mark.spec("MQQB-3.1.1.3.1-01")
def test_each_session_counts_both_directions_for_itself() -> None:
    one, other = open_session(), open_session()
    deliver(one, 3)
    deliver(one, 2, recoverable=True)
    deliver(other, 1)
    for number in range(4):
        one.send(message(number), number, now=NOW)
    one.send(message(4, recoverable=True), 4, now=NOW)
    for session in (one, other):
        session.data_to_send()
        session.handle_timer(now=NOW + 10)
    assert acks(one) == [SessionHeader(5, 1, 0b11, 5, 1, 64)]
    assert acks(other) == [SessionHeader(1, 0, 0, 0, 0, 64)]
    # UnackedReceivedMsgCount is 0 again: nothing is acknowledged twice.
    for session in (one, other):
        session.handle_timer(now=NOW + 20)
        assert acks(session) == []
    one.receive_data(ack_packet(sent=5, sent_recoverable=2), now=NOW + 20)
    other.receive_data(ack_packet(sent=1), now=NOW + 20)
    assert (one.open, other.open) == (True, True)
    one.receive_data(ack_packet(sent=5, sent_recoverable=1), now=NOW + 20)
    assert (one.open, other.open) == (False, True)


@pytest.mark.spec("MQQB-3.1.1.3.1-01")
def test_what_was_sent_is_counted_in_sixteen_bits() -> None:
    session = open_session()
    session.sent.count = session.sent.recoverable = 0xFFFE
    for number in range(3):
        session.send(message(number, recoverable=True), number, now=NOW)
    session.data_to_send()
    session.announce_pause()
    assert acks(session) == [SessionHeader(0, 0, 0, 1, 1, 1)]
    session.receive_data(ack_packet(0xFFFF, 0xFFFF, 0b1), now=NOW)
    assert acknowledged(session).received == [0]
    session.receive_data(ack_packet(1, 0, 0b11), now=NOW)
    assert acknowledged(session).recoverable == [1, 2]


@pytest.mark.spec("MQQB-3.1.1.3.1-01")
def test_what_was_received_is_counted_in_sixteen_bits() -> None:
    session = open_session()
    session.received.count = session.received.ready = session.received.acked = 0xFFFF
    session.received.recoverable = 0xFFFF
    session.received.ready_recoverable = session.received.acked_recoverable = 0xFFFF
    deliver(session, 32, recoverable=True)
    assert acks(session) == [SessionHeader(31, 0, 0xFFFFFFFF, 0, 0, 64)]
    session.receive_data(ack_packet(sent=31, sent_recoverable=31), now=NOW)
    assert session.open
