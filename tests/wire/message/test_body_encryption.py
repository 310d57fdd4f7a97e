"""Packets whose body is replaced by cipher text, and the other way round."""

import pytest

from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.message.body_encryption import with_clear_body, with_encrypted_body
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE

ORDERS = direct_address(r"TCP:10.0.0.1\private$\orders")


def encrypted(cipher_text: bytes) -> bytes:
    message = UserMessage(build_user_message(body=b"clear", label="x", destination_queue=ORDERS))
    assert message.trailing is None
    return with_encrypted_body(
        message,
        cipher_text,
        encryption_key=b"a key",
        provider_info=b"info",
        encryption_algorithm=EncryptionAlgorithm.AES_256,
        privacy_level=PrivacyLevel.BODY_AES,
    )


def test_a_message_without_headers_after_its_body_is_encrypted_and_clear_again() -> None:
    wire = UserMessage(encrypted(b"cipher text"))
    assert (wire.body, wire.encrypted, wire.label) == (b"cipher text", True, "x")
    assert len(wire.packet) % 4 == 0
    clear = UserMessage(with_clear_body(wire, b"clear"))
    assert (clear.body, clear.encrypted, clear.private_body) == (b"clear", False, True)


def test_a_packet_that_would_be_too_large_is_an_error() -> None:
    with pytest.raises(ValueError, match="larger than"):
        encrypted(bytes(MAX_PACKET_SIZE))
