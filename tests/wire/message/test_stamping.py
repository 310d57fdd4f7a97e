"""What a queue manager writes into packets of its clients."""

from uuid import UUID

import pytest

from openmsmq.wire.message.stamping import DestinationStamp, Stamp, address_to_owner
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.scalars import GUID_NULL

IDENTITY = UUID("11111111-2222-3333-4444-555555555555")
OWNER = UUID("66666666-7777-8888-9999-aaaaaaaaaaaa")
QUEUE = UUID("bbbbbbbb-cccc-dddd-eeee-ffffffffffff")
RESPONSE = direct_address(r"OS:alpha\private$\answers")
NAMES = [direct_address(r"OS:b\q"), direct_address(r"OS:beta\q"), direct_address(r"OS:gamma\q")]


def stamp(packet: bytes, tag: int | None = None) -> Stamp:
    return Stamp(UserMessage(packet), 60, IDENTITY.bytes_le, 1234, tag)


@pytest.mark.parametrize("tag", [None, 5])
@pytest.mark.parametrize(
    ("destination", "target"),
    [
        *((name, GUID_NULL) for name in NAMES),
        (private_address(OWNER, 9), OWNER),
        (public_address(QUEUE), OWNER),
    ],
)
def test_a_packet_without_a_destination_gets_that_of_its_queue(
    destination: QueueAddress, target: UUID, tag: int | None
) -> None:
    packet = build_user_message(
        destination_queue=None, response_queue=RESPONSE, label="label", body=b"body"
    )
    assert UserMessage(packet).destination_queue is None
    writer = stamp(packet, tag)
    assert not writer.addressed
    writer.direct(DestinationStamp(destination), OWNER)
    message = UserMessage(writer.write(packet, 7))
    assert message.destination_queue == destination
    assert message.queue_manager_address == target
    assert message.response_queue == RESPONSE
    assert (message.label, message.body) == ("label", b"body")
    assert (message.message_id, message.sent_time, message.time_to_reach_queue) == (7, 1234, 60)
    assert message.transactional == (tag is not None)


def test_packets_of_a_run_go_to_one_queue_after_the_other() -> None:
    packet = build_user_message(destination_queue=None, body=b"body")
    writer = stamp(packet)
    for destination in NAMES:
        writer.direct(DestinationStamp(destination), OWNER)
        assert UserMessage(writer.write(packet, 1)).destination_queue == destination


@pytest.mark.parametrize(
    ("destination", "target"),
    [(NAMES[0], GUID_NULL), (private_address(QUEUE, 9), QUEUE), (public_address(QUEUE), OWNER)],
)
def test_a_packet_keeps_the_destination_that_it_names(
    destination: QueueAddress, target: UUID
) -> None:
    packet = build_user_message(destination_queue=destination, body=b"body")
    writer = stamp(packet)
    assert writer.addressed
    for other in (None, DestinationStamp(NAMES[1])):
        writer.direct(other, OWNER)
        message = UserMessage(writer.write(packet, 7))
        assert message.destination_queue == destination
        assert message.queue_manager_address == target


def test_only_a_public_queue_gets_its_owner_from_the_directory() -> None:
    public = build_user_message(destination_queue=public_address(QUEUE))
    assert UserMessage(address_to_owner(public, OWNER)).queue_manager_address == OWNER
    direct = build_user_message(destination_queue=NAMES[0])
    assert address_to_owner(direct, OWNER) == direct
