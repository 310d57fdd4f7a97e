"""Multicast groups in the list of sessions."""

from __future__ import annotations

from tests.protocol.multicast.lan import GROUP, LanNode, fast, lan_pair

from openmsmq.core.management.records import SessionInfo

BODIES = [b"%d" % number for number in range(10)]


def only(node: LanNode) -> SessionInfo:
    (session,) = node.multicast.sessions()
    return session


def test_a_group_has_an_entry_where_it_is_sent_to_and_where_it_is_heard() -> None:
    lan, alpha, beta = lan_pair()
    lan.run()
    assert (only(beta).state, only(beta).source_count) == ("LISTENING", 0)
    alpha.multicast_send(*BODIES)
    lan.pass_time(5.0)
    sent, heard = only(alpha), only(beta)
    assert (sent.protocol, sent.transport, sent.direction) == ("multicast", "multicast", "outgoing")
    assert (heard.protocol, heard.transport, heard.direction) == (
        "multicast",
        "multicast",
        "incoming",
    )
    assert sent.group == sent.address == heard.group == heard.address == GROUP
    assert sent.outgoing_messages == heard.incoming_messages == len(BODIES)
    assert sent.outgoing_bytes > 0 < heard.incoming_bytes
    assert (sent.queues, sent.unacknowledged) == (1, 0)
    assert (heard.sources, heard.source_count, heard.lost_packets) == ((str(alpha.address),), 1, 0)
    assert sent.id != heard.id
    for node, session in ((alpha, sent), (beta, heard)):
        assert node.multicast.session_count == 1
        (traffic,) = node.multicast.traffic()
        assert traffic == (
            session.id,
            session.incoming_messages,
            session.outgoing_messages,
            session.incoming_bytes,
            session.outgoing_bytes,
        )
        assert not node.multicast.hang_up(session.id)


def test_what_is_lost_for_good_is_counted() -> None:
    lan, alpha, beta = lan_pair(source=fast(txw_secs=5.0))
    alpha.multicast_send(b"first")
    lan.pass_time(5.0)
    lan.passes = lambda *_: False
    alpha.multicast_send(*BODIES)
    lan.pass_time(20.0)
    lan.passes = None
    alpha.multicast_send(b"last")
    lan.pass_time(100.0)
    assert only(beta).lost_packets == beta.counts()["lost_packets"] > 0


def test_a_group_that_cannot_be_listened_to_waits() -> None:
    lan, _, beta = lan_pair()
    beta.refused = "no"
    beta.restart()
    lan.run()
    assert only(beta).state == "WAITING"
