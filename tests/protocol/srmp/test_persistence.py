"""What is the same after a restart: identity, numbers, streams, histories, redirections."""

import re

import pytest
from tests.core.harness import ADMINISTRATOR
from tests.protocol.srmp import naive
from tests.protocol.srmp.naive import NaiveHost, envelope, post, services, stream
from tests.protocol.srmp.test_outgoing_streams import acknowledge, stream_number
from tests.protocol.srmp.test_sending import PEER, machine
from tests.protocol.srmp.web import Web, pair, url

RECEIPTS = "http://peer/msmq/private$/order_queue$?s=token"


def ordinals(peer: NaiveHost) -> list[int]:
    """The numbers in the identifiers of everything that was posted."""
    found = [re.search(r"<id>uuid:(\d+)@", text) for text in peer.envelopes]
    return [int(match[1]) for match in found if match is not None]


@pytest.mark.spec("MQSRM-3.1.1.1.3-01")
def test_the_guid_of_the_queue_manager_is_the_same_everywhere_and_always() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True)
    web.run()
    alpha.restart()
    alpha.send("http://peer/msmq/private$/others", b"2", tx=True)
    web.run()
    for text, content in zip(peer.envelopes, peer.contents, strict=True):
        guid = str(alpha.guid)
        assert naive.value(text, "id").endswith(f"@{guid}")
        assert naive.value(text, "SourceQmGuid") == guid
        assert naive.value(text, "streamId").startswith(f"uid:{guid}\\")
        assert f"Content-Id: body@{guid}\r\n".encode() in content


@pytest.mark.spec("MQSRM-3.1.1.1.5-01", "MQSRM-3.1.3.1-02")
def test_message_identifiers_grow_and_are_never_given_again() -> None:
    web, alpha, peer = machine()
    alpha.create()
    alpha.send(PEER, b"1", b"2")
    web.run()
    first = ordinals(peer)
    assert first[1] == first[0] + 1
    # A receipt takes the next one.
    entries = services(delivery="http://peer/msmq/private$/acks")
    assert web.post(alpha, post(envelope(url(alpha), utc=web.utc, entries=entries))) == [200]
    web.run()
    assert ordinals(peer)[2] == first[1] + 1
    alpha.restart()
    alpha.send(PEER, b"3")
    web.run()
    assert ordinals(peer)[3] > ordinals(peer)[2]


@pytest.mark.spec("MQSRM-3.1.3.1-03", "MQSRM-3.1.7.2.3-02")
def test_a_stream_after_a_restart_has_a_number_that_none_had_before() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True)
    web.run()
    assert peer.values("current") == ["1"]
    acknowledge(web, alpha, peer, 1)
    alpha.restart()
    alpha.send(PEER, b"2", tx=True)
    web.run()
    before, after = (stream_number(text) for text in peer.envelopes)
    assert after > before
    assert before & 0xFFFFFFFF >= 1
    assert peer.values("current") == ["1", "1"]
    assert {text.partition("\\")[0] for text in peer.values("streamId")} == {f"uid:{alpha.guid}"}


@pytest.mark.spec("MQSRM-3.1.1.1.1-01")
def test_everything_that_must_last_is_there_after_a_power_loss() -> None:
    web, alpha, beta = pair()
    beta.create(transactional=True)
    beta.create(r".\private$\plain")
    beta.qm.redirections.add("forward", "http://inside/*", "", caller=ADMINISTRATOR)
    web.run()
    guid = beta.qm.identifier
    durable = post(envelope(url(beta, "plain"), utc=web.utc, entries=services(durable=True)))
    opening = envelope(url(beta), utc=web.utc, entries=stream(1, receipts=RECEIPTS), number=2)
    assert web.post(beta, durable, post(opening)) == [200, 200]
    beta.send(url(alpha, "missing"), b"waits", delivery_mode=1)
    web.down.add("alpha")
    web.run()
    beta.restart()
    assert beta.qm.identifier == guid
    assert beta.qm.redirections.forwards("http://inside/msmq/q")
    assert beta.bodies() == beta.bodies(r".\private$\plain") == [b"body"]
    assert beta.outgoing(url(alpha, "missing")).count == 1
    # The history and the stream know what came before.
    following = envelope(url(beta), utc=web.utc, entries=stream(2), number=3)
    assert web.post(beta, durable, post(opening), post(following)) == [200] * 3
    assert beta.bodies(r".\private$\plain") == [b"body"]
    assert len(beta.bodies()) == 2


@pytest.mark.spec("MQSRM-1.3.5.2-02")
def test_an_express_message_whose_answer_was_lost_may_come_twice() -> None:
    web, alpha, beta = pair()
    beta.create()
    web.mute.add("beta")
    alpha.send(url(beta), b"one")
    web.run()
    assert len(beta.bodies()) == 1
    web.mute.clear()
    # The history catches the second copy unless the receiver has lost it.
    web.pass_time(20.0)
    assert len(beta.bodies()) == 1
    web.mute.add("beta")
    alpha.send(url(beta), b"two")
    web.run()
    assert [message.body for message in beta.receive()] == [b"one", b"two"]
    beta.restart()
    web.mute.clear()
    web.pass_time(20.0)
    assert beta.bodies() == [b"two"]


@pytest.mark.spec("MQSRM-1.7-01", "MQSRM-3.1.7.1-01")
def test_a_connection_begins_with_a_message_and_a_new_one_needs_nothing_else() -> None:
    web, alpha, beta = pair()
    beta.create()
    for number in (1, 2):
        web.written["alpha"] = b""
        alpha.send(url(beta), b"%d" % number)
        web.run()
        assert web.written["alpha"].startswith(b"POST /msmq/private$/orders HTTP/1.1\r\n")
        assert web.written["alpha"].count(b"POST ") == 1
        web.cut(alpha)
        web.run()
    assert beta.bodies() == [b"1", b"2"]


@pytest.mark.spec("MQSRM-2.1.2-04")
def test_a_request_is_kept_byte_for_byte_and_the_envelope_alone_counts() -> None:
    web = Web()
    beta = web.node("beta")
    beta.create()
    # As a web server in front of the queue manager hands it over.
    request = post(envelope(url(beta), utc=web.utc), b"\x00\xff\r\n--", target="/msmq/any")
    assert web.post(beta, request.replace(b"Host: beta", b"Host: outside:8080")) == [200]
    (message,) = beta.messages()
    compound = message.compound_message_header
    assert compound is not None
    assert compound.data == request.replace(b"Host: beta", b"Host: outside:8080")
    assert message.body == b"\x00\xff\r\n--"


@pytest.mark.spec("MQSRM-1.3.12-05")
def test_hosts_and_queues_are_compared_without_regard_to_case() -> None:
    web = Web()
    machine2 = web.node("machine2")
    machine2.create(r".\private$\simpleq")
    to = "http://MACHINE2/msmq/private$/simpleQ"
    assert web.post(machine2, post(envelope(to, utc=web.utc), target="/msmq/private$/simpleq"))
    assert machine2.bodies(r".\private$\simpleq") == [b"body"]
