"""The timers of a session, and what a pause announces."""

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
    release_all,
    request,
    response,
)

from openmsmq.protocol.binary.events import (
    Closed,
    CloseReason,
)
from openmsmq.protocol.binary.session_timers import SessionTimer
from openmsmq.protocol.binary.settings import BinarySettings


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
    session.announce_pause()
    release_all(session)
    session.data_to_send()
    session.send(message(1), 1, now=NOW + 100)
    assert session.data_to_send() == [message(1)]


def test_output_is_given_in_order_and_once() -> None:
    session = open_session()
    session.send(message(1), 1, now=NOW)
    session.send(message(2), 2, now=NOW)
    assert output(session) == [message(1), message(2)]
    assert session.data_to_send() == []
