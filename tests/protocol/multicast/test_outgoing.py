"""Outgoing queues of multicast addresses, and what cannot be sent by them."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from tests.core.harness import ADMINISTRATOR, USER
from tests.protocol.multicast.lan import (
    GROUP,
    ONE,
    Lan,
    LanNode,
    data_of,
    fast,
    lan_pair,
    offline,
    spms_of,
)

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.transfer.transports import Transport
from openmsmq.protocol.multicast.settings import Randomness
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

DEADLETTER = r".\system$;DEADLETTER"
DEADXACT = r".\system$;DEADXACT"
JOURNAL = r".\system$;JOURNAL"
NAME = f"MULTICAST={GROUP}"


# Outgoing queues


def test_without_a_socket_messages_wait_and_their_queue_says_why() -> None:
    lan, alpha, beta = lan_pair()
    alpha.refused = "raw IP needs a right"
    alpha.multicast_send(b"1")
    alpha.multicast_send(b"2", group="234.1.1.2:8001")
    lan.run()
    status = alpha.status()
    assert (status.state, status.reason, status.last_error) == (
        "WAITING",
        "raw IP needs a right",
        "raw IP needs a right",
    )
    assert status.retry_in_seconds == 20.0
    lan.pass_time(30.0)
    assert alpha.status().reason == "raw IP needs a right"
    alpha.refused = ""
    lan.pass_time(30.0)
    assert beta.bodies(ONE) == [b"1"]
    assert alpha.status().last_error == ""


def test_a_queue_that_is_purged_while_it_waits_rests() -> None:
    lan, alpha, _ = lan_pair()
    alpha.refused = "not now"
    alpha.multicast_send(b"1")
    lan.run()
    alpha.enter()
    descriptor = alpha.qm.open_queue(NAME, QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR)
    alpha.qm.traffic.purge(descriptor)
    alpha.qm.close_queue(descriptor)
    lan.pass_time(30.0)
    assert (alpha.status().state, alpha.status().reason) == ("INACTIVE", "")


def test_the_count_of_destinations_is_limited() -> None:
    lan, alpha, _ = lan_pair(max_destinations=1)
    alpha.multicast_send(b"1")
    lan.run()
    alpha.multicast_send(b"2", group="234.1.1.2:8001")
    lan.pass_time(1.0)
    status = alpha.status("234.1.1.2:8001")
    assert status.state == "WAITING"
    assert "multicast_max_destinations" in status.reason


def test_a_slow_queue_says_that_the_rate_limits_it() -> None:
    lan, alpha, beta = lan_pair()
    alpha.multicast_send(*[b"x" * 5000] * 60)
    lan.pass_time(1.0)
    status = alpha.status()
    assert status.reason == "sent as fast as multicast_rate allows"
    assert 0 < status.unacknowledged <= 5
    assert status.messages > 40
    lan.pass_time(10.0)
    assert len(beta.bodies(ONE)) == 60


def test_a_message_that_expires_before_it_leaves_is_not_sent() -> None:
    lan, alpha, beta = lan_pair()
    alpha.multicast_send(*[b"x" * 5000] * 60, time_to_reach_queue=2, negative_journaling=True)
    lan.pass_time(60.0)
    assert 20 < len(beta.bodies(ONE)) < 40
    # Those that are in the source do not expire there, but at the receiver.
    late = beta.qm.counters.rejected_messages.of("multicast", "NACK_REACH_QUEUE_TIMEOUT")
    assert late <= 5
    assert len(beta.bodies(ONE)) + len(alpha.bodies(DEADLETTER)) + late == 60


def test_an_idle_source_finishes_and_the_next_message_opens_another() -> None:
    lan, alpha, beta = lan_pair(idle_seconds=100.0)
    alpha.multicast_send(b"1")
    lan.pass_time(150.0)
    assert alpha.status().state == "DISCONNECTED"
    assert spms_of(lan, alpha)[-1].options.fin
    alpha.multicast_send(b"2")
    lan.pass_time(1.0)
    assert len(alpha.multicast._sender.sources) == 2
    assert len({packet.tsi for packet in data_of(lan, alpha)}) == 2
    assert beta.bodies(ONE) == [b"1", b"2"]
    # What was sent is repaired for TXW_SECS, then forgotten; counts stay.
    lan.pass_time(1000.0)
    assert alpha.multicast._sender.sources == []
    assert alpha.counts()["odata"] == 2


def test_a_busy_source_is_not_idle() -> None:
    lan, alpha, beta = lan_pair(idle_seconds=1.0)
    alpha.multicast_send(*[b"x" * 60_000] * 3)
    lan.pass_time(10.0)
    assert len(beta.bodies(ONE)) == 3
    assert len({packet.tsi for packet in data_of(lan, alpha)}) == 1


def test_a_pause_resets_a_source_that_sends_and_the_message_leaves_again() -> None:
    lan, alpha, beta = lan_pair()
    alpha.multicast_send(b"x" * 60_000, b"2")
    lan.pass_time(0.2)
    alpha.enter()
    alpha.qm.outgoing.pause(alpha.waiting(), caller=ADMINISTRATOR)
    lan.pass_time(2.0)
    assert spms_of(lan, alpha)[-1].options.rst is not None
    assert (beta.bodies(ONE), alpha.waiting().count) == ([], 2)
    assert (alpha.status().state, alpha.status().reason) == ("ONHOLD", "paused")
    alpha.enter()
    alpha.qm.outgoing.resume(alpha.waiting(), caller=ADMINISTRATOR)
    lan.pass_time(3.0)
    assert beta.bodies(ONE) == [b"x" * 60_000, b"2"]


def test_nothing_leaves_while_offline_or_stopped() -> None:
    lan, alpha, beta = lan_pair()
    alpha.enter()
    alpha.qm.outgoing.set_online(active=False, caller=ADMINISTRATOR)
    lan.run()
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    assert alpha.status().reason == "the queue manager is offline"
    alpha.enter()
    alpha.qm.outgoing.set_online(active=True, caller=ADMINISTRATOR)
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"1"]
    alpha.multicast_send(b"2" * 60_000)
    lan.pass_time(0.1)
    alpha.enter()
    alpha.qm.stop()
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"1"]
    assert spms_of(lan, alpha)[-1].options.rst is not None
    assert alpha.waiting().count == 1


def test_an_outgoing_queue_can_be_deleted() -> None:
    lan, alpha, _ = lan_pair()
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    alpha.enter()
    queue = alpha.waiting()
    alpha.qm.outgoing.delete(queue, caller=ADMINISTRATOR)
    lan.pass_time(1.0)
    assert spms_of(lan, alpha)[-1].options.fin
    assert alpha.multicast._sender.transfers.by_queue == {}


def test_an_outgoing_queue_that_was_never_used_can_be_deleted() -> None:
    lan, alpha, _ = lan_pair()
    alpha.enter()
    alpha.qm.close_queue(alpha.qm.open_queue(NAME, QueueAccessType.SEND, caller=USER))
    alpha.qm.outgoing.delete(alpha.waiting(), caller=ADMINISTRATOR)
    lan.pass_time(1.0)
    assert lan.transmitted == []


def test_a_refused_socket_concerns_queues_that_want_to_send() -> None:
    lan, alpha, _ = lan_pair()
    alpha.multicast_send(b"1", group="234.1.1.2:8001", delivery_mode=1)
    alpha.qm.outgoing.pause(alpha.waiting("234.1.1.2:8001"), caller=ADMINISTRATOR)
    lan.run()
    alpha.refused = "not now"
    alpha.restart()
    alpha.multicast_send(b"2")
    lan.run()
    assert alpha.status().reason == "not now"
    assert alpha.status("234.1.1.2:8001").reason == "paused"
    # A queue whose socket is not there can be paused, and one without messages resumed.
    for queue in (alpha.waiting(), alpha.waiting("234.1.1.2:8001")):
        alpha.enter()
        alpha.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
        lan.run()
    assert alpha.status().reason == "paused"
    alpha.qm.outgoing.set_throttled(throttled=True)
    descriptor = alpha.qm.open_queue(NAME, QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR)
    alpha.qm.traffic.purge(descriptor)
    alpha.qm.close_queue(descriptor)
    alpha.qm.outgoing.resume(alpha.waiting(), caller=ADMINISTRATOR)
    lan.run()
    assert (alpha.status().state, alpha.status().reason) == ("INACTIVE", "")


def test_two_sources_of_a_queue_manager_have_different_ports() -> None:
    lan, alpha, _ = lan_pair()
    alpha.multicast._sender._randomness = Randomness(b"source", lambda: 0.5)
    alpha.multicast_send(b"1")
    alpha.multicast_send(b"2", group="234.1.1.2:8001")
    lan.pass_time(1.0)
    assert len({packet.tsi for packet in data_of(lan, alpha)}) == 2


@pytest.mark.parametrize(("random", "ports"), [(0.0, {1, 2}), (0.999999, {0xFFFF, 1})])
def test_source_ports_are_taken_from_1_to_65535(random: float, ports: set[int]) -> None:
    lan, alpha, _ = lan_pair()
    alpha.multicast._sender._randomness = Randomness(b"source", lambda: random)
    alpha.multicast_send(b"1")
    alpha.multicast_send(b"2", group="234.1.1.2:8001")
    lan.pass_time(1.0)
    assert {packet.tsi.source_port for packet in data_of(lan, alpha)} == ports


def test_other_queues_belong_to_other_protocols() -> None:
    lan, alpha, beta = lan_pair()
    alpha.send("http://beta/msmq/private$/one", b"by HTTP")
    lan.pass_time(1.0)
    (queue,) = alpha.qm.outgoing.queues
    assert alpha.multicast.outgoing_status(queue, now=lan.now) is None
    assert alpha.multicast.carries == {Transport.MULTICAST}
    assert beta.bodies(ONE) == [b"by HTTP"]
    alpha.enter()
    offline(alpha, on=True)
    lan.run()


# What cannot be sent


def test_a_transactional_or_encrypted_message_is_refused() -> None:
    _, alpha, _ = lan_pair()
    with pytest.raises(QueueError, match="cannot be sent in a transaction"):
        alpha.multicast_send(b"1", tx=True)
    with pytest.raises(QueueError, match="cannot be encrypted"):
        alpha.multicast_send(b"1", privacy_level=1)
    assert alpha.waiting().count == 0


def test_the_largest_message_that_fits_arrives_and_one_byte_more_is_refused() -> None:
    lan, alpha, beta = lan_pair(source=fast())
    with pytest.raises(QueueError, match=r"takes 6[0-9]* bytes, more than 65536") as caught:
        alpha.multicast_send(b"x" * 65_000)
    size = int(re.findall("takes ([0-9]+) bytes", str(caught.value))[0])
    largest = 65_000 - (size - 65_536)
    alpha.multicast_send(b"x" * largest)
    with pytest.raises(QueueError, match="takes 65537 bytes"):
        alpha.multicast_send(b"x" * (largest + 1))
    lan.pass_time(2.0)
    assert beta.bodies(ONE) == [b"x" * largest]


def test_a_large_message_that_srmp_cannot_say_is_refused() -> None:
    _, alpha, _ = lan_pair()
    with pytest.raises(QueueError, match="SRMP has no receipt"):
        alpha.multicast_send(b"x" * 20_000, message_class=int(MessageClass.REPORT))


def store_anything(node: LanNode, *packets: bytes, tx: bool = False) -> None:
    """Put messages into an outgoing queue, as an older version did that checked less."""
    node.enter()
    descriptor = node.qm.open_queue(NAME, QueueAccessType.SEND, caller=USER)
    queue = descriptor.queue
    assert queue is not None
    assert queue.outgoing is not None
    queue.outgoing.transport = Transport.BINARY
    transaction = node.qm.traffic.begin(UUID(int=77)) if tx else None
    node.qm.traffic.enqueue_many(descriptor, packets, transaction)
    if transaction is not None:
        node.qm.traffic.commit(transaction.identifier)
    queue.outgoing.transport = Transport.MULTICAST
    node.qm.close_queue(descriptor)


@pytest.mark.spec("MQSRM-3.1.7.7-01")
def test_what_an_older_version_stored_leaves_or_is_a_dead_letter() -> None:
    lan = Lan()
    beta = lan.machine("beta", source=fast())
    beta.listen()
    lan.run()
    alpha = lan.machine("alpha", start=False, source=fast())
    alpha.start_core()

    def packet(body: bytes) -> bytes:
        address = direct_address("OS:elsewhere\\private$\\q")
        return build_user_message(
            body=body, destination_queue=address, delivery_mode=1, negative_journaling=True
        )

    store_anything(alpha, packet(b"1"), packet(b"x" * 70_000), packet(b"3"))
    store_anything(alpha, packet(b"never"), packet(b"acknowledged"), tx=True)
    alpha.engine.flush()
    alpha.start()
    lan.pass_time(10.0)
    assert beta.bodies(ONE) == [b"1", b"3"]
    assert alpha.bodies(DEADLETTER) == [b"x" * 70_000]
    assert alpha.bodies(DEADXACT) == [b"never", b"acknowledged"]
    assert alpha.waiting().count == 0
