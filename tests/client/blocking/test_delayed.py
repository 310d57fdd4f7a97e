"""Delayed messages of the blocking client, and reads that are given back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import openmsmq
from openmsmq import Message, QueueManager

ORDERS = r".\private$\orders"
FAR = r"DIRECT=TCP:127.0.0.99\private$\orders"
WAIT = 60.0


def test_a_message_appears_after_its_delay(msmq: QueueManager) -> None:
    orders = msmq.create_queue(ORDERS)
    orders.send("later", delay=timedelta(seconds=0.2))
    assert orders.receive(timeout=WAIT).body == "later"


@pytest.mark.parametrize("transaction", [None, "single"])
def test_messages_are_listed_delivered_and_cancelled(
    msmq: QueueManager, transaction: str | None
) -> None:
    orders = msmq.create_queue(ORDERS, transactional=transaction is not None)
    due = datetime.now(UTC) + timedelta(days=2)
    for text in ("1", "2", "3"):
        message = Message(text, label=text, delivery="recoverable")
        orders.send(message, transaction, deliver_at=due)
    listed = msmq.delayed(ORDERS)
    assert [info["label"] for info in listed] == ["1", "2", "3"]
    assert datetime.fromisoformat(listed[0]["deliver_at"]) == due
    assert (orders.count(), orders.info()["delayed_messages"]) == (0, 3)
    assert msmq.deliver_delayed(ORDERS, [listed[1]["lookup_id"]]) == 1
    assert orders.receive(timeout=WAIT).body == "2"
    assert msmq.cancel_delayed(ORDERS, [listed[0]["lookup_id"]]) == 1
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_MESSAGE_NOT_FOUND"):
        msmq.cancel_delayed(ORDERS, [listed[0]["lookup_id"]])
    assert [info["label"] for info in msmq.delayed()] == ["3"]
    assert msmq.deliver_delayed(ORDERS) == 1


def test_a_transaction_that_aborts_leaves_nothing(msmq: QueueManager) -> None:
    orders = msmq.create_queue(ORDERS, transactional=True)
    with msmq.transaction() as transaction:
        identifier = orders.send_and_wait("1", transaction, delay=3600)
    assert [info["id"] for info in msmq.delayed(ORDERS)] == [identifier]
    transaction = msmq.transaction()
    orders.send("2", transaction, delay=3600)
    transaction.abort()
    assert len(msmq.delayed(ORDERS)) == 1


def test_a_message_for_another_machine_waits_here(msmq: QueueManager) -> None:
    msmq.send(FAR, "far", delay=3600)
    (info,) = msmq.delayed(FAR)
    assert info["queue"] == FAR
    (outgoing,) = msmq.outgoing()
    assert outgoing["messages"] == 0
    assert msmq.cancel_delayed(FAR) == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"delay": 1, "deliver_at": 1.0}, ValueError),
        ({"delay": -1}, ValueError),
        ({"delay": "1"}, TypeError),
        ({"deliver_at": "tomorrow"}, TypeError),
        ({"deliver_at": datetime(2026, 1, 1)}, ValueError),  # noqa: DTZ001 - on purpose
        ({"delay": timedelta(days=400)}, openmsmq.QueueError),
    ],
)
def test_a_time_that_is_none_is_refused(
    msmq: QueueManager, arguments: dict[str, Any], error: type[Exception]
) -> None:
    orders = msmq.create_queue(ORDERS)
    with pytest.raises(error):
        orders.send("1", **arguments)


def test_only_what_a_loop_has_seen_counts_as_given_back(msmq: QueueManager) -> None:
    orders = msmq.create_queue(ORDERS)
    orders.send_many(["1", "2", "3"])

    def fail_at(body: str) -> None:
        with orders.messages(timeout=0) as messages:
            for message in messages:
                if message.body == body:
                    raise KeyError

    with pytest.raises(KeyError):
        fail_at("2")
    counts = [(message.body, message.abort_count) for message in orders.cursor()]
    assert counts == [("2", 1), ("3", 0)]
    first = orders.peek(timeout=0)
    with pytest.raises(KeyError), orders.hold_by_lookup_id(first.lookup_id):
        raise KeyError
    assert orders.peek(timeout=0).abort_count == 2
