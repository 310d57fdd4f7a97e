"""EstablishConnection and ConnectionParameters, both sides."""

from uuid import UUID

import pytest
from tests.protocol.binary.sessions import (
    NOW,
    OURS,
    THEIRS,
    acceptor,
    ack_packet,
    events,
    initiator,
    message,
    open_session,
    output,
    parameters,
    reason,
    request,
    response,
)

from openmsmq.protocol.binary.events import CloseReason, Established, Opened
from openmsmq.protocol.binary.handshake import Handshake, SessionState
from openmsmq.protocol.binary.hop_links import HopLinkState
from openmsmq.protocol.binary.session import BinarySession
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.scalars import GUID_NULL

OTHER = UUID(int=0xC)


def establish(session: BinarySession) -> EstablishConnection:
    (packet,) = output(session)
    return EstablishConnection.parse(packet)[0]


@pytest.mark.spec("MQQB-2.1.1-01", "MQQB-3.1.1.3.1-13", "MQQB-3.1.5.3.1-05")
def test_an_acceptor_goes_through_the_states() -> None:
    session = acceptor()
    states = [session.state]
    for packet in (request(), parameters()):
        session.receive_data(packet, now=NOW)
        states.append(session.state)
    session.close(CloseReason.IDLE)
    assert [*states, session.state] == [
        SessionState.WAITING_EC_MSG,
        SessionState.WAITING_CP_MSG,
        SessionState.OPEN,
        SessionState.CLOSED,
    ]
    names = {*(each.name for each in SessionState), f"{HopLinkState.WAITING.name}_RECONNECT"}
    assert names == {
        *("OPEN", "CLOSED", "WAITING_EC_MSG", "WAITING_ECR_MSG"),
        *("WAITING_CP_MSG", "WAITING_CPR_MSG", "WAITING_RECONNECT"),
    }


@pytest.mark.spec("MQQB-3.1.5.2.3-03", "MQQB-3.1.5.3.2-04", "MQQB-3.1.5.4.2-03")
def test_an_initiator_goes_through_the_states() -> None:
    session = initiator()
    states = [session.state]
    for packet in (response(), parameters()):
        session.receive_data(packet, now=NOW)
        states.append(session.state)
    assert states == [
        SessionState.WAITING_ECR_MSG,
        SessionState.WAITING_CPR_MSG,
        SessionState.OPEN,
    ]
    assert events(session) == [Established(), Opened()]


@pytest.mark.spec("MQQB-2.2.3.1-01", "MQQB-2.2.3.1-03", "MQQB-3.1.5.2.3-02")
@pytest.mark.parametrize("server", [GUID_NULL, THEIRS])
def test_a_request_names_both_queue_managers(server: UUID) -> None:
    sent = establish(initiator(remote_guid=server))
    assert (sent.client_guid, sent.server_guid) == (OURS, server)
    assert not sent.connection_refused


@pytest.mark.spec("MQQB-2.2.3.1-05")
def test_the_time_stamp_is_the_uptime_in_milliseconds() -> None:
    assert establish(initiator()).time_stamp == NOW * 1000


@pytest.mark.spec("MQQB-2.2.3.1-08", "MQQB-6-03")
@pytest.mark.parametrize("pinged", [False, True])
def test_se_says_that_no_ping_was_sent(*, pinged: bool) -> None:
    flags = establish(initiator(pinged=pinged)).operating_system
    assert bool(flags & OperatingSystemFlags.SE) is not pinged


@pytest.mark.spec("MQQB-2.2.3.1-10", "MQQB-2.2.3.1-12")
@pytest.mark.parametrize("server_class", [False, True])
def test_os_says_whether_this_is_a_server(*, server_class: bool) -> None:
    flags = establish(initiator(BinarySettings(server_class=server_class))).operating_system
    assert bool(flags & OperatingSystemFlags.OS) is server_class
    assert not flags & OperatingSystemFlags.QS


@pytest.mark.spec("MQQB-2.2.3.1-02", "MQQB-2.2.3.1-06", "MQQB-3.1.5.3.1-04")
@pytest.mark.parametrize("server", [GUID_NULL, OURS])
def test_a_response_echoes_the_request_and_names_the_acceptor(server: UUID) -> None:
    session = acceptor()
    session.receive_data(request(server), now=NOW)
    answer = establish(session)
    assert (answer.client_guid, answer.server_guid, answer.time_stamp) == (THEIRS, OURS, 12345)
    assert not answer.connection_refused


@pytest.mark.spec("MQQB-2.2.3.1-04")
@pytest.mark.parametrize("server", [GUID_NULL, OURS])
def test_a_response_names_the_acceptor_also_when_the_request_did_not(server: UUID) -> None:
    session = acceptor()
    session.receive_data(request(server), now=NOW)
    assert establish(session).server_guid == OURS


@pytest.mark.spec("MQQB-3.1.5.3.1-01")
def test_the_acceptor_knows_the_peer_by_its_client_guid() -> None:
    session = acceptor()
    session.receive_data(request(), now=NOW)
    assert session.remote_guid == THEIRS


@pytest.mark.spec("MQQB-2.2.3.1-09")
@pytest.mark.parametrize("flags", [OperatingSystemFlags(0), OperatingSystemFlags.SE])
def test_a_response_has_the_se_of_the_request(flags: OperatingSystemFlags) -> None:
    session = acceptor()
    session.receive_data(request(operating_system=flags), now=NOW)
    assert establish(session).operating_system & OperatingSystemFlags.SE == flags


def test_a_client_machine_answers_as_one() -> None:
    session = acceptor(BinarySettings(server_class=False))
    session.receive_data(request(), now=NOW)
    assert not establish(session).operating_system & OperatingSystemFlags.OS


@pytest.mark.spec("MQQB-6-08", "MQQB-2.2.3.1-11")
@pytest.mark.parametrize("flags", [OperatingSystemFlags.OS, OperatingSystemFlags.QS])
def test_the_kind_of_operating_system_changes_nothing(flags: OperatingSystemFlags) -> None:
    session = acceptor()
    session.receive_data(request(operating_system=flags) + parameters(), now=NOW)
    assert session.open


@pytest.mark.spec("MQQB-2.2.1-05", "MQQB-3.1.5.3.1-03")
def test_a_request_for_another_queue_manager_is_refused() -> None:
    session = acceptor()
    session.receive_data(request(OTHER), now=NOW)
    assert establish(session).connection_refused
    assert reason(session) is CloseReason.REFUSING


@pytest.mark.spec("MQQB-2.2.1-06", "MQQB-3.1.5.3.1-02")
def test_a_request_over_the_limit_is_refused() -> None:
    session = acceptor(refuse=True)
    session.receive_data(request(), now=NOW)
    assert establish(session).connection_refused
    assert session.closed


@pytest.mark.spec("MQQB-3.1.5.3.2-01")
@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (response(client=OTHER), CloseReason.WRONG_PEER),
        (response(server=OTHER), CloseReason.WRONG_PEER),
        (response(connection_refused=True), CloseReason.REFUSED),
    ],
)
def test_an_initiator_checks_the_response(packet: bytes, expected: CloseReason) -> None:
    session = initiator(remote_guid=THEIRS)
    session.data_to_send()
    session.receive_data(packet, now=NOW)
    assert reason(session) is expected
    assert not session.data_to_send()


@pytest.mark.spec("MQQB-3.1.3.2-12")
def test_the_recoverable_ack_timeout_is_not_known_before_it_is_negotiated() -> None:
    handshake = Handshake(
        BinarySettings(), OURS, remote_guid=THEIRS, pinged=False, refuse=False, window_size=64
    )
    assert handshake.recoverable_ack_timeout == 0xFFFFFFFF


def test_an_initiator_with_a_direct_name_takes_any_queue_manager() -> None:
    session = initiator()
    session.receive_data(response(server=OTHER), now=NOW)
    assert session.remote_guid == OTHER


@pytest.mark.spec("MQQB-3.1.5.3.2-02")
@pytest.mark.parametrize(
    ("round_trip", "expected"), [(0.0, 500), (0.187, 1496), (1.0, 8000), (60.0, 120_000)]
)
def test_the_recoverable_ack_timeout_is_eight_round_trips(round_trip: float, expected: int) -> None:
    session = initiator()
    session.data_to_send()
    session.receive_data(response(), now=NOW + round_trip)
    sent = ConnectionParameters.parse(output(session)[0])[0]
    assert sent.recoverable_ack_timeout == expected


@pytest.mark.spec("MQQB-3.1.5.3.2-03", "MQQB-6-17", "MQQB-6-24")
def test_the_parameters_of_an_initiator() -> None:
    session = initiator()
    session.data_to_send()
    session.receive_data(response(), now=NOW)
    assert output(session) == [ConnectionParameters(500, 20_000, 64).serialize()]


@pytest.mark.spec("MQQB-6-24")
def test_a_slow_link_adds_to_the_ack_timeout() -> None:
    session = initiator(BinarySettings(round_trip_delay=5.0, window_size=32))
    session.data_to_send()
    session.receive_data(response(), now=NOW)
    assert output(session) == [ConnectionParameters(500, 25_000, 32).serialize()]


@pytest.mark.spec("MQQB-3.1.5.4.1-02", "MQQB-2.2.2.1-04")
def test_an_acceptor_echoes_the_timeouts_and_states_its_own_window() -> None:
    session = acceptor(window_size=7)
    session.receive_data(request(), now=NOW)
    session.data_to_send()
    session.receive_data(parameters(99, recoverable=1496, ack=120_000), now=NOW)
    assert output(session) == [ConnectionParameters(1496, 120_000, 7).serialize()]


@pytest.mark.spec("MQQB-3.1.5.4.1-01", "MQQB-3.1.5.4.1-03")
def test_the_window_of_the_initiator_limits_the_acceptor() -> None:
    session = acceptor()
    session.receive_data(request() + parameters(3), now=NOW)
    assert session.room == 3
    assert events(session) == [Opened()]


@pytest.mark.spec("MQQB-3.1.5.4.2-01")
def test_the_window_of_the_acceptor_limits_the_initiator() -> None:
    session = initiator()
    session.receive_data(response() + parameters(2), now=NOW)
    assert session.room == 2


def test_refused_parameters_end_the_session() -> None:
    session = initiator()
    session.receive_data(response(), now=NOW)
    refused = ConnectionParameters(500, 20_000, 64, connection_refused=True).serialize()
    session.receive_data(refused, now=NOW)
    assert reason(session) is CloseReason.REFUSED


@pytest.mark.parametrize(
    "packet",
    [
        pytest.param(parameters(), marks=pytest.mark.spec("MQQB-3.1.5.4-01")),
        pytest.param(ack_packet(), marks=pytest.mark.spec("MQQB-3.1.5.5-01")),
        pytest.param(message(), marks=pytest.mark.spec("MQQB-3.1.5.8-01")),
        pytest.param(
            message(label="QM Ordering Ack", message_class=0xFF),
            marks=pytest.mark.spec("MQQB-3.1.5.6-01"),
        ),
        pytest.param(
            message(label="QM Ordering Ack", message_class=0x4000),
            marks=pytest.mark.spec("MQQB-3.1.5.7-01"),
        ),
    ],
)
def test_packets_before_their_turn_end_the_session_without_a_reply(packet: bytes) -> None:
    for session in (acceptor(), initiator()):
        session.data_to_send()
        session.receive_data(packet, now=NOW)
        assert reason(session) is CloseReason.BAD_ORDER
        assert not session.data_to_send()


@pytest.mark.spec("MQQB-3.1.5.3-01", "MQQB-3.1.5.4-01")
@pytest.mark.parametrize("packet", [request(), parameters()])
def test_the_handshake_cannot_be_repeated(packet: bytes) -> None:
    session = open_session()
    session.receive_data(packet, now=NOW)
    assert reason(session) is CloseReason.BAD_ORDER


@pytest.mark.spec("MQQB-3.1.5.3-01")
def test_a_second_request_before_the_parameters_ends_the_session() -> None:
    session = acceptor()
    session.receive_data(request() + request(), now=NOW)
    assert reason(session) is CloseReason.BAD_ORDER
