"""Which receipts a receiver sends, when, and where to; each is caught by a naive host."""

import pytest
from tests.core.harness import ADMINISTRATOR
from tests.protocol.srmp import naive
from tests.protocol.srmp.naive import PEER, STREAM, NaiveHost, envelope, post, services, stream
from tests.protocol.srmp.web import Node, Web, pair, url

from openmsmq.protocol.srmp.receipts import receipts_url, token_of
from openmsmq.wire.names.queue_address import direct_address

ACKS = "http://peer/msmq/private$/Acks"
DONE = "http://peer/msmq/private$/Done"
RECEIPTS = "http://peer/msmq/private$/order_queue$?SenderStream=XRntV"
PLAIN = r".\private$\plain"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    ("url", "token"),
    [
        (receipts_url("http", "alpha", "aB=c"), "aB=c"),
        ("http://alpha/msmq/private$/order_queue$?S=x", "x"),
        ("http://alpha/msmq/private$/order_queue$?t=x", ""),
        ("http://alpha/msmq/private$/order_queue$", ""),
    ],
)
def test_the_token_of_a_url_is_in_its_query(url: str, token: str) -> None:
    assert token_of(url) == token


def machine() -> tuple[Web, Node, NaiveHost]:
    """A queue manager with a transactional queue and a plain one, and who gets its receipts."""
    web = Web()
    beta = web.node("beta")
    beta.create(transactional=True)
    beta.create(PLAIN)
    peer = web.hosts["peer"] = NaiveHost()
    web.run()
    return web, beta, peer


def plain(web: Web, beta: Node, number: int = 1, *, entries: str = "", msmq: str = "") -> bytes:
    to = url(beta, "plain")
    return post(envelope(to, utc=web.utc, number=number, entries=entries, msmq=msmq))


def ordered(
    web: Web, beta: Node, current: int, *, entries: str = "", msmq: str = "", number: int = STREAM
) -> bytes:
    start = RECEIPTS if current == 1 else ""
    place = stream(current, receipts=start, number=number)
    if entries:
        place = place.replace(services(durable=True), entries)
    text = envelope(url(beta), utc=web.utc, number=100 + current, entries=place, msmq=msmq)
    return post(text, b"%d" % current)


def commitment(*only: str) -> str:
    inside = "".join(f"<{name}/>" for name in only)
    return (
        '<services se:mustUnderstand="1"><commitmentReceiptRequest>'
        f"<sendTo>{DONE}</sendTo>{inside}</commitmentReceiptRequest></services>"
    )


@pytest.mark.spec("MQSRM-1.3.8-01", "MQSRM-2.2.5.4-03")
def test_a_receipt_is_a_request_of_its_own_and_not_part_of_the_response() -> None:
    web, beta, peer = machine()
    number = web.knock(beta, plain(web, beta, entries=services(delivery=ACKS)))
    web.run()
    assert web.hear(beta, number) == OK
    assert peer.values("to") == [ACKS]
    assert peer.targets == [ACKS.removeprefix("http://peer").lower()]


@pytest.mark.spec("MQSRM-2.2.4.1-05")
def test_the_receipt_of_a_message_without_a_label_has_none() -> None:
    web, beta, peer = machine()
    text = envelope(url(beta, "plain"), utc=web.utc, entries=services(delivery=ACKS))
    assert web.post(beta, post(text.replace("MSMQ:naive", "naive"))) == [200]
    assert web.post(beta, plain(web, beta, 2, entries=services(delivery=ACKS))) == [200]
    web.run()
    assert peer.values("action") == ["MSMQ:", "MSMQ:naive"]


@pytest.mark.spec("MQSRM-2.2.5.2.1-04", "MQSRM-2.2.5.2.1-05")
def test_answer_and_receipt_of_a_durable_message_wait_for_the_disk() -> None:
    web, beta, peer = machine()
    number = web.knock(beta, plain(web, beta, entries=services(durable=True, delivery=ACKS)))
    beta.stalled = True
    web.run()
    assert web.hear(beta, number) == b""
    assert peer.envelopes == []
    beta.stalled = False
    web.run()
    assert web.hear(beta, number) == OK
    assert peer.values("Class") == ["2"]
    beta.restart()
    assert beta.bodies(PLAIN) == [b"body"]


def test_no_answer_to_many_durable_messages_of_one_read_leaves_before_they_are_on_disk() -> None:
    web, alpha, beta = pair()
    beta.create()
    # Messages that are alike share a run once a few of them have come.
    for number in range(4):
        alpha.send(url(beta), b"%d" % number, delivery_mode=1)
        web.run()
    beta.stalled = True
    alpha.send(url(beta), *(b"%d" % number for number in range(4, 20)), delivery_mode=1)
    web.run()
    waiting = alpha.outgoing(url(beta))
    assert waiting.count == 16
    beta.stalled = False
    web.run()
    assert waiting.count == 0
    beta.restart()
    assert len(beta.bodies()) == 20


@pytest.mark.spec("MQSRM-2.2.5.2.2-03", "MQSRM-3.1.1.1.2.2-02")
def test_a_message_that_is_not_put_in_its_queue_has_no_delivery_receipt() -> None:
    web, beta, peer = machine()
    wants = services(delivery=ACKS)
    missing = post(envelope(url(beta, "missing"), utc=web.utc, number=1, entries=wants))
    late = post(envelope(url(beta, "plain"), utc=web.utc - 99, number=2, entries=wants, life=9.0))
    silent = plain(web, beta, 3)
    good = plain(web, beta, 4, entries=wants)
    assert web.post(beta, missing, late, silent, good, good) == [400, 200, 200, 200, 200]
    web.run()
    (receipt,) = peer.envelopes
    assert naive.value(receipt.partition("<deliveryReceipt")[2], "id") == f"uuid:4@{PEER}"


@pytest.mark.spec("MQSRM-2.2.5.2.2-04")
def test_a_message_with_something_that_must_be_understood_and_is_not_has_no_receipt() -> None:
    web, beta, peer = machine()
    unknown = '<x:new xmlns:x="urn:x" se:mustUnderstand="1"/>'
    wants = services(delivery=ACKS)
    assert web.post(beta, plain(web, beta, entries=wants + unknown)) == [400]
    web.run()
    assert peer.envelopes == []
    known = unknown.replace('"1"', '"0"')
    assert web.post(beta, plain(web, beta, entries=wants + known)) == [200]
    web.run()
    assert len(peer.envelopes) == 1


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize(
    ("only", "decisions"),
    [
        ((), {True: [], False: []}),
        (("positiveOnly",), {True: ["positive"], False: []}),
        (("negativeOnly",), {True: [], False: ["negative"]}),
        (("positiveOnly", "negativeOnly"), {True: ["positive"], False: ["negative"]}),
        (("negativeOnly", "positiveOnly"), {True: ["positive"], False: ["negative"]}),
    ],
)
@pytest.mark.spec("MQSRM-2.2.5.2.3-04", "MQSRM-2.2.5.2.3-05", "MQSRM-2.2.5.2.3-06")
def test_commitment_receipts_are_those_that_were_asked_for(
    only: tuple[str, ...],
    decisions: dict[bool, list[str]],
    read: bool,  # noqa: FBT001 - a parameter
) -> None:
    web, beta, peer = machine()
    assert web.post(beta, plain(web, beta, entries=commitment(*only))) == [200]
    if read:
        beta.receive(PLAIN)
    else:
        beta.purge(PLAIN)
    web.run()
    assert peer.values("decision") == decisions[read]


@pytest.mark.spec("MQSRM-2.2.5.5-01", "MQSRM-3.1.1.3.2-01")
def test_only_a_stream_message_that_asks_for_dead_letters_has_a_commitment_receipt_unasked() -> (
    None
):
    web, beta, peer = machine()
    requests = [plain(web, beta, 7, entries=services(durable=True), msmq="<DeadLetter/>")]
    requests.append(ordered(web, beta, 1))
    requests.append(ordered(web, beta, 2, msmq="<DeadLetter/>"))
    assert web.post(beta, *requests) == [200] * 3
    web.pass_time(1.0)
    # The stream is acknowledged without being asked for.
    assert peer.values("lastOrdinal") == ["2"]
    beta.receive()
    beta.receive(PLAIN)
    web.run()
    assert peer.values("decision") == ["", "positive"]
    assert peer.values("lastOrdinal") == ["2", "2"]


@pytest.mark.spec("MQSRM-3.1.1.3.2-02", "MQSRM-3.1.1.3.2-03", "MQSRM-4.4-02")
def test_a_stream_receipt_is_about_one_stream_up_to_the_first_gap() -> None:
    web, beta, peer = machine()
    beta.create(r".\private$\other", transactional=True)
    elsewhere = envelope(
        url(beta, "other"),
        utc=web.utc,
        entries=stream(1, receipts=RECEIPTS, number=STREAM + 1),
    )
    requests = [ordered(web, beta, current) for current in (1, 2, 4)]
    assert web.post(beta, *requests, post(elsewhere)) == [200] * 4
    web.pass_time(1.0)
    found = dict(zip(peer.values("streamId"), peer.values("lastOrdinal"), strict=True))
    assert found == {f"uid:{PEER}\\{STREAM}": "2", f"uid:{PEER}\\{STREAM + 1}": "1"}
    assert set(peer.values("to")) == {RECEIPTS}
    assert set(peer.targets) == {RECEIPTS.removeprefix("http://peer").lower()}
    assert web.post(beta, ordered(web, beta, 3), ordered(web, beta, 4)) == [200, 200]
    web.pass_time(1.0)
    assert peer.values("lastOrdinal")[-1] == "4"


@pytest.mark.spec("MQSRM-3.1.1.4.3-01")
def test_a_stream_message_causes_all_three_receipts_independently() -> None:
    web, beta, peer = machine()
    wants = services(durable=True, delivery=ACKS, commitment=DONE)
    assert web.post(beta, ordered(web, beta, 1, entries=wants)) == [200]
    web.run()
    assert peer.values("to") == [ACKS]
    web.pass_time(1.0)
    assert peer.values("to") == [ACKS, RECEIPTS]
    beta.receive()
    web.run()
    assert peer.values("to") == [ACKS, RECEIPTS, DONE]
    assert peer.values("Class") == ["2", "255", "16384"]


@pytest.mark.spec("MQSRM-3.1.7.3-01")
def test_only_a_message_that_came_by_srmp_and_leaves_its_queue_causes_receipts() -> None:
    web, beta, peer = machine()
    local = direct_address(DONE)
    beta.send_to(rf"DIRECT=OS:beta{PLAIN[1:]}", b"local", admin_queue=local, acknowledgments=0)
    assert len(beta.receive(PLAIN)) == 1
    beta.qm.redirections.add("forward", "*", "", caller=ADMINISTRATOR)
    web.down.add("inside")
    to = "http://inside/msmq/private$/q"
    text = envelope(to, utc=web.utc, entries=commitment("positiveOnly", "negativeOnly"))
    assert web.post(beta, post(text)) == [200]
    beta.purge_outgoing(to)
    web.run()
    assert peer.envelopes == []


@pytest.mark.spec("MQSRM-4.3-03")
def test_a_receipt_names_the_queue_that_the_message_was_sent_to() -> None:
    web, beta, peer = machine()
    assert web.post(beta, plain(web, beta, entries=services(delivery=ACKS))) == [200]
    web.run()
    assert peer.values("via") == [url(beta, "plain")]


@pytest.mark.spec("MQSRM-4.1-03")
def test_a_message_of_path_and_properties_alone_is_taken_without_receipts() -> None:
    web, beta, peer = machine()
    text = envelope(url(beta, "plain"), utc=web.utc, msmq=None)
    assert web.post(beta, post(text)) == [200]
    (message,) = beta.messages(PLAIN)
    assert (message.label, message.body, message.priority) == ("naive", b"body", 3)
    beta.receive(PLAIN)
    web.pass_time(5.0)
    assert peer.envelopes == []
