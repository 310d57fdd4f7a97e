"""What the application of the sender hears: administration acknowledgments, journal, reports."""

import re
from typing import Any
from uuid import UUID

import pytest
from tests.protocol.binary.pair import ORDERS, TO_B, USER, Network, Node, pair
from tests.protocol.binary.raw_peer import SOURCE, RawPeer

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.settings import Settings
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.scalars import MessageIdentifier

ADMIN = r"private$\admin"
TO_ADMIN = rf"TCP:10.0.0.1\{ADMIN}"
PA, PR, NA, NR = 1, 2, 4, 8


def asking(**options: Any) -> tuple[Network, Node, Node]:
    network, a, b = pair(**options)
    a.create(ADMIN)
    return network, a, b


def ask(a: Node, *contents: bytes, acknowledgments: int, **properties: Any) -> None:
    properties.setdefault("admin_queue", direct_address(TO_ADMIN))
    a.send(TO_B, *contents, acknowledgments=acknowledgments, **properties)


def classes(a: Node) -> list[int]:
    return [message.message_class for message in a.take(ADMIN)]


# Administration acknowledgments


@pytest.mark.spec("MQQB-3.1.5.8.10-01", "MQQB-3.1.5.11-01")
def test_arrival_is_acknowledged() -> None:
    network, a, _ = asking()
    ask(a, b"1", acknowledgments=PA)
    network.run()
    assert classes(a) == [MessageClass.ACK_REACH_QUEUE]


@pytest.mark.spec("MQQB-1.3.5.2-01")
def test_an_acknowledgment_uses_the_session_that_is_open() -> None:
    network, a, b = asking()
    ask(a, b"1", acknowledgments=PA)
    network.run()
    assert len(classes(a)) == 1
    assert len(network.wires) == 2
    # Without a session one is made.
    ask(a, b"2", acknowledgments=PR)
    network.advance(1000)
    assert not network.wires
    b.receive()
    network.run()
    assert classes(a) == [MessageClass.ACK_RECEIVE]


@pytest.mark.spec("MQQB-3.1.7.15-03")
@pytest.mark.parametrize("kind", [2, 3, 5, 6, 7])
def test_every_kind_of_administration_queue_is_found(kind: int) -> None:
    network, _, b = pair()
    b.create(ADMIN)
    local = b.qm.find_queue(rf".\{ADMIN}").properties
    third = UUID(int=0x333)
    address, expected = {
        2: (private_address(SOURCE, 9), rf"PRIVATE={SOURCE}\9"),
        3: (private_address(b.guid, local.private_queue_number), ADMIN),
        5: (public_address(local.identifier), ADMIN),
        6: (private_address(third, 9), rf"PRIVATE={third}\9"),
        7: (direct_address(r"TCP:10.0.0.9\private$\q"), r"DIRECT=TCP:10.0.0.9\private$\q"),
    }[kind]
    peer = RawPeer(network, b)
    peer.connect()
    orders = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    packet = build_user_message(
        destination_queue=private_address(b.guid, orders),
        queue_manager_address=b.guid,
        source_queue_manager=SOURCE,
        message_id=1,
        sent_time=int(network.utc),
        admin_queue=address,
        acknowledgments=PA,
    )
    assert packet[61] >> 5 == kind
    peer.send(packet)
    told = [
        queue.path.lower()
        for queue in b.qm.queues
        for message in b.messages(queue)
        if message.message_class == MessageClass.ACK_REACH_QUEUE
    ]
    told += [
        f"private={SOURCE}\\9"
        for message in peer.received
        if message.message_class == MessageClass.ACK_REACH_QUEUE
    ]
    assert told == [expected.lower()]


@pytest.mark.spec("MQQB-1.3.5.2-02")
def test_an_acknowledgment_to_a_private_queue_of_the_source_finds_its_way() -> None:
    network, a, b = asking()
    number = a.qm.find_queue(rf".\{ADMIN}").properties.private_queue_number
    ask(a, b"1", acknowledgments=PA | PR, admin_queue=private_address(a.guid, number))
    network.run()
    assert classes(a) == [MessageClass.ACK_REACH_QUEUE]
    network.advance(1000)
    assert not network.wires
    b.crash()
    b.receive()
    network.run()
    assert classes(a) == [MessageClass.ACK_RECEIVE]


@pytest.mark.spec("MQQB-3.1.7.2.1-02", "MQQB-3.1.7.2-01")
def test_a_receive_is_acknowledged() -> None:
    network, a, b = asking()
    ask(a, b"1", acknowledgments=PR)
    ask(a, b"2", acknowledgments=PA)
    network.run()
    assert classes(a) == [MessageClass.ACK_REACH_QUEUE]
    b.receive()
    network.run()
    assert classes(a) == [MessageClass.ACK_RECEIVE]


@pytest.mark.spec("MQQB-3.1.7.2.1-03")
@pytest.mark.parametrize(
    ("end", "expected"),
    [("delete", 0xC000), ("purge", 0xC001), ("expire", 0xC002)],
)
def test_a_message_that_is_never_received_is_reported(end: str, expected: int) -> None:
    network, a, b = asking()
    ask(a, b"1", acknowledgments=NR, time_to_be_received=100 if end == "expire" else 0xFFFFFFFF)
    network.run()
    queue = b.qm.find_queue(rf".\{ORDERS}")
    if end == "delete":
        b.qm.delete_queue(queue, caller=USER)
    elif end == "purge":
        b.qm.traffic.purge(b.qm.open_queue(rf".\{ORDERS}", QueueAccessType.RECEIVE, caller=USER))
    network.advance(101)
    assert classes(a) == [expected]


@pytest.mark.spec("MQQB-3.1.7.2.1-01")
@pytest.mark.parametrize("mode", [0, 1])
def test_an_acknowledgment_is_as_recoverable_as_the_message(mode: int) -> None:
    network, a, _ = asking()
    ask(a, b"1", acknowledgments=PA, delivery_mode=mode)
    network.run()
    assert [message.delivery_mode for message in a.take(ADMIN)] == [mode]


@pytest.mark.spec("MQQB-3.1.7.15-01")
def test_without_an_administration_queue_nothing_is_acknowledged() -> None:
    network, a, b = asking()
    a.send(TO_B, b"1", acknowledgments=PA | PR | NA | NR)
    network.run()
    b.receive()
    network.run()
    assert b.qm.outgoing.queues == []
    assert classes(a) == []


@pytest.mark.spec("MQQB-3.1.7.15-04", "MQQB-3.1.7.15-05", "MQQB-3.1.7.15-06")
def test_what_an_acknowledgment_says() -> None:
    network, a, _ = asking()
    sent = a.send(TO_B, b"1", acknowledgments=PA, admin_queue=direct_address(TO_ADMIN))
    network.run()
    (ack,) = a.take(ADMIN)
    identifier = MessageIdentifier(a.guid, sent.first_ordinal)
    assert ack.correlation_id == identifier.serialize()
    assert ack.response_queue == direct_address(TO_B.removeprefix("DIRECT="))
    assert (ack.time_to_reach_queue, ack.time_to_be_received) == (0xFFFFFFFF, 0xFFFFFFFF)
    assert not ack.positive_journaling
    assert not ack.negative_journaling
    assert ack.acknowledgments == ack.privacy_level == ack.authentication_level == 0


@pytest.mark.spec("MQQB-3.1.7.15-07")
def test_only_negative_acknowledgments_carry_the_body() -> None:
    network, a, b = asking()
    ask(a, b"1", acknowledgments=PA | NR)
    network.run()
    b.qm.delete_queue(b.qm.find_queue(rf".\{ORDERS}"), caller=USER)
    network.run()
    assert [(each.message_class, each.body) for each in a.take(ADMIN)] == [
        (MessageClass.ACK_REACH_QUEUE, b""),
        (MessageClass.NACK_Q_DELETED, b"1"),
    ]


@pytest.mark.spec("MQQB-3.1.7.15-08")
def test_an_acknowledgment_to_a_queue_that_does_not_exist_is_dropped() -> None:
    network, a, b = asking()
    ask(a, b"1", acknowledgments=PA, admin_queue=direct_address(r"TCP:10.0.0.2\private$\none"))
    network.run()
    assert b.bodies() == [b"1"]
    assert b.qm.outgoing.queues == []


@pytest.mark.spec("MQQB-3.1.1.3-12", "MQQB-3.1.7.15-02", "MQQB-5.1-02")
@pytest.mark.parametrize("insecure", [False, True])
def test_insecure_nacks_are_sent_only_when_that_is_allowed(*, insecure: bool) -> None:
    network, a, b = asking()
    b.core_settings.send_insecure_nacks = insecure
    ask(
        a,
        b"1",
        acknowledgments=NA,
        destination_queue=direct_address(r"TCP:10.0.0.2\private$\none"),
    )
    network.run()
    assert classes(a) == [MessageClass.NACK_BAD_DST_Q] * insecure


@pytest.mark.spec("MQQB-3.1.1.3-12", "MQQB-6-14")
def test_insecure_nacks_are_off_by_default() -> None:
    assert Settings().send_insecure_nacks is False


@pytest.mark.spec("MQQB-3.1.5.8.2-07")
@pytest.mark.parametrize("acknowledgments", [NA, PA | PR | NR])
def test_a_missing_queue_is_reported_to_those_who_ask(acknowledgments: int) -> None:
    network, a, b = asking()
    b.core_settings.send_insecure_nacks = True
    none = direct_address(r"TCP:10.0.0.2\private$\none")
    ask(a, b"1", acknowledgments=acknowledgments, destination_queue=none)
    network.run()
    assert classes(a) == [MessageClass.NACK_BAD_DST_Q] * (acknowledgments == NA)


@pytest.mark.spec("MQQB-6-29")
def test_acknowledgments_are_not_acknowledged() -> None:
    network, a, _ = asking()
    ask(a, b"1", acknowledgments=PA, message_class=int(MessageClass.ACK_RECEIVE))
    network.run()
    assert classes(a) == []


@pytest.mark.spec("MQQB-3.1.7.1.2-02", "MQQB-3.1.7.1.2-01")
def test_a_message_that_expires_at_the_sender_is_reported_there() -> None:
    network, a, b = asking()
    b.listening = False
    ask(a, b"1", acknowledgments=NA, time_to_reach_queue=10)
    network.advance(11)
    assert classes(a) == [MessageClass.NACK_REACH_QUEUE_TIMEOUT]
    b.listening = True
    network.advance(10)
    assert b.bodies() == []


# Source journal and dead letters


@pytest.mark.spec("MQQB-3.1.5.5.4-01", "MQQB-3.1.5.5-02")
@pytest.mark.parametrize("mode", [0, 1])
def test_a_delivered_message_is_copied_to_the_journal(mode: int) -> None:
    network, a, _ = pair()
    a.send(TO_B, b"1", positive_journaling=True, delivery_mode=mode)
    a.send(TO_B, b"2", delivery_mode=mode)
    network.run()
    assert a.journal == []
    network.advance(11)
    assert a.journal == [b"1"]


@pytest.mark.spec("MQQB-6-02")
def test_acknowledgments_leave_no_journal_copies() -> None:
    network, a, b = asking(queue={"transactional": True})
    ask(a, b"1", acknowledgments=PA, tx=True, positive_journaling=True)
    network.advance(2)
    b.receive()
    network.advance(20)
    assert a.journal == [b"1"]
    assert b.journal == []


@pytest.mark.spec("MQQB-3.1.7.1.2-03")
def test_an_expired_plain_message_is_a_dead_letter() -> None:
    network, a, b = pair()
    b.listening = False
    a.send(TO_B, b"1", negative_journaling=True, time_to_reach_queue=10)
    a.send(TO_B, b"2", time_to_reach_queue=10)
    network.advance(11)
    assert a.deadletters == [b"1"]
    assert a.outgoing(TO_B).count == 0


@pytest.mark.spec("MQQB-3.1.7.1.2-04")
@pytest.mark.parametrize("own", ["", r".\private$\lost"])
def test_an_expired_transactional_message_is_a_transactional_dead_letter(own: str) -> None:
    network, a, b = pair(queue={"transactional": True})
    a.create(r"private$\lost", transactional=True)
    b.listening = False
    a.send(
        TO_B, b"1", tx=True, negative_journaling=True, time_to_reach_queue=10, deadletter_queue=own
    )
    network.advance(11)
    assert a.bodies(r"private$\lost") == [b"1"] * bool(own)
    assert a.xact_deadletters == [b"1"] * (not own)


def test_a_message_on_its_way_expires_when_the_session_ends() -> None:
    network, a, _ = pair()
    network.tap = lambda sender, _receiver, data: data if sender is not a else b""
    a.send(TO_B, b"1", negative_journaling=True, time_to_reach_queue=30)
    network.advance(29)
    assert a.deadletters == []
    network.advance(120)
    assert a.deadletters == [b"1"]


def test_a_destination_that_reports_a_failure_is_not_echoed_by_the_source() -> None:
    network, a, b = asking(queue={"transactional": True, "quota": 0})
    ask(a, b"1", acknowledgments=NA, tx=True, negative_journaling=True)
    network.advance(3)
    assert classes(a) == [MessageClass.NACK_Q_EXCEED_QUOTA]
    assert a.xact_deadletters == [b"1"]
    assert b.deadletters == []


# Reports


def tracing() -> tuple[Network, Node, Node, UUID]:
    """A and B with a public queue for reports, which both know by the same GUID."""
    network, a, b = pair()
    trace = UUID(int=0x7ACE)
    for node in (a, b):
        node.create(r"private$\trace")
        queue = node.qm.find_queue(r".\private$\trace")
        node.qm.state.identifiers[trace] = queue
    return network, a, b, trace


def reports(node: Node) -> list[UserMessage]:
    return node.take(r"private$\trace")


@pytest.mark.spec("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8.9-02", "MQQB-3.1.7.1.7-01")
def test_a_traced_message_is_reported_when_it_leaves_and_when_it_arrives() -> None:
    network, a, b, trace = tracing()
    a.send(TO_B, b"1", tracing_requested=True, tracing_queue=trace)
    a.send(TO_B, b"2")
    network.run()
    for node in (a, b):
        (report,) = reports(node)
        assert report.message_class == MessageClass.REPORT
        assert report.delivery_mode == 0


@pytest.mark.spec("MQQB-3.1.5.8.9-03", "MQQB-3.1.7.1.7-02")
def test_the_label_of_a_report() -> None:
    network, a, b, trace = tracing()
    sent = a.send(TO_B, b"1", tracing_requested=True, tracing_queue=trace)
    network.run()
    guid = str(a.guid).upper()
    expected = (
        rf"{guid[:4]}:{sent.first_ordinal:08X}:00 received by {guid} at 10:13:20 PM Tue,Nov 14 23"
    )
    for node in (a, b):
        (report,) = reports(node)
        assert report.label == expected
        raw = report.packet[report.properties_offset + 56 : report.extension_offset]
        assert raw.endswith(b"\0\0")


@pytest.mark.spec("MQQB-3.1.5.8.9-04", "MQQB-3.1.7.1.7-03")
def test_the_body_of_a_report() -> None:
    network, a, b, trace = tracing()
    sent = a.send(TO_B, b"1", tracing_requested=True, tracing_queue=trace)
    network.run()
    arrival = (
        f"<MESSAGE ID>{sent.first_ordinal:08X}</MESSAGE ID>\r\n"
        f"<TARGET QUEUE>{TO_B}</TARGET QUEUE>\r\n"
    )
    departure = f"{arrival}<NEXT HOP>10.0.0.2</NEXT HOP>\r\n<HOP COUNT>00 </HOP COUNT>\r\n"
    (left,), (arrived,) = reports(a), reports(b)
    assert left.body.decode("utf-16-le") == departure
    assert arrived.body.decode("utf-16-le") == arrival


@pytest.mark.spec("MQQB-3.1.5.8.9-05")
def test_a_report_that_cannot_be_sent_changes_nothing() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1", tracing_requested=True, tracing_queue=UUID(int=0x7ACE))
    a.send(TO_B, b"2", tracing_requested=True)
    network.run()
    assert b.bodies() == [b"1", b"2"]
    assert [str(queue.path) for queue in a.qm.outgoing.queues] == [TO_B]


def test_times_before_noon_are_am() -> None:
    network, a, b, trace = tracing()
    network.advance(2 * 3600)
    a.send(TO_B, b"1", tracing_requested=True, tracing_queue=trace)
    network.run()
    assert "12:13:20 AM Wed,Nov 15 23" in reports(b)[0].label


def test_a_duplicate_causes_no_second_acknowledgment_or_report() -> None:
    network, a, b, trace = tracing()
    a.create(ADMIN)
    ask(a, b"1", acknowledgments=PA, tracing_requested=True, tracing_queue=trace)
    network.run()
    network.cut()
    network.advance(20)
    assert re.fullmatch("1", b.bodies()[0].decode())
    assert classes(a) == [MessageClass.ACK_REACH_QUEUE]
    assert len(reports(b)) == 1
    assert b.counts["duplicate message"] == 1
