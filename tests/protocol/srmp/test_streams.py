"""Streams of a naive sender: order, duplicates, gaps, receipts, restarts."""

from uuid import UUID

import pytest
from tests.core.harness import USER
from tests.protocol.srmp import naive
from tests.protocol.srmp.naive import PEER, STREAM, NaiveHost, envelope, post, stream
from tests.protocol.srmp.web import ORDERS, Node, Web, url

RECEIPTS = "http://peer/MSMQ/private$/order_queue$?s=token"


def machine() -> tuple[Web, Node, NaiveHost]:
    web = Web()
    beta = web.node("beta")
    beta.create(transactional=True)
    peer = web.hosts["peer"] = NaiveHost()
    web.run()
    return web, beta, peer


def send(
    web: Web,
    beta: Node,
    *numbers: int,
    previous: int = 0,
    number: int = STREAM,
    receipts: str = RECEIPTS,
    msmq: str = "",
    utc: float | None = None,
) -> list[int]:
    """Post messages of a stream in one read; the first one opens it."""
    requests = [
        post(
            envelope(
                url(beta),
                utc=web.utc if utc is None else utc,
                number=100 + each,
                msmq=msmq,
                entries=stream(
                    each,
                    previous=previous,
                    number=number,
                    receipts=receipts if each == 1 else "",
                ),
            ),
            b"%d" % each,
        )
        for each in numbers
    ]
    return web.post(beta, *requests)


@pytest.mark.spec("MQSRM-3.1.5.1.6.3-01", "MQSRM-3.1.5.1.6.3-02", "MQSRM-2.2.5.3-04")
def test_messages_of_a_stream_are_accepted_in_order_only() -> None:
    web, beta, _ = machine()
    assert send(web, beta, 2) == [200]
    assert beta.bodies() == []
    assert send(web, beta, 1, 3, 2) == [200, 200, 200]
    assert beta.bodies() == [b"1", b"2"]


@pytest.mark.spec("MQSRM-3.1.5.1.6.3-05", "MQSRM-3.1.5.1.6.3-04")
def test_a_first_message_without_start_opens_nothing() -> None:
    web, beta, _ = machine()
    assert send(web, beta, 1, receipts="") == [200]
    assert beta.bodies() == []


@pytest.mark.spec("MQSRM-3.1.5.1.6.3-03", "MQSRM-3.1.1.2-03", "MQSRM-3.1.6.3-01")
def test_previous_bridges_a_gap_and_what_follows_it_is_acknowledged() -> None:
    web, beta, peer = machine()
    send(web, beta, 1)
    assert send(web, beta, 5, previous=3) == [200]
    assert beta.bodies() == [b"1"]
    assert send(web, beta, 5, previous=1) == [200]
    assert beta.bodies() == [b"1", b"5"]
    web.pass_time(1.0)
    assert peer.values("lastOrdinal") == ["5"]


@pytest.mark.spec("MQSRM-3.1.1.3.2-04", "MQSRM-3.1.6.3-02", "MQSRM-3.1.6.3-03")
def test_one_receipt_acknowledges_several_messages() -> None:
    web, beta, peer = machine()
    send(web, beta, 1, 2, 3)
    web.pass_time(0.4)
    assert peer.envelopes == []
    web.pass_time(0.2)
    assert peer.values("lastOrdinal") == ["3"]
    assert peer.values("streamId") == [f"uid:{PEER}\\{STREAM}"]
    assert peer.values("to") == [RECEIPTS]
    assert peer.values("action") == ["MSMQ:QM Ordering Ack"]
    assert peer.targets == ["/msmq/private$/order_queue$?s=token"]


@pytest.mark.spec("MQSRM-3.1.5.1.6.3-08", "MQSRM-3.1.5.1.6.3-09", "MQSRM-3.1.1.3.2-05")
def test_a_receipt_waits_for_further_messages_but_not_longer_than_ten_seconds() -> None:
    web, beta, peer = machine()
    for number in range(1, 50):
        send(web, beta, number)
        web.pass_time(0.25)
        if peer.envelopes:
            break
    assert number == 41
    assert peer.values("lastOrdinal") == ["41"]
    send(web, beta, 42)
    web.pass_time(0.25)
    assert len(peer.envelopes) == 1
    web.pass_time(0.25)
    assert peer.values("lastOrdinal") == ["41", "42"]


@pytest.mark.spec("MQSRM-3.1.2.3-01", "MQSRM-3.1.1.1.2.5-01")
def test_no_receipt_is_sent_before_the_message_is_on_disk() -> None:
    web, beta, peer = machine()
    text = envelope(url(beta), utc=web.utc, entries=stream(1, receipts=RECEIPTS))
    web.knock(beta, post(text))
    beta.work(flush=False)
    web.now += 60.0
    beta.engine.handle_timer(now=web.now, utc=web.utc)
    beta.work(flush=False)
    assert peer.envelopes == []
    web.run()
    web.pass_time(0.6)
    assert peer.values("lastOrdinal") == ["1"]


def test_a_duplicate_is_answered_200_and_acknowledged_again() -> None:
    web, beta, peer = machine()
    send(web, beta, 1, 2)
    web.pass_time(1.0)
    assert send(web, beta, 1) == [200]
    web.pass_time(1.0)
    assert peer.values("lastOrdinal") == ["2", "2"]
    assert beta.bodies() == [b"1", b"2"]


def test_only_a_greater_number_opens_another_stream() -> None:
    web, beta, peer = machine()
    send(web, beta, 1, number=STREAM)
    assert send(web, beta, 1, number=STREAM - 1) == [200]
    assert beta.bodies() == [b"1"]
    web.pass_time(1.0)
    assert peer.values("streamId") == [f"uid:{PEER}\\{STREAM}"]
    assert send(web, beta, 1, number=STREAM + 1) == [200]
    assert beta.bodies() == [b"1", b"1"]
    # A late copy of the older stream is not delivered again, nor acknowledged.
    web.pass_time(1.0)
    assert send(web, beta, 1, number=STREAM) == [200]
    web.pass_time(1.0)
    assert len(beta.bodies()) == 2
    assert len(peer.envelopes) == 2


@pytest.mark.spec("MQSRM-3.1.1.2-02")
def test_without_previous_the_number_before_must_have_come() -> None:
    web, beta, _ = machine()
    send(web, beta, 1)
    assert send(web, beta, 3) == [200]
    assert beta.bodies() == [b"1"]
    assert send(web, beta, 2, 3) == [200, 200]
    assert beta.bodies() == [b"1", b"2", b"3"]


@pytest.mark.spec("MQSRM-3.1.5.1.1-16", "MQSRM-3.1.5.1.6.3-06")
def test_a_message_that_opens_a_stream_gives_it_number_and_receipt_address() -> None:
    web, beta, peer = machine()
    send(web, beta, 1)
    (record,) = beta.qm.find_queue(r".\private$\orders").incoming.values()
    assert int.from_bytes(record.sequence_identifier) == STREAM
    assert (record.sequence_number, record.receipts_to) == (1, RECEIPTS)
    send(web, beta, 2)
    assert (record.sequence_number, record.receipts_to) == (2, RECEIPTS)
    web.pass_time(1.0)
    assert peer.values("lastOrdinal") == ["2"]


@pytest.mark.spec("MQSRM-3.1.5.1.6.3-07")
def test_the_ten_seconds_begin_with_the_oldest_message_that_is_not_acknowledged() -> None:
    web, beta, peer = machine()
    send(web, beta, 1)
    web.pass_time(1.0)
    assert peer.values("lastOrdinal") == ["1"]
    # Much later another one comes: its receipt waits for further messages again.
    web.pass_time(60.0)
    send(web, beta, 2)
    web.pass_time(0.3)
    send(web, beta, 3)
    web.pass_time(0.3)
    assert len(peer.envelopes) == 1
    web.pass_time(0.3)
    assert peer.values("lastOrdinal") == ["1", "3"]


@pytest.mark.spec("MQSRM-3.1.1.1.6-01", "MQSRM-3.1.3.2-01", "MQSRM-2.2.5.3-03")
def test_a_stream_and_its_receipt_url_survive_a_crash() -> None:
    web, beta, peer = machine()
    send(web, beta, 1, 2)
    beta.restart()
    assert send(web, beta, 2) == [200]
    assert send(web, beta, 3) == [200]
    assert beta.bodies() == [b"1", b"2", b"3"]
    web.pass_time(1.0)
    assert peer.values("lastOrdinal") == ["3"]
    assert peer.values("to") == [RECEIPTS]


@pytest.mark.spec("MQSRM-3.1.5.1.6.4-03", "MQSRM-3.1.5.1.6.4-04", "MQSRM-3.1.5.1.6.4-02")
def test_the_transfer_record_shows_the_stream_and_counts_rejections() -> None:
    web, beta, _ = machine()
    send(web, beta, 1)
    (record,) = beta.qm.find_queue(r".\private$\orders").incoming.values()
    assert record.sender_identifier == PEER
    assert record.format_name == url(beta)
    assert int.from_bytes(record.sequence_identifier) == STREAM
    assert (record.sequence_number, record.reject_count) == (1, 0)
    assert record.last_access_time == web.utc
    send(web, beta, 1)
    send(web, beta, 7)
    assert record.reject_count == 2
    send(web, beta, 2)
    assert (record.sequence_number, record.reject_count) == (2, 0)


@pytest.mark.spec("MQSRM-3.1.5.1.6-01")
def test_the_identifier_of_a_stream_message_is_not_looked_up() -> None:
    web, beta, _ = machine()
    entries = stream(1, receipts=RECEIPTS)
    first = post(envelope(url(beta), utc=web.utc, number=5, entries=entries), b"1")
    second = post(envelope(url(beta), utc=web.utc, number=5, entries=stream(2)), b"2")
    assert web.post(beta, first, second) == [200, 200]
    assert beta.bodies() == [b"1", b"2"]


def test_a_stream_is_known_by_the_queue_manager_in_its_identifier() -> None:
    web, beta, _ = machine()
    for number, source in enumerate((PEER, UUID(int=5)), 1):
        entries = stream(number, receipts=RECEIPTS if number == 1 else "")
        text = envelope(url(beta), utc=web.utc, guid=source, entries=entries)
        assert web.post(beta, post(text, b"%d" % number)) == [200]
    assert beta.bodies() == [b"1", b"2"]


def test_a_late_stream_message_is_discarded_and_does_not_take_the_stream_further() -> None:
    web, beta, peer = machine()
    send(web, beta, 1)
    assert send(web, beta, 2, utc=web.utc - 99999) == [200]
    assert send(web, beta, 3) == [200]
    assert beta.bodies() == [b"1"]
    assert send(web, beta, 3, previous=1) == [200]
    web.pass_time(1.0)
    assert beta.bodies() == [b"1", b"3"]
    assert peer.values("lastOrdinal") == ["3"]


@pytest.mark.parametrize("wants", ["", "<DeadLetter/>"])
def test_a_late_first_message_opens_its_stream_for_those_behind_it(wants: str) -> None:
    web, beta, peer = machine()
    assert send(web, beta, 1, utc=web.utc - 99999, msmq=wants) == [200]
    assert send(web, beta, 2) == [200]
    assert beta.bodies() == [b"2"]
    web.pass_time(1.0)
    assert peer.values("lastOrdinal")[-1] == "2"
    # Who wants a dead letter of it is told.
    assert peer.values("decision").count("negative") == bool(wants)
    beta.restart()
    assert send(web, beta, 1, utc=web.utc - 99999, msmq=wants) == [200]
    assert beta.bodies() == [b"2"]


@pytest.mark.parametrize("other", [False, True])
def test_a_copy_of_what_a_deleted_queue_had_taken_is_not_refused(
    other: bool,  # noqa: FBT001 - a parameter
) -> None:
    web, beta, peer = machine()
    send(web, beta, 1, 2)
    web.pass_time(1.0)
    beta.enter()
    beta.qm.delete_queue(beta.qm.find_queue(ORDERS), caller=USER)
    if other:
        beta.create()
    assert send(web, beta, 1, 2, 3) == [200, 200, 400]
    web.pass_time(30.0)
    assert peer.values("lastOrdinal") == ["2", "2"]


def test_a_refused_stream_message_is_refused_again_and_never_acknowledged() -> None:
    web, beta, peer = machine()
    send(web, beta, 1)
    web.pass_time(1.0)
    queue = beta.qm.find_queue(r".\private$\orders")
    queue.properties.quota = 4
    assert send(web, beta, 2, 3) == [400, 200]
    assert send(web, beta, 2) == [400]
    web.pass_time(1.0)
    assert beta.bodies() == [b"1"]
    assert set(peer.values("lastOrdinal")) == {"1"}
    queue.properties.quota = 400
    assert send(web, beta, 2, 3) == [200, 200]
    assert beta.bodies() == [b"1", b"2", b"3"]


def test_a_refused_first_message_leaves_no_stream() -> None:
    web, beta, _ = machine()
    queue = beta.qm.find_queue(r".\private$\orders")
    queue.properties.quota = 1
    assert send(web, beta, 1) == [400]
    assert queue.incoming == {}
    assert beta.qm.state.stream_count.total == 0


def test_a_full_queue_manager_takes_nothing_of_a_stream() -> None:
    web, beta, peer = machine()
    send(web, beta, 1)
    beta.qm.set_quotas(messages=4, journals=0)
    assert send(web, beta, 2, 3) == [500, 200]
    beta.qm.set_quotas(messages=400, journals=0)
    assert send(web, beta, 2, 3) == [200, 200]
    web.pass_time(1.0)
    assert beta.bodies() == [b"1", b"2", b"3"]
    assert peer.values("lastOrdinal") == ["3"]


def test_a_stream_too_many_stays_with_its_sender() -> None:
    web = Web()
    beta = web.node("beta", core={"max_streams": 1})
    beta.create(transactional=True)
    assert send(web, beta, 1) == [200]
    other = UUID(int=77)
    entries = stream(1, receipts=RECEIPTS, guid=other)
    text = envelope(url(beta), utc=web.utc, guid=other, entries=entries)
    assert web.post(beta, post(text)) == [500]
    assert beta.bodies() == [b"1"]


@pytest.mark.spec("MQSRM-3.1.7.3.3-01", "MQSRM-3.1.7.3.3-02", "MQSRM-3.1.7.3.3-03")
def test_a_final_receipt_follows_a_message_that_asks_for_dead_letters() -> None:
    web, beta, peer = machine()
    send(web, beta, 1, 2, msmq="<DeadLetter/>")
    send(web, beta, 3)
    web.pass_time(1.0)
    assert len(peer.envelopes) == 1
    beta.restart()
    assert len(beta.receive()) == 3
    web.run()
    finals = peer.envelopes[1:]
    assert [naive.value(text, "lastOrdinal") for text in finals] == ["1", "2"]
    assert {naive.value(text, "decision") for text in finals} == {"positive"}
    assert {naive.value(text, "to") for text in finals} == {RECEIPTS}
    about = [naive.value(text.partition("<commitmentReceipt")[2], "id") for text in finals]
    assert about == [f"uuid:101@{PEER}", f"uuid:102@{PEER}"]


@pytest.mark.spec("MQSRM-3.1.1.1.2.6-01", "MQSRM-3.1.1.3.3-01")
def test_a_stream_message_that_is_purged_has_a_negative_final_receipt() -> None:
    web, beta, peer = machine()
    send(web, beta, 1, msmq="<DeadLetter/>")
    web.pass_time(1.0)
    beta.purge()
    web.run()
    assert peer.values("decision") == ["", "negative"]
    assert beta.messages(r".\system$;DEADXACT") == []


def test_a_final_receipt_of_an_earlier_stream_goes_where_that_stream_said() -> None:
    web, beta, peer = machine()
    elsewhere = "http://peer/msmq/private$/other?s=2"
    send(web, beta, 1, 2, msmq="<DeadLetter/>")
    send(web, beta, 1, number=STREAM + 1, receipts=elsewhere)
    web.pass_time(1.0)
    beta.restart()
    beta.receive()
    web.run()
    finals = [text for text in peer.envelopes if "<decision>" in text]
    assert [naive.value(text, "to") for text in finals] == [RECEIPTS, RECEIPTS]


def test_receipts_do_not_pile_up_for_a_sender_that_cannot_be_reached() -> None:
    web, beta, peer = machine()
    web.down.add("peer")
    for number in range(1, 20):
        send(web, beta, number)
        web.pass_time(2.0)
    (queue,) = beta.qm.outgoing.queues
    assert queue.count == 1
    web.down.clear()
    web.pass_time(60.0)
    assert peer.values("lastOrdinal") == ["1", "19"]
    assert queue.count == 0
    web.pass_time(60.0)
    assert beta.srmp.next_timer() is not None


def test_a_stream_without_a_usable_receipt_url_is_accepted() -> None:
    web, beta, peer = machine()
    assert send(web, beta, 1, receipts="http://peer/nothing") == [200]
    web.pass_time(5.0)
    assert beta.bodies() == [b"1"]
    assert peer.envelopes == []
