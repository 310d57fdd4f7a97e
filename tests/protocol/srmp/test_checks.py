"""Requests whose messages wait for checks, which workers make."""

from tests.protocol.srmp import naive
from tests.protocol.srmp.naive import envelope, post, services, statuses
from tests.protocol.srmp.web import Node, Web, url

from openmsmq.core.transfer.checks.checks import Verdict
from openmsmq.core.transfer.transports import Origin
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage


class LabelCheck:
    """Refuses a message whose body says so, or fails."""

    cheap = False

    def __init__(self, message: UserMessage) -> None:
        self._message = message

    def make(self) -> Verdict:
        body = self._message.body
        if body == b"fault":
            raise ArithmeticError("fault")
        refusal = MessageClass.NACK_BAD_SIGNATURE if body == b"bad" else None
        return Verdict(self._message.packet, refusal)


class LabelVerifier:
    """Checks messages with the label `check`."""

    def concerns(self, head: UserMessage, origin: Origin) -> bool:
        assert origin.address == "peer"
        return head.label == "check"

    def check(self, message: UserMessage, origin: Origin) -> LabelCheck:
        assert origin.address == "peer"
        return LabelCheck(message)


def machine() -> tuple[Web, Node]:
    web = Web()
    beta = web.node("beta", verifier=LabelVerifier())
    beta.create()
    web.run()
    return web, beta


def request(web: Web, beta: Node, number: int, body: bytes, label: str = "check") -> bytes:
    entries = services(durable=True)
    text = envelope(url(beta), utc=web.utc, number=number, label=label, entries=entries)
    return post(text, body)


def make_checks(beta: Node, error: Exception | None = None) -> None:
    while (job := beta.engine.take_job()) is not None:
        try:
            job.run()
        except ArithmeticError as exc:
            error = exc
        beta.enter()
        beta.engine.job_done(job, error)


def test_a_message_is_answered_when_its_check_is_made() -> None:
    web, beta = machine()
    connection = web.knock(beta, request(web, beta, 1, b"good"), request(web, beta, 2, b"bad"))
    web.run()
    assert web.hear(beta, connection) == b""
    assert beta.bodies() == []
    make_checks(beta)
    web.run()
    assert statuses(web.hear(beta, connection)) == [200, 400]
    assert beta.bodies() == [b"good"]


def test_what_a_connection_brings_later_waits_behind_a_check() -> None:
    web, beta = machine()
    connection = web.knock(beta, request(web, beta, 1, b"first"))
    web.run()
    for number in (2, 3):
        beta.enter()
        later = request(web, beta, number, b"%d" % number, label="plain")
        beta.http.receive_data(connection, later, now=web.now)
        web.run()
    assert beta.bodies() == []
    make_checks(beta)
    web.run()
    assert beta.bodies() == [b"first", b"2", b"3"]
    assert statuses(web.hear(beta, connection)) == [200, 200, 200]
    assert web.post(beta, request(web, beta, 4, b"4", label="plain")) == [200]


def test_a_check_that_breaks_is_answered_500() -> None:
    web, beta = machine()
    connection = web.knock(beta, request(web, beta, 1, b"fault"))
    web.run()
    make_checks(beta)
    web.run()
    assert statuses(web.hear(beta, connection)) == [500]
    assert beta.bodies() == []


def test_a_stream_message_that_a_check_refuses_does_not_take_its_stream_further() -> None:
    web, beta = machine()
    beta.create(r".\private$\tx", transactional=True)
    receipts = "http://peer/msmq/private$/order_queue$"
    requests = [
        post(
            envelope(
                url(beta, "tx"),
                utc=web.utc,
                label="check",
                entries=naive.stream(number, receipts=receipts if number == 1 else ""),
            ),
            body,
        )
        for number, body in enumerate((b"1", b"bad", b"3"), 1)
    ]
    connection = web.knock(beta, *requests)
    web.run()
    make_checks(beta)
    web.run()
    assert statuses(web.hear(beta, connection)) == [200, 400, 200]
    assert beta.bodies(r".\private$\tx") == [b"1"]


def test_messages_that_are_not_of_the_kind_of_their_queue_are_counted_there() -> None:
    web, beta = machine()
    beta.create(r".\private$\tx", transactional=True)
    plain = post(envelope(url(beta, "tx"), utc=web.utc), b"plain")
    assert web.post(beta, plain) == [400]
    streamed = envelope(
        url(beta, "orders"),
        utc=web.utc,
        entries=naive.stream(1, receipts="http://peer/msmq/private$/order_queue$"),
    )
    assert web.post(beta, post(streamed, b"1")) == [400]
    refused = {
        path: beta.qm.find_queue(path).counters.refused
        for path in (r".\private$\tx", r".\private$\orders")
    }
    assert refused == {
        r".\private$\tx": {"NACK_NOT_TRANSACTIONAL_MSG": 1},
        r".\private$\orders": {"NACK_NOT_TRANSACTIONAL_Q": 1},
    }
