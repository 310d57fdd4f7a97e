"""Messages that must be checked before they go into a queue: order, refusals, faults, crashes."""

from random import Random
from typing import Any

import pytest
from tests.core.fake_verifier import LEVEL, SIGNED, FakeVerifier
from tests.protocol.binary.pair import Network, Node
from tests.protocol.binary.raw_peer import RawPeer, tx_message
from tests.protocol.binary.test_receiving import NEGATIVE_ARRIVAL, finals, plain

from openmsmq.core.settings import Settings
from openmsmq.core.transfer.checks.checks import FEW_CHECKS
from openmsmq.directory.objects import UNLIMITED
from openmsmq.protocol.binary.events import CloseReason
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.order_ack import OrderAck

B = "10.0.0.2"
SEQUENCE = 1 << 32


def slow(
    *,
    cheap: bool = False,
    settings: BinarySettings | None = None,
    core: dict[str, Any] | None = None,
    **queue: Any,
) -> tuple[Network, Node, RawPeer]:
    """A node that finishes no job by itself, and a peer that is connected to it."""
    network = Network()
    verifier = FakeVerifier(cheap=cheap)
    core_settings = Settings(names=frozenset((B,)), send_insecure_nacks=True, **(core or {}))
    b = network.add("B", B, verifier=verifier, settings=settings, core_settings=core_settings)
    b.create(**queue)
    b.checking = False
    return network, b, connect(network, b)


def connect(network: Network, node: Node, number: int = 7) -> RawPeer:
    peer = RawPeer(network, node, address=f"10.0.0.{number}", number=number)
    peer.connect()
    peer.internal.clear()
    return peer


def signed(number: int, body: bytes = b"", **properties: Any) -> bytes:
    return plain(number, body, security_header=SIGNED, **properties)


def finish(node: Node, at: int = 0) -> None:
    """Let a worker finish one job, and everything happen that follows."""
    node.finish_job(at)
    node.network.run()


def acked(peer: RawPeer) -> int:
    """How many messages the node has acknowledged, as its last acknowledgment says."""
    headers = peer.session_acks()
    return headers[-1].ack_sequence_number if headers else 0


def test_nothing_is_delivered_or_acknowledged_before_it_is_checked() -> None:
    network, b, peer = slow(authentication=True)
    peer.send(signed(1), signed(2))
    network.advance(10)
    assert b.bodies() == []
    assert acked(peer) == 0
    assert len(b.jobs) == 1
    finish(b)
    network.advance(10)
    assert [each.authentication_level for each in b.take()] == [LEVEL, LEVEL]
    assert acked(peer) == 2


def test_the_checks_of_one_read_are_one_job() -> None:
    _, b, peer = slow()
    peer.send(signed(1), plain(2), signed(3), signed(4))
    peer.send(signed(5))
    assert b.verifier is not None
    assert len(b.jobs) == 2


def test_what_needs_no_check_waits_behind_what_does() -> None:
    network, b, peer = slow()
    peer.send(signed(1))
    peer.send(plain(2), plain(3))
    other = connect(network, b, 8)
    other.send(plain(1, b"other", source_queue_manager=other.guid))
    network.advance(10)
    assert b.bodies() == [b"other"]
    assert (acked(peer), acked(other)) == (0, 1)
    finish(b)
    network.advance(10)
    assert b.bodies() == [b"other", b"1", b"2", b"3"]
    assert acked(peer) == 3


def test_an_acknowledgment_covers_what_is_settled_and_nothing_after_it() -> None:
    network, b, peer = slow()
    peer.send(signed(1), plain(2))
    peer.send(signed(3))
    finish(b)
    network.advance(10)
    assert acked(peer) == 2
    peer.send(plain(4))
    network.advance(10)
    assert acked(peer) == 0
    finish(b)
    network.advance(10)
    assert acked(peer) == 4


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("tx", [False, True])
def test_the_order_is_kept_whatever_order_the_jobs_end_in(seed: int, *, tx: bool) -> None:
    network, b, peer = slow(transactional=tx)
    random = Random(seed)
    sent = 0
    while sent < 60 or b.jobs:
        if sent < 60 and random.random() < 0.5:
            packets = []
            for _ in range(random.randint(1, 6)):
                sent += 1
                security: Any = {"security_header": SIGNED} if random.random() < 0.5 else {}
                body = b"%d" % sent
                packets.append(
                    tx_message(body, SEQUENCE, sent, sent - 1, **security)
                    if tx
                    else plain(sent, body, delivery_mode=random.randint(0, 1), **security)
                )
            peer.send(*packets)
        elif b.jobs:
            finish(b, random.randrange(len(b.jobs)))
            network.advance(random.choice((0, 1)))
        assert b.bodies() == [b"%d" % number for number in range(1, len(b.bodies()) + 1)]
        assert acked(peer) <= len(b.bodies())
    network.advance(30)
    assert len(b.bodies()) == sent
    assert "transactional message out of order" not in b.counts
    if tx:
        order = [ack for ack in peer.acks() if isinstance(ack, OrderAck)]
        assert order[-1].tx_sequence_number == sent


def test_one_message_that_fails_its_check_is_refused_and_the_others_go_on() -> None:
    _, b, peer = slow()
    asking = {
        "acknowledgments": NEGATIVE_ARRIVAL,
        "admin_queue": direct_address(r"TCP:10.0.0.7\private$\admin"),
    }
    peer.send(*(signed(number, body, **asking) for number, body in enumerate((b"1", b"bad", b"3"))))
    finish(b)
    assert b.bodies() == [b"1", b"3"]
    assert b.counts == {"NACK_BAD_SIGNATURE": 1}
    refused = [each.message_class for each in peer.received]
    assert refused == [MessageClass.NACK_BAD_SIGNATURE]
    # It was received: a copy of it is a duplicate.
    peer.send(signed(1, b"bad", **asking))
    finish(b)
    assert b.counts["duplicate message"] == 1


def test_a_transactional_message_that_fails_its_check_passes_its_stream() -> None:
    _, b, peer = slow(transactional=True)
    bodies = (b"1", b"bad", b"3")
    peer.send(
        *(
            tx_message(body, SEQUENCE, number, number - 1, security_header=SIGNED)
            for number, body in enumerate(bodies, 1)
        )
    )
    finish(b)
    assert b.bodies() == [b"1", b"3"]
    assert finals(peer) == [MessageClass.NACK_BAD_SIGNATURE]


def test_a_refused_acknowledgment_is_not_taken() -> None:
    _, b, peer = slow()
    order_queue = direct_address(rf"TCP:{B}\private$\order_queue$")
    peer.send(signed(1, b"bad", destination_queue=order_queue))
    peer.send(signed(2, b"good", destination_queue=order_queue))
    finish(b)
    finish(b)
    assert b.counts == {
        "NACK_BAD_SIGNATURE": 1,
        "unknown transactional acknowledgment": 1,
    }


def test_a_check_that_breaks_closes_its_connection_only() -> None:
    network, b, peer = slow()
    other = connect(network, b, 8)
    peer.send(signed(1))
    peer.send(signed(2, b"fault in the check"))
    peer.send(signed(3))
    other.send(signed(1, b"other", source_queue_manager=other.guid))
    finish(b, 2)
    finish(b, 1)
    assert b.bodies() == []
    finish(b, 0)
    finish(b, 0)
    network.advance(10)
    assert b.bodies() == [b"1", b"other"]
    assert peer.closed is not None
    assert peer.closed.reason is CloseReason.CHECK_FAILED
    assert peer.closed.detail == "ArithmeticError: fault in the check"
    assert other.closed is None
    assert acked(other) == 1
    assert b.binary._receiver.backlog.total == 0


def test_a_job_that_ends_after_its_connection_failed_is_ignored() -> None:
    network, b, peer = slow()
    peer.send(signed(1, b"fault"))
    peer.send(signed(2))
    peer.send(plain(3))
    second = b.jobs.pop()
    finish(b)
    second.run()
    b.engine.job_done(second)
    network.run()
    assert b.bodies() == []
    assert b.binary._receiver.backlog.total == 0
    assert b.counts == {"a check of messages failed": 1}


def test_no_worker_takes_the_jobs_of_a_connection_that_failed() -> None:
    _, b, peer = slow()
    node_jobs = b.jobs
    peer.send(signed(1, b"fault"))
    peer.node.binary.receive_data(peer.connection, signed(2), now=b.network.now)
    finish(b)
    assert b.engine.take_job() is None
    assert node_jobs == []


@pytest.mark.parametrize("mode", [0, 1])
def test_the_end_of_a_connection_loses_nothing_and_acknowledges_nothing(mode: int) -> None:
    network, b, peer = slow()
    peer.send(signed(1, delivery_mode=mode), signed(2, delivery_mode=mode))
    b.binary.connection_lost(peer.connection, now=network.now)
    network.run()
    assert b.binary._receiver.backlog.total > 0
    peer.connection = -1
    again = RawPeer(network, b)
    again.connect()
    again.internal.clear()
    again.send(*(signed(number, delivery_mode=mode) for number in (1, 2, 3)))
    finish(b, 1)
    finish(b, 0)
    network.advance(10)
    assert b.bodies() == [b"1", b"2", b"3"]
    assert b.counts["duplicate message"] == 2
    assert acked(again) == 3
    assert acked(peer) == 0
    assert b.binary._receiver.backlog.total == 0


@pytest.mark.parametrize("clean", [False, True])
def test_what_waits_at_a_stop_or_a_crash_was_not_acknowledged_and_comes_again(
    *, clean: bool
) -> None:
    network, b, peer = slow()
    peer.send(plain(1))
    peer.send(signed(2), signed(3))
    network.advance(10)
    assert acked(peer) == 1
    if clean:
        b.restart()
    else:
        b.crash()
    assert b.bodies() == [b"1"]
    peer = connect(network, b)
    peer.send(signed(2), signed(3))
    finish(b)
    assert b.bodies() == [b"1", b"2", b"3"]


def test_a_job_that_is_done_after_a_stop_is_not_acknowledged() -> None:
    network, b, peer = slow()
    peer.send(signed(1))
    b.binary.stop(now=network.now)
    network.run()
    finish(b)
    network.advance(10)
    assert b.bodies() == [b"1"]
    assert acked(peer) == 0


def test_few_cheap_checks_need_no_worker() -> None:
    _, b, peer = slow(cheap=True, authentication=True)
    few = range(1, FEW_CHECKS + 1)
    peer.send(*(signed(number) for number in few))
    assert b.jobs == []
    assert len(b.bodies()) == FEW_CHECKS
    peer.send(*(signed(number) for number in range(10, 10 + FEW_CHECKS + 1)))
    assert len(b.jobs) == 1
    # Checked at once, but its turn has not come.
    peer.send(signed(20, b"last"))
    assert len(b.jobs) == 1
    assert len(b.bodies()) == FEW_CHECKS
    finish(b)
    assert b.bodies()[-1] == b"last"
    peer.send(signed(21, b"fault"))
    assert peer.closed is not None
    assert peer.closed.reason is CloseReason.CHECK_FAILED
    assert b.jobs == []


def test_reading_pauses_while_much_waits_for_checks() -> None:
    size = len(signed(1))
    _, b, peer = slow(settings=BinarySettings(max_peer_bytes=3 * size - 1))
    peer.send(signed(1), signed(2))
    assert b.binary.may_read(peer.connection)
    peer.send(signed(3))
    assert not b.binary.may_read(peer.connection)
    finish(b)
    assert b.binary.may_read(peer.connection)


def test_more_bytes_than_may_wait_close_the_session() -> None:
    size = len(signed(1))
    network, b, peer = slow(core={"max_checking_bytes": 2 * size})
    other = connect(network, b, 8)
    peer.send(signed(1), signed(2), signed(3))
    other.send(signed(1, source_queue_manager=other.guid))
    assert peer.closed is None
    assert other.closed is not None
    assert other.closed.reason is CloseReason.NO_ROOM
    finish(b)
    assert b.bodies() == [b"1", b"2", b"3"]
    assert b.binary._receiver.backlog.total == 0
    again = connect(network, b, 8)
    again.send(signed(1, b"other", source_queue_manager=other.guid))
    finish(b)
    assert b.bodies()[-1] == b"other"


def test_when_there_is_no_room_what_waits_behind_comes_again_too() -> None:
    network, b, peer = slow()
    b.qm.state.manager.queue_manager_quota = 1
    peer.send(signed(1, b"x" * 3000))
    peer.send(signed(2))
    peer.send(plain(3))
    finish(b)
    assert peer.closed is not None
    assert peer.closed.reason is CloseReason.NO_ROOM
    finish(b)
    assert b.bodies() == []
    assert b.binary._receiver.backlog.total == 0
    b.qm.state.manager.queue_manager_quota = UNLIMITED
    again = connect(network, b)
    again.send(signed(1), signed(2), plain(3))
    finish(b)
    assert b.bodies() == [b"1", b"2", b"3"]
    assert b.counts == {"no room for messages": 1}
