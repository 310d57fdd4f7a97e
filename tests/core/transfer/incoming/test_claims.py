"""Packets that say of themselves what only the queue manager may say."""

import pytest
from tests.core.forgery import SRMP, forge, forged
from tests.core.harness import ORDERS, SEND, USER, Harness, packet, refused
from tests.core.peers import arrive

from openmsmq.core.rows.packets import forget_packet, packet_of
from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.incoming.claims import clear_authentication, drop_claims
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_private_body
from openmsmq.wire.message.user_message_run import split_runs
from openmsmq.wire.packets.base_header import BaseHeaderFlags
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

SIGNED = r".\private$\signed"
SENDER = SecurityHeader(SenderIdType.SID, security_id=USER.sid.serialize())


def flags_in(harness: Harness, name: str = ORDERS) -> list[int]:
    """SecurityHeader.Flags of the messages of a queue."""
    queue = harness.qm.find_queue(name)
    return [
        UserMessage(packet_of(harness.qm.state, message)).security_flags for message in queue.lanes
    ]


@pytest.mark.parametrize("mode", [0, 1])
def test_a_local_client_cannot_vouch_for_its_signature(harness: Harness, mode: int) -> None:
    harness.create(SIGNED, authentication=True)
    packets = [forged(b"1", delivery_mode=mode), forged(b"22", delivery_mode=mode)]
    with refused("MQ_ERROR_MESSAGE_NOT_AUTHENTICATED"):
        harness.qm.traffic.enqueue_many(harness.open(SEND, SIGNED), packets)
    harness.qm.traffic.enqueue_many(harness.open(SEND), packets)
    assert flags_in(harness) == [0, 0]


def test_nor_in_a_transaction(harness: Harness) -> None:
    harness.create(SIGNED, authentication=True, transactional=True)
    harness.create(r".\private$\pay", transactional=True)
    transaction = harness.qm.traffic.begin(harness.guid())
    with refused("MQ_ERROR_MESSAGE_NOT_AUTHENTICATED"):
        harness.qm.traffic.enqueue_many(harness.open(SEND, SIGNED), [forged()], transaction)
    harness.qm.traffic.enqueue_many(harness.open(SEND, r".\private$\pay"), [forged()], transaction)
    harness.qm.traffic.commit(transaction.identifier)
    assert flags_in(harness, r".\private$\pay") == [0]


def test_nor_when_it_sends_to_several_queues_or_another_machine(harness: Harness) -> None:
    remote = r"DIRECT=OS:elsewhere\private$\q"
    both = rf"DIRECT=OS:QM\private$\orders,{remote}"
    harness.qm.traffic.enqueue_many(harness.open(SEND, both), [forged()])
    harness.qm.traffic.enqueue_many(harness.open(SEND, remote), [forged()])
    assert flags_in(harness) == [0]
    (outgoing,) = harness.qm.state.outgoing.values()
    assert [
        UserMessage(packet_of(harness.qm.state, message)).security_flags
        for message in outgoing.lanes
    ] == [0, 0]


def test_nor_by_staging(harness: Harness) -> None:
    harness.create(SIGNED, authentication=True)
    stages = harness.qm.stages
    with refused("MQ_ERROR_MESSAGE_NOT_AUTHENTICATED"):
        stages.stage("query", 0, 0, 0, SIGNED, [forged()], caller=USER)
    stages.stage("query", 0, 0, 0, ORDERS, [forged(b"1"), forged(b"2")], caller=USER)
    stages.commit_batch("query", 0, [(0, 0)], caller=USER)
    assert flags_in(harness) == [0, 0]


def test_another_queue_manager_cannot_vouch_for_a_signature(harness: Harness) -> None:
    assert arrive(harness, forged(b"1", message_id=1), forged(b"2", message_id=2)).complete
    assert flags_in(harness) == [0, 0]


@pytest.mark.parametrize("bits", [0x0010, 0x0100, 0x0F00, 0x0F10])
def test_each_bit_is_cleared_and_no_other(bits: int) -> None:
    others = 0xF0E0 | SenderIdType.SID
    clear = packet(security_header=SecurityHeader(others, security_id=USER.sid.serialize()))
    at = UserMessage(clear).security_offset
    claiming = clear[:at] + (others | bits).to_bytes(2, "little") + clear[at + 2 :]
    for transport in Transport:
        runs = split_runs([claiming, claiming])
        drop_claims(runs, transport)
        assert [run.packets for run in runs] == [[clear, clear]]
        assert runs[0].head.packet == clear
    assert clear_authentication(claiming) == clear


@pytest.mark.parametrize("transport", [Transport.LOCAL, Transport.BINARY])
def test_packets_that_claim_nothing_stay_the_same_objects(transport: Transport) -> None:
    header = SecurityHeader(SecurityHeaderFlags.EB | SenderIdType.SID, USER.sid.serialize(), b"key")
    packets = [packet(), packet(security_header=SENDER), packet(security_header=header)]
    runs = split_runs(packets)
    drop_claims(runs, transport)
    assert [run.packets[0] for run in runs] == packets
    assert all(run.packets[0] is each for run, each in zip(runs, packets, strict=True))
    assert clear_authentication(packets[1]) is packets[1]


# Other fields


@pytest.mark.parametrize("transport", [Transport.LOCAL, Transport.BINARY])
def test_a_message_that_did_not_come_over_http_does_not_say_so(transport: Transport) -> None:
    runs = split_runs([forged(b"", security_header=SENDER, srmp_headers=SRMP)])
    drop_claims(runs, transport)
    message = runs[0].head
    assert (message.srmp_envelope_header, message.compound_message_header) == (None, None)
    assert (message.body, message.authentication_level) == (b"inner", 0)
    assert message.packet == packet(b"inner", security_header=SENDER)


def test_a_message_that_was_just_sent_has_passed_no_router(harness: Harness) -> None:
    harness.qm.traffic.enqueue_many(harness.open(SEND), [packet(routing_count=29)])
    queue = harness.qm.find_queue(ORDERS)
    assert arrive(harness, packet(routing_count=3)).complete
    assert [
        UserMessage(packet_of(harness.qm.state, each)).routing_count for each in queue.lanes
    ] == [0, 3]


def test_a_client_cannot_announce_a_session_header(harness: Harness) -> None:
    honest = packet()
    claiming = honest[:2] + bytes((honest[2] | BaseHeaderFlags.SH,)) + honest[3:]
    harness.qm.traffic.enqueue_many(
        harness.open(SEND, r"DIRECT=OS:elsewhere\private$\q"), [claiming]
    )
    (outgoing,) = harness.qm.state.outgoing.values()
    (message,) = outgoing.lanes
    assert packet_of(harness.qm.state, message)[2] == honest[2]


# Messages in the store


def test_what_was_stored_before_claims_were_cleared_is_not_believed(harness: Harness) -> None:
    harness.qm.traffic.enqueue_many(harness.open(SEND), [packet(b"old", security_header=SENDER)])
    harness.send(b"plain")
    harness.flush()
    make_old(harness)
    harness.crash()
    assert flags_in(harness) == [SenderIdType.SID, 0]
    assert harness.contents() == [b"old", b"plain"]
    # What this queue manager writes there itself is kept.
    harness.restart()
    (own,) = harness.send(b"own", security_header=SENDER).messages
    forget_packet(harness.qm.state, own)
    own.packet = None
    harness.flush()
    patch_stored(harness, own.key)
    assert flags_in(harness) == [SenderIdType.SID, 0, 0x0310 | SenderIdType.SID]
    harness.restart()
    assert flags_in(harness) == [SenderIdType.SID, 0, 0x0310 | SenderIdType.SID]


def make_old(harness: Harness) -> None:
    """The store as a version that believed claims left it."""
    for key, _, _ in list(harness.store.recover(None).messages):
        patch_stored(harness, key)
    harness.qm.state.outbox.batch.delete_row(Table.MANAGER, b"unchecked")
    harness.flush()


def patch_stored(harness: Harness, key: int) -> None:
    """Set the authentication bits of a stored message that has a SecurityHeader."""
    message = UserMessage(harness.store.read_many([key])[0])
    if message.security_offset:
        claiming = forge(message.packet)
        record = next(row for at, row, _ in harness.store.recover(None).messages if at == key)
        harness.qm.state.outbox.batch.put_many([key], [record], [claiming])
        harness.flush()


def test_the_session_header_bit_of_a_packet_for_another_queue_manager_is_cleared() -> None:
    messages = [packet(b"%d" % each, message_id=each, delivery_mode=0) for each in (1, 2)]
    marked = [
        message[:2]
        + bytes((message[2] | int(BaseHeaderFlags.SH),))
        + message[3:32]
        + b"x" * 16
        + message[48:]
        for message in messages
    ]
    runs = split_runs(marked)
    drop_claims(runs, Transport.BINARY, b"y" * 16)
    assert [each[2] & int(BaseHeaderFlags.SH) for run in runs for each in run.packets] == [0, 0]


def test_a_body_that_is_to_be_encrypted_here_is_no_claim_of_others() -> None:
    message = packet(b"1", message_id=1)
    marked = patch_private_body(message[:32] + b"x" * 16 + message[48:], private=True)
    runs = split_runs([marked])
    drop_claims(runs, Transport.BINARY, b"y" * 16)
    assert not runs[0].head.private_body
