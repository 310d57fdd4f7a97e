"""The first way of messages over HTTP: express, recoverable, transactional, receipts."""

from tests.protocol.srmp.web import pair, url


def test_an_express_message_travels_over_http() -> None:
    web, alpha, beta = pair()
    beta.create()
    alpha.send(url(beta), b"one", b"two", label="first")
    web.run()
    assert beta.bodies() == [b"one", b"two"]
    assert alpha.outgoing(url(beta)).count == 0
    message = beta.messages()[0]
    assert message.label == "first"
    assert message.source_queue_manager == alpha.guid


def test_a_recoverable_message_is_on_disk_before_its_answer() -> None:
    web, alpha, beta = pair()
    beta.create()
    alpha.send(url(beta), b"one", delivery_mode=1)
    web.run()
    assert beta.bodies() == [b"one"]
    beta.restart()
    assert beta.bodies() == [b"one"]


def test_transactional_messages_travel_in_order_and_end_acknowledged() -> None:
    web, alpha, beta = pair()
    beta.create(transactional=True)
    alpha.send(url(beta), b"1", b"2", b"3", tx=True)
    web.run()
    assert beta.bodies() == [b"1", b"2", b"3"]
    assert alpha.outgoing(url(beta)).count == 3
    web.pass_time(1.0)
    assert alpha.outgoing(url(beta)).count == 0
    assert b"<lastOrdinal>3</lastOrdinal>" in web.written["beta"]
