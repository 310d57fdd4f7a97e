"""Requests of a naive peer: what is answered, and what is in the queue afterwards."""

import re
from typing import Any
from uuid import UUID

import pytest
from tests.core.harness import ADMINISTRATOR, USER
from tests.protocol.srmp import naive
from tests.protocol.srmp.naive import NaiveHost, envelope, post, services
from tests.protocol.srmp.web import Node, Web, pair, url

from openmsmq.core.events import MessageDropped
from openmsmq.wire.codes.message_class import MessageClass


def machine(**attributes: Any) -> tuple[Web, Node]:
    web, _, beta = pair()
    beta.create(**attributes)
    return web, beta


@pytest.mark.spec("MQSRM-3.1.7.2.5-09", "MQSRM-3.1.5.1-01")
def test_a_message_is_in_its_queue_when_it_is_answered() -> None:
    web, beta = machine()
    text = envelope(url(beta), utc=web.utc, entries=services(durable=True))
    number = web.knock(beta, post(text, b"one"))
    beta.work(flush=False)
    assert web.hear(beta, number) == b""
    web.run()
    assert naive.statuses(web.hear(beta, number)) == [200]
    assert beta.bodies() == [b"one"]


@pytest.mark.spec("MQSRM-1.3.5.1-01")
def test_an_express_message_is_answered_without_the_disk_and_lost_at_a_restart() -> None:
    web, beta = machine()
    web.run()
    number = web.knock(beta, post(envelope(url(beta), utc=web.utc), b"one"))
    beta.work(flush=False)
    assert naive.statuses(web.hear(beta, number)) == [200]
    beta.restart()
    assert beta.bodies() == []


@pytest.mark.spec("MQSRM-3.1.5.1.2-01", "MQSRM-3.1.5.1.2-02")
def test_a_malformed_message_is_answered_400_and_nothing_else_happens() -> None:
    web, beta = machine()
    text = envelope(url(beta), utc=web.utc).replace("<to>", "<from>").replace("</to>", "</from>")
    assert web.post(beta, post(text)) == [400]
    assert beta.bodies() == []
    assert beta.qm.counters.rejected_messages.values == {("http", "MALFORMED"): 1}


def test_a_message_that_no_packet_can_hold_is_answered_400() -> None:
    web, beta = machine()
    text = envelope(url(beta), utc=web.utc, label="x" * 300)
    good = envelope(url(beta), utc=web.utc)
    assert web.post(beta, post(text), post(good)) == [400, 200]
    assert beta.bodies() == [b"body"]


def test_a_traced_message_that_asks_for_no_report_arrives() -> None:
    web, beta = machine()
    assert web.post(beta, post(envelope(url(beta), utc=web.utc, msmq="<Trace/>"))) == [200]
    assert beta.messages()[0].tracing_requested


def test_answers_come_in_the_order_of_the_requests() -> None:
    web, beta = machine()
    good = post(envelope(url(beta), utc=web.utc, number=1), b"1")
    bad = post(envelope(url(beta, "none"), utc=web.utc, number=2), b"2")
    late = post(envelope(url(beta), utc=web.utc - 9999, number=3, life=1.0), b"3")
    assert web.post(beta, good, bad, late, good) == [200, 400, 200, 200]
    assert beta.bodies() == [b"1"]


@pytest.mark.parametrize(
    "to",
    [
        "http://elsewhere/msmq/private$/orders",
        "http://beta/msmq/private$/missing",
        "http://beta/msmq/private$/order_queue$",
        "http://beta/queues/orders",
        "MSMQ:MULTICAST=234.1.1.1:8001",
        r"OS:beta\private$\orders",
    ],
)
@pytest.mark.spec("MQSRM-3.1.5.1.3-02", "MQSRM-3.1.5.1.3-07")
def test_only_a_queue_of_this_machine_takes_a_message(to: str) -> None:
    web, beta = machine()
    assert web.post(beta, post(envelope(to, utc=web.utc))) == [400]
    assert beta.bodies() == []


@pytest.mark.parametrize(
    "to",
    [
        "http://BETA/MSMQ/Private$/Orders",
        "http://beta:8080/msmq/private$/orders",
        r"http://beta/msmq\private$\orders",
        "http://beta/msmq/private$/orders?x=y",
        "https://beta/msmq/private$/orders",
    ],
)
@pytest.mark.spec("MQSRM-3.1.5.1.6.4-01")
def test_case_port_slashes_and_query_do_not_matter(to: str) -> None:
    web, beta = machine()
    assert web.post(beta, post(envelope(to, utc=web.utc), target="/msmq/any")) == [200]
    assert beta.bodies() == [b"body"]


@pytest.mark.spec("MQSRM-3.1.5.1.3-08", "MQSRM-3.1.5.1.3-09")
def test_a_queue_of_the_other_kind_refuses_a_message() -> None:
    web, beta = machine(transactional=True)
    assert web.post(beta, post(envelope(url(beta), utc=web.utc))) == [400]
    beta.create(r".\private$\plain")
    entries = naive.stream(1, receipts="http://peer/msmq/private$/order_queue$")
    assert web.post(beta, post(envelope(url(beta, "plain"), utc=web.utc, entries=entries))) == [400]
    assert beta.bodies() == []
    assert beta.bodies(r".\private$\plain") == []


@pytest.mark.spec("MQSRM-2.2.6.17-02", "MQSRM-3.1.5.1.4-01", "MQSRM-3.1.1.1.2.2-01")
def test_a_message_that_is_too_late_is_answered_200_and_discarded() -> None:
    web, beta = machine()
    for msmq in ("", None):
        text = envelope(url(beta), utc=web.utc - 100, life=50.0, msmq=msmq)
        assert web.post(beta, post(text)) == [200]
    assert beta.bodies() == []
    rejected = beta.qm.counters.rejected_messages.values
    assert rejected == {("http", "NACK_REACH_QUEUE_TIMEOUT"): 2}


@pytest.mark.spec("MQSRM-2.2.5.1.1-02")
def test_without_msmq_the_time_of_expires_at_counts() -> None:
    web, beta = machine()
    late = envelope(url(beta), utc=web.utc - 100, life=50.0, msmq=None)
    good = envelope(url(beta), utc=web.utc - 100, life=150.0, msmq=None)
    assert web.post(beta, post(late, b"late"), post(good, b"good")) == [200, 200]
    assert beta.bodies() == [b"good"]


@pytest.mark.spec("MQSRM-3.1.5.1.1-02")
def test_the_arrival_time_is_that_of_the_reception() -> None:
    web, beta = machine()
    assert web.post(beta, post(envelope(url(beta), utc=web.utc - 1000))) == [200]
    (message,) = beta.qm.find_queue(r".\private$\orders").lanes
    assert message.arrived == web.utc
    assert beta.messages()[0].sent_time == int(web.utc - 1000)


def in_the_form_of_windows(web: Web, to: str, number: int) -> bytes:
    """A request like those before and after it."""
    text = envelope(to, utc=web.utc, number=number, entries=services(durable=True))
    return post(naive.as_windows_writes(text))


def test_many_messages_of_the_same_form_are_received_like_the_first() -> None:
    web, beta = machine()
    web.post(beta, *[in_the_form_of_windows(web, url(beta), number) for number in range(1, 4)])
    assert len(beta.qm.state.srmp_history) == 3
    assert web.post(beta, in_the_form_of_windows(web, url(beta), 3)) == [200]
    assert [message.message_id for message in beta.messages()] == [1, 2, 3]
    # A redirection holds for the next of them.
    beta.create(r".\private$\other")
    beta.enter()
    other = url(beta, "other")
    beta.qm.redirections.add("inbound", url(beta), other, caller=ADMINISTRATOR)
    assert web.post(beta, in_the_form_of_windows(web, url(beta), 4)) == [200]
    assert len(beta.bodies(r".\private$\other")) == 1


def many(web: Web, beta: Node, *numbers: int, queue: str = "orders") -> list[int]:
    """Post messages of one form in one read, after others have made the form known."""
    to = url(beta, queue)
    for number in (901, 902):
        web.post(beta, in_the_form_of_windows(web, to, number))
    return web.post(beta, *[in_the_form_of_windows(web, to, number) for number in numbers])


def test_a_read_with_messages_of_one_form_goes_into_the_queue_at_once() -> None:
    web, beta = machine()
    assert many(web, beta, *range(1, 40)) == [200] * 39
    assert [message.message_id for message in beta.messages()] == [901, 902, *range(1, 40)]
    beta.restart()
    assert len(beta.bodies()) == 41
    assert web.post(beta, in_the_form_of_windows(web, url(beta), 39)) == [200]
    assert len(beta.bodies()) == 41


def test_messages_of_one_form_are_in_their_queue_when_they_are_answered() -> None:
    web, beta = machine()
    many(web, beta)
    requests = [in_the_form_of_windows(web, url(beta), number) for number in (1, 2, 3)]
    number = web.knock(beta, b"".join(requests))
    beta.work(flush=False)
    assert web.hear(beta, number) == b""
    web.run()
    assert naive.statuses(web.hear(beta, number)) == [200] * 3


def test_express_messages_of_one_form_are_known_as_well() -> None:
    web, beta = machine()

    def express(number: int) -> bytes:
        request = in_the_form_of_windows(web, url(beta), number)
        durable = services(durable=True).encode()
        return _with_lengths(request.replace(durable, b""), -len(durable))

    assert web.post(beta, *map(express, (1, 2, 3, 4, 5, 5))) == [200] * 6
    assert web.post(beta, *map(express, (4, 5, 6))) == [200] * 3
    assert [message.message_id for message in beta.messages()] == [1, 2, 3, 4, 5, 6]


def _with_lengths(request: bytes, change: int) -> bytes:
    """A request with both lengths changed: that of the content and that of the envelope."""
    found = re.findall(rb"Content-Length: (\d+)", request)[:2]
    for length in found:
        request = request.replace(
            b"Content-Length: %b" % length, b"Content-Length: %d" % (int(length) + change), 1
        )
    return request


@pytest.mark.parametrize("numbers", [(1, 1, 2), (901, 1, 2), (1, 2, 902)])
def test_duplicates_among_messages_of_one_form_are_recognised(numbers: tuple[int, ...]) -> None:
    web, beta = machine()
    assert many(web, beta, *numbers) == [200] * 3
    assert sorted(message.message_id for message in beta.messages()) == [1, 2, 901, 902]


def test_messages_of_one_form_find_a_queue_full_one_by_one() -> None:
    web, beta = machine(quota=12)
    answers = many(web, beta, *range(1, 9))
    assert answers == sorted(answers)
    assert set(answers) == {200, 400}
    assert len(beta.bodies()) == 2 + answers.count(200)


@pytest.mark.parametrize("transactional", [None, True])
def test_messages_of_one_form_for_no_queue_are_each_refused(
    transactional: bool | None,  # noqa: FBT001 - a parameter
) -> None:
    web, beta = machine()
    beta.create(r".\private$\other")
    many(web, beta, 1, queue="other")
    beta.enter()
    beta.qm.delete_queue(beta.qm.find_queue(r".\private$\other"), caller=USER)
    if transactional:
        beta.create(r".\private$\other", transactional=True)
    assert many(web, beta, 2, 3, 4, queue="other") == [400] * 3


def test_messages_of_one_form_without_an_identifier_are_all_new() -> None:
    web, beta = machine()
    none = UUID(int=0)
    requests = [
        in_the_form_of_windows(web, url(beta), number).replace(
            str(naive.PEER).encode(), str(none).encode()
        )
        for number in (7, 8, 1, 1, 1)
    ]
    assert web.post(beta, *requests) == [200] * 5
    assert len(beta.bodies()) == 5


def test_a_machine_that_is_called_otherwise_now_refuses_a_message_of_a_known_form() -> None:
    web, beta = machine()
    to = "http://alias/msmq/private$/orders"
    beta.qm.state.settings.names = frozenset(("alias",))
    answers = web.post(beta, *[in_the_form_of_windows(web, to, number) for number in range(1, 4)])
    assert answers == [200] * 3
    beta.qm.state.settings.names = frozenset()
    assert web.post(beta, in_the_form_of_windows(web, to, 4)) == [400]


@pytest.mark.spec("MQSRM-3.1.5.1.11-02", "MQSRM-3.1.1.1.5-03", "MQSRM-3.1.3.1-01")
def test_a_known_identifier_is_a_duplicate_after_a_restart_too() -> None:
    web, beta = machine()
    request = post(envelope(url(beta), utc=web.utc, entries=services(durable=True)))
    assert web.post(beta, request, request) == [200, 200]
    assert web.post(beta, request) == [200]
    beta.restart()
    assert web.post(beta, request) == [200]
    assert beta.bodies() == [b"body"]


def test_an_express_duplicate_is_recognised_too() -> None:
    web, beta = machine()
    request = post(envelope(url(beta), utc=web.utc))
    assert web.post(beta, request) == [200]
    assert web.post(beta, request) == [200]
    assert beta.bodies() == [b"body"]


@pytest.mark.spec("MQSRM-3.1.1.1.5-04")
def test_identifiers_are_forgotten_after_half_an_hour() -> None:
    web, beta = machine()
    request = post(envelope(url(beta), utc=web.utc, entries=services(durable=True)))
    assert web.post(beta, request) == [200]
    web.pass_time(1700.0)
    assert web.post(beta, request) == [200]
    web.pass_time(4000.0)
    assert len(beta.qm.state.srmp_history) == 0
    assert web.post(beta, request) == [200]
    assert beta.bodies() == [b"body", b"body"]


@pytest.mark.spec("MQSRM-3.1.5.1.11-01", "MQSRM-2.2.4.3-02")
def test_messages_without_an_identifier_are_never_duplicates() -> None:
    web, beta = machine()
    request = post(envelope(url(beta), utc=web.utc, msmq=None))
    assert web.post(beta, request, request) == [200, 200]
    assert len(beta.bodies()) == 2


def test_a_forged_identifier_suppresses_no_message_of_the_binary_protocol() -> None:
    web, beta = machine()
    assert web.post(beta, post(envelope(url(beta), utc=web.utc))) == [200]
    assert len(beta.qm.state.srmp_history) == 1
    assert len(beta.qm.state.message_history) == 0


def test_a_copy_after_one_that_was_refused_is_looked_at_again() -> None:
    web, beta = machine(quota=0)
    request = post(envelope(url(beta), utc=web.utc))
    assert web.post(beta, request, request) == [400, 400]


@pytest.mark.spec("MQSRM-3.1.5.1.12-04")
def test_a_full_queue_answers_400() -> None:
    web, beta = machine(quota=6)
    requests = [post(envelope(url(beta), utc=web.utc, number=each)) for each in (1, 2, 3, 4)]
    answers = web.post(beta, *requests)
    assert answers[0] == 200
    assert answers[-1] == 400
    assert len(beta.bodies()) == answers.count(200)


@pytest.mark.spec("MQSRM-3.1.5.1.12-05")
def test_a_full_queue_manager_answers_500() -> None:
    web, beta = machine()
    beta.qm.set_quotas(messages=0, journals=0)
    request = post(envelope(url(beta), utc=web.utc))
    assert web.post(beta, request, request) == [500, 500]
    assert beta.bodies() == []
    beta.qm.set_quotas(messages=1000, journals=0)
    assert web.post(beta, request) == [200]


def test_a_machine_that_is_offline_answers_503() -> None:
    web, beta = machine()
    beta.srmp.stop(now=web.now)
    assert web.post(beta, post(envelope(url(beta), utc=web.utc))) == [503]


@pytest.mark.parametrize(
    ("entries", "message_class"),
    [
        (naive.delivery_receipt(1, naive.PEER, utc=0), 0),
        (naive.commitment_receipt(1, naive.PEER, "positive", utc=0), 49154),
        ("", 2),
    ],
)
@pytest.mark.spec("MQSRM-3.1.5.1.5-08")
def test_receipts_and_classes_that_do_not_fit_are_ignored(entries: str, message_class: int) -> None:
    web, beta = machine()
    text = envelope(url(beta), utc=web.utc, entries=entries, message_class=message_class)
    assert web.post(beta, post(text)) == [200]
    assert beta.bodies() == []
    ignored = beta.qm.counters.ignored_messages.values
    assert ignored == {("http", "class and receipts do not fit"): 1}


@pytest.mark.spec("MQSRM-2.2.5.2.2-02", "MQSRM-2.2.5.4-02", "MQSRM-3.1.5.1.6.2-01")
def test_a_delivery_receipt_goes_where_it_was_asked_for() -> None:
    web, beta = machine()
    peer = web.hosts["peer"] = NaiveHost()
    admin = "http://peer/msmq/private$/acks"
    text = envelope(url(beta), utc=web.utc, number=7, entries=services(delivery=admin))
    assert web.post(beta, post(text)) == [200]
    web.run()
    assert peer.values("to") == [admin]
    assert peer.values("Class") == ["2"]
    receipt = peer.envelopes[0].partition("<deliveryReceipt")[2]
    assert naive.value(receipt, "id") == f"uuid:7@{naive.PEER}"
    assert naive.value(receipt, "receivedAt") == naive.date(web.utc)
    assert web.post(beta, post(text)) == [200]
    assert len(peer.envelopes) == 1


@pytest.mark.spec("MQSRM-2.2.5.2.3-02", "MQSRM-2.2.5.5-05", "MQSRM-3.1.7.3.1-03")
def test_each_receipt_goes_to_the_queue_of_its_own_request() -> None:
    web, beta = machine()
    peer = web.hosts["peer"] = NaiveHost()
    queues = [f"http://peer/msmq/private$/{name}" for name in ("arrived", "done")]
    entries = services(delivery=queues[0], commitment=queues[1])
    assert web.post(beta, post(envelope(url(beta), utc=web.utc, entries=entries))) == [200]
    assert len(beta.receive()) == 1
    web.run()
    assert peer.values("to") == queues
    assert peer.values("decision") == ["", "positive"]
    assert peer.values("Class") == ["2", str(int(MessageClass.ACK_RECEIVE))]


@pytest.mark.spec("MQSRM-2.2.5.2.3-03", "MQSRM-3.1.7.3.1-01")
def test_a_message_that_leaves_unread_has_a_negative_receipt() -> None:
    web, beta = machine()
    peer = web.hosts["peer"] = NaiveHost()
    admin = "http://peer/msmq/private$/done"
    entries = services(commitment=admin)
    assert web.post(beta, post(envelope(url(beta), utc=web.utc, entries=entries))) == [200]
    beta.purge()
    web.run()
    assert peer.values("decision") == ["negative"]
    assert peer.values("Class") == [str(int(MessageClass.NACK_Q_PURGED))]


@pytest.mark.spec("MQSRM-3.1.5.2.1.1-01", "MQSRM-3.1.1.1.2.3-01")
def test_a_purged_message_that_asks_for_it_is_a_dead_letter_here() -> None:
    web, beta = machine()
    text = envelope(url(beta), utc=web.utc, msmq="<DeadLetter/>", entries=services(durable=True))
    assert web.post(beta, post(text)) == [200]
    beta.purge()
    web.run()
    dead = beta.messages(r".\system$;DEADLETTER")
    assert [message.body for message in dead] == [b"body"]


def test_a_receipt_that_may_go_nowhere_is_not_sent() -> None:
    web = Web()
    beta = web.node("beta", core={"receipt_hosts": frozenset(("friend",))})
    beta.create()
    dropped: list[MessageDropped] = []
    beta.engine.listen(MessageDropped, dropped.append)
    peer = web.hosts["peer"] = NaiveHost()
    friend = web.hosts["friend"] = NaiveHost()
    for number, host in enumerate(("peer", "friend", "friend:x"), 1):
        entries = services(delivery=f"http://{host}/msmq/private$/acks")
        web.post(beta, post(envelope(url(beta), utc=web.utc, number=number, entries=entries)))
    web.run()
    assert peer.envelopes == []
    assert len(friend.envelopes) == 1
    assert beta.qm.counters.dropped_messages.by() == {
        "acknowledgment: the host is not in srmp_receipt_hosts": 1,
        "acknowledgment: not the URL of a queue": 1,
    }
    assert [event.queue for event in dropped] == [
        "http://peer/msmq/private$/acks",
        "http://friend:x/msmq/private$/acks",
    ]
