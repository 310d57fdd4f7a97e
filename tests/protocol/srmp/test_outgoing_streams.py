"""Streams to a naive receiver: numbers, receipts, gaps, lost receipts, restarts."""

from typing import Any
from uuid import UUID

import pytest
from tests.protocol.srmp import naive
from tests.protocol.srmp.naive import NaiveHost, envelope, post
from tests.protocol.srmp.test_sending import DEADXACT, JOURNAL, PEER, machine, reason
from tests.protocol.srmp.web import Node, Web

from openmsmq.core.model.outgoing_queue import OutgoingTransferInfo
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.sequence_info import SequenceInfo

THIRTY: tuple[float, ...] = (30.0, 30.0, 30.0)


def receipts_to(peer: NaiveHost) -> str:
    """Where the sender wants receipts: the first message of its last stream says so."""
    return [url for url in peer.values("sendReceiptsTo") if url][-1]


def stream_number(text: str) -> int:
    return int(naive.value(text, "streamId").partition("\\")[2])


def acknowledge(
    web: Web,
    alpha: Node,
    peer: NaiveHost,
    last: int,
    *,
    to: str = "",
    number: int = 0,
    guid: UUID | None = None,
) -> None:
    """The receiver sends a stream receipt."""
    text = envelope(
        to or receipts_to(peer),
        utc=web.utc,
        label="QM Ordering Ack",
        number=900 + last,
        message_class=255,
        entries=naive.stream_receipt(
            last, number=number or stream_number(peer.envelopes[-1]), guid=guid or alpha.guid
        ),
    )
    assert web.post(alpha, post(text, None)) == [200]


def decide(
    web: Web,
    alpha: Node,
    peer: NaiveHost,
    index: int,
    *,
    positive: bool,
    to: str = "",
    identifier: int = 0,
    guid: UUID | None = None,
) -> None:
    """The receiver sends the final stream receipt of a message that was posted."""
    sent = peer.envelopes[index]
    decision = "positive" if positive else "negative"
    about = identifier or int(naive.value(sent, "id").partition(":")[2].partition("@")[0])
    entries = naive.stream_receipt(
        int(naive.value(sent, "current")), number=stream_number(sent), guid=alpha.guid
    ) + naive.commitment_receipt(about, guid or alpha.guid, decision, utc=web.utc)
    text = envelope(
        to or receipts_to(peer),
        utc=web.utc,
        label="QM Ordering Ack",
        message_class=16384 if positive else 49153,
        entries=entries,
    )
    assert web.post(alpha, post(text, None)) == [200]


def info(alpha: Node) -> OutgoingTransferInfo:
    queue = alpha.outgoing(PEER)
    alpha.srmp.outgoing_status(queue, now=alpha.web.now)
    assert queue.outgoing is not None
    return queue.outgoing.transfer_info


@pytest.mark.spec("MQSRM-3.1.7.2.3-01", "MQSRM-3.1.7.2.3-03", "MQSRM-3.1.1.2-01")
def test_messages_are_numbered_from_one() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"a", b"b", tx=True)
    alpha.send(PEER, b"c", tx=True)
    web.run()
    assert peer.values("current") == ["1", "2", "3"]
    assert peer.values("previous") == ["", "1", "2"]
    assert len(set(peer.values("streamId"))) == 1
    assert peer.values("streamId")[0].startswith(f"uid:{alpha.guid}\\")


@pytest.mark.spec("MQSRM-3.1.7.2.4-12", "MQSRM-3.1.7.2.4-13", "MQSRM-2.2.5.3.4-01")
def test_the_first_message_says_where_receipts_go_and_nobody_can_guess_it() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"a", b"b", tx=True)
    alpha.send("http://peer/msmq/private$/others", b"c", tx=True)
    web.run()
    places = dict(zip(peer.values("to"), peer.values("sendReceiptsTo"), strict=True))
    urls = [url for url in peer.values("sendReceiptsTo") if url]
    assert len(places) == len(urls) == len(set(urls)) == 2
    for url in urls:
        assert url.startswith("http://alpha/MSMQ/PRIVATE$/order_queue$?s=")
        assert len(url.partition("?s=")[2]) == 32


@pytest.mark.spec("MQSRM-3.1.7.2.5-03", "MQSRM-3.1.5.1.8.3-01", "MQSRM-3.1.5.1.8.1-02")
def test_messages_stay_until_their_receipt_which_is_cumulative() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", b"3", tx=True, positive_journaling=True)
    web.run()
    assert alpha.outgoing(PEER).count == 3
    assert reason(alpha) == "delivered, but the stream receipt has not come yet"
    acknowledge(web, alpha, peer, 2)
    assert alpha.outgoing(PEER).count == 1
    assert alpha.bodies(JOURNAL) == [b"1", b"2"]
    acknowledge(web, alpha, peer, 3)
    assert alpha.outgoing(PEER).count == 0
    assert alpha.bodies(JOURNAL) == [b"1", b"2", b"3"]


@pytest.mark.spec("MQSRM-3.1.5.1.8.2-02", "MQSRM-3.1.5.1.8.1-01")
def test_a_receipt_for_more_than_was_sent_or_for_another_stream_changes_nothing() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", tx=True)
    web.run()
    number = stream_number(peer.envelopes[0])
    acknowledge(web, alpha, peer, 3)
    acknowledge(web, alpha, peer, 2, number=number + 1)
    acknowledge(web, alpha, peer, 2, guid=UUID(int=5))
    assert alpha.outgoing(PEER).count == 2
    acknowledge(web, alpha, peer, 2)
    assert alpha.outgoing(PEER).count == 0


def test_an_old_receipt_changes_nothing() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", b"3", tx=True)
    web.run()
    acknowledge(web, alpha, peer, 2)
    acknowledge(web, alpha, peer, 1)
    assert info(alpha).eod_last_ack == SequenceInfo(stream_number(peer.envelopes[0]), 2, 1)
    assert alpha.outgoing(PEER).count == 1


@pytest.mark.parametrize("query", ["", "?s=", "?s=0123456789abcdef0123456789abcdef", "?t=1"])
def test_a_receipt_without_the_token_is_not_believed(query: str) -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, negative_journaling=True)
    web.run()
    forged = receipts_to(peer).partition("?")[0] + query
    acknowledge(web, alpha, peer, 1, to=forged)
    decide(web, alpha, peer, 0, positive=True, to=forged)
    assert alpha.outgoing(PEER).count == 1
    ignored = alpha.qm.counters.ignored_messages.values
    assert ignored == {("http", "unknown stream receipt"): 2}
    acknowledge(web, alpha, peer, 1, to=receipts_to(peer).upper().replace("HTTP", "http"))
    assert info(alpha).eod_no_read_count == 1


@pytest.mark.spec("MQSRM-3.1.1.2-04", "MQSRM-3.1.1.1.5-02", "MQSRM-3.1.1.2-05")
def test_a_new_stream_begins_when_everything_is_acknowledged() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    alpha.send(PEER, b"2", tx=True)
    web.run()
    assert peer.values("current") == ["1", "1"]
    first, second = map(stream_number, peer.envelopes)
    assert second == first + 1
    assert all(peer.values("sendReceiptsTo"))


@pytest.mark.spec("MQSRM-3.1.7.2.3-04")
def test_number_two_waits_for_the_answer_to_number_one() -> None:
    web, alpha, peer = machine()
    peer.script = [500]
    alpha.send(PEER, b"1", b"2", b"3", tx=True)
    web.run()
    assert peer.values("current") == ["1"]
    web.pass_time(20.0)
    assert peer.values("current") == ["1", "1", "2", "3"]
    assert peer.envelopes[0] == peer.envelopes[1]


@pytest.mark.parametrize("gone", ["expired", "refused"])
def test_without_number_one_the_rest_begins_a_new_stream(gone: str) -> None:
    web, alpha, peer = machine()
    peer.script = [500 if gone == "expired" else 400]
    alpha.send(PEER, b"1", tx=True, time_to_reach_queue=10, negative_journaling=True)
    alpha.send(PEER, b"2", b"3", tx=True)
    web.run()
    web.pass_time(20.0)
    assert peer.values("current") == ["1", "1", "2"]
    numbers = [stream_number(text) for text in peer.envelopes]
    assert numbers[1] == numbers[2] == numbers[0] + 1
    assert alpha.bodies(DEADXACT) == [b"1"]
    acknowledge(web, alpha, peer, 2)
    assert alpha.outgoing(PEER).count == 0


def test_a_stream_that_is_open_is_not_numbered_anew_after_a_crash() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, time_to_reach_queue=10)
    alpha.send(PEER, b"2", b"3", tx=True)
    web.run()
    before = peer.envelopes[1:]
    web.down.add("peer")
    alpha.restart()
    web.pass_time(60.0)
    web.down.clear()
    web.pass_time(20.0)
    # Number 1 expired; the others are what they were, but the first of them bridges the gap.
    after = peer.envelopes[3:]
    assert [naive.value(text, "current") for text in after] == ["2", "3"]
    assert [naive.value(text, "previous") for text in after] == ["1", "2"]
    assert after == before
    acknowledge(web, alpha, peer, 3)
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.spec("MQSRM-3.1.1.1.2.4-01", "MQSRM-2.2.5.3.3-02")
def test_a_gap_is_bridged_by_the_previous_number() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True)
    alpha.send(PEER, b"2", tx=True, time_to_reach_queue=10)
    alpha.send(PEER, b"3", tx=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    web.pass_time(30.0)
    last = peer.envelopes[-1]
    assert (naive.value(last, "current"), naive.value(last, "previous")) == ("3", "1")
    acknowledge(web, alpha, peer, 3)
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.spec("MQSRM-3.1.1.1.2.4-03")
def test_after_a_refused_message_the_next_ones_are_sent_again_at_once() -> None:
    web, alpha, peer = machine()
    peer.script = [200, 400]
    alpha.send(PEER, b"1", b"2", b"3", tx=True, negative_journaling=True)
    web.run()
    assert peer.values("current") == ["1", "2", "3", "3"]
    assert peer.values("previous") == ["", "1", "2", "1"]
    assert alpha.bodies(DEADXACT) == [b"2"]
    assert alpha.outgoing(PEER).count == 2


@pytest.mark.spec("MQSRM-3.1.2.2-01", "MQSRM-3.1.6.2-01", "MQSRM-3.1.6.2-02")
def test_messages_without_a_receipt_are_sent_again_by_the_ladder() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", tx=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    del peer.envelopes[:]
    for seconds in (*THIRTY, *(300.0,) * 3, *(1800.0,) * 3, 21600.0, 21600.0):
        web.pass_time(seconds - 1.0)
        assert peer.envelopes == []
        web.pass_time(1.0)
        assert peer.values("current") == ["2"]
        del peer.envelopes[:]


@pytest.mark.spec("MQSRM-3.1.2.1-01")
def test_what_was_answered_200_is_not_sent_again_when_another_one_is_not_answered() -> None:
    web, alpha, peer = machine()
    peer.script = [200, 200, 200, 503, 503]
    alpha.send(PEER, b"1", b"2", b"3", b"4", b"5", tx=True)
    web.run()
    assert peer.values("current") == ["1", "2", "3", "4", "5"]
    del peer.envelopes[:]
    web.pass_time(20.0)
    assert peer.values("current") == ["4", "5"]
    assert peer.values("previous") == ["3", "4"]
    del peer.envelopes[:]
    # Without a receipt they are sent again later.
    web.pass_time(10.0)
    assert peer.values("current") == ["1", "2", "3", "4", "5"]


def test_a_message_that_expires_without_its_receipt_is_a_dead_letter() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, time_to_reach_queue=10, negative_journaling=True)
    web.run()
    web.pass_time(30.0)
    assert len(peer.envelopes) == 1
    assert alpha.bodies(DEADXACT) == [b"1"]
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.spec("MQSRM-3.1.1.1.2.4-02")
@pytest.mark.parametrize("restart", [False, True])
def test_a_message_whose_time_is_over_without_its_final_receipt_is_a_dead_letter(
    *, restart: bool
) -> None:
    web, alpha, peer = machine()
    lives = {"time_to_reach_queue": 10, "negative_journaling": True}
    alpha.send(PEER, b"1", tx=True, time_to_be_received=60, **lives)
    alpha.send(PEER, b"2", tx=True, **lives)
    web.run()
    acknowledge(web, alpha, peer, 2)
    assert info(alpha).eod_no_read_count == 2
    web.pass_time(30.0)
    if restart:
        alpha.restart()
        web.run()
    assert alpha.bodies(DEADXACT) == []
    web.pass_time(31.0)
    (dead,) = alpha.qm.find_queue(DEADXACT).lanes
    assert alpha.bodies(DEADXACT) == [b"1"]
    assert dead.history is not None
    assert dead.history.message_class == MessageClass.NACK_RECEIVE_TIMEOUT
    assert info(alpha).eod_no_read_count == 1
    assert alpha.qm.state.totals.awaiting_final_ack == 1
    # A receipt that comes too late changes nothing; the other one is waited for without an end.
    decide(web, alpha, peer, 0, positive=True)
    web.pass_time(1_000_000.0)
    assert alpha.outgoing(PEER).count == 1
    decide(web, alpha, peer, 1, positive=True)
    assert alpha.outgoing(PEER).count == 0
    assert alpha.bodies(DEADXACT) == [b"1"]
    outgoing = alpha.outgoing(PEER).outgoing
    assert outgoing is not None
    assert outgoing.sequence is None


@pytest.mark.parametrize("first", [1, 0])
def test_a_stream_with_a_message_in_flight_does_not_end_when_others_expire(first: int) -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, time_to_be_received=60 + first, negative_journaling=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    web.pass_time(50.0)
    alpha.send(PEER, b"2", tx=True)
    web.run()
    peer.script = [500]
    alpha.send(PEER, b"3", tx=True, time_to_be_received=11 - first)
    web.run()
    # Both expire in one step: what awaits its final receipt, and what waits to be sent again.
    web.now += 12.0
    web.utc += 12.0
    web.pass_time(0.0)
    assert alpha.outgoing(PEER).count == 1
    web.run()
    acknowledge(web, alpha, peer, 1)
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.spec("MQSRM-3.1.7.2.3-07", "MQSRM-3.1.7.2.3-08", "MQSRM-3.1.5.1.8.2-01")
def test_the_transfer_info_follows_the_stream() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", tx=True)
    web.run()
    number = stream_number(peer.envelopes[0])
    before = info(alpha)
    assert before.eod_no_ack_count == 2
    assert before.eod_first_non_ack == SequenceInfo(number, 1, 0)
    assert before.eod_last_non_ack == SequenceInfo(number, 2, 1)
    assert before.eod_next_seq == SequenceInfo(number, 3, 2)
    assert before.eod_resend_interval == 30
    assert before.eod_resend_time == int(web.utc) + 30
    web.pass_time(2.0)
    acknowledge(web, alpha, peer, 1)
    after = info(alpha)
    assert after.eod_last_ack_time == int(web.utc)
    assert after.eod_last_ack_count == 1
    assert after.eod_first_non_ack == SequenceInfo(number, 2, 1)


@pytest.mark.spec("MQSRM-3.1.5.1.8.3-02", "MQSRM-3.1.5.1.9.1-02", "MQSRM-3.1.5.2.1.2-01")
def test_a_final_receipt_decides_about_one_message() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", b"2", tx=True, negative_journaling=True)
    web.run()
    acknowledge(web, alpha, peer, 2)
    assert alpha.outgoing(PEER).count == 2
    assert info(alpha).eod_no_read_count == 2
    decide(web, alpha, peer, 1, positive=False)
    assert alpha.bodies(DEADXACT) == [b"2"]
    assert info(alpha).eod_no_read_count == 1
    decide(web, alpha, peer, 0, positive=True)
    assert alpha.outgoing(PEER).count == 0
    assert alpha.bodies(DEADXACT) == [b"2"]


@pytest.mark.spec("MQSRM-3.1.5.2.1.2-02")
def test_a_negative_receipt_uses_the_dead_letter_queue_of_the_application() -> None:
    web, alpha, peer = machine()
    alpha.create(r".\private$\dead", transactional=True)
    dead: dict[str, Any] = {"deadletter_queue": r".\private$\dead", "negative_journaling": True}
    alpha.send(PEER, b"1", tx=True, **dead)
    web.run()
    acknowledge(web, alpha, peer, 1)
    decide(web, alpha, peer, 0, positive=False)
    assert alpha.bodies(r".\private$\dead") == [b"1"]


@pytest.mark.spec("MQSRM-3.1.5.1.9.1-01", "MQSRM-3.1.5.1.9-01")
def test_a_final_receipt_for_another_message_changes_nothing() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, negative_journaling=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    decide(web, alpha, peer, 0, positive=False, identifier=12345)
    decide(web, alpha, peer, 0, positive=False, guid=UUID(int=5))
    assert alpha.outgoing(PEER).count == 1
    assert alpha.bodies(DEADXACT) == []


def test_a_message_that_awaits_its_final_receipt_does_so_after_a_restart() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, negative_journaling=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    alpha.restart()
    web.run()
    assert len(peer.envelopes) == 1
    decide(web, alpha, peer, 0, positive=True)
    assert alpha.outgoing(PEER).count == 0


def test_a_final_receipt_is_answered_when_its_effect_is_on_disk() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True, negative_journaling=True)
    web.run()
    acknowledge(web, alpha, peer, 1)
    sent = peer.envelopes[0]
    about = int(naive.value(sent, "id").partition(":")[2].partition("@")[0])
    entries = naive.stream_receipt(1, number=stream_number(sent), guid=alpha.guid)
    entries += naive.commitment_receipt(about, alpha.guid, "positive", utc=web.utc)
    text = envelope(
        receipts_to(peer),
        utc=web.utc,
        label="QM Ordering Ack",
        message_class=16384,
        entries=entries,
    )
    number = web.knock(alpha, post(text, None))
    alpha.work(flush=False)
    assert web.hear(alpha, number) == b""
    web.run()
    assert naive.statuses(web.hear(alpha, number)) == [200]


def test_a_stream_receipt_to_another_queue_is_a_message_there() -> None:
    web, alpha, peer = machine()
    alpha.create(r".\private$\receipts")
    to = "http://alpha/msmq/private$/receipts?SenderStream=XRntV"
    alpha.send(PEER, b"1", tx=True)
    web.run()
    acknowledge(web, alpha, peer, 1, to=to)
    (message,) = alpha.messages(r".\private$\receipts")
    assert message.message_class == 255
    assert alpha.outgoing(PEER).count == 1


@pytest.mark.spec("MQSRM-3.1.5.1.7-01", "MQSRM-3.1.5.1.10-01")
def test_a_receipt_becomes_the_acknowledgment_that_applications_know() -> None:
    web, alpha, peer = machine()
    alpha.create(r".\private$\acks")
    to = "http://alpha/msmq/private$/acks"
    entries = naive.delivery_receipt(7, alpha.guid, utc=web.utc)
    text = envelope(to, utc=web.utc, message_class=2, entries=entries)
    assert web.post(alpha, post(text, None), post(text, None)) == [200, 200]
    entries = naive.commitment_receipt(7, alpha.guid, "negative", utc=web.utc)
    text = envelope(to, utc=web.utc, number=2, message_class=49154, entries=entries)
    assert web.post(alpha, post(text, None)) == [200]
    arrived, expired = alpha.messages(r".\private$\acks")
    assert (arrived.message_class, expired.message_class) == (2, 0xC002)
    about = alpha.guid.bytes_le + (7).to_bytes(4, "little")
    assert (arrived.correlation_id, expired.correlation_id) == (about, about)
    assert peer.envelopes == []


@pytest.mark.parametrize("capital", [False, True])
def test_the_spelling_of_stream_is_a_setting(capital: bool) -> None:  # noqa: FBT001 - a parameter
    web, alpha, peer = machine(capital_stream=capital)
    alpha.send(PEER, b"1", tx=True)
    web.run()
    assert ("<Stream " in peer.envelopes[0]) is capital


def test_receipts_come_to_where_the_machine_says_it_is_reached() -> None:
    web, alpha, peer = machine()
    alpha.srmp.reached_at(http_host="outside:8080", https_host="outside")
    alpha.send(PEER, b"1", tx=True)
    web.run()
    assert receipts_to(peer).startswith("http://outside:8080/MSMQ/")
