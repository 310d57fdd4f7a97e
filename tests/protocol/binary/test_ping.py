"""Pings, both sides, alone and before a session."""

from uuid import UUID

import pytest
from tests.protocol.binary.pair import TO_B, Network, Node, pair

from openmsmq.protocol.binary.ping import PingRequests, answer_ping, parse_ping
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.packets.ping import Ping, PingFlags

OURS = UUID(int=0xA)
THEIRS = UUID(int=0xB)
FRAME_1 = bytes.fromhex("017d485504000000d1587355509195954997b6e611ea26c6")


def requests(*, server_class: bool = True) -> PingRequests:
    return PingRequests(OURS, server_class=server_class)


def response(cookie: int, *, refused: bool = False) -> bytes:
    flags = PingFlags.RF if refused else PingFlags(0)
    return Ping(flags, cookie, THEIRS).serialize()


@pytest.mark.spec("MQQB-3.1.7.6-01", "MQQB-6-13", "MQQB-3.1.3.2-15")
def test_cookies_count_up_from_one() -> None:
    pings = requests()
    sent = [parse_ping(pings.request(number)) for number in (1, 2)]
    assert [ping.cookie for ping in sent if ping] == [1, 2]
    assert {ping.qm_guid for ping in sent if ping} == {OURS}


@pytest.mark.spec("MQQB-2.2.7-02", "MQQB-2.2.7-05")
@pytest.mark.parametrize(("server_class", "flags"), [(True, PingFlags(0)), (False, PingFlags.RC)])
def test_a_request_says_whether_this_is_a_client(*, server_class: bool, flags: int) -> None:
    ping = parse_ping(requests(server_class=server_class).request(1))
    assert ping is not None
    assert ping.flags == flags


@pytest.mark.spec("MQQB-3.1.1.3-11", "MQQB-2.2.7-10", "MQQB-3.1.7.8-01")
def test_only_the_answer_to_the_last_request_counts() -> None:
    pings = requests()
    pings.request(7)
    pings.request(7)
    assert pings.response(response(1)) is None
    assert pings.response(response(2)) == (7, True)


@pytest.mark.spec("MQQB-3.1.7.8-01")
@pytest.mark.parametrize(
    "datagram",
    [
        response(2),
        response(1)[:2] + b"XX" + response(1)[4:],
        response(1)[:-1],
        response(1) + b"\0",
        b"",
    ],
)
def test_other_datagrams_are_no_answer(datagram: bytes) -> None:
    pings = requests()
    pings.request(7)
    assert pings.response(datagram) is None


@pytest.mark.spec("MQQB-3.1.7.8-01")
def test_an_answer_counts_once() -> None:
    pings = requests()
    pings.request(7)
    pings.forget(8)
    assert pings.response(response(1)) == (7, True)
    assert pings.response(response(1)) is None


@pytest.mark.spec("MQQB-3.1.7.6-02")
def test_a_refusal_is_no_success() -> None:
    pings = requests()
    pings.request(7)
    assert pings.response(response(1, refused=True)) == (7, False)


@pytest.mark.spec("MQQB-3.1.7.7-02", "MQQB-2.2.7-03", "MQQB-2.2.7-11")
@pytest.mark.parametrize("refuse", [False, True])
@pytest.mark.parametrize("client", [PingFlags(0), PingFlags.RC])
def test_the_answer_to_a_request(*, refuse: bool, client: PingFlags) -> None:
    request = Ping(client, 0xFFFFFFFF, THEIRS).serialize()
    raw = answer_ping(request, OURS, refuse=refuse)
    assert raw is not None
    refusal = PingFlags.RF if refuse else PingFlags(0)
    assert parse_ping(raw) == Ping(client | refusal, 0xFFFFFFFF, OURS)


@pytest.mark.spec("MQQB-2.2.7-04", "MQQB-2.2.7-09", "MQQB-4.1.1-01")
def test_the_ping_of_the_specification_is_answered() -> None:
    raw = answer_ping(FRAME_1, OURS, refuse=False)
    assert raw is not None
    assert parse_ping(raw) == Ping(PingFlags.RC, 4, OURS)


@pytest.mark.spec("MQQB-3.1.7.7-01", "MQQB-2.2.7-08", "MQQB-3.1.5.1.1-05")
@pytest.mark.parametrize("datagram", [b"", FRAME_1[:2] + b"UH" + FRAME_1[4:], b"\x10" * 36])
def test_what_is_no_ping_gets_no_answer(datagram: bytes) -> None:
    assert answer_ping(datagram, OURS, refuse=False) is None


# In front of a session


def pinging(**options: object) -> tuple[Network, Node, Node]:
    return pair(settings=BinarySettings(send_ping=True, **options))  # type: ignore[arg-type]


@pytest.mark.spec("MQQB-2.1.2-01", "MQQB-3.1.1.7.1-01", "MQQB-3.1.5.2.2-01")
def test_a_ping_goes_before_a_session_that_is_wanted_so() -> None:
    network, a, b = pinging()
    a.send(TO_B, b"1")
    network.run()
    (ping,) = a.pings
    assert (ping.host, ping.port, len(ping.datagram)) == ("10.0.0.2", 3527, 24)
    assert b.bodies() == [b"1"]
    request = EstablishConnection.parse(network.log[0][1])[0]
    assert not request.operating_system & OperatingSystemFlags.SE


@pytest.mark.spec("MQQB-6-06")
def test_the_ping_port_can_be_set() -> None:
    network, a, _ = pinging(peer_ping_port=4527)
    a.send(TO_B, b"1")
    network.run()
    assert a.pings[0].port == 4527


@pytest.mark.spec("MQQB-3.1.5.2.2-02", "MQQB-3.1.6.8-01", "MQQB-3.1.2.9-01")
def test_without_an_answer_within_a_second_there_is_no_session() -> None:
    network, a, b = pinging(answer_ping=False)
    a.send(TO_B, b"1")
    network.advance(0.9)
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    assert not outgoing.connection_history
    network.advance(0.2)
    assert [entry.status for entry in outgoing.connection_history] == [
        ConnectionStatus.PING_FAILURE
    ]
    assert outgoing.state is QueueState.DISCONNECTED
    assert b.bodies() == []
    # The retry goes without a ping.
    network.advance(5)
    assert b.bodies() == [b"1"]
    assert len(a.pings) == 1


@pytest.mark.spec("MQQB-2.1.2-03", "MQQB-3.1.1.7.1-02", "MQQB-6-05")
def test_an_acceptor_that_answers_no_pings_takes_sessions() -> None:
    network, a, b = pair(settings=BinarySettings(answer_ping=False))
    assert b.binary.ping_request(FRAME_1) is None
    a.send(TO_B, b"1")
    network.run()
    assert b.bodies() == [b"1"]


@pytest.mark.spec("MQQB-2.2.7-04")
def test_a_full_acceptor_says_so() -> None:
    network, a, _ = pinging(max_connections=0)
    a.send(TO_B, b"1")
    network.run()
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    assert outgoing.connection_history[-1].status is ConnectionStatus.PING_FAILURE


def test_a_late_answer_is_ignored() -> None:
    network, a, b = pinging(answer_ping=False)
    a.send(TO_B, b"1")
    network.advance(2)
    answer = answer_ping(a.pings[0].datagram, b.guid, refuse=False)
    assert answer is not None
    a.binary.ping_response(answer, now=network.now)
    assert a.binary.next_event() is None


def test_a_host_that_cannot_be_pinged_is_tried_later() -> None:
    network, a, _ = pinging(answer_ping=False)
    a.send(TO_B, b"1")
    network.run()
    number = a.pings[0].connection
    status = ConnectionStatus.NAME_RESOLUTION_FAILURE
    a.binary.connect_failed(number, status, now=network.now)
    a.binary.connect_failed(number, status, now=network.now)
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    assert [entry.status for entry in outgoing.connection_history] == [status]
