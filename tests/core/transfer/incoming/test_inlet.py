"""The way in of one connection: answers at once, later, or never again after something was lost."""

import pytest
from tests.core.fake_verifier import SIGNED, FakeVerifier
from tests.core.harness import OTHER_GUID, Harness, packet
from tests.core.peers import Peer

from openmsmq.core.events import ReceptionEnded
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import TxSequenceID


def message(number: int, body: bytes = b"", *, signed: bool = False) -> bytes:
    return packet(
        body or b"%d" % number,
        message_id=number,
        source_queue_manager=OTHER_GUID,
        security_header=SIGNED if signed else None,
    )


def checking(harness: Harness, *, cheap: bool = False) -> Peer:
    """A connection to a queue manager that checks messages."""
    harness.qm.incoming.checks.verifier = FakeVerifier(cheap=cheap)
    return Peer(harness)


def finish(harness: Harness, peer: Peer, error: Exception | None = None) -> None:
    """Run the next job and tell the connection what became of its messages."""
    job = harness.qm.incoming.checks.take()
    assert job is not None
    job.run()
    harness.engine.job_done(job, error)
    for event in harness.take_events(ReceptionEnded):
        event.owner.received(event.read, event.received, now=harness.now)


def test_without_a_verifier_the_answer_comes_at_once(harness: Harness) -> None:
    received = Peer(harness).send(message(1, signed=True))
    assert received is not None
    assert received.complete
    assert harness.contents() == [b"1"]
    assert harness.qm.incoming.checks.take() is None


def test_each_read_that_waits_is_answered_once_and_in_order(harness: Harness) -> None:
    peer = checking(harness)
    assert peer.send(message(1, signed=True), read="first") is None
    assert peer.send(message(2), read="second") is None
    assert harness.contents() == []
    finish(harness, peer)
    assert [(read, received.complete) for read, received in peer.later] == [
        ("first", True),
        ("second", True),
    ]
    assert harness.contents() == [b"1", b"2"]
    assert peer.send(message(3)) is not None


@pytest.mark.parametrize("cheap", [False, True])
def test_after_a_fault_nothing_gets_in_past_what_was_left_out(
    harness: Harness, *, cheap: bool
) -> None:
    peer = checking(harness, cheap=cheap)
    received = peer.send(message(1, b"fault" if cheap else b"", signed=True))
    if not cheap:
        assert received is None
        peer.send(message(2), read="behind")
        finish(harness, peer, ArithmeticError("fault"))
        (_, received), (_, behind) = peer.later
        assert not behind.complete
        assert behind.fault == ""
    assert received is not None
    assert not received.complete
    assert received.fault == "ArithmeticError: fault"
    again = peer.send(message(3))
    assert again is not None
    assert not again.complete
    assert harness.contents() == []
    # Another connection is not concerned.
    assert Peer(harness).send(message(3)) is not None
    assert harness.contents() == [b"3"]


def test_a_read_larger_than_everything_that_may_wait_does_so_alone(harness: Harness) -> None:
    harness.qm.incoming.checks._max_bytes = 10
    peer = checking(harness)
    assert peer.send(message(1, signed=True)) is None
    refused = peer.send(message(2, signed=True))
    assert refused is not None
    assert not refused.complete
    finish(harness, peer)
    # What waited already goes in; what follows the refused read does not.
    assert harness.contents() == [b"1"]
    later = peer.send(message(3))
    assert later is not None
    assert not later.complete
    assert harness.contents() == [b"1"]


def test_a_transactional_message_to_the_order_queue_is_refused(harness: Harness) -> None:
    header = TransactionHeader(0, TxSequenceID.from_value(1 << 32), 1, 0)
    order_queue = direct_address(r"OS:qm\private$\order_queue$")
    received = Peer(harness).send(
        packet(
            destination_queue=order_queue,
            source_queue_manager=OTHER_GUID,
            transaction_header=header,
        )
    )
    assert received is not None
    assert received.complete
    assert [progress.number for progress in received.progress] == [1]


def test_nothing_is_told_of_a_stream_whose_messages_found_no_room(harness: Harness) -> None:
    harness.create(r".\private$\ordered", transactional=True)
    harness.qm.state.manager.queue_manager_quota = 1
    header = TransactionHeader(0, TxSequenceID.from_value(1 << 32), 1, 0)
    received = Peer(harness).send(
        packet(
            bytes(2000),
            destination_queue=direct_address(r"OS:qm\private$\ordered"),
            source_queue_manager=OTHER_GUID,
            transaction_header=header,
        )
    )
    assert received is not None
    assert not received.complete
    assert received.progress == []
