"""Where a message from another machine goes, and why it goes nowhere."""

from typing import Any
from uuid import UUID

import pytest
from tests.core.harness import OTHER_GUID, QM_GUID, Harness, packet
from tests.core.peer_counts import peer_counts
from tests.core.peers import Peer

from openmsmq.core.events import MessageDropped
from openmsmq.core.transfer.forwarding.routed import NotRouted
from openmsmq.core.transfer.incoming.addressing import Forward, Local, Nowhere, Reason, locate
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.packets.order_ack import ORDER_QUEUE_NUMBER
from openmsmq.wire.scalars import TxSequenceID


def place(harness: Harness, **properties: Any) -> Local | Forward | Nowhere:
    return locate(harness.qm.state, UserMessage(packet(**properties)))


def direct(name: str) -> dict[str, Any]:
    return {"destination_queue": direct_address(name)}


def private(owner: UUID, number: int) -> dict[str, Any]:
    return {"destination_queue": private_address(owner, number), "queue_manager_address": owner}


def test_a_queue_of_this_queue_manager_is_found_by_each_of_its_names(harness: Harness) -> None:
    queue = harness.qm.find_queue(r".\private$\orders")
    names = [
        direct(r"OS:qm\private$\orders"),
        direct(r"TCP:192.0.2.1\PRIVATE$\Orders"),
        private(QM_GUID, queue.properties.private_queue_number),
    ]
    for name in names:
        found = place(harness, **name)
        assert isinstance(found, Local)
        assert found.queue is queue
        assert not found.acknowledges


def test_the_order_queue_takes_acknowledgments(harness: Harness) -> None:
    for name in (
        direct(r"OS:qm\private$\order_queue$"),
        private(QM_GUID, ORDER_QUEUE_NUMBER),
    ):
        found = place(harness, **name)
        assert isinstance(found, Local)
        assert found.acknowledges


def test_another_queue_manager_is_named(harness: Harness) -> None:
    found = place(harness, **private(OTHER_GUID, 1))
    assert isinstance(found, Forward)
    assert found.queue_manager == OTHER_GUID


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (direct(r"OS:qm\private$\none"), Reason.NO_QUEUE),
        (private(QM_GUID, 0x1234), Reason.NO_QUEUE),
        ({"destination_queue": public_address(OTHER_GUID)}, Reason.NO_QUEUE),
        (direct(r"OS:qm\private$\orders;journal"), Reason.READ_ONLY),
        (direct(r"OS:qm\private$\orders;later"), Reason.READ_ONLY),
        (direct(r"OS:qm\private$\notify_queue$"), Reason.READ_ONLY),
        (direct("nonsense"), Reason.NO_NAME),
    ],
)
def test_nowhere_has_a_reason(harness: Harness, name: dict[str, Any], reason: Reason) -> None:
    found = place(harness, **name)
    assert isinstance(found, Nowhere)
    assert found.reason is reason


ORDERED = TransactionHeader(0, TxSequenceID.from_value(1 << 32), 1, 0)


@pytest.mark.parametrize("header", [None, ORDERED])
def test_a_message_that_is_not_routed_or_has_no_queue_is_refused_and_the_log_says_why(
    harness: Harness, header: TransactionHeader | None
) -> None:
    peer = Peer(harness)
    properties: dict[str, Any] = {"transaction_header": header, "source_queue_manager": OTHER_GUID}
    peer.send(packet(message_id=1, **private(OTHER_GUID, 1), **properties))
    peer.send(packet(message_id=2, **direct(r"OS:qm\private$\none"), **properties))
    assert peer_counts(harness.qm) == {"NACK_BAD_DST_Q": 2}
    assert [event.reason for event in harness.take_events(MessageDropped)] == [
        f"NACK_BAD_DST_Q: {NotRouted.NO_DIRECTORY}",
        f"NACK_BAD_DST_Q: {Reason.NO_QUEUE}",
    ]


def test_a_copy_of_a_message_that_is_not_routed_is_a_duplicate(harness: Harness) -> None:
    peer = Peer(harness)
    message = packet(message_id=1, **private(OTHER_GUID, 1), source_queue_manager=OTHER_GUID)
    peer.send(message, message)
    peer.send(message)
    assert peer_counts(harness.qm) == {"NACK_BAD_DST_Q": 1, "duplicate message": 2}
