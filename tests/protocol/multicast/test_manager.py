"""Messages by multicast between queue managers, without sockets."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address

import pytest
from tests.core.harness import ADMINISTRATOR, USER
from tests.protocol.multicast.lan import (
    GROUP,
    ONE,
    TWO,
    Lan,
    LanNode,
    data_of,
    fast,
    lan_pair,
    offline,
    spms_of,
)
from tests.protocol.pgm.network import new_source
from tests.protocol.srmp.test_checks import LabelCheck, make_checks

from openmsmq.core.events import MessageDropped
from openmsmq.core.queues.manager_settings import set_queue_manager
from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.protocol.pgm import OutgoingDatagram, ReceiverSettings, Source, SourceSettings
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.pgm import DataPacket, NakPacket, parse_packet
from openmsmq.wire.srmp import cut_compound_message

DEADLETTER = r".\system$;DEADLETTER"
DEADXACT = r".\system$;DEADXACT"
JOURNAL = r".\system$;JOURNAL"
BODIES = [b"%d" % number for number in range(20)]
NAME = f"MULTICAST={GROUP}"
STRANGER = IPv4Address("10.0.0.99")


# Sending and receiving


def test_messages_arrive_in_order_and_leave_their_queue() -> None:
    lan, alpha, beta = lan_pair()
    beta.listen(TWO)
    lan.run()
    alpha.multicast_send(*BODIES[:10])
    alpha.multicast_send(*BODIES[10:], delivery_mode=1, positive_journaling=True)
    lan.pass_time(5.0)
    assert beta.bodies(ONE) == beta.bodies(TWO) == BODIES
    assert alpha.waiting().count == 0
    assert alpha.bodies(JOURNAL) == BODIES[10:]
    status = alpha.status()
    assert (status.state, status.next_hop, status.reason) == ("CONNECTED", GROUP, "")
    message = beta.messages(ONE)[0]
    assert message.destination_queue == direct_address(NAME)


@pytest.mark.spec("MQSRM-2.1.2-05", "MQSRM-4.5-01", "MQSRM-3.1.7.2.4-05")
def test_a_message_is_the_request_of_a_post() -> None:
    lan, alpha, _ = lan_pair()
    alpha.multicast_send(b"body", label="price")
    lan.pass_time(1.0)
    (packet,) = data_of(lan, alpha)
    head = packet.data.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert head[:2] == [f"POST {GROUP} HTTP/1.1", f"Host: {GROUP}"]
    assert [line.partition(":")[0] for line in head[2:]] == [
        "Content-Type",
        "Content-Length",
        "SOAPAction",
        "Proxy-Accept",
    ]
    request = cut_compound_message(packet.data)
    assert request.body == b"body"
    envelope = request.read_envelope()
    assert (envelope.path.to, envelope.label) == (f"MSMQ:{NAME}", "price")


@pytest.mark.spec("MQSRM-2.1.2-06")
def test_nothing_in_the_http_header_but_lengths_counts() -> None:
    lan, alpha, beta = lan_pair()
    source = make_source(fast())
    request = renumbered(request_of(lan, alpha, beta), 3)
    changed = request.replace(f"POST {GROUP}".encode(), b"POST /elsewhere")
    changed = changed.replace(f"Host: {GROUP}".encode(), b"Host: nobody")
    bring_apdus(lan, beta, source, changed)
    assert beta.bodies(ONE) == [b"body"]


def make_source(settings: SourceSettings) -> Source:
    return new_source(settings, nla=STRANGER)


def bring_apdus(lan: Lan, node: LanNode, source: Source, *apdus: bytes) -> None:
    """A stranger sends data."""
    for apdu in apdus:
        source.send(apdu)
    for _ in range(10):
        for datagram in source.datagrams_to_send(now=lan.now):
            lan.bring(node, datagram.data, STRANGER)
        lan.pass_time(0.1)


def request_of(lan: Lan, alpha: LanNode, beta: LanNode, body: bytes = b"body") -> bytes:
    """The request of a message that was sent and received."""
    lan.transmitted.clear()
    alpha.multicast_send(body)
    lan.pass_time(3.0)
    beta.receive(ONE)
    return b"".join(packet.data for packet in data_of(lan, alpha))


def renumbered(request: bytes, number: int) -> bytes:
    """The same with another identifier, of the same length."""
    start = request.index(b"uuid:") + 5
    end = request.index(b"@", start)
    return request[:start] + b"%0*d" % (end - start, number) + request[end:]


def test_messages_may_begin_and_end_anywhere_in_the_data_of_a_source() -> None:
    lan, alpha, beta = lan_pair()
    request = request_of(lan, alpha, beta)
    stream = b"".join(renumbered(request, number) for number in (3, 4, 5))
    pieces = [stream[:7], stream[7:1500], stream[1500:1501], stream[1501:]]
    bring_apdus(lan, beta, make_source(fast()), *pieces)
    assert beta.bodies(ONE) == [b"body"] * 3


def test_after_data_that_is_no_request_the_next_message_is_found() -> None:
    lan, alpha, beta = lan_pair()
    request = request_of(lan, alpha, beta)
    bad_length = request.replace(b"Content-Length: ", b"Content-Length: x")
    bad_envelope = renumbered(request, 6).replace(b"<path", b"<pith")
    apdus = [
        b"nonsense",
        renumbered(request, 3)[:100],
        b"\r\n\r\n",
        renumbered(request, 4) + b"GET / HTTP/1.1\r\n\r\n",
        bad_length,
        bad_envelope,
        renumbered(request, 5),
    ]
    bring_apdus(lan, beta, make_source(fast()), *apdus)
    assert len(beta.bodies(ONE)) == 2
    assert beta.qm.counters.rejected_messages.of("multicast", "MALFORMED") == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"MSMQ:MULTICAST=234.1.1.1:8001", b"http://beta/msmq/private$/one"),
    ],
)
def test_only_a_multicast_address_is_a_destination(old: bytes, new: bytes) -> None:
    lan, alpha, beta = lan_pair()
    request = renumbered(request_of(lan, alpha, beta), 3)
    assert len(old) == len(new)
    bring_apdus(lan, beta, make_source(fast()), request.replace(old, new))
    assert beta.bodies(ONE) == []
    assert beta.qm.counters.rejected_messages.of("multicast", "MALFORMED") == 1


@pytest.mark.spec("MQSRM-3.1.5.1.3-01")
@pytest.mark.parametrize("address", [b"234.1.1.1:8002", b"234.1.1.1:zzzz"])
def test_a_message_for_an_address_without_a_queue_is_dropped_silently(address: bytes) -> None:
    lan, alpha, beta = lan_pair()
    request = renumbered(request_of(lan, alpha, beta), 3)
    lan.transmitted.clear()
    bring_apdus(lan, beta, make_source(fast()), request.replace(b"=234.1.1.1:8001", b"=" + address))
    assert beta.bodies(ONE) == []
    reason = ("multicast", "no queue listens to the address")
    assert beta.qm.counters.ignored_messages.of(*reason) == 1
    assert not lan.transmitted or all(node is not beta for node, _ in lan.transmitted)


def test_a_stream_and_a_receipt_cannot_come_by_multicast() -> None:
    lan, alpha, beta = lan_pair()
    request = renumbered(request_of(lan, alpha, beta), 3)
    receipt = request.replace(b"<Class>0</Class>", b"<Class>2</Class>")
    bring_apdus(lan, beta, make_source(fast()), receipt)
    assert beta.bodies(ONE) == []
    reason = ("multicast", "transactional message or receipt by multicast")
    assert beta.qm.counters.ignored_messages.of(*reason) == 1


def test_no_receipt_is_sent_whatever_a_message_asks_for() -> None:
    lan, alpha, beta = lan_pair()
    alpha.create(r".\private$\answers")
    answers = direct_address("http://alpha/msmq/private$/answers")
    alpha.multicast_send(b"1", acknowledgments=0x0F, admin_queue=answers)
    lan.pass_time(1.0)
    assert [message.body for message in beta.receive(ONE)] == [b"1"]
    lan.pass_time(60.0)
    assert beta.qm.outgoing.queues == []
    assert alpha.bodies(r".\private$\answers") == []


def test_a_known_identifier_is_a_duplicate() -> None:
    lan, alpha, beta = lan_pair()
    request = request_of(lan, alpha, beta)
    bring_apdus(lan, beta, make_source(fast()), request, renumbered(request, 4))
    assert beta.bodies(ONE) == [b"body"]
    reason = ("multicast", "duplicate message")
    assert beta.qm.counters.ignored_messages.of(*reason) == 1


def test_a_message_without_an_identifier_is_never_a_duplicate() -> None:
    lan, alpha, beta = lan_pair()
    request = request_of(lan, alpha, beta)
    start, end = request.index(b"<Msmq"), request.index(b"</Msmq>") + 7
    blank = request[:start] + b" " * (end - start) + request[end:]
    bring_apdus(lan, beta, make_source(fast()), blank, blank)
    assert beta.bodies(ONE) == [b"body"] * 2


def test_a_recoverable_identifier_is_known_after_a_restart() -> None:
    lan, alpha, beta = lan_pair()
    alpha.multicast_send(b"body", delivery_mode=1)
    lan.pass_time(1.0)
    (packet,) = data_of(lan, alpha)
    beta.restart()
    lan.run()
    bring_apdus(lan, beta, make_source(fast()), packet.data)
    assert beta.bodies(ONE) == [b"body"]


def test_a_queue_that_does_not_take_a_message_is_passed_over() -> None:
    lan, alpha, beta = lan_pair()
    beta.listen(TWO, transactional=True)
    beta.listen(r".\private$\three", authentication=True)
    beta.listen(r".\private$\four", quota=0)
    lan.run()
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"1"]
    assert beta.bodies(TWO) == beta.bodies(r".\private$\three") == []
    rejected = beta.qm.counters.rejected_messages
    assert rejected.of("multicast", "NACK_NOT_TRANSACTIONAL_MSG") == 1
    assert rejected.of("multicast", "NACK_BAD_SIGNATURE") == 1
    assert rejected.of("multicast", "NACK_Q_EXCEED_QUOTA") == 1


def test_a_message_that_no_queue_takes_is_not_a_duplicate_when_it_comes_again() -> None:
    lan, alpha, beta = lan_pair()
    request = renumbered(request_of(lan, alpha, beta), 7)
    source = make_source(fast())
    queue = beta.qm.find_queue(ONE)
    beta.enter()
    beta.qm.set_queue(queue, caller=USER, quota=0)
    bring_apdus(lan, beta, source, request)
    assert beta.bodies(ONE) == []
    beta.enter()
    beta.qm.set_queue(queue, caller=USER, quota=1000)
    bring_apdus(lan, beta, source, request)
    assert beta.bodies(ONE) == [b"body"]


def test_a_full_queue_manager_drops_a_message_with_its_reason() -> None:
    lan, alpha, beta = lan_pair()
    beta.enter()
    beta.qm.set_quotas(messages=0, journals=0)
    dropped: list[MessageDropped] = []
    beta.engine.listen(MessageDropped, dropped.append)
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == []
    assert [(event.what, event.queue) for event in dropped] == [("message", r"private$\one")]


# Checks


class LabelVerifier:
    """Checks messages with the label `check`."""

    def concerns(self, head: UserMessage, origin: Origin) -> bool:
        assert origin == Origin(Transport.MULTICAST, "10.0.0.1")
        return head.label == "check"

    def check(self, message: UserMessage, origin: Origin) -> LabelCheck:
        assert origin.address == "10.0.0.1"
        return LabelCheck(message)


def checked_pair() -> tuple[Lan, LanNode, LanNode]:
    lan = Lan()
    alpha, beta = lan.machine("alpha"), lan.machine("beta", verifier=LabelVerifier())
    beta.listen()
    lan.run()
    return lan, alpha, beta


def test_messages_wait_for_their_checks_in_order() -> None:
    lan, alpha, beta = checked_pair()
    for body in (b"1", b"bad", b"3"):
        alpha.multicast_send(body, label="check" if body != b"3" else "")
        lan.pass_time(1.0)
    assert beta.bodies(ONE) == []
    make_checks(beta)
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"1", b"3"]
    assert beta.qm.counters.rejected_messages.of("multicast", "NACK_BAD_SIGNATURE") == 1


def test_a_check_that_fails_costs_its_message_and_what_waits_behind_it() -> None:
    lan, alpha, beta = checked_pair()
    for body in (b"fault", b"2"):
        alpha.multicast_send(body, label="check")
        lan.pass_time(1.0)
    make_checks(beta)
    lan.pass_time(1.0)
    alpha.multicast_send(b"3")
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"3"]
    ignored = beta.qm.counters.ignored_messages
    assert ignored.of("multicast", "ArithmeticError: fault") == 1
    assert ignored.of("multicast", "no room to wait for checks") == 1


# Listening


def test_queues_listen_as_long_as_they_have_an_address() -> None:
    lan, alpha, beta = lan_pair()
    assert beta.groups == {IPv4Address("234.1.1.1")}
    beta.listen(TWO, "234.1.1.1:8002")
    other = beta.listen(r".\private$\three", "234.1.1.9:8001")
    lan.run()
    assert beta.groups == {IPv4Address("234.1.1.1"), IPv4Address("234.1.1.9")}
    alpha.multicast_send(b"0", group="234.1.1.9:8001")
    lan.pass_time(1.0)
    assert [message.body for message in beta.receive(r".\private$\three")] == [b"0"]
    beta.qm.set_queue(other, caller=USER, multicast_address="234.1.1.1:8001")
    lan.run()
    assert beta.groups == {IPv4Address("234.1.1.1")}
    alpha.multicast_send(b"1")
    alpha.multicast_send(b"2", group="234.1.1.1:8002")
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == beta.bodies(r".\private$\three") == [b"1"]
    assert beta.bodies(TWO) == [b"2"]
    counted = beta.counts()
    for path in (ONE, r".\private$\three"):
        beta.enter()
        beta.qm.delete_queue(beta.qm.find_queue(path), caller=USER)
    lan.run()
    assert [str(name) for name in beta.multicast.receivers] == ["MULTICAST=234.1.1.1:8002"]
    assert beta.counts()["ignored"] > 0
    # What receivers have counted stays when they end.
    assert beta.counts() == counted
    beta.restart()
    lan.run()
    assert beta.groups == {IPv4Address("234.1.1.1")}


def hardened(node: LanNode, *, on: bool) -> None:
    attributes = {"hardened_security": on}
    set_queue_manager(node.qm.state, caller=ADMINISTRATOR, attributes=attributes)


@pytest.mark.parametrize("change", [offline, hardened])
def test_nothing_is_heard_while_offline_or_hardened(change: Callable[..., None]) -> None:
    lan, alpha, beta = lan_pair()
    beta.enter()
    change(beta, on=True)
    lan.run()
    assert beta.groups == set()
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == []
    beta.enter()
    change(beta, on=False)
    lan.run()
    assert beta.groups == {IPv4Address("234.1.1.1")}
    alpha.multicast_send(b"2")
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"2"]


def test_hardened_mode_locks_outgoing_queues() -> None:
    lan, alpha, beta = lan_pair()
    alpha.enter()
    hardened(alpha, on=True)
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    assert alpha.status().state == "LOCKED"
    assert alpha.status().reason == "locked: only HTTP is allowed in hardened mode"
    alpha.enter()
    hardened(alpha, on=False)
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"1"]


def test_the_count_of_groups_is_limited() -> None:
    lan = Lan()
    beta = lan.machine("beta", max_groups=2)
    for number in range(4):
        beta.listen(rf".\private$\q{number}", f"234.1.1.{number}:8001")
    lan.run()
    assert len(beta.groups) == len(beta.multicast.receivers) == 2


def test_a_group_that_cannot_be_joined_is_tried_again() -> None:
    lan = Lan()
    alpha, beta = lan.machine("alpha"), lan.machine("beta")
    beta.refused = "not now"
    beta.listen()
    beta.listen(TWO, "234.1.1.2:8001")
    lan.run()
    assert beta.groups == set()
    beta.enter()
    beta.qm.delete_queue(beta.qm.find_queue(TWO), caller=USER)
    beta.refused = ""
    lan.pass_time(25.0)
    assert beta.groups == {IPv4Address("234.1.1.1")}
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"1"]


# Loss


def first_data_of_each_is_lost(sender: LanNode, _: LanNode, datagram: OutgoingDatagram) -> bool:
    """Repairs never arrive, and of new data only what has an even number."""
    packet = parse_packet(datagram.data)
    if sender.name != "alpha" or not isinstance(packet, DataPacket):
        return True
    return not packet.is_repair and packet.sequence_number % 2 == 0


def test_what_cannot_be_repaired_is_counted_and_told_and_the_stream_goes_on() -> None:
    lan, alpha, beta = lan_pair()
    alpha.multicast_send(b"first")
    lan.pass_time(2.0)
    lan.passes = first_data_of_each_is_lost
    alpha.multicast_send(*BODIES)
    lan.pass_time(100.0)
    lan.passes = None
    alpha.multicast_send(b"last")
    lan.pass_time(100.0)
    arrived = beta.bodies(ONE)
    assert arrived[0] == b"first"
    assert arrived[-1] == b"last"
    assert len(arrived) == 12
    assert sorted(arrived[1:-1], key=BODIES.index) == arrived[1:-1]
    assert sum(lost.packets for lost in beta.losses) == beta.counts()["lost_packets"] == 10
    assert {(lost.group, lost.source) for lost in beta.losses} == {(GROUP, "10.0.0.1")}
    # Not one line for each packet.
    assert len(beta.losses) <= 3


def test_a_message_of_which_a_part_was_lost_is_not_put_together_with_the_next() -> None:
    lan, alpha, beta = lan_pair()
    request = request_of(lan, alpha, beta)
    source = make_source(fast())
    bring_apdus(lan, beta, source, renumbered(request, 3)[:100])
    # Nobody gets this packet, and nobody repairs it.
    source.send(b"lost")
    source.datagrams_to_send(now=lan.now)
    bring_apdus(lan, beta, source, renumbered(request, 4))
    lan.pass_time(60.0)
    assert beta.bodies(ONE) == [b"body"]


def test_parts_of_messages_are_limited() -> None:
    lan, alpha, beta = lan_pair(max_partial_bytes=1_000)
    request = request_of(lan, alpha, beta)
    source = make_source(fast())
    bring_apdus(lan, beta, source, renumbered(request, 3)[:1_100], renumbered(request, 4))
    assert beta.bodies(ONE) == [b"body"]
    assert beta.qm.counters.rejected_messages.of("multicast", "MALFORMED") == 1


def test_a_source_that_ends_leaves_nothing_behind() -> None:
    lan, alpha, beta = lan_pair()
    request = request_of(lan, alpha, beta)
    source = make_source(fast())
    bring_apdus(lan, beta, source, renumbered(request, 3)[:100])
    (receiver,) = beta.multicast.receivers.values()
    assert receiver._partial_bytes == 100
    lan.pass_time(400.0)
    assert receiver._partial_bytes == 0
    assert len(receiver._requests) <= 1


# Strangers


def test_packets_in_the_name_of_this_machine_are_refused() -> None:
    lan, alpha, _ = lan_pair()
    alpha.listen()
    lan.run()
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    (data,) = [
        datagram.data
        for node, datagram in lan.transmitted
        if node is alpha and isinstance(parse_packet(datagram.data), DataPacket)
    ]
    assert alpha.bodies(ONE) == [b"1"]
    lan.bring(alpha, data, STRANGER)
    lan.bring(alpha, data[:13], STRANGER)
    lan.pass_time(1.0)
    assert (alpha.counts()["forged"], alpha.counts()["malformed"]) == (1, 1)


def test_datagrams_of_strangers_to_this_machine_change_nothing() -> None:
    lan, alpha, beta = lan_pair()
    alpha.multicast_send(b"1")
    lan.pass_time(1.0)
    for data in (b"", b"x", b"x" * 40):
        lan.bring(alpha, data, STRANGER, None)
    lan.pass_time(1.0)
    assert beta.bodies(ONE) == [b"1"]


# PGM, as a queue manager uses it


@pytest.mark.spec("MQSRM-2.1.3-08")
def test_opt_join_is_never_sent_and_the_first_packet_has_opt_syn() -> None:
    lan, alpha, _ = lan_pair()
    lan.loss = 0.2
    for body in BODIES:
        alpha.multicast_send(body * 2000)
        lan.pass_time(0.5)
    lan.pass_time(400.0)
    options = [packet.options for packet in data_of(lan, alpha)]
    options += [packet.options for packet in spms_of(lan, alpha)]
    assert len(options) > 40
    assert all(each.join is None for each in options)


@pytest.mark.spec("MQSRM-2.1.3-03", "MQSRM-2.1.3-13")
def test_the_window_advances_by_time_whatever_naks_do() -> None:
    lan, alpha, beta = lan_pair(1)
    alpha.multicast_send(b"first")
    lan.pass_time(2.0)
    lan.loss = 0.4
    alpha.multicast_send(*BODIES)
    lan.pass_time(8.0)
    lan.loss = 0.0
    first = data_of(lan, alpha)[0].sequence_number
    naks = [
        parse_packet(datagram.data)
        for node, datagram in lan.transmitted
        if node is beta and isinstance(parse_packet(datagram.data), NakPacket)
    ]
    assert naks
    # Silent or not, nothing is kept longer than TXW_SECS and one TXW_ADV_IVL.
    lan.pass_time(290.0 - 10.0)
    alpha.multicast_send(b"later")
    lan.pass_time(1.0)
    assert spms_of(lan, alpha)[-1].trailing_edge == first
    lan.pass_time(100.0)
    assert spms_of(lan, alpha)[-1].trailing_edge == first + len(BODIES) + 1


def test_receivers_with_small_buffers_get_everything_all_the_same() -> None:
    lan = Lan(3)
    receiver = ReceiverSettings(max_buffered_bytes=20_000, max_repairs=8)
    alpha, beta = lan.machine("alpha"), lan.machine("beta", receiver=receiver)
    beta.listen()
    lan.run()
    lan.loss, lan.delays = 0.1, (0.001, 0.02)
    alpha.multicast_send(*[b"%d" % number * 3000 for number in range(10)])
    lan.pass_time(60.0)
    assert beta.bodies(ONE) == [b"%d" % number * 3000 for number in range(10)]
