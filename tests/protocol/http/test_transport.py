"""Server and client of a queue manager as one protocol: two of them back to back."""

from tests.protocol.http.clients import post
from tests.protocol.http.hosts import DESTINATION

from openmsmq.protocol.http import (
    Answered,
    Connect,
    Disconnect,
    HttpSettings,
    HttpTransport,
    OutletFailed,
    OutletOpened,
)
from openmsmq.wire.codes.queue_enums import ConnectionStatus


def test_two_transports_talk_to_each_other() -> None:
    a, b = HttpTransport(HttpSettings()), HttpTransport(HttpSettings())
    outlet = a.client.open(DESTINATION)
    connect = a.next_event()
    assert isinstance(connect, Connect)
    near = connect.connection
    far = b.server.accept("10.0.0.1", secure=False, now=1.0)
    assert far is not None
    a.connected(near, "10.0.0.2", now=1.0)
    assert a.client.take_events() == [OutletOpened(outlet=outlet)]
    a.client.post(outlet, "token", "/msmq/q", "text/xml", [b"<e/>"])
    assert a.take_ready() == [near]
    b.receive_data(far, b"".join(a.data_to_send(near, now=1.0)), now=1.0)
    assert (a.may_read(near), b.may_read(far)) == (True, True)
    (request,) = b.server.take_requests()
    assert request.body == b"<e/>"
    b.server.answer(request, 200)
    assert b.take_ready() == [far]
    a.receive_data(near, b"".join(b.data_to_send(far, now=1.0)), now=1.0)
    assert a.client.take_events() == [Answered(outlet=outlet, answers=[("token", 200)])]


def test_each_side_has_its_timers() -> None:
    transport = HttpTransport(HttpSettings())
    assert transport.next_timer() is None
    number = transport.server.accept("10.0.0.1", secure=False, now=1.0)
    assert number is not None
    due = transport.next_timer()
    assert due is not None
    transport.handle_timer(now=due)
    event = transport.next_event()
    assert isinstance(event, Disconnect)
    assert event.connection == number
    assert transport.next_timer() is None


def test_ends_reach_the_side_that_they_concern() -> None:
    transport = HttpTransport(HttpSettings())
    number = transport.server.accept("10.0.0.1", secure=False, now=1.0)
    assert number is not None
    transport.receive_data(number, post(b"x"), now=1.0)
    outlet = transport.client.open(DESTINATION)
    assert isinstance(transport.next_event(), Connect)
    transport.connected(2, "10.0.0.2", now=1.0)
    transport.client.post(outlet, "token", "/msmq/q", "text/xml", [])
    transport.data_to_send(2, now=1.0)
    transport.connection_lost(2)
    assert len(transport.server) == 1
    transport.connection_lost(number)
    assert len(transport.server) == 0
    other = transport.client.open(DESTINATION)
    transport.connect_failed(4, ConnectionStatus.CONNECT_SOCKET_FAILURE, "refused")
    failed = [event for event in transport.client.take_events() if isinstance(event, OutletFailed)]
    assert [event.outlet for event in failed] == [outlet, other]


def test_stopping_ends_both_sides() -> None:
    transport = HttpTransport(HttpSettings())
    transport.server.accept("10.0.0.1", secure=False, now=1.0)
    transport.client.open(DESTINATION)
    transport.stop()
    assert (len(transport.server), len(transport.client)) == (0, 0)
