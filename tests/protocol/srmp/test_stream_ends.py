"""What a sender does with receipts of its streams, and what its transfer information says."""

from uuid import UUID

import pytest
from tests.core.harness import USER
from tests.protocol.srmp import naive
from tests.protocol.srmp.test_outgoing_streams import acknowledge, decide, info, stream_number
from tests.protocol.srmp.test_sending import DEADXACT, JOURNAL, PEER, machine
from tests.protocol.srmp.web import Node

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.protocol.srmp.settings import SrmpSettings
from openmsmq.wire.message.sequence_info import SequenceInfo
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

OTHERS = "http://peer/msmq/private$/others"


def begin(alpha: Node, body: bytes) -> UUID:
    """Send a message in a transaction that is not decided yet."""
    alpha.enter()
    identifier = UUID(int=0xBEEF + len(body))
    transaction = alpha.qm.traffic.begin(identifier)
    packet = build_user_message(body=body, destination_queue=direct_address(PEER))
    descriptor = alpha.qm.open_queue(f"DIRECT={PEER}", QueueAccessType.SEND, caller=USER)
    alpha.qm.traffic.enqueue_many(descriptor, [packet], transaction)
    return identifier


@pytest.mark.spec("MQSRM-1.3.5.3-01")
def test_messages_of_a_transaction_leave_after_its_commit_and_never_after_an_abort() -> None:
    web, alpha, peer = machine()
    given_up, kept = begin(alpha, b"1"), begin(alpha, b"12")
    web.run()
    assert peer.envelopes == []
    alpha.qm.traffic.abort(given_up)
    web.run()
    assert peer.envelopes == []
    alpha.qm.traffic.commit(kept)
    web.run()
    assert peer.values("current") == ["1"]
    assert b"\r\n\r\n12--" in peer.contents[0]
    web.pass_time(100.0)
    assert set(peer.values("current")) == {"1"}


@pytest.mark.spec("MQSRM-3.1.1.3-01")
def test_a_message_is_sent_again_until_it_is_acknowledged_or_its_time_is_over() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True)
    alpha.send(OTHERS, b"2", tx=True, time_to_reach_queue=100)
    web.run()
    web.pass_time(61.0)
    assert peer.values("to").count(PEER) == peer.values("to").count(OTHERS) == 3
    first = peer.values("to").index(PEER)
    acknowledge(
        web, alpha, peer, 1, number=stream_number(peer.envelopes[first]), to=_receipts(peer, first)
    )
    web.pass_time(3_000.0)
    assert peer.values("to").count(PEER) == 3
    assert peer.values("to").count(OTHERS) == 4
    assert alpha.outgoing(OTHERS).count == 0


def _receipts(peer: naive.NaiveHost, index: int) -> str:
    return naive.value(peer.envelopes[index], "sendReceiptsTo")


@pytest.mark.spec("MQSRM-3.1.5.1.8-01", "MQSRM-3.1.1.3.2-06", "MQSRM-3.1.5.1.8.4-01")
def test_a_receipt_ends_messages_that_are_journaled_only_then() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", tx=True, positive_journaling=True)
    alpha.send(PEER, b"3", tx=True)
    web.run()
    # The answers alone end nothing.
    assert alpha.bodies(JOURNAL) == []
    assert alpha.outgoing(PEER).count == 3
    acknowledge(web, alpha, peer, 3)
    assert alpha.bodies(JOURNAL) == [b"1", b"2"]
    assert alpha.outgoing(PEER).count == 0
    assert info(alpha).eod_no_ack_count == 0
    # The receipt itself is in no queue, and a copy of it changes nothing.
    acknowledge(web, alpha, peer, 3)
    assert alpha.bodies(JOURNAL) == [b"1", b"2"]


@pytest.mark.spec("MQSRM-3.1.5.1.8.2-03", "MQSRM-3.1.5.1.8.2-04", "MQSRM-3.1.5.1.9.2-01")
def test_counts_follow_receipts_and_final_receipts() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", b"3", tx=True, negative_journaling=True)
    web.run()
    number = stream_number(peer.envelopes[0])
    assert (info(alpha).eod_no_ack_count, info(alpha).eod_no_read_count) == (3, 0)
    acknowledge(web, alpha, peer, 2)
    assert (info(alpha).eod_no_ack_count, info(alpha).eod_no_read_count) == (1, 2)
    assert info(alpha).eod_first_non_ack == SequenceInfo(number, 3, 2)
    acknowledge(web, alpha, peer, 3)
    assert (info(alpha).eod_no_ack_count, info(alpha).eod_no_read_count) == (0, 3)
    assert (info(alpha).eod_first_non_ack, info(alpha).eod_last_non_ack) == (None, None)
    for index, left in ((0, 2), (1, 1), (2, 0)):
        decide(web, alpha, peer, index, positive=True)
        assert info(alpha).eod_no_read_count == left


@pytest.mark.spec("MQSRM-3.1.5.1.8.2-05", "MQSRM-3.1.3.1-04", "MQSRM-3.1.1.1.5-05")
def test_the_ladder_has_ten_steps_that_can_be_set_and_begins_anew() -> None:
    assert SrmpSettings().resend_timer_table == (
        *(30.0,) * 3,
        *(300.0,) * 3,
        *(1800.0,) * 3,
        21_600.0,
    )
    web, alpha, peer = machine(
        resend_timeouts_short=3.0,
        resend_timeouts_medium=5.0,
        resend_timeouts_long=7.0,
        resend_timeouts_final=9.0,
    )
    alpha.send(PEER, b"1", tx=True)
    web.run()
    steps = []
    for _ in range(12):
        steps.append(info(alpha).eod_resend_interval)
        web.pass_time(float(steps[-1]))
    assert steps == [3, 3, 3, 5, 5, 5, 7, 7, 7, 9, 9, 9]
    assert len(peer.envelopes) == 13
    acknowledge(web, alpha, peer, 1)
    alpha.send(PEER, b"2", tx=True)
    web.run()
    assert info(alpha).eod_resend_interval == 3


@pytest.mark.spec("MQSRM-3.1.5.1.8.2-05")
def test_receipts_begin_the_ladder_anew_and_do_not_lengthen_it() -> None:
    web, alpha, peer = machine(resend_timeouts_short=3.0, resend_timeouts_medium=5.0)
    alpha.send(PEER, *[b"%d" % number for number in range(20)], tx=True)
    web.run()
    for number in range(1, 15):
        acknowledge(web, alpha, peer, number)
        assert info(alpha).eod_resend_interval == 3
    for _ in range(3):
        web.pass_time(3.0)
    assert info(alpha).eod_resend_interval == 5
    # One that says nothing new changes nothing.
    again = info(alpha).eod_resend_time
    acknowledge(web, alpha, peer, 14)
    assert (info(alpha).eod_resend_interval, info(alpha).eod_resend_time) == (5, again)
    acknowledge(web, alpha, peer, 15)
    assert info(alpha).eod_resend_interval == 3
    assert info(alpha).eod_resend_time == int(web.utc) + 3


@pytest.mark.spec("MQSRM-3.1.7.2.3-05", "MQSRM-3.1.7.6-01")
def test_a_stream_ends_when_nothing_of_it_waits_any_more() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, negative_journaling=True)
    alpha.send(PEER, b"2", tx=True)
    web.run()
    queue = alpha.outgoing(PEER)
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is not None
    acknowledge(web, alpha, peer, 1)
    assert queue.outgoing.sequence is not None
    acknowledge(web, alpha, peer, 2)
    # Message 2 is done; message 1 waits for its final receipt, which is still understood.
    assert queue.count == 1
    decide(web, alpha, peer, 0, positive=False)
    assert alpha.bodies(DEADXACT) == [b"1"]
    assert queue.count == 0
    assert queue.outgoing.sequence is None


@pytest.mark.spec("MQSRM-3.1.7.2.3-06")
def test_the_first_message_of_a_stream_begins_the_counts_anew() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", tx=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    acknowledge(web, alpha, peer, 2)
    assert info(alpha).eod_last_ack_count == 2
    alpha.send(PEER, b"3", tx=True)
    web.run()
    number = stream_number(peer.envelopes[-1])
    after = info(alpha)
    assert (after.eod_no_ack_count, after.eod_last_ack_count, after.eod_no_read_count) == (1, 0, 0)
    assert after.eod_last_ack == SequenceInfo(number, 0, 0)
    assert after.eod_first_non_ack == after.eod_last_non_ack == SequenceInfo(number, 1, 0)


@pytest.mark.spec("MQSRM-3.1.1.1.5-06")
def test_streams_to_two_queues_of_one_host_run_side_by_side() -> None:
    web, alpha, peer = machine()
    for body in (b"1", b"2"):
        alpha.send(PEER, body, tx=True)
        alpha.send(OTHERS, body, tx=True)
        web.run()
    by_queue: dict[str, set[str]] = {}
    for to, identifier in zip(peer.values("to"), peer.values("streamId"), strict=True):
        by_queue.setdefault(to, set()).add(identifier)
    assert {to: len(streams) for to, streams in by_queue.items()} == {PEER: 1, OTHERS: 1}
    assert by_queue[PEER] != by_queue[OTHERS]
    assert peer.values("current") == ["1", "1", "2", "2"]


@pytest.mark.spec("MQSRM-3.1.3.1-05", "MQSRM-3.1.2.1-02")
def test_the_retransmission_timer_is_a_setting_and_runs_after_a_start() -> None:
    assert SrmpSettings().retransmission_seconds == 20.0
    web, alpha, peer = machine(retransmission_seconds=7.0)
    web.down.add("peer")
    alpha.send(PEER, b"1", delivery_mode=1)
    web.run()
    alpha.restart()
    web.run()
    web.down.clear()
    web.pass_time(6.0)
    assert peer.envelopes == []
    web.pass_time(1.0)
    assert len(peer.envelopes) == 1
