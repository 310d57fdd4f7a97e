"""Open sessions: counters, acknowledgments, timers, bad input."""

import pytest
from tests.protocol.binary.sessions import (
    NOW,
    acceptor,
    ack_packet,
    acks,
    deliver,
    events,
    header,
    initiator,
    message,
    open_session,
    output,
    parameters,
    reason,
    request,
    response,
)

from openmsmq.protocol.binary.events import (
    Closed,
    CloseReason,
    MessagesAcknowledged,
    MessagesReceived,
    Opened,
)
from openmsmq.protocol.binary.session import BinarySession
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.protocol.binary.timers import SessionTimer, Timers
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.session_ack import SessionAck
from openmsmq.wire.session_header import SessionHeader
from openmsmq.wire.transaction_header import TransactionHeader
from openmsmq.wire.user_message import UserMessage


def acknowledged(session: BinarySession) -> MessagesAcknowledged:
    (event,) = events(session)
    assert isinstance(event, MessagesAcknowledged)
    return event


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
    assert len(received.packets) == 1
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


@pytest.mark.spec("MQQB-3.1.1.3.1-01", "MQQB-3.1.1.4-01", "MQQB-3.1.5.5.5-01")
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


def test_counters_wrap_at_sixteen_bits() -> None:
    session = open_session()
    session.received.count = session.received.ready = session.received.acked = 0xFFFF
    session.received.recoverable = 0xFFFF
    session.received.ready_recoverable = session.received.acked_recoverable = 0xFFFF
    deliver(session, 32, recoverable=True)
    assert acks(session) == [SessionHeader(31, 0, 0xFFFFFFFF, 0, 0, 64)]
    session.receive_data(ack_packet(sent=31, sent_recoverable=31), now=NOW)
    assert session.open


# Acknowledgments that we give


@pytest.mark.spec("MQQB-3.1.6.4-01", "MQQB-3.1.6.4-02", "MQQB-3.1.6.4-03")
def test_the_ack_send_timer_sends_one_acknowledgment_for_all() -> None:
    session = open_session()
    deliver(session, 2)
    deliver(session, 3, recoverable=True)
    assert not session.data_to_send()
    session.handle_timer(now=NOW + 0.5)
    assert acks(session) == [header(5, 1, 0b111)]
    session.handle_timer(now=NOW + 30)
    assert not session.data_to_send()


@pytest.mark.spec("MQQB-3.1.6.4-04", "MQQB-3.1.1.6.1-04")
def test_the_ack_send_timer_starts_again_after_its_event() -> None:
    session = open_session()
    deliver(session, 1)
    session.handle_timer(now=NOW + 10)
    assert len(acks(session)) == 1
    assert session.timers.running(SessionTimer.ACK_SEND)
    deliver(session, 1, now=NOW + 11)
    session.handle_timer(now=NOW + 20)
    assert acks(session) == [header(2)]


@pytest.mark.spec("MQQB-3.1.1.6.1-03")
def test_without_recoverable_messages_their_part_is_zero() -> None:
    session = open_session()
    deliver(session, 1)
    session.handle_timer(now=NOW + 10)
    (ack,) = acks(session)
    assert (ack.recoverable_msg_ack_seq_number, ack.recoverable_msg_ack_flags) == (0, 0)


@pytest.mark.spec("MQQB-3.1.2.5-01", "MQQB-3.1.5.8.2-05")
def test_an_express_message_starts_the_timer_with_half_the_ack_timeout() -> None:
    session = open_session()
    deliver(session, 1)
    deliver(session, 1, now=NOW + 5)
    session.handle_timer(now=NOW + 9.9)
    assert not session.data_to_send()
    session.handle_timer(now=NOW + 10)
    assert acks(session) == [header(2)]


@pytest.mark.spec("MQQB-3.1.5.8.7-05", "MQQB-3.1.2.5-01")
def test_the_first_recoverable_message_starts_the_timer_anew_and_shorter() -> None:
    session = open_session()
    deliver(session, 1)
    deliver(session, 1, recoverable=True, now=NOW + 1)
    deliver(session, 1, recoverable=True, now=NOW + 1.4)
    session.handle_timer(now=NOW + 1.5)
    assert acks(session) == [header(3, 1, 0b11)]


@pytest.mark.spec("MQQB-3.1.5.8.7-01", "MQQB-3.1.5.8.7-02")
def test_thirty_two_recoverable_messages_are_acknowledged_at_once() -> None:
    session = open_session(window=1000, window_size=1000)
    deliver(session, 31, recoverable=True)
    assert not session.data_to_send()
    deliver(session, 1, recoverable=True)
    assert acks(session) == [header(32, 1, 0xFFFFFFFF, window=1000)]
    deliver(session, 32, recoverable=True)
    assert acks(session) == [header(64, 33, 0xFFFFFFFF, window=1000)]


def test_more_than_thirty_two_at_once_take_several_acknowledgments() -> None:
    session = open_session()
    deliver(session, 70, recoverable=True)
    assert acks(session) == [
        header(70, 1, 0xFFFFFFFF),
        header(70, 33, 0xFFFFFFFF),
        header(70, 65, 0b111111),
    ]


@pytest.mark.parametrize(("window", "after"), [(64, 32), (10, 5), (1, 1), (0, 1)])
def test_half_a_window_is_acknowledged_at_once(window: int, after: int) -> None:
    session = open_session(window=window)
    deliver(session, after - 1)
    assert not session.data_to_send()
    deliver(session, 1)
    assert acks(session) == [header(after)]


@pytest.mark.spec("MQQB-3.1.5.8.7-03")
def test_nothing_is_acknowledged_before_it_is_durable() -> None:
    session = open_session()
    for number in range(40):
        session.receive_data(message(number, recoverable=True), now=NOW)
        session.settled(number // 20 + 1, 0, now=NOW)
    session.handle_timer(now=NOW + 5)
    assert not session.data_to_send()
    session.durable(1, now=NOW + 6)
    session.handle_timer(now=NOW + 7)
    assert acks(session) == [header(20, 1, 0xFFFFF)]
    session.durable(2, now=NOW + 8)
    session.handle_timer(now=NOW + 18)
    assert acks(session) == [header(40, 21, 0xFFFFF)]


def test_a_closed_session_acknowledges_nothing() -> None:
    session = open_session()
    session.receive_data(message(recoverable=True), now=NOW)
    session.close(CloseReason.IDLE)
    session.settled(0, 0, now=NOW)
    session.announce_pause()
    assert not session.data_to_send()


@pytest.mark.spec("MQQB-3.1.7.11-01", "MQQB-2.2.6-04", "MQQB-3.1.7.1.3-06")
def test_an_acknowledgment_rides_on_a_message_once_most_of_its_time_is_over() -> None:
    session = open_session()
    deliver(session, 2)
    session.send(message(1), "one", now=NOW + 7.5)
    (early,) = session.data_to_send()
    assert early == message(1)
    session.send(message(2, recoverable=True), "two", now=NOW + 7.6)
    packet, session_header = session.data_to_send()
    assert packet[2] & 0x10
    assert UserMessage(packet[:2] + bytes((packet[2] & ~0x10,)) + packet[3:]).message_id == 2
    assert SessionHeader.parse(session_header)[0] == header(2, sent=2, sent_recoverable=1)


@pytest.mark.spec("MQQB-3.1.7.11-02", "MQQB-3.1.7.1.3-07")
def test_no_other_acknowledgment_follows_one_that_rode_along() -> None:
    session = open_session()
    deliver(session, 2, recoverable=True)
    session.send(message(1), "one", now=NOW + 0.45)
    assert SessionHeader.parse(session.data_to_send()[1])[0] == header(2, 1, 0b11, sent=1)
    session.handle_timer(now=NOW + 1)
    assert not session.data_to_send()


def test_an_acknowledgment_rides_on_the_first_of_several_messages() -> None:
    session = open_session()
    deliver(session, 2)
    session.send_express([message(1), message(2), message(3)], ["1", "2", "3"], now=NOW + 7.6)
    first, session_header, *others = session.data_to_send()
    assert first[2] & 0x10
    assert SessionHeader.parse(session_header)[0] == header(2, sent=1)
    assert others == [message(2), message(3)]
    assert (session.sent.count, session.sent.unacked) == (3, 3)
    session.receive_data(SessionAck(header(2, sent=2)).serialize(), now=NOW + 8)
    (acknowledged,) = events(session)
    assert isinstance(acknowledged, MessagesAcknowledged)
    assert acknowledged.express == ["1", "2"]


def test_nothing_of_a_stopped_timer_is_over() -> None:
    timers = Timers()
    assert timers.elapsed(SessionTimer.ACK_SEND, now=NOW) == 0
    timers.start(SessionTimer.ACK_SEND, 10, now=NOW)
    assert timers.elapsed(SessionTimer.ACK_SEND, now=NOW + 5) == 0.5
    timers.stop(SessionTimer.ACK_SEND)
    assert timers.elapsed(SessionTimer.ACK_SEND, now=NOW + 5) == 0


def test_without_anything_to_acknowledge_nothing_rides_along() -> None:
    session = open_session()
    deliver(session, 1)
    session.handle_timer(now=NOW + 10)
    session.data_to_send()
    session.send(message(1), "one", now=NOW + 19)
    assert session.data_to_send() == [message(1)]


@pytest.mark.spec("MQQB-3.1.5.8.4-01")
def test_a_session_header_behind_a_message_counts_after_the_message() -> None:
    session = open_session()
    session.send(message(7), "seven", now=NOW)
    packet = message(1, recoverable=True)
    packet = packet[:2] + bytes((packet[2] | 0x10,)) + packet[3:]
    session.receive_data(packet + header(1, sent=1, sent_recoverable=1).serialize(), now=NOW)
    first, second = events(session)
    assert isinstance(first, MessagesAcknowledged)
    assert first.express == ["seven"]
    assert isinstance(second, MessagesReceived)
    # What is stored has no trace of the session.
    assert not second.packets[0][2] & 0x10


# Acknowledgments that we get


@pytest.mark.spec("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.2-01", "MQQB-3.1.1.3.1.2-01")
def test_an_acknowledgment_names_express_messages_by_their_count() -> None:
    session = open_session()
    for number in range(1, 5):
        session.send(message(number, recoverable=number == 2), number, now=NOW)
    session.receive_data(ack_packet(3), now=NOW)
    event = acknowledged(session)
    assert (event.received, event.express, event.recoverable) == ([1, 2, 3], [1, 3], [])
    assert session.sent.unacked == 1


@pytest.mark.spec("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02", "MQQB-3.1.5.5.3-03")
def test_recoverable_messages_need_their_own_acknowledgment() -> None:
    session = open_session()
    for number in range(1, 6):
        session.send(message(number, recoverable=True), number, now=NOW)
    session.receive_data(ack_packet(5), now=NOW)
    assert acknowledged(session).recoverable == []
    session.receive_data(ack_packet(5, 2, 0b0101), now=NOW)
    assert acknowledged(session).recoverable == [1, 2, 4]
    session.receive_data(ack_packet(5, 5, 0), now=NOW)
    assert acknowledged(session).recoverable == [3, 5]


def test_the_last_bit_of_the_mask_is_the_thirty_second_message() -> None:
    session = open_session(window=100, settings=BinarySettings(window_size=100))
    for number in range(1, 34):
        session.send(message(number, recoverable=True), number, now=NOW)
    session.receive_data(ack_packet(33, 1, 0x80000001), now=NOW)
    assert acknowledged(session).recoverable == [1, 32]


@pytest.mark.parametrize(
    ("ack", "first", "flags"), [(3, 0, 0), (0xFFFF, 0, 0), (2, 3, 1), (2, 1, 0b100), (2, 7, 0)]
)
def test_what_was_not_sent_cannot_be_acknowledged(ack: int, first: int, flags: int) -> None:
    session = open_session()
    for number in (1, 2):
        session.send(message(number, recoverable=True), number, now=NOW)
    session.receive_data(ack_packet(ack, first, flags), now=NOW)
    assert reason(session) is CloseReason.BAD_ACKNOWLEDGMENT


def test_a_repeated_acknowledgment_is_harmless() -> None:
    session = open_session()
    session.send(message(1, recoverable=True), 1, now=NOW)
    session.receive_data(ack_packet(1, 1, 1), now=NOW)
    assert acknowledged(session).recoverable == [1]
    session.receive_data(ack_packet(1, 1, 1), now=NOW)
    assert acknowledged(session).recoverable == []


@pytest.mark.spec("MQQB-3.1.7.1-02", "MQQB-3.1.7.1.3-05")
def test_the_window_limits_what_is_not_acknowledged() -> None:
    session = open_session()
    for number in range(64):
        assert session.room == 64 - number
        session.send(message(number), number, now=NOW)
        session.data_to_send()
    assert session.room == 0
    session.receive_data(ack_packet(10), now=NOW)
    assert session.room == 10


def test_the_peer_can_change_its_window() -> None:
    session = open_session()
    session.receive_data(ack_packet(window=1), now=NOW)
    assert session.room == 1
    session.receive_data(ack_packet(window=0), now=NOW)
    assert session.room == 1
    session.receive_data(ack_packet(window=1000), now=NOW)
    assert session.room == 64


def test_data_that_nobody_fetches_stops_the_flow() -> None:
    session = open_session(BinarySettings(max_output_bytes=100))
    session.send(message(1), 1, now=NOW)
    assert session.room == 0
    session.data_to_send()
    assert session.room == 63


def test_nothing_may_be_sent_before_the_session_is_open() -> None:
    assert initiator().room == 0


# Timers


@pytest.mark.spec("MQQB-3.1.2.1-02", "MQQB-3.1.5.10-02", "MQQB-3.1.6.6-01")
def test_a_silent_client_is_disconnected() -> None:
    session = acceptor()
    session.handle_timer(now=NOW + 59)
    assert not session.closed
    session.handle_timer(now=NOW + 60)
    assert reason(session) is CloseReason.NOT_ESTABLISHED


@pytest.mark.spec("MQQB-3.1.2.1-01", "MQQB-3.1.5.2.3-01", "MQQB-6-19")
@pytest.mark.parametrize(("delay", "seconds"), [(0.0, 60.0), (5.0, 70.0)])
def test_an_initiator_gives_up_when_the_handshake_takes_too_long(
    delay: float, seconds: float
) -> None:
    session = initiator(BinarySettings(round_trip_delay=delay))
    session.receive_data(response(), now=NOW + 1)
    session.handle_timer(now=NOW + seconds - 0.1)
    assert not session.closed
    session.handle_timer(now=NOW + seconds)
    assert reason(session) is CloseReason.NOT_ESTABLISHED


@pytest.mark.spec("MQQB-3.1.2.1-01", "MQQB-3.1.2.1-02")
def test_the_initialization_timer_stops_when_the_session_is_open() -> None:
    first, second = open_session(), initiator()
    second.receive_data(response() + parameters(), now=NOW)
    for session in (first, second):
        session.handle_timer(now=NOW + 100)
        assert session.open


@pytest.mark.spec("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02", "MQQB-6-20")
def test_an_idle_session_is_closed_after_one_to_two_periods() -> None:
    session = open_session()
    deliver(session, 1)
    session.handle_timer(now=NOW + 300)
    assert session.open
    session.data_to_send()
    session.handle_timer(now=NOW + 599)
    assert session.open
    session.handle_timer(now=NOW + 600)
    assert reason(session) is CloseReason.IDLE
    assert not session.data_to_send()


@pytest.mark.spec("MQQB-3.1.2.2-01", "MQQB-3.1.5.8.2-06", "MQQB-3.1.1.7.2-01")
def test_acknowledgments_alone_keep_no_session_alive() -> None:
    session = open_session()
    session.receive_data(ack_packet(), now=NOW + 200)
    session.handle_timer(now=NOW + 300)
    assert CloseReason.IDLE is reason(session)
    assert not session.data_to_send()


@pytest.mark.spec("MQQB-3.1.7.1.3-08", "MQQB-3.1.2.4-01", "MQQB-6-22")
@pytest.mark.parametrize(("direct", "seconds"), [(True, 40), (False, 20)])
def test_sending_starts_the_ack_wait_timer(*, direct: bool, seconds: int) -> None:
    session = open_session(direct=direct)
    assert not session.timers.running(SessionTimer.ACK_WAIT)
    session.send(message(1), 1, now=NOW)
    session.send(message(2), 2, now=NOW + 5)
    assert session.active
    # What came before the message says nothing about it.
    session.handle_timer(now=NOW + seconds)
    assert session.open
    session.handle_timer(now=NOW + 2 * seconds - 1)
    assert session.open
    session.handle_timer(now=NOW + 2 * seconds)
    assert reason(session) is CloseReason.NOT_ACKNOWLEDGED


@pytest.mark.spec("MQQB-3.1.6.3-02", "MQQB-3.1.6.3-03", "MQQB-3.1.5.1-01")
def test_any_packet_of_the_peer_puts_off_the_end() -> None:
    session = open_session()
    session.send(message(1), 1, now=NOW)
    session.handle_timer(now=NOW + 40)
    deliver(session, 1, now=NOW + 50)
    session.handle_timer(now=NOW + 80)
    assert session.open
    session.handle_timer(now=NOW + 120)
    assert reason(session) is CloseReason.NOT_ACKNOWLEDGED


@pytest.mark.spec("MQQB-3.1.6.3-01")
def test_without_anything_to_wait_for_the_ack_wait_timer_stops() -> None:
    session = open_session()
    session.send(message(1), 1, now=NOW)
    session.receive_data(ack_packet(1), now=NOW + 1)
    session.handle_timer(now=NOW + 41)
    assert session.open
    assert not session.timers.running(SessionTimer.ACK_WAIT)
    # ReceivedAck is FALSE now: the next wait ends the session at its first expiry.
    session.send(message(2), 2, now=NOW + 50)
    session.handle_timer(now=NOW + 90)
    assert reason(session) is CloseReason.NOT_ACKNOWLEDGED


@pytest.mark.spec("MQQB-3.1.5.5.5-02")
def test_an_acknowledgment_restarts_the_ack_wait_timer_while_more_are_missing() -> None:
    session = open_session()
    session.send(message(1), 1, now=NOW)
    session.send(message(2), 2, now=NOW)
    session.receive_data(ack_packet(1), now=NOW + 30)
    session.handle_timer(now=NOW + 69)
    assert session.timers.running(SessionTimer.ACK_WAIT)
    session.handle_timer(now=NOW + 70)
    assert session.open
    session.handle_timer(now=NOW + 110)
    assert reason(session) is CloseReason.NOT_ACKNOWLEDGED


def test_the_acceptor_waits_as_long_as_the_initiator_says() -> None:
    session = acceptor()
    session.receive_data(request() + parameters(ack=30_000), now=NOW)
    deliver(session, 1)
    session.data_to_send()
    session.handle_timer(now=NOW + 14)
    assert not session.data_to_send()
    session.handle_timer(now=NOW + 15)
    assert acks(session) == [header(1)]


@pytest.mark.spec("MQQB-3.1.5.9-01")
def test_closing_sends_no_packet_and_stops_all_timers() -> None:
    session = open_session()
    session.send(message(1), 1, now=NOW)
    session.data_to_send()
    session.close(CloseReason.IDLE)
    session.close(CloseReason.DISCONNECTED)
    assert session.next_timer() is None
    assert not session.data_to_send()
    assert events(session) == [Closed(reason=CloseReason.IDLE)]


@pytest.mark.spec("MQQB-3.1.7.13-01")
def test_a_pause_is_announced_with_a_window_of_one() -> None:
    session = open_session()
    deliver(session, 2, recoverable=True)
    session.send(message(1), 1, now=NOW)
    session.data_to_send()
    session.announce_pause()
    assert acks(session) == [header(2, 1, 0b11, sent=1, window=1)]
    assert not session.timers.running(SessionTimer.ACK_SEND)
    assert not session.active


def test_a_small_window_does_not_outlast_the_next_message() -> None:
    session = open_session()
    session.announce_pause()
    session.data_to_send()
    deliver(session, 1)
    assert acks(session) == [header(1)]
    deliver(session, 1)
    assert not session.data_to_send()


def test_after_a_pause_nothing_rides_along_before_something_new_comes() -> None:
    session = open_session()
    session.receive_data(message(1), now=NOW)
    session.settled(1, 0, now=NOW)
    session.announce_pause()
    session.durable(1, now=NOW)
    session.data_to_send()
    session.send(message(1), 1, now=NOW + 100)
    assert session.data_to_send() == [message(1)]


def test_output_is_given_in_order_and_once() -> None:
    session = open_session()
    session.send(message(1), 1, now=NOW)
    session.send(message(2), 2, now=NOW)
    assert output(session) == [message(1), message(2)]
    assert session.data_to_send() == []
    session.receive_data(message(1)[:10], now=NOW)
    assert session.pending_bytes == 10
