"""Connections of HTTP in the list of sessions."""

from __future__ import annotations

from tests.protocol.srmp.web import pair, url

from openmsmq.protocol.srmp.session_infos import SrmpSessions

BODIES = [b"one", b"two", b"three"]


def test_both_ends_of_a_connection_are_listed_with_what_they_carried() -> None:
    web, alpha, beta = pair()
    beta.create()
    alpha.send(url(beta), *BODIES)
    web.run()
    assert beta.bodies() == BODIES
    ours, theirs = SrmpSessions(alpha.http), SrmpSessions(beta.http)
    (outgoing,), (incoming,) = ours.sessions(), theirs.sessions()
    assert (outgoing.direction, outgoing.address, outgoing.queues) == ("outgoing", "beta", 1)
    assert (incoming.direction, incoming.address, incoming.queues) == ("incoming", "alpha", 0)
    assert (outgoing.protocol, outgoing.transport, outgoing.state) == ("srmp", "http", "OPEN")
    assert (incoming.protocol, incoming.transport, incoming.state) == ("srmp", "http", "OPEN")
    assert outgoing.outgoing_messages == incoming.incoming_messages == len(BODIES)
    assert outgoing.outgoing_bytes == incoming.incoming_bytes == len(web.written["alpha"])
    assert outgoing.incoming_bytes == incoming.outgoing_bytes == len(web.written["beta"])
    assert (outgoing.unacknowledged, incoming.waiting_bytes, theirs.waiting_bytes) == (0, 0, 0)
    assert (outgoing.peer, incoming.peer) == ("", "")
    assert (ours.session_count, theirs.session_count) == (1, 1)
    (traffic,) = theirs.traffic()
    assert traffic == (incoming.id, 3, 0, incoming.incoming_bytes, incoming.outgoing_bytes)


def test_https_is_another_transport() -> None:
    web, alpha, beta = pair()
    beta.create()
    alpha.send(url(beta).replace("http:", "https:"), b"one")
    web.run()
    for node in (alpha, beta):
        assert [each.transport for each in SrmpSessions(node.http).sessions()] == ["https"]


def test_a_request_that_is_not_answered_yet_is_seen_at_both_ends() -> None:
    web, alpha, beta = pair()
    beta.create()
    beta.stalled = True
    alpha.send(url(beta), b"one", delivery_mode=1)
    web.run()
    (outgoing,) = SrmpSessions(alpha.http).sessions()
    (incoming,) = SrmpSessions(beta.http).sessions()
    assert (outgoing.unacknowledged, outgoing.outgoing_messages) == (1, 0)
    assert incoming.waiting_bytes == SrmpSessions(beta.http).waiting_bytes > 0


def test_a_connection_that_was_hung_up_on_is_made_again() -> None:
    for at in range(2):
        web, alpha, beta = pair()
        beta.create()
        alpha.send(url(beta), b"one")
        web.run()
        sessions = SrmpSessions((alpha, beta)[at].http)
        (session,) = sessions.sessions()
        assert sessions.hang_up(session.id)
        assert not sessions.hang_up(session.id)
        web.run()
        assert list(SrmpSessions(alpha.http).sessions()) == []
        assert list(SrmpSessions(beta.http).sessions()) == []
        alpha.send(url(beta), b"two")
        web.pass_time(60.0)
        assert beta.bodies() == [b"one", b"two"]
