"""Session acknowledgments that we give and get, and the window."""

import pytest
from tests.protocol.binary.sessions import (
    NOW,
    ack_packet,
    acknowledged,
    acks,
    deliver,
    events,
    header,
    initiator,
    message,
    open_session,
    reason,
    release_all,
)

from openmsmq.protocol.binary.events import (
    CloseReason,
    MessagesAcknowledged,
    MessagesReceived,
)
from openmsmq.protocol.binary.session_timers import SessionTimer, SessionTimers
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader

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


def test_a_message_on_its_way_to_the_disk_starts_the_shorter_timer_again() -> None:
    session = open_session()
    session.receive_data(message(1, recoverable=True), now=NOW)
    events(session)
    session.handle_timer(now=NOW + 0.5)
    assert not session.data_to_send()
    release_all(session, now=NOW + 0.6)
    session.handle_timer(now=NOW + 0.9999)
    assert not session.data_to_send()
    session.handle_timer(now=NOW + 1.0)
    assert acks(session) == [header(1, 1, 0b1)]


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
    session.handle_timer(now=NOW + 5)
    assert not session.data_to_send()
    session.received.release(20, 20)
    session.acknowledge(now=NOW + 6)
    session.handle_timer(now=NOW + 7)
    assert acks(session) == [header(20, 1, 0xFFFFF)]
    release_all(session, now=NOW + 8)
    session.handle_timer(now=NOW + 18)
    assert acks(session) == [header(40, 21, 0xFFFFF)]


def test_a_closed_session_acknowledges_nothing() -> None:
    session = open_session()
    session.receive_data(message(recoverable=True), now=NOW)
    session.close(CloseReason.IDLE)
    release_all(session)
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
    timers = SessionTimers()
    assert timers.elapsed(SessionTimer.ACK_SEND, now=NOW) == 0
    timers.start(SessionTimer.ACK_SEND, 10, now=NOW)
    assert timers.elapsed(SessionTimer.ACK_SEND, now=NOW + 5) == 0.5
    timers.stop(SessionTimer.ACK_SEND)
    assert timers.elapsed(SessionTimer.ACK_SEND, now=NOW + 5) == 0


@pytest.mark.spec("MQQB-3.1.7.11-01")
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
    assert not second.runs[0].packets[0][2] & 0x10


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
