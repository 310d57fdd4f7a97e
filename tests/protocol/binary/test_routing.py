"""Messages over several queue managers: what a hop does with them, and what it leaves alone."""

from typing import Any

import pytest
from tests.protocol.binary.ordered_traffic import traffic
from tests.protocol.binary.pair import ORDERS
from tests.protocol.binary.raw_peer import RawPeer
from tests.protocol.binary.routed_network import Routed, chain, guid_of, passed, site

from openmsmq.core.settings import Settings
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import QueueState
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import private_address, public_address
from openmsmq.wire.scalars import TxSequenceID

REPORTS = r"private$\reports"


def with_reports(routed: Routed, number: int) -> dict[str, Any]:
    """Have acknowledgments sent to a queue of this queue manager; the properties that ask so."""
    queue = routed[number].create(REPORTS)
    address = private_address(routed[number].guid, queue.properties.private_queue_number)
    return {"admin_queue": address, "acknowledgments": 0x0F}


@pytest.mark.spec("MQQB-3.1.5.8.2-11", "MQQB-3.1.5.8.5-02", "MQQB-3.1.7.5-01")
@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_a_message_passes_two_gates_and_only_its_count_changes(delivery_mode: int) -> None:
    routed = chain()
    routed.send(1, 4, b"1", b"2", delivery_mode=delivery_mode, label="label")
    routed.network.advance(2)
    assert routed[4].bodies() == [b"1", b"2"]
    at_gate, at_next, at_destination = (passed(routed, number) for number in (2, 3, 4))
    assert [message.routing_count for message in at_gate] == [0, 0]
    assert [message.routing_count for message in at_next] == [1, 1]
    assert [message.routing_count for message in at_destination] == [2, 2]
    for first, last in zip(at_gate, at_destination, strict=True):
        # SH of the BaseHeader belongs to the session, the low bits of byte 60 are RC.
        assert first.packet[3:60] == last.packet[3:60]
        assert first.packet[60] & ~0x1F == last.packet[60] & ~0x1F
        assert first.packet[61:] == last.packet[61:]
    # Express messages are acknowledged after a while.
    routed.network.advance(30)
    for number in (1, 2, 3):
        assert all(queue.count == 0 for queue in routed[number].qm.outgoing.queues)


@pytest.mark.spec("MQQB-3.1.1.6.2-01")
def test_transactional_messages_are_acknowledged_from_end_to_end() -> None:
    routed = chain(transactional=True)
    name = routed.send(1, 4, b"1", b"2", b"3", tx=True, positive_journaling=True)
    routed.network.advance(3)
    assert routed[4].bodies() == [b"1", b"2", b"3"]
    # Delivered in order, not received yet: the copies wait for their FinalAcks.
    assert routed[1].outgoing(name).count == 3
    assert routed[4].receive() == [b"1", b"2", b"3"]
    routed.network.advance(3)
    assert routed[1].outgoing(name).count == 0
    assert routed[1].journal == [b"1", b"2", b"3"]
    for number in (2, 3):
        assert routed[number].journal == []
        assert routed[number].outgoing(name).count == 0
        # A hop gives no numbers of its own.
        assert routed[number].outgoing(name).outgoing.sequence is None  # type: ignore[union-attr]
    acks = [
        message
        for message in traffic(routed.network, "N1")
        if message.message_class != MessageClass.NORMAL
    ]
    assert acks
    assert {message.source_queue_manager for message in acks} == {routed[4].guid}
    assert {str(message.queue_manager_address) for message in acks} == {str(routed[1].guid)}


def test_a_message_with_a_positive_journal_leaves_no_copy_at_a_hop() -> None:
    routed = chain()
    routed.send(1, 4, b"1", positive_journaling=True)
    routed.network.advance(2)
    assert routed[1].journal == [b"1"]
    assert routed[2].journal == routed[3].journal == []


@pytest.mark.spec("MQQB-3.1.5.8.2-12")
@pytest.mark.parametrize("tx", [False, True])
def test_two_routers_that_each_think_the_other_is_nearer_end_at_the_hop_limit(*, tx: bool) -> None:
    routed = Routed({1: "A", 2: "A*", 3: "A*", 4: "A"})
    routed[4].create(transactional=tx)
    # Each sends what is for the destination to the other one.
    routed.change(1, out_routing_server_identifier_list=(guid_of(2),))
    routed.change(4, in_routing_server_identifier_list=(guid_of(9),))
    asked = with_reports(routed, 1)
    for number, other in ((2, 3), (3, 2)):
        routed[number].qm.state.directory = misled(routed, other)
    routed.send(1, 4, b"1", tx=tx, negative_journaling=True, **asked)
    routed.network.advance(5)
    assert routed[4].bodies() == []
    (nack,) = [
        message
        for message in routed[1].messages(routed[1].qm.find_queue(rf".\{REPORTS}"))
        if message.message_class == MessageClass.NACK_HOP_COUNT_EXCEEDED
    ]
    assert nack.body == b"1"
    assert max(message.routing_count for message in passed(routed, 3)) == 0x1D
    hop = 3 if nack.source_queue_manager == routed[3].guid else 2
    # The source keeps a transactional message: only the destination says what became of it.
    assert routed[hop].deadletters == ([] if tx else [b"1"])
    assert routed[hop].xact_deadletters == routed[1].xact_deadletters == []
    finals = [
        message
        for message in traffic(routed.network, "N1")
        if message.label == "QM Ordering Ack"
        and message.message_class == MessageClass.NACK_HOP_COUNT_EXCEEDED
    ]
    assert len(finals) == tx


def misled(routed: Routed, other: int) -> LocalDirectory:
    """The directory with another queue manager as the only in-routing server of number 4."""
    copy = Routed({number: "A*" if number in (2, 3) else "A" for number in routed.machines})
    copy.change(4, in_routing_server_identifier_list=(guid_of(other),))
    return copy.directory


def raw_source(routed: Routed, hop: int, *, number: int = 1) -> RawPeer:
    """A queue manager of the directory that sends whatever it is told to a hop."""
    peer = RawPeer(routed.network, routed[hop], address=f"10.0.0.{number}")
    peer.guid = guid_of(number)
    del routed.network.nodes[peer.address]
    peer.connect()
    return peer


def packet(routed: Routed, body: bytes, message_id: int, **properties: Any) -> bytes:
    """A message of number 1 for the queue of number 4."""
    name = routed.name(4)
    address = private_address(guid_of(4), int(name.rpartition("\\")[2], 16))
    properties.setdefault("destination_queue", address)
    properties.setdefault("source_queue_manager", guid_of(1))
    properties.setdefault("sent_time", int(routed.network.utc))
    return build_user_message(body=body, message_id=message_id, **properties)


def ordered_packet(routed: Routed, body: bytes, number: int, **properties: Any) -> bytes:
    header = TransactionHeader(0, TxSequenceID.from_value(1 << 32), number, number - 1)
    return packet(
        routed, body, number, transaction_header=header, delivery_mode=1, priority=0, **properties
    )


@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_a_plain_message_that_comes_twice_is_forwarded_once(delivery_mode: int) -> None:
    routed = chain()
    peer = raw_source(routed, 2)
    message = packet(routed, b"1", 1, delivery_mode=delivery_mode)
    peer.send(message, packet(routed, b"2", 2, delivery_mode=delivery_mode), message)
    peer.send(message)
    routed.network.advance(1)
    assert [each.body for each in passed(routed, 3)] == [b"1", b"2"]
    assert routed[2].counts["duplicate message"] == 2
    assert routed[4].bodies() == [b"1", b"2"]


def test_a_message_that_comes_back_is_no_duplicate() -> None:
    routed = chain()
    peer = raw_source(routed, 2)
    peer.send(packet(routed, b"1", 1), packet(routed, b"1", 1, routing_count=2))
    routed.network.advance(1)
    assert [each.routing_count for each in passed(routed, 3)] == [1, 3]
    # The destination knows it by its identifier.
    assert routed[4].bodies() == [b"1"]


@pytest.mark.spec("MQQB-3.1.5.8.1-01")
def test_a_transactional_message_that_comes_twice_is_forwarded_twice_and_delivered_once() -> None:
    routed = chain(transactional=True)
    peer = raw_source(routed, 2)
    message = ordered_packet(routed, b"1", 1)
    peer.send(message)
    peer.send(message, ordered_packet(routed, b"2", 2))
    routed.network.advance(1)
    assert [each.body for each in passed(routed, 3)] == [b"1", b"1", b"2"]
    assert [each.body for each in passed(routed, 4)] == [b"1", b"1", b"2"]
    assert routed[4].bodies() == [b"1", b"2"]


def test_a_hop_acknowledges_only_what_is_on_its_disk() -> None:
    routed = chain()
    hop = routed[2]
    peer = raw_source(routed, 2)
    hop.flushing = False
    peer.send(packet(routed, b"1", 1, delivery_mode=1))
    routed.network.advance(1)
    assert all(not header.recoverable_msg_ack_seq_number for header in peer.session_acks())
    assert passed(routed, 3) == []
    hop.flushing = True
    routed.network.advance(1)
    assert any(header.recoverable_msg_ack_seq_number for header in peer.session_acks())
    assert [each.body for each in passed(routed, 3)] == [b"1"]


@pytest.mark.parametrize("tx", [False, True])
def test_a_hop_keeps_a_message_until_the_next_hop_has_it_and_over_a_crash(*, tx: bool) -> None:
    routed = chain(transactional=tx)
    routed[3].listening = False
    name = routed.send(1, 4, b"1", b"2", tx=tx)
    routed.network.advance(2)
    assert routed[2].outgoing(name).count == 2
    routed[2].crash()
    routed.network.advance(2)
    assert [each.routing_count for each in routed[2].messages(routed[2].outgoing(name))] == [1, 1]
    routed[3].listening = True
    # The next hop has them, and not on its disk.
    routed[3].flushing = False
    routed.network.advance(10)
    # The source, whose session broke, has sent the transactional ones again.
    assert routed[2].outgoing(name).count == (4 if tx else 2)
    routed[3].crash()
    routed[3].flushing = True
    routed.network.advance(30)
    assert routed[4].bodies() == [b"1", b"2"]
    assert routed[2].outgoing(name).count == routed[3].outgoing(name).count == 0


def test_express_messages_are_lost_with_a_hop() -> None:
    routed = chain()
    routed[3].listening = False
    name = routed.send(1, 4, b"1", delivery_mode=0)
    routed.network.advance(2)
    assert routed[2].outgoing(name).count == 1
    routed[2].crash()
    assert routed[2].outgoing(name).count == 0


def test_a_plain_message_that_expires_at_a_hop_is_a_dead_letter_there() -> None:
    routed = chain()
    routed[3].listening = False
    asked = with_reports(routed, 1)
    routed.send(1, 4, b"1", negative_journaling=True, time_to_reach_queue=60, **asked)
    routed.network.advance(20)
    assert routed[2].deadletters == []
    routed.network.advance(60)
    assert routed[2].deadletters == [b"1"]
    assert routed[1].deadletters == routed[2].xact_deadletters == []
    (nack,) = routed[1].messages(routed[1].qm.find_queue(rf".\{REPORTS}"))
    assert nack.message_class == MessageClass.NACK_REACH_QUEUE_TIMEOUT
    assert nack.source_queue_manager == routed[2].guid


def test_a_plain_message_that_comes_late_to_a_hop_is_a_dead_letter_there() -> None:
    routed = chain()
    peer = raw_source(routed, 2)
    sent = int(routed.network.utc) - 100
    peer.send(
        packet(routed, b"1", 1, sent_time=sent, time_to_reach_queue=60, negative_journaling=True)
    )
    assert routed[2].deadletters == [b"1"]
    assert passed(routed, 3) == []


def test_a_transactional_message_that_expires_at_a_hop_is_the_business_of_its_source() -> None:
    routed = chain(transactional=True)
    routed[3].listening = False
    asked = with_reports(routed, 1)
    routed.send(1, 4, b"1", tx=True, negative_journaling=True, time_to_reach_queue=60, **asked)
    routed.network.advance(80)
    for number in (2, 3, 4):
        assert routed[number].deadletters == routed[number].xact_deadletters == []
    assert routed[1].xact_deadletters == [b"1"]
    (nack,) = routed[1].messages(routed[1].qm.find_queue(rf".\{REPORTS}"))
    assert nack.source_queue_manager == routed[1].guid


@pytest.mark.spec("MQQB-3.1.5.8.2-01")
@pytest.mark.parametrize("limit", ["quota", "address"])
def test_what_a_hop_cannot_store_stays_with_its_sender(limit: str) -> None:
    routed = chain(core_settings=Settings(max_forwarded_bytes_per_address=1000))
    hop = routed[2]
    routed[3].listening = False
    if limit == "quota":
        hop.qm.state.settings.max_forwarded_bytes_per_address = 1 << 30
        hop.qm.state.manager.queue_manager_quota = 1
    name = routed.send(1, 4, *[b"%d" % each + bytes(300) for each in range(9)])
    routed.network.advance(30)
    kept = hop.outgoing(name).count
    assert 0 < kept < 9
    # Nothing of a read is acknowledged that was not stored whole.
    assert routed[1].outgoing(name).count == 9
    assert hop.counts["no room for messages"] > 0
    hop.qm.state.manager.queue_manager_quota = 0xFFFFFFFF
    routed[3].listening = True
    routed.network.advance(60)
    assert [body[:1] for body in routed[4].bodies()] == [b"%d" % each for each in range(9)]
    assert hop.qm.state.forwarded.of("10.0.0.1") == 0


def test_local_messages_before_one_that_finds_no_room_are_delivered() -> None:
    routed = chain(core_settings=Settings(max_forwarded_bytes_per_address=10))
    hop = routed[2]
    queue = hop.create(transactional=True)
    peer = raw_source(routed, 2)
    own = private_address(hop.guid, queue.properties.private_queue_number)
    peer.send(
        ordered_packet(routed, b"own", 1, destination_queue=own),
        packet(routed, b"forwarded", 2),
        packet(routed, b"behind", 3, destination_queue=own),
    )
    assert hop.bodies() == [b"own"]
    assert peer.closed is not None


def test_a_public_queue_is_reached_over_hops_by_the_owner_that_messages_name() -> None:
    routed = chain()
    published = routed.publish(4, 0x9)
    name = f"PUBLIC={published.identifier}"
    queue = routed[4].create("public")
    routed[4].qm.state.identifiers[published.identifier] = queue
    routed[1].send(name, b"1", destination_queue=public_address(published.identifier))
    routed.network.advance(2)
    assert routed[4].bodies("public") == [b"1"]
    for number in (2, 3, 4):
        assert {each.queue_manager_address for each in passed(routed, number)} == {guid_of(4)}
    # The hops go on by the owner even when the directory has no such queue any more.
    routed.directory.delete(published)
    peer = raw_source(routed, 2)
    peer.send(
        packet(
            routed,
            b"2",
            7,
            destination_queue=public_address(published.identifier),
            queue_manager_address=guid_of(4),
        )
    )
    routed.network.advance(2)
    assert routed[4].bodies("public") == [b"1", b"2"]


@pytest.mark.spec("MQDMPR-3.1.1.12-15", "MQQB-3.1.5.8.9-01", "MQQB-3.1.7.1.7-01")
def test_every_hop_reports_a_traced_message() -> None:
    routed = chain()
    trace = routed.publish(1, 0x7ACE).identifier
    queue = routed[1].create("trace")
    routed[1].qm.state.identifiers[trace] = queue
    routed.send(1, 4, b"1", tracing_requested=True, tracing_queue=trace)
    routed.network.advance(5)
    assert routed[4].bodies() == [b"1"]
    reports = {
        (
            message.source_queue_manager.int >> 96,
            message.label.split(" ")[0][-2:],
            "<NEXT HOP>" in message.body.decode("utf-16-le"),
        )
        for message in routed[1].messages(queue)
    }
    # Each of the hops tells that the message came and that it left; the count is theirs.
    assert reports == {
        (1, "00", True),
        (2, "01", False),
        (2, "01", True),
        (3, "02", False),
        (3, "02", True),
        (4, "02", False),
    }


def test_what_an_administrator_moves_away_no_longer_counts_for_its_address() -> None:
    routed = chain()
    routed[3].listening = False
    name = routed.send(1, 4, b"1", b"2")
    routed.network.advance(2)
    hop = routed[2]
    queue = hop.outgoing(name)
    first, second = queue.lanes
    assert hop.qm.state.forwarded.of("10.0.0.1") == first.size + second.size
    queue.lanes.remove(first)
    hop.qm.outgoing.move(first, hop.qm.state.deadletter)
    assert hop.qm.state.forwarded.of("10.0.0.1") == second.size
    hop.crash()
    # After a restart nobody knows where the rest came from.
    assert hop.qm.state.forwarded.of("10.0.0.1") == 0


@pytest.mark.spec("MQQB-3.1.6.1-01", "MQQB-3.1.5.2.1-04")
def test_the_next_hops_are_tried_in_turn() -> None:
    routed = Routed({1: "A", 2: "A*", 3: "A*", 4: "A"})
    routed[4].create()
    routed[4].listening = False
    first, second = (2, 3) if (guid_of(1).int + guid_of(4).int) % 2 == 0 else (3, 2)
    routed[first].listening = False
    routed.send(1, 4, b"1")
    # The destination itself first, then the routing servers of the site.
    routed.network.advance(20)
    assert [len(passed(routed, number)) for number in (first, second)] == [0, 1]
    routed[4].listening = True
    routed.network.advance(20)
    assert routed[4].bodies() == [b"1"]


@pytest.mark.spec("MQQB-3.1.6.1-02", "MQQB-3.1.5.2.1-03")
def test_after_the_last_hop_the_way_is_looked_up_anew() -> None:
    routed = Routed({1: "A", 2: "A*", 4: "A"})
    routed[4].create()
    routed[4].listening = routed[2].listening = False
    name = routed.send(1, 4, b"1")
    routed.network.advance(20)
    assert routed[1].outgoing(name).count == 1
    # There is another routing server now.
    routed.change(1, site_identifier_list=(site("B"),))
    routed.network.advance(20)
    outgoing = routed[1].outgoing(name).outgoing
    assert outgoing is not None
    assert outgoing.state is QueueState.NEED_VALIDATION
    routed.change(1, site_identifier_list=(site("A"),))
    routed[4].listening = True
    routed.network.advance(20)
    assert routed[4].bodies() == [b"1"]


def test_a_next_hop_that_answers_with_another_guid_gets_nothing() -> None:
    routed = chain()
    # The gate has moved, and another queue manager is at its address.
    routed.network.hosts["n2"] = routed.network.hosts["10.0.0.2"] = "10.0.0.3"
    name = routed.send(1, 4, b"1")
    routed.network.advance(20)
    assert passed(routed, 3) == []
    assert routed[1].outgoing(name).count == 1
    routed.network.hosts["n2"] = routed.network.hosts["10.0.0.2"] = "10.0.0.2"
    routed.network.advance(20)
    assert routed[4].bodies() == [b"1"]


def test_a_router_sends_and_receives_for_itself_beside_what_it_forwards() -> None:
    routed = chain(transactional=True)
    routed[2].create(transactional=True)
    name = routed.send(1, 4, b"through", tx=True)
    routed.send(2, 4, b"own", tx=True)
    routed.send(1, 2, b"for the router", tx=True)
    routed.send(4, 2, b"back", tx=True)
    routed.network.advance(5)
    assert sorted(routed[4].bodies()) == [b"own", b"through"]
    assert sorted(routed[2].bodies()) == [b"back", b"for the router"]
    for number in (1, 2, 3):
        assert routed[number].outgoing(name).count == 0


def test_two_sources_behind_one_router_have_a_stream_each() -> None:
    routed = Routed({1: "A", 5: "A", 2: "A*", 3: "B*", 4: "B"}, (("AB", 1, (2, 3)),))
    routed[4].create(transactional=True)
    for body in (b"1", b"2", b"3"):
        name = routed.send(1, 4, body + b" of one", tx=True)
        routed.send(5, 4, body + b" of five", tx=True)
        routed.network.advance(3)
    bodies = routed[4].bodies()
    for source in (b"one", b"five"):
        assert [body[:1] for body in bodies if body.endswith(source)] == [b"1", b"2", b"3"]
    senders = {
        stream.sender_identifier
        for stream in routed[4].qm.find_queue(rf".\{ORDERS}").incoming.values()
    }
    assert senders == {guid_of(1), guid_of(5)}
    assert routed[1].outgoing(name).count == routed[5].outgoing(name).count == 0


def test_an_order_ack_goes_back_by_the_way_of_the_directory() -> None:
    """The out-routing server of the source need not know the way back."""
    routed = Routed({1: "A", 2: "A", 3: "A*", 4: "A"})
    routed[4].create(transactional=True)
    routed.change(1, out_routing_server_identifier_list=(guid_of(2),))
    routed.change(4, out_routing_server_identifier_list=(guid_of(3),))
    name = routed.send(1, 4, b"1", tx=True)
    routed.network.advance(3)
    assert routed[4].bodies() == [b"1"]
    assert routed[1].outgoing(name).count == 0
    acks = [each for each in traffic(routed.network, "N3") if each.label == "QM Ordering Ack"]
    assert len(acks) == 1


@pytest.mark.spec("MQQB-3.1.5.8.8-06")
def test_the_transfer_info_of_an_outgoing_queue_counts_forwarded_messages_as_nobodys() -> None:
    routed = chain(transactional=True)
    routed[3].listening = False
    name = routed.send(1, 4, b"1", b"2", tx=True)
    routed.network.advance(2)
    hop = routed[2]
    status = hop.binary.outgoing_status(hop.outgoing(name), now=routed.network.now)
    assert status is not None
    assert status.messages == 2
    outgoing = hop.outgoing(name).outgoing
    assert outgoing is not None
    info = outgoing.transfer_info
    assert (info.eod_no_ack_count, info.eod_no_read_count, info.eod_resend_count) == (0, 0, 0)
    assert info.eod_first_non_ack is info.eod_next_seq is None
    assert info.eod_resend_interval == 30


@pytest.mark.spec("MQQB-3.1.1.3.1-15", "MQQB-3.1.1.5-06", "MQQB-3.1.7.1.3-04")
def test_a_hop_has_no_numbers_streams_or_acknowledgments_for_what_it_forwards() -> None:
    routed = chain(transactional=True)
    hop = routed[2]
    hop_queue = hop.create(transactional=True)
    routed.send(2, 4, b"of the hop", tx=True)
    routed.network.advance(3)
    sequence = hop.qm.state.last_tx_sequence
    peer = raw_source(routed, 2)
    peer.send(*(ordered_packet(routed, b"%d" % number, number) for number in (1, 2)))
    routed.network.advance(3)
    forwarded = [each for each in passed(routed, 4) if each.source_queue_manager == guid_of(1)]
    headers = [each.transaction_header for each in forwarded]
    assert [
        (header.tx_sequence_id.value, header.tx_sequence_number, header.previous_tx_sequence_number)
        for header in headers
        if header is not None
    ] == [(1 << 32, 1, 0), (1 << 32, 2, 1)]
    assert hop.qm.state.last_tx_sequence == sequence
    assert not any(queue.incoming for queue in hop.qm.state.queues.values())
    assert hop_queue.count == 0
    # Only the destination acknowledges them.
    assert routed[4].bodies() == [b"of the hop", b"1", b"2"]
    assert {each.source_queue_manager for each in peer.received} <= {guid_of(4)}
