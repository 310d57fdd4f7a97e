"""What only the receiving queue manager may say is not believed, whatever way a message comes."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.core.fake_verifier import FakeVerifier
from tests.core.forgery import SRMP, UNSIGNED, forge
from tests.core.harness import SEND, USER, Harness
from tests.engine.fake_carrier import pair as carriers
from tests.protocol.binary.test_receiving import raw

import openmsmq
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_run import split_runs
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.base_header import BaseHeaderFlags

ORDERS = r".\private$\orders"


def claim(packet: bytes) -> bytes:
    """The packet with AU, AS and the bit of a SessionHeader set."""
    packet = forge(packet)
    return packet[:2] + bytes((packet[2] | BaseHeaderFlags.SH,)) + packet[3:]


def claims(name: str) -> list[bytes]:
    """Packets that say that they were checked, came over HTTP and passed routers."""
    common: dict[str, Any] = {
        "destination_queue": direct_address(name),
        "security_header": UNSIGNED,
        "routing_count": 3,
        "sent_time": 1_700_000_000,
    }
    return [
        claim(build_user_message(body=b"express", message_id=1, **common)),
        claim(build_user_message(body=b"stored", message_id=2, delivery_mode=1, **common)),
        claim(build_user_message(body=b"", message_id=3, srmp_headers=SRMP, **common)),
    ]


def from_a_peer(*, authentication: bool) -> QueueManager:
    _, b, peer = raw({"authentication": authentication})
    # With the bit of a SessionHeader the frame would need one: it is the session's, not ours.
    for packet in claims(r"TCP:10.0.0.2\private$\orders"):
        peer.send(packet[:2] + bytes((packet[2] & ~BaseHeaderFlags.SH,)) + packet[3:])
    return b.qm


def local(*, authentication: bool) -> tuple[Harness, list[bytes]]:
    harness = Harness()
    harness.create(authentication=authentication)
    return harness, claims(r"OS:qm\private$\orders")


def from_a_client(*, authentication: bool) -> QueueManager:
    harness, packets = local(authentication=authentication)
    for packet in packets:
        try:
            harness.qm.traffic.enqueue_many(harness.open(SEND), [packet])
        except QueueError:
            assert authentication
    return harness.qm


def from_a_sink(*, authentication: bool) -> QueueManager:
    harness, packets = local(authentication=authentication)
    staged = []
    for part, packet in enumerate(packets):
        try:
            harness.qm.stages.stage("query", 0, part, 0, ORDERS, [packet], caller=USER)
            staged.append((part, 0))
        except QueueError:
            assert authentication
    harness.qm.stages.commit_batch("query", 0, staged, caller=USER)
    return harness.qm


def from_another_transport(*, authentication: bool) -> QueueManager:
    _, b = carriers()
    b.qm.create_queue(ORDERS, caller=USER, authentication=authentication)
    b.arrive(claims("http://b/msmq/private$/orders"))
    return b.qm


ENTRANCES = [from_a_peer, from_a_client, from_a_sink, from_another_transport]


def contents(qm: QueueManager) -> list[UserMessage]:
    packets = packets_of(qm.state, list(qm.find_queue(ORDERS).lanes))
    return [UserMessage(packet) for packet in packets]


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_forged_bits_do_not_pass_a_queue_that_wants_signatures(
    entrance: Callable[..., QueueManager],
) -> None:
    assert contents(entrance(authentication=True)) == []


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_forged_bits_are_not_shown_to_a_reader(entrance: Callable[..., QueueManager]) -> None:
    found = contents(entrance(authentication=False))
    assert [message.body for message in found] == [b"express", b"stored", b"inner"]
    for message in found:
        assert message.security_flags == 0
        # A transport that speaks SRMP builds these headers itself.
        if entrance is not from_another_transport:
            assert message.srmp_envelope_header is None
            assert message.compound_message_header is None
        assert not message.base_flags & BaseHeaderFlags.SH
        # What a client sends has passed no router; what comes from elsewhere may have.
        sent_here = entrance in (from_a_client, from_a_sink)
        assert message.routing_count == (0 if sent_here else 3)


class Owner:
    """A transport that forgets nothing because it knows nothing."""

    def received(self, *_arguments: object, now: float) -> None:
        raise AssertionError(now)

    def take(self, *_arguments: object) -> bool:
        return False


@pytest.mark.parametrize("transport", [each for each in Transport if each is not Transport.LOCAL])
def test_an_inlet_clears_claims_for_every_transport(transport: Transport) -> None:
    harness = Harness()
    harness.create(multicast_address="234.1.1.1:8001")
    owner = Owner()
    inlet = harness.qm.incoming.open_inlet(owner, acknowledgments=owner)
    multicast = transport is Transport.MULTICAST
    packets = claims("MULTICAST=234.1.1.1:8001" if multicast else r"OS:qm\private$\orders")
    # Each message over HTTP or by multicast is a run of its own.
    runs = [run for packet in packets for run in split_runs([packet])]
    assert inlet.receive(runs, Origin(transport), None, [None] * len(runs)) is not None
    assert [message.security_flags for message in contents(harness.qm)] == [0, 0, 0]


def test_a_verifier_sees_what_a_packet_says_after_its_claims_were_cleared() -> None:
    _, b, peer = raw({"authentication": True}, verifier=FakeVerifier(cheap=True))
    packet = claims(r"TCP:10.0.0.2\private$\orders")[1]
    # `FakeCheck` asserts that the bits are clear; what it sets itself is believed.
    peer.send(packet[:2] + bytes((packet[2] & ~BaseHeaderFlags.SH,)) + packet[3:])
    assert [message.authentication_level for message in contents(b.qm)] == [3]


def test_there_is_no_other_way_past_the_claims() -> None:
    source = Path(openmsmq.__file__).parent
    users = {
        name: sorted(
            str(file.relative_to(source))
            for file in source.rglob("*.py")
            if re.search(rf"import .*\b{name}\b", file.read_text(encoding="utf-8"))
        )
        for name in (
            "deliver",
            "Reception",
            "AnsweredReception",
            "MulticastReception",
            "drop_claims",
        )
    }
    assert users["deliver"] == [
        "core/transfer/incoming/answered_reception.py",
        "core/transfer/incoming/multicast_reception.py",
        "core/transfer/incoming/reception.py",
    ]
    assert users["MulticastReception"] == ["core/transfer/incoming/inlet.py"]
    assert users["AnsweredReception"] == ["core/transfer/incoming/inlet.py"]
    assert users["Reception"] == ["core/transfer/incoming/inlet.py"]
    assert users["drop_claims"] == [
        "core/messages/sending.py",
        "core/transfer/incoming/inlet.py",
    ]
