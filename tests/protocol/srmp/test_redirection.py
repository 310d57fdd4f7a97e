"""Messages that go elsewhere: inbound and outbound redirection, forwarding, receipt URLs."""

import pytest
from tests.core.harness import ADMINISTRATOR, STRANGER, refused
from tests.protocol.srmp import naive
from tests.protocol.srmp.naive import NaiveHost, envelope, post, services
from tests.protocol.srmp.web import Node, Web, pair, url

from openmsmq.core.events import MessageDropped
from openmsmq.core.transfer.forwarding.forwarding import LOOP_SECONDS
from openmsmq.protocol.outgoing_status import OutgoingStatus

LOGICAL = "http://beta/msmq/private$/logical"


def redirect(node: Node, kind: str, source: str, target: str = "") -> None:
    node.enter()
    node.qm.redirections.add(kind, source, target, caller=ADMINISTRATOR)


def machine() -> tuple[Web, Node, NaiveHost]:
    web, _, beta = pair()
    beta.create()
    host = web.hosts["inside"] = NaiveHost()
    return web, beta, host


@pytest.mark.spec("MQSRM-3.1.5.1.3-05")
def test_an_inbound_redirection_leads_to_another_queue_here() -> None:
    web, beta, _ = machine()
    redirect(beta, "inbound", LOGICAL, url(beta))
    text = envelope(LOGICAL, utc=web.utc)
    assert web.post(beta, post(text)) == [200]
    (message,) = beta.messages()
    header = message.srmp_envelope_header
    assert header is not None
    assert naive.value(header.data, "to") == LOGICAL
    beta.qm.redirections.remove("inbound", LOGICAL.upper(), caller=ADMINISTRATOR)
    assert web.post(beta, post(envelope(LOGICAL, utc=web.utc, number=2))) == [400]


@pytest.mark.spec("MQSRM-3.1.1.1.10-01")
def test_redirections_survive_a_restart_and_the_longest_wins() -> None:
    web, beta, _ = machine()
    beta.create(r".\private$\rest")
    redirect(beta, "inbound", "http://beta/msmq/*", url(beta, "rest"))
    redirect(beta, "inbound", "http://beta/MSMQ/private$/log*", url(beta))
    web.run()
    beta.restart()
    for number, name in enumerate(("logical", "other"), 1):
        assert web.post(beta, post(envelope(url(beta, name), utc=web.utc, number=number))) == [200]
    assert len(beta.bodies()) == len(beta.bodies(r".\private$\rest")) == 1


@pytest.mark.spec("MQSRM-3.1.5.1.3-06")
def test_an_inbound_redirection_to_another_host_sends_the_message_on_as_it_came() -> None:
    web, beta, host = machine()
    redirect(beta, "inbound", LOGICAL, "http://inside/msmq/private$/q")
    text = envelope(LOGICAL, utc=web.utc, entries=services(durable=True))
    assert web.post(beta, post(text, b"inner")) == [200]
    web.run()
    assert host.envelopes == [text]
    assert host.targets == ["/msmq/private$/q"]
    assert b"inner" in host.contents[0]
    assert beta.qm.outgoing.find("DIRECT=http://inside/msmq/private$/q").count == 0


@pytest.mark.spec("MQSRM-3.1.1.1.7-01", "MQSRM-3.1.5.1.3-03")
def test_messages_for_other_hosts_are_forwarded_where_that_is_allowed() -> None:
    web, beta, host = machine()
    to = "http://inside/msmq/private$/q"
    assert web.post(beta, post(envelope(to, utc=web.utc))) == [400]
    redirect(beta, "forward", "*")
    receipts = "http://source/msmq/private$/order_queue$?s=1"
    entries = naive.stream(1, receipts=receipts)
    text = envelope(to, utc=web.utc, entries=entries)
    assert web.post(beta, post(text)) == [200]
    web.run()
    assert host.envelopes == [text]
    web.pass_time(1.0)
    assert [queue.path for queue in beta.qm.outgoing.queues] == [f"DIRECT={to.upper()[:4]}{to[4:]}"]


def test_a_forwarded_message_is_on_disk_before_it_is_answered() -> None:
    web, beta, host = machine()
    redirect(beta, "forward", "*")
    web.run()
    web.down.add("inside")
    text = envelope("http://inside/msmq/q", utc=web.utc, entries=services(durable=True))
    number = web.knock(beta, post(text))
    beta.work(flush=False)
    assert web.hear(beta, number) == b""
    web.run()
    assert naive.statuses(web.hear(beta, number)) == [200]
    beta.restart()
    web.down.clear()
    web.pass_time(21.0)
    assert host.envelopes == [text]


@pytest.mark.spec("MQSRM-3.1.5.1.3-04")
def test_a_forwarder_refuses_what_is_late_or_finds_no_room() -> None:
    web, beta, host = machine()
    redirect(beta, "forward", "*")
    to = "http://inside/msmq/private$/q"
    assert web.post(beta, post(envelope(to, utc=web.utc - 99, life=9.0))) == [200]
    beta.qm.set_quotas(messages=0, journals=0)
    assert web.post(beta, post(envelope(to, utc=web.utc))) == [500]
    beta.qm.set_quotas(messages=1000, journals=0)
    beta.qm.state.settings.max_outgoing_queues = 0
    beta.qm.state.outgoing.clear()
    assert web.post(beta, post(envelope(to, utc=web.utc))) == [500]
    assert host.envelopes == []


@pytest.mark.parametrize(("durable", "count"), [(True, 1), (False, 0)])
def test_a_forwarder_keeps_only_recoverable_messages_safe(*, durable: bool, count: int) -> None:
    web, beta, _ = machine()
    redirect(beta, "forward", "*")
    entries = services(durable=True) if durable else ""
    to = "http://nowhere/msmq/private$/q"
    assert web.post(beta, post(envelope(to, utc=web.utc, entries=entries))) == [200]
    assert [queue.count for queue in beta.qm.outgoing.queues] == [1]
    beta.restart()
    assert sum(queue.count for queue in beta.qm.outgoing.queues) == count


def test_a_message_that_no_packet_can_hold_is_not_forwarded() -> None:
    web, beta, _ = machine()
    redirect(beta, "forward", "*")
    text = envelope("http://inside/msmq/q", utc=web.utc, label="x" * 300)
    assert web.post(beta, post(text)) == [400]


def test_a_redirection_to_a_missing_queue_here_is_answered_400() -> None:
    web, beta, _ = machine()
    redirect(beta, "inbound", LOGICAL, "http://beta/msmq/private$/missing")
    assert web.post(beta, post(envelope(LOGICAL, utc=web.utc))) == [400]


@pytest.mark.parametrize("streams", [False, True])
def test_a_loop_ends(streams: bool) -> None:  # noqa: FBT001 - a parameter
    web, alpha, beta = pair()
    names = {alpha: "http://beta/msmq/q", beta: "http://alpha/msmq/q"}
    for node, target in names.items():
        redirect(node, "inbound", f"http://{node.name}/msmq/q", target)
        redirect(node, "forward", "*")
    receipts = "http://source/msmq/private$/order_queue$"
    entries = naive.stream(1, receipts=receipts) if streams else services(durable=True)
    dropped: list[MessageDropped] = []
    alpha.engine.listen(MessageDropped, dropped.append)
    text = envelope("http://alpha/msmq/q", utc=web.utc, entries=entries)
    assert web.post(alpha, post(text)) == [200]
    web.run()
    assert [(event.what, event.queue) for event in dropped] == [
        ("message", "DIRECT=HTTP://beta/msmq/q")
    ]
    assert web.written["alpha"].count(b"POST ") == 1
    assert web.written["beta"].count(b"POST ") <= 1
    assert not [queue for node in names for queue in node.qm.outgoing.queues if queue.count]


def test_a_source_that_sends_a_stream_message_again_is_served() -> None:
    web, beta, host = machine()
    redirect(beta, "forward", "*")
    entries = naive.stream(1, receipts="http://source/msmq/private$/order_queue$")
    request = post(envelope("http://inside/msmq/q", utc=web.utc, entries=entries))
    assert web.post(beta, request) == [200]
    web.pass_time(LOOP_SECONDS + 20.0)
    assert web.post(beta, request) == [200]
    web.run()
    assert len(host.envelopes) == 2
    plain = post(envelope("http://inside/msmq/q", utc=web.utc, number=9, msmq=None))
    assert web.post(beta, plain, plain) == [200, 200]
    web.run()
    assert len(host.envelopes) == 4


@pytest.mark.spec("MQSRM-3.1.7.9-04", "MQSRM-3.1.7.9-05", "MQSRM-3.1.1.1.9-01")
def test_an_outbound_redirection_changes_the_host_only() -> None:
    web, alpha, _ = pair()
    gate = web.hosts["gate"] = NaiveHost()
    direct = web.hosts["direct"] = NaiveHost()
    redirect(alpha, "outbound", "http://*", "http://gate:8080/msmq/any")
    redirect(alpha, "exception", "http://direct/*")
    for host in ("far", "direct"):
        alpha.send(f"http://{host}/msmq/private$/q", b"one")
    web.run()
    assert gate.values("to") == ["http://far/msmq/private$/q"]
    assert gate.targets == ["/msmq/private$/q"]
    assert direct.values("to") == ["http://direct/msmq/private$/q"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (503, "gate answered with HTTP status 503"),
        (400, "gate refused the last message with HTTP status 400"),
    ],
)
def test_people_see_the_host_that_a_message_is_redirected_to(answer: int, error: str) -> None:
    web, alpha, _ = pair()
    far = "http://far/msmq/private$/q"
    web.hosts["gate"] = NaiveHost()
    web.hosts["gate"].script = [answer]
    redirect(alpha, "outbound", "http://far/*", "http://gate:8080/msmq/any")

    def status() -> OutgoingStatus:
        status = alpha.srmp.outgoing_status(alpha.outgoing(far), now=web.now)
        assert status is not None
        return status

    alpha.send(far, b"one")
    web.run()
    assert status().last_error == error
    alpha.send(far, b"two")
    web.pass_time(20.0)
    assert (status().last_error, status().next_hop) == ("", "gate")
    outgoing = alpha.outgoing(far).outgoing
    assert outgoing is not None
    assert {entry.address_list for entry in outgoing.connection_history} == {("gate",)}


@pytest.mark.spec("MQSRM-3.1.7.2.4-14", "MQSRM-3.1.1.1.8-01")
def test_receipts_may_come_to_another_url_which_has_no_token() -> None:
    web, alpha, _ = pair()
    peer = web.hosts["peer"] = NaiveHost()
    other = web.hosts["other"] = NaiveHost()
    redirect(alpha, "receipts", "*", "http://public/msmq/private$/order_queue$")
    redirect(alpha, "receipts", "http://peer/*", "http://alpha/msmq/private$/order_queue$")
    for host in ("peer", "other"):
        alpha.send(f"http://{host}/msmq/q", b"one", tx=True)
    web.run()
    assert peer.values("sendReceiptsTo") == ["http://alpha/msmq/private$/order_queue$"]
    assert other.values("sendReceiptsTo") == ["http://public/msmq/private$/order_queue$"]
    number = int(peer.values("streamId")[0].partition("\\")[2])
    text = envelope(
        peer.values("sendReceiptsTo")[0],
        utc=web.utc,
        label="QM Ordering Ack",
        message_class=255,
        entries=naive.stream_receipt(1, number=number, guid=alpha.guid),
    )
    assert web.post(alpha, post(text, None)) == [200]
    assert alpha.outgoing("http://peer/msmq/q").count == 0


@pytest.mark.parametrize(
    ("kind", "source", "target"),
    [
        ("sideways", "http://a/msmq/q", "http://b/msmq/q"),
        ("inbound", "ftp://a/msmq/q", "http://b/msmq/q"),
        ("inbound", "http://a/msmq/q", ""),
        ("inbound", "http://a/msmq/q\n", "http://b/msmq/q"),
        ("exception", "http://a/msmq/q", "http://b/msmq/q"),
        ("outbound", "http://" + "a" * 2000, "http://b/msmq/q"),
    ],
)
def test_a_redirection_that_is_none_is_refused(kind: str, source: str, target: str) -> None:
    _, beta, _ = machine()
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        redirect(beta, kind, source, target)


def test_who_may_see_and_change_redirections() -> None:
    _, beta, _ = machine()
    redirect(beta, "forward", "*")
    redirect(beta, "forward", "*")
    assert len(beta.qm.redirections.listed(caller=ADMINISTRATOR)) == 1
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        beta.qm.redirections.remove("inbound", "*", caller=ADMINISTRATOR)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        beta.qm.redirections.add("forward", "*", "", caller=STRANGER)
    with refused("MQ_ERROR_ILLEGAL_FORMATNAME"):
        redirect(beta, "inbound", "http://a/msmq/q", "http://b/other/q")
