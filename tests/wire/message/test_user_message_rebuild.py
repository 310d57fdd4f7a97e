"""Building a message again with changes."""

from uuid import UUID

import pytest
from hypothesis import given
from tests.wire.frames import frame_bytes
from tests.wire.strategies import user_messages

from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.queue_address import direct_address, private_address
from openmsmq.wire.scalars import GUID_NULL
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

GUID = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")


def test_the_example_message_is_rebuilt_to_the_same_bytes() -> None:
    assert rebuild(UserMessage(frame_bytes(7))) == frame_bytes(7)


@given(user_messages)
def test_a_message_is_rebuilt_to_the_same_bytes(packet: bytes) -> None:
    assert rebuild(UserMessage(packet)) == packet


def test_the_size_of_a_clear_body_is_kept_with_its_cipher_text() -> None:
    packet = build_user_message(
        destination_queue=direct_address("OS:a\\q"),
        security_header=SecurityHeader(SecurityHeaderFlags.EB),
        body=b"12345678",
        message_size=5,
    )
    assert rebuild(UserMessage(packet)) == packet


def test_padding_and_reserved_bits_become_zero() -> None:
    clean = build_user_message(destination_queue=direct_address("OS:ab\\q"), body=b"x")
    noisy = bytearray(clean)
    noisy[1] = 0xC0
    noisy[3] |= 0xFE
    # Not 0x80, by which a queue manager remembers that the body travels encrypted.
    noisy[63] |= 0x6C
    noisy[-1] = 0xFF
    assert rebuild(UserMessage(bytes(noisy))) == clean


def test_what_is_named_is_changed() -> None:
    packet = build_user_message(
        destination_queue=private_address(GUID, 9), label="label", body=b"body", sent_time=7
    )
    changed = UserMessage(
        rebuild(UserMessage(packet), destination_queue=direct_address("OS:b\\q"), sent_time=8)
    )
    assert changed.destination_queue == direct_address("OS:b\\q")
    assert changed.queue_manager_address == GUID_NULL
    assert (changed.sent_time, changed.label, changed.body) == (8, "label", b"body")


def test_a_message_without_destination_cannot_be_rebuilt() -> None:
    packet = bytearray(build_user_message(destination_queue=private_address(GUID, 9)))
    packet[61] &= 0xE3
    del packet[64:68]
    packet[8] -= 4
    message = UserMessage(bytes(packet))
    assert message.destination_queue is None
    with pytest.raises(ValueError, match="cannot be sent"):
        rebuild(message)


def test_a_message_can_be_rebuilt_for_any_destination() -> None:
    packet = build_user_message(destination_queue=private_address(GUID, 9), label="label")
    message = UserMessage(rebuild(UserMessage(packet), unaddressed=True))
    assert message.destination_queue is None
    assert message.queue_manager_address == GUID_NULL
    assert message.label == "label"
