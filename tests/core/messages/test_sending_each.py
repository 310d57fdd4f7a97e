"""Messages of one request to many queues."""

from typing import Any

import pytest
from tests.core.harness import ORDERS, PEEK, SEND, STRANGER, USER, Harness, packet, refused

from openmsmq.core.rows.packets import packet_of
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.names.queue_address_names import address_of
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE
from openmsmq.wire.security.security_header import SecurityHeader

OTHER = r".\private$\other"
THIRD = r".\private$\third"
FAR = r"DIRECT=OS:far\private$\q"


@pytest.fixture
def world(harness: Harness) -> Harness:
    harness.create(OTHER)
    harness.create(THIRD)
    return harness


def unaddressed(body: bytes, **properties: Any) -> bytes:
    return packet(body, destination_queue=None, **properties)


def address(name: str) -> QueueAddress:
    return address_of(parse_format_name(name))


def destinations(harness: Harness, name: str) -> list[object]:
    queue = harness.qm.find_queue(name)
    packets = [packet_of(harness.qm.state, message) for message in queue.lanes]
    return [UserMessage(each).destination_queue for each in packets]


def test_each_message_goes_to_its_queue_with_that_destination(world: Harness) -> None:
    names = [ORDERS, OTHER, FAR, ORDERS, THIRD]
    descriptors = [world.open(SEND, name) for name in names]
    packets = [unaddressed(str(number).encode()) for number in range(5)]
    sent = world.qm.traffic.enqueue_each(descriptors, packets, caller=USER)
    assert sent.refusals == []
    assert sent.depends
    assert (world.contents(), world.contents(OTHER), world.contents(THIRD)) == (
        [b"0", b"3"],
        [b"1"],
        [b"4"],
    )
    world.restart()
    for name in (ORDERS, OTHER, THIRD):
        assert set(destinations(world, name)) == {address(rf"DIRECT=OS:QM{name[1:]}")}
    far = descriptors[2].queue
    assert far is not None
    (message,) = far.lanes
    assert UserMessage(packet_of(world.qm.state, message)).destination_queue == address(FAR)


def test_messages_that_differ_are_each_what_they_were(world: Harness) -> None:
    descriptors = [world.open(SEND, name) for name in (ORDERS, OTHER, ORDERS, OTHER)]
    packets = [
        unaddressed(b"high", priority=7),
        unaddressed(b"low", priority=0),
        unaddressed(b"short", time_to_be_received=5),
        unaddressed(b"express", delivery_mode=0),
    ]
    world.qm.traffic.enqueue_each(descriptors, packets, caller=USER)
    assert world.contents() == [b"high", b"short"]
    assert world.contents(OTHER) == [b"express", b"low"]
    world.advance(6.0)
    assert world.contents() == [b"high"]
    world.restart()
    assert world.contents(OTHER) == [b"low"]


def test_a_message_whose_time_is_over_is_not_in_the_queue(world: Harness) -> None:
    descriptors = [world.open(SEND, name) for name in (ORDERS, OTHER)]
    packets = [unaddressed(b"late", time_to_be_received=0), unaddressed(b"kept")]
    sent = world.qm.traffic.enqueue_each(descriptors, packets, caller=USER)
    assert (sent.refusals, world.contents(), world.contents(OTHER)) == ([], [], [b"kept"])


def test_express_messages_wait_for_no_batch(world: Harness) -> None:
    descriptors = [world.open(SEND, name) for name in (ORDERS, OTHER)]
    world.send(b"first")
    world.flush()
    packets = [unaddressed(b"a", delivery_mode=0), unaddressed(b"b", delivery_mode=0)]
    assert world.qm.traffic.enqueue_each(descriptors, packets, caller=USER).depends == 0


def test_a_full_queue_refuses_what_follows_and_the_others_go_on(world: Harness) -> None:
    world.qm.set_queue(world.qm.find_queue(OTHER), caller=USER, quota=1)
    orders, other = world.open(SEND), world.open(SEND, OTHER)
    descriptors = [other, orders, other, orders, other]
    packets = [unaddressed(body) for body in (b"1", b"2", bytes(1000), b"4", b"5")]
    (refusal,) = world.qm.traffic.enqueue_each(descriptors, packets, caller=USER).refusals
    assert (refusal.position, refusal.messages) == (2, 2)
    assert isinstance(refusal.error, QueueError)
    assert refusal.error.code == Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES
    assert (world.contents(), world.contents(OTHER)) == ([b"2", b"4"], [b"1"])


def test_the_destination_counts_against_the_quota(world: Harness) -> None:
    world.qm.set_queue(world.qm.find_queue(OTHER), caller=USER, quota=1)
    other = world.open(SEND, OTHER)
    most = 1024 - len(packet(b"", destination_queue=address(rf"DIRECT=OS:QM{OTHER[1:]}")))
    packets = [unaddressed(bytes(most + 1))]
    assert world.qm.traffic.enqueue_each([other], packets, caller=USER).refusals
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        world.qm.traffic.enqueue_many(other, packets)
    assert not world.qm.traffic.enqueue_each(
        [other], [unaddressed(bytes(most))], caller=USER
    ).refusals


def test_a_packet_that_is_too_large_with_its_destination_is_refused(world: Harness) -> None:
    orders, other = world.open(SEND), world.open(SEND, OTHER)
    empty = len(unaddressed(b""))
    large = unaddressed(bytes(MAX_PACKET_SIZE - empty))
    packets = [large, unaddressed(b"x")]
    (refusal,) = world.qm.traffic.enqueue_each([other, orders], packets, caller=USER).refusals
    assert refusal.position == 0
    assert "is larger than" in str(refusal.error)
    sent = world.qm.traffic.enqueue_many(other, [unaddressed(b"small"), large])
    assert sent.refusal is not None
    assert sent.refusal.accepted == 1
    assert (world.contents(), world.contents(OTHER)) == ([b"x"], [b"small"])


@pytest.mark.parametrize(
    ("access", "code"), [(PEEK, "MQ_ERROR_ACCESS_DENIED"), (SEND, "MQ_ERROR_INVALID_HANDLE")]
)
def test_a_queue_that_is_not_open_to_send_refuses_alone(
    world: Harness, access: Any, code: str
) -> None:
    wrong, orders = world.open(access, OTHER), world.open(SEND)
    if access is SEND:
        world.qm.close_queue(wrong)
    packets = [unaddressed(b"1"), unaddressed(b"2")]
    (refusal,) = world.qm.traffic.enqueue_each([wrong, orders], packets, caller=USER).refusals
    assert code in str(refusal.error)
    assert world.contents() == [b"2"]


def test_a_transactional_message_outside_of_a_transaction_is_refused_alone(world: Harness) -> None:
    world.create(r".\private$\ordered", transactional=True)
    ordered, orders = world.open(SEND, r".\private$\ordered"), world.open(SEND)
    packets = [unaddressed(b"1"), unaddressed(b"2")]
    (refusal,) = world.qm.traffic.enqueue_each([ordered, orders], packets, caller=USER).refusals
    assert "MQ_ERROR_TRANSACTION_USAGE" in str(refusal.error)
    assert world.contents() == [b"2"]


def test_a_message_to_several_queues_is_copied_to_each(world: Harness) -> None:
    both = world.open(SEND, r"DIRECT=OS:QM\private$\orders,DIRECT=OS:QM\private$\other")
    third = world.open(SEND, THIRD)
    packets = [unaddressed(body) for body in (b"1", b"2", b"3")]
    sent = world.qm.traffic.enqueue_each([both, third, both], packets, caller=USER)
    assert sent.refusals == []
    assert (world.contents(), world.contents(OTHER)) == ([b"1", b"3"], [b"1", b"3"])
    assert world.contents(THIRD) == [b"2"]


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (b"junk", "MQ_ERROR_INVALID_PARAMETER"),
        (
            unaddressed(
                b"2",
                security_header=SecurityHeader(
                    SenderIdType.SID, security_id=STRANGER.sid.serialize()
                ),
            ),
            "MQ_ERROR_ACCESS_DENIED",
        ),
    ],
)
def test_an_invalid_packet_refuses_all(world: Harness, second: bytes, code: str) -> None:
    descriptors = [world.open(SEND), world.open(SEND, OTHER)]
    with refused(code):
        world.qm.traffic.enqueue_each(descriptors, [unaddressed(b"1"), second], caller=USER)
    assert world.contents() == world.contents(OTHER) == []


def test_a_destination_that_no_packet_can_carry_is_refused(world: Harness) -> None:
    name = "CONNECTOR=5a52c236-ea79-4441-a6c5-f622755be5c4"
    descriptors = [world.open(SEND, name), world.open(SEND)]
    packets = [unaddressed(b"1"), unaddressed(b"2")]
    (refusal,) = world.qm.traffic.enqueue_each(descriptors, packets, caller=USER).refusals
    assert "MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION" in str(refusal.error)
    assert world.contents() == [b"2"]
