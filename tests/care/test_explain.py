"""What a queue is doing, in sentences."""

import pytest

import openmsmq
from openmsmq.care.explain import explain_queue
from openmsmq.terminal.quantities import duration_text, size_text

ORDERS = r".\private$\orders"


def test_messages_that_readers_do_not_see_are_explained(qm: openmsmq.QueueManager) -> None:
    orders = qm.create_queue(
        ORDERS,
        transactional=True,
        receive_retry_count=0,
        max_retry_cycles=0,
        receive_error_handling="hold",
    )
    for body in ("bad", "good"):
        orders.send(body, transaction="single")
    orders.send("later", transaction="single", delay=60)
    with qm.transaction() as transaction:
        assert orders.receive(timeout=5, transaction=transaction).body == "bad"
        transaction.abort()
    with qm.transaction() as transaction:
        assert orders.receive(timeout=5, transaction=transaction).body == "good"
        sentences = explain_queue(qm, ORDERS, size_text, duration_text)
        transaction.abort()
    held = "Held for an operator after all retries: 1 message, which readers do not see; "
    assert f"{held}`openmsmq queue release` lets them." in sentences
    assert "Delayed: 1 message, which readers see when they are due." in sentences
    (locked,) = [each for each in sentences if each.startswith("Locked by ")]
    assert locked.endswith(": 1 message, which other readers do not see.")
    assert any(each.endswith(" may do everything.") for each in sentences)


def test_refused_messages_are_explained(qm: openmsmq.QueueManager) -> None:
    orders = qm.create_queue(ORDERS, transactional=True)
    for _ in range(2):
        with pytest.raises(openmsmq.QueueError):
            orders.send_and_wait(openmsmq.Message("x"))
    sentences = explain_queue(qm, ORDERS, size_text, duration_text)
    assert (
        "It has refused 2 messages since the start: the transaction does not fit the queue or the "
        "operation (MQ_ERROR_TRANSACTION_USAGE)."
    ) in sentences


def test_amounts_are_as_everywhere_and_only_received_messages_are_locked(
    qm: openmsmq.QueueManager,
) -> None:
    orders = qm.create_queue(ORDERS, transactional=True, quota=64)
    for _ in range(2):
        orders.send("x" * 4000, transaction="single")
    with qm.transaction() as transaction:
        orders.send("not committed", transaction=transaction)
        orders.receive(timeout=5, transaction=transaction)
        sentences = explain_queue(qm, ORDERS, size_text, duration_text)
        transaction.abort()
    text = "\n".join(sentences)
    assert "Its quota of 64.0 KiB has room for" in text
    assert " KiB more." in text
    assert "bytes" not in text
    assert "seconds" not in text
    assert "Locked: 1 message, which other readers do not see." in sentences
    assert "Sent and not committed yet: 1 message, which readers do not see." in sentences
